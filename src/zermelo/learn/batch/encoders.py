"""Encoders: states as numbers for a network, always seen by the side to move.

- `cells`: one number a cell, 1 own, -1 the other's, 0 free
- `planes`: own stones, the other's: a plane of 0 and 1 each
- `threats`: these two, then the cells where the side to move wins at once, and where the other
  would if it were their turn
- `lines`: of every row, column and diagonal which of all ways to fill it it is, then of every cell
  what it is to either side: a number each, and all of them once for every symmetry of the board
- `features`: fifty numbers for Squava and its like: the cells, line counts, and a little context
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from zermelo.core.bitboard import lowest, popcount, word
from zermelo.core.errors import BadSpec
from zermelo.core.game import WordGame
from zermelo.core.notation import Grid
from zermelo.core.symmetry import byte_tables
from zermelo.games.geometry import DIRECTIONS
from zermelo.games.lines.tactics import WordLineGame
from zermelo.kernels import compiled, kernel

if TYPE_CHECKING:
    from numpy.typing import NDArray

_NUM_FEATURES, _CENTRE = 50, 9
_SHORTEST = 3  # line that can matter
CELL_KINDS = 18  #: what a cell can be, see `meaning`


class Encoder:
    """One way to show the states of a game, by a kernel of its own."""

    def __init__(self, name: str, game: WordGame) -> None:
        if name not in _KERNELS:
            msg = f"encoder is {name!r}: it can be {', '.join(_KERNELS)}"
            raise BadSpec(msg)
        if game.grid is None or game.num_words != 3:
            msg = f"{game.spec} has no board of stones to encode"
            raise BadSpec(msg)
        if name in ("threats", "features", "lines") and not isinstance(game, WordLineGame):
            msg = f"encoder {name} is for line games up to 64 cells, not for {game.spec}"
            raise BadSpec(msg)
        rows, cols = game.grid.rows, game.grid.cols
        planes = {"planes": 2, "threats": 4}.get(name)
        if name == "features" and (rows, cols) != (5, 5):
            msg = f"encoder features is for boards of 5x5, not for {game.spec}"
            raise BadSpec(msg)
        self.name, self.game = name, game
        flat = _NUM_FEATURES if name == "features" else rows * cols
        self.shape: tuple[int, ...] = (flat,) if planes is None else (planes, rows, cols)
        if name == "lines":
            self._lines: NDArray[Any] = np.array(runs(game.grid))
            turns = byte_tables(game.symmetries())
            self._turns: NDArray[Any] = np.array(turns, np.uint64).reshape(-1, 8, 256)
            self.shape = (len(self._turns), len(self._lines) + rows * cols)
        self.size = int(np.prod(self.shape))

    def __call__(self, states: Any) -> "NDArray[Any]":
        """[row, …]: the numbers of every state, float32; of lines int64."""
        kind = np.int64 if self.name == "lines" else np.float32
        found: NDArray[Any] = np.zeros((len(states), self.size), kind)
        if self.name == "lines":
            found = found.reshape(len(states), *self.shape)
            compiled(encode_lines, self.game)(states, self._turns, self._lines, found)
            return found
        compiled(_KERNELS[self.name], self.game)(states, found)
        return found.reshape(len(states), *self.shape)

    @property
    def names(self) -> list[str]:
        """What each number stands for."""
        assert self.game.grid is not None
        cells = [self.game.grid.text(cell) for cell in range(self.game.grid.size)]
        if self.name == "cells":
            return cells
        if self.name == "features":
            return [*cells, *_FEATURES, *(f"reserved {n}" for n in range(_NUM_FEATURES - 35))]
        if self.name == "lines":
            lines = [f"from {cells[begin]}" for begin, *_ in runs(self.game.grid)]
            lines += [f"what {cell} is" for cell in cells]
            return [f"{name}, turn {n}" for n in range(self.shape[0]) for name in lines]
        planes = ("own", "other", "own wins", "other wins")[: self.shape[0]]
        return [f"{plane} {cell}" for plane in planes for cell in cells]


_FEATURES = (
    "own lines one short", "other lines one short", "own lines of two", "other lines of two",
    "own losing lines of two", "other losing lines of two", "own centre", "other centre",
    "stones", "mobility",
)  # fmt: skip


@kernel("uint64[:,::1], float32[:,::1]", common=False)
def encode_cells(game: WordGame, states: Any, found: Any) -> Any:
    """1 own, -1 the other's."""
    for row in range(len(states)):
        mine, theirs, _player = game.load(states, row)
        write(mine, 1.0, 0, row, found)
        write(theirs, -1.0, 0, row, found)


