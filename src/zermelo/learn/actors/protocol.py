"""Crews: who plays the games that a learner learns from.

The work is one function, `rollouts(weights, order) → chunk`, which depends on nothing else: not on
who does it, nor on what they did before. So a crew may be this process, processes of its own
(`learn/pool.py`) or other machines (`learn/cluster.py`); whoever dies is replaced and the order
given again; and the same orders give the same chunks.
"""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

if TYPE_CHECKING:
    from zermelo.learn.config.recipes import Recipe

Arrays = dict[str, Any]  #: of numpy, by name: weights, or a chunk
Rollouts = Callable[[Arrays, "Order"], Arrays]
_SPREAD = 2.0  # the boldest actor's epsilon to the power of 1, the last one's to 1 plus this


@dataclass(frozen=True)
class Order:
    """One chunk to be played."""

    seed: tuple[int, int]  #: the run's, and the chunk's number
    done: float  #: the share of the training that is over
    place: float = 0.0  #: of who plays it among the crew, from 0 to 1

    @property
    def rng(self) -> np.random.Generator:
        """All that happens by chance in it."""
        return np.random.default_rng(self.seed)

    def curiosity(self, epsilon: float) -> float:
        """Actors differ: some explore, some play their best (Horgan et al. 2018)."""
        return float(epsilon ** (1 + _SPREAD * self.place))


class Crew(Protocol):
    """Whoever follows orders. Chunks come back in the order of the orders."""

    size: int  #: how many work at once
    ahead: int  #: orders to be given before the first is waited for

    def give(self, order: Order, weights: Arrays) -> None:
        """An order; the weights are as they are now."""

    def take(self) -> Arrays:
        """The chunk of the oldest order."""

    def drop(self) -> None:
        """What is under way is not wanted any more."""

    def close(self) -> None:
        """Nobody is left."""


class Alone:
    """The learner's own process does the work, when it is given."""

    size = ahead = 1

    def __init__(self, rollouts: Rollouts) -> None:
        self._rollouts = rollouts
        self._done: deque[Arrays] = deque()

    def give(self, order: Order, weights: Arrays) -> None:
        """At once."""
        self._done.append(self._rollouts(weights, order))

    def take(self) -> Arrays:
        """The oldest."""
        return self._done.popleft()

    def drop(self) -> None:
        """All of them."""
        self._done.clear()

    def close(self) -> None:
        """Nothing to end."""


class Harvest:
    """Chunks one after the other, each played with the weights of a few chunks before.

    How many before is fixed, so a run with a crew is the same to the bit each time. After
    `restart` nothing that was played with older weights comes any more, so a run that goes on
    from a checkpoint taken there is the same, too.
    """

    def __init__(self, crew: Crew, weights: Callable[[], Arrays], seed: int) -> None:
        self.crew, self.seed = crew, seed
        self.taken = 0  #: chunks so far
        self._given = 0
        self._weights = weights

    def next(self, done: float) -> Arrays:
        """The next chunk; `done` is the share of the training that is over."""
        if self._given - self.taken < self.crew.ahead:
            weights = self._weights()
            while self._given - self.taken < self.crew.ahead:
                place = self._given % self.crew.size / max(1, self.crew.size - 1)
                self.crew.give(Order((self.seed, self._given), done, place), weights)
                self._given += 1
        self.taken += 1
        return self.crew.take()

    def restart(self, taken: int | None = None) -> None:
        """Forget what is under way; go on after so many chunks."""
        self.crew.drop()
        self.taken = self._given = self.taken if taken is None else taken


def crew_for(recipe: "Recipe", actors: int, cluster: str | None) -> Crew:
    """So many processes, or a cluster's; for none of them this one."""
    if cluster is not None:
        from zermelo.learn.actors.ray import Cluster

        return Cluster(recipe, cluster, actors)
    if actors:
        from zermelo.learn.actors.processes import Pool

        return Pool(recipe, actors)
    from zermelo.learn.runs.rollouts import rollouts_for

    return Alone(rollouts_for(recipe))
