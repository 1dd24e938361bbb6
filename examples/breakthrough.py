"""Breakthrough: bring one of your pawns to the far side of the board.

A pawn moves one row forward, straight or diagonally, to a free cell, and captures diagonally only.
Whoever reaches the opponent's first row wins, as does whoever captures the last pawn of the
opponent. There is always a legal move and never a draw.

The board is 6x6. Bit i is cell i, row by row from the top left. X starts on the two top rows and
moves down, O on the two bottom rows and moves up:

     0  1  2  3  4  5     a1 b1 c1 d1 e1 f1     X X X X X X
     6  7  8  9 10 11     a2 b2 c2 d2 e2 f2     X X X X X X
    12 13 14 15 16 17     …

A state is (the mover's pawns, the opponent's pawns, the player to move). The boards are not turned
for O, so the sides are not equal. An action is 64 * direction + the cell that a pawn leaves, where
the direction is 0 (to the left column), 1 (straight) or 2 (to the right column); so each of the
three words of legal actions holds the pawns that can move in one direction.
"""

from typing import Any

from zermelo import SolverHooks, Word, WordGame
from zermelo.core.bitboard import pick, popcount
from zermelo.core.notation import Grid
from zermelo.core.symmetry import Symmetry, grid_symmetries


class BreakthroughHooks(SolverHooks):
    """Orders moves and estimates states."""

    estimate_scale: float = 300.0  # an advantage of three pawns is a value of tanh(1)

    def evaluate(self, state: Any) -> Any:
        """Return 100 for each pawn more, and 10 for each row that the pawns have advanced more."""
        mine, theirs, player = state
        advance = 0
        for row in range(self.rows):  # with all pawns on top rows, the sum is small
            cells = self.top << row * self.cols
            advance += row * (popcount(mine & cells) + popcount(theirs & cells))
        height = (self.rows - 1) * pick(player == 0, popcount(theirs), popcount(mine))
        return 100 * (popcount(mine) - popcount(theirs)) + 10 * pick(
            player == 0, advance - height, height - advance
        )


class Breakthrough(WordGame):
    """The rules; `Breakthrough(5, 3)` has five rows and three columns."""

    has_equal_sides = False  # X moves down, O moves up
    hooks_class = BreakthroughHooks
    num_actions = 3 * 64
    move_forms = "the cells from and to, such as a2a3"
    one: Word = 1
    full: Word
    top: Word
    bottom: Word
    not_left: Word
    not_right: Word
    rows: int
    cols: int

    def __init__(self, rows: int = 6, cols: int = 6) -> None:
        self.rows, self.cols, self.grid = rows, cols, Grid(rows, cols)
        self.full = (1 << rows * cols) - 1
        self.top = (1 << cols) - 1
        self.bottom = self.top << (rows - 1) * cols
        left = sum(1 << row * cols for row in range(rows))
        self.not_left, self.not_right = self.full ^ left, self.full ^ left << cols - 1

    def initial(self) -> Any:
        return (self.top | self.top << self.cols, self.bottom | self.bottom >> self.cols, 0)

    def legal(self, state: Any) -> Any:
        mine, theirs, player = state
        free, target, cols = self.full ^ (mine | theirs), self.full ^ mine, self.cols
        return (
            mine & self.not_left & pick(player == 0, target >> (cols - 1), target << (cols + 1)),
            mine & pick(player == 0, free >> cols, free << cols),
            mine & self.not_right & pick(player == 0, target >> (cols + 1), target << (cols - 1)),
        )

    def play(self, state: Any, action: Any) -> Any:
        mine, theirs, player = state
        direction, pawn = action >> 6, self.one << (action & 63)
        down, up = pawn << (self.cols - 1 + direction), pawn >> (self.cols + 1 - direction)
        target = pick(player == 0, down, up)
        return (theirs & (self.full ^ target), mine ^ pawn | target, player ^ self.one)

    def result(self, state: Any) -> Any:
        mine, theirs, player = state
        over = (theirs & pick(player == 0, self.top, self.bottom) != 0) | (mine == 0)
        return over, -1 * over  # the opponent has just moved, and won

    # Notation, drawing and symmetry.

    def move_cells(self, state: Any, action: int) -> tuple[int, int]:
        direction, cell = divmod(action, 64)
        return cell, cell + (-1 if state[2] else 1) * self.cols + direction - 1

    def to_text(self, state: Any, action: int) -> str:
        cells = self.move_cells(state, action)
        is_on_board = all(0 <= cell < self.grid.size for cell in cells)
        return "".join(map(self.grid.text, cells)) if is_on_board else f"action{action}"

    def board(self, state: Any) -> tuple[int, ...]:
        first, second = (state[0], state[1]) if state[2] == 0 else (state[1], state[0])
        return tuple((first >> i & 1) - (second >> i & 1) for i in range(self.grid.size))

    def symmetries(self) -> tuple[Symmetry, ...]:
        cells = grid_symmetries(self.grid)[1].cells + tuple(range(self.grid.size, 64))
        mirrored = tuple(64 * (2 - a // 64) + cells[a % 64] for a in range(self.num_actions))
        identity = Symmetry("identity", tuple(range(self.grid.size)), tuple(range(192)))
        return identity, Symmetry("left-right", cells[: self.grid.size], mirrored)
