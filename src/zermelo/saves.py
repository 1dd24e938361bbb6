"""Saves: games left in the middle at the keyboard, one for each game, the last one first."""

import contextlib
import json
import os
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from zermelo.errors import ZermeloError

_MAX_BYTES = 100_000


@dataclass(frozen=True)
class Save:
    """All it takes to go on."""

    game: str
    first: str
    second: str
    moves: tuple[str, ...]


def folder() -> Path:
    """$ZERMELO_HOME, or zermelo in the user's folder for such state."""
    named, base = os.environ.get("ZERMELO_HOME"), os.environ.get("XDG_STATE_HOME")
    home = Path(named) if named else Path(base or Path.home() / ".local" / "state") / "zermelo"
    return home / "saved"


def write(save: Save) -> None:
    """Keep a game; the file appears whole or not at all. OSError when it cannot be kept."""
    folder().mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=folder(), suffix=".tmp")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            json.dump({**vars(save), "moves": list(save.moves)}, file)
        Path(temporary).replace(_path(save.game))
    except OSError:
        Path(temporary).unlink(missing_ok=True)
        raise


def read(game: str | None = None) -> Save:
    """The game that was kept, or the last of all; ZermeloError when there is none."""
    path = _path(game) if game else _latest()
    try:
        if path is None:
            raise FileNotFoundError
        with path.open("rb") as file:
            text = file.read(_MAX_BYTES + 1)
    except OSError:
        of = f" of {game}" if game else ""
        msg = f"there is no game{of} to resume: zermelo play {game or 'GAME'} starts one"
        raise ZermeloError(msg) from None
    save = None
    with contextlib.suppress(ValueError, RecursionError):
        save = _checked(json.loads(text)) if len(text) <= _MAX_BYTES else None
    if save is None:
        msg = f"{path} is not a saved game: delete it, and start one with zermelo play GAME"
        raise ZermeloError(msg)
    return save


def forget(game: str) -> None:
    """A resumed game was finished: there is nothing to go on with."""
    with contextlib.suppress(OSError):
        _path(game).unlink()


def _path(game: str) -> Path:
    return folder() / f"{quote(game, safe='')[:200]}.json"


def _latest() -> Path | None:
    with contextlib.suppress(OSError):
        return max(folder().glob("*.json"), key=lambda path: path.stat().st_mtime_ns, default=None)
    return None


def _checked(data: Any) -> Save | None:
    names = ("game", "first", "second")
    if not isinstance(data, dict) or not all(isinstance(data.get(n), str) for n in names):
        return None
    moves = data.get("moves")
    if not isinstance(moves, list) or not all(isinstance(move, str) for move in moves):
        return None
    return Save(data["game"], data["first"], data["second"], tuple(moves))
