"""Time and node limits of a search, and the callback interface for reporting progress.

A search works in slices of nodes and reports each one to its clock, which raises `SearchStopped`
when a limit is reached. Ctrl-C is also handled between two slices.
"""

import threading
import time
from collections.abc import Callable
from typing import Protocol

from zermelo.core.player import Limit

_SLICE_SECONDS = 0.01  # about how long a slice takes
_MIN_SLICE, _MAX_SLICE = 1_000, 100_000  # nodes


class ProgressCallback(Protocol):
    """A progress callback: it receives a text and, if known, the share of the work done."""

    def __call__(self, text: str, share: float | None = None) -> None:
        """Show the text; `share` is between 0 and 1."""


class SearchStopped(Exception):
    """Raised when a limit is reached; the results so far remain valid."""


class SearchClock:
    """Counts nodes and time from its creation and enforces limits on both. It is thread-safe."""

    def __init__(
        self, limit: Limit | None = None, progress: Callable[[int], None] | None = None
    ) -> None:
        limit = limit or Limit()
        self.start_time = time.perf_counter()
        self.deadline = None if limit.seconds is None else self.start_time + limit.seconds
        self.max_nodes = limit.nodes
        self.nodes = 0
        self.stop = limit.stop
        self.progress = progress
        self._lock = threading.Lock()

    @property
    def seconds(self) -> float:
        """The time since the clock was created."""
        return time.perf_counter() - self.start_time

    def subclock(self, share: float = 1.0, nodes: int | None = None) -> "SubClock":
        """Return a clock limited to a share of the remaining time and nodes, and to `nodes` nodes.

        Nodes counted on the new clock also count on this one.
        """
        seconds_left = None
        if self.deadline is not None:
            seconds_left = max(0.0, self.deadline - time.perf_counter())
        if self.max_nodes is not None:
            nodes_left = max(0, self.max_nodes - self.nodes)
            nodes = min(nodes or nodes_left, int(nodes_left * share))
        return SubClock(self, Limit(None if seconds_left is None else seconds_left * share, nodes))

    def next_slice(self, min_nodes: int = _MIN_SLICE) -> int:
        """Return how many nodes to search before the next report, for about 10 ms of work."""
        nodes_per_second = self.nodes / max(self.seconds, _SLICE_SECONDS)
        size = int(min(_MAX_SLICE, max(min_nodes, nodes_per_second * _SLICE_SECONDS)))
        return size if self.max_nodes is None else max(1, min(size, self.max_nodes - self.nodes))

    def add_nodes(self, nodes: int) -> None:
        """Add to the node count without checking the limits, as at the end of a search."""
        with self._lock:
            self.nodes += nodes

    def report(self, nodes: int) -> None:
        """Add to the node count during a search; raise SearchStopped if a limit is reached."""
        self.add_nodes(nodes)
        if self.progress:
            self.progress(self.nodes)
        self.check()

    def check(self) -> None:
        """Raise SearchStopped if a limit is reached."""
        is_late = self.deadline is not None and time.perf_counter() >= self.deadline
        is_spent = self.max_nodes is not None and self.nodes >= self.max_nodes
        if is_late or is_spent or (self.stop is not None and self.stop.is_set()):
            raise SearchStopped


class SubClock(SearchClock):
    """A clock within a parent clock, with its own limits; it can be cancelled separately."""

    def __init__(self, parent: SearchClock, limit: Limit) -> None:
        super().__init__(limit, parent.progress)
        self.parent = parent
        self.is_cancelled = False

    def next_slice(self, min_nodes: int = _MIN_SLICE) -> int:
        """Return the size of the next slice in nodes; it is small near the parent's limit."""
        size = super().next_slice(min_nodes)
        if self.parent.max_nodes is None:
            return size
        return max(1, min(size, (self.parent.max_nodes - self.parent.nodes) // 4))

    def add_nodes(self, nodes: int) -> None:
        """Add nodes to the count of this clock and of its parent."""
        super().add_nodes(nodes)
        self.parent.add_nodes(nodes)

    def check(self) -> None:
        """Raise SearchStopped if this clock is cancelled, or it or its parent reached a limit."""
        super().check()
        self.parent.check()
        if self.is_cancelled:
            raise SearchStopped
