"""A sequential probability ratio test between two hypotheses about the difference in Elo.

This is the generalised test on pairs of games (Van den Bergh; used by Fishtest): the two games of
an opening, one from each side, score 0, 1/2, 1, 3/2 or 2 points in all, and the likelihood of the
observed scores is maximised over all distributions with the mean that a hypothesis implies.
"""

import math

ERROR = 0.05  #: probability of a type I error, and of a type II error
BOUND = math.log((1 - ERROR) / ERROR)  #: absolute log likelihood ratio that ends the test
_PSEUDO_COUNT = 1e-3  # the count used for scores that were never observed
_SCORES = (0.0, 0.25, 0.5, 0.75, 1.0)
_BISECTIONS = 60


class SequentialTest:
    """Tests whether the first player is better than the second by `elo1` rather than `elo0`."""

    def __init__(self, elo0: float, elo1: float) -> None:
        self._means = expected_score(elo0), expected_score(elo1)
        self.counts = [0] * len(_SCORES)  #: openings by the first player's half points

    def add(self, half_points: int) -> None:
        """Add an opening: the first player's half points from its two games, one from each side."""
        self.counts[half_points] += 1

    @property
    def llr(self) -> float:
        """The log likelihood ratio; if it is above 0, the games favour `elo1` over `elo0`.

        >>> test = SequentialTest(0, 50)
        >>> for _ in range(25): test.add(4)
        >>> round(test.llr, 1), test.accepted
        (3.3, 1)
        """
        number = sum(self.counts)
        if not number:
            return 0.0
        counts = [max(count, _PSEUDO_COUNT) for count in self.counts]
        observed = [count / sum(counts) for count in counts]
        under_0, under_1 = (_most_likely(observed, mean) for mean in self._means)
        terms = (p * math.log(b / a) for p, a, b in zip(observed, under_0, under_1, strict=True))
        return number * sum(terms)

    @property
    def accepted(self) -> int | None:
        """The number of the accepted hypothesis, 0 or 1, or None if the test is undecided."""
        llr = self.llr
        return None if abs(llr) < BOUND else int(llr > 0)


def expected_score(elo: float) -> float:
    """Return the expected score of a player who is better by this many Elo points."""
    return 1 / (1 + 10 ** (-elo / 400))


def _most_likely(observed: list[float], mean: float) -> list[float]:
    """Return the most likely distribution of scores with a given mean.

    It is observed / (1 + t (score - mean)), where t makes the sum of p (score - mean) zero. The sum
    decreases in t, and t lies between the values at which the denominator of the best or worst
    score is 0, so bisection finds it.
    """
    low, high = -1 / (max(_SCORES) - mean), -1 / (min(_SCORES) - mean)
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2
        excess = sum(
            p * (score - mean) / (1 + middle * (score - mean))
            for p, score in zip(observed, _SCORES, strict=True)
        )
        low, high = (middle, high) if excess > 0 else (low, middle)
    return [p / (1 + low * (score - mean)) for p, score in zip(observed, _SCORES, strict=True)]
