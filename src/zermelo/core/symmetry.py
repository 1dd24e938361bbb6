"""Symmetries of a board: the one source for keys, encoders, augmentation and tests.

A symmetry permutes cells and actions: what stands on `cell` moves to `cells[cell]`, and the
game goes on as before with `actions[action]` in the place of `action`.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from zermelo.core.bitboard import Word, bits, word
from zermelo.core.notation import Grid

_BYTES = 8


@dataclass(frozen=True)
class Symmetry:
    """One permutation of cells, and what it does to actions."""

    name: str
    cells: tuple[int, ...]
    actions: tuple[int, ...]

    def word(self, board: Word) -> Word:
        """A board moved by this symmetry."""
        return sum(1 << self.cells[cell] for cell in bits(board))


def invert(cells: tuple[int, ...]) -> list[int]:
    """Where what stands on each cell afterwards comes from; the same of actions.

    >>> inverse((2, 0, 1))
    [1, 2, 0]
    """
    found = [0] * len(cells)
    for source, target in enumerate(cells):
        found[target] = source
    return found


_TURNS: dict[str, Callable[[int, int, int, int], tuple[int, int]]] = {
    "identity": lambda r, c, _h, _w: (r, c),
    "left-right": lambda r, c, _h, w: (r, w - c),
    "top-bottom": lambda r, c, h, _w: (h - r, c),
    "half turn": lambda r, c, h, w: (h - r, w - c),
    "diagonal": lambda r, c, _h, _w: (c, r),
    "quarter turn right": lambda r, c, h, _w: (c, h - r),
    "quarter turn left": lambda r, c, _h, w: (w - c, r),
    "other diagonal": lambda r, c, h, w: (w - c, h - r),
}


def grid_symmetries(grid: Grid, extra_actions: int = 0) -> tuple[Symmetry, ...]:
    """All symmetries of a board whose actions are its cells, then `extra_actions` others.

    >>> [s.name for s in of_grid(Grid(2, 3))]
    ['identity', 'left-right', 'top-bottom', 'half turn']
    """
    found = []
    for name in list(_TURNS)[: 8 if grid.rows == grid.cols else 4]:
        cells = _turned(grid, name)
        rest = tuple(range(grid.size, grid.size + extra_actions))
        found.append(Symmetry(name, cells, cells + rest))
    return tuple(found)


def column_symmetries(grid: Grid) -> tuple[Symmetry, ...]:
    """The symmetries of a board with gravity, whose actions are its columns."""
    columns = tuple(range(grid.cols))
    return (
        Symmetry("identity", _turned(grid, "identity"), columns),
        Symmetry("left-right", _turned(grid, "left-right"), columns[::-1]),
    )


def _turned(grid: Grid, name: str) -> tuple[int, ...]:
    turn = _TURNS[name]
    cells = (divmod(cell, grid.cols) for cell in range(grid.size))
    return tuple(
        row * grid.cols + col
        for row, col in (turn(r, c, grid.rows - 1, grid.cols - 1) for r, c in cells)
    )


def byte_tables(symmetries: tuple[Symmetry, ...]) -> list[list[list[Word]]]:
    """`[symmetry][byte of the word][its value]` → where those bits go: for kernels."""
    return [
        [
            [
                sum(
                    1 << s.cells[8 * byte + bit]
                    for bit in bits(value)
                    if 8 * byte + bit < len(s.cells)
                )
                for value in range(256)
            ]
            for byte in range(_BYTES)
        ]
        for s in symmetries
    ]


def transform_word(board: Any, table: Any) -> Any:
    """A board moved by one symmetry, whose byte table this is."""
    moved = word(0)
    for byte in range(8):
        moved = moved | word(table[byte, (board >> word(8 * byte)) & word(255)])
    return moved