@kernel("uint64[:,::1], float32[:,::1]", common=False)
def encode_planes(game: WordGame, states: Any, found: Any) -> Any:
    """A plane each."""
    size = found.shape[1] // 2
    for row in range(len(states)):
        mine, theirs, _player = game.load(states, row)
        write(mine, 1.0, 0, row, found)
        write(theirs, 1.0, size, row, found)


@kernel("uint64[:,::1], float32[:,::1]", common=False)
def encode_threats(game: WordLineGame, states: Any, found: Any) -> Any:
    """Stones, then the cells that win at once for either side."""
    size = found.shape[1] // 4
    for row in range(len(states)):
        mine, theirs, _player = game.load(states, row)
        write(mine, 1.0, 0, row, found)
        write(theirs, 1.0, size, row, found)
        places = open_cells(game, mine | theirs)
        write(winning_cells(game, mine, places), 1.0, 2 * size, row, found)
        write(winning_cells(game, theirs, places), 1.0, 3 * size, row, found)


@kernel("uint64[:,::1], uint64[:,:,::1], int64[:,::1], int64[:,:,::1]", common=False)
def encode_lines(game: WordLineGame, states: Any, turns: Any, lines: Any, found: Any) -> Any:
    """Which way of filling each line is, and what each cell is, in every state as it is turned."""
    for row in range(len(states)):
        state = game.load(states, row)
        for turn in range(len(turns)):
            mine, theirs, _player = game.turned(state, turns[turn])
            number = 0
            for at in range(len(lines)):
                filled = filling(mine, theirs, lines[at, 0], lines[at, 1], lines[at, 2])
                found[row, turn, at] = lines[at, 3] + filled
                number = lines[at, 3] + 3 ** lines[at, 2]
            wins, loses, avoids, spared = meanings(game, mine, theirs)
            for cell in range(game.rows * game.cols):
                what = meaning(word(cell), mine, theirs, wins, loses, avoids, spared)
                found[row, turn, len(lines) + cell] = number + CELL_KINDS * cell + what


def meanings(game: WordLineGame, mine: Any, theirs: Any) -> Any:
    """Where a stone wins for the side to move and for the other, and where it loses for either."""
    lose = game.lose > 0
    return (
        game.gaps(mine, game.win_windows, game.win),
        game.gaps(theirs, game.win_windows, game.win),
        game.gaps(mine, game.lose_windows, game.lose) if lose else game.none,
        game.gaps(theirs, game.lose_windows, game.lose) if lose else game.none,
    )


def meaning(
    cell: Any, mine: Any, theirs: Any, wins: Any, loses: Any, avoids: Any, spared: Any
) -> Any:
    """0 own, 1 the other's, else 2 and a bit for each of `meanings`."""
    one = word(1)
    if (mine >> cell) & one != 0:
        return 0
    if (theirs >> cell) & one != 0:
        return 1
    return (
        2
        + int((wins >> cell) & one)
        + 2 * int((loses >> cell) & one)
        + 4 * int((avoids >> cell) & one)
        + 8 * int((spared >> cell) & one)
    )


@kernel("uint64[:,::1], float32[:,::1]", common=False)
def encode_features(game: WordLineGame, states: Any, found: Any) -> Any:
    """Fifty numbers."""
    for row in range(len(states)):
        write_features(game, game.load(states, row), row, found)


