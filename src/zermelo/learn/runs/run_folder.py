"""A run and its folder. The run can be killed at any time and resumed from its checkpoint.

    run.json                the recipe, the seed and a fingerprint of the rules
    run.lock                the process that is training the run; removed at the end
    checkpoint.safetensors  weights, optimiser, replay buffer, games in progress and random states
    final.safetensors       the weights for play, written at the end
    best.safetensors        the weights with the best grade so far, for comparison only
    log.jsonl               a line of measurements for every grading
    card.md, card.json      the model card: how the run was made, and its grades
    curves.svg, start.svg   charts of the log
    tensorboard/            the log for TensorBoard, if TensorBoard is installed

Files are replaced atomically. A resumed run ends with the same weights as an uninterrupted one,
bit for bit.
"""

import contextlib
import dataclasses
import json
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from zermelo.core.errors import ZermeloError, import_package
from zermelo.core.files import write_atomically
from zermelo.core.game import WordGame
from zermelo.core.game.fingerprint import rules_fingerprint
from zermelo.learn.config import custom
from zermelo.learn.config.recipe import Recipe
from zermelo.learn.config.reports import TrainingDiverged
from zermelo.learn.models import files as model_files
from zermelo.learn.networks import weights_file
from zermelo.learn.networks.weights_file import Arrays, BadWeights
from zermelo.learn.runs.lock import RunLock
from zermelo.learn.runs.log import LogLine, read_log
from zermelo.learn.runs.trainer_interface import Trainer

MANIFEST, CHECKPOINT, BEST = "run.json", "checkpoint.safetensors", "best.safetensors"
CARD = "card.json"
_CHANGEABLE = ("learning.rate",)  # settings of a recipe that may change when a run is resumed
_STATISTICS = "memory"  # the key of RunStatistics in a checkpoint


class BadRun(ZermeloError):
    """Raised when a folder contains no run or a different run, or cannot hold a new run."""


