"""Threat search: look for forced wins within a limit; every win that is found is proven."""

import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from zermelo.core.errors import BadSpec
from zermelo.games.lines.large import BoardLineGame
from zermelo.kernels.compiler import compile_kernel
from zermelo.search.engine import ForcedWin
from zermelo.search.large import threat_kernel as k
from zermelo.search.large.threat_moves import NO_CELL
from zermelo.search.large.windows import ACTION, build_tables
from zermelo.search.limits import SearchClock, SearchStopped

if TYPE_CHECKING:
    from numpy.typing import NDArray

MAX_FOURS = 150  #: the largest number of fours in one winning line
MAX_THREATS = 12  #: the largest number of moves of the attacker before the final fours
_TABLE_SLOTS = 1 << 16
_MAX_SUB_FOURS, _MAX_SUB_NODES = 30, 200  # limits of a search by fours within another search
_FOURS_SHARE = 0.5  # the share of the limit that the search by fours only may use


class ThreatSearch:
    """Looks for forced wins in one line game without gravity."""

    def __init__(self, game: BoardLineGame) -> None:
        if game.gravity:
            msg = f"{game.spec}: threat search needs a game without gravity"
            raise BadSpec(msg)
        self.game = game
        self._kernel = compile_kernel(k.search_threats, game)
        self._windows, self._cell_info, _ = build_tables(game)
        rows = min(game.cells, 2 * MAX_FOURS) + 8
        self._control: NDArray[Any] = np.zeros(k.NUM_CONTROLS, np.int64)
        self._control[[k.MAX_SUB_FOURS, k.MAX_SUB_NODES]] = _MAX_SUB_FOURS, _MAX_SUB_NODES
        self._frames: NDArray[Any] = np.zeros((rows, k.NUM_COLUMNS), np.int64)
        self._moves: NDArray[Any] = np.zeros((rows, game.cells), np.int32)
        self._lines: NDArray[Any] = np.zeros((rows, rows), np.int32)
        self._window_counts: NDArray[Any] = np.zeros(len(self._windows), np.int32)
        self._ranks: NDArray[Any] = np.zeros(len(self._cell_info), np.int32)
        self._failure_table: NDArray[Any] = np.zeros((_TABLE_SLOTS, 2), np.uint64)
        self._hash_key: NDArray[Any] = np.zeros(1, np.uint64)

    def find(
        self, state: Any, clock: SearchClock, max_threats: int = MAX_THREATS
    ) -> ForcedWin | None:
        """Find a forced win in a state that is not over: first by fours only, then by all threats.

        None means that no win was found within the limits, not that there is none.
        """
        with contextlib.suppress(SearchStopped):
            win = self.find_by_fours(state, clock.subclock(_FOURS_SHARE))
            if win is not None:
                return win
        with contextlib.suppress(SearchStopped):
            for limit in range(1, max_threats + 1):
                win = self._search(state, k.THREATS, limit, clock)
                if win is not None:
                    return win
        return None

    def find_by_fours(
        self, state: Any, clock: SearchClock, max_fours: int = MAX_FOURS
    ) -> ForcedWin | None:
        """Return a win by at most `max_fours` fours, or None; the shortest if time allows it."""
        self._control[k.GENERATION] += 1  # invalidates the failure table
        win = None
        for limit in _doubling_limits(max_fours):
            win = self._search(state, k.FOURS, limit, clock)
            if win is not None:
                break
        while win is not None and win.plies > 3:
            try:
                shorter = self._search(state, k.FOURS, win.plies // 2 - 1, clock)
            except SearchStopped:
                break
            if shorter is None:
                break
            win = shorter
        return win

    def _search(self, state: Any, kind: int, limit: int, clock: SearchClock) -> ForcedWin | None:
        """Run the kernel for one state; the clock may raise SearchStopped."""
        board = np.frombuffer(self.game.to_padded_board(state), np.uint8)
        control, frames = self._control, self._frames
        control[[k.PLY, k.IS_INITIALISED, k.ATTACKER]] = 0, 0, self.game.player(state)
        control[k.EMPTY_CELLS] = np.count_nonzero(board == 0)
        control[k.NODES] = 0
        self._window_counts[:] = 0
        self._hash_key[0] = 0
        frames[0, [k.KIND, k.LIMIT, k.NODE_LIMIT, k.STAGE]] = kind, limit, k.NO_NODE_LIMIT, k.NEW
        frames[0, k.LAST_CELL] = NO_CELL
        is_finished = False
        while not is_finished:
            before = int(control[k.NODES])
            control[k.BUDGET] = before + clock.next_slice()
            is_finished = self._kernel(
                board, control, frames, self._moves, self._lines, self._windows, self._cell_info,
                self._window_counts, self._ranks, self._failure_table, self._hash_key,
            )  # fmt: skip
            nodes = int(control[k.NODES]) - before
            clock.add_nodes(nodes) if is_finished else clock.report(nodes)
        if not control[k.IS_WIN]:
            return None
        line = self._lines[0, : int(frames[0, k.LENGTH])]
        actions = tuple(int(self._cell_info[cell, ACTION]) for cell in line)
        return ForcedWin(actions, int(frames[0, k.PLIES]), only_fours=kind == k.FOURS)


def _doubling_limits(limit: int) -> Iterator[int]:
    """Yield 1, 2, 4, … below the limit, then the limit."""
    size = 1
    while size < limit:
        yield size
        size *= 2
    yield limit
