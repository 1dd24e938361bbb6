"""The report that a trainer makes after every update, and the error raised if it diverges."""

from dataclasses import dataclass

from zermelo.core.errors import ZermeloError


class TrainingDiverged(ZermeloError):
    """Raised when a number of a training run (the loss, a value or a weight) is NaN or infinite."""

    def __init__(self, recipe: str, number: str) -> None:
        super().__init__(f"{recipe}: {number} is not finite; try a lower learning.rate")


@dataclass(frozen=True)
class TrainingReport:
    """The state of a training run after an update. Each trainer adds its own measurements."""

    update: int
    loss: float
    epsilon: float  #: exploration rate in the games played for this update
    learning_rate: float
    #: results of the latest games: 1, 0 or -1 for the learner (AlphaZero: for the first player)
    results: list[int]
