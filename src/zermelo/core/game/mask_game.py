"""Games whose legal actions are a mask: what small and large boards have in common."""

from abc import abstractmethod
from typing import Any, ClassVar

from zermelo.core.bitboard import bits
from zermelo.core.game.contract import Game
from zermelo.core.symmetry import Symmetry


class MaskGame(Game):
    """A game whose legal actions are a mask and whose states end with the player to move.

    A forced pass needs no bit: while the game runs, an empty mask means that the only action
    is the last, `num_actions - 1`.
    """

    #: the first so many entries of a state are boards, which symmetries move; the rest stay
    num_boards: ClassVar[int] = 2

    @abstractmethod
    def legal(self, state: Any) -> Any:
        """The legal actions as a mask, while the game runs; what it says afterwards is unused."""

    def player(self, state: Any) -> int:
        """The last entry of a state."""
        return int(state[-1])

    def null_move(self, state: Any) -> Any:
        """The same board with the other side to move, for games of two boards and a player."""
        mine, theirs, *rest, player = state
        return (theirs, mine, *rest, 1 - player)

    def transform(self, state: Any, symmetry: Symmetry) -> Any:
        """A state as a symmetry moves it."""
        boards = (symmetry.transform(board) for board in state[: self.num_boards])
        return (*boards, *state[self.num_boards :])

    def actions(self, state: Any) -> list[int]:
        """The legal actions, rising."""
        if self.result(state)[0]:
            return []
        return bits(self.legal(state)) or [self.num_actions - 1]
