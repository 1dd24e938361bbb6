"""Recipes: a training in one TOML file, read strictly; what it does not say has a default."""

import dataclasses
import tomllib
import types
import typing
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from typing import Any

from zermelo.core.errors import BadSpec, ZermeloError
from zermelo.learn.alphazero.learner import Playing
from zermelo.learn.alphazero.search_options import RULES
from zermelo.learn.config.schedules import Linear
from zermelo.learn.dqn.learner import Settings
from zermelo.learn.dqn.selfplay import Rules
from zermelo.learn.networks.numpy_inference import ENCODERS
from zermelo.learn.networks.q_network import DENSE, TOWER, VALUES, Shape

_MAX_BYTES = 100_000
_SUFFIX = ".toml"
KINDS = ("dqn", "tabular", "supervised", "value", "alphazero")


class BadRecipe(ZermeloError):
    """A recipe that cannot be followed, with what is wrong in it."""


@dataclass(frozen=True)
class Remembering:
    """The replay."""

    size: int = 50_000
    alpha: float = 0.0  #: above 0, what went wrong is drawn more often
    beta: float = 0.4


@dataclass(frozen=True)
class Shaping:
    """A potential that helps at the beginning; see `learn/shaping.py`."""

    name: str = ""  #: "patterns", or none
    fade: Linear = field(default_factory=lambda: Linear(1.0, 0.0))  #: its weight


@dataclass(frozen=True)
class Searching:
    """A value inside alpha-beta: how it is searched with; see `learn/value.py`."""

    targets: str = "search"  #: what a state is worth: by search, or by "steps"
    depth: int = 3  #: plies ahead, in training …
    late: int = 64  #: … and from so many stones on …
    late_depth: int = 8  #: … so many
    games: int = 1  #: that are played for each batch
    opening: int = 10  #: random plies, below this, before games that begin at random positions
    network: float = 1.0  #: its share of an estimate, in training …
    heuristic: float = 0.0  #: … and the heuristic's
    play_depth: int = 4  #: plies ahead, in play
    play_network: float = 1.0
    play_heuristic: float = 0.0
    published: bool = False  #: the ordering and the heuristic that were published for Squava


@dataclass(frozen=True)
class Keeping:
    """How often, in updates, a run is kept and graded on the way."""

    checkpoint: int = 1000
    grade: int = 250


@dataclass(frozen=True)
class Recipe:
    """All that defines a training, but for its seed."""

    name: str
    game: str
    summary: str = ""
    kind: str = "dqn"  #: who learns: of KINDS
    encoder: str = "cells"
    first_move: str = "free"  #: or "centre": the first player's is given
    network: Shape = field(default_factory=Shape)
    learning: Settings = field(default_factory=Settings)
    acting: Rules = field(default_factory=Rules)
    replay: Remembering = field(default_factory=Remembering)
    shaping: Shaping = field(default_factory=Shaping)
    keeping: Keeping = field(default_factory=Keeping)
    searching: Searching = field(default_factory=Searching)
    selfplay: Playing = field(default_factory=Playing)  #: of AlphaZero

    def to_json(self) -> dict[str, Any]:
        """For files, and for comparing."""
        return dataclasses.asdict(self)


def names() -> list[str]:
    """The recipes that come with the package."""
    folder = resources.files(__package__) / "cookbook"
    files = (file.name for file in folder.iterdir())
    return sorted(name.removesuffix(_SUFFIX) for name in files if name.endswith(_SUFFIX))


def load(name: str, *, short: bool = False) -> Recipe:
    """A recipe by its name or file; `short`: with what its part `short` changes.

    >>> load("tictactoe-dqn").game
    'tictactoe'
    """
    if name in names():
        data = (resources.files(__package__) / "cookbook" / f"{name}{_SUFFIX}").read_bytes()
    elif name.endswith(_SUFFIX):
        data, name = _read(Path(name)), Path(name).stem
    else:
        msg = f"there is no recipe {name!r}: {', '.join(names())}, or a .toml file"
        raise BadRecipe(msg)
    try:
        found = tomllib.loads(data.decode())
    except ValueError as error:
        msg = f"{name} is no recipe: {error}"
        raise BadRecipe(msg) from None
    changes = found.pop("short", {})
    if short:
        _merge(found, changes)
    try:
        made = _made(Recipe, {"name": name} | found, name)
    except BadSpec as error:
        msg = f"{name}: {error}"
        raise BadRecipe(msg) from None
    assert isinstance(made, Recipe)
    check(made)
    return made


def from_json(data: dict[str, Any]) -> Recipe:
    """A recipe from `to_json`, which may have been to another process."""
    made = _made(Recipe, data, str(data.get("name")))
    assert isinstance(made, Recipe)
    return made


