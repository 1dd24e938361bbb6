"""Observations: a position as planes of 0 and 1, `[plane, row, column]`, seen by one player.

Planes 0 and 1 are the player's own stones and the other's. With four planes, 2 and 3 mark the
cells where a move would win at once: for the player, and for the other if it were their turn.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from zermelo.contract import Game, MaskGame
from zermelo.errors import BadSpec
from zermelo.notation import Grid

Array = NDArray[np.int8]


class Planes:
    """Makes observations and masks for one game."""

    def __init__(self, game: Game, planes: int = 2) -> None:
        if not isinstance(game, MaskGame) or game.grid is None or game.num_boards != 2:
            msg = f"{game.spec} has no board of two colours: environments need one"
            raise BadSpec(msg)
        if planes not in (2, 4):
            msg = f"planes is {planes}: it can be 2 (stones) or 4 (and cells that win at once)"
            raise BadSpec(msg)
        self.game, self.grid, self.count = game, game.grid, planes
        self.shape = (planes, self.grid.rows, self.grid.cols)
        self._bytes = (max(self.grid.size, game.num_actions) + 7) // 8

    def observe(self, state: Any, player: int) -> Array:
        """The planes as `player` sees them."""
        found = np.empty(self.shape, np.int8)
        mine = 0 if self.game.player(state) == player else 1
        found[0] = self._plane(state[mine])
        found[1] = self._plane(state[1 - mine])
        if self.count == 4:
            own = state if mine == 0 else self.game.handed_over(state)
            found[2] = self._plane(self.winning_cells(own))
            found[3] = self._plane(self.winning_cells(self.game.handed_over(own)))
        return found

    def winning_cells(self, state: Any) -> int:
        """The cells where the side to move wins at once, as a mask."""
        cells = 0
        for action in self.game.actions(state):
            child = self.game.play(state, action)
            over, value = self.game.result(child)
            # The child is seen by the other side, or by the same one where a move keeps it.
            won = value if self.game.player(child) == self.game.player(state) else -value
            cell = self.game.last_cell(child, action)
            if over and won > 0 and cell is not None:
                cells |= 1 << cell
        return cells

    def mask(self, state: Any) -> Array:
        """1 for every legal action; for a game with a forced pass, that one alone."""
        legal = self.game.legal(state)
        return self._bits(legal or 1 << (self.game.num_actions - 1), self.game.num_actions)

    def _plane(self, board: int) -> Array:
        return self._bits(board, self.grid.size).reshape(self.grid.rows, self.grid.cols)

    def _bits(self, word: int, count: int) -> Array:
        packed = np.frombuffer(word.to_bytes(self._bytes, "little"), np.uint8)
        return np.unpackbits(packed, count=count, bitorder="little").view(np.int8)


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
