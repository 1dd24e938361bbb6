"""Map cells to moves and back: which move a click plays, and which cells belong to a move.

All user interfaces use this mapping, which is built from `Game.move_cells`. Only this module and
the rules handle gravity.
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import NamedTuple

from zermelo.core.position import Position


class Click(NamedTuple):
    """The effect of a click on a cell."""

    selected: int | None  #: the cell of the piece that is selected now
    moves: tuple[str, ...]  #: the moves to choose from; a single one is played at once


class LineMove(NamedTuple):
    """One move in a line of play: the player who makes it, and its cells."""

    player: int
    cells: tuple[int, ...]

    @property
    def filled(self) -> int | None:
        """The cell that the move fills, or None for a pass or a swap."""
        return self.cells[-1] if self.cells else None


@dataclass(frozen=True)
class MoveCells:
    """The legal moves of one position and the cells that they belong to."""

    move_at: dict[int, str]  #: cell → the move that a click on it plays
    targets: dict[int, dict[int, tuple[str, ...]]]  #: from → to → the moves of this piece
    sources: dict[str, int]  #: move → the cell from which its piece moves
    landing: dict[str, int]  #: move → the cell that its stone fills or its piece moves to
    extra: tuple[str, ...]  #: moves without cells of their own, such as pass and swap

    def click(self, cell: int | None, selected: int | None) -> Click:
        """Return what a click on a cell does while the piece on `selected` is selected.

        A click on a target of the selected piece moves it, a click on another piece that can move
        selects that piece, and any other click selects nothing.
        """
        if selected is not None and cell in self.targets.get(selected, {}):
            return Click(None, self.targets[selected][cell])
        if cell in self.move_at:
            return Click(None, (self.move_at[cell],))
        return Click(cell if cell in self.targets and cell != selected else None, ())

    def cell_of(self, move: str, selected: int | None) -> int | None:
        """Return the cell on which to show the value of a move, or None if there is none.

        This is the cell that the move fills. For a move of a piece, it is the piece's cell while
        nothing is selected, the target cell while the piece is selected, and otherwise None.
        """
        source = self.sources.get(move, selected)
        if source == selected:
            return self.landing.get(move)
        return source if selected is None else None


def moves_by_cell(position: Position, playable: Collection[str] | None = None) -> MoveCells:
    """Map the legal moves of a position to cells and back.

    With gravity, a click on any cell of a column plays the column's move. If `playable` is given,
    `move_at`, `targets` and `extra` contain only these moves; `sources` and `landing` are not
    restricted.
    """
    game = position.game
    move_at: dict[int, str] = {}
    targets: dict[int, dict[int, tuple[str, ...]]] = {}
    landing: dict[str, int] = {}
    extra = []
    cells_of = {
        move: game.move_cells(position.state, action) if game.grid else ()
        for action, move in zip(position.actions, position.legal, strict=True)
    }
    sources = {move: cells[0] for move, cells in cells_of.items() if len(cells) > 1}
    pieces = set(sources.values())
    for move, cells in cells_of.items():
        is_playable = playable is None or move in playable
        if not cells or (len(cells) == 1 and (cells[0] in move_at or cells[0] in pieces)):
            extra += [move] * is_playable
            continue
        landing[move] = cells[-1]
        if not is_playable:
            continue
        if len(cells) > 1:
            moves = targets.setdefault(cells[0], {})
            moves[cells[-1]] = (*moves.get(cells[-1], ()), move)
        else:
            move_at |= dict.fromkeys(_clickable_cells(position, cells[0]), move)
    return MoveCells(move_at, targets, sources, landing, tuple(extra))


def _clickable_cells(position: Position, cell: int) -> Iterable[int]:
    """Return the cells on which a click plays the move that fills `cell`."""
    grid = position.game.grid
    assert grid is not None
    return range(cell % grid.cols, grid.size, grid.cols) if position.game.gravity else (cell,)


def trace_line(position: Position, moves: Iterable[str]) -> list[LineMove]:
    """Return the player and the cells of each of these moves.

    The moves are played in order; each must be legal when it is played.
    """
    line = []
    for move in moves:
        player, position = position.player, position.play(move)
        line.append(LineMove(player, position.last_cells))
    return line


def line_cells(position: Position, moves: Iterable[str]) -> list[int | None]:
    """Return the cell that each of these moves fills, or None for a pass or a swap."""
    return [move.filled for move in trace_line(position, moves)]


def filled_cells(position: Position, move: str) -> list[int]:
    """Return the empty cells that a legal move fills; in most games a move fills one cell."""
    before, after = position.board or (), position.play(move).board or ()
    return [cell for cell, (a, b) in enumerate(zip(before, after, strict=True)) if b and not a]
