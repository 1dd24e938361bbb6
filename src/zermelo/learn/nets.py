"""Networks: states in, a number for every action out. The home of layers, and of nothing else."""

import math
from dataclasses import asdict, dataclass
from typing import Any

import torch
from torch import Tensor, nn

from zermelo.errors import BadSpec

_ACTIVATIONS = {"relu": nn.ReLU, "tanh": nn.Tanh, "leaky": nn.LeakyReLU}
_NOISE = 0.5  # of a noisy layer, at the start


@dataclass(frozen=True)
class Shape:
    """What a network looks like; as JSON it goes into every file of weights."""

    kind: str = "mlp"  #: "mlp", or "cnn" for planes
    hidden: tuple[int, ...] = (128, 128)  #: widths of the full layers
    channels: tuple[int, ...] = ()  #: of the convolutions, 3x3 each
    activation: str = "relu"
    dueling: bool = False
    noisy: bool = False
    dropout: float = 0.0

    def __post_init__(self) -> None:
        if self.kind not in ("mlp", "cnn") or self.activation not in _ACTIVATIONS:
            msg = f"a network of kind {self.kind!r} with {self.activation!r}: mlp or cnn with " + (
                ", ".join(_ACTIVATIONS)
            )
            raise BadSpec(msg)
        if (self.kind == "cnn") != bool(self.channels):
            msg = "a cnn needs channels, an mlp has none"
            raise BadSpec(msg)

    def to_json(self) -> dict[str, Any]:
        """For files."""
        return {k: list(v) if isinstance(v, tuple) else v for k, v in asdict(self).items()}


class QNetwork(nn.Module):
    """The value of every action. Dueling: that of the state, and what each action adds to it."""

    def __init__(self, shape: Shape, inputs: tuple[int, ...], num_actions: int) -> None:
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


def exported(net: QNetwork) -> dict[str, Any]:
    """The arrays that play needs: noise left out, normalisation folded into its convolution."""
    found: dict[str, Any] = {}
    convolutions = [module for module in net.body if isinstance(module, nn.Conv2d)]
    norms = [module for module in net.body if isinstance(module, nn.BatchNorm2d)]
    full = [module for module in net.body if isinstance(module, nn.Linear)]
    for number, (convolution, norm) in enumerate(zip(convolutions, norms, strict=True)):
        assert norm.running_mean is not None
        assert norm.running_var is not None
        assert convolution.bias is not None
        scale = norm.weight / torch.sqrt(norm.running_var + norm.eps)
        found[f"conv{number}.weight"] = convolution.weight * scale[:, None, None, None]
        found[f"conv{number}.bias"] = (convolution.bias - norm.running_mean) * scale + norm.bias
    layers = {f"full{number}": layer for number, layer in enumerate(full)}
    layers["actions"] = net.actions
    if net.state is not None:
        layers["state"] = net.state
    for name, layer in layers.items():
        found[f"{name}.weight"], found[f"{name}.bias"] = layer.weight, layer.bias
    return {name: tensor.detach().cpu().float().numpy().copy() for name, tensor in found.items()}
