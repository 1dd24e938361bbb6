"""Observations: a position as planes of 0 and 1, `[plane, row, column]`, seen by one player.

Planes 0 and 1 are the player's own stones and the other's. With four planes, 2 and 3 mark the
cells where a move would win at once: for the player, and for the other if it were their turn.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from zermelo.core.errors import BadSpec
from zermelo.core.game import Game, MaskGame
from zermelo.core.notation import Grid

Array = NDArray[np.int8]


class Planes:
    """Makes observations and masks for one game."""

    def __init__(self, game: Game, planes: int = 2) -> None:
        if game.grid is None:
            msg = f"{game.spec} has no board: environments need one"
            raise BadSpec(msg)
        if planes not in (2, 4):
            msg = f"planes is {planes}: it can be 2 (stones) or 4 (and cells that win at once)"
            raise BadSpec(msg)
        if planes == 4 and not (isinstance(game, MaskGame) and game.num_boards == 2):
            msg = f"{game.spec} has no boards to swap: planes can be 2"
            raise BadSpec(msg)
        self.game, self.grid, self.count = game, game.grid, planes
        self.shape = (planes, self.grid.rows, self.grid.cols)

    def observe(self, state: Any, player: int) -> Array:
        """The planes as `player` sees them."""
        found = np.empty(self.shape, np.int8)
        own = 1 if player == 0 else -1
        board = np.array(self.game.board(state), np.int8).reshape(self.shape[1:])
        found[0], found[1] = board == own, board == -own
        if self.count == 4:
            assert isinstance(self.game, MaskGame)
            mine = state if self.game.player(state) == player else self.game.handed_over(state)
            found[2] = self._plane(self.winning_cells(mine))
            found[3] = self._plane(self.winning_cells(self.game.handed_over(mine)))
        return found

    def winning_cells(self, state: Any) -> int:
        """The cells where the side to move wins at once, as a mask."""
        cells = 0
        for action in self.game.actions(state):
            child = self.game.play(state, action)
            over, value = self.game.result(child)
            cell = self.game.last_cell(child, action)
            if over and value < 0 and cell is not None:
                cells |= 1 << cell
        return cells

    def mask(self, state: Any) -> Array:
        """1 for every legal action."""
        found = np.zeros(self.game.num_actions, np.int8)
        found[self.game.actions(state)] = 1
        return found

    def _plane(self, cells: int) -> Array:
        flat = np.array([cells >> cell & 1 for cell in range(self.grid.size)], np.int8)
        return flat.reshape(self.shape[1:])


_CELL = 24
_COLOURS = {1: (27, 108, 168), -1: (224, 161, 38)}


def picture(board: tuple[int, ...], grid: Grid, line: tuple[int, ...] | None) -> NDArray[np.uint8]:
    """The board as an image, `[height, width, 3]`: discs on squares, the deciding line marked."""
    image = np.full((grid.rows * _CELL, grid.cols * _CELL, 3), 243, np.uint8)
    image[::_CELL] = image[:, ::_CELL] = 170
    middle = (_CELL - 1) / 2
    rows, cols = np.mgrid[:_CELL, :_CELL] - middle
    disc = rows**2 + cols**2 < (0.38 * _CELL) ** 2
    for cell, stone in enumerate(board):
        row, col = grid.row_col(cell)
        square = image[row * _CELL : (row + 1) * _CELL, col * _CELL : (col + 1) * _CELL]
        if line and cell in line:
            square[1:, 1:] = (255, 224, 138)
        if stone:
            square[disc] = _COLOURS[stone]
    return image
