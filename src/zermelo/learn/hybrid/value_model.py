"""A learned value function for batches of states, loaded from a file; it does not need torch."""

from typing import Any, NamedTuple

import numpy as np

from zermelo.core.game import Game
from zermelo.games.lines.small import WordLineGame
from zermelo.kernels.compiler import compile_kernel
from zermelo.kernels.registry import kernel
from zermelo.learn.hybrid.kernel_network import (
    VALUE_SCALE,
    NetworkTactics,
    build_leaf_network,
    build_network_tactics,
)
from zermelo.learn.models.files import check_arrays, load_model_file
from zermelo.learn.networks.weights_file import Array, Arrays, BadWeights

_MAX_WIDTH = 4096  # maximum width of a layer in a file


class ValueModel(NamedTuple):
    """A value network, and the search options that are stored in the same file."""

    hooks: NetworkTactics
    arrays: Arrays
    depth: int
    shares: tuple[float, float]  #: the weights of network and heuristic in play


def load_value_model(run: str, game: Game) -> ValueModel:
    """Load the network of a run; raise BadWeights if its file is not valid for the game."""
    path, arrays, metadata = load_model_file(run, game, "hybrid")
    shape = metadata["shape"]
    hidden, depth, shares = (shape.get(name) for name in ("hidden", "depth", "shares"))
    is_pair = isinstance(hidden, list) and len(hidden) == 2
    if not is_pair or not all(type(w) is int and 0 < w <= _MAX_WIDTH for w in hidden):
        msg = f"{path}: the network's hidden is {hidden!r}: it must be a list of two layer widths"
        raise BadWeights(msg)
    if type(depth) is not int or depth < 1 or not _are_shares(shares):
        msg = f"{path}: depth must be at least 1, and shares must be two numbers from 0 to 1"
        raise BadWeights(msg)
    assert isinstance(game, WordLineGame)
    hooks = build_network_tactics(
        game, shape["kind"], tuple(hidden), published=bool(shape.get("published"))
    )
    check_arrays(path, arrays, dict(hooks.array_shapes))
    return ValueModel(hooks, arrays, depth, (shares[0], shares[1]))


def _are_shares(shares: Any) -> bool:
    return (
        isinstance(shares, list)
        and len(shares) == 2
        and all(isinstance(share, int | float) and 0 <= share <= 1 for share in shares)
    )


class ValueFunction:
    """Evaluates arrays of states by a value network."""

    def __init__(self, model: ValueModel) -> None:
        net = build_leaf_network(model.hooks, model.arrays, cache_size=0)
        self._weights, self._layers = net.weights, net.layers
        self._evaluate = compile_kernel(evaluate_batch_by_network, model.hooks)

    def __call__(self, states: Array) -> Array:
        """Return the values [row] of states [row, word] for the side to move, from -1 to 1.

        Finished games, and states that the solver hooks resolve without a search, have their proven
        value: the network has never been trained on them.
        """
        values = np.zeros(len(states), np.float32)
        self._evaluate(states, self._weights, self._layers, values)
        return values


@kernel("uint64[:,::1], float32[::1], float32[:,::1], float32[::1]", common=False)
def evaluate_batch_by_network(
    game: NetworkTactics, states: Any, weights: Any, layers: Any, values: Any
) -> Any:
    """Write the value of each state, proven or by the network; `layers` is scratch memory."""
    for row in range(len(states)):
        state = game.load(states, row)
        over, value = game.result(state)
        if over:
            values[row] = value
        else:
            known, score, _moves = game.resolve(state)
            if known:
                values[row] = (score > 0) - (score < 0)
            else:
                values[row] = game.evaluate_network(state, weights, layers) / VALUE_SCALE
