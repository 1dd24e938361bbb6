"""Schedules: numbers that change in the course of a training."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Linear:
    """From one number to another in a straight line, and there it stays.

    >>> falling = Linear(1.0, 0.0, until=0.5)
    >>> falling(0.0), falling(0.25), falling(0.9)
    (1.0, 0.5, 0.0)
    """

    begin: float
    end: float
    until: float = 1.0  #: the share of the whole after which it stays

    def __call__(self, done: float) -> float:
        """At a share of the whole."""
        share = min(1.0, max(0.0, done) / self.until)
        return self.begin + share * (self.end - self.begin)
