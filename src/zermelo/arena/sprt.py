"""The sequential test: stop as soon as the games say which of two differences in Elo is likelier.

The generalised sequential probability ratio test on pairs of games (Van den Bergh; as used by
Fishtest): an opening played from both sides scores 0, 1/2, 1, 3/2 or 2 points, and the likelihood
of what was seen is maximised among all distributions with the mean that a hypothesis says.
"""

import math

ERROR = 0.05  #: of either kind
BOUND = math.log((1 - ERROR) / ERROR)  #: the log likelihood ratio that decides
_PSEUDO = 1e-3  # how often what was never seen counts as seen
_SCORES = (0.0, 0.25, 0.5, 0.75, 1.0)
_HALVINGS = 60


class SequentialTest:
    """Whether the first player is better than the second by `elo1` rather than `elo0`."""

    def __init__(self, elo0: float, elo1: float) -> None:
        self._means = expected(elo0), expected(elo1)
        self.counts = [0] * len(_SCORES)  #: of openings, by half points

    def add(self, half_points: int) -> None:
        """One opening, from both sides: the first player's points, times 2."""
        self.counts[half_points] += 1

    @property
    def llr(self) -> float:
        """The log likelihood ratio: above 0 the games speak for `elo1`.

        >>> test = SequentialTest(0, 50)
        >>> for _ in range(25): test.add(4)
        >>> round(test.llr, 1), test.accepted
        (3.3, 1)
        """
        number = sum(self.counts)
        if not number:
            return 0.0
        seen = [max(count, _PSEUDO) for count in self.counts]
        shares = [count / sum(seen) for count in seen]
        zero, one = (_tilted(shares, mean) for mean in self._means)
        terms = (share * math.log(b / a) for share, a, b in zip(shares, zero, one, strict=True))
        return number * sum(terms)

    @property
    def accepted(self) -> int | None:
        """0 or 1 for the hypothesis that stands, None while it is open."""
        llr = self.llr
        return None if abs(llr) < BOUND else int(llr > 0)


def expected(elo: float) -> float:
    """The score of a player who is better by so much."""
    return 1 / (1 + 10 ** (-elo / 400))


def _tilted(shares: list[float], mean: float) -> list[float]:
    """The likeliest distribution of scores with a given mean, when `shares` were seen.

    It is shares / (1 + t (score - mean)); the t with sum of p (score - mean) = 0 lies between the
    values at which the best or the worst score would have no chance left, and the sum falls in t.
    """
    low, high = -1 / (max(_SCORES) - mean), -1 / (min(_SCORES) - mean)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        off = sum(
            share * (score - mean) / (1 + middle * (score - mean))
            for share, score in zip(shares, _SCORES, strict=True)
        )
        low, high = (middle, high) if off > 0 else (low, middle)
    return [
        share / (1 + low * (score - mean)) for share, score in zip(shares, _SCORES, strict=True)
    ]
