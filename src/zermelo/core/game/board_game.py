"""Games on boards above 64 cells, whose kernels work on an array of cells."""

from abc import abstractmethod
from typing import Any

from zermelo.core.game.mask_game import MaskGame
from zermelo.core.game.traversal import BoardTraversal


class BoardGame(BoardTraversal, MaskGame):
    """A game on a board above 64 cells: its kernels work on one padded array of cells.

    They make and unmake moves there, with `landing` and `judge`; ordinary code, no masks. The
    same methods run on a bytearray. A stone is 1 (first player) or 2, a free cell 0, and the
    border of one cell all around is 3.
    """

    cells: int  #: how many there are, without the border
    stride: int  #: from a cell to the one below it
    is_specialised: bool = False  #: as in WordGame

    @abstractmethod
    def to_padded_board(self, state: Any) -> bytearray:
        """The padded board of a state."""

    @abstractmethod
    def landing(self, cells: Any, action: Any) -> Any:
        """Where in the padded board an action puts its stone."""

    @abstractmethod
    def list_legal(self, cells: Any, moves: Any) -> Any:
        """Write the actions that can be played to `moves`; returns how many."""

    @abstractmethod
    def is_exhausted(self, cells: Any, action: Any) -> Any:
        """Whether an action just played cannot be played again."""

    @abstractmethod
    def result_after(self, cells: Any, at: Any, left: Any) -> Any:
        """`result` after the stone on `at`, with `left` free cells; value for the next mover."""
