"""Games on boards of more than 64 cells, whose kernels work on an array of cells."""

from abc import abstractmethod
from typing import Any

from zermelo.core.game.mask_game import MaskGame
from zermelo.core.game.traversal import BoardTraversal


class BoardGame(BoardTraversal, MaskGame):
    """A game whose kernels make and unmake moves on one padded array of cells.

    The methods below are ordinary code without masks; they also run on a bytearray. A stone is 1
    (first player) or 2 (second player), a free cell is 0, and the border, one cell wide, is 3.
    Indices refer to the padded board.
    """

    cells: int  #: the number of cells without the border
    stride: int  #: the difference between the indices of a cell and of the cell below it
    is_specialised: bool = False  #: see `WordGame.is_specialised`

    @abstractmethod
    def to_padded_board(self, state: Any) -> bytearray:
        """Return the padded board of a state."""

    @abstractmethod
    def landing(self, cells: Any, action: Any) -> Any:
        """Return the index of the cell where an action puts its stone."""

    @abstractmethod
    def list_legal(self, cells: Any, moves: Any) -> Any:
        """Write the legal actions to `moves` and return their number."""

    @abstractmethod
    def is_exhausted(self, cells: Any, action: Any) -> Any:
        """Return whether an action that was just played cannot be played again."""

    @abstractmethod
    def result_after(self, cells: Any, at: Any, left: Any) -> Any:
        """Return (is_over, value) after a stone was put at index `at`; `left` cells are free."""
