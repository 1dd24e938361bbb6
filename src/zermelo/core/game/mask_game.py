"""Games whose legal actions are a bit mask: what small and large boards have in common."""

from abc import abstractmethod
from typing import Any, ClassVar

from zermelo.core.game.contract import Game
from zermelo.core.symmetry import Symmetry


class MaskGame(Game):
    """A game whose legal actions are a mask and whose states end with the player to move.

    A forced pass needs no bit: an empty mask in a game that is not over means that the only legal
    action is the last one, `num_actions - 1`.
    """

    #: this many entries at the start of a state are boards, which symmetries transform
    num_boards: ClassVar[int] = 2

    @abstractmethod
    def legal(self, state: Any) -> Any:
        """Return the legal actions of a game that is not over as a mask."""

    def player(self, state: Any) -> int:
        """Return the last entry of a state."""
        return int(state[-1])

    def null_move(self, state: Any) -> Any:
        """Return the same board with the other side to move, for games of two boards."""
        mine, theirs, *rest, player = state
        return (theirs, mine, *rest, 1 - player)

    def transform(self, state: Any, symmetry: Symmetry) -> Any:
        """Return the image of a state under a symmetry."""
        boards = (symmetry.transform(board) for board in state[: self.num_boards])
        return (*boards, *state[self.num_boards :])

    def actions(self, state: Any) -> list[int]:
        """Return the legal actions in ascending order; empty when the game is over."""
        if self.result(state)[0]:
            return []
        mask = self.legal(state)
        return [a for a in range(self.num_actions) if mask >> a & 1] or [self.num_actions - 1]
