"""Observations: a position as planes of 0 and 1, `[plane, row, column]`, seen by one player.

Planes 0 and 1 are the player's own stones and the opponent's. With four planes, planes 2 and 3 mark
the cells where the player (2) or the opponent (3) would win immediately if it were their turn.

A bitboard game without a grid has the planes that it declares for networks (`WordGame.planes`), as
the side to move sees them. One more plane follows, which is 1 everywhere if it is this player's
turn.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zermelo.core.errors import BadSpec, ZermeloError
from zermelo.core.game import Game, MaskGame, WordGame
from zermelo.core.notation import Grid
from zermelo.core.position import Position
from zermelo.games.state_layout import check_planes, declares_planes, is_mover_first

Array = NDArray[np.int8]


class Planes:
    """Encodes the positions of one game as observations and action masks."""

    def __init__(self, game: Game, planes: int = 2) -> None:
        self.game, self.grid = game, game.grid
        if self.grid is None:
            self.count, self.shape = self._declared_shape(planes)
            return
        if planes not in (2, 4):
            msg = f"planes is {planes}: it must be 2 (stones) or 4 (stones and winning cells)"
            raise BadSpec(msg)
        if planes == 4 and not can_swap_sides(game):
            msg = f"planes is 4: it must be 2 for {game.spec}, whose sides cannot be swapped"
            raise BadSpec(msg)
        self.count = planes
        self.shape = (planes, self.grid.rows, self.grid.cols)

    def _declared_shape(self, planes: int) -> tuple[int, tuple[int, int, int]]:
        """Return the number and the shape of the planes of a game without a grid."""
        if not isinstance(self.game, WordGame) or not declares_planes(self.game):
            msg = f"{self.game.spec} has no board: environments need one, or a game with `planes`"
            raise BadSpec(msg)
        check_planes(self.game)
        if planes != 2:
            msg = f"planes is {planes}: leave it out for {self.game.spec}, which has its own planes"
            raise BadSpec(msg)
        count = self.game.num_planes + 1
        return count, (count, *self.game.plane_shape)

    def observe(self, state: Any, player: int) -> Array:
        """Return the planes as `player` sees them."""
        planes = np.empty(self.shape, np.int8)
        if self.grid is None:
            assert isinstance(self.game, WordGame)
            for plane, word in enumerate(self.game.planes(state)):
                planes[plane] = self._plane(word)
            planes[-1] = self.game.player(state) == player
            return planes
        own = 1 if player == 0 else -1
        board = np.array(self.game.board(state), np.int8).reshape(self.shape[1:])
        planes[0], planes[1] = board == own, board == -own
        if self.count == 4:
            assert isinstance(self.game, MaskGame)
            is_mover = self.game.player(state) == player
            mine = state if is_mover else self.game.null_move(state)
            planes[2] = self._plane(self.winning_cells(mine))
            planes[3] = self._plane(self.winning_cells(self.game.null_move(mine)))
        return planes

    def winning_cells(self, state: Any) -> int:
        """Return a bit mask of the cells where the side to move wins immediately."""
        cells = 0
        for action in self.game.actions(state):
            child = self.game.play(state, action)
            over, value = self.game.result(child)
            if over and value * self.game.turn_sign(state, child) > 0:
                cells |= sum(1 << cell for cell in self.game.move_cells(state, action)[-1:])
        return cells

    def action_mask(self, state: Any) -> Array:
        """Return an array that has 1 for every legal action and 0 for the others."""
        mask = np.zeros(self.game.num_actions, np.int8)
        mask[self.game.actions(state)] = 1
        return mask

    def _plane(self, cells: int) -> Array:
        size = self.shape[1] * self.shape[2]
        flat = np.array([cells >> cell & 1 for cell in range(size)], np.int8)
        return flat.reshape(self.shape[1:])


def can_swap_sides(game: Game) -> bool:
    """Return whether `null_move` gives the same board with the other side to move."""
    if isinstance(game, WordGame):
        return is_mover_first(game)
    return isinstance(game, MaskGame) and game.num_boards == 2


def check_render_mode(mode: Any, known: Sequence[str]) -> None:
    """Raise ZermeloError if there is no such render mode; None is always allowed."""
    if mode is not None and mode not in known:
        *others, last = known
        msg = f"render_mode is {mode!r}: it must be {', '.join(others)} or {last}"
        raise ZermeloError(msg)


def render_position(position: Position, mode: str | None) -> Any:
    """Return a board as an image if the mode is `rgb_array`, otherwise as text."""
    if mode != "rgb_array":
        return str(position)
    if position.board is None or position.game.grid is None:
        msg = f"{position.game.spec} has no board to draw as an image: render it as ansi"
        raise ZermeloError(msg)
    return render_rgb(position.board, position.game.grid, position.winning_line)


_CELL_PIXELS = 24
_DISC_COLOURS = {1: (27, 108, 168), -1: (224, 161, 38)}


def render_rgb(
    board: tuple[int, ...], grid: Grid, winning_line: tuple[int, ...] | None
) -> NDArray[np.uint8]:
    """Draw a board as an image, `[height, width, 3]`; the cells of a winning line are yellow."""
    size = _CELL_PIXELS
    image = np.full((grid.rows * size, grid.cols * size, 3), 243, np.uint8)
    image[::size] = image[:, ::size] = 170
    centre = (size - 1) / 2
    rows, cols = np.mgrid[:size, :size] - centre
    disc = rows**2 + cols**2 < (0.38 * size) ** 2
    for cell, stone in enumerate(board):
        row, col = grid.row_col(cell)
        square = image[row * size : (row + 1) * size, col * size : (col + 1) * size]
        if winning_line and cell in winning_line:
            square[1:, 1:] = (255, 224, 138)
        if stone:
            square[disc] = _DISC_COLOURS[stone]
    return image
