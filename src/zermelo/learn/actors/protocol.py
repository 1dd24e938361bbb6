"""The contract between a trainer and the actors that play its games.

An actor runs one function, `rollout(weights, request) -> rollout`. Its result depends on these two
arguments alone, neither on the actor that runs it nor on earlier calls. So a pool may be this
process, processes on this machine (`processes.py`) or a cluster (`ray.py`), a request whose actor
died can be repeated, and the same requests always give the same rollouts.
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
    """What an actor needs to know, beside the weights, to play one rollout."""

    seed: tuple[int, int]  #: the seed of the run, the number of the rollout
    progress: float  #: the share of the training that is over
    actor_rank: float = 0.0  #: from 0 to 1: the place of the actor among those of the pool

    def new_rng(self) -> np.random.Generator:
        """Return a generator seeded for this rollout."""
        return np.random.default_rng(self.seed)

    def actor_epsilon(self, epsilon: float) -> float:
        """Return the epsilon of this actor, lower for higher ranks (Horgan et al. 2018)."""
        return float(epsilon ** (1 + _EPSILON_SPREAD * self.actor_rank))


RolloutFunction = Callable[[Arrays, RolloutRequest], Arrays]
RolloutFactory = Callable[[Recipe], RolloutFunction]  #: a function at the top level of a module


def factory_path(factory: RolloutFactory) -> str:
    """Return the name, `module:function`, by which another process can import a factory."""
    return f"{factory.__module__}:{factory.__qualname__}"


def import_factory(path: str) -> RolloutFactory:
    """Import the factory that `factory_path` named."""
    module, _, name = path.partition(":")
    factory: RolloutFactory = getattr(importlib.import_module(module), name)
    return factory


class ActorPool(Protocol):
    """Actors that play rollouts, which are returned in the order they were requested."""

    size: int  #: number of actors
    max_pending: int  #: number of requests to submit before waiting for the first rollout

    def submit(self, request: RolloutRequest, weights: Arrays) -> None:
        """Request a rollout with these weights, which are read before this returns."""

    def collect(self) -> Arrays:
        """Return the rollout of the oldest request, waiting for it if necessary."""

    def cancel(self) -> None:
        """Discard all pending requests and their rollouts."""

    def close(self) -> None:
        """Stop the actors and release what they use."""


class InProcessActor:
    """A pool of one: the process of the trainer plays each rollout when it is submitted."""

    size = max_pending = 1

    def __init__(self, rollout: RolloutFunction) -> None:
        self._rollout = rollout
        self._rollouts: deque[Arrays] = deque()

    def submit(self, request: RolloutRequest, weights: Arrays) -> None:
        """Play the rollout now."""
        self._rollouts.append(self._rollout(weights, request))

    def collect(self) -> Arrays:
        """Return the oldest rollout."""
        return self._rollouts.popleft()

    def cancel(self) -> None:
        """Discard the rollouts that were not collected."""
        self._rollouts.clear()

    def close(self) -> None:
        """Do nothing: there is no process to stop."""


class RolloutStream:
    """An endless sequence of rollouts, each played with the weights of a few rollouts before.

    The lag is fixed, so a run with actors is reproducible bit for bit. After `restart`, no rollout
    played with older weights is returned, so a run resumed from a checkpoint taken there is, too.
    """

    def __init__(self, pool: ActorPool, weights: Callable[[], Arrays], seed: int) -> None:
        self.pool, self.seed = pool, seed
        self.num_consumed = 0  #: rollouts returned so far
        self._num_submitted = 0
        self._weights = weights

    def next(self, progress: float) -> Arrays:
        """Return the next rollout; `progress` is the share of the training that is over."""
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
        """Cancel what is pending, and continue after `num_consumed` rollouts if it is given."""
        self.pool.cancel()
        if num_consumed is not None:
            self.num_consumed = num_consumed
        self._num_submitted = self.num_consumed
