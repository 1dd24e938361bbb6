"""Networks: a number for every action, or one for the state. The home of layers, nothing else."""

import math
from typing import Any

import torch
from torch import Tensor, nn

from zermelo.learn.config.network import NetworkConfig

_ACTIVATIONS = {"relu": nn.ReLU, "tanh": nn.Tanh, "leaky": nn.LeakyReLU}
_SPREAD = 0.05  # of the rows of a network by lines, at the start
_NOISE = 0.5  # of a noisy layer, at the start


class QNetwork(nn.Module):
    """The value of every action. Dueling: that of the state, and what each action adds to it."""

    def __init__(self, shape: NetworkConfig, inputs: tuple[int, ...], num_actions: int) -> None:
        super().__init__()
        self.shape = shape
        act = _ACTIVATIONS[shape.activation]
        body: list[nn.Module] = []
        planes = inputs[0]
        for width in shape.channels:
            body += [nn.Conv2d(planes, width, 3, padding=1), nn.BatchNorm2d(width), act()]
            planes = width
        body.append(nn.Flatten())
        size = math.prod(inputs) if shape.kind == "mlp" else planes * math.prod(inputs[1:])
        full = NoisyLinear if shape.noisy else nn.Linear
        for width in shape.hidden:
            body += [full(size, width), act()]
            body += [nn.Dropout(shape.dropout)] if shape.dropout else []
            size = width
        self.body = nn.Sequential(*body)
        self.actions = full(size, num_actions)
        self.state = full(size, 1) if shape.dueling else None

    def forward(self, x: Tensor, legal: Tensor) -> Tensor:
        """[row, action]; `legal` says over which actions a dueling network takes the mean."""
        x = self.body(x)
        found: Tensor = self.actions(x)
        if self.state is not None:
            legal = legal.to(found.dtype)
            mean = (found * legal).sum(1, keepdim=True) / legal.sum(1, keepdim=True).clamp(min=1)
            found = self.state(x) + found - mean
        return found

    def hush(self) -> None:
        """Noisy layers: no noise any more."""
        for module in self.modules():
            if isinstance(module, NoisyLinear):
                module.quiet = True

    def renew_noise(self, generator: torch.Generator) -> None:
        """Noisy layers: other noise from now on."""
        for module in self.modules():
            if isinstance(module, NoisyLinear):
                module.renew(generator)


class NoisyLinear(nn.Linear):
    """A full layer whose weights carry noise of learned size (Fortunato et al. 2018)."""

    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__(inputs, outputs)
        self.quiet = False
        size = _NOISE / math.sqrt(inputs)
        self.weight_noise = nn.Parameter(torch.full((outputs, inputs), size))
        self.bias_noise = nn.Parameter(torch.full((outputs,), size))
        self.register_buffer("noise_in", torch.zeros(inputs))
        self.register_buffer("noise_out", torch.zeros(outputs))

    def renew(self, generator: torch.Generator) -> None:
        """One draw for each input and output; a weight's noise is their product."""
        for noise in (self.noise_in, self.noise_out):
            drawn = torch.randn(noise.shape, generator=generator).to(noise.device)
            noise.copy_(drawn.sign() * drawn.abs().sqrt())

    def forward(self, x: Tensor) -> Tensor:
        """With the noise of the last draw, which is also how it explores."""
        if self.quiet:
            return super().forward(x)
        weight = self.weight + self.weight_noise * torch.outer(self.noise_out, self.noise_in)
        return nn.functional.linear(x, weight, self.bias + self.bias_noise * self.noise_out)


def export_q_network(net: QNetwork) -> dict[str, Any]:
    """The arrays that play needs: noise left out, normalisation folded into its convolution."""
    found: dict[str, Any] = {}
    convolutions = [module for module in net.body if isinstance(module, nn.Conv2d)]
    norms = [module for module in net.body if isinstance(module, nn.BatchNorm2d)]
    full = [module for module in net.body if isinstance(module, nn.Linear)]
    for number, (convolution, norm) in enumerate(zip(convolutions, norms, strict=True)):
        found |= folded(f"conv{number}", convolution, norm)
    layers = {f"full{number}": layer for number, layer in enumerate(full)}
    layers["actions"] = net.actions
    if net.state is not None:
        layers["state"] = net.state
    for name, layer in layers.items():
        found[f"{name}.weight"], found[f"{name}.bias"] = layer.weight, layer.bias
    return arrays_of(found)


