"""What torch keeps, as arrays by name, and back: networks, their optimiser, the dice."""

from collections.abc import Mapping

import numpy as np
import torch
from torch import nn
from torch.optim import Optimizer

from zermelo.learn.networks.weights_file import Arrays

_ADAM, _DICE = "adam.", "torch"


def net_arrays(prefix: str, net: nn.Module) -> Arrays:
    """A network's weights."""
    return {prefix + key: t.detach().cpu().numpy() for key, t in net.state_dict().items()}


def tensors(arrays: Arrays, prefix: str) -> dict[str, torch.Tensor]:
    """Those whose names begin so, as a network takes them."""
    return {
        name.removeprefix(prefix): torch.from_numpy(np.array(array))
        for name, array in arrays.items()
        if name.startswith(prefix)
    }


def to_arrays(nets: Mapping[str, nn.Module], optimiser: Optimizer) -> Arrays:
    """Networks by the prefix of their names, what the optimiser remembers, torch's dice."""
    arrays: Arrays = {_DICE: torch.get_rng_state().numpy()}
    for prefix, net in nets.items():
        arrays |= net_arrays(prefix, net)
    for number, state in optimiser.state_dict()["state"].items():
        for key, tensor in state.items():
            arrays[f"{_ADAM}{number}.{key}"] = tensor.detach().cpu().numpy()
    return arrays


def load_arrays(arrays: Arrays, nets: Mapping[str, nn.Module], optimiser: Optimizer) -> None:
    """As they were."""
    for prefix, net in nets.items():
        net.load_state_dict(tensors(arrays, prefix))
    state = optimiser.state_dict()
    numbers = [number for group in state["param_groups"] for number in group["params"]]
    kept = {number: tensors(arrays, f"{_ADAM}{number}.") for number in numbers}
    state["state"] = {number: found for number, found in kept.items() if found}
    rates = [group["lr"] for group in optimiser.param_groups]
    optimiser.load_state_dict(state)
    for group, rate in zip(optimiser.param_groups, rates, strict=True):
        group["lr"] = rate  # not a copy: whoever sets the rate may hold on to the tensor
    for parameter, found in optimiser.state.items():
        for key, tensor in found.items():
            if tensor.shape == parameter.shape:  # laid out in memory as the parameter is
                found[key] = torch.empty_like(parameter).copy_(tensor)
    torch.set_rng_state(torch.from_numpy(arrays[_DICE].copy()))
