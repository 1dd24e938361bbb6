"""Find and load model files: shipped models, models of runs, and single files, without torch."""

from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from zermelo.core.game import Game, WordGame
from zermelo.core.game.fingerprint import rules_fingerprint
from zermelo.learn.batch.planes import planes_fingerprint
from zermelo.learn.config.network import POLICY_VALUE_KINDS, VALUE_KINDS
from zermelo.learn.models import packing
from zermelo.learn.networks import weights_file
from zermelo.learn.networks.weights_file import Arrays, BadWeights

FINAL = "final.safetensors"  #: name of the weights file in the folder of a finished run
MAX_BYTES = 256 << 20  #: maximum size of a model file
PLANES = "planes"  #: key of the planes' fingerprint in metadata
_SUFFIX = ".safetensors"
_FORMAT = 1  # version of the metadata
_PLAYER_KINDS = dict.fromkeys(VALUE_KINDS, "hybrid") | dict.fromkeys(
    POLICY_VALUE_KINDS, "alphazero"
)


@dataclass(frozen=True)
class ShippedModel:
    """A model that comes with the package."""

    name: str
    game: str
    kind: str  #: the kind of player that uses the model: "dqn", "hybrid" or "alphazero"

    @property
    def player(self) -> str:
        """The spec of the player that uses this model."""
        return f"{self.kind}:{self.name}"


def shipped_model_names() -> list[str]:
    """Return the names of the models that come with the package, sorted."""
    folder = resources.files(__package__) / "shipped"
    files = folder.iterdir() if folder.is_dir() else ()
    return sorted(f.name.removesuffix(_SUFFIX) for f in files if f.name.endswith(_SUFFIX))


def shipped_models() -> list[ShippedModel]:
    """Return the models that come with the package, except those that cannot be read."""
    models = (_shipped_model(name) for name in shipped_model_names())
    return [model for model in models if model is not None]


@lru_cache(maxsize=64)
def _shipped_model(name: str) -> ShippedModel | None:
    try:
        metadata = weights_file.read_metadata(find_model_file(name))
        return ShippedModel(name, str(metadata.get("game")), player_kind(metadata))
    except BadWeights:
        return None


def player_kind(metadata: dict[str, Any]) -> str:
    """Return the kind of player that uses the network described in the metadata."""
    shape = metadata.get("shape")
    kind = shape.get("kind") if isinstance(shape, dict) else None
    if isinstance(shape, dict) and "player" in shape:  # a custom network
        return str(shape["player"])
    return _PLAYER_KINDS.get(str(kind), "dqn")


class ModelFile(NamedTuple):
    """A loaded model file, checked to fit a game and a kind of player."""

    path: Path
    arrays: Arrays
    metadata: dict[str, Any]


def load_model_file(run: str, game: Game, kind: str) -> ModelFile:
    """Load the model `run` for a kind of player, or the shipped model if `run` is empty.

    Raise BadWeights if there is no such model, or if it is for another game or kind of player.
    """
    run = run or _shipped_name(game, kind)
    path = find_model_file(run)
    arrays, metadata = weights_file.read(path, MAX_BYTES, only_play=True)
    if metadata.get("format") != _FORMAT or not isinstance(metadata.get("shape"), dict):
        msg = f"{path} is a file of another kind, or was written by a later version of zermelo"
        raise BadWeights(msg)
    if player_kind(metadata) != kind:
        msg = f"{run} does not play as {kind}: it plays as {player_kind(metadata)}:{run}"
        raise BadWeights(msg)
    if metadata.get("game") != game.spec:
        msg = f"{run} was trained for {metadata.get('game')}, not for {game.spec}"
        raise BadWeights(msg)
    if not isinstance(game, WordGame) or metadata.get("rules") != rules_fingerprint(game):
        msg = f"{run} was trained with other rules of {game.spec}: train it again"
        raise BadWeights(msg)
    if metadata.get(PLANES) != planes_fingerprint(game):
        msg = f"{run} was trained with other planes of {game.spec}: train it again"
        raise BadWeights(msg)
    arrays = packing.unpack_weights(path, arrays)
    for name, array in arrays.items():
        if array.dtype.kind == "f" and not np.isfinite(array).all():
            msg = f"{path}: {name} contains NaN or infinity"
            raise BadWeights(msg)
    return ModelFile(path, arrays, metadata)


def _shipped_name(game: Game, kind: str) -> str:
    for model in shipped_models():
        if (model.game, model.kind) == (game.spec, kind):
            return model.name
    msg = f"no model is shipped for {game.spec}: use {kind}:RUN, where RUN is {_choices()}"
    raise BadWeights(msg)


def find_model_file(run: str) -> Path:
    """Return a model file's path; `run` is a shipped model's name, a run's folder or a path."""
    if run in shipped_model_names():
        return Path(str(resources.files(__package__) / "shipped" / f"{run}{_SUFFIX}"))
    path = Path(run)
    if path.is_file():
        return path
    if path.is_dir():
        if not (path / FINAL).is_file():
            msg = f"the run {run} has not finished; to use a checkpoint, give the path of its file"
            raise BadWeights(msg)
        return path / FINAL
    msg = f"there is no model {run!r}: give {_choices()}"
    raise BadWeights(msg)


def _choices() -> str:
    names = ", ".join(shipped_model_names()) or "none"
    return f"the folder of a run, a file, or the name of a shipped model: {names}"


def build_metadata(
    game: WordGame, encoder: str, shape: dict[str, Any], **more: Any
) -> dict[str, Any]:
    """Return the metadata of a weights file; `shape` describes the network."""
    return {
        "format": _FORMAT,
        "game": game.spec,
        "rules": rules_fingerprint(game),
        "encoder": encoder,
        "shape": shape,
        **planes_metadata(game),
        **more,
    }


def planes_metadata(game: WordGame) -> dict[str, str]:
    """Return the metadata entry for a game's planes; it is empty for the default planes."""
    fingerprint = planes_fingerprint(game)
    return {} if fingerprint is None else {PLANES: fingerprint}


def check_arrays(path: Path, arrays: Arrays, expected: dict[str, tuple[int, ...]]) -> None:
    """Raise BadWeights if an array is missing, unknown or of the wrong shape."""
    for name in [*expected, *arrays]:
        actual = list(arrays[name].shape) if name in arrays else "missing"
        wanted = list(expected[name]) if name in expected else "no such array"
        if actual != wanted:
            msg = f"{path}: {name} is {actual}, but this network expects {wanted}"
            raise BadWeights(msg)


def with_biases(weights: dict[str, tuple[int, ...]]) -> dict[str, tuple[int, ...]]:
    """Return the shapes of all weight and bias arrays, given the weights' shapes by layer name."""
    shapes = {f"{name}.weight": shape for name, shape in weights.items()}
    return shapes | {f"{name}.bias": shape[:1] for name, shape in weights.items()}
