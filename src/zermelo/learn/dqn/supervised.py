"""Supervised: a network told what every move is worth. Not learning to play, but its upper bound.

The labels are exact, from all states of a small game: a transition whose return is the move's value
and behind which nothing counts. So the learner, its loss and its network are those of `dqn`.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from zermelo.core.errors import BadSpec
from zermelo.core.game import WordGame
from zermelo.grading.graph import Graph
from zermelo.learn.batch.replay import Batch, Transitions
from zermelo.learn.config.recipes import Recipe
from zermelo.learn.dqn import learner as dqn
from zermelo.learn.dqn.trainer import learner_arrays, learner_for, load_learner
from zermelo.learn.networks.q_network import exported


class Supervised:
    """A network and its labels."""

    def __init__(
        self, recipe: Recipe, game: WordGame, rng: np.random.Generator, device: str = "cpu"
    ) -> None:
        self.learner = learner_for(recipe, game, device)
        self.many, self.rng, self.labels = self.learner.many, rng, labels(game)

    @property
    def updates(self) -> int:
        """How many are done."""
        return self.learner.updates

    def steps(self) -> Iterator[dqn.Report]:
        """A batch of labels each."""
        settings = self.learner.settings
        weights = np.ones(settings.batch, np.float32)
        while self.updates < settings.updates:
            rate = settings.rate(self.updates / settings.updates)
            places = self.rng.integers(0, len(self.labels.actions), settings.batch)
            drawn = Transitions(*(column[places] for column in self.labels))
            loss, _, _ = self.learner.learn(Batch(drawn, places, weights), rate)
            yield dqn.Report(self.updates, loss, float(drawn.returns.mean()), 0.0, rate, [])

    def close(self) -> None:
        """Nobody plays for it."""

    def values(self, states: Any) -> Any:
        """By the average of the weights."""
        return self.learner.values(states, self.learner.average)

    def exported(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """The same weights."""
        return exported(self.learner.average), self.learner.net.shape.to_json()

    def to_arrays(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """The labels are made anew."""
        about = {"updates": self.updates, "dice": self.rng.bit_generator.state}
        return {k: np.ascontiguousarray(a) for k, a in learner_arrays(self.learner).items()}, about

    def load_arrays(self, arrays: dict[str, Any], about: dict[str, Any]) -> None:
        """As it was."""
        load_learner(self.learner, arrays, int(about["updates"]))
        self.rng.bit_generator.state = about["dice"]


def labels(game: WordGame) -> Transitions:
    """Every move of every state that is not over, with its exact value."""
    graph = Graph.of(game)
    if graph is None:
        msg = f"{game.spec} has too many states: labels are for small games"
        raise BadSpec(msg)
    rows = [
        (state, action, value)
        for state in graph.running
        for action, value in graph.judge(state).values.items()
    ]
    states, actions, values = (list(column) for column in zip(*rows, strict=True))
    here = np.array(states, np.uint64)
    nothing = np.zeros(len(rows), np.float32)
    return Transitions(here, np.array(actions), np.array(values, np.float32), nothing, here)
