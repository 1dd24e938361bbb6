"""Load AlphaZero's networks from model files, and check the files.

This module does not need torch, unless the network is custom.
"""

import math
from pathlib import Path
from typing import Any, NamedTuple

from zermelo.core.game import Game, WordGame
from zermelo.learn.batch.custom_encoder import CustomEncoder
from zermelo.learn.batch.planes import input_shape
from zermelo.learn.config.custom import NETWORK
from zermelo.learn.config.network import DENSE
from zermelo.learn.config.selfplay import POLICY_VALUE_ENCODERS
from zermelo.learn.models import custom as custom_models
from zermelo.learn.models.files import check_arrays, load_model_file, with_biases
from zermelo.learn.networks.evaluation import PolicyValueFunction, average_over_symmetries
from zermelo.learn.networks.numpy_inference import NumpyFullyConnected, NumpyTower, line_matrix
from zermelo.learn.networks.weights_file import Array, Arrays, BadWeights

MAX_SIMULATIONS = 4096
_MAX_WIDTH, _MAX_LAYERS = 1024, 64  # limits for the size of a network in a file

_Shapes = dict[str, tuple[int, ...]]  # shapes of weights, by the names of layers


class PolicyValueModel(NamedTuple):
    """A network, and the search options that are stored in the same file."""

    evaluate: PolicyValueFunction
    simulations: int
    considered: int  #: number of actions considered at the root
    encoder: CustomEncoder | None = None  #: computes the inputs; None if these are the planes


def load_policy_value_model(run: str, game: Game) -> PolicyValueModel:
    """Load the network of a run; raise BadWeights if its file is not valid for the game."""
    path, arrays, metadata = load_model_file(run, game, "alphazero")
    assert isinstance(game, WordGame)
    shape, encoder = metadata["shape"], metadata.get("encoder")
    for name in ("simulations", "considered", "images"):
        number = shape.get(name)
        if type(number) is not int or not 0 < number <= MAX_SIMULATIONS:
            msg = f"{path}: {name} is {number!r}: it must be an int from 1 to {MAX_SIMULATIONS:,}"
            raise BadWeights(msg)
    if custom_models.has_custom(NETWORK, metadata):
        return _load_custom(path, arrays, metadata, game)
    if encoder not in POLICY_VALUE_ENCODERS:
        names = " or ".join(POLICY_VALUE_ENCODERS)
        msg = f"{path}: the encoder is {encoder!r}: it must be {names}"
        raise BadWeights(msg)
    is_dense = shape.get("kind") == DENSE
    _check_widths(path, shape, is_dense=is_dense)
    channels, hidden, lines = shape["channels"], shape["hidden"], line_matrix(game, encoder)
    net: PolicyValueFunction
    if is_dense:
        check_arrays(path, arrays, with_biases(_dense_shapes(path, hidden, lines, game)))
        net = NumpyFullyConnected(arrays, len(hidden), lines)
    else:
        check_arrays(path, arrays, with_biases(_tower_shapes(path, channels, hidden, lines, game)))
        net = NumpyTower(arrays, len(channels), lines)
    evaluate = average_over_symmetries(net, game, shape["images"])
    return PolicyValueModel(evaluate, shape["simulations"], shape["considered"])


def _load_custom(
    path: Path, arrays: Arrays, metadata: dict[str, Any], game: WordGame
) -> PolicyValueModel:
    """Load a custom network, with its encoder if that is custom, too."""
    shape = metadata["shape"]
    encoder = custom_models.load_custom_encoder(path, metadata, game)
    net = custom_models.load_policy_value_network(path, arrays, metadata, game, encoder)
    from zermelo.learn.networks.custom import CustomEvaluation

    images = 1 if encoder is not None else shape["images"]
    evaluate = average_over_symmetries(CustomEvaluation(net), game, images)
    return PolicyValueModel(evaluate, shape["simulations"], shape["considered"], encoder)


def _check_widths(path: Path, shape: dict[str, Any], *, is_dense: bool) -> None:
    """Raise BadWeights if the number of layers or a width is out of range."""
    limits = {
        "channels": (0, 0) if is_dense else (1, _MAX_LAYERS),
        "hidden": (1, _MAX_LAYERS) if is_dense else (2, 2),
    }
    for name, (least, most) in limits.items():
        widths = shape.get(name)
        is_list = isinstance(widths, list) and least <= len(widths) <= most
        if not is_list or any(type(w) is not int or not 0 < w <= _MAX_WIDTH for w in widths or ()):
            msg = f"{path}: the network's {name} is {widths!r}: it must be a list of layer widths"
            raise BadWeights(msg)


def _dense_shapes(path: Path, hidden: list[int], lines: Array | None, game: WordGame) -> _Shapes:
    if len(set(hidden)) != 1 or len(hidden) % 2 == 0:
        msg = f"{path}: hidden layers must all have the same width, and their number must be odd"
        raise BadWeights(msg)
    width, inputs = hidden[0], math.prod(input_shape(game))
    if lines is not None:
        inputs += 2 * (int(lines[0].sum()) - 1) * len(lines)
    shapes: _Shapes = {"policy": (game.num_actions, width), "result": (3, width)}
    for number in range(len(hidden)):
        shapes[f"full{number}"] = (width, width if number else inputs)
    return shapes


def _tower_shapes(
    path: Path, channels: list[int], hidden: list[int], lines: Array | None, game: WordGame
) -> _Shapes:
    if len(set(channels)) != 1:
        msg = f"{path}: all blocks of a tower must have the same width"
        raise BadWeights(msg)
    planes, rows, cols = input_shape(game)
    planes = planes if lines is None else 2 * int(lines[0].sum())
    width, (head, inner), cells = channels[0], hidden, rows * cols
    shapes: _Shapes = {"conv0": (width, planes, 3, 3)}
    for number in range(1, 2 * len(channels) + 1):
        shapes[f"conv{number}"] = (width, width, 3, 3)
    shapes |= {"heads": (head, width), "hidden": (inner, head * cells), "result": (3, inner)}
    return shapes | {"policy": (game.num_actions, head * cells + inner)}
