"""The report that every trainer yields after an update."""

from dataclasses import dataclass


@dataclass(kw_only=True)
class TrainingReport:
    """The state of a training after one update; trainers add fields of their own."""

    update: int  #: updates so far, this one included
    loss: float
    learning_rate: float
    epsilon: float = 0.0  #: the share of random moves in self-play
    results: list[int]  #: of the latest games, at most 100: 1, 0 or -1 for the learner
