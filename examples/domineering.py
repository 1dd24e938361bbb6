"""Domineering: two players place dominoes, one vertically and the other horizontally.

The first player places vertical dominoes; a player who cannot move loses. The board is 6x6: bit i
is cell i, row by row from the top left. An action is the upper or left cell of a domino. A state is
(the mover's cells, the opponent's cells, the player to move).
"""

from typing import Any

from zermelo import Word, WordGame
from zermelo.core.bitboard import pick
from zermelo.core.notation import Grid

SIZE = 6


class Domineering(WordGame):
    """Every move covers two free cells."""

    grid = Grid(SIZE, SIZE)
    num_actions = SIZE * SIZE
    is_layered = True  # every move fills two cells, so a state occurs at only one ply
    has_equal_sides = False  # X places vertical dominoes, O horizontal ones
    full: Word = (1 << SIZE * SIZE) - 1
    not_last: Word = sum(1 << row * SIZE + col for row in range(SIZE) for col in range(SIZE - 1))
    one: Word = 1
    size: int = SIZE

    def initial(self) -> Any:
        return (0, 0, 0)

    def legal(self, state: Any) -> Any:
        mine, theirs, player = state
        free = self.full ^ (mine | theirs)
        vertical = free & (free >> self.size) & self.full
        horizontal = free & (free >> 1) & self.not_last
        return pick(player == 0, vertical, horizontal)

    def play(self, state: Any, action: Any) -> Any:
        mine, theirs, player = state
        first = self.one << action
        second = pick(player == 0, first << self.size, first << 1) & self.full
        return (theirs, mine | first | second, player ^ self.one)

    def result(self, state: Any) -> Any:
        over = self.legal(state) == 0
        return over, -1 * over

    # Notation and drawing: moves as cells, and the board.

    def to_text(self, state: Any, action: int) -> str:
        return self.grid.text(action)

    def why_illegal(self, state: Any, action: int) -> str:
        return f"a {'horizontal' if state[2] else 'vertical'} domino does not fit there"

    def board(self, state: Any) -> tuple[int, ...]:
        first, second = (state[0], state[1]) if state[2] == 0 else (state[1], state[0])
        return tuple((first >> i & 1) - (second >> i & 1) for i in range(SIZE * SIZE))
