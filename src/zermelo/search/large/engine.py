"""The engine for boards above 64 cells, which combines alpha-beta search with threat search."""

import contextlib
import functools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from zermelo.core.game import BoardGame
from zermelo.games.lines.large import BoardLineGame
from zermelo.kernels.compiler import compile_kernel
from zermelo.search.engine import Engine, ForcedWin
from zermelo.search.large import alphabeta_kernel as k
from zermelo.search.large.threat_search import ThreatSearch
from zermelo.search.large.windows import build_tables
from zermelo.search.limits import SearchClock, SearchStopped

if TYPE_CHECKING:
    from numpy.typing import NDArray

_WEIGHTS = (800, 120, 20, 3, 1)  # the value of a window that lacks 1, 2, 3, … stones
_TEMPO = 150  # the value of being the side to move
_WIDTH = 16
_MAX_FOURS = 3
_MAX_LINES = 1000
# Limits of threat searches: a share of the time or, if time is not limited, a number of nodes.
_WIN_SHARE, _WIN_NODES = 0.12, 20_000  # for a forced win of the side to move
_DANGER_SHARE, _DANGER_NODES = 0.04, 5_000  # for a forced win of the opponent if this side passed
_CHECK_NODES = 1_500  # for a forced win of the opponent after a move that seems best


