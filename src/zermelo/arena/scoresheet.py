"""The scoresheet: what goes on at a table, in a few bytes that two processes map.

A worker notes whose move began when, which costs it nothing; its parent reads the note when the
move takes too long, or when the worker has died over it.
"""

import mmap
import os
import struct
import tempfile
import time
from enum import IntEnum
from pathlib import Path
from typing import IO, NamedTuple

_HEAD = struct.Struct("<qqqqddd")  # Note without its actions, their number last of the ints
_ACTION = struct.Struct("<i")
_MAX_PLIES = 10_000
_SIZE = _HEAD.size + _MAX_PLIES * _ACTION.size


class Doing(IntEnum):
    """What a worker is at."""

    NOTHING = 0
    WARMING = 1  #: a player is tried out; `seat` is its number among the players
    PLAYING = 2  #: a player is being made, or chooses


class Note(NamedTuple):
    """What stands on a sheet."""

    doing: Doing
    number: int  #: of the game
    seat: int
    began: float  #: by the monotonic clock
    seconds: tuple[float, float]  #: thought so far, by seat
    actions: tuple[int, ...]  #: of the game so far


class Scoresheet:
    """A file of fixed size, mapped."""

    def __init__(self, file: IO[bytes]) -> None:
        with file:
            self._map = mmap.mmap(file.fileno(), _SIZE)

    @classmethod
    def create(cls) -> tuple["Scoresheet", Path]:
        """An empty one, and where another process finds it."""
        handle, name = tempfile.mkstemp(prefix="zermelo-", suffix=".sheet")
        file = os.fdopen(handle, "r+b")
        file.truncate(_SIZE)
        return cls(file), Path(name)

    def begin(
        self, doing: Doing, number: int, seat: int, ply: int, first: float, second: float
    ) -> float:
        """Somebody's turn begins; when."""
        now = time.monotonic()
        _HEAD.pack_into(self._map, 0, doing, number, seat, ply, now, first, second)
        return now

    def played(self, ply: int, action: int) -> None:
        """An action of the game."""
        if ply < _MAX_PLIES:
            _ACTION.pack_into(self._map, _HEAD.size + ply * _ACTION.size, action)

    def read(self) -> Note:
        """What stands there."""
        doing, number, seat, plies, began, *seconds = _HEAD.unpack_from(self._map, 0)
        plies = max(0, min(plies, _MAX_PLIES))
        actions = struct.unpack_from(f"<{plies}i", self._map, _HEAD.size)
        return Note(Doing(doing), number, seat, began, (seconds[0], seconds[1]), actions)

    def close(self) -> None:
        """No calls after this one."""
        self._map.close()
