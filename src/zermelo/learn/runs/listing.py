"""Find runs in the folder of runs and elsewhere."""

from pathlib import Path

from zermelo.core import home
from zermelo.learn.runs.run_folder import MANIFEST, BadRun, RunSummary, summarize_run


def runs_folder() -> Path:
    """Return the folder in which the folders of runs are created by default."""
    return home.state_folder() / "runs"


def find_run(name: str) -> Path:
    """Return the folder of the run with this name or path; raise BadRun if there is none."""
    for folder in (runs_folder() / name, Path(name)):
        if (folder / MANIFEST).is_file():
            return folder
    msg = f"there is no run {name!r}: give a folder, or the name of a run in {runs_folder()}"
    raise BadRun(msg)


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
