"""Games in plain Python with moves from cell to cell, with extra turns, and without a grid."""

from support.paths import ROOT

_FOLDER = ROOT / "tests" / "support" / "games"
#: pieces move from one cell to another
BREAKTHROUGH = str(_FOLDER / "breakthrough.py")
#: extra turns, scores and no grid
BOXES = str(_FOLDER / "boxes.py")
#: two moves with the same cells, and a move without cells
PROMOTION = str(_FOLDER / "promotion.py")

#: a game of Breakthrough that X wins by reaching the far row, as pairs of cells
BREAKTHROUGH_WIN = ("b5b4", "f2f3", "b4b3", "f3f4", "b3a2", "e2e3", "a2b1")
#: a game of Boxes that O wins, 3 to 1: O completes a box with the 4th, 7th and 10th move
BOXES_WIN = (
    *("a1b1", "a1a2", "b1b2", "a2b2", "b1c1", "b2c2", "c1c2", "a2a3", "b2b3", "a3b3", "c2c3"),
    "b3c3",
)
BOXES_MOVERS = [0, 1, 0, 1, 1, 0, 1, 1, 0, 1, 1, 0]
