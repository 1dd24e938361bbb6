"""The engine for boards above 64 cells: the arrays of `board_kernel`, and its slices."""

from typing import Any

import numpy as np

from zermelo.contract import BoardGame
from zermelo.games.large import BoardLineGame
from zermelo.kernels import compiled
from zermelo.search import board_kernel as k
from zermelo.search.clock import Clock
from zermelo.search.engine import Engine
from zermelo.search.geometry import geometry

_WEIGHTS = (800, 120, 20, 3, 1)  # by stones missing, from 1
_TEMPO = 150
_WIDTH = 16
_FOURS = 3
_MAX_LINES = 1000


class BoardEngine(Engine):
    """Looks ahead in one line game, whatever its size.

    `width`: the moves tried at an inner state. `fours`: how many threats in a row are looked at
    beyond the horizon.
    """

    far = k.FAR
    decisive = k.DECISIVE
    scale = 1000.0

    # Moves are left out, so a nearer win may be missed; but what wins or threatens to is seen.
    sure_plies = 4

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

    def start(self, depth: int) -> None:
        """Nothing but lines is kept from an earlier iteration."""
        del depth
        self.met_horizon = False

    def search(self, state: Any, depth: int, alpha: int, beta: int, clock: Clock) -> int:
        """The score of a state that is not over; see `Engine.search`.

        With depth 0 it still sees a win at once, forced blocks and a win by threats.
        """
        cells = np.frombuffer(self.game.to_cells(state), np.uint8)
        control, frames = self._control, self._frames
        self._set_up(cells, self.game.player(state))
        frames[0, [k.ALPHA, k.BETA, k.NEXT, k.DEPTH]] = alpha, beta, k.NEW, depth
        finished = False
        while not finished:
            control[k.NODES], control[k.BUDGET] = 0, clock.slice()
            finished = self._run(
                cells, control, frames, self._moves, self._pv, self._windows, self._through,
                self._gates, self._counts, self._gains, self._tally,
            )  # fmt: skip
            clock.spend(int(control[k.NODES]))
        self.met_horizon = self.met_horizon or bool(control[k.HORIZON])
        if length := int(frames[0, k.LENGTH]):
            if len(self._lines) >= _MAX_LINES:
                self._lines.clear()
            self._lines[state] = [int(action) for action in self._pv[0, :length]]
        return int(control[k.SCORE])

    def line(self, state: Any) -> list[int]:
        """The moves expected from a state, if a search of it found some above its alpha."""
        return list(self._lines.get(state, ()))

    def _set_up(self, cells: Any, player: int) -> None:
        self._control[[k.PLY, k.HORIZON, k.READY, k.SIDE]] = 0, 0, 0, player
        self._control[k.LEFT] = np.count_nonzero(cells == 0)
        self._frames[:, k.KILLER] = -1
        self._counts[:] = 0
        self._gains[:] = 0
        self._tally[: k.WEIGHTS] = 0
