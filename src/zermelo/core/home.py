"""The user's folders: one for saved games, runs and the database, and one for caches."""

import os
import stat
from pathlib import Path

from zermelo.core.files import temporary_folder


def state_folder() -> Path:
    """Return $ZERMELO_HOME or `zermelo` in the XDG state folder; the folder may not exist."""
    return _folder("ZERMELO_HOME", "XDG_STATE_HOME", ".local/state")


def database() -> Path:
    """Return the default path of the database of matches and runs."""
    return state_folder() / "studio.db"


def cache_folder() -> Path:
    """Return $ZERMELO_CACHE or, if not set, `zermelo` in the XDG cache folder; create the folder.

    The cache holds code that will run, so only this user may be able to write to it. If others
    can, or if the folder cannot be created or written to, log a warning and return a private
    temporary folder, which is removed at exit. $ZERMELO_CACHE is then set, so that this process and
    its children keep using that folder.
    """
    folder = _folder("ZERMELO_CACHE", "XDG_CACHE_HOME", ".cache")
    reason = _prepare(folder)
    if reason is not None:
        import logging

        replacement = temporary_folder("zermelo-cache-")
        os.environ["ZERMELO_CACHE"] = str(replacement)
        message = "zermelo: the cache folder %s %s: using %s, which is removed at exit"
        logging.getLogger(__name__).warning(message, folder, reason, replacement)
        folder = replacement
    return folder


def explain_distrust(status: os.stat_result) -> str | None:
    """Return why other users may have written to a file or folder, or None if they cannot have."""
    if not hasattr(os, "geteuid"):
        return None
    if status.st_uid != os.geteuid():
        return "belongs to another user"
    if status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        return "can be written to by other users (chmod go-w makes it private)"
    return None


def _prepare(folder: Path) -> str | None:
    """Create a folder if necessary; return why it cannot be used, or None if it can."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        distrust = explain_distrust(folder.stat())
    except OSError as error:
        return f"cannot be created ({error.strerror})"
    if distrust is None and not os.access(folder, os.W_OK | os.X_OK):
        return "cannot be written to"
    return distrust


def _folder(variable: str, xdg_variable: str, default: str) -> Path:
    named, xdg = os.environ.get(variable), os.environ.get(xdg_variable)
    return Path(named) if named else Path(xdg or Path.home() / default) / "zermelo"
