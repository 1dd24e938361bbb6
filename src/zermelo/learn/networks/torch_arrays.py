"""Convert torch networks, optimisers and random states to named numpy arrays, and back."""

from collections.abc import Mapping

import numpy as np
import torch
from torch import Tensor, nn
from torch.optim import Optimizer

from zermelo.learn.networks.weights_file import Arrays

_ADAM, _RNG = "adam.", "torch"  # in checkpoints: prefix of Adam's arrays, name of the random state


def network_to_arrays(prefix: str, net: nn.Module) -> Arrays:
    """Return the weights of a network; the arrays share its memory if it is on the CPU."""
    return {prefix + key: t.detach().cpu().numpy() for key, t in net.state_dict().items()}


def arrays_to_tensors(arrays: Arrays, prefix: str) -> dict[str, Tensor]:
    """Return copies of all arrays whose names begin with the prefix, by name without the prefix."""
    return {
        name.removeprefix(prefix): torch.from_numpy(np.array(array))
        for name, array in arrays.items()
        if name.startswith(prefix)
    }


def to_weights(tensors: Mapping[str, Tensor]) -> Arrays:
    """Return copies of the tensors as float32 arrays, for a weights file."""
    return {
        name: tensor.detach().cpu().float().contiguous().numpy().copy()
        for name, tensor in tensors.items()
    }


def training_state_to_arrays(nets: Mapping[str, nn.Module], optimiser: Optimizer) -> Arrays:
    """Return the networks' weights, the optimiser's state and torch's random state.

    The keys of `nets` are the prefixes of the names of the networks' arrays.
    """
    arrays: Arrays = {_RNG: torch.get_rng_state().numpy()}
    for prefix, net in nets.items():
        arrays |= network_to_arrays(prefix, net)
    for number, state in optimiser.state_dict()["state"].items():
        for key, tensor in state.items():
            arrays[f"{_ADAM}{number}.{key}"] = tensor.detach().cpu().numpy()
    return arrays


def load_training_state(
    arrays: Arrays, nets: Mapping[str, nn.Module], optimiser: Optimizer
) -> None:
    """Restore the training state from arrays returned by `training_state_to_arrays`."""
    for prefix, net in nets.items():
        net.load_state_dict(arrays_to_tensors(arrays, prefix))
    state = optimiser.state_dict()
    numbers = [number for group in state["param_groups"] for number in group["params"]]
    states = {number: arrays_to_tensors(arrays, f"{_ADAM}{number}.") for number in numbers}
    state["state"] = {number: tensors for number, tensors in states.items() if tensors}
    rates = [group["lr"] for group in optimiser.param_groups]
    optimiser.load_state_dict(state)
    for group, rate in zip(optimiser.param_groups, rates, strict=True):
        group["lr"] = rate  # keep this tensor object: a captured CUDA graph reads the rate from it
    for parameter, tensors in optimiser.state.items():
        for key, tensor in tensors.items():
            if tensor.shape == parameter.shape:  # use the memory format of the parameter
                tensors[key] = torch.empty_like(parameter).copy_(tensor)
    torch.set_rng_state(torch.from_numpy(arrays[_RNG].copy()))
