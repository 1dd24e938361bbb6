"""The report that a trainer makes after every update."""

from dataclasses import dataclass


@dataclass(frozen=True)
class TrainingReport:
    """The state of a training run after an update. Each trainer adds its own measurements."""

    update: int
    loss: float
    epsilon: float  #: exploration rate in the games played for this update
    learning_rate: float
    results: list[int]  #: outcomes of the latest games for the learner: 1, 0 or -1
