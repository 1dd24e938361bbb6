"""Line games above 64 cells, up to 20x20: the family's rules on wide ints, kernels on arrays.

A state is as in `lines.py`; only kernels see the padded array (on 3x3, `#` the border):

    #  #  #  #  #         0  1  2  3  4
    # a1 b1 c1  #         5  6  7  8  9
    # a2 b2 c2  #        10 11 12 13 14
    # a3 b3 c3  #        15 16 17 18 19
    #  #  #  #  #        20 21 22 23 24
"""

from typing import Any

from zermelo.core.bitboard import bits
from zermelo.core.errors import BadSpec
from zermelo.core.game import BoardGame
from zermelo.games.lines.rules import LineGame

FREE, FIRST, SECOND, BORDER = 0, 1, 2, 3
#: what `ban` answers; a stone that hangs is allowed, but the other side's stones may change that
ALLOWED, BANNED, HANGS = range(3)


class BoardLineGame(LineGame, BoardGame):
    """A game of the family on a board of any size."""

    rows: int
    win: int

    def __init__(self, *sizes: int, **rules: Any) -> None:
        super().__init__(*sizes, **rules)
        if self.pie:
            msg = f"pie goes with boards up to 63 cells: {self.grid} has {self.grid.size}"
            raise BadSpec(msg)
        self.cells = self.grid.size
        self.stride = self.cols + 2
        self._frame = bytearray([BORDER] * (self.stride * (self.rows + 2)))
        for row in range(self.rows):
            begin = self.at(row * self.cols)
            self._frame[begin : begin + self.cols] = bytes(self.cols)

    def at(self, cell: int) -> int:
        """The place of a cell in the padded board."""
        row, col = divmod(cell, self.cols)
        return (row + 1) * self.stride + col + 1

    def to_cells(self, state: Any) -> bytearray:
        """The padded board of a state."""
        cells = bytearray(self._frame)
        mover = FIRST if self.player(state) == 0 else SECOND
        for stones, stone in ((state[0], mover), (state[1], FIRST + SECOND - mover)):
            for cell in bits(stones):
                cells[self.at(cell)] = stone
        return cells

    # The rules on the padded board, for bytearrays and compiled arrays alike.

    def landing(self, cells: Any, action: Any) -> Any:
        """The cell itself; with gravity the lowest free one of the column."""
        if not self.gravity:
            return (action // self.cols + 1) * self.stride + action % self.cols + 1
        place = self.rows * self.stride + action + 1
        while cells[place] != FREE:
            place -= self.stride
        return place

    def list_open(self, cells: Any, moves: Any) -> Any:
        """The free cells; with gravity the columns that are not full."""
        count = 0
        for row in range(1 if self.gravity else self.rows):
            for col in range(self.cols):
                if cells[(row + 1) * self.stride + col + 1] == FREE:
                    moves[count] = row * self.cols + col
                    count += 1
        return count

    def is_spent(self, cells: Any, action: Any) -> Any:
        """Always; with gravity when the column is full."""
        return not self.gravity or cells[self.stride + action + 1] != FREE

    def judge(self, cells: Any, at: Any, left: Any) -> Any:
        """Only the stone just played counts: win before loss, loss before draw."""
        if self.is_line(cells, at):
            return True, -1
        if self.ban(cells, at) == BANNED:
            return True, 1
        return left == 0, 0

    def is_line(self, cells: Any, at: Any) -> Any:
        """Whether the stone on a place stands in a winning line."""
        found, exact = False, self.counts_exactly(cells[at])
        for step in (1, self.stride, self.stride + 1, self.stride - 1):
            length = self.run(cells, at, step)
            found = found or length == self.win or (length > self.win and not exact)
        return found

    def counts_exactly(self, _stone: Any) -> Any:
        """Whether a line that is too long is none, for the owner of a stone."""
        return self.exact

    def ban(self, cells: Any, at: Any) -> int:
        """Whether the stone on a place, which makes no winning line, loses by itself."""
        banned = False
        if self.lose > 0:
            for step in (1, self.stride, self.stride + 1, self.stride - 1):
                banned = banned or self.run(cells, at, step) >= self.lose
        return BANNED if banned else ALLOWED

    def run(self, cells: Any, at: Any, step: Any) -> Any:
        """The length of the run of equal stones through a place, in one direction."""
        stone = cells[at]
        high = at + step
        while cells[high] == stone:
            high += step
        low = at - step
        while cells[low] == stone:
            low -= step
        return (high - low) // step - 1
