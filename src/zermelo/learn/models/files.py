"""Learned players' files: where they are, and what a player needs of them, without torch."""

from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from itertools import pairwise
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

from zermelo.core.game.fingerprint import rules_fingerprint
from zermelo.core.game import Game, WordGame
from zermelo.learn.batch.encoders import Encoder
from zermelo.learn.batch.game_batch import GameBatch
from zermelo.learn.batch.policies import masked_argmax
from zermelo.learn.networks import packing, weights_file
from zermelo.learn.networks.numpy_inference import Forward
from zermelo.learn.networks.q_table import TABLE_KIND, QTable
from zermelo.learn.networks.weights_file import BadWeights

FINAL = "final.safetensors"  #: of a run's folder
MAX_BYTES = 256 << 20  #: of a file that plays
_SUFFIX = ".safetensors"
_FORMAT = 1
_PLAYED_AS = {  # by network
    "lines": "hybrid",
    "residual": "hybrid",
    "tower": "alphazero",
    "dense": "alphazero",
}


@dataclass(frozen=True)
class Shipped:
    """A model that comes with the package."""

    name: str
    game: str
    kind: str  #: who plays it: "dqn", "hybrid" or "alphazero"

    @property
    def player(self) -> str:
        """Its spec."""
        return f"{self.kind}:{self.name}"


def shipped_names() -> list[str]:
    """The models that come with the package."""
    folder = resources.files(__package__) / "shipped"
    files = folder.iterdir() if folder.is_dir() else ()
    return sorted(f.name.removesuffix(_SUFFIX) for f in files if f.name.endswith(_SUFFIX))


def shipped() -> list[Shipped]:
    """The same with the games they play; one that cannot be read is left out."""
    return [model for name in shipped_names() if (model := _shipped(name)) is not None]


@lru_cache(maxsize=64)
def _shipped(name: str) -> Shipped | None:
    try:
        said = weights_file.read_about(find(name))
        return Shipped(name, str(said.get("game")), player_kind(said))
    except BadWeights:
        return None


def player_kind(said: dict[str, Any]) -> str:
    """Who plays what is in a file: a value needs a search, a Q does not."""
    shape = said.get("shape")
    kind = shape.get("kind") if isinstance(shape, dict) else None
    return _PLAYED_AS.get(str(kind), "dqn")


def opened(run: str, game: Game, kind: str) -> tuple[Path, dict[str, Any], dict[str, Any]]:
    """(file, arrays, what it says) of a run for a player of a kind; BadWeights unless it fits.

    Without a run it is the model that is shipped for the game.
    """
    if not run:
        fitting = [m.name for m in shipped() if (m.game, m.kind) == (game.spec, kind)]
        if not fitting:
            msg = f"no model is shipped for {game.spec}: {kind}:RUN takes {_choices()}"
            raise BadWeights(msg)
        run = fitting[0]
    path = find(run)
    arrays, said = weights_file.read(path, MAX_BYTES, playing=True)
    if said.get("format") != _FORMAT or not isinstance(said.get("shape"), dict):
        msg = f"{path} is of another kind or a later version"
        raise BadWeights(msg)
    if player_kind(said) != kind:
        msg = f"{run} does not play as {kind}: it plays as {player_kind(said)}:{run}"
        raise BadWeights(msg)
    if said.get("game") != game.spec:
        msg = f"{run} was trained for {said.get('game')}, not for {game.spec}"
        raise BadWeights(msg)
    if not isinstance(game, WordGame) or said.get("rules") != rules_fingerprint(game):
        msg = f"{run} was trained when {game.spec} had other rules: train it anew"
        raise BadWeights(msg)
    arrays = packing.unpacked(path, arrays)
    for name, array in arrays.items():
        if array.dtype.kind == "f" and not np.isfinite(array).all():
            msg = f"{path}: {name} holds what is no number"
            raise BadWeights(msg)
    return path, arrays, said


def find(run: str) -> Path:
    """The file of a run: a shipped model's name, a run's folder, or a file."""
    if run in shipped_names():
        return Path(str(resources.files(__package__) / "shipped" / f"{run}{_SUFFIX}"))
    path = Path(run)
    if path.is_file():
        return path
    if path.is_dir():
        if not (path / FINAL).is_file():
            msg = f"{run} holds no finished run; a checkpoint in it plays by its own name"
            raise BadWeights(msg)
        return path / FINAL
    msg = f"there is no model {run!r}: give {_choices()}"
    raise BadWeights(msg)


def _choices() -> str:
    """What can be named, in words."""
    names = ", ".join(shipped_names()) or "none yet"
    return f"a run's folder, a file, or one that is shipped: {names}"


