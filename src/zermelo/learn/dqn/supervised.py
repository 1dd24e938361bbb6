"""Supervised learning of exact values, as an upper bound for what learning by play can reach.

There is a label for every move in every state of a small game. A label is a transition whose return
is the exact value of the move and whose discount is 0, so `learner.py` can learn from it.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from zermelo.core.errors import BadSpec
from zermelo.core.game import WordGame
from zermelo.grading.graph import GameGraph
from zermelo.learn.batch.replay import ReplayBatch, Transitions
from zermelo.learn.config.recipe import Recipe
from zermelo.learn.config.reports import TrainingReport
from zermelo.learn.dqn.trainer import (
    create_learner,
    export_learner,
    learner_to_arrays,
    load_learner,
)
from zermelo.learn.networks.weights_file import Arrays

_RNG_STATE = "dice"  # the key of the random state in the metadata of checkpoints


class SupervisedTrainer:
    """Trains a Q network on the exact values of all moves."""

    def __init__(self, recipe: Recipe, game: WordGame, seed: int, device: str = "cpu") -> None:
        self.rng = np.random.default_rng(seed)
        self.learner = create_learner(recipe, game, device)
        self.game_batch, self.labels = self.learner.game_batch, exact_labels(game)

    @property
    def updates(self) -> int:
        """The number of updates so far."""
        return self.learner.updates

    def steps(self) -> Iterator[TrainingReport]:
        """Make all remaining updates, each on a batch of labels, and yield a report after each."""
        config = self.learner.config
        weights = np.ones(config.batch, np.float32)
        while self.updates < config.updates:
            rate = config.rate(self.updates / config.updates)
            rows = self.rng.integers(0, len(self.labels.actions), config.batch)
            transitions = Transitions(*(column[rows] for column in self.labels))
            loss, _, _ = self.learner.update(ReplayBatch(transitions, rows, weights), rate)
            yield TrainingReport(self.updates, loss, 0.0, rate, [])

    def close(self) -> None:
        """Do nothing: there are no actors to stop."""

    def values(self, states: np.ndarray) -> np.ndarray:
        """Return the Q values [state, action], computed with the averaged weights."""
        return self.learner.values(states, self.learner.average_net)

    def export(self) -> tuple[Arrays, dict[str, Any]]:
        """Return the averaged weights for play, and the shape of the network."""
        return export_learner(self.learner)

    def to_arrays(self) -> tuple[Arrays, dict[str, Any]]:
        """Return the complete state of the training, except the labels."""
        arrays = learner_to_arrays(self.learner)
        metadata = {"updates": self.updates, _RNG_STATE: self.rng.bit_generator.state}
        return {name: np.ascontiguousarray(array) for name, array in arrays.items()}, metadata

    def load_arrays(self, arrays: Arrays, metadata: dict[str, Any]) -> None:
        """Restore the state that `to_arrays` returned."""
        load_learner(self.learner, arrays, int(metadata["updates"]))
        self.rng.bit_generator.state = metadata[_RNG_STATE]


def exact_labels(game: WordGame) -> Transitions:
    """Return a transition for each move in each nonterminal state; its return is the exact value.

    Raise BadSpec if the game has too many states to enumerate.
    """
    graph = GameGraph.build(game)
    if graph is None:
        msg = f"{game.spec} has too many states: supervised learning is for small games"
        raise BadSpec(msg)
    labels = [
        (state, action, value)
        for state in graph.nonterminal
        for action, value in graph.evaluate_moves(state).by_action.items()
    ]
    states, actions, values = (list(column) for column in zip(*labels, strict=True))
    words = np.array(states, np.uint64)
    discounts = np.zeros(len(labels), np.float32)
    return Transitions(words, np.array(actions), np.array(values, np.float32), discounts, words)
