"""The scoresheet: a record of a worker's current game in memory shared with its parent process.

A worker records the start of each turn, which costs almost no time. The scoresheet tells the parent
whether a turn takes too long, and during which turn a worker has died.
"""

import contextlib
import mmap
import os
import struct
import tempfile
import time
from enum import IntEnum
from pathlib import Path
from typing import IO, NamedTuple

# activity, game number, seat, number of actions; start of the turn, seconds used by both seats
_HEAD = struct.Struct("<qqqqddd")
_ACTION = struct.Struct("<i")
_MAX_PLIES = 10_000
_MAX_DESCRIPTOR = 64  # `_cut_off` checks descriptors below this; a worker has few open files
_SIZE = _HEAD.size + _MAX_PLIES * _ACTION.size


class Activity(IntEnum):
    """What a worker is doing."""

    IDLE = 0
    COMPILING = 1  #: a player compiles its kernels; `seat` is the player's number in the plan
    PLAYING = 2  #: a player is being created or chooses a move


class Turn(NamedTuple):
    """The contents of a scoresheet."""

    activity: Activity
    number: int  #: number of the game
    seat: int
    started: float  #: start of the turn by the monotonic clock
    seconds: tuple[float, float]  #: thinking time before this turn, by seat
    actions: tuple[int, ...]  #: actions of the game so far


class Scoresheet:
    """The record of one worker's current turn, in a memory-mapped file of fixed size."""

    def __init__(self, file: IO[bytes]) -> None:
        with file:
            self._map = mmap.mmap(file.fileno(), _SIZE)

    @classmethod
    def attach(cls, file: IO[bytes]) -> "Scoresheet":
        """Return the scoresheet in a file that the parent process has created; close the file."""
        identity = os.fstat(file.fileno())
        sheet = cls(file)
        _cut_off(identity)
        return sheet

    @classmethod
    def create(cls) -> tuple["Scoresheet", Path]:
        """Return an empty scoresheet and the path at which another process can open it."""
        handle, name = tempfile.mkstemp(prefix="zermelo-", suffix=".sheet")
        file = os.fdopen(handle, "r+b")
        file.truncate(_SIZE)
        return cls(file), Path(name)

    def start_turn(
        self, activity: Activity, number: int, seat: int, ply: int, first: float, second: float
    ) -> float:
        """Record a turn that starts now, with each seat's time so far; return the current time."""
        now = time.monotonic()
        _HEAD.pack_into(self._map, 0, activity, number, seat, ply, now, first, second)
        return now

    def add_action(self, ply: int, action: int) -> None:
        """Record an action of the game."""
        if ply < _MAX_PLIES:
            _ACTION.pack_into(self._map, _HEAD.size + ply * _ACTION.size, action)

    def read(self) -> Turn:
        """Return the current turn."""
        activity, number, seat, plies, started, *seconds = _HEAD.unpack_from(self._map, 0)
        plies = max(0, min(plies, _MAX_PLIES))
        actions = struct.unpack_from(f"<{plies}i", self._map, _HEAD.size)
        return Turn(Activity(activity), number, seat, started, (seconds[0], seconds[1]), actions)

    def close(self) -> None:
        """Unmap the memory. No other method may be called afterwards."""
        self._map.close()


def _cut_off(identity: os.stat_result) -> None:
    """Redirect a file's descriptors to the null device, so that players cannot write to the file.

    This includes the descriptor that a memory map keeps open but no longer needs.
    """
    nothing = os.open(os.devnull, os.O_RDWR)
    for number in range(3, _MAX_DESCRIPTOR):
        with contextlib.suppress(OSError):  # not open
            if os.path.samestat(os.fstat(number), identity):
                os.dup2(nothing, number, inheritable=False)
    os.close(nothing)
