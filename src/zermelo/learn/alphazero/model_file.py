"""AlphaZero's networks from files, after a look at all of them. No torch."""

from pathlib import Path
from typing import Any

from zermelo.core.game import Game
from zermelo.learn.config.selfplay import POLICY_VALUE_ENCODERS
from zermelo.learn.models.model import check_arrays, opened
from zermelo.learn.networks.numpy_inference import DenseForward, TowerForward, lines_of
from zermelo.learn.networks.symmetry_average import Judge, in_images
from zermelo.learn.networks.weights_file import BadWeights

MOST = 4096  #: simulations
_WIDEST, _DEEPEST = 1024, 64  # network that a file may ask for

_Sizes = dict[str, tuple[int, ...]]  # of arrays, by the names of layers


def read(run: str, game: Game) -> tuple[Judge, int, int]:
    """(network, simulations, actions considered); BadWeights where something does not fit."""
    path, arrays, said = opened(run, game, "alphazero")
    shape = said["shape"]
    channels, hidden = shape.get("channels"), shape.get("hidden")
    simulations, considered = shape.get("simulations"), shape.get("considered")
    images = shape.get("images")
    is_dense = shape.get("kind") == "dense"
    counts = {"channels": (0, 0) if is_dense else (1, _DEEPEST)}
    counts["hidden"] = (1, _DEEPEST) if is_dense else (2, 2)
    for name, (least, most) in counts.items():
        given = shape.get(name)
        fits = isinstance(given, list) and least <= len(given) <= most
        if not fits or not all(type(w) is int and 0 < w <= _WIDEST for w in given):
            msg = f"{path}: {name} of the network is {given!r}: it must be a list of widths"
            raise BadWeights(msg)
    numbers = {"simulations": simulations, "considered": considered, "images": images}
    for name, number in numbers.items():
        if type(number) is not int or not 0 < number <= MOST:
            msg = f"{path}: {name} is {number!r}: it must be a number from 1 to {MOST:,}"
            raise BadWeights(msg)
    if said.get("encoder") not in POLICY_VALUE_ENCODERS:
        msg = f"{path}: its encoder is {said.get('encoder')!r}: it must be one of {POLICY_VALUE_ENCODERS}"
        raise BadWeights(msg)
    lines = lines_of(game, said["encoder"])
    if is_dense:
        sizes = _of_dense(path, hidden, lines, game)
        net: Judge = DenseForward(arrays, len(hidden), lines)
    else:
        sizes = _of_tower(path, channels, hidden, lines, game)
        net = TowerForward(arrays, len(channels), lines)
    wanted: dict[str, Any] = {f"{name}.weight": size for name, size in sizes.items()}
    wanted |= {f"{name}.bias": size[:1] for name, size in sizes.items()}
    check_arrays(path, arrays, wanted)
    return in_images(net, game, images), simulations, considered


def _of_dense(path: Path, hidden: Any, lines: Any, game: Game) -> _Sizes:
    assert game.grid is not None
    if len(set(hidden)) != 1 or len(hidden) % 2 == 0:
        msg = f"{path}: layers of one width are needed, one and some pairs"
        raise BadWeights(msg)
    width, inputs = hidden[0], 2 * game.grid.size
    if lines is not None:
        inputs += 2 * (int(lines[0].sum()) - 1) * len(lines)
    sizes: _Sizes = {"policy": (game.num_actions, width), "result": (3, width)}
    for number in range(len(hidden)):
        sizes[f"full{number}"] = (width, width if number else inputs)
    return sizes


def _of_tower(path: Path, channels: Any, hidden: Any, lines: Any, game: Game) -> _Sizes:
    assert game.grid is not None
    if len(set(channels)) != 1:
        msg = f"{path}: a tower has blocks of one width and two heads"
        raise BadWeights(msg)
    planes = 2 if lines is None else 2 * int(lines[0].sum())
    width, (head, inner), cells = channels[0], hidden, game.grid.size
    sizes: _Sizes = {"conv0": (width, planes, 3, 3)}
    for number in range(1, 2 * len(channels) + 1):
        sizes[f"conv{number}"] = (width, width, 3, 3)
    sizes |= {"heads": (head, width), "hidden": (inner, head * cells), "result": (3, inner)}
    sizes |= {"policy": (game.num_actions, head * cells + inner)}
    return sizes
