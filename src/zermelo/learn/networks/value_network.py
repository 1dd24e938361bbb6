"""Value networks, with one output per state. In play, `hybrid.kernel_network` uses their weights.

Arrays in checkpoints are named after the torch modules.
"""

import torch
from torch import Tensor, nn

from zermelo.learn.config.network import NetworkConfig
from zermelo.learn.networks.torch_arrays import to_weights
from zermelo.learn.networks.weights_file import Arrays

_EMBEDDING_STD = 0.05  # standard deviation of a line network's initial embeddings


class LineNetwork(nn.Module):
    """A network for the value of a state, given the indices that the encoder `lines` returns."""

    def __init__(self, config: NetworkConfig, num_indices: int) -> None:
        super().__init__()
        width, head = config.hidden
        self.config = config
        self.lines = nn.EmbeddingBag(num_indices, width, mode="sum")
        nn.init.normal_(self.lines.weight, std=_EMBEDDING_STD)
        self.bias = nn.Parameter(torch.zeros(width))
        self.full = nn.ModuleList([nn.Linear(width, head), nn.Linear(head, head)])
        self.value = nn.Linear(head, 1)

    def forward(self, x: Tensor) -> Tensor:
        """Return values [row] in [-1, 1] from indices [row, symmetry, line or cell]."""
        rows, symmetries, size = x.shape
        x = torch.relu(self.lines(x.reshape(rows * symmetries, size)) + self.bias)
        x = x.reshape(rows, symmetries, -1).mean(1)
        for layer in self.full:
            x = torch.relu(layer(x))
        value: Tensor = torch.tanh(self.value(x)).squeeze(1)
        return value

    def export(self) -> Arrays:
        """Return the weights for play, with the names that `hybrid.kernel_network` expects."""
        tensors: dict[str, Tensor] = {"lines.weight": self.lines.weight, "lines.bias": self.bias}
        for number, layer in enumerate(self.full):
            tensors |= _transpose(f"full{number}", layer)
        return to_weights(tensors | _transpose("value", self.value))


class ResidualNetwork(nn.Module):
    """The network published for Squava. With widths 512 and 256 it has 686,081 parameters."""

    def __init__(self, config: NetworkConfig, num_features: int) -> None:
        super().__init__()
        width, head = config.hidden
        self.config = config
        self.full = nn.ModuleList([nn.Linear(n, width) for n in (num_features, width, width)])
        self.norm = nn.ModuleList([nn.LayerNorm(width) for _ in range(3)])
        self.head, self.value = nn.Linear(width, head), nn.Linear(head, 1)
        self.dropout = nn.Dropout(config.dropout)

    def forward(self, x: Tensor) -> Tensor:
        """Return values [row] in [-1, 1] from features [row, feature]."""
        first = torch.relu(self.norm[0](self.full[0](x)))
        x = self.dropout(torch.relu(self.norm[1](self.full[1](first))))
        x = torch.relu(self.norm[2](self.full[2](x))) + first
        x = self.dropout(nn.functional.elu(self.head(x)))
        value: Tensor = torch.tanh(self.value(x)).squeeze(1)
        return value

    def export(self) -> Arrays:
        """Return the weights for play, with the names that `hybrid.kernel_network` expects."""
        tensors: dict[str, Tensor] = {}
        for number, (layer, norm) in enumerate(zip(self.full, self.norm, strict=True)):
            tensors |= _transpose(f"full{number}", layer)
            tensors |= {f"norm{number}.weight": norm.weight, f"norm{number}.bias": norm.bias}
        return to_weights(tensors | _transpose("head", self.head) | _transpose("value", self.value))


def _transpose(name: str, layer: nn.Module) -> dict[str, Tensor]:
    """Return the weights of a layer, with its matrix transposed to [input, output]."""
    assert isinstance(layer, nn.Linear)
    return {f"{name}.weight": layer.weight.T, f"{name}.bias": layer.bias}
