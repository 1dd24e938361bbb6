"""Runs: a training in a folder, which can be killed at any time and goes on from its checkpoint.

    run.json                what was asked: recipe, seed, game, rules
    checkpoint.safetensors  everything: weights, optimiser, replay, games in progress, all dice
    final.safetensors       the weights that play, at the end
    best.safetensors        those with the best grade on the way, for comparison only
    log.jsonl               a line every so many updates
    card.md, card.json      how it was made, and its grades
    curves.svg, start.svg   the log as pictures
    tensorboard/            the log for TensorBoard, where that is installed

Files are written under another name first. Resumed, a run ends with the same weights, bit for bit.
"""

import dataclasses
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from zermelo.core import home
from zermelo.core.errors import ZermeloError
from zermelo.core.files import write_atomically
from zermelo.core.fingerprint import rules_fingerprint
from zermelo.core.game import WordGame
from zermelo.learn.batch.game_batch import GameBatch
from zermelo.learn.models import model
from zermelo.learn.networks import weights_file
from zermelo.learn.networks.weights_file import BadWeights

if TYPE_CHECKING:
    from zermelo.learn.config.recipe import Recipe
    from zermelo.learn.config.reports import TrainingReport

CHECKPOINT, BEST, LOG, CARD = "checkpoint.safetensors", "best.safetensors", "log.jsonl", "card.json"
_ASKED = "run.json"
_HARMLESS = ("learning.rate",)  # a change of these is said, and allowed


class BadRun(ZermeloError):
    """A folder that is not a run, or one of something else."""