def write_features(game: WordLineGame, state: Any, row: Any, found: Any) -> None:
    """As published for Squava: cells, lines free of the other side by what they hold, context."""
    mine, theirs, _player = state
    write(mine, 1.0, 0, row, found)
    write(theirs, -1.0, 0, row, found)
    for side in range(2):
        own, other = (mine, theirs) if side == 0 else (theirs, mine)
        short = lines_of(game.win - 1, own, other, game.win, game.win_windows)
        found[row, 25 + side] = min(short / 5.0, 1.0)
        twos = lines_of(2, own, other, game.win, game.win_windows)
        found[row, 27 + side] = min(twos / 10.0, 1.0)
        losing = lines_of(2, own, other, game.lose, game.lose_windows)
        found[row, 29 + side] = min(losing / 10.0, 1.0)
        found[row, 31 + side] = popcount(own & word(_INNER)) / _CENTRE
    stones = popcount(mine | theirs)
    found[row, 33] = stones / 25.0
    found[row, 34] = (25.0 - stones) / 25.0


_INNER = sum(1 << (5 * row + col) for row in (1, 2, 3) for col in (1, 2, 3))


def write(cells: Any, value: Any, begin: Any, row: Any, found: Any) -> None:
    """A value for every cell of a mask."""
    while cells != 0:
        found[row, begin + lowest(cells)] = value
        cells = cells & (cells - word(1))


def open_cells(game: WordLineGame, stones: Any) -> Any:
    """Where a stone can go next."""
    free = game.full ^ stones
    if game.gravity:
        return free & (((stones >> game.cols) & game.full) | game.bottom)
    return free


def winning_cells(game: WordLineGame, stones: Any, places: Any) -> Any:
    """Of these cells those where one more stone makes a line that wins."""
    found = game.none
    while places != 0:
        stone = places & (game.full ^ (places - game.one))
        places = places ^ stone
        if game.winning(stones | stone) != 0:
            found = found | stone
    return found


def filling(mine: Any, theirs: Any, begin: Any, step: Any, length: Any) -> Any:
    """A line as a number to the base of three, its first cell last: 0 free, 1 own, 2 other's."""
    number = 0
    for place in range(length - 1, -1, -1):
        cell = word(begin + place * step)
        number = 3 * number + int((mine >> cell) & word(1)) + 2 * int((theirs >> cell) & word(1))
    return number


def lines_of(count: Any, own: Any, other: Any, length: Any, windows: Any) -> Any:
    """How many windows hold so many own stones and none of the other's."""
    lines = 0
    for begins, step in windows:
        left = begins
        while left != 0:
            at = lowest(left)
            left = left & (left - word(1))
            held, free = 0, True
            for place in range(length):
                cell = word(at) + step * word(place)
                held += popcount((own >> cell) & word(1))
                free = free and (other >> cell) & word(1) == 0
            lines += 1 if free and held == count else 0
    return lines


def runs(grid: Grid) -> list[tuple[int, int, int, int]]:
    """Every row, column and diagonal of three cells or more: first cell, step, length, offset.

    The offset is where the numbers of its fillings begin, so that no two lines share one.
    """
    found, offset = [], 0
    for down, right in DIRECTIONS:
        for cell in range(grid.size):
            row, col = divmod(cell, grid.cols)
            if 0 <= row - down < grid.rows and 0 <= col - right < grid.cols:
                continue  # it does not begin here
            length = 0
            while 0 <= row + length * down < grid.rows and 0 <= col + length * right < grid.cols:
                length += 1
            if length >= _SHORTEST:
                found.append((cell, down * grid.cols + right, length, offset))
                offset += 3**length
    return found


def num_fillings(grid: Grid) -> int:
    """Of all lines together."""
    return sum(3**length for _begin, _step, length, _offset in runs(grid))


def num_kinds(grid: Grid) -> int:
    """Numbers that the encoder `lines` can say."""
    return num_fillings(grid) + CELL_KINDS * grid.size


_KERNELS: dict[str, Callable[..., Any]] = {
    "cells": encode_cells,
    "planes": encode_planes,
    "threats": encode_threats,
    "lines": encode_lines,
    "features": encode_features,
}
