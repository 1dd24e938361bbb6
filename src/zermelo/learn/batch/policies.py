"""Policies that choose an action in every game of a batch."""

from collections.abc import Callable

import numpy as np

from zermelo.learn.batch.game_batch import GameBatch

Policy = Callable[[np.ndarray, np.ndarray], np.ndarray]
"""(states [game, word], legal actions [game, action]) -> an action for each game"""


def masked_argmax(values: np.ndarray, legal: np.ndarray) -> np.ndarray:
    """Return, for each state, its first legal action with the highest value."""
    actions: np.ndarray = np.where(legal, values, -np.inf).argmax(1)
    return actions


def random_policy(rng: np.random.Generator) -> Policy:
    """Return a policy that samples uniformly from the legal actions."""
    return lambda _states, legal: (rng.random(legal.shape) * legal).argmax(1)


def careful_policy(game_batch: GameBatch, rng: np.random.Generator) -> Policy:
    """Return a policy that samples uniformly from the actions that do not lose immediately.

    If all legal actions lose immediately, it samples from all of them.
    """

    def choose(states: np.ndarray, legal: np.ndarray) -> np.ndarray:
        rows, actions = (np.ascontiguousarray(part) for part in np.nonzero(legal))
        _, rewards, _ = game_batch.step(np.ascontiguousarray(states[rows]), actions)
        priorities = rng.random(legal.shape)
        priorities[rows, actions] -= rewards < 0
        return masked_argmax(priorities, legal)

    return choose
