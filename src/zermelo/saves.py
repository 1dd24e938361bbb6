"""Saves: the game in progress at the keyboard, kept when the player leaves in the middle."""

import contextlib
import json
import os
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from zermelo.errors import ZermeloError

_MAX_BYTES = 100_000


@dataclass(frozen=True)
class Save:
    """All it takes to go on."""

    game: str
    first: str
    second: str
    moves: tuple[str, ...]


def path() -> Path:
    """$ZERMELO_HOME, or zermelo in the user's folder for such state."""
    named, base = os.environ.get("ZERMELO_HOME"), os.environ.get("XDG_STATE_HOME")
    home = Path(named) if named else Path(base or Path.home() / ".local" / "state") / "zermelo"
    return home / "play.json"


def write(save: Save) -> Path:
    """Keep a game; the file appears whole or not at all."""
    target = path()
    target.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=target.parent, suffix=".tmp")
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        json.dump({**vars(save), "moves": list(save.moves)}, file)
    Path(temporary).replace(target)
    return target


def read() -> Save:
    """The game that was kept; ZermeloError when there is none or the file is no save."""
    try:
        with path().open("rb") as file:
            text = file.read(_MAX_BYTES + 1)
    except OSError:
        msg = "there is no game to resume: zermelo play GAME starts one"
        raise ZermeloError(msg) from None
    save = None
    with contextlib.suppress(ValueError):
        save = _checked(json.loads(text)) if len(text) <= _MAX_BYTES else None
    if save is None:
        msg = f"{path()} is not a saved game: delete it, and start one with zermelo play GAME"
        raise ZermeloError(msg)
    return save


def forget() -> None:
    """The game was finished: there is nothing to resume."""
    path().unlink(missing_ok=True)


def _checked(data: Any) -> Save | None:
    names = ("game", "first", "second")
    if not isinstance(data, dict) or not all(isinstance(data.get(n), str) for n in names):
        return None
    moves = data.get("moves")
    if not isinstance(moves, list) or not all(isinstance(move, str) for move in moves):
        return None
    return Save(data["game"], data["first"], data["second"], tuple(moves))
