"""Line games up to 64 cells, whose states are words: the rules of the family, compiled.

A window is a run of cells where a line can be. What the solver knows about these games without
search is in `tactics`.
"""

from typing import Any, ClassVar

from zermelo.core.bitboard import WORD_BITS, Word, word
from zermelo.core.errors import BadSpec
from zermelo.core.game import SolverHooks, WordGame
from zermelo.games.geometry import window_masks
from zermelo.games.lines.rules import LineGame
from zermelo.games.lines.tactics import LineTactics


class WordLineGame(LineGame, WordGame):
    """A game of the family on a board of up to 64 cells."""

    hooks_class: ClassVar[type[SolverHooks]] = LineTactics
    rows: int
    cells: int
    win: int
    win_windows: tuple[tuple[Word, Word], ...]  # [direction]: the first cells of lines, the step
    lose_windows: tuple[tuple[Word, Word], ...]

    def __init__(self, *sizes: int, is_specialised: bool = False, **rules: Any) -> None:
        super().__init__(*sizes, **rules)
        if self.grid.size > WORD_BITS:
            msg = f"{self.grid} has {self.grid.size} cells: a word holds {WORD_BITS}"
            raise BadSpec(msg)
        self.is_specialised = is_specialised
        self.cells = self.grid.size
        self.is_layered = not self.pie  # a swap adds no stone
        self.win_windows = window_masks(self.grid, self.win)
        self.lose_windows = window_masks(self.grid, self.lose or 2)

    def room(self, mine: Any, theirs: Any) -> Any:
        """The free cells, and those of them that a stone can go to."""
        stones = mine | theirs
        free = self.full ^ stones
        if self.gravity:
            return free, free & (((stones >> self.cols) & self.full) | self.bottom)
        return free, free

    def gaps(self, stones: Any, windows: Any, length: Any) -> Any:
        """The cells that would complete a line of `length`, stones of the line itself included."""
        found = self.none
        for begin, step in windows:
            for gap in range(length):
                whole = begin
                for other in range(length):
                    if other != gap:
                        whole = whole & (stones >> (step * word(other)))
                found = found | (whole << (step * word(gap)))
        return found
