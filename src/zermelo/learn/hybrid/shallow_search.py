"""Search batches of states a few plies deep, with a value network at the leaves."""

from typing import NamedTuple

import numpy as np

from zermelo.learn.batch.game_batch import GameBatch
from zermelo.learn.batch.replay import Transitions
from zermelo.learn.hybrid.kernel_network import (
    VALUE_SCALE,
    NetworkTactics,
    build_leaf_network,
    flatten_weights,
)
from zermelo.learn.networks.weights_file import Array, Arrays
from zermelo.search.negamax import arrays as negamax_arrays
from zermelo.search.negamax.searcher import NegamaxSearcher

_TABLE_BITS = 16  # the transposition table has 2 ** 16 slots


class SearchTargets(NamedTuple):
    """Results of searching a batch of states."""

    q: Array  #: [row, action]: Q values in [-1, 1]; illegal actions have the value of a loss
    is_decided: Array  #: [row]: whether the search proved a win or a loss
    transitions: Transitions  #: states and their values, as learning targets


class ShallowSearch:
    """Searches batches of states to a fixed depth."""

    def __init__(self, hooks: NetworkTactics, blend: tuple[int, int], gamma: float) -> None:
        self.hooks, self.gamma, self.game_batch = hooks, gamma, GameBatch(hooks.game)
        zeros = {name: np.zeros(shape, np.float32) for name, shape in hooks.array_shapes}
        self._net = build_leaf_network(hooks, zeros, blend)
        self._searcher = NegamaxSearcher(
            hooks, table_bits=_TABLE_BITS, symmetry=False, network=self._net
        )

    def load(self, weights: Arrays) -> None:
        """Replace the weights and clear the cache of estimates."""
        self._net.weights[:] = flatten_weights(self.hooks, weights)
        self._net.estimates[:] = 0

    def search(self, states: Array, depth: int) -> SearchTargets:
        """Search nonterminal states to a fixed depth, and return learning targets.

        The targets are the values of the given states and of their successors. States whose value
        is known without a search are left out, because the network is never needed for them.
        """
        win_score = self.hooks.win_score
        scores = self._searcher.look_ahead_batch(states, depth)
        legal = scores != negamax_arrays.NO_SCORE
        scores = np.where(legal, scores, -win_score)
        is_decided = np.abs(scores.max(1)) > win_score // 2
        q = scores_to_values(scores, depth, self.gamma, win_score)
        rows, actions = (np.ascontiguousarray(part) for part in np.nonzero(legal))
        next_states, _, over = self.game_batch.step(np.ascontiguousarray(states[rows]), actions)
        next_values = -q[rows, actions] / self.gamma  # one ply closer to the end
        states = np.concatenate([states, next_states[~over]])
        values = np.concatenate([q.max(1), next_values[~over]])
        is_open = self.game_batch.needs_search(states)
        states, values = states[is_open], np.clip(values[is_open], -1, 1).astype(np.float32)
        zeros = np.zeros(len(values), np.float32)
        targets = Transitions(states, zeros.astype(np.int64), values, zeros, states)
        return SearchTargets(q, is_decided, targets)


def scores_to_values(scores: Array, depth: int, gamma: float, win_score: int) -> Array:
    """Convert search scores to values in [-1, 1].

    Proven scores are discounted by their distance to the end, and other scores by the search depth.
    """
    is_proven = np.abs(scores) > win_score // 2
    distance = np.where(is_proven, win_score - np.abs(scores), depth)
    return np.where(is_proven, np.sign(scores), scores / VALUE_SCALE) * gamma**distance
