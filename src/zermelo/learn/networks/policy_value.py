"""Build policy-value networks, and fuse them for inference on a CPU."""

import copy
from abc import ABC, abstractmethod

import torch
from torch import Tensor
from torch.nn import functional

from zermelo.core.game import WordGame
from zermelo.learn.batch.custom_encoder import CustomEncoder
from zermelo.learn.batch.planes import check_convolutions, input_shape
from zermelo.learn.config.custom import ENCODER, is_custom
from zermelo.learn.config.network import DENSE, NetworkConfig
from zermelo.learn.networks.custom import (
    CustomEvaluation,
    CustomPolicyValueNetwork,
    build_custom_policy_value_network,
)
from zermelo.learn.networks.fully_connected import FullyConnected, flatten_inputs
from zermelo.learn.networks.fused import expected_value, is_bfloat16_fast
from zermelo.learn.networks.numpy_inference import line_matrix
from zermelo.learn.networks.tower import Tower
from zermelo.learn.networks.weights_file import Array

PolicyValueNetwork = Tower | FullyConnected | CustomPolicyValueNetwork


def build_network(config: NetworkConfig, game: WordGame, encoder: str) -> PolicyValueNetwork:
    """Return an untrained network, initialised from torch's global random generator."""
    if config.is_custom:
        return build_custom_policy_value_network(
            config.kind, game, load_custom_encoder(encoder, game)
        )
    check_convolutions(config.kind, game)
    network_class = FullyConnected if config.kind == DENSE else Tower
    lines, num_planes = line_matrix(game, encoder), input_shape(game)[0]
    return network_class(config, game.plane_shape, game.num_actions, lines, num_planes)


def load_custom_encoder(encoder: str, game: WordGame) -> CustomEncoder | None:
    """Return the recipe's custom encoder, or None if the recipe names a built-in one."""
    return CustomEncoder(encoder, game) if is_custom(ENCODER, encoder) else None


def fuse_network(net: PolicyValueNetwork) -> "FusedNetwork | CustomEvaluation":
    """Return a copy of a network for fast inference, with batch norm fused into other layers.

    Custom networks are evaluated unchanged.
    """
    if isinstance(net, CustomPolicyValueNetwork):
        return CustomEvaluation(net)
    return FusedFullyConnected(net) if isinstance(net, FullyConnected) else FusedTower(net)


class FusedNetwork(ABC):
    """A network without batch norm, in bfloat16 where that is fast. It takes and returns arrays."""

    def __init__(self, net: Tower | FullyConnected) -> None:
        self._dtype = torch.bfloat16 if is_bfloat16_fast("cpu") else torch.float32
        self.config = net.config
        self.lines = None if net.lines is None else copy.deepcopy(net.lines).to(self._dtype)
        self.weights: dict[str, Tensor] = {}
        self.load(net)

    def load(self, net: PolicyValueNetwork) -> None:
        """Replace the weights with those of a network of the same kind and size."""
        for name, array in net.export().items():
            tensor = torch.from_numpy(array).to(self._dtype)
            if tensor.dim() == 4:
                tensor = tensor.contiguous(memory_format=torch.channels_last)
            self.weights[name] = tensor

    def __call__(self, planes: Array) -> tuple[Array, Array]:
        """Return (action logits, expected values in [-1, 1])."""
        x = torch.from_numpy(planes).to(self._dtype, memory_format=torch.channels_last)
        logits, results = self.forward(x)
        return logits.float().numpy(), expected_value(results).numpy()

    @abstractmethod
    def forward(self, planes: Tensor) -> tuple[Tensor, Tensor]:
        """Return (action logits, logits of win, draw and loss)."""

    def _linear(self, x: Tensor, name: str) -> Tensor:
        return functional.linear(x, self.weights[f"{name}.weight"], self.weights[f"{name}.bias"])

    def _convolve(self, x: Tensor, name: str) -> Tensor:
        weight, bias = self.weights[f"{name}.weight"], self.weights[f"{name}.bias"]
        return functional.conv2d(x, weight, bias, padding=1)


class FusedTower(FusedNetwork):
    """The fused form of `Tower`."""

    def forward(self, planes: Tensor) -> tuple[Tensor, Tensor]:
        """Return (action logits, logits of win, draw and loss)."""
        x = planes if self.lines is None else self.lines(planes)
        x = torch.relu_(self._convolve(x, "conv0"))
        for block in range(len(self.config.channels)):
            y = torch.relu_(self._convolve(x, f"conv{2 * block + 1}"))
            x = torch.relu_(self._convolve(y, f"conv{2 * block + 2}") + x)
        weight = self.weights["heads.weight"][:, :, None, None]
        x = torch.relu_(functional.conv2d(x, weight, self.weights["heads.bias"])).flatten(1)
        board = torch.relu_(self._linear(x, "hidden"))
        return self._linear(torch.cat([x, board], 1), "policy"), self._linear(board, "result")


class FusedFullyConnected(FusedNetwork):
    """The fused form of `FullyConnected`."""

    def forward(self, planes: Tensor) -> tuple[Tensor, Tensor]:
        """Return (action logits, logits of win, draw and loss)."""
        x = torch.relu_(self._linear(flatten_inputs(planes, self.lines), "full0"))
        for number in range(1, len(self.config.hidden), 2):
            y = torch.relu_(self._linear(x, f"full{number}"))
            x = torch.relu_(self._linear(y, f"full{number + 1}") + x)
        return self._linear(x, "policy"), self._linear(x, "result")
