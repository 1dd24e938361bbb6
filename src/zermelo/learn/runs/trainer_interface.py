"""The interface that a run requires of a trainer."""

from collections.abc import Iterator
from typing import Any, Protocol

import numpy as np

from zermelo.learn.batch.game_batch import GameBatch
from zermelo.learn.config.reports import TrainingReport
from zermelo.learn.networks.weights_file import Arrays


class Trainer(Protocol):
    """Trains a network or table by a recipe. Its random state is part of its checkpoints."""

    game_batch: GameBatch

    @property
    def updates(self) -> int:
        """The number of updates so far."""

    def steps(self) -> Iterator[TrainingReport]:
        """Run the remaining updates, and yield a report after each."""

    def values(self, states: np.ndarray) -> np.ndarray:
        """Return the Q values [state, action], computed with the weights used for play."""

    def export(self) -> tuple[Arrays, dict[str, Any]]:
        """Return the arrays and the metadata of the model that a player needs."""

    def to_arrays(self) -> tuple[Arrays, dict[str, Any]]:
        """Return the complete state of the training, as arrays and as metadata for JSON."""

    def load_arrays(self, arrays: Arrays, metadata: dict[str, Any]) -> None:
        """Restore the state that `to_arrays` returned; other keys of `metadata` are ignored."""

    def close(self) -> None:
        """Stop the actors, if there are any."""
