"""Saves: games left in the middle, one for each game, the last one first; others by name."""

import contextlib
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
from zermelo.core.notation import shown
from zermelo.games import files
from zermelo.players.files import is_player_file

_MAX_BYTES = 100_000
_NAME = re.compile(r"[A-Za-z0-9_-]{1,40}")


@dataclass(frozen=True)
class Save:
    """All it takes to go on."""

    game: str
    first: str
    second: str
    moves: tuple[str, ...]

    @property
    def files(self) -> list[str]:
        """The specs that name files, which are code."""
        seats = [spec for spec in (self.first, self.second) if is_player_file(spec)]
        return [self.game] * files.is_game_file(self.game) + seats

    def command(self, resume: str = "--resume") -> str:
        """What a person types to go on: it names the files, as nothing else may load them."""
        seats = [("--first", self.first), ("--second", self.second)]
        named = [part for seat in seats if is_player_file(seat[1]) for part in seat]
        game = [self.game] if self.files or not resume else []
        return shlex.join(["zermelo", "play", *game, *[resume] * bool(resume), *named])


def write(save: Save, name: str = "") -> None:
    """Keep a game; the file appears whole or not at all. OSError when it cannot be kept."""
    path = _named(name) if name else _path(save.game)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, json.dumps({**vars(save), "moves": list(save.moves)}))


def read(game: str | None = None) -> Save:
    """The game that was kept, or the last of all; ZermeloError when there is none."""
    path = _path(game) if game else _latest()
    of = f" of {game}" if game else ""
    return _read(path, f"there is no game{of} to resume: zermelo play {game or 'GAME'} starts one")


def read_named(name: str) -> Save:
    """The game that was kept under a name; ZermeloError when there is none."""
    there = ", ".join(names()) or "none yet"
    return _read(_named(name), f"there is no game saved as {name}: there is {there}")


def names() -> list[str]:
    """Those of the games kept under one."""
    return sorted(path.stem for path in _named("x").parent.glob("*.json"))


def check_files(save: Save, named: Collection[str | None], how: str) -> None:
    """ZermeloError, which says `how`, where going on would run a file that nobody `named`."""
    for spec in save.files:
        if spec not in named:
            msg = f"the saved game runs {spec}, and a file runs only where you name it: {how}"
            raise ZermeloError(msg)


def forget(game: str) -> None:
    """A resumed game was finished: there is nothing to go on with."""
    with contextlib.suppress(OSError):
        _path(game).unlink()


def _read(path: Path | None, missing: str) -> Save:
    try:
        if path is None:
            raise FileNotFoundError
        with path.open("rb") as file:
            text = file.read(_MAX_BYTES + 1)
    except OSError:
        raise ZermeloError(missing) from None
    save = None
    with contextlib.suppress(ValueError, RecursionError):
        save = _checked(json.loads(text)) if len(text) <= _MAX_BYTES else None
    if save is None:
        msg = f"{path} is not a saved game: delete it, and start one with zermelo play GAME"
        raise ZermeloError(msg)
    return save


def _folder() -> Path:
    return home.state_folder() / "saved"


def _path(game: str) -> Path:
    return _folder() / f"{quote(game, safe='')[:200]}.json"


def _named(name: str) -> Path:
    """In a folder of its own, so that no name is a game's."""
    if not _NAME.fullmatch(name):
        msg = f"{shown(name)} is no name for a game: letters, digits, - and _, up to 40 of them"
        raise ZermeloError(msg)
    return _folder() / "named" / f"{name}.json"


def _latest() -> Path | None:
    with contextlib.suppress(OSError):
        return max(_folder().glob("*.json"), key=lambda path: path.stat().st_mtime_ns, default=None)
    return None


def _checked(data: Any) -> Save | None:
    names = ("game", "first", "second")
    if not isinstance(data, dict) or not all(isinstance(data.get(n), str) for n in names):
        return None
    moves = data.get("moves")
    if not isinstance(moves, list) or not all(isinstance(move, str) for move in moves):
        return None
    return Save(data["game"], data["first"], data["second"], tuple(moves))
