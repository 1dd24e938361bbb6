"""A learned Q function for play, loaded from a file of a network or a table.

This module does not need torch, unless the network is custom.
"""

from collections.abc import Callable
from itertools import pairwise
from math import prod
from pathlib import Path
from typing import Any

from zermelo.core.game import Game, WordGame
from zermelo.learn.batch.custom_encoder import CustomEncoder
from zermelo.learn.batch.encoders import Encoder
from zermelo.learn.batch.game_batch import GameBatch
from zermelo.learn.batch.policies import masked_argmax
from zermelo.learn.config.custom import NETWORK
from zermelo.learn.models import custom as custom_models
from zermelo.learn.models.files import check_arrays, load_model_file, with_biases
from zermelo.learn.networks.evaluation import evaluate_in_batches
from zermelo.learn.networks.numpy_inference import NumpyQNetwork
from zermelo.learn.networks.q_table import TABLE_KIND, QTable
from zermelo.learn.networks.weights_file import Array, Arrays, BadWeights


class QModel:
    """A learned Q function, which evaluates arrays of states."""

    def __init__(self, run: str, game: Game) -> None:
        path, arrays, self.metadata = load_model_file(run, game, "dqn")
        assert isinstance(game, WordGame)
        self.game_batch = GameBatch(game)
        self.canonical = bool(self.metadata.get("canonical"))
        self.opening = _read_opening(path, self.metadata, game)
        self.encoder: Encoder | CustomEncoder | None = (
            None  #: None if the Q function is a table, as below
        )
        self.network: NumpyQNetwork | None = None
        self._q_function: Callable[[Array], Array]
        if self.metadata["shape"].get("kind") == TABLE_KIND:
            self._q_function = _load_table(path, arrays, game).values
        else:
            self._q_function = self._load_network(path, arrays, game)

    def _load_network(self, path: Path, arrays: Arrays, game: WordGame) -> Callable[[Array], Array]:
        """Return a function that encodes states and evaluates them with the network."""
        metadata, shape = self.metadata, self.metadata["shape"]
        encoder = custom_models.load_encoder(path, metadata, game)
        if custom_models.has_custom(NETWORK, metadata):
            module = custom_models.load_q_network(path, arrays, metadata, game, encoder)
            return lambda states: custom_models.evaluate_q(module, encoder(states))
        check_arrays(path, arrays, _array_shapes(path, shape, encoder.shape, game.num_actions))
        net = NumpyQNetwork(arrays, shape, encoder.shape)
        self.encoder, self.network = encoder, net
        if not shape.get("dueling"):  # only a dueling network needs to know the legal actions
            return lambda states: evaluate_in_batches(lambda x: net(x, None), encoder(states))
        return lambda states: evaluate_in_batches(
            net, encoder(states), self.game_batch.legal_masks(states)
        )

    def values(self, states: Array) -> Array:
        """Return Q values [row, action] for the side to move (arbitrary for illegal actions)."""
        if not self.canonical:
            return self._q_function(states)
        images, symmetries = self.game_batch.canonicalise(states)
        return self.game_batch.map_back(self._q_function(images), symmetries)

    def choose(self, states: Array) -> Array:
        """Return the best legal action of every state."""
        return masked_argmax(self.values(states), self.game_batch.legal_masks(states))


def _load_table(path: Path, arrays: Arrays, game: WordGame) -> QTable:
    if set(arrays) != {"states", "values"}:
        names = ", ".join(sorted(arrays)) or "nothing"
        msg = f"{path} holds {names}, not the states and values of a table"
        raise BadWeights(msg)
    table = QTable(game.num_words, game.num_actions)
    table.load(arrays["states"], arrays["values"])
    return table


def _read_opening(path: Path, metadata: dict[str, Any], game: WordGame) -> dict[Any, int]:
    """Return the model's fixed opening moves as a dictionary from states to actions."""
    opening: dict[Any, int] = {}
    state = game.initial()
    actions = metadata.get("opening", [])
    for action in actions if isinstance(actions, list) else [actions]:
        if action not in game.actions(state):
            msg = f"{path}: the opening {actions!r} cannot be played in {game.spec}"
            raise BadWeights(msg)
        opening[state] = int(action)
        state = game.play(state, int(action))
    return opening


def _array_shapes(
    path: Path, shape: dict[str, Any], input_shape: tuple[int, ...], num_actions: int
) -> dict[str, tuple[int, ...]]:
    """Return the shapes that a Q network's arrays must have, by the names of the arrays."""
    widths = {name: shape.get(name) for name in ("channels", "hidden")}
    for name, value in widths.items():
        if not isinstance(value, list) or not all(type(w) is int and w > 0 for w in value):
            msg = f"{path}: the network's {name} is {value!r}: it must be a list of layer widths"
            raise BadWeights(msg)
    channels, hidden = widths["channels"] or [], widths["hidden"] or []
    layers: dict[str, tuple[int, ...]] = {}
    for number, (inputs, outputs) in enumerate(pairwise([input_shape[0], *channels])):
        layers[f"conv{number}"] = (outputs, inputs, 3, 3)
    size = channels[-1] * prod(input_shape[1:]) if channels else prod(input_shape)
    for number, (inputs, outputs) in enumerate(pairwise([size, *hidden])):
        layers[f"full{number}"] = (outputs, inputs)
    last = hidden[-1] if hidden else size
    layers["actions"] = (num_actions, last)
    if shape.get("dueling"):
        layers["state"] = (1, last)
    return with_biases(layers)
