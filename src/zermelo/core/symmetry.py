"""Symmetries of a board, for canonical keys, encoders, data augmentation and tests.

A symmetry permutes cells and actions: a stone on `cell` moves to `cells[cell]`, and `action`
becomes `actions[action]` in the transformed position.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from zermelo.core.bitboard import Word, bits, word
from zermelo.core.notation import Grid

_BYTES = 8


@dataclass(frozen=True)
class Symmetry:
    """A permutation of the cells, with the corresponding permutation of the actions."""

    name: str
    cells: tuple[int, ...]
    actions: tuple[int, ...]

    def transform(self, board: Word) -> Word:
        """Return the image of a board, which may have more than 64 cells."""
        return sum(1 << self.cells[cell] for cell in bits(board))


def invert(cells: tuple[int, ...]) -> list[int]:
    """Return the inverse of a permutation of cells or actions.

    >>> invert((2, 0, 1))
    [1, 2, 0]
    """
    sources = [0] * len(cells)
    for source, target in enumerate(cells):
        sources[target] = source
    return sources


# For each symmetry: (row, column, last row, last column) → (row, column) of the image.
_MAPPINGS: dict[str, Callable[[int, int, int, int], tuple[int, int]]] = {
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
    """Return the symmetries of a board whose actions are its cells and then `extra_actions` others.

    >>> [s.name for s in grid_symmetries(Grid(2, 3))]
    ['identity', 'left-right', 'top-bottom', 'half turn']
    """
    fixed_actions = tuple(range(grid.size, grid.size + extra_actions))
    symmetries = []
    for name in list(_MAPPINGS)[: 8 if grid.rows == grid.cols else 4]:
        cells = _permute_cells(grid, name)
        symmetries.append(Symmetry(name, cells, cells + fixed_actions))
    return tuple(symmetries)


def column_symmetries(grid: Grid) -> tuple[Symmetry, ...]:
    """Return the symmetries of a board with gravity, whose actions are its columns."""
    columns = tuple(range(grid.cols))
    return (
        Symmetry("identity", _permute_cells(grid, "identity"), columns),
        Symmetry("left-right", _permute_cells(grid, "left-right"), columns[::-1]),
    )


def _permute_cells(grid: Grid, name: str) -> tuple[int, ...]:
    mapping = _MAPPINGS[name]
    cells = (divmod(cell, grid.cols) for cell in range(grid.size))
    return tuple(
        row * grid.cols + col
        for row, col in (mapping(r, c, grid.rows - 1, grid.cols - 1) for r, c in cells)
    )


def byte_tables(symmetries: tuple[Symmetry, ...]) -> list[list[list[Word]]]:
    """Return tables[symmetry][i][b]: the image of a word in which byte i is b and the rest is 0.

    `transform_word` applies the table of one symmetry.
    """
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
    """Return the image of a word under the symmetry with this byte table."""
    image, byte = word(0), 0
    while board != 0:  # small boards have few bytes
        image = image | word(table[byte, board & word(255)])
        board = board >> word(8)
        byte += 1
    return image
