"""Ratings: Elo by maximum likelihood of the Bradley-Terry model, with honest intervals.

A player of rating r beats one of rating s with the chance 1 / (1 + 10^((s - r) / 400)); a draw is
half a win. Prior: every two players who met have also drawn one game, so that a score of 100%
stays finite. The mean of all players is 0.

The two games of an opening are one observation, for they depend on each other. So the variance is
not that of a coin but the one seen among openings (a sandwich, clustered by opening):

    H^-1 B H^-1,    H = sum of games * p (1 - p),    B = sum over openings of (points - expected)^2

each times the outer product of the pair's contrast. Where there are few openings, or no variety
among them, B would be too small. Two openings with the variance of coins are mixed in for the
first, and for the second the drawn game of the prior counts as half a win and half a loss.
"""

import math
from collections import Counter
from collections.abc import Mapping
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

from zermelo.store.runs import Rating

if TYPE_CHECKING:
    import numpy as np

#: of two players' openings: (half points of the lower-numbered one, games) and how often
Openings = Counter[tuple[int, int]]
ELO = 400 / math.log(10)  #: points of a factor e in the odds
_PRIOR = 1.0  # drawn games of each two who met
_MIXED = 2.0  # openings with the variance of coins
_STEPS, _CLOSE = 200, 1e-10


def rate(num_players: int, met: Mapping[tuple[int, int], Openings]) -> list[Rating]:
    """The ratings of players by number, from their openings with each other.

    >>> [round(r.rating) for r in rate(2, {(0, 1): Counter({(3, 2): 500})})]
    [95, -95]
    """
    import numpy as np

    pairs = [_Pair(*key, openings) for key, openings in met.items() if openings]
    theta: Any = np.zeros(num_players)
    for _ in range(_STEPS):
        gradient, bend, _ = _sums(np.zeros, pairs, theta)
        step = np.linalg.pinv(bend) @ gradient
        longest = float(np.abs(step).max(initial=0.0))
        theta += step / max(1.0, longest)  # from afar Newton's step leads too far
        if longest < _CLOSE:
            break
    theta -= theta.mean()
    _, bend, spread = _sums(np.zeros, pairs, theta)
    inverse = np.linalg.pinv(bend)
    deviations = np.sqrt(np.diag(inverse @ spread @ inverse).clip(0))
    width = _quantile(sum(pair.num_openings for pair in pairs) + _MIXED - 1)
    rated = []
    for player in range(num_players):
        middle, half = float(theta[player]) * ELO, float(deviations[player]) * width * ELO
        games = sum(pair.games for pair in pairs if player in (pair.one, pair.other))
        rated.append(Rating(middle, middle - half, middle + half, games))
    return rated


class _Pair:
    """What two players have played."""

    def __init__(self, one: int, other: int, openings: Openings) -> None:
        self.one, self.other = one, other
        self.openings = openings
        self.num_openings = sum(openings.values())
        self.games = sum(games * often for (_, games), often in openings.items())
        self.points = sum(half * often for (half, _), often in openings.items()) / 2

    def variance(self, p: float) -> float:
        """Of the points, given the chance p of a win."""
        seen = sum(
            often * (half / 2 - games * p) ** 2 for (half, games), often in self.openings.items()
        )
        prior = _PRIOR * (p**2 + (1 - p) ** 2) / 2
        coins = _MIXED * p * (1 - p) * self.games / self.num_openings
        return (seen + prior + coins) * self.num_openings / (self.num_openings + _MIXED)


def _sums(zeros: Any, pairs: list[_Pair], theta: "np.ndarray[Any, Any]") -> tuple[Any, Any, Any]:
    """Of the log likelihood: gradient, information H; and the variance B of the gradient."""
    size = len(theta)
    gradient, bend, spread = zeros(size), zeros((size, size)), zeros((size, size))
    for pair in pairs:
        p = 1 / (1 + math.exp(theta[pair.other] - theta[pair.one]))
        contrast = zeros(size)
        contrast[pair.one], contrast[pair.other] = 1, -1
        square = contrast[:, None] * contrast
        games = pair.games + _PRIOR
        gradient += contrast * (pair.points + _PRIOR / 2 - games * p)
        bend += square * games * p * (1 - p)
        spread += square * pair.variance(p)
    return gradient, bend, spread


def _quantile(freedom: float) -> float:
    """Of Student's distribution, 97.5%: Cornish and Fisher's expansion about the normal one."""
    z = NormalDist().inv_cdf(0.975)
    return (
        z + (z**3 + z) / (4 * freedom) + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * freedom * freedom)
    )
