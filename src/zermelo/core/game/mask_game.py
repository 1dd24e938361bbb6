"""Games whose legal actions are a bit mask: the common base of small and large boards."""

from abc import abstractmethod
from typing import Any, ClassVar

from zermelo.core.game.action_masks import ActionMasks
from zermelo.core.game.contract import Game
from zermelo.core.symmetry import Symmetry


class MaskGame(ActionMasks, Game):
    """A game whose legal actions are a mask and whose states end with the player to move.

    With more than 64 actions, the mask of a bitboard game is a tuple of words: see `ActionMasks`.

    A forced pass needs no bit: an empty mask in a game that is not over means that the only legal
    action is the last one, `num_actions - 1`.
    """

    #: the number of bitboards at the start of a state; symmetries transform only these
    num_boards: ClassVar[int] = 2

    @abstractmethod
    def legal(self, state: Any) -> Any:
        """Return the legal actions as a mask; the game must not be over."""

    def player(self, state: Any) -> int:
        """Return the side to move, which is the last element of the state's tuple."""
        return int(state[-1])

    def turn_sign(self, state: Any, child: Any) -> Any:
        """Return 1 if the same side is to move in a state and in its child, otherwise -1.

        Kernels call this version, which compares the last elements of the two states.
        """
        if self.is_alternating:
            return -1
        return 1 if state[-1] == child[-1] else -1

    def _legal_bits(self, state: Any) -> int:
        """Return the legal actions as one Python int, however many words the mask has."""
        mask = self.legal(state)
        return self.join_mask(mask) if isinstance(mask, tuple) else int(mask)

    def null_move(self, state: Any) -> Any:
        """Return the same position with the other side to move; states must have two boards."""
        mine, theirs, *rest, player = state
        return (theirs, mine, *rest, 1 - player)

    def transform(self, state: Any, symmetry: Symmetry) -> Any:
        """Return the image of a state under a symmetry."""
        boards = (symmetry.transform(board) for board in state[: self.num_boards])
        return (*boards, *state[self.num_boards :])

    def is_legal(self, state: Any, action: int) -> bool:
        """Return whether an action is legal, without listing all legal actions."""
        if self.result(state)[0]:
            return False
        mask = self._legal_bits(state)
        return bool(mask >> action & 1) if mask else action == self.num_actions - 1

    def actions(self, state: Any) -> list[int]:
        """Return the legal actions in ascending order; empty when the game is over."""
        if self.result(state)[0]:
            return []
        mask = self._legal_bits(state)
        return [a for a in range(self.num_actions) if mask >> a & 1] or [self.num_actions - 1]
