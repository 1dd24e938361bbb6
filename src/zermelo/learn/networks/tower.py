"""AlphaZero's residual tower. Arrays in checkpoints are named after the torch modules."""

import torch
from torch import Tensor, nn

from zermelo.learn.config.network import NetworkConfig
from zermelo.learn.networks.fused import expected_value, fuse_batch_norm
from zermelo.learn.networks.line_features import LineFeatures
from zermelo.learn.networks.torch_arrays import to_weights
from zermelo.learn.networks.weights_file import Array, Arrays


class ResidualBlock(nn.Module):
    """Two convolutions with a skip connection."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.first, self.second = _convolution(width, width), _convolution(width, width)
        self.norms = nn.ModuleList([nn.BatchNorm2d(width), nn.BatchNorm2d(width)])

    def forward(self, x: Tensor) -> Tensor:
        """Apply the block; the result has the same shape as `x`."""
        y = torch.relu(self.norms[0](self.first(x)))
        return torch.relu(x + self.norms[1](self.second(y)))


class Tower(nn.Module):
    """Residual blocks of one width, with a policy head and a win/draw/loss head.

    Both heads see the whole board through a hidden layer; the policy head also sees single cells.
    """

    def __init__(
        self,
        config: NetworkConfig,
        board: tuple[int, int],
        num_actions: int,
        lines: Array | None = None,
        num_planes: int = 2,
    ) -> None:
        super().__init__()
        self.config = config
        width, (head, hidden) = config.channels[0], config.hidden
        cells = board[0] * board[1]
        self.lines = None if lines is None else LineFeatures(lines)
        planes = num_planes if self.lines is None else self.lines.num_planes
        self.stem, self.norm = _convolution(planes, width), nn.BatchNorm2d(width)
        self.blocks = nn.Sequential(*(ResidualBlock(width) for _ in config.channels))
        self.heads = nn.Conv2d(width, head, 1)
        self.hidden, self.result = nn.Linear(head * cells, hidden), nn.Linear(hidden, 3)
        self.policy = nn.Linear(head * cells + hidden, num_actions)

    def forward(self, planes: Tensor) -> tuple[Tensor, Tensor]:
        """Return (action logits, logits of win, draw and loss)."""
        if self.lines is not None:
            planes = self.lines(planes)
        x = torch.relu(self.norm(self.stem(planes)))
        x = torch.relu(self.heads(self.blocks(x))).flatten(1)
        board = torch.relu(self.hidden(x))
        return self.policy(torch.cat([x, board], 1)), self.result(board)

    def evaluate(self, planes: Tensor) -> tuple[Tensor, Tensor]:
        """Return (action logits, expected values in [-1, 1])."""
        dtype = self.result.weight.dtype
        logits, results = self(planes.to(dtype, memory_format=torch.channels_last))
        return logits.float(), expected_value(results)

    def export(self) -> Arrays:
        """Return the weights for play, with batch norm fused into the convolutions."""
        tensors = fuse_batch_norm("conv0", self.stem, self.norm)
        for number, block in enumerate(self.blocks):
            assert isinstance(block, ResidualBlock)
            tensors |= fuse_batch_norm(f"conv{2 * number + 1}", block.first, block.norms[0])
            tensors |= fuse_batch_norm(f"conv{2 * number + 2}", block.second, block.norms[1])
        layers = {"heads": self.heads, "policy": self.policy, "hidden": self.hidden}
        for name, layer in (layers | {"result": self.result}).items():
            tensors |= {f"{name}.weight": layer.weight.flatten(1), f"{name}.bias": layer.bias}
        return to_weights(tensors)


def _convolution(inputs: int, outputs: int) -> nn.Conv2d:
    """Return a 3x3 convolution without bias, because batch norm follows."""
    return nn.Conv2d(inputs, outputs, 3, padding=1, bias=False)
