"""AlphaZero's fully connected network. On small boards it is as strong as a tower, and faster.

Arrays in checkpoints are named after the torch modules.
"""

import torch
from torch import Tensor, nn

from zermelo.learn.config.network import NetworkConfig
from zermelo.learn.networks.fused import expected_value
from zermelo.learn.networks.line_features import LineFeatures
from zermelo.learn.networks.torch_arrays import to_weights
from zermelo.learn.networks.weights_file import Array, Arrays


class FullyConnected(nn.Module):
    """An input layer, residual blocks of two layers, and two heads; all layers have the same width.

    The inputs are the planes (by default, the stones of both sides) and, if `lines` is given, line
    indicators (`LineFeatures`).
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
        width = config.hidden[0]
        self.lines = None if lines is None else LineFeatures(lines)
        inputs = num_planes * board[0] * board[1]
        inputs += 0 if self.lines is None else self.lines.num_indicators
        self.full = nn.ModuleList(  # no bias, because batch norm follows
            nn.Linear(size, width, bias=False) for size in (inputs, *config.hidden[1:])
        )
        self.norms = nn.ModuleList(nn.BatchNorm1d(width) for _ in config.hidden)
        self.policy, self.result = nn.Linear(width, num_actions), nn.Linear(width, 3)

    def forward(self, planes: Tensor) -> tuple[Tensor, Tensor]:
        """Return (action logits, logits of win, draw and loss)."""
        x = torch.relu(self._layer(flatten_inputs(planes, self.lines), 0))
        for number in range(1, len(self.full), 2):
            y = torch.relu(self._layer(x, number))
            x = torch.relu(x + self._layer(y, number + 1))
        return self.policy(x), self.result(x)

    def _layer(self, x: Tensor, number: int) -> Tensor:
        y: Tensor = self.norms[number](self.full[number](x))
        return y

    def evaluate(self, planes: Tensor) -> tuple[Tensor, Tensor]:
        """Return (action logits, expected values in [-1, 1])."""
        logits, results = self(planes.to(self.result.weight.dtype))
        return logits.float(), expected_value(results)

    def export(self) -> Arrays:
        """Return the weights for play, with batch norm fused into the layers."""
        tensors: dict[str, Tensor] = {}
        for number, (layer, norm) in enumerate(zip(self.full, self.norms, strict=True)):
            scale = norm.weight / torch.sqrt(norm.running_var + norm.eps)
            tensors[f"full{number}.weight"] = layer.weight * scale[:, None]
            tensors[f"full{number}.bias"] = norm.bias - norm.running_mean * scale
        for name, head in (("policy", self.policy), ("result", self.result)):
            tensors |= {f"{name}.weight": head.weight, f"{name}.bias": head.bias}
        return to_weights(tensors)


def flatten_inputs(planes: Tensor, lines: LineFeatures | None) -> Tensor:
    """Return the inputs [row, input]: stones, then line indicators if `lines` is given."""
    stones = planes.flatten(2)
    indicators = lines.indicators(stones) if lines is not None else []
    return torch.cat([stones, *indicators], 2).flatten(1)
