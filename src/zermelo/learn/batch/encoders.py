"""Encoders turn states into numbers for a network, from the view of the side to move.

- `cells`: one number for each cell: 1 own stone, -1 stone of the other side, 0 empty; if the sides
  are not equal, one more number: 1 if the second player is to move, else 0
- `planes`: the binary planes of the game (`learn.batch.planes`), by default own stones and stones
  of the other side
- `threats`: planes of own stones and stones of the other side, the cells where the side to move
  wins immediately, and the cells where the other side would win immediately if it were to move
- `lines`: for each symmetry of the board, a number for the contents of each row, column and
  diagonal (`line_index`), and a number for the contents of each cell (`cell_kind`)
- `features`: fifty numbers for Squava and similar games: cells, line counts and stone counts
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from zermelo.core.bitboard import lowest, popcount, word
from zermelo.core.errors import BadSpec
from zermelo.core.game import WordGame
from zermelo.core.notation import Grid
from zermelo.core.symmetry import byte_tables
from zermelo.games.geometry import DIRECTIONS
from zermelo.games.lines.small import WordLineGame
from zermelo.games.lines.tactics import LineTactics
from zermelo.games.state_layout import check_planes, declares_planes
from zermelo.kernels.compiler import compile_kernel
from zermelo.kernels.registry import kernel
from zermelo.learn.batch.planes import encode_planes, input_shape

_NUM_FEATURES, _CENTRE = 50, 9  # number of features; number of cells in the 3x3 centre
_MIN_LINE = 3  # lines with fewer cells are omitted
NUM_CELL_KINDS = 18  #: the number of values of `cell_kind`


class Encoder:
    """Encodes the states of a game; `name` is one of the names in `ENCODERS`."""

    def __init__(self, name: str, game: WordGame) -> None:
        if name not in ENCODERS:
            msg = (
                f"encoder is {name!r}: it must be one of {', '.join(ENCODERS)}, FILE.py:CLASS or "
                "the name of a registered encoder"
            )
            raise BadSpec(msg)
        check_planes(game)
        _check_fit(name, game)
        rows, cols = game.plane_shape
        self.name, self.game = name, game
        self.shape: tuple[int, ...] = {
            "cells": (rows * cols + (not game.has_equal_sides),),
            "planes": input_shape(game),
            "threats": (4, rows, cols),
            "features": (_NUM_FEATURES,),
        }.get(name, ())
        if name == "lines":
            assert game.grid is not None
            self._lines: np.ndarray = np.array(board_lines(game.grid))
            tables = byte_tables(game.symmetries())
            self._symmetries: np.ndarray = np.array(tables, np.uint64).reshape(-1, 8, 256)
            self.shape = (len(self._symmetries), len(self._lines) + rows * cols)
        self.size = int(np.prod(self.shape))

    def __call__(self, states: np.ndarray) -> np.ndarray:
        """Return the encoded states as [state, *shape], in float32 (in int64 for `lines`)."""
        dtype = np.int64 if self.name == "lines" else np.float32
        encoded: np.ndarray = np.zeros((len(states), self.size), dtype)
        if self.name == "lines":
            encoded = encoded.reshape(len(states), *self.shape)
            compile_kernel(encode_lines, self.game)(states, self._symmetries, self._lines, encoded)
            return encoded
        compile_kernel(ENCODERS[self.name], self.game)(states, encoded)
        return encoded.reshape(len(states), *self.shape)

    @property
    def names(self) -> list[str]:
        """The names of the numbers that encode a state, in their order."""
        game = self.game
        cells = _cell_names(game)
        side = [] if game.has_equal_sides else ["second player to move"]
        if self.name == "cells":
            return cells + side
        if self.name == "features":
            return [*cells, *_FEATURES, *(f"reserved {n}" for n in range(_NUM_FEATURES - 35))]
        if self.name == "lines":
            assert game.grid is not None
            names = [f"line from {cells[begin]}" for begin, *_ in board_lines(game.grid)]
            names += [f"cell {cell}" for cell in cells]
            return [f"{name}, symmetry {n}" for n in range(self.shape[0]) for name in names]
        planes = ["own", "other", "own wins", "other wins"][: self.shape[0] - len(side)]
        if declares_planes(game):
            planes = [f"plane {number + 1}" for number in range(game.num_planes)]
        return [f"{plane} {cell}" for plane in planes + side for cell in cells]


def _check_fit(name: str, game: WordGame) -> None:
    """Raise BadSpec if an encoder does not support this game."""
    if name == "cells" and game.num_planes != 2:
        msg = (
            f"encoder cells needs two planes, but {game.spec} has {game.num_planes}: "
            "use the encoder planes"
        )
        raise BadSpec(msg)
    if name in ("cells", "planes"):
        return
    has_default_planes = game.has_equal_sides and not declares_planes(game)
    if not isinstance(game, WordLineGame) or not has_default_planes:
        msg = f"encoder {name} is for line games up to 64 cells, not for {game.spec}"
        raise BadSpec(msg)
    if name == "features" and game.plane_shape != (5, 5):
        msg = f"encoder features is for 5x5 boards, not for {game.spec}"
        raise BadSpec(msg)


def _cell_names(game: WordGame) -> list[str]:
    """Return the names of a plane's cells: those of the grid if the sizes agree, else numbers."""
    rows, cols = game.plane_shape
    if game.grid is not None and (game.grid.rows, game.grid.cols) == (rows, cols):
        return [game.grid.text(cell) for cell in range(game.grid.size)]
    return [str(cell) for cell in range(rows * cols)]


