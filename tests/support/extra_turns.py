"""A game with extra turns and more than 64 actions, which needs a mask of two words."""

from typing import Any, ClassVar

from zermelo import Word, WordGame
from zermelo.core.bitboard import pick, popcount
from zermelo.core.notation import Grid


class ExtraTurns(WordGame):
    """Put a stone on one of 16 cells in one of five ways; the fifth way gives another turn.

    Action a fills cell `a % 16` in way `a // 16`. The side with more stones on the full board wins.
    A state is (the mover's stones, the opponent's stones, the player to move).
    """

    spec = "extra-turns"
    grid = Grid(4, 4)
    num_actions = 80
    is_alternating: ClassVar[bool] = False
    full: Word = (1 << 16) - 1
    one: Word = 1

    def initial(self) -> Any:
        return (0, 0, 0)

    def legal(self, state: Any) -> Any:
        mine, theirs, _player = state
        free = self.full ^ (mine | theirs)
        return (free | (free << 16) | (free << 32) | (free << 48), free)

    def play(self, state: Any, action: Any) -> Any:
        mine, theirs, player = state
        mine = mine | (self.one << (action & 15))
        again = action >= 64
        return (
            pick(again, mine, theirs),
            pick(again, theirs, mine),
            pick(again, player, player ^ self.one),
        )

    def result(self, state: Any) -> Any:
        mine, theirs, _player = state
        over = (mine | theirs) == self.full
        diff = popcount(mine) - popcount(theirs)
        return over, (1 * (diff > 0) - 1 * (diff < 0)) * over

    def board(self, state: Any) -> tuple[int, ...]:
        first, second = (state[0], state[1]) if state[2] == 0 else (state[1], state[0])
        return tuple((first >> i & 1) - (second >> i & 1) for i in range(16))
