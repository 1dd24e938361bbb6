"""What a trainer reports after every update."""

from dataclasses import dataclass


@dataclass(frozen=True)
class TrainingReport:
    """The state of a training after an update. Trainers add measurements of their own."""

    update: int
    loss: float
    epsilon: float  #: exploration rate of the games that were played for the update
    learning_rate: float
    results: list[int]  #: outcomes of the latest games for the learner: 1, 0 or -1
