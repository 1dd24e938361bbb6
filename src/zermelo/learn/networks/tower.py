"""AlphaZero's tower: planes in; a policy, and the chances to win, draw and lose out.

And what it shares with full layers alone (`learn/dense.py`): lines seen, and play on a processor.
"""

import copy
from abc import ABC, abstractmethod
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from zermelo.learn.config.network import NetworkConfig
from zermelo.learn.networks.numpy_inference import LINE
from zermelo.learn.networks.q_network import arrays_of, folded


class Block(nn.Module):
    """Two convolutions and a way around them."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.first, self.second = _convolution(width, width), _convolution(width, width)
        self.norms = nn.ModuleList([nn.BatchNorm2d(width), nn.BatchNorm2d(width)])

    def forward(self, x: Tensor) -> Tensor:
        """The same shape."""
        y = torch.relu(self.norms[0](self.first(x)))
        return torch.relu(x + self.norms[1](self.second(y)))


class Lines(nn.Module):
    """The stones of both sides, and what they have made of lines: see `forward.with_lines`."""

    def __init__(self, lines: Any) -> None:
        super().__init__()
        self.lines: Tensor
        self.register_buffer("lines", torch.from_numpy(lines), persistent=False)
        self._numbers = range(1, int(lines[0].sum()))
        self.num_planes = 2 + 2 * len(self._numbers)
        self.num_hits = 2 * len(self._numbers) * len(lines)

    def hits(self, stones: Tensor) -> list[Tensor]:
        """[row, side, line]: for each number whether a side alone has so many stones in a line."""
        counts = stones @ self.lines.T
        alone = counts.flip(1) == 0
        return [(alone & (counts == number)).to(stones.dtype) for number in self._numbers]

    def forward(self, planes: Tensor) -> Tensor:
        """More planes."""
        stones = planes.flatten(2)
        seen = torch.cat([stones, *(LINE * (hit @ self.lines) for hit in self.hits(stones))], 1)
        found = seen.reshape(len(planes), -1, *planes.shape[2:])
        return found.contiguous(memory_format=torch.channels_last)


class Tower(nn.Module):
    """Residual blocks with two heads. A shape's channels are its blocks', all of one width.

    Both heads see the board as a whole in a hidden layer; the policy sees its cells, too.
    """

    def __init__(
        self, shape: NetworkConfig, board: tuple[int, int], num_actions: int, lines: Any = None
    ) -> None:
        super().__init__()
        self.shape = shape
        width, (head, hidden) = shape.channels[0], shape.hidden
        cells = board[0] * board[1]
        self.lines = None if lines is None else Lines(lines)
        planes = 2 if self.lines is None else self.lines.num_planes
        self.stem, self.norm = _convolution(planes, width), nn.BatchNorm2d(width)
        self.blocks = nn.Sequential(*(Block(width) for _ in shape.channels))
        self.heads = nn.Conv2d(width, head, 1)
        self.hidden, self.result = nn.Linear(head * cells, hidden), nn.Linear(hidden, 3)
        self.policy = nn.Linear(head * cells + hidden, num_actions)

    def forward(self, planes: Tensor) -> tuple[Tensor, Tensor]:
        """(logits of actions, logits of win, draw and loss)."""
        if self.lines is not None:
            planes = self.lines(planes)
        x = torch.relu(self.norm(self.stem(planes)))
        x = torch.relu(self.heads(self.blocks(x))).flatten(1)
        whole = torch.relu(self.hidden(x))
        return self.policy(torch.cat([x, whole], 1)), self.result(whole)

    def judge(self, planes: Tensor) -> tuple[Tensor, Tensor]:
        """(logits of actions, what is to be expected, from -1 to 1)."""
        like = self.result.weight
        logits, results = self(planes.to(like.dtype, memory_format=torch.channels_last))
        return logits.float(), expected(results)

    def export(self) -> dict[str, Any]:
        """The arrays that play needs: normalisation folded into its convolution."""
        found = folded("conv0", self.stem, self.norm)
        for number, block in enumerate(self.blocks):
            assert isinstance(block, Block)
            found |= folded(f"conv{2 * number + 1}", block.first, block.norms[0])
            found |= folded(f"conv{2 * number + 2}", block.second, block.norms[1])
        layers = {"heads": self.heads, "policy": self.policy, "hidden": self.hidden}
        for name, layer in (layers | {"result": self.result}).items():
            found |= {f"{name}.weight": layer.weight.flatten(1), f"{name}.bias": layer.bias}
        return arrays_of(found)


class Folded(ABC):
    """A network for a processor: no normalisation, in half precision where that is fast."""

    def __init__(self, net: Any) -> None:
        self._type = torch.bfloat16 if half_is_fast("cpu") else torch.float32
        self.shape = net.shape
        self.lines = None if net.lines is None else copy.deepcopy(net.lines).to(self._type)
        self.weights: dict[str, Tensor] = {}
        self.load(net)

    def load(self, net: Any) -> None:
        """Take over what was learned."""
        for name, array in net.export().items():
            tensor = torch.from_numpy(array).to(self._type)
            if tensor.dim() == 4:
                tensor = tensor.contiguous(memory_format=torch.channels_last)
            self.weights[name] = tensor

    def __call__(self, planes: Any) -> tuple[Any, Any]:
        """(logits of actions, what is to be expected) of planes, all in numpy."""
        x = torch.from_numpy(planes).to(self._type, memory_format=torch.channels_last)
        logits, results = self.asked(x)
        return logits.float().numpy(), expected(results).numpy()

    @abstractmethod
    def asked(self, planes: Tensor) -> tuple[Tensor, Tensor]:
        """(logits of actions, logits of win, draw and loss)."""

    def full(self, x: Tensor, name: str) -> Tensor:
        """A layer where all is connected."""
        return functional.linear(x, self.weights[f"{name}.weight"], self.weights[f"{name}.bias"])


class FoldedTower(Folded):
    """The same network for a processor."""

    def asked(self, planes: Tensor) -> tuple[Tensor, Tensor]:
        """(logits of actions, logits of win, draw and loss)."""
        x = planes if self.lines is None else self.lines(planes)
        x = torch.relu_(self._convolved(x, "conv0"))
        for block in range(len(self.shape.channels)):
            y = torch.relu_(self._convolved(x, f"conv{2 * block + 1}"))
            x = torch.relu_(self._convolved(y, f"conv{2 * block + 2}") + x)
        weight = self.weights["heads.weight"][:, :, None, None]
        x = torch.relu_(functional.conv2d(x, weight, self.weights["heads.bias"])).flatten(1)
        whole = torch.relu_(self.full(x, "hidden"))
        return self.full(torch.cat([x, whole], 1), "policy"), self.full(whole, "result")

    def _convolved(self, x: Tensor, name: str) -> Tensor:
        return functional.conv2d(
            x, self.weights[f"{name}.weight"], self.weights[f"{name}.bias"], padding=1
        )


def half_is_fast(device: str) -> bool:
    """Whether half precision is the faster one there."""
    # There is no public way to ask; where it is not supported, it works and is slow.
    return device == "cuda" or bool(torch.ops.mkldnn._is_mkldnn_bf16_supported())  # noqa: SLF001


def expected(results: Tensor) -> Tensor:
    """From the logits of win, draw and loss what is to be expected."""
    chances = functional.softmax(results.float(), 1)
    return chances[:, 0] - chances[:, 2]


def _convolution(inputs: int, outputs: int) -> nn.Conv2d:
    """3x3; a normalisation follows, so it needs no bias."""
    return nn.Conv2d(inputs, outputs, 3, padding=1, bias=False)
