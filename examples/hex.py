"""Hex: connect your two sides of the board before your opponent connects the other two.

X owns the top and bottom sides, O the left and right sides. Players put one stone on a free cell
in turn. The first unbroken chain between the two sides of its owner wins; a draw is impossible.
The pie rule, by which the second player may take over the first stone, is left out.

The board is 7x7. Bit i is cell i, row by row from the top left, and every row is shifted half a
cell to the right, so that a cell has up to six neighbours (here those of cell 8):

     0 [1][2] 3  4  5  6
      [7] 8 [9]10 11 12 13
       [14][15]16 17 18 19 20

A state is (the mover's stones, the opponent's stones, the player to move).
"""

from typing import Any

from zermelo import SolverHooks, Word, WordGame
from zermelo.core.bitboard import can_stop, pick
from zermelo.core.notation import Grid
from zermelo.core.symmetry import Symmetry, grid_symmetries


class HexHooks(SolverHooks):
    """Estimates a state by how many stones each side still needs for a chain."""

    estimate_scale: float = 150.0  # an advantage of 150 is a value of tanh(1), about 0.76

    def missing_stones(self, stones: Any, free: Any, start: Any, goal: Any) -> Any:
        """Return the smallest number of stones that complete a chain from `start` to `goal`."""
        number, reached = 0, start & stones
        while True:
            chain = reached ^ reached
            while chain != reached:  # own stones cost nothing
                chain = reached
                reached = reached | self.neighbours(reached) & stones
            if reached & goal != 0:
                return number
            number += 1
            reached = reached | (self.neighbours(reached) | start) & (stones | free)

    def evaluate(self, state: Any) -> Any:
        """Return 100 for each stone that the opponent needs more than the side to move."""
        mine, theirs, player = state
        free = self.full ^ (mine | theirs)
        my_start, my_goal = self.edges(player == 0)
        their_start, their_goal = self.edges(player == 1)
        needed = self.missing_stones(theirs, free, their_start, their_goal)
        return 100 * (needed - self.missing_stones(mine, free, my_start, my_goal))


class Hex(WordGame):
    """The rules; `Hex(5)` is the game on a smaller board."""

    is_layered = True  # every move adds a stone
    has_equal_sides = False  # X and O own different sides of the board
    hooks_class = HexHooks
    one: Word = 1
    full: Word
    top: Word
    bottom: Word
    left: Word
    right: Word
    size: int
    steps: int

    def __init__(self, size: int = 7) -> None:
        self.size, self.grid, self.num_actions = size, Grid(size, size), size * size
        self.full = (1 << size * size) - 1
        self.top = (1 << size) - 1
        self.bottom = self.top << size * (size - 1)
        self.left = sum(1 << row * size for row in range(size))
        self.right = self.left << size - 1
        self.steps = size * size // 2  # a player has at most half of the stones, rounded up

    def initial(self) -> Any:
        return (0, 0, 0)

    def legal(self, state: Any) -> Any:
        return self.full ^ (state[0] | state[1])

    def play(self, state: Any, action: Any) -> Any:
        mine, theirs, player = state
        return (theirs, mine | self.one << action, player ^ self.one)

    def neighbours(self, cells: Any) -> Any:
        """Return the neighbours of some cells; bits below the board are left for the caller."""
        right = cells & (self.full ^ self.right)  # cells that have a neighbour on their right
        left = cells & (self.full ^ self.left)
        vertical = cells << self.size | cells >> self.size
        return vertical | right << 1 | right >> (self.size - 1) | left >> 1 | left << self.size - 1

    def edges(self, is_first: Any) -> Any:
        """Return the two sides of the board that a player must connect."""
        return pick(is_first, self.top, self.left), pick(is_first, self.bottom, self.right)

    def result(self, state: Any) -> Any:
        _mine, theirs, player = state  # only the last move can have completed a chain
        start, goal = self.edges(player == 1)
        reached = start & theirs
        for _ in range(self.steps):
            before = reached
            reached = (reached | self.neighbours(reached)) & theirs
            if can_stop(reached == before):
                break
        won = reached & goal != 0
        return won, -1 * won

    # Notation, drawing and symmetry.

    def to_text(self, state: Any, action: int) -> str:
        del state
        return self.grid.text(action)

    def board(self, state: Any) -> tuple[int, ...]:
        first, second = (state[0], state[1]) if state[2] == 0 else (state[1], state[0])
        return tuple((first >> i & 1) - (second >> i & 1) for i in range(self.num_actions))

    def symmetries(self) -> tuple[Symmetry, ...]:
        return tuple(s for s in grid_symmetries(self.grid) if s.name in ("identity", "half turn"))
