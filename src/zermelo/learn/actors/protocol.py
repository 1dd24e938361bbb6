"""The contract between a trainer and the actors that play its games.

A rollout is the data of one batch of training games. An actor runs one function, which takes
weights and a request, and returns a rollout. The rollout depends only on these two arguments, not
on the actor or on earlier calls, so a request can be repeated if its actor dies. A pool of actors
can be the trainer's own process, several processes on this machine (`processes.py`) or tasks on a
cluster (`ray.py`).
"""

import importlib
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from zermelo.learn.config.recipe import Recipe
from zermelo.learn.networks.weights_file import Arrays

_EPSILON_SPREAD = 2.0  # actor epsilons range from epsilon ** 1 to epsilon ** (1 + this)


@dataclass(frozen=True)
class RolloutRequest:
    """Everything that an actor needs to play one rollout, except the weights."""

    seed: tuple[int, int]  #: (seed of the run, number of the rollout)
    progress: float  #: the fraction of the training that is complete
    actor_rank: float = 0.0  #: the actor's number in the pool, scaled to the range 0 to 1

    def new_rng(self) -> np.random.Generator:
        """Return a random generator that is seeded for this rollout."""
        return np.random.default_rng(self.seed)

    def actor_epsilon(self, epsilon: float) -> float:
        """Return this actor's epsilon, which decreases with its rank (Horgan et al. 2018)."""
        return float(epsilon ** (1 + _EPSILON_SPREAD * self.actor_rank))


RolloutFunction = Callable[[Arrays, RolloutRequest], Arrays]
#: must be a top-level function of a module, so that other processes can import it by name
RolloutFactory = Callable[[Recipe], RolloutFunction]


def factory_path(factory: RolloutFactory) -> str:
    """Return the name `module:function` by which another process can import the factory."""
    return f"{factory.__module__}:{factory.__qualname__}"


def import_factory(path: str) -> RolloutFactory:
    """Import the factory whose `factory_path` is `path`."""
    module, _, name = path.partition(":")
    factory: RolloutFactory = getattr(importlib.import_module(module), name)
    return factory


class ActorPool(Protocol):
    """Actors that play rollouts. The pool returns the rollouts in the order of the requests."""

    size: int  #: number of actors
    max_pending: int  #: number of requests to submit before waiting for the first rollout

    def submit(self, request: RolloutRequest, weights: Arrays) -> None:
        """Request a rollout played with `weights`, which are read before this method returns."""

    def collect(self) -> Arrays:
        """Return the rollout of the oldest request, waiting for it if necessary."""

    def cancel(self) -> None:
        """Discard all pending requests and their rollouts."""

    def close(self) -> None:
        """Stop the actors and release their resources."""


class InProcessActor:
    """A pool whose only actor is the trainer's own process: `submit` plays the rollout at once."""

    size = max_pending = 1

    def __init__(self, rollout: RolloutFunction) -> None:
        self._rollout = rollout
        self._rollouts: deque[Arrays] = deque()

    def submit(self, request: RolloutRequest, weights: Arrays) -> None:
        """Play the rollout now."""
        self._rollouts.append(self._rollout(weights, request))

    def collect(self) -> Arrays:
        """Return the oldest rollout that has not been collected yet."""
        return self._rollouts.popleft()

    def cancel(self) -> None:
        """Discard the rollouts that have not been collected yet."""
        self._rollouts.clear()

    def close(self) -> None:
        """Do nothing: there is no process to stop."""


class RolloutStream:
    """An endless sequence of rollouts, each played with weights that are a few rollouts old.

    The age of the weights is fixed, so a run with actors is reproducible bit for bit. Rollouts that
    are returned after a `restart` are played with weights that are no older than the restart. So a
    run is also reproducible if it is resumed from a checkpoint that was saved at a restart.
    """

    def __init__(self, pool: ActorPool, weights: Callable[[], Arrays], seed: int) -> None:
        self.pool, self.seed = pool, seed
        self.num_consumed = 0  #: rollouts returned so far
        self._num_submitted = 0
        self._weights = weights

    def next(self, progress: float) -> Arrays:
        """Return the next rollout; `progress` is the fraction of the training that is complete."""
        pool = self.pool
        if self._num_submitted - self.num_consumed < pool.max_pending:
            weights = self._weights()
            while self._num_submitted - self.num_consumed < pool.max_pending:
                number = self._num_submitted
                rank = number % pool.size / max(1, pool.size - 1)
                pool.submit(RolloutRequest((self.seed, number), progress, rank), weights)
                self._num_submitted += 1
        self.num_consumed += 1
        return pool.collect()

    def restart(self, num_consumed: int | None = None) -> None:
        """Cancel all pending rollouts; continue with rollout number `num_consumed`, if given."""
        self.pool.cancel()
        if num_consumed is not None:
            self.num_consumed = num_consumed
        self._num_submitted = self.num_consumed