@dataclass
class RunStatistics:
    """Statistics that the run, not the trainer, keeps for the log and the model card."""

    loss_sum: float = 0.0  #: sum of the losses since the last line of the log
    num_losses: int = 0
    best_mistake_rate: float = 1.0
    best_win_rate: float = 0.0  #: highest share of wins in the latest games at any grading
    seconds: float = 0.0  #: time spent on training so far

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers, by their keys in checkpoints."""
        return dict(zip(_STATISTICS_KEYS, dataclasses.astuple(self), strict=True))

    @classmethod
    def from_dict(cls, numbers: dict[str, Any]) -> "RunStatistics":
        """Return the statistics whose `to_dict` is `numbers`."""
        return cls(*(numbers[key] for key in _STATISTICS_KEYS))


_STATISTICS_KEYS = ("loss", "count", "best", "most_wins", "seconds")  # in the order of the fields


@dataclass(frozen=True)
class RunSummary:
    """Summary of a run. The field names are the keys of the JSON output."""

    name: str
    folder: str
    recipe: str
    game: str
    seed: int
    state: str  #: "finished" or "unfinished"
    update: int  #: number of updates made before the last checkpoint
    updates: int  #: number of updates of the complete run
    grades: dict[str, Any] | None  #: grades of the final weights, alone and with rules or a search
    player: str  #: the spec of the player that uses the final weights


class Run:
    """A training run, stored in a folder."""

    def __init__(
        self,
        folder: Path,
        recipe: Recipe,
        seed: int,
        game: WordGame,
        command: str | None = None,
    ) -> None:
        self.folder, self.recipe, self.seed, self.game = folder, recipe, seed, game
        self.command = command  #: the command that reproduces the run; None if unknown
        sources = custom.describe_sources(recipe)
        #: where the code of a custom network or encoder is, and its digest when training began
        self._sources: dict[str, Any] = {custom.SOURCES: sources} if sources else {}
        self.statistics = RunStatistics()
        self.warnings: list[str] = []
        self._lock: RunLock | None = None

    @property
    def player(self) -> str:
        """The spec of the player that uses the final weights."""
        return f"{player_kind(self.recipe.kind)}:{self.folder}"

    @property
    def log(self) -> list[LogLine]:
        """The measurements of every grading during the training, in the order of the updates."""
        return read_log(self.folder)

    def to_dict(self) -> dict[str, Any]:
        """Return a summary of the run, with the fields of the JSON output."""
        return dataclasses.asdict(summarize_run(self.folder))

    def to_dataframe(self) -> Any:
        """Return a pandas data frame with a row for every line of the log."""
        return import_package("pandas", "to_dataframe").DataFrame(self.log)

    def __repr__(self) -> str:
        """Return the recipe, the game, the seed and the player in angle brackets."""
        return f"<run of {self.recipe.name} at {self.game.spec}, seed {self.seed}: {self.player}>"

    def _identity(self) -> dict[str, Any]:
        """Return the recipe, seed and rules, which must be the same in all files of the run."""
        recipe = json.loads(json.dumps(self.recipe.to_dict()))
        identity = {"recipe": recipe, "seed": self.seed, "rules": rules_fingerprint(self.game)}
        return identity | model_files.planes_metadata(self.game) | self._sources

    def create(self) -> None:
        """Create the run's folder and lock it; raise BadRun if it already contains a run."""
        with self._locked():
            if (self.folder / MANIFEST).exists():
                msg = f"{self.folder} holds a run already: resume it, or choose another folder"
                raise BadRun(msg)
            self._write_manifest({"began": time.time(), "command": self.command, "changes": []})

    def release(self) -> None:
        """Release the lock of the folder, which `create` and `resume` acquire."""
        if self._lock is not None:
            self._lock.release()

    @contextlib.contextmanager
    def _locked(self) -> Iterator[None]:
        """Lock the folder, and keep it locked unless there is an error."""
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            self._lock = RunLock(self.folder)
        except OSError as error:
            msg = f"cannot write to {self.folder}: {error.strerror}"
            raise BadRun(msg) from None
        try:
            yield
        except BaseException:
            self.release()
            raise

    def _write_manifest(self, fields: dict[str, Any]) -> None:
        try:
            text = json.dumps({**self._identity(), **fields}, indent=1)
            write_atomically(self.folder / MANIFEST, text, durable=True, mode=0o644)
        except OSError as error:
            msg = f"cannot write to {self.folder}: {error.strerror}"
            raise BadRun(msg) from None

    def resume(self, trainer: Trainer) -> None:
        """Lock the folder, and restore the trainer from the checkpoint, if one was saved.

        Raise BadRun if the folder contains no run or a different one. Permitted changes of settings
        are added to `warnings` and to the manifest.
        """
        manifest = read_manifest(self.folder)
        with self._locked():
            self._restore(trainer, manifest)

    def _restore(self, trainer: Trainer, manifest: dict[str, Any]) -> None:
        changes = self._allowed_changes(self.folder, manifest)
        path = self.folder / CHECKPOINT
        if path.exists():
            arrays, metadata = weights_file.read(path)
            if not weights_file.has_digests(path):
                self.warnings.append(
                    f"{path} has no checksum, because an earlier version wrote it: damage to it "
                    "would go unnoticed; the next checkpoint will have one"
                )
            self._allowed_changes(path, metadata)
            self.statistics = _load_checkpoint(trainer, arrays, metadata, path)
        if changes:
            self.warnings += [f"{c['name']} was {c['was']} and is {c['now']} now" for c in changes]
            dated = [{"update": trainer.updates, **change} for change in changes]
            manifest["changes"] = [*manifest.get("changes", []), *dated]
            self._write_manifest({**manifest, **self._identity()})

    def _allowed_changes(self, path: Path, metadata: dict[str, Any]) -> list[dict[str, Any]]:
        """Return the old and new values of the settings in which a file differs from this run.

        Raise BadRun if the file differs in a setting that must not change.
        """
        changes = []
        identity = self._identity()
        keys = (*identity, model_files.PLANES, custom.SOURCES)
        for name, was, now in _differences({key: metadata.get(key) for key in keys}, identity):
            setting = name.removeprefix("recipe.")
            if setting == "summary":  # a description, which has no effect on the training
                continue
            if setting.startswith(custom.SOURCES):
                raise BadRun(_explain_source_change(path, metadata, identity))
            if not setting.startswith(_CHANGEABLE):
                msg = f"{path} was started with another {setting}: {was!r}, and now it is {now!r}"
                raise BadRun(msg)
            changes.append({"name": setting, "was": was, "now": now})
        return changes

    def save_checkpoint(self, trainer: Trainer) -> None:
        """Write a checkpoint: the complete state of the training, and the weights for play."""
        arrays, metadata = trainer.to_arrays()
        weights, model_metadata = self._export(trainer)
        arrays |= {f"{weights_file.PLAYS}{name}": array for name, array in weights.items()}
        metadata |= self._identity() | {_STATISTICS: self.statistics.to_dict()}
        weights_file.write(
            self.folder / CHECKPOINT, arrays, {**model_metadata, "plays": True, **metadata}
        )

    def save_weights(self, name: str, trainer: Trainer) -> None:
        """Write the weights for play to the file `name` in the run's folder."""
        weights_file.write(self.folder / name, *self._export(trainer))

    def _export(self, trainer: Trainer) -> tuple[Arrays, dict[str, Any]]:
        """Return the weights for play and their metadata.

        Raise TrainingDiverged if a weight is NaN or infinite.
        """
        arrays, shape = trainer.export()
        for array in arrays.values():
            if array.dtype.kind == "f" and not np.isfinite(array).all():
                raise TrainingDiverged(self.recipe.name, "a weight")
        metadata = model_files.build_metadata(
            self.game,
            self.recipe.encoder,
            shape,
            canonical=self.recipe.learning.canonical,
            opening=list(self.recipe.acting.opening),
            name=self.recipe.name,
            seed=self.seed,
            updates=trainer.updates,
            **self._sources,
        )
        return arrays, metadata


