"""Saved games: the last unfinished match of each game, and matches saved under a name.

A file is a JSON object with the fields of a save and their SHA-256 digest, so that a damaged file
is refused. Files of earlier versions have no digest.
"""

import contextlib
import hashlib
import json
import re
import shlex
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from zermelo.core import home
from zermelo.core.errors import ZermeloError
from zermelo.core.files import write_atomically
from zermelo.core.notation import quote_text
from zermelo.games.user_games import is_game_file
from zermelo.players.registry import runs_user_code

_MAX_BYTES = 100_000
_NAME = re.compile(r"[A-Za-z0-9_-]{1,40}")
_FIELDS, _DIGEST = {"game", "first", "second", "moves"}, "sha256"


@dataclass(frozen=True)
class Save:
    """A saved game: everything that is needed to resume it."""

    game: str
    first: str
    second: str
    moves: tuple[str, ...]

    @property
    def file_specs(self) -> list[str]:
        """The specs that run a user's Python code when the game is resumed."""
        players = [spec for spec in (self.first, self.second) if runs_user_code(spec)]
        return [self.game] * is_game_file(self.game) + players

    def resume_command(self, option: str = "--resume") -> str:
        """Return the command that resumes the game; it names the files that will be loaded."""
        seats = [("--first", self.first), ("--second", self.second)]
        players = [part for seat in seats if runs_user_code(seat[1]) for part in seat]
        game = [self.game] if self.file_specs or not option else []
        return shlex.join(["zermelo", "play", *game, *[option] * bool(option), *players])


def write(save: Save, name: str = "") -> None:
    """Save a match under a name or as the last match of its game; raise OSError if that fails."""
    path = _named_path(name) if name else _path(save.game)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, json.dumps(_to_dict(save) | {_DIGEST: _digest(save)}))


def read(game: str | None = None) -> Save:
    """Return the last match of this game, or of any game; raise ZermeloError if there is none."""
    path = _path(game) if game else _latest_path()
    of = f" of {game}" if game else ""
    return _read(path, f"there is no game{of} to resume: zermelo play {game or 'GAME'} starts one")


def read_named(name: str) -> Save:
    """Return the match saved under a name; raise ZermeloError if there is none."""
    names = ", ".join(list_names())
    hint = f"the saved games are {names}" if names else "no game is saved under a name"
    return _read(_named_path(name), f"there is no game saved as {name}: {hint}")


def list_names() -> list[str]:
    """Return the names of the saved matches in alphabetical order."""
    return sorted(path.stem for path in _named_path("x").parent.glob("*.json"))


def check_files(save: Save, allowed: Collection[str | None], hint: str) -> None:
    """Raise ZermeloError with `hint` if resuming the game would run a file not in `allowed`."""
    for spec in save.file_specs:
        if spec not in allowed:
            msg = f"resuming would run {spec}, but a file is run only if you name it: {hint}"
            raise ZermeloError(msg)


def delete(game: str) -> None:
    """Delete the last saved match of a game; called when that match has been finished."""
    with contextlib.suppress(OSError):
        _path(game).unlink()


def _read(path: Path | None, message: str) -> Save:
    """Read a saved game; raise ZermeloError, with `message` if there is no file to read."""
    try:
        if path is None:
            raise FileNotFoundError
        with path.open("rb") as file:
            text = file.read(_MAX_BYTES + 1)
    except OSError:
        raise ZermeloError(message) from None
    save = None
    with contextlib.suppress(ValueError, RecursionError):
        save = _parse(json.loads(text)) if len(text) <= _MAX_BYTES else None
    if save is None:
        hint = "delete it, and start one with zermelo play GAME"
        msg = f"{path} is damaged or not a saved game: {hint}"
        raise ZermeloError(msg)
    return save


def _to_dict(save: Save) -> dict[str, Any]:
    return {**vars(save), "moves": list(save.moves)}


def _digest(save: Save) -> str:
    return hashlib.sha256(json.dumps(_to_dict(save)).encode()).hexdigest()


def _parse(data: Any) -> Save | None:
    """Return the save in a JSON object, or None if it is not one or does not match its digest."""
    if not isinstance(data, dict) or data.keys() - {_DIGEST} != _FIELDS:
        return None
    moves = data["moves"]
    if not isinstance(moves, list):
        return None
    texts = (data["game"], data["first"], data["second"], *moves)
    if not all(isinstance(text, str) for text in texts):
        return None
    save = Save(data["game"], data["first"], data["second"], tuple(moves))
    return save if data.get(_DIGEST, _digest(save)) == _digest(save) else None


def _folder() -> Path:
    return home.state_folder() / "saved"


def _path(game: str) -> Path:
    return _folder() / f"{quote(game, safe='')[:200]}.json"


def _named_path(name: str) -> Path:
    """Return a path in a folder of its own, so that the name cannot clash with a game's spec."""
    if not _NAME.fullmatch(name):
        msg = f"{quote_text(name)} is not a valid name: use up to 40 letters, digits, - and _"
        raise ZermeloError(msg)
    return _folder() / "named" / f"{name}.json"


def _latest_path() -> Path | None:
    with contextlib.suppress(OSError):
        return max(_folder().glob("*.json"), key=lambda path: path.stat().st_mtime_ns, default=None)
    return None