class Trainer(Protocol):
    """Whoever learns: what a run asks of it, and keeps of it."""

    game_batch: GameBatch

    @property
    def updates(self) -> int:
        """How many are done."""

    def steps(self) -> Iterator["Report"]:
        """One update after the other, from where it stands to the end."""

    def values(self, states: Any) -> Any:
        """[row, action]: Q, as it would play now."""

    def exported(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """(the arrays that play needs, their shape in words)."""

    def to_arrays(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """(arrays, JSON): everything that the rest of the run depends on."""

    def load_arrays(self, arrays: dict[str, Any], about: dict[str, Any]) -> None:
        """As it was."""

    def close(self) -> None:
        """Whoever plays for it goes home."""


@dataclasses.dataclass
class Memory:
    """What the log's next line depends on, beside the trainer."""

    loss: float = 0.0  #: the sum since the last line …
    count: int = 0  #: … of so many updates
    best: float = 1.0  #: the least mistake rate so far
    most_wins: float = 0.0  #: the best hundred games so far
    seconds: float = 0.0  #: spent up to here


class Run:
    """One folder."""

    def __init__(
        self, folder: Path, recipe: "Recipe", seed: int, game: WordGame, command: str = ""
    ) -> None:
        self.folder, self.recipe, self.seed, self.game = folder, recipe, seed, game
        self.command = command  #: that makes it again
        self.memory = Memory()
        self.warnings: list[str] = []

    @property
    def player(self) -> str:
        """Its spec, once it is finished."""
        return f"{_player_kind(vars(self.recipe))}:{self.folder}"

    def _own(self) -> dict[str, Any]:
        """What a file of this run must agree with."""
        recipe = json.loads(json.dumps(self.recipe.to_json()))
        return {"recipe": recipe, "seed": self.seed, "rules": rules_fingerprint(self.game)}

    def begin(self) -> None:
        """A folder for a new run; one that is there must not be lost by accident."""
        if (self.folder / _ASKED).exists():
            msg = f"{self.folder} holds a run already: --resume goes on, --out takes another folder"
            raise BadRun(msg)
        self._write_asked({"began": time.time(), "command": self.command, "changes": []})

    def _write_asked(self, more: dict[str, Any]) -> None:
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            text = json.dumps({**self._own(), **more}, indent=1)
            write_atomically(self.folder / _ASKED, text, durable=True, mode=0o644)
        except OSError as error:
            msg = f"cannot write to {self.folder}: {error.strerror}"
            raise BadRun(msg) from None

    def resume(self, trainer: Trainer) -> None:
        """As the checkpoint left it, or as at the start where there is none yet."""
        asked = read_asked(self.folder)
        changes = self._compare(self.folder, asked)
        path = self.folder / CHECKPOINT
        if path.exists():
            arrays, said = weights_file.read(path)
            self._compare(path, said)
            _load(trainer, arrays, said, path)
            self.memory = Memory(**said["memory"])
        if changes:
            self.warnings += [f"{c['name']} was {c['was']} and is {c['now']} now" for c in changes]
            noted = [{"update": trainer.updates, **change} for change in changes]
            asked["changes"] = [*asked.get("changes", []), *noted]
            self._write_asked({**asked, **self._own()})

    def _compare(self, where: Path, said: dict[str, Any]) -> list[dict[str, Any]]:
        """BadRun names the first thing that must not differ; returns what may."""
        changes = []
        own = self._own()
        for name, was, now in _differences({key: said.get(key) for key in own}, own):
            short = name.removeprefix("recipe.")
            if not short.startswith(_HARMLESS):
                msg = f"{where} was begun with another {short}: {was!r}, and now it is {now!r}"
                raise BadRun(msg)
            changes.append({"name": short, "was": was, "now": now})
        return changes

    def checkpoint(self, trainer: Trainer) -> None:
        """Everything that the rest of the run depends on; it plays, too."""
        arrays, about = trainer.to_arrays()
        plays, said = self._plays(trainer)
        arrays |= {f"{weights_file.PLAYS}{name}": array for name, array in plays.items()}
        about |= self._own() | {"memory": dataclasses.asdict(self.memory)}
        weights_file.write(self.folder / CHECKPOINT, arrays, {**said, "plays": True, **about})

    def keep(self, name: str, trainer: Trainer) -> None:
        """Weights for play."""
        weights_file.write(self.folder / name, *self._plays(trainer))

    def _plays(self, trainer: Trainer) -> tuple[dict[str, Any], dict[str, Any]]:
        arrays, shape = trainer.exported()
        about = model.about(
            self.game,
            self.recipe.encoder,
            shape,
            canonical=self.recipe.learning.canonical,
            opening=list(self.recipe.acting.opening),
            name=self.recipe.name,
            seed=self.seed,
            updates=trainer.updates,
        )
        return arrays, about

    def log(self, line: dict[str, Any]) -> None:
        """A line of the log, on a line of its own even where the last one was cut off."""
        path = self.folder / LOG
        with path.open("ab+") as file:
            if file.tell():
                file.seek(-1, 2)
                if file.read(1) != b"\n":
                    file.write(b"\n")
            file.write(json.dumps(line).encode() + b"\n")


def _load(trainer: Trainer, arrays: dict[str, Any], said: dict[str, Any], path: Path) -> None:
    """A trainer from its checkpoint; BadRun says what does not fit."""
    for name, mine in trainer.to_arrays()[0].items():
        its = arrays.get(name)
        # How many rows a table or a list has may change in the course of a run.
        if its is None or its.shape[1:] != mine.shape[1:] or its.dtype != mine.dtype:
            found = "nothing" if its is None else f"{its.dtype} {list(its.shape)}"
            msg = f"{path}: {name} is {found}, not {mine.dtype} {list(mine.shape)}"
            raise BadRun(msg)
    try:
        trainer.load_arrays(arrays, said)
    except (LookupError, ValueError, RuntimeError, TypeError) as error:
        msg = f"{path} does not fit this run: {' '.join(str(error).split())}"
        raise BadRun(msg) from None


def _differences(was: Any, now: Any, name: str = "") -> list[tuple[str, Any, Any]]:
    """(where, was, is) for all that differs in two trees of JSON."""
    if isinstance(was, dict) and isinstance(now, dict):
        return [
            difference
            for key in {**was, **now}
            for difference in _differences(
                was.get(key), now.get(key), f"{name}.{key}" if name else str(key)
            )
        ]
    return [] if was == now else [(name, was, now)]


def read_asked(folder: Path) -> dict[str, Any]:
    """What a run was asked to be; BadRun for a folder that holds none."""
    found = _read_json(folder / _ASKED)
    if not isinstance(found, dict) or not isinstance(found.get("recipe"), dict):
        msg = f"{folder} holds no run"
        raise BadRun(msg)
    return found


def _read_json(path: Path) -> Any:
    """None for what is not there, or no JSON."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return None


def read_log(folder: Path) -> list[dict[str, Any]]:
    """The lines by update: after a resumption some come twice, and the later one counts."""
    lines: dict[int, dict[str, Any]] = {}
    try:
        text = (folder / LOG).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return []
    for row in text.splitlines():
        try:
            line = json.loads(row)
        except ValueError:
            continue  # cut off when the run was killed
        if isinstance(line, dict) and isinstance(line.get("update"), int):
            lines[line["update"]] = line
    return [lines[update] for update in sorted(lines)]


@dataclasses.dataclass(frozen=True)
class Story:
    """What a folder tells about its run."""

    name: str
    folder: str
    recipe: str
    game: str
    seed: int
    state: str  #: "finished", or "unfinished"
    update: int  #: of the last checkpoint
    updates: int  #: of the whole
    grades: dict[str, Any] | None  #: of the final weights: raw, and with a shell or a search
    player: str  #: its spec, once it is finished


def runs_folder() -> Path:
    """Return the folder of the runs whose folder the user does not name."""
    return home.state_folder() / "runs"


def find(name: str) -> Path:
    """The folder of a run, by its name or its path."""
    for folder in (runs_folder() / name, Path(name)):
        if (folder / _ASKED).is_file():
            return folder
    msg = f"there is no run {name!r}: zermelo runs lists them"
    raise BadRun(msg)


def story(folder: Path) -> Story:
    """A run's, from its files."""
    asked = read_asked(folder)
    recipe, update = asked["recipe"], 0
    if (folder / CHECKPOINT).is_file():
        try:
            update = int(weights_file.read_about(folder / CHECKPOINT).get("updates", 0))
        except BadWeights:
            update = 0
    card = _read_json(folder / CARD)
    return Story(
        folder.name,
        str(folder),
        str(recipe.get("name")),
        str(recipe.get("game")),
        int(asked.get("seed") or 0),
        "finished" if (folder / model.FINAL).is_file() else "unfinished",
        update,
        int(recipe.get("learning", {}).get("updates", 0)),
        card.get("grades") if isinstance(card, dict) else None,
        f"{_player_kind(recipe)}:{folder}",
    )


def _player_kind(recipe: dict[str, Any]) -> str:
    kinds = {"value": "hybrid", "alphazero": "alphazero"}
    return kinds.get(str(recipe.get("kind")), "dqn")


def stories(*more: Path) -> list[Story]:
    """Of the runs at home, and of those in some other folders that are still there."""
    folders = [path.parent for path in sorted(runs_folder().glob(f"*/{_ASKED}"))]
    folders += [path for path in dict.fromkeys(more) if path not in folders]
    found = []
    for folder in folders:
        try:
            found.append(story(folder))
        except (BadRun, TypeError, ValueError, AttributeError):
            continue
    return found