def check(recipe: Recipe) -> None:
    """BadRecipe for what could never be followed."""
    learning, games = recipe.learning, recipe.acting
    asked = (
        (recipe.kind in KINDS, f"kind is {recipe.kind!r}: it can be {', '.join(KINDS)}"),
        (
            recipe.kind != "supervised" or "supervised" in recipe.name,
            "what is told the answers says supervised in its name",
        ),
        (
            (recipe.kind == "value") == (recipe.network.kind in VALUES),
            f"a network of kind {recipe.network.kind} does not go with kind {recipe.kind}",
        ),
        (
            (recipe.kind == "alphazero") == (recipe.network.kind in (TOWER, DENSE)),
            f"a network of kind {recipe.network.kind} does not go with kind {recipe.kind}",
        ),
        (
            recipe.kind != "alphazero" or _in_chunks(recipe),
            f"updates and checkpoint must be multiples of {recipe.selfplay.updates}, those a chunk",
        ),
        (
            recipe.kind != "alphazero" or recipe.encoder in ENCODERS,
            f"encoder is {recipe.encoder!r}: for AlphaZero it can be {' or '.join(ENCODERS)}",
        ),
        (
            recipe.selfplay.rule in RULES,
            f"rule is {recipe.selfplay.rule!r}: it can be {' or '.join(RULES)}",
        ),
        (
            bool(recipe.selfplay.simulations) and min(recipe.selfplay.simulations) > 0,
            f"simulations are {list(recipe.selfplay.simulations)}: numbers above 0",
        ),
        (
            recipe.searching.targets in ("search", "steps"),
            f"targets is {recipe.searching.targets!r}: it can be search or steps",
        ),
        (
            recipe.kind != "value" or not recipe.acting.response,
            "a value is that of best play: it learns no response",
        ),
        (recipe.kind != "tabular" or len(learning.phases) == 1, "a table learns in one phase"),
        (bool(learning.phases) and all(p.share > 0 for p in learning.phases), "phases need shares"),
        (
            learning.loss in ("huber", "mse", *("cross",) * (recipe.kind == "value")),
            f"loss is {learning.loss!r}: it can be huber or mse, of a value also cross",
        ),
        (
            0 < learning.warm_up <= recipe.replay.size,
            f"warm_up is {learning.warm_up}: the replay holds up to {recipe.replay.size}",
        ),
        (
            bool(games.seats) and set(games.seats) <= {0, 1},
            f"seats are {list(games.seats)}: each is 0 or 1",
        ),
        *(
            (number > 0, f"{name} is {number}: it must be 1 or more")
            for name, number in {
                "updates": learning.updates,
                "batch": learning.batch,
                "every": learning.every,
                "moves": learning.moves,
                "games": games.games,
                "steps": games.steps,
                "checkpoint": recipe.keeping.checkpoint,
                "grade": recipe.keeping.grade,
                "depth": recipe.searching.depth,
                "late_depth": recipe.searching.late_depth,
                "opening": recipe.searching.opening,
                "games for a batch": recipe.searching.games,
                "play_depth": recipe.searching.play_depth,
                "games at once": recipe.selfplay.games,
                "plies": recipe.selfplay.plies,
                "considered": recipe.selfplay.considered,
                "images": recipe.selfplay.images,
                "start_plies": recipe.selfplay.start_plies,
                "updates for each chunk": recipe.selfplay.updates,
            }.items()
        ),
    )
    for holds, problem in asked:
        if not holds:
            msg = f"{recipe.name}: {problem}"
            raise BadRecipe(msg)


def _in_chunks(recipe: Recipe) -> bool:
    each = recipe.selfplay.updates
    return each > 0 and not recipe.learning.updates % each and not recipe.keeping.checkpoint % each


def _read(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            data = file.read(_MAX_BYTES + 1)
    except OSError as error:
        msg = f"cannot read the recipe {path}: {error.strerror}"
        raise BadRecipe(msg) from None
    if len(data) > _MAX_BYTES:
        msg = f"{path} is no recipe: it is larger than {_MAX_BYTES:,} bytes"
        raise BadRecipe(msg)
    return data


def _merge(into: dict[str, Any], changes: dict[str, Any]) -> None:
    for key, value in changes.items():
        if isinstance(value, dict) and isinstance(into.get(key), dict):
            _merge(into[key], value)
        else:
            into[key] = value


def _made(kind: Any, value: Any, where: str) -> Any:
    """A value of the kind that a dataclass's field has; BadRecipe names the place."""
    if dataclasses.is_dataclass(kind):
        if not isinstance(value, dict):
            msg = f"{where} is {value!r}: it must be a table"
            raise BadRecipe(msg)
        hints = typing.get_type_hints(kind)
        unknown = next((key for key in value if key not in hints), None)
        if unknown is not None:
            msg = f"{where} has no {unknown!r}: it has {', '.join(hints)}"
            raise BadRecipe(msg)
        parts = {key: _made(hints[key], item, f"{where}.{key}") for key, item in value.items()}
        try:
            return typing.cast("Any", kind)(**parts)
        except TypeError as error:
            msg = f"{where}: {error}"
            raise BadRecipe(msg) from None
    if typing.get_origin(kind) is tuple:
        inner = typing.get_args(kind)[0]
        if not isinstance(value, list):
            msg = f"{where} is {value!r}: it must be a list"
            raise BadRecipe(msg)
        return tuple(_made(inner, item, f"{where}[{n}]") for n, item in enumerate(value))
    assert not isinstance(kind, types.UnionType)
    if kind is float and isinstance(value, int) and not isinstance(value, bool):
        value = float(value)
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        msg = f"{where} is {value!r}: it must be {kind.__name__}"
        raise BadRecipe(msg)
    return value
