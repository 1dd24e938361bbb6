"""Custom networks: torch modules of users, which are checked before they are trained or used.

A module is built by calling its class with (input_shape, num_actions). From a batch of inputs
[state, *input_shape] it computes

- as a Q network: the Q values [state, action]
- as a policy-value network: (logits [state, action], logits of win, draw and loss [state, 3])
"""

import copy
import inspect
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from zermelo.core.errors import BadSpec
from zermelo.core.game import WordGame
from zermelo.games import user_code
from zermelo.learn.batch.custom_encoder import CustomEncoder, sample_inputs
from zermelo.learn.batch.encoders import Encoder
from zermelo.learn.config import custom
from zermelo.learn.networks.fused import expected_value
from zermelo.learn.networks.numpy_inference import encode_planes
from zermelo.learn.networks.torch_arrays import arrays_to_tensors, network_to_arrays
from zermelo.learn.networks.weights_file import Array, Arrays

# Types of tensors that a weights file can hold.
_DTYPES = (
    torch.float32, torch.float16, torch.float64, torch.bool, torch.uint8,
    torch.int8, torch.int16, torch.int32, torch.int64,
)  # fmt: skip
_NUM_RESULTS = 3  # win, draw and loss


class _CustomNetwork(nn.Module):
    """A custom torch module. The arrays of its weights are named after its submodules."""

    player: str  #: the kind of player that uses the network

    def __init__(self, spec: str, module: nn.Module) -> None:
        super().__init__()
        self.spec, self.module = spec, module

    @property
    def shape(self) -> dict[str, Any]:
        """The entry of the network in the metadata of a model file."""
        return {"kind": self.spec, "player": self.player}

    def export(self) -> Arrays:
        """Return copies of the weights and buffers."""
        arrays = network_to_arrays("", self.module)
        return {name: array.copy() for name, array in arrays.items()}

    def load(self, arrays: Arrays) -> None:
        """Replace the weights and buffers with those that `export` returned."""
        self.module.load_state_dict(arrays_to_tensors(arrays, ""))


class CustomQNetwork(_CustomNetwork):
    """A custom Q network, with the interface of `QNetwork`."""

    player = "dqn"

    def forward(self, x: Tensor, legal: Tensor) -> Tensor:
        """Return the Q values [row, action]; `legal` is not used."""
        del legal
        q: Tensor = self.module(x)
        return q

    def disable_noise(self) -> None:
        """Do nothing: custom modules have no noise that we control."""

    def sample_noise(self, generator: torch.Generator) -> None:
        """Do nothing: custom modules have no noise that we control."""


class CustomPolicyValueNetwork(_CustomNetwork):
    """A custom policy-value network, with the interface of `Tower`."""

    player = "alphazero"

    def forward(self, inputs: Tensor) -> tuple[Tensor, Tensor]:
        """Return (action logits, logits of win, draw and loss)."""
        # Custom modules may call `view`, which needs contiguous memory.
        logits, results = self.module(inputs.contiguous(memory_format=torch.contiguous_format))
        return logits, results

    def evaluate(self, inputs: Tensor) -> tuple[Tensor, Tensor]:
        """Return (action logits, expected values in [-1, 1])."""
        logits, results = self(inputs.float())
        return logits.float(), expected_value(results)


class CustomEvaluation:
    """Evaluates arrays with a custom policy-value network, on a CPU."""

    def __init__(self, net: CustomPolicyValueNetwork) -> None:
        self._net = net

    def load(self, net: Any) -> None:
        """Use this network from now on."""
        self._net = net

    def __call__(self, inputs: Array) -> tuple[Array, Array]:
        """Return (action logits, expected values in [-1, 1])."""
        with torch.no_grad():
            logits, values = self._net.evaluate(torch.from_numpy(inputs))
        return logits.numpy(), values.numpy()


def build_custom_q_network(
    spec: str, game: WordGame, encoder: Encoder | CustomEncoder
) -> CustomQNetwork:
    """Return an untrained network; raise BadSpec if its outputs are not Q values of this game."""
    inputs = torch.from_numpy(encoder(sample_inputs(game)))
    module = _build_module(spec, game, inputs)
    expected = f"a Q network must return {_describe_q(len(inputs), game)}, a value for each action"
    _check_outputs(spec, module, inputs, [(len(inputs), game.num_actions)], expected)
    return CustomQNetwork(spec, module)


