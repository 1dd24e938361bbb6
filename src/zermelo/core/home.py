"""The user's folders: one for saved games, runs and the database, and one for caches."""

import os
import tempfile
from pathlib import Path


def state_folder() -> Path:
    """Return $ZERMELO_HOME or `zermelo` in the XDG state folder; the folder may not exist."""
    return _folder("ZERMELO_HOME", "XDG_STATE_HOME", ".local/state")


def database() -> Path:
    """Return the default path of the database of matches and runs."""
    return state_folder() / "studio.db"


def cache_folder() -> Path:
    """Return $ZERMELO_CACHE or, if not set, `zermelo` in the XDG cache folder; create the folder.

    If it cannot be created, return a private temporary folder, and set $ZERMELO_CACHE so that this
    process and its children keep using it.
    """
    folder = _folder("ZERMELO_CACHE", "XDG_CACHE_HOME", ".cache")
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError:
        folder = Path(tempfile.mkdtemp(prefix="zermelo-"))
        os.environ["ZERMELO_CACHE"] = str(folder)
    return folder


def _folder(variable: str, xdg_variable: str, default: str) -> Path:
    named, xdg = os.environ.get(variable), os.environ.get(xdg_variable)
    return Path(named) if named else Path(xdg or Path.home() / default) / "zermelo"