_FEATURES = (
    "own lines one short", "other lines one short", "own lines of two", "other lines of two",
    "own losing lines of two", "other losing lines of two", "own centre", "other centre",
    "stones", "mobility",
)  # fmt: skip


@kernel("uint64[:,::1], float32[:,::1]", common=False)
def encode_cells(game: WordGame, states: Any, out: Any) -> Any:
    """Write 1 for own stones and -1 for stones of the other side."""
    for row in range(len(states)):
        state = game.load(states, row)
        mine, theirs = game.as_planes(game.planes(state))
        write_cells(mine, 1.0, 0, row, out)
        write_cells(theirs, -1.0, 0, row, out)
        if not game.has_equal_sides:
            out[row, out.shape[1] - 1] = game.player(state)


@kernel("uint64[:,::1], float32[:,::1]", common=False)
def encode_threats(game: WordLineGame, states: Any, out: Any) -> Any:
    """Write the stones of both sides, then the cells where each side wins immediately."""
    size = out.shape[1] // 4
    for row in range(len(states)):
        mine, theirs, _player = game.load(states, row)
        write_cells(mine, 1.0, 0, row, out)
        write_cells(theirs, 1.0, size, row, out)
        places = playable_cells(game, mine | theirs)
        write_cells(winning_cells(game, mine, places), 1.0, 2 * size, row, out)
        write_cells(winning_cells(game, theirs, places), 1.0, 3 * size, row, out)


@kernel("uint64[:,::1], uint64[:,:,::1], int64[:,::1], int64[:,:,::1]", common=False)
def encode_lines(game: WordLineGame, states: Any, symmetries: Any, lines: Any, out: Any) -> Any:
    """Write an index for each line and each cell of every symmetric image of every state."""
    for row in range(len(states)):
        state = game.load(states, row)
        for symmetry in range(len(symmetries)):
            mine, theirs, _player = game.transform_by_table(state, symmetries[symmetry])
            offset = 0
            for line in range(len(lines)):
                index = line_index(mine, theirs, lines[line, 0], lines[line, 1], lines[line, 2])
                out[row, symmetry, line] = lines[line, 3] + index
                offset = lines[line, 3] + 3 ** lines[line, 2]
            win, block, lose, spoil = tactical_masks(game, mine, theirs)
            for cell in range(game.rows * game.cols):
                kind = cell_kind(word(cell), mine, theirs, win, block, lose, spoil)
                out[row, symmetry, len(lines) + cell] = offset + NUM_CELL_KINDS * cell + kind


def tactical_masks(game: WordLineGame | LineTactics, mine: Any, theirs: Any) -> Any:
    """Return four masks of the cells where one stone completes a winning or losing line.

    In this order, the masks are for winning lines of the side to move, winning lines of the other
    side, losing lines of the side to move, and losing lines of the other side.
    """
    has_losing = game.lose > 0
    return (
        game.completing_cells(mine, game.win_windows, game.win),
        game.completing_cells(theirs, game.win_windows, game.win),
        game.completing_cells(mine, game.lose_windows, game.lose) if has_losing else game.none,
        game.completing_cells(theirs, game.lose_windows, game.lose) if has_losing else game.none,
    )


def cell_kind(
    cell: Any, mine: Any, theirs: Any, win: Any, block: Any, lose: Any, spoil: Any
) -> Any:
    """Return the kind of a cell as a number from 0 to 17.

    A stone of the side to move is 0, and a stone of the other side is 1. An empty cell is 2 plus
    four bits that say which of the last four masks contain it.
    """
    one = word(1)
    if (mine >> cell) & one != 0:
        return 0
    if (theirs >> cell) & one != 0:
        return 1
    return (
        2
        + int((win >> cell) & one)
        + 2 * int((block >> cell) & one)
        + 4 * int((lose >> cell) & one)
        + 8 * int((spoil >> cell) & one)
    )


@kernel("uint64[:,::1], float32[:,::1]", common=False)
def encode_features(game: WordLineGame, states: Any, out: Any) -> Any:
    """Write the fifty features of every state."""
    for row in range(len(states)):
        write_features(game, game.load(states, row), row, out)


