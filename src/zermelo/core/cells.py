"""Map cells to moves and back: which move a click on a cell plays, and which cell a move fills.

All user interfaces use this mapping. Only this module and the rules handle gravity.
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from zermelo.core.position import Position


@dataclass(frozen=True)
class MoveCells:
    """The legal moves of one position and the cells that they belong to."""

    move_at: dict[int, str]  #: cell → the move that a click on it plays
    landing: dict[str, int]  #: move → the cell that its stone fills
    extra: tuple[str, ...]  #: moves without a cell of their own, such as pass and swap


def moves_by_cell(position: Position, playable: Collection[str] | None = None) -> MoveCells:
    """Map the legal moves of a position to cells and back.

    With gravity, a click on any cell of a column plays the column's move. If `playable` is given,
    `move_at` and `extra` contain only these moves; `landing` always has all moves that fill a cell.
    """
    game = position.game
    move_at: dict[int, str] = {}
    landing: dict[str, int] = {}
    extra = []
    for action, move in zip(position.actions, position.legal, strict=True):
        cell = game.last_cell(game.play(position.state, action), action)
        is_playable = playable is None or move in playable
        if cell is None or game.grid is None or cell in move_at:
            extra += [move] * is_playable
            continue
        landing[move] = cell
        if is_playable:
            cols = game.grid.cols
            cells = range(cell % cols, game.grid.size, cols) if game.gravity else (cell,)
            move_at |= dict.fromkeys(cells, move)
    return MoveCells(move_at, landing, tuple(extra))


def line_cells(position: Position, moves: Iterable[str]) -> list[int | None]:
    """Return the cell that each of these moves fills, or None for a pass or a swap.

    The moves are played in order; each must be legal when it is played.
    """
    cells = []
    for move in moves:
        position = position.play(move)
        cells.append(position.last_cell)
    return cells


def filled_cells(position: Position, move: str) -> list[int]:
    """Return the empty cells that a legal move fills; in most games a move fills one cell."""
    before, after = position.board or (), position.play(move).board or ()
    return [cell for cell, (a, b) in enumerate(zip(before, after, strict=True)) if b and not a]
