"""Games whose states are tuples of 64-bit words, so that their rules compile."""

import copy
import functools
from typing import Any, ClassVar

from zermelo.core.bitboard import WORD_BITS, Word
from zermelo.core.game.mask_game import MaskGame
from zermelo.core.game.solver_hooks import SolverHooks
from zermelo.core.game.traversal import WordTraversal
from zermelo.core.symmetry import transform_word


class WordGame(WordTraversal, MaskGame):
    """A game whose state is a tuple of words, so that its rules compile to native code.

    Write `legal`, `play` and `result` with words only (see `zermelo.core.bitboard`), and annotate
    every constant that they read: `Word` for boards, `int` for counts, `bool` for switches. There
    are at most 64 actions, not counting a forced pass.
    """

    num_words: ClassVar[int] = 3  #: the number of words in a state
    #: whether a state determines its ply, as in games where every move adds a stone
    is_layered: bool = False
    #: whether constants are compiled into the code; if not, all games of a class share the code
    is_specialised: bool = True
    #: whether both sides have the same goals and moves; if not, networks also see the side to move
    has_equal_sides: bool = True
    num_planes: ClassVar[int] = 2  #: the number of words that `planes` returns
    #: the class of `hooks`
    hooks_class: ClassVar[type[SolverHooks]] = SolverHooks

    @functools.cached_property
    def hooks(self) -> SolverHooks:
        """The solver hooks: what the solver knows about this game without search."""
        return self.hooks_class(self)

    @property
    def plane_shape(self) -> tuple[int, int]:
        """The rows and columns of a plane: those of the grid; (1, 64) for a game without a grid."""
        return (self.grid.rows, self.grid.cols) if self.grid else (1, WORD_BITS)

    def planes(self, state: tuple[Word, ...]) -> tuple[Word, ...]:
        """Return the boards that networks see, as words, from the mover's point of view.

        The default returns the first two words. It suits only games that store the stones of the
        side to move in the first word and those of the other side in the second; other games
        must override this method.
        """
        return state[:2]

    def as_planes(self, planes: tuple[Word, ...]) -> tuple[Word, ...]:
        """Convert each plane back to a word; like `as_words`, only compiled code needs this."""
        return planes

    def load(self, states: Any, row: int) -> tuple[Word, ...]:
        """Return the state at the start of this array row; compiled code has its own version."""
        return tuple(int(x) for x in states[row, : self.num_words])

    def store(self, states: Any, row: int, state: tuple[Word, ...]) -> None:
        """Write a state to the start of this array row; compiled code has its own version."""
        states[row, : self.num_words] = state

    def as_words(self, state: tuple[Word, ...]) -> tuple[Word, ...]:
        """Convert each element of a state back to a word, whatever types the rules produced.

        Only compiled code needs this conversion; the compiler generates its own version.
        """
        return state

    def transform_by_table(self, state: tuple[Word, ...], table: Any) -> tuple[Word, ...]:
        """Return the image of a state under the symmetry with this byte table.

        The compiler generates its own version.
        """
        boards = (transform_word(board, table) for board in state[: self.num_boards])
        return (*boards, *state[self.num_boards :])

    def to_signed(self) -> "WordGame":
        """Return a copy of this game with constants for int64 tensors, where bit 63 is the sign."""
        twin = copy.copy(self)
        vars(twin).pop("hooks", None)  # the hooks belong to this game, not to its twin
        for name, value in vars(twin).items():
            object.__setattr__(twin, name, _signed(value))
        return twin


def _signed(value: Any) -> Any:
    if isinstance(value, tuple):
        return tuple(_signed(item) for item in value)
    if isinstance(value, int) and value >> (WORD_BITS - 1) == 1:
        return value - (1 << WORD_BITS)
    return value
