"""Weights of the line games' heuristic, fitted to exact values where those are known.

An estimate is 1000 times the x of tanh(x), the expected value of the side to move. The order is
that of `WordLineGame.features`, after a weight for being to move. `scripts/fit.py` makes them; of
that first weight a quarter is kept, so that estimates of odd and even depths agree better (in
matches of 60 games this was neither stronger nor weaker).
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from zermelo.games.lines.rules import LineGame

#: to move; lines that lack 1, 2, 3 stones; cells to avoid; winning cells in rows of one's parity
#: by rows, columns, win, lose and gravity
_FITTED = {
    (3, 3, 3, 0, False): (225, 918, 353, 0, 0, 0),
    (5, 5, 4, 3, False): (200, 1408, 310, 12, -344, 0),
    (6, 7, 4, 0, True): (185, 332, 231, 55, 0, 522),
    (6, 6, 4, 0, False): (345, 1490, 271, 83, 0, 0),
}
_OTHERS = (200, 813, 297, 91, -300, 300)  # those of 5x5x4, the last two by analogy


def weights(game: "LineGame") -> tuple[int, ...]:
    """Those of the game itself, or those that serve the family."""
    key = (game.rows, game.cols, game.win, game.lose, game.gravity)
    return _FITTED.get(key, _OTHERS)
