"""Games on tensors: the rules of a game for batches of states, in int64 on any device.

A batch of states is a tuple of tensors, one for each word. In line games, `resolve` uses the
tactics of the solver hooks. This module does not need a compiler.
"""

import functools
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from zermelo.core.bitboard import WORD_BITS
from zermelo.core.errors import BadSpec
from zermelo.core.game import WordGame
from zermelo.core.symmetry import Symmetry, invert
from zermelo.games.lines.tactics import LineTactics
from zermelo.learn.alphazero.search_parameters import UNPROVEN
from zermelo.learn.batch.custom_encoder import CustomEncoder
from zermelo.learn.batch.planes import input_shape, plane_symmetries

TensorState = tuple[Tensor, ...]  #: a tensor [row] for each word of a state


@dataclass(frozen=True)
class Resolution:
    """What is known of states without search: some values, and the moves worth trying."""

    value: Tensor  #: for the side to move: 1, 0, -1, or UNPROVEN
    #: [row, action]: the moves worth trying: those that win immediately; if there are none, those
    #: that do not obviously lose; if all lose, all legal moves
    moves: Tensor
    over: Tensor  #: whether the game is over


class TensorGame:
    """The rules of a game for tensors on a device."""

    def __init__(
        self,
        game: WordGame,
        device: torch.device | str = "cpu",
        encoder: CustomEncoder | None = None,
    ) -> None:
        if encoder is not None and torch.device(device).type != "cpu":
            msg = (
                f"encoder {encoder.name} runs only on the CPU, but a search on a GPU must encode "
                "positions there: train with --device cpu, or leave the encoder out"
            )
            raise BadSpec(msg)
        self.game, self.device, self._encoder = game, torch.device(device), encoder
        self.num_actions, self.num_words = game.num_actions, game.num_words
        self.input_shape = input_shape(game)  #: [plane, row, column]
        rows, cols = game.plane_shape
        self._signed: Any = game.to_signed()
        self._cells = torch.arange(rows * cols, device=self.device)
        self._actions = torch.arange(game.num_actions, device=self.device)
        symmetries = (encoder is None and plane_symmetries(game)) or (_identity(game),)
        self.num_symmetries = len(symmetries)  #: including the identity
        self._cell_maps = torch.tensor([invert(s.cells) for s in symmetries], device=self.device)
        self._action_maps = torch.tensor(
            [invert(s.actions) for s in symmetries], device=self.device
        )
        self._has_tactics = isinstance(game.hooks, LineTactics) and game.hooks.has_tactics

    def initial_states(self, number: int) -> TensorState:
        """Return `number` copies of the initial state."""
        words = self._signed.initial()
        return tuple(torch.full((number,), int(w), device=self.device) for w in words)

    def play(self, state: TensorState, actions: Tensor) -> TensorState:
        """Return the states after one action each; legality is not checked."""
        after: TensorState = self._signed.play(state, actions)
        return after

    def result(self, state: TensorState) -> tuple[Tensor, Tensor]:
        """Return (whether the game is over, its value for the side to move)."""
        over, value = self._signed.result(state)
        return over, value

    def legal(self, state: TensorState) -> Tensor:
        """Return the legal actions [row, action] of nonterminal states, including passes."""
        legal = self._unpack_mask(self._signed.legal(state))
        legal[:, -1] |= ~legal.any(1)  # a forced pass
        return legal

    def resolve(self, state: TensorState) -> Resolution:
        """Find, without search, values and moves worth trying; line games use wins and threats."""
        over, value = self.result(state)
        moves = self.legal(state)
        if not self._has_tactics:
            return Resolution(torch.where(over, value, UNPROVEN), moves, over)
        hooks, (mine, theirs, _player) = self._signed.hooks, state
        free, places = hooks.free_and_playable(mine, theirs)
        wins = hooks.completing_cells(mine, hooks.win_windows, hooks.win) & places
        threats = hooks.completing_cells(theirs, hooks.win_windows, hooks.win) & free
        cells = hooks.answer_threats(threats, places, hooks.safe_cells(mine, places))
        known = torch.where(wins != 0, 1, torch.where((cells == 0) & (free != 0), -1, UNPROVEN))
        cells = torch.where(wins != 0, wins, cells)
        if hooks.gravity:  # convert cells to columns
            rows = [(cells >> (hooks.cols * row)) & hooks.top for row in range(hooks.rows)]
            cells = functools.reduce(torch.bitwise_or, rows)
        is_narrowed = ~over & (known != -1)
        if hooks.pie:  # a state in which the sides can be swapped is not resolved
            swaps = moves[:, -1]
            known, is_narrowed = torch.where(swaps, UNPROVEN, known), is_narrowed & ~swaps
        moves = torch.where(is_narrowed[:, None], self._unpack_mask(cells), moves)
        return Resolution(torch.where(over, value, known), moves, over)

    def planes(self, state: TensorState) -> Tensor:
        """Return the planes [row, plane, row of the board, column] that networks see.

        With a custom encoder, return the encoded states instead.
        """
        if self._encoder is not None:
            return torch.from_numpy(self._encoder(torch.stack(state, 1).numpy().view(np.uint64)))
        boards = torch.stack(self._signed.planes(state), 1)
        planes = (boards[:, :, None] >> self._cells) & 1
        if not self.game.has_equal_sides:
            side = state[-1][:, None, None].expand(-1, 1, planes.shape[2])
            planes = torch.cat([planes, side], 1)
        return planes.reshape(-1, *self.input_shape)

    def transform(
        self, planes: Tensor, policies: Tensor, symmetries: Tensor
    ) -> tuple[Tensor, Tensor]:
        """Return planes and policies, each row transformed by its own symmetry in `symmetries`.

        With a custom encoder, the only symmetry is the identity.
        """
        if self._encoder is not None:
            return planes, policies
        cells = self._cell_maps[symmetries][:, None].expand(-1, planes.shape[1], -1)
        images = planes.flatten(2).gather(2, cells).reshape(planes.shape)
        return images, policies.gather(1, self._action_maps[symmetries])

    def _unpack_mask(self, mask: Tensor | tuple[Tensor, ...]) -> Tensor:
        """Return the bits of the masks [row] as booleans [row, action]."""
        if isinstance(mask, tuple):
            words = torch.stack(mask, 1)[:, self._actions // WORD_BITS]
            return ((words >> self._actions % WORD_BITS) & 1).bool()
        bits = (mask[:, None] >> self._actions.clamp(max=WORD_BITS - 1)) & 1
        return bits.bool() & (self._actions < WORD_BITS)


def _identity(game: WordGame) -> Symmetry:
    rows, cols = game.plane_shape
    return Symmetry("", tuple(range(rows * cols)), tuple(range(game.num_actions)))
