"""AlphaZero's network of full layers alone: on a small board as good as a tower, and far faster."""

from typing import Any

import torch
from torch import Tensor, nn

from zermelo.learn.config.network import NetworkConfig
from zermelo.learn.networks.q_network import arrays_of
from zermelo.learn.networks.tower import Folded, Lines, expected


class Dense(nn.Module):
    """A layer, pairs of layers with ways around them, and two heads. All are of one width.

    It sees the stones of both sides, and if it is to see lines, what is in each of them.
    """

    def __init__(
        self, shape: NetworkConfig, board: tuple[int, int], num_actions: int, lines: Any = None
    ) -> None:
        super().__init__()
        self.shape = shape
        width = shape.hidden[0]
        self.lines = None if lines is None else Lines(lines)
        inputs = 2 * board[0] * board[1] + (0 if self.lines is None else self.lines.num_hits)
        # A normalisation follows, so they need no bias.
        self.full = nn.ModuleList(
            nn.Linear(size, width, bias=False) for size in (inputs, *shape.hidden[1:])
        )
        self.norms = nn.ModuleList(nn.BatchNorm1d(width) for _ in shape.hidden)
        self.policy, self.result = nn.Linear(width, num_actions), nn.Linear(width, 3)

    def forward(self, planes: Tensor) -> tuple[Tensor, Tensor]:
        """(logits of actions, logits of win, draw and loss)."""
        x = torch.relu(self._normed(_seen(planes, self.lines), 0))
        for number in range(1, len(self.full), 2):
            y = torch.relu(self._normed(x, number))
            x = torch.relu(x + self._normed(y, number + 1))
        return self.policy(x), self.result(x)

    def _normed(self, x: Tensor, number: int) -> Tensor:
        found: Tensor = self.norms[number](self.full[number](x))
        return found

    def judge(self, planes: Tensor) -> tuple[Tensor, Tensor]:
        """(logits of actions, what is to be expected, from -1 to 1)."""
        logits, results = self(planes.to(self.result.weight.dtype))
        return logits.float(), expected(results)

    def export(self) -> dict[str, Any]:
        """The arrays that play needs: normalisation folded into its layer."""
        found: dict[str, Any] = {}
        for number, (layer, norm) in enumerate(zip(self.full, self.norms, strict=True)):
            scale = norm.weight / torch.sqrt(norm.running_var + norm.eps)
            found[f"full{number}.weight"] = layer.weight * scale[:, None]
            found[f"full{number}.bias"] = norm.bias - norm.running_mean * scale
        for name, head in (("policy", self.policy), ("result", self.result)):
            found |= {f"{name}.weight": head.weight, f"{name}.bias": head.bias}
        return arrays_of(found)


class FoldedDense(Folded):
    """The same network for a processor."""

    def asked(self, planes: Tensor) -> tuple[Tensor, Tensor]:
        """(logits of actions, logits of win, draw and loss)."""
        x = torch.relu_(self.full(_seen(planes, self.lines), "full0"))
        for number in range(1, len(self.shape.hidden), 2):
            y = torch.relu_(self.full(x, f"full{number}"))
            x = torch.relu_(self.full(y, f"full{number + 1}") + x)
        return self.full(x, "policy"), self.full(x, "result")


def _seen(planes: Tensor, lines: Lines | None) -> Tensor:
    """[row, input]."""
    stones = planes.flatten(2)
    return torch.cat([stones, *(lines.hits(stones) if lines is not None else [])], 2).flatten(1)
