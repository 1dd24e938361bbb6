"""A pool of solvers, so that a loop over `z.solve` does not build a new solver for every position.

A solver is not thread-safe, so each is lent to one caller at a time. It is cleared before it is
lent again: earlier searches influence neither results nor node counts.
"""

import contextlib
import os
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from zermelo.core import home
from zermelo.core.game import WordGame
from zermelo.search.negamax import arrays
from zermelo.search.solver.solver import Solver

_MAX_IDLE = 4  # solvers that are kept while nobody uses them
_MAX_SLOTS = 1 << 18  # a solver whose table has grown beyond this, about 8 MB, is not kept


@dataclass(frozen=True)
class _IdleSolver:
    solver: Solver
    stamp: Any  #: the files that existed when the solver looked for a tablebase or a book


class SolverPool:
    """Lends solvers; `create` builds a new one."""

    def __init__(self, create: Callable[[WordGame], Solver]) -> None:
        self._create = create
        self._idle: list[_IdleSolver] = []  # the most recently used one is last
        self._lock = threading.Lock()

    @contextlib.contextmanager
    def borrow(self, game: WordGame) -> Iterator[Solver]:
        """Lend a cleared solver of a game; after an error, the solver is not used again."""
        stamp = _files_stamp()
        solver = self._take(game, stamp) or self._create(game)
        yield solver
        if solver.searcher.control[arrays.PEAK_SLOTS] <= _MAX_SLOTS:
            solver.clear()
            with self._lock:
                self._idle.append(_IdleSolver(solver, stamp))
                del self._idle[:-_MAX_IDLE]

    def clear(self) -> None:
        """Discard all idle solvers, which frees their memory."""
        with self._lock:
            self._idle.clear()

    def _take(self, game: WordGame, stamp: Any) -> Solver | None:
        """Remove an idle solver of a game from the pool and return it; None if there is none."""
        with self._lock:
            for number, idle in enumerate(self._idle):
                if idle.stamp == stamp and idle.solver.game == game:
                    return self._idle.pop(number).solver
        return None


def _files_stamp() -> Any:
    """Return a value that changes when a tablebase or a book is added, replaced or removed."""
    cache = home.cache_folder()
    files = [status for name in ("tables", "books") for status in _list_files(cache / name)]
    return os.environ.get("ZERMELO_JIT"), str(cache), files


def _list_files(folder: Path) -> list[tuple[str, int, int]]:
    try:
        with os.scandir(folder) as entries:
            return sorted((e.name, e.stat().st_mtime_ns, e.stat().st_size) for e in entries)
    except OSError:
        return []