def folded(name: str, convolution: Any, norm: Any) -> dict[str, Tensor]:
    """A convolution that does what it and its normalisation did."""
    scale = norm.weight / torch.sqrt(norm.running_var + norm.eps)
    bias = 0 if convolution.bias is None else convolution.bias
    return {
        f"{name}.weight": convolution.weight * scale[:, None, None, None],
        f"{name}.bias": (bias - norm.running_mean) * scale + norm.bias,
    }


class LinesNetwork(nn.Module):
    """The value of a state by the lines of the board, and its cells: `x` says what each is."""

    def __init__(self, shape: NetworkConfig, kinds: int) -> None:
        super().__init__()
        width, head = shape.hidden
        self.shape = shape
        self.lines = nn.EmbeddingBag(kinds, width, mode="sum")
        nn.init.normal_(self.lines.weight, std=_SPREAD)
        self.bias = nn.Parameter(torch.zeros(width))
        self.full = nn.ModuleList([nn.Linear(width, head), nn.Linear(head, head)])
        self.value = nn.Linear(head, 1)

    def forward(self, x: Tensor) -> Tensor:
        """[row], from -1 to 1, of numbers [row, turn, …]."""
        rows, turns, numbers = x.shape
        x = torch.relu(self.lines(x.reshape(rows * turns, numbers)) + self.bias)
        x = x.reshape(rows, turns, -1).mean(1)
        for layer in self.full:
            x = torch.relu(layer(x))
        found: Tensor = torch.tanh(self.value(x)).squeeze(1)
        return found

    def export(self) -> dict[str, Any]:
        """The arrays that play needs, by the names of `learn/valued.py`."""
        found: dict[str, Any] = {"lines.weight": self.lines.weight, "lines.bias": self.bias}
        for number, layer in enumerate(self.full):
            found |= _turned(f"full{number}", layer)
        return arrays_of(found | _turned("value", self.value))


class ResidualNetwork(nn.Module):
    """The value of a state as published for Squava, with 512 and 256 units: 686,081 parameters."""

    def __init__(self, shape: NetworkConfig, inputs: int) -> None:
        super().__init__()
        width, head = shape.hidden
        self.shape = shape
        self.full = nn.ModuleList([nn.Linear(n, width) for n in (inputs, width, width)])
        self.norm = nn.ModuleList([nn.LayerNorm(width) for _ in range(3)])
        self.head, self.value = nn.Linear(width, head), nn.Linear(head, 1)
        self.dropout = nn.Dropout(shape.dropout)

    def forward(self, x: Tensor) -> Tensor:
        """[row], from -1 to 1."""
        first = torch.relu(self.norm[0](self.full[0](x)))
        x = self.dropout(torch.relu(self.norm[1](self.full[1](first))))
        x = torch.relu(self.norm[2](self.full[2](x))) + first
        x = self.dropout(nn.functional.elu(self.head(x)))
        found: Tensor = torch.tanh(self.value(x)).squeeze(1)
        return found

    def export(self) -> dict[str, Any]:
        """The arrays that play needs, by the names of `learn/valued.py`."""
        found: dict[str, Any] = {}
        for number, (layer, norm) in enumerate(zip(self.full, self.norm, strict=True)):
            found |= _turned(f"full{number}", layer)
            found |= {f"norm{number}.weight": norm.weight, f"norm{number}.bias": norm.bias}
        return arrays_of(found | _turned("head", self.head) | _turned("value", self.value))


def _turned(name: str, layer: Any) -> dict[str, Tensor]:
    """A layer with its matrix [input, output]."""
    return {f"{name}.weight": layer.weight.T, f"{name}.bias": layer.bias}


def arrays_of(found: dict[str, Tensor]) -> dict[str, Any]:
    """For a file."""
    return {
        name: tensor.detach().cpu().float().contiguous().numpy().copy()
        for name, tensor in found.items()
    }
