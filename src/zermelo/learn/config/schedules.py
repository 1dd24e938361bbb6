"""Schedules: numbers that change in the course of a training run."""

from dataclasses import dataclass


@dataclass(frozen=True)
class LinearSchedule:
    """Interpolates linearly from `begin` to `end`, then stays at `end`.

    >>> schedule = LinearSchedule(1.0, 0.0, until=0.5)
    >>> schedule(0.0), schedule(0.25), schedule(0.9)
    (1.0, 0.5, 0.0)
    """

    begin: float
    end: float
    until: float = 1.0  #: the fraction of the training after which `end` is reached

    def __call__(self, progress: float) -> float:
        """Return the value when the fraction `progress` of the training is complete."""
        share = min(1.0, max(0.0, progress) / self.until)
        return self.begin + share * (self.end - self.begin)