def summarize_run(folder: Path) -> RunSummary:
    """Return a summary of the run in this folder; raise BadRun if the folder contains no run."""
    try:
        return _summarize(folder, read_manifest(folder))
    except BadRun:
        raise
    except (TypeError, ValueError, AttributeError, OverflowError) as error:
        msg = f"{folder / MANIFEST} is damaged: {error}"
        raise BadRun(msg) from None


def _summarize(folder: Path, manifest: dict[str, Any]) -> RunSummary:
    recipe, update = manifest["recipe"], 0
    if (folder / CHECKPOINT).is_file():
        try:
            update = int(weights_file.read_metadata(folder / CHECKPOINT).get("updates", 0))
        except BadWeights:
            update = 0
    card = read_json(folder / CARD)
    return RunSummary(
        folder.name,
        str(folder),
        str(recipe.get("name")),
        str(recipe.get("game")),
        int(manifest.get("seed") or 0),
        "finished" if (folder / model_files.FINAL).is_file() else "unfinished",
        update,
        int(recipe.get("learning", {}).get("updates", 0)),
        card.get("grades") if isinstance(card, dict) else None,
        f"{player_kind(str(recipe.get('kind')))}:{folder}",
    )


def _explain_source_change(path: Path, was: dict[str, Any], now: dict[str, Any]) -> str:
    """Return how the code of a custom network or encoder differs from that of a run."""
    for what in (custom.NETWORK, custom.ENCODER):
        before, after = ((part.get(custom.SOURCES) or {}).get(what) for part in (was, now))
        if before != after:
            difference = custom.compare_sources(what, before or {}, after or {})
            return f"{path} was started with different code: {difference}"
    return f"{path} was started with different code"


def player_kind(recipe_kind: str) -> str:
    """Return the kind of player that uses models trained by recipes of this kind."""
    return {"value": "hybrid", "alphazero": "alphazero"}.get(recipe_kind, "dqn")


def read_manifest(folder: Path) -> dict[str, Any]:
    """Return the contents of run.json; raise BadRun if the folder contains no run."""
    manifest = read_json(folder / MANIFEST)
    if not isinstance(manifest, dict) or not isinstance(manifest.get("recipe"), dict):
        msg = f"{folder} does not contain a training run"
        if (folder / MANIFEST).exists():
            msg = f"{folder / MANIFEST} is damaged: it does not describe a training run"
        raise BadRun(msg)
    changes = manifest.get("changes", [])
    if not isinstance(changes, list) or not all(map(_is_change, changes)):
        msg = f"{folder / MANIFEST} is damaged: its changes are {changes!r}"
        raise BadRun(msg)
    return manifest


def _is_change(change: object) -> bool:
    """Return whether this is a change of a setting in the form that `resume` writes."""
    return (
        isinstance(change, dict)
        and change.keys() == {"update", "name", "was", "now"}
        and isinstance(change["update"], int)
    )


def read_json(path: Path) -> Any:
    """Return the contents of a JSON file, or None if it is missing or not JSON."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return None


def _load_checkpoint(
    trainer: Trainer, arrays: Arrays, metadata: dict[str, Any], path: Path
) -> RunStatistics:
    """Restore a trainer from a checkpoint, and return the statistics of the run.

    Raise BadRun if the checkpoint does not fit the trainer.
    """
    for name, expected in trainer.to_arrays()[0].items():
        array = arrays.get(name)
        # The first dimension is not compared: tables and lists may grow in the course of a run.
        if array is None or array.shape[1:] != expected.shape[1:] or array.dtype != expected.dtype:
            actual = "missing" if array is None else f"{array.dtype} {list(array.shape)}"
            msg = f"{path}: {name} is {actual}: it must be {expected.dtype} {list(expected.shape)}"
            raise BadRun(msg)
    try:
        trainer.load_arrays(arrays, metadata)
        return RunStatistics.from_dict(metadata[_STATISTICS])
    except (LookupError, ValueError, RuntimeError, TypeError) as error:
        msg = f"{path} does not fit this run: {' '.join(str(error).split())}"
        raise BadRun(msg) from None


def _differences(was: Any, now: Any, name: str = "") -> Iterator[tuple[str, Any, Any]]:
    """Yield (path, old value, new value) for every difference between two JSON trees."""
    if isinstance(was, dict) and isinstance(now, dict):
        for key in {**was, **now}:
            path = f"{name}.{key}" if name else str(key)
            yield from _differences(was.get(key), now.get(key), path)
    elif was != now:
        yield name, was, now
