"""Elo ratings by maximum likelihood of the Bradley-Terry model, with 95% intervals.

A player with rating r beats one with rating s with probability 1 / (1 + 10^((s - r) / 400)); a draw
is half a win. As a prior, one drawn game is added for every two players who have met, so that the
rating for a score of 100% is finite. The mean of all ratings is 0.

The two games of an opening depend on each other and count as one observation. The variance is
therefore estimated from the differences between openings (a sandwich estimator, clustered by
opening):

    H^-1 B H^-1,    H = sum of games * p (1 - p),    B = sum over openings of (points - expected)^2

each term times the outer product of the pair's contrast. With few openings B would be too small, so
it is averaged with two openings of binomial variance. If all openings end alike, B would also be
too small, so the drawn game of the prior counts as half a win and half a loss.
"""

import math
from collections import Counter
from collections.abc import Mapping
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

from zermelo.store.runs import Rating

if TYPE_CHECKING:
    import numpy as np

#: (half points of the lower-numbered player, games played) of an opening → number of openings
Openings = Counter[tuple[int, int]]
ELO = 400 / math.log(10)  #: the Elo points that multiply the odds of winning by e
_PRIOR = 1.0  # drawn games added for every two players who have met
_MIXED = 2.0  # openings with binomial variance added for each pair
_MAX_STEPS, _TOLERANCE = 200, 1e-10


def rate_players(num_players: int, by_pair: Mapping[tuple[int, int], Openings]) -> list[Rating]:
    """Return the rating of every player from the results by opening of each pair of players.

    >>> [round(r.rating) for r in rate_players(2, {(0, 1): Counter({(3, 2): 500})})]
    [95, -95]
    """
    import numpy as np

    pairs = [_Pair(*key, openings) for key, openings in by_pair.items() if openings]
    theta: Any = np.zeros(num_players)
    for _ in range(_MAX_STEPS):
        gradient, information, _ = _likelihood_terms(np.zeros, pairs, theta)
        step = np.linalg.pinv(information) @ gradient
        longest = float(np.abs(step).max(initial=0.0))
        theta += step / max(1.0, longest)  # far from the maximum, Newton's step overshoots
        if longest < _TOLERANCE:
            break
    theta -= theta.mean()
    _, information, variance = _likelihood_terms(np.zeros, pairs, theta)
    inverse = np.linalg.pinv(information)
    deviations = np.sqrt(np.diag(inverse @ variance @ inverse).clip(0))
    quantile = _student_quantile(sum(pair.num_openings for pair in pairs) + _MIXED - 1)
    ratings = []
    for player in range(num_players):
        rating, half = float(theta[player]) * ELO, float(deviations[player]) * quantile * ELO
        games = sum(pair.games for pair in pairs if player in (pair.one, pair.other))
        ratings.append(Rating(rating, rating - half, rating + half, games))
    return ratings


class _Pair:
    """The results of two players against each other, by opening."""

    def __init__(self, one: int, other: int, openings: Openings) -> None:
        self.one, self.other = one, other
        self.openings = openings
        self.num_openings = sum(openings.values())
        self.games = sum(games * often for (_, games), often in openings.items())
        self.points = sum(half * often for (half, _), often in openings.items()) / 2

    def variance(self, p: float) -> float:
        """Return the variance of the points if `p` is the probability of a win."""
        observed = sum(
            often * (half / 2 - games * p) ** 2 for (half, games), often in self.openings.items()
        )
        prior = _PRIOR * (p**2 + (1 - p) ** 2) / 2
        binomial = _MIXED * p * (1 - p) * self.games / self.num_openings
        return (observed + prior + binomial) * self.num_openings / (self.num_openings + _MIXED)


def _likelihood_terms(
    zeros: Any, pairs: list[_Pair], theta: "np.ndarray[Any, Any]"
) -> tuple[Any, Any, Any]:
    """Return the gradient of the log likelihood, the information H and the variance B."""
    size = len(theta)
    gradient, information, variance = zeros(size), zeros((size, size)), zeros((size, size))
    for pair in pairs:
        p = 1 / (1 + math.exp(theta[pair.other] - theta[pair.one]))
        contrast = zeros(size)
        contrast[pair.one], contrast[pair.other] = 1, -1
        square = contrast[:, None] * contrast
        games = pair.games + _PRIOR
        gradient += contrast * (pair.points + _PRIOR / 2 - games * p)
        information += square * games * p * (1 - p)
        variance += square * pair.variance(p)
    return gradient, information, variance


def _student_quantile(freedom: float) -> float:
    """Return the 97.5% quantile of Student's t distribution by the Cornish-Fisher expansion."""
    z = NormalDist().inv_cdf(0.975)
    return (
        z + (z**3 + z) / (4 * freedom) + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * freedom * freedom)
    )