def write_features(game: WordLineGame | LineTactics, state: Any, row: Any, out: Any) -> None:
    """Write the features that were published for Squava to row `row` of `out`.

    They are the cells, the numbers of lines without stones of the other side, and the context:
    stones in the centre, all stones, and empty cells.
    """
    mine, theirs, _player = state
    write_cells(mine, 1.0, 0, row, out)
    write_cells(theirs, -1.0, 0, row, out)
    for side in range(2):
        own, other = (mine, theirs) if side == 0 else (theirs, mine)
        short = count_windows(game.win - 1, own, other, game.win, game.win_windows)
        out[row, 25 + side] = min(short / 5.0, 1.0)
        twos = count_windows(2, own, other, game.win, game.win_windows)
        out[row, 27 + side] = min(twos / 10.0, 1.0)
        losing = count_windows(2, own, other, game.lose, game.lose_windows)
        out[row, 29 + side] = min(losing / 10.0, 1.0)
        out[row, 31 + side] = popcount(own & word(_INNER)) / _CENTRE
    stones = popcount(mine | theirs)
    out[row, 33] = stones / 25.0
    out[row, 34] = (25.0 - stones) / 25.0


_INNER = sum(1 << (5 * row + col) for row in (1, 2, 3) for col in (1, 2, 3))


def write_cells(cells: Any, value: Any, begin: Any, row: Any, out: Any) -> None:
    """Write `value` to `out[row, begin + cell]` for every cell in the mask `cells`."""
    while cells != 0:
        out[row, begin + lowest(cells)] = value
        cells = cells & (cells - word(1))


def playable_cells(game: WordLineGame, stones: Any) -> Any:
    """Return the mask of cells where a stone can be placed."""
    free = game.full ^ stones
    if game.gravity:
        return free & (((stones >> game.cols) & game.full) | game.bottom)
    return free


def winning_cells(game: WordLineGame, stones: Any, places: Any) -> Any:
    """Return the mask of those cells in `places` where one more stone completes a winning line."""
    winning = game.none
    while places != 0:
        stone = places & (game.full ^ (places - game.one))
        places = places ^ stone
        if game.winning_lines(stones | stone) != 0:
            winning = winning | stone
    return winning


def line_index(mine: Any, theirs: Any, begin: Any, step: Any, length: Any) -> Any:
    """Return the contents of a line as a base-3 number, whose lowest digit is the first cell.

    The digits are 0 for an empty cell, 1 for a stone of the side to move and 2 for a stone of the
    other side.
    """
    number = 0
    for place in range(length - 1, -1, -1):
        cell = word(begin + place * step)
        number = 3 * number + int((mine >> cell) & word(1)) + 2 * int((theirs >> cell) & word(1))
    return number


def count_windows(count: Any, own: Any, other: Any, length: Any, windows: Any) -> Any:
    """Return the number of lines of `length` cells with exactly `count` stones, all of them own."""
    total = 0
    for begins, step in windows:
        left = begins
        while left != 0:
            at = lowest(left)
            left = left & (left - word(1))
            own_stones, is_free = 0, True
            for place in range(length):
                cell = word(at) + step * word(place)
                own_stones += popcount((own >> cell) & word(1))
                is_free = is_free and (other >> cell) & word(1) == 0
            total += 1 if is_free and own_stones == count else 0
    return total


def board_lines(grid: Grid) -> list[tuple[int, int, int, int]]:
    """Return (cell, step, length, offset) for each row, column and diagonal of 3 cells or more.

    A line begins at `cell`, and its cells are `step` apart. The encoder adds `offset` to the
    `line_index`, so that different lines never have the same index.
    """
    lines, offset = [], 0
    for down, right in DIRECTIONS:
        for cell in range(grid.size):
            row, col = divmod(cell, grid.cols)
            if 0 <= row - down < grid.rows and 0 <= col - right < grid.cols:
                continue  # this cell is not the first of its line
            length = 0
            while 0 <= row + length * down < grid.rows and 0 <= col + length * right < grid.cols:
                length += 1
            if length >= _MIN_LINE:
                lines.append((cell, down * grid.cols + right, length, offset))
                offset += 3**length
    return lines


def num_line_indices(grid: Grid) -> int:
    """Return the number of different line indices, over all lines of the board."""
    return sum(3**length for _begin, _step, length, _offset in board_lines(grid))


def num_line_features(grid: Grid) -> int:
    """Return the number of different line and cell indices that the encoder `lines` uses."""
    return num_line_indices(grid) + NUM_CELL_KINDS * grid.size


ENCODERS: dict[str, Callable[..., Any]] = {
    "cells": encode_cells,
    "planes": encode_planes,
    "threats": encode_threats,
    "lines": encode_lines,
    "features": encode_features,
}