class BoardEngine(Engine):
    """The engine for one line game on a board of any size.

    `width` is the largest number of moves searched in a state above the horizon, `max_fours` the
    largest number of consecutive fours searched beyond the horizon.
    """

    win_score = k.WIN_SCORE
    decisive_score = k.DECISIVE_SCORE
    scale = 1000.0

    def __init__(self, game: BoardGame, width: int = _WIDTH, max_fours: int = _MAX_FOURS) -> None:
        assert isinstance(game, BoardLineGame), f"{game.spec} has no lines to count"
        self.game: BoardLineGame = game
        # Moves are left out, so a shorter win may be missed, unless it is immediate or begins with
        # a threat. If moves can lose by rule, a win can also take two plies without a threat, when
        # the opponent has only losing moves. Alpha-beta finds it only above the horizon.
        self.max_exact_plies = 3 if game.has_losing_moves else 4
        self.plies_beyond_depth = 0 if game.has_losing_moves else 1
        self._width = width
        self._kernel = compile_kernel(k.search, game)
        self._control: NDArray[Any] = np.zeros(k.NUM_CONTROLS, np.int64)
        self._control[[k.WIDTH, k.MAX_FOURS, k.TEMPO]] = width, max_fours, _TEMPO
        rows = min(game.cells, k.MAX_PLY) + 2
        self._frames: NDArray[Any] = np.zeros((rows, k.NUM_COLUMNS), np.int64)
        # A list of win checks may hold every action twice, once for each side.
        self._moves: NDArray[Any] = np.zeros((rows, 4 * game.num_actions), np.int64)
        self._pv: NDArray[Any] = np.zeros((rows, rows), np.int64)
        self._windows, self._cell_info, self._entry_cells = build_tables(game)
        self._stone_counts: NDArray[Any] = np.zeros((2, len(self._windows)), np.int32)
        self._cell_values: NDArray[Any] = np.zeros((2, len(self._cell_info)), np.int32)
        self._totals: NDArray[Any] = np.zeros((3, game.win + 2), np.int64)
        for stones in range(1, game.win):
            self._totals[k.WEIGHTS, stones] = _WEIGHTS[min(game.win - stones, len(_WEIGHTS)) - 1]
        self._lines: dict[Any, tuple[int, ...]] = {}
        # For each state: the score that a forced win proves, and that win; None if none was found.
        self._forced_wins: dict[Any, tuple[int, ForcedWin] | None] = {}
        self._is_in_danger = False  # whether the opponent threatens a forced win
        self._clock = SearchClock()  # of the whole search; the clock of depth 1 has no limit

    def start_iteration(self, depth: int) -> None:
        """Start an iteration; only lines and forced wins are kept from earlier iterations."""
        del depth
        self.hit_horizon = False

    def search(self, state: Any, depth: int, alpha: int, beta: int, clock: SearchClock) -> int:
        """Return the score of a state that is not over; see `Engine.search`.

        Depth 0 still finds immediate wins, forced blocks and wins by threats. If the score is below
        beta, the opponent may choose to move into this state, so the engine also looks for a forced
        win of the side to move: by fours only or, if the opponent threatened a forced win at the
        root, by all threats.

        A forced win proves the value, so no deep search is needed, but it gives only a bound on the
        distance. A shallow search still finds the shortest wins. Near the end, where alpha-beta
        leaves out no move, a deep search finds the exact distance.
        """
        known = self._forced_wins.get(state)
        if known is not None and not self._is_near_end(state):
            depth = min(depth, 1)
            self.hit_horizon = True
        score = self._search_alphabeta(state, depth, alpha, beta, clock)
        if known is None and score < beta and abs(score) <= self.decisive_score:
            self._check_forced_win(state, clock)
            known = self._forced_wins.get(state)
        return score if known is None else self._combine(state, score, *known)

    def _combine(self, state: Any, score: int, proven: int, win: ForcedWin) -> int:
        """Return the better proven score of a state: that of alpha-beta or that of a forced win."""
        is_own = proven > 0
        if score >= proven if is_own else score <= proven:
            return score
        self._store_line(state, win.line if is_own else win.line[1:])
        return proven

    def _search_alphabeta(
        self, state: Any, depth: int, alpha: int, beta: int, clock: SearchClock
    ) -> int:
        board = np.frombuffer(self.game.to_padded_board(state), np.uint8)
        control, frames = self._control, self._frames
        self._reset_arrays(board, self.game.player(state))
        frames[0, [k.ALPHA, k.BETA, k.NEXT, k.DEPTH]] = alpha, beta, k.NEW, depth
        is_finished = False
        while not is_finished:
            control[k.NODES], control[k.BUDGET] = 0, clock.next_slice()
            is_finished = self._kernel(
                board, control, frames, self._moves, self._pv, self._windows, self._cell_info,
                self._entry_cells, self._stone_counts, self._cell_values, self._totals,
            )  # fmt: skip
            clock.report(int(control[k.NODES]))
        self.hit_horizon = self.hit_horizon or bool(control[k.HIT_HORIZON])
        if length := int(frames[0, k.PV_LENGTH]):
            self._store_line(state, self._pv[0, :length].tolist())
        return int(control[k.SCORE])

    def _store_line(self, state: Any, line: Sequence[int]) -> None:
        if len(self._lines) >= _MAX_LINES:
            self._lines.clear()
        self._lines[state] = tuple(line)

    def _reset_arrays(self, board: Any, player: int) -> None:
        self._control[[k.PLY, k.HIT_HORIZON, k.IS_INITIALISED, k.SIDE]] = 0, 0, 0, player
        self._control[k.EMPTY_CELLS] = np.count_nonzero(board == 0)
        self._frames[:, k.KILLER] = -1
        self._stone_counts[:] = 0
        self._cell_values[:] = 0
        self._totals[: k.WEIGHTS] = 0

    def principal_variation(self, state: Any) -> list[int]:
        """Return the expected play from a state, empty if no search found a score above alpha."""
        return list(self._lines.get(state, ()))

    def find_forced_win(self, state: Any, clock: SearchClock) -> int | None:
        """Return the first action of a forced win by threats, or None if none is found."""
        self._forced_wins.clear()
        self._clock = clock
        win = self._find_threats(state, clock, _WIN_SHARE, _WIN_NODES)
        # If the opponent would win by force after a pass, this side must prevent that.
        passed = self.game.null_move(state)
        self._is_in_danger = (
            win is None
            and not self.game.result(passed)[0]
            and self._find_threats(passed, clock, _DANGER_SHARE, _DANGER_NODES) is not None
        )
        if win is None:
            return None
        after = self.game.play(state, win.line[0])
        if not self.game.result(after)[0]:
            self._forced_wins[after] = win.plies - 1 - self.win_score, win
        return win.line[0]

    def _find_threats(
        self, state: Any, clock: SearchClock, share: float, nodes: int
    ) -> ForcedWin | None:
        if not self._can_make_four(state):
            return None
        part = clock.subclock(share, None if clock.deadline is not None else nodes)
        return self._threat_search.find(state, part)

    def known_forced_win(self, state: Any) -> ForcedWin | None:
        """Return the forced win for or against the side to move, or None.

        Also return None if alpha-beta has found a shorter win.
        """
        known = self._forced_wins.get(state)
        if known is None:
            return None
        score, win = known
        return win if self._lines.get(state) == win.line[score < 0 :] else None

    def _is_near_end(self, state: Any) -> bool:
        """Return whether alpha-beta leaves out no move from this state on."""
        return int(self.game.legal(state)).bit_count() <= self._width

    def _check_forced_win(self, state: Any, clock: SearchClock) -> None:
        """Look for a forced win of the side to move; search each state only once per root."""
        if state in self._forced_wins or not self._can_make_four(state):
            return
        self._forced_wins[state] = None
        with contextlib.suppress(SearchStopped):
            self._clock.check()
            threats = self._threat_search
            find = threats.find if self._is_in_danger else threats.find_by_fours
            win = find(state, clock.subclock(nodes=_CHECK_NODES))
            if win is not None:
                self._forced_wins[state] = self.win_score - win.plies, win

    @functools.cached_property
    def _threat_search(self) -> ThreatSearch:
        """The threat search, compiled when it is first needed."""
        return ThreatSearch(self.game)

    def _can_make_four(self, state: Any) -> bool:
        """Return whether the side to move has enough stones to make a four."""
        return not self.game.gravity and state[0].bit_count() >= self.game.win - 2
