"""Games that a crew plays for a learner of Q: what it sends for and what comes back.

`Sent` stands where `Acting` stands when a learner plays for itself. A chunk holds so many moves of
so many games, from their beginnings, and hands them out move by move, so that a learner learns as
often as it would alone. A game that is not over at the end of a chunk is not gone on with.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from zermelo.core.game import WordGame
from zermelo.learn.actors.protocol import Arrays, Crew, Harvest, Order
from zermelo.learn.batch.game_batch import Many
from zermelo.learn.batch.opponents import opponents_for
from zermelo.learn.batch.replay import Transitions
from zermelo.learn.dqn.selfplay import Policy

if TYPE_CHECKING:
    from zermelo.learn.config.recipes import Recipe

_LEAST = 64  # moves of a chunk in every game


class Sent:
    """Transitions from a crew, as `Acting` gives them."""

    def __init__(self, recipe: "Recipe", crew: Crew, seed: int) -> None:
        self._crew, self._seed = crew, seed
        self._every = recipe.keeping.checkpoint
        self._updates = recipe.learning.updates
        self._harvest: Harvest | None = None
        self._moves: list[Transitions] = []  # of the chunk, those still to be handed out
        self._done = 0.0
        self.finished: list[int] = []  #: how the last games ended for the learner: 1, 0, -1

    def begin(self, weights: Callable[[], Arrays]) -> None:
        """With the weights of this learner."""
        self._harvest = Harvest(self._crew, weights, self._seed)

    def fade(self, done: float) -> None:
        """How much of the training is over; after a checkpoint nothing older comes any more."""
        assert self._harvest is not None
        update = round(done * self._updates)
        if update and update % self._every == 0 and done != self._done:
            self._moves = []
            self._harvest.restart()
        self._done = done

    def step(self, learner: Policy, opponent: Policy | None, epsilon: float) -> Transitions:
        """A move in every game of the crew's; who chooses there is known there."""
        del learner, opponent, epsilon
        assert self._harvest is not None
        if not self._moves:
            chunk = self._harvest.next(self._done)
            self._moves = _split(chunk)
            self.finished = (self.finished + chunk["results"].tolist())[-100:]
        return self._moves.pop(0)

    def to_arrays(self) -> dict[str, Any]:
        """At a checkpoint: how far the crew is."""
        assert self._harvest is not None
        return {"sent.counts": np.array([self._harvest.taken, *self.finished], np.int64)}

    def load_arrays(self, arrays: dict[str, Any]) -> None:
        """As it was."""
        assert self._harvest is not None
        taken, *self.finished = arrays["sent.counts"].tolist()
        self._harvest.restart(taken)

    def close(self) -> None:
        """The crew goes home."""
        self._crew.close()


def _split(chunk: Arrays) -> list[Transitions]:
    """The transitions of each move."""
    columns = Transitions(*(chunk[name] for name in Transitions._fields))
    ends = np.cumsum(chunk["counts"])
    return [
        Transitions(*(column[end - count : end] for column in columns))
        for end, count in zip(ends, chunk["counts"], strict=True)
    ]


class Playing(Protocol):
    """What was learned so far, at a crew's place of work."""

    many: Many

    def load(self, weights: Arrays, rng: np.random.Generator) -> None:
        """Take over what was learned."""

    def policies(self) -> tuple[Policy, Policy | None]:
        """Its own, and an older self's, if there is one."""


class QRollouts:
    """The crew's side: plays a chunk. See `learn/rollouts.py`."""

    def __init__(self, recipe: "Recipe", game: WordGame, playing: Playing) -> None:
        self.recipe, self.game, self.playing = recipe, game, playing
        longest = game.longest(game.initial())
        self.moves = max(_LEAST, 2 * longest)

    def __call__(self, weights: Arrays, order: Order) -> Arrays:
        """So many moves in every game, from the beginning."""
        from zermelo.learn.dqn.learner import phase_at
        from zermelo.learn.dqn.trainer import acting_for

        recipe, rng = self.recipe, order.rng
        self.playing.load(weights, rng)
        phase, within = phase_at(recipe.learning.phases, order.done)
        epsilon = order.curiosity(phase.epsilon(within))
        own, older = self.playing.policies()
        opponents = opponents_for(recipe, self.game, order.seed[0], rng)
        opponent = older if phase.opponent == "league" else opponents.get(phase.opponent)
        acting = acting_for(recipe, self.playing.many, rng)
        acting.fade(order.done)
        results: list[int] = []
        moves = []
        for _ in range(self.moves):
            acting.finished = []
            moves.append(acting.step(own, opponent, epsilon))
            results += acting.finished
        columns = zip(Transitions._fields, zip(*moves, strict=True), strict=True)
        chunk = {name: np.concatenate(parts) for name, parts in columns}
        counts = np.array([len(move.actions) for move in moves], np.int64)
        return chunk | {"counts": counts, "results": np.array(results, np.int64)}
