"""The clock: the one place where time and node limits of a search are kept.

A search works in slices and reports each to its clock, which raises `Stopped` when a limit is
reached. Ctrl-C arrives between two slices, too.
"""

import threading
import time
from collections.abc import Callable

from zermelo.core.player import Limit

_TICK = 0.01  # seconds between two looks at the clock, about
_MIN_SLICE, _MAX_SLICE = 1_000, 100_000  # nodes


class Stopped(Exception):
    """A limit was reached; what was found so far stands."""


class Clock:
    """Counts nodes and time from its making. Threads may share one."""

    def __init__(
        self, limit: Limit | None = None, progress: Callable[[int], None] | None = None
    ) -> None:
        limit = limit or Limit()
        self.begin = time.perf_counter()
        self.deadline = None if limit.seconds is None else self.begin + limit.seconds
        self.max_nodes = limit.nodes
        self.nodes = 0
        self.stop = limit.stop
        self.progress = progress
        self._lock = threading.Lock()

    @property
    def seconds(self) -> float:
        """Since the beginning."""
        return time.perf_counter() - self.begin

    def part(self, share: float = 1.0, nodes: int | None = None) -> "Part":
        """A clock for a share of the time that is left, or so many nodes; they count here too."""
        left = None if self.deadline is None else max(0.0, self.deadline - time.perf_counter())
        rest = None if self.max_nodes is None else max(0, self.max_nodes - self.nodes)
        if rest is not None:
            nodes = min(nodes or rest, int(rest * share))
        return Part(self, Limit(None if left is None else left * share, nodes))

    def slice(self, least: int = _MIN_SLICE) -> int:
        """How many nodes to search before the next report: some 10 ms, by the pace so far."""
        pace = self.nodes / max(self.seconds, _TICK)
        size = int(min(_MAX_SLICE, max(least, pace * _TICK)))
        return size if self.max_nodes is None else max(1, min(size, self.max_nodes - self.nodes))

    def count(self, nodes: int) -> None:
        """Report nodes of a search that is done: no reason to stop."""
        with self._lock:
            self.nodes += nodes

    def spend(self, nodes: int) -> None:
        """Report nodes of a search that goes on; Stopped when a limit is reached."""
        self.count(nodes)
        if self.progress:
            self.progress(self.nodes)
        self.check()

    def check(self) -> None:
        """Stopped when a limit is reached."""
        late = self.deadline is not None and time.perf_counter() >= self.deadline
        spent = self.max_nodes is not None and self.nodes >= self.max_nodes
        if late or spent or (self.stop is not None and self.stop.is_set()):
            raise Stopped


class Part(Clock):
    """A clock within a clock, which can be cancelled by itself."""

    def __init__(self, whole: Clock, limit: Limit) -> None:
        super().__init__(limit, whole.progress)
        self.whole = whole
        self.cancelled = False

    def slice(self, least: int = _MIN_SLICE) -> int:
        """Short where threads share what is left of a number of nodes."""
        size = super().slice(least)
        if self.whole.max_nodes is None:
            return size
        return max(1, min(size, (self.whole.max_nodes - self.whole.nodes) // 4))

    def count(self, nodes: int) -> None:
        """Here and in the whole."""
        super().count(nodes)
        self.whole.count(nodes)

    def check(self) -> None:
        """By its own limits and those of the whole."""
        super().check()
        self.whole.check()
        if self.cancelled:
            raise Stopped