def build_custom_policy_value_network(
    spec: str, game: WordGame, encoder: CustomEncoder | None = None
) -> CustomPolicyValueNetwork:
    """Return an untrained network; raise BadSpec if its outputs do not fit this game.

    Its inputs are the planes of the game, unless an encoder is given.
    """
    states = sample_inputs(game)
    planes = encode_planes(game, states) if encoder is None else encoder(states)
    inputs = torch.from_numpy(np.ascontiguousarray(planes))
    module = _build_module(spec, game, inputs)
    shapes = [(len(inputs), game.num_actions), (len(inputs), _NUM_RESULTS)]
    expected = (
        f"a policy-value network must return (a float32 tensor {list(shapes[0])}, a float32 tensor "
        f"{list(shapes[1])}): logits of actions, and logits of win, draw and loss"
    )
    _check_outputs(spec, module, inputs, shapes, expected)
    return CustomPolicyValueNetwork(spec, module)


def _describe_q(size: int, game: WordGame) -> str:
    return f"a float32 tensor {[size, game.num_actions]}"


def _build_module(spec: str, game: WordGame, inputs: Tensor) -> nn.Module:
    """Build a custom module, and check that it can be trained and saved."""
    factory = custom.load_factory(custom.NETWORK, spec)
    arguments = tuple(inputs.shape[1:]), game.num_actions
    try:
        inspect.signature(factory).bind(*arguments)
    except TypeError as error:
        msg = f"{spec} must accept (input_shape, num_actions), here {arguments}: {error}"
        raise BadSpec(msg) from None
    with user_code.guard(spec):
        module: Any = factory(*arguments)
    if not isinstance(module, nn.Module):
        msg = f"{spec} returns {type(module).__name__}: a network must be a torch.nn.Module"
        raise BadSpec(msg)
    with user_code.guard(spec), torch.no_grad():
        module.eval()(inputs)  # lazy layers get their weights here
    if not any(parameter.requires_grad for parameter in module.parameters()):
        msg = f"{spec} has no parameters to train"
        raise BadSpec(msg)
    for name, tensor in module.state_dict().items():
        if not isinstance(tensor, Tensor) or tensor.dtype not in _DTYPES:
            found = str(getattr(tensor, "dtype", type(tensor).__name__)).removeprefix("torch.")
            msg = f"{spec}: {name} is {found}, which cannot be saved: use float32"
            raise BadSpec(msg)
    return module


def _check_outputs(
    spec: str, module: nn.Module, inputs: Tensor, shapes: list[tuple[int, int]], expected: str
) -> None:
    """Raise BadSpec if the outputs are wrong in eval or train mode, or cannot be differentiated.

    Neither the module nor torch's random generator is changed.
    """
    with user_code.guard(spec), torch.random.fork_rng(devices=[]):
        trial = copy.deepcopy(module)
        outputs = {"eval": trial.eval()(inputs), "train": trial.train()(inputs)}
        for mode, output in outputs.items():
            tensors = output if isinstance(output, tuple) else (output,)
            found = [t.shape if isinstance(t, Tensor) else None for t in tensors]
            is_float = all(isinstance(t, Tensor) and t.dtype == torch.float32 for t in tensors)
            is_pair = isinstance(output, tuple) == (len(shapes) > 1)
            if found != shapes or not is_float or not is_pair:
                msg = (
                    f"{spec} returns {_describe(output)} for {len(inputs)} states in {mode} mode: "
                    f"{expected}"
                )
                raise BadSpec(msg)
            if not all(tensor.isfinite().all() for tensor in tensors):
                msg = f"{spec} returns NaN or infinity in {mode} mode"
                raise BadSpec(msg)
        loss = sum(tensor.sum() for tensor in tensors)
        if not isinstance(loss, Tensor) or not loss.requires_grad:
            msg = f"{spec} cannot be trained: its output does not depend on its parameters"
            raise BadSpec(msg)
        loss.backward()


def _describe(output: Any) -> str:
    if isinstance(output, tuple):
        return f"({', '.join(map(_describe, output))})"
    if isinstance(output, Tensor):
        return f"a {str(output.dtype).removeprefix('torch.')} tensor {list(output.shape)}"
    return type(output).__name__
