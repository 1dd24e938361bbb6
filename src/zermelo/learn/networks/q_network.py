"""Q networks, with one output per action. Checkpoints name their arrays after the torch modules."""

import math

import torch
from torch import Tensor, nn

from zermelo.learn.config.network import NetworkConfig
from zermelo.learn.networks.fused import fuse_batch_norm
from zermelo.learn.networks.torch_arrays import to_weights
from zermelo.learn.networks.weights_file import Arrays

_ACTIVATIONS = {"relu": nn.ReLU, "tanh": nn.Tanh, "leaky": nn.LeakyReLU}
_INITIAL_NOISE = 0.5  # initial noise of a layer is this / square root of its number of inputs


class QNetwork(nn.Module):
    """Returns the Q value of every action; a dueling network adds a state value and advantages."""

    def __init__(self, config: NetworkConfig, inputs: tuple[int, ...], num_actions: int) -> None:
        super().__init__()
        self.config = config
        activation = _ACTIVATIONS[config.activation]
        body: list[nn.Module] = []
        planes = inputs[0]
        for width in config.channels:
            body += [nn.Conv2d(planes, width, 3, padding=1), nn.BatchNorm2d(width), activation()]
            planes = width
        body.append(nn.Flatten())
        size = math.prod(inputs) if config.kind == "mlp" else planes * math.prod(inputs[1:])
        linear = NoisyLinear if config.noisy else nn.Linear
        for width in config.hidden:
            body += [linear(size, width), activation()]
            body += [nn.Dropout(config.dropout)] if config.dropout else []
            size = width
        self.body = nn.Sequential(*body)
        self.actions = linear(size, num_actions)
        self.state = linear(size, 1) if config.dueling else None

    def forward(self, x: Tensor, legal: Tensor) -> Tensor:
        """Return the Q values [row, action].

        A dueling network subtracts the mean advantage of the `legal` actions.
        """
        x = self.body(x)
        q: Tensor = self.actions(x)
        if self.state is not None:
            legal = legal.to(q.dtype)
            mean = (q * legal).sum(1, keepdim=True) / legal.sum(1, keepdim=True).clamp(min=1)
            q = self.state(x) + q - mean
        return q

    def disable_noise(self) -> None:
        """Make noisy layers use their mean weights from now on."""
        for module in self.modules():
            if isinstance(module, NoisyLinear):
                module.is_noisy = False

    def sample_noise(self, generator: torch.Generator) -> None:
        """Sample new noise for all noisy layers."""
        for module in self.modules():
            if isinstance(module, NoisyLinear):
                module.sample_noise(generator)


class NoisyLinear(nn.Linear):
    """A linear layer with noise of learned size on its weights (Fortunato et al. 2018)."""

    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__(inputs, outputs)
        self.is_noisy = True
        size = _INITIAL_NOISE / math.sqrt(inputs)
        self.weight_noise = nn.Parameter(torch.full((outputs, inputs), size))
        self.bias_noise = nn.Parameter(torch.full((outputs,), size))
        self.register_buffer("noise_in", torch.zeros(inputs))
        self.register_buffer("noise_out", torch.zeros(outputs))

    def sample_noise(self, generator: torch.Generator) -> None:
        """Sample factorised noise, where a weight's noise is the product of two samples.

        One sample belongs to the weight's input, the other to its output.
        """
        for noise in (self.noise_in, self.noise_out):
            sample = torch.randn(noise.shape, generator=generator).to(noise.device)
            noise.copy_(sample.sign() * sample.abs().sqrt())

    def forward(self, x: Tensor) -> Tensor:
        """Apply the layer with the noise that was sampled last."""
        if not self.is_noisy:
            return super().forward(x)
        weight = self.weight + self.weight_noise * torch.outer(self.noise_out, self.noise_in)
        return nn.functional.linear(x, weight, self.bias + self.bias_noise * self.noise_out)


def export_q_network(net: QNetwork) -> Arrays:
    """Return the weights for play: without noise, and with batch norm fused into convolutions."""
    convolutions = [module for module in net.body if isinstance(module, nn.Conv2d)]
    norms = [module for module in net.body if isinstance(module, nn.BatchNorm2d)]
    linear = [module for module in net.body if isinstance(module, nn.Linear)]
    tensors: dict[str, Tensor] = {}
    for number, (convolution, norm) in enumerate(zip(convolutions, norms, strict=True)):
        tensors |= fuse_batch_norm(f"conv{number}", convolution, norm)
    layers = {f"full{number}": layer for number, layer in enumerate(linear)}
    layers["actions"] = net.actions
    if net.state is not None:
        layers["state"] = net.state
    for name, layer in layers.items():
        tensors[f"{name}.weight"], tensors[f"{name}.bias"] = layer.weight, layer.bias
    return to_weights(tensors)
