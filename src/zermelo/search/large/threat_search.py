"""Forced wins: the threats of `threat_kernel`, by the clock. What is found is proven."""

import contextlib
from collections.abc import Iterator
from typing import Any

import numpy as np

from zermelo.core.errors import BadSpec
from zermelo.games.lines.large import BoardLineGame
from zermelo.kernels import compiled
from zermelo.search.engine import ForcedWin
from zermelo.search.large import threat_kernel as k
from zermelo.search.large.threat_moves import NOWHERE
from zermelo.search.large.windows import geometry
from zermelo.search.limits import SearchClock, SearchStopped

MAX_FOURS = 150  #: in one line
MAX_THREATS = 12  #: moves of the attacker before the last fours
_SLOTS = 1 << 16
_SUB_FOURS, _SUB_NODES = 30, 200  # for a search of fours within another
_SHARE = 0.5  # of the time, for fours alone


class ThreatSearch:
    """Looks for forced wins in one line game without gravity."""

    def __init__(self, game: BoardLineGame) -> None:
        if game.gravity:
            msg = f"{game.spec}: threats are for games without gravity"
            raise BadSpec(msg)
        self.game = game
        self._run = compiled(k.force, game)
        self._windows, self._through, _ = geometry(game)
        rows = min(game.cells, 2 * MAX_FOURS) + 8
        self._control = np.zeros(k.NUM_CONTROLS, np.int64)
        self._control[[k.SUB_FOURS, k.SUB_NODES]] = _SUB_FOURS, _SUB_NODES
        self._frames = np.zeros((rows, k.NUM_COLUMNS), np.int64)
        self._moves = np.zeros((rows, game.cells), np.int32)
        self._lines = np.zeros((rows, rows), np.int32)
        self._tally = np.zeros(len(self._windows), np.int32)
        self._ranks = np.zeros(len(self._through), np.int32)
        self._memo = np.zeros((_SLOTS, 2), np.uint64)
        self._key = np.zeros(1, np.uint64)

    def find(self, state: Any, clock: SearchClock, max_threats: int = MAX_THREATS) -> ForcedWin | None:
        """A forced win in a state that is not over: by fours if that is quick, else by threats.

        None when there is none, or none was found when the clock stopped.
        """
        with contextlib.suppress(SearchStopped):
            if (found := self.by_fours(state, clock.subclock(_SHARE))) is not None:
                return found
        with contextlib.suppress(SearchStopped):
            for limit in range(1, max_threats + 1):
                if (found := self._look(state, k.THREATS, limit, clock)) is not None:
                    return found
        return None

    def by_fours(self, state: Any, clock: SearchClock, max_fours: int = MAX_FOURS) -> ForcedWin | None:
        """A win by fours alone, no more than so many before five; the shortest, if time allows."""
        self._control[k.GENERATION] += 1  # forgets failures
        found = None
        for limit in _doubled(max_fours):
            found = self._look(state, k.FOURS, limit, clock)
            if found is not None:
                break
        while found is not None and found.plies > 3:
            try:
                shorter = self._look(state, k.FOURS, found.plies // 2 - 1, clock)
            except SearchStopped:
                break
            if shorter is None:
                break
            found = shorter
        return found

    def _look(self, state: Any, kind: int, limit: int, clock: SearchClock) -> ForcedWin | None:
        """One question to the kernel; SearchStopped when the clock says so."""
        cells = np.frombuffer(self.game.to_padded_board(state), np.uint8)
        control, frames = self._control, self._frames
        control[[k.PLY, k.READY, k.ATTACKER]] = 0, 0, self.game.player(state)
        control[k.LEFT] = np.count_nonzero(cells == 0)
        control[k.NODES] = 0
        self._tally[:] = 0
        self._key[0] = 0
        frames[0, [k.KIND, k.LIMIT, k.CAP, k.STAGE]] = kind, limit, k.NO_CAP, k.NEW
        frames[0, k.LAST] = NOWHERE
        done = False
        while not done:
            before = int(control[k.NODES])
            control[k.BUDGET] = before + clock.next_slice()
            done = self._run(
                cells, control, frames, self._moves, self._lines, self._windows, self._through,
                self._tally, self._ranks, self._memo, self._key,
            )  # fmt: skip
            spent = int(control[k.NODES]) - before
            clock.add_nodes(spent) if done else clock.report(spent)
        if not control[k.SOLVED]:
            return None
        line = self._lines[0, : int(frames[0, k.LENGTH])]
        actions = tuple(int(self._through[place, 0]) for place in line)
        return ForcedWin(actions, int(frames[0, k.PLIES]), only_fours=kind == k.FOURS)


def _doubled(limit: int) -> Iterator[int]:
    size = 1
    while size < limit:
        yield size
        size *= 2
    yield limit
