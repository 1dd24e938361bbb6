"""Find runs, and summarize them from the files in their folders."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from zermelo.core import home
from zermelo.learn.models import files as model_files
from zermelo.learn.networks import weights_file
from zermelo.learn.networks.weights_file import BadWeights
from zermelo.learn.runs.run_folder import (
    CHECKPOINT,
    MANIFEST,
    BadRun,
    player_kind,
    read_json,
    read_manifest,
)

CARD = "card.json"


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
    grades: dict[str, Any] | None  #: grades of the final weights: alone, and with rules or a search
    player: str  #: the spec of the player that uses the final weights


def runs_folder() -> Path:
    """Return the folder in which the folders of runs are created by default."""
    return home.state_folder() / "runs"


def find_run(name: str) -> Path:
    """Return the folder of the run with this name or path; raise BadRun if there is none."""
    for folder in (runs_folder() / name, Path(name)):
        if (folder / MANIFEST).is_file():
            return folder
    msg = f"there is no run {name!r}: `zermelo runs` lists all runs"
    raise BadRun(msg)


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


def list_runs(*other_folders: Path) -> list[RunSummary]:
    """Return summaries of the runs in `runs_folder()` and of the runs in the given folders.

    Folders without a readable run are skipped.
    """
    folders = [path.parent for path in sorted(runs_folder().glob(f"*/{MANIFEST}"))]
    folders += [path for path in dict.fromkeys(other_folders) if path not in folders]
    summaries = []
    for folder in folders:
        try:
            summaries.append(summarize_run(folder))
        except BadRun:
            continue
    return summaries
