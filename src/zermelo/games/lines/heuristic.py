"""The weights of the line games' evaluation, fitted to exact values by `scripts/fit.py`.

An estimate is 1000 times x, where tanh(x) is the expected value for the side to move. The first
weight is for being the side to move; the others are in the order of `LineTactics.features`. Only a
quarter of the fitted first weight is used, which brings estimates at odd and even depths closer
together; in matches of 60 games this made play neither stronger nor weaker.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from zermelo.games.lines.rules import LineGame

# (rows, cols, win, lose, gravity) → the weights of being to move; of lines that lack 1, 2 and 3
# stones; of cells where the side would lose; and of winning cells in rows of the side's parity
_FITTED = {
    (3, 3, 3, 0, False): (225, 918, 353, 0, 0, 0),
    (5, 5, 4, 3, False): (200, 1408, 310, 12, -344, 0),
    (6, 7, 4, 0, True): (185, 332, 231, 55, 0, 522),
    (6, 6, 4, 0, False): (345, 1490, 271, 83, 0, 0),
}
_DEFAULT = (200, 813, 297, 91, -300, 300)  # fitted to 5x5x4; the last two are not fitted


def weights_for(game: "LineGame") -> tuple[int, ...]:
    """Return the weights that were fitted to a game, or default weights if there are none."""
    key = (game.rows, game.cols, game.win, game.lose, game.gravity)
    return _FITTED.get(key, _DEFAULT)
