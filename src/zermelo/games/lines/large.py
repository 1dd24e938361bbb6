"""Line games of more than 64 cells, up to 20x20: states are wide ints, kernels use padded arrays.

States are the same as in `rules`. Only kernels see the padded board, an array of cells with a
border (`#`) of one cell all around. On 3x3, with the indices on the right:

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
#: The results of `forbidden_status`. A CONDITIONAL move is allowed now, but it could become
#: forbidden if the opponent adds stones.
ALLOWED, FORBIDDEN, CONDITIONAL = range(3)


class BoardLineGame(LineGame, BoardGame):
    """A line game on a board of any size."""

    rows: int
    win: int

    def __init__(self, *sizes: int, **rules: Any) -> None:
        super().__init__(*sizes, **rules)
        if self.pie:
            msg = f"the pie rule needs a board of up to 63 cells: {self.grid} has {self.grid.size}"
            raise BadSpec(msg)
        self.cells = self.grid.size
        self.stride = self.cols + 2
        self._frame = bytearray([BORDER] * (self.stride * (self.rows + 2)))
        for row in range(self.rows):
            begin = self.padded_index(row * self.cols)
            self._frame[begin : begin + self.cols] = bytes(self.cols)

    @property
    def has_losing_moves(self) -> bool:
        """Whether the rules have moves that lose the game at once for the side that plays them."""
        return self.lose > 0

    def padded_index(self, cell: int) -> int:
        """Return the index of a cell in the padded board."""
        row, col = divmod(cell, self.cols)
        return (row + 1) * self.stride + col + 1

    def to_padded_board(self, state: Any) -> bytearray:
        """Return the padded board of a state."""
        cells = bytearray(self._frame)
        mover = FIRST if self.player(state) == 0 else SECOND
        for stones, stone in ((state[0], mover), (state[1], FIRST + SECOND - mover)):
            for cell in bits(stones):
                cells[self.padded_index(cell)] = stone
        return cells

    # The rules on the padded board, for bytearrays and compiled arrays alike. `at` is an index into
    # the board, and `step` is the distance between neighbours in one direction.

    def landing(self, cells: Any, action: Any) -> Any:
        """Return the index where a stone lands; with gravity, the column's lowest free cell."""
        if not self.gravity:
            return (action // self.cols + 1) * self.stride + action % self.cols + 1
        place = self.rows * self.stride + action + 1
        while cells[place] != FREE:
            place -= self.stride
        return place

    def list_legal(self, cells: Any, moves: Any) -> Any:
        """Write the legal actions (cells or, with gravity, columns) to `moves`; return how many."""
        count = 0
        for row in range(1 if self.gravity else self.rows):
            for col in range(self.cols):
                if cells[(row + 1) * self.stride + col + 1] == FREE:
                    moves[count] = row * self.cols + col
                    count += 1
        return count

    def is_exhausted(self, cells: Any, action: Any) -> Any:
        """Return whether an action that was just played is now illegal, as in a full column."""
        return not self.gravity or cells[self.stride + action + 1] != FREE

    def result_after(self, cells: Any, at: Any, left: Any) -> Any:
        """Return (is_over, value) after a stone was put at `at`, with `left` cells still free."""
        if self.is_in_winning_line(cells, at):
            return True, -1
        if self.forbidden_status(cells, at) == FORBIDDEN:
            return True, 1
        return left == 0, 0

    def is_in_winning_line(self, cells: Any, at: Any) -> Any:
        """Return whether the stone at `at` is part of a winning line."""
        wins, exact = False, self.needs_exact_line(cells[at])
        for step in (1, self.stride, self.stride + 1, self.stride - 1):
            length = self.run_length(cells, at, step)
            wins = wins or length == self.win or (length > self.win and not exact)
        return wins

    def needs_exact_line(self, _stone: Any) -> Any:
        """Return whether the owner of a stone wins only with lines of exactly `win` stones."""
        return self.exact

    def forbidden_status(self, cells: Any, at: Any) -> int:
        """Return ALLOWED, FORBIDDEN or CONDITIONAL for the stone at `at`.

        The stone must not be in a winning line. A forbidden stone loses the game for its owner.
        """
        loses = False
        if self.lose > 0:
            for step in (1, self.stride, self.stride + 1, self.stride - 1):
                loses = loses or self.run_length(cells, at, step) >= self.lose
        return FORBIDDEN if loses else ALLOWED

    def run_length(self, cells: Any, at: Any, step: Any) -> Any:
        """Return the length of the run of one side's stones through `at` in one direction."""
        stone = cells[at]
        high = at + step
        while cells[high] == stone:
            high += step
        low = at - step
        while cells[low] == stone:
            low -= step
        return (high - low) // step - 1
