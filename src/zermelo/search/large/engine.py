"""The engine for boards above 64 cells: the arrays of `board_kernel`, and its slices."""

import contextlib
import functools
from typing import Any

import numpy as np

from zermelo.core.game import BoardGame
from zermelo.games.lines.large import BoardLineGame
from zermelo.kernels import compiled
from zermelo.search.engine import Engine, ForcedWin
from zermelo.search.large import kernel as k
from zermelo.search.large.threat_search import ThreatSearch
from zermelo.search.large.windows import geometry
from zermelo.search.limits import SearchClock, SearchStopped

_WEIGHTS = (800, 120, 20, 3, 1)  # by stones missing, from 1
_TEMPO = 150
_WIDTH = 16
_FOURS = 3
_MAX_LINES = 1000
_FORCING, _FORCING_NODES = 0.12, 20_000  # for a forced win: a share of the time, else nodes
_FEARING, _FEARING_NODES = 0.04, 5_000  # for the other side's, if this one passed
_CHECKING_NODES = 1_500  # for the other side's after a move that seems best


class BoardEngine(Engine):
    """Looks ahead in one line game, whatever its size.

    `width`: the moves tried at an inner state. `fours`: how many threats in a row are looked at
    beyond the horizon.
    """

    far = k.FAR
    decisive_score = k.DECISIVE
    scale = 1000.0

    # Moves are left out, so a nearer win may be missed; but what wins or threatens to is seen.
    max_exact_plies = 4

    def __init__(self, game: BoardGame, width: int = _WIDTH, fours: int = _FOURS) -> None:
        assert isinstance(game, BoardLineGame), f"{game.spec} has no lines to count"
        self.game: BoardLineGame = game
        self._run = compiled(k.look_ahead, game)
        self._control = np.zeros(k.NUM_CONTROLS, np.int64)
        self._control[k.WIDTH], self._control[k.MAX_FOURS] = width, fours
        self._control[k.TEMPO] = _TEMPO
        rows = min(game.cells, k.MAX_PLY) + 2
        self._frames = np.zeros((rows, k.NUM_COLUMNS), np.int64)
        self._moves = np.zeros((rows, 2 * game.num_actions), np.int64)
        self._pv = np.zeros((rows, rows), np.int64)
        self._windows, self._through, self._gates = geometry(game)
        self._counts = np.zeros((2, len(self._windows)), np.int32)
        self._gains = np.zeros((2, len(self._through)), np.int32)
        self._tally = np.zeros((3, game.win + 2), np.int64)
        for stones in range(1, game.win):
            self._tally[k.WEIGHTS, stones] = _WEIGHTS[min(game.win - stones, len(_WEIGHTS)) - 1]
        self._lines: dict[Any, list[int]] = {}
        # By state: the score that threats prove and how, None where none was found.
        self._known: dict[Any, tuple[int, ForcedWin] | None] = {}
        self._in_danger = False  # the other side threatens to win by force
        self._clock = SearchClock()  # of the whole search: some parts run without a limit

    def start_iteration(self, depth: int) -> None:
        """Nothing but lines is kept from an earlier iteration."""
        del depth
        self.hit_horizon = False

    def search(self, state: Any, depth: int, alpha: int, beta: int, clock: SearchClock) -> int:
        """The score of a state that is not over; see `Engine.search`.

        With depth 0 it still sees a win at once, forced blocks and a win by threats. Before a score
        below beta is told, which may make this the other side's choice, fours are looked at to
        the end, and other threats where there is danger.
        """
        score = self._proven(state)
        if score is None:
            score = self._look_ahead(state, depth, alpha, beta, clock)
            if score < beta and abs(score) <= self.decisive_score:
                self._check(state, clock)
                score = self._proven(state) or score
        return score

    def _look_ahead(self, state: Any, depth: int, alpha: int, beta: int, clock: SearchClock) -> int:
        cells = np.frombuffer(self.game.to_padded_board(state), np.uint8)
        control, frames = self._control, self._frames
        self._set_up(cells, self.game.player(state))
        frames[0, [k.ALPHA, k.BETA, k.NEXT, k.DEPTH]] = alpha, beta, k.NEW, depth
        finished = False
        while not finished:
            control[k.NODES], control[k.BUDGET] = 0, clock.next_slice()
            finished = self._run(
                cells, control, frames, self._moves, self._pv, self._windows, self._through,
                self._gates, self._counts, self._gains, self._tally,
            )  # fmt: skip
            clock.report(int(control[k.NODES]))
        self.hit_horizon = self.hit_horizon or bool(control[k.HORIZON])
        if length := int(frames[0, k.LENGTH]):
            if len(self._lines) >= _MAX_LINES:
                self._lines.clear()
            self._lines[state] = [int(action) for action in self._pv[0, :length]]
        return int(control[k.SCORE])

    def principal_variation(self, state: Any) -> list[int]:
        """The moves expected from a state, if a search of it found some above its alpha."""
        known = self._known.get(state)
        if known is not None:
            score, forced = known
            return list(forced.line[score < 0 :])
        return list(self._lines.get(state, ()))

    def find_forced_win(self, state: Any, clock: SearchClock) -> int | None:
        """By fours, then by quiet threats: see `threats`."""
        self._known.clear()
        self._clock = clock
        found = self._find(state, clock, _FORCING, _FORCING_NODES)
        # Does the other side win by force if this one passes? Then a move has to prevent it.
        passed = self.game.null_move(state)
        self._in_danger = (
            found is None
            and not self.game.result(passed)[0]
            and self._find(passed, clock, _FEARING, _FEARING_NODES) is not None
        )
        if found is None:
            return None
        after = self.game.play(state, found.line[0])
        if not self.game.result(after)[0]:
            self._known[after] = found.plies - 1 - self.far, found
        return found.line[0]

    def _find(self, state: Any, clock: SearchClock, share: float, nodes: int) -> ForcedWin | None:
        if not self._may_force(state):
            return None
        part = clock.subclock(share, None if clock.deadline is not None else nodes)
        return self._threats.find(state, part)

    def known_forced_win(self, state: Any) -> ForcedWin | None:
        """What `force` and the check after a search have found."""
        known = self._known.get(state)
        return None if known is None else known[1]

    def _proven(self, state: Any) -> int | None:
        known = self._known.get(state)
        return None if known is None else known[0]

    def _check(self, state: Any, clock: SearchClock) -> None:
        """Whether the side to move wins by force; looked at once, until `force` is called again."""
        if state in self._known or not self._may_force(state):
            return
        self._known[state] = None
        with contextlib.suppress(SearchStopped):
            self._clock.check()
            look = self._threats.find if self._in_danger else self._threats.by_fours
            found = look(state, clock.subclock(nodes=_CHECKING_NODES))
            if found is not None:
                self._known[state] = self.far - found.plies, found

    @functools.cached_property
    def _threats(self) -> ThreatSearch:
        """Made, and compiled, when there are stones enough to threaten."""
        return ThreatSearch(self.game)

    def _may_force(self, state: Any) -> bool:
        """Whether the side to move has stones enough to make a four with the next."""
        return not self.game.gravity and state[0].bit_count() >= self.game.win - 2

    def _set_up(self, cells: Any, player: int) -> None:
        self._control[[k.PLY, k.HORIZON, k.READY, k.SIDE]] = 0, 0, 0, player
        self._control[k.LEFT] = np.count_nonzero(cells == 0)
        self._frames[:, k.KILLER] = -1
        self._counts[:] = 0
        self._gains[:] = 0
        self._tally[: k.WEIGHTS] = 0
