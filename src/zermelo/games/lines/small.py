"""Line games on up to 64 cells, whose states are 64-bit words, so that their rules compile.

A window is a run of adjacent cells in which a line can lie. `tactics` contains the solver hooks of
these games.
"""

from typing import Any, ClassVar

from zermelo.core.bitboard import WORD_BITS, Word, word
from zermelo.core.errors import BadSpec
from zermelo.core.game import SolverHooks, WordGame
from zermelo.games.geometry import window_masks
from zermelo.games.lines.rules import LineGame
from zermelo.games.lines.tactics import LineTactics


class WordLineGame(LineGame, WordGame):
    """A line game on a board of up to 64 cells."""

    hooks_class: ClassVar[type[SolverHooks]] = LineTactics
    rows: int
    cells: int
    win: int
    win_windows: tuple[tuple[Word, Word], ...]  # [direction]: see `window_masks`
    lose_windows: tuple[tuple[Word, Word], ...]

    def __init__(self, *sizes: int, is_specialised: bool = False, **rules: Any) -> None:
        super().__init__(*sizes, **rules)
        if self.grid.size > WORD_BITS:
            msg = f"{self.grid} has {self.grid.size} cells: a WordLineGame has at most {WORD_BITS}"
            raise BadSpec(msg)
        self.is_specialised = is_specialised
        self.cells = self.grid.size
        self.is_layered = not self.pie  # a swap adds no stone
        self.win_windows = window_masks(self.grid, self.win)
        self.lose_windows = window_masks(self.grid, self.lose or 2)

    def free_and_playable(self, mine: Any, theirs: Any) -> Any:
        """Return (free cells, playable cells); they differ only with gravity."""
        stones = mine | theirs
        free = self.full ^ stones
        if self.gravity:
            return free, free & (((stones >> self.cols) & self.full) | self.bottom)
        return free, free

    def completing_cells(self, stones: Any, windows: Any, length: Any) -> Any:
        """Return a mask of the cells that complete a window, whose other cells are all in `stones`.

        Such a cell may be free or taken. `windows` must be the windows of this `length`.
        """
        cells = self.none
        for firsts, step in windows:
            for gap in range(length):
                line = firsts
                for place in range(length):
                    if place != gap:
                        line = line & (stones >> (step * word(place)))
                cells = cells | (line << (step * word(gap)))
        return cells
