"""A Q network, a policy-value network and an encoder of one's own, for the recipe beside this file.

A network is built with the shape of its inputs and the number of actions of the game. An encoder is
built with the game.
"""

import math
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

WIDTH = 128


class GatedQNetwork(nn.Module):
    """Two hidden layers, the second of which is scaled by a learned gate."""

    def __init__(self, input_shape: tuple[int, ...], num_actions: int) -> None:
        super().__init__()
        self.first = nn.Linear(math.prod(input_shape), WIDTH)
        self.second, self.gate = nn.Linear(WIDTH, WIDTH), nn.Linear(WIDTH, WIDTH)
        self.actions = nn.Linear(WIDTH, num_actions)

    def forward(self, x: Tensor) -> Tensor:
        """Return the Q values [state, action]."""
        x = torch.relu(self.first(x.flatten(1)))
        x = x + torch.relu(self.second(x)) * torch.sigmoid(self.gate(x))
        q: Tensor = self.actions(x)
        return q


class ColumnNetwork(nn.Module):
    """Convolutions over whole columns of the planes, then a policy head and a value head."""

    def __init__(self, input_shape: tuple[int, ...], num_actions: int) -> None:
        super().__init__()
        planes, rows, cols = input_shape
        self.columns = nn.Conv2d(planes, WIDTH, (rows, 1))
        self.norm = nn.BatchNorm1d(WIDTH * cols)
        self.policy = nn.Linear(WIDTH * cols, num_actions)
        self.result = nn.Linear(WIDTH * cols, 3)

    def forward(self, planes: Tensor) -> tuple[Tensor, Tensor]:
        """Return (logits of actions, logits of win, draw and loss)."""
        x = torch.relu(self.norm(self.columns(planes).flatten(1)))
        return self.policy(x), self.result(x)


class StonesAndPly:
    """Encodes the stones of both sides and the number of stones on the board."""

    def __init__(self, game: Any) -> None:
        self.cells = np.arange(game.grid.size, dtype=np.uint64)
        self.shape = (2 * game.grid.size + 1,)

    def __call__(self, states: np.ndarray) -> np.ndarray:
        """Return float32 numbers [state, *shape] for uint64 states [state, word]."""
        stones = (states[:, :2, None] >> self.cells & np.uint64(1)).reshape(len(states), -1)
        ply = stones.sum(1, keepdims=True) / len(self.cells)
        return np.concatenate([stones, ply], 1).astype(np.float32)