def about(game: WordGame, encoder: str, shape: dict[str, Any], **more: Any) -> dict[str, Any]:
    """What a file of weights says about itself."""
    return {
        "format": _FORMAT,
        "game": game.spec,
        "rules": rules_fingerprint(game),
        "encoder": encoder,
        "shape": shape,
        **more,
    }


class Model:
    """A learned Q, for play: states in, a number for every action out."""

    def __init__(self, run: str, game: Game) -> None:
        path, arrays, said = opened(run, game, "dqn")
        assert isinstance(game, WordGame)
        shape = said["shape"]
        self.about, self.game_batch = said, GameBatch(game)
        self.canonical = bool(said.get("canonical"))
        self.opening = _opening(path, said, game)
        if shape.get("kind") == TABLE_KIND:
            self._judge = _table(path, arrays, game).values
        else:
            self._judge = self._network(path, arrays, shape, game)

    def _network(self, path: Path, arrays: Any, shape: dict[str, Any], game: WordGame) -> Any:
        """Encoder and network as one."""
        if not isinstance(self.about.get("encoder"), str):
            msg = f"{path} does not say how its states are encoded"
            raise BadWeights(msg)
        encoder = Encoder(self.about["encoder"], game)
        check_arrays(path, arrays, _expected(path, shape, encoder.shape, game.num_actions))
        net = Forward(arrays, shape, encoder.shape)
        return lambda seen: net(encoder(seen), self.game_batch.legal_masks(seen))

    def values(self, states: Any) -> Any:
        """[row, action]: what every action seems worth to the side to move."""
        seen, turns = self.game_batch.canonicalise(states) if self.canonical else (states, None)
        found = self._judge(seen)
        if turns is None:
            return found
        return np.take_along_axis(found, self.game_batch.action_maps[turns], 1)

    def choose(self, states: Any) -> Any:
        """The best legal action of every state."""
        return masked_argmax(self.values(states), self.game_batch.legal_masks(states))


def _table(path: Path, arrays: dict[str, Any], game: WordGame) -> QTable:
    found = QTable(game.num_words, game.num_actions)
    if set(arrays) != {"states", "values"}:
        msg = f"{path} holds {', '.join(sorted(arrays)) or 'nothing'}, not the states of a table"
        raise BadWeights(msg)
    found.load(arrays["states"], arrays["values"])
    return found


def _opening(path: Path, said: dict[str, Any], game: WordGame) -> dict[Any, int]:
    """The first moves that are given, by state."""
    found: dict[Any, int] = {}
    state = game.initial()
    given = said.get("opening", [])
    for action in given if isinstance(given, list) else [given]:
        if action not in game.actions(state):
            msg = f"{path}: its opening {given!r} cannot be played"
            raise BadWeights(msg)
        found[state] = int(action)
        state = game.play(state, int(action))
    return found


def _expected(
    path: Path, shape: dict[str, Any], inputs: tuple[int, ...], num_actions: int
) -> dict[str, Any]:
    """The shapes of a network's arrays, by name."""
    widths = {name: shape.get(name) for name in ("channels", "hidden")}
    for name, given in widths.items():
        if not isinstance(given, list) or not all(type(w) is int and w > 0 for w in given):
            msg = f"{path}: {name} of the network is {given!r}: it must be a list of widths"
            raise BadWeights(msg)
    channels, hidden = widths["channels"] or [], widths["hidden"] or []
    layers: dict[str, tuple[int, ...]] = {}
    for number, (before, after) in enumerate(pairwise([inputs[0], *channels])):
        layers[f"conv{number}"] = (after, before, 3, 3)
    size = channels[-1] * prod(inputs[1:]) if channels else prod(inputs)
    for number, (before, after) in enumerate(pairwise([size, *hidden])):
        layers[f"full{number}"] = (after, before)
    last = hidden[-1] if hidden else size
    layers["actions"] = (num_actions, last)
    if shape.get("dueling"):
        layers["state"] = (1, last)
    found: dict[str, Any] = {f"{name}.weight": sizes for name, sizes in layers.items()}
    return found | {f"{name}.bias": sizes[:1] for name, sizes in layers.items()}


def check_arrays(path: Path, arrays: dict[str, Any], expected: dict[str, Any]) -> None:
    """BadWeights names the first array that is missing, one too many, or of another shape."""
    for name in [*expected, *arrays]:
        found = list(arrays[name].shape) if name in arrays else "missing"
        wanted = list(expected[name]) if name in expected else "no part of it"
        if found != wanted:
            msg = f"{path}: {name} is {found}, but by the network's shape {wanted}"
            raise BadWeights(msg)
