"""Experience replay, uniform or prioritised by TD error (Schaul et al. 2016).

A transition is (state, action, return, discount, next state), where the next state may be several
plies later. Its target is `return + discount * max Q(next state)`. The discount is the
product of the signs and discounts of all plies in between, so the target has the same form for one
step, for n steps, and for an opponent's replies in between. The discount is 0 at the end of a game.
"""

from typing import NamedTuple

import numpy as np

_MIN_PRIORITY = 1e-3  # added to each absolute TD error, so that every transition can be sampled
# The names of the columns in checkpoints, in the order of the fields of `Transitions`.
_ARRAY_NAMES = ("states", "actions", "returns", "factors", "later")
_PREFIX = "replay."


class Transitions(NamedTuple):
    """Transitions as one array per field; row i of every array belongs to transition i."""

    states: np.ndarray  #: [row, word]
    actions: np.ndarray
    returns: np.ndarray
    discounts: np.ndarray
    next_states: np.ndarray  #: [row, word]


class ReplayBatch(NamedTuple):
    """Sampled transitions, their indices in the buffer, and their importance-sampling weights."""

    transitions: Transitions
    indices: np.ndarray
    weights: np.ndarray


class ReplayBuffer:
    """A ring buffer of transitions. It samples them by priority if `alpha` is above 0."""

    def __init__(self, size: int, num_words: int, alpha: float = 0.0, beta: float = 0.4) -> None:
        self.size, self.alpha, self.beta = size, alpha, beta
        self._columns = Transitions(
            np.zeros((size, num_words), np.uint64),
            np.zeros(size, np.int64),
            np.zeros(size, np.float32),
            np.zeros(size, np.float32),
            np.zeros((size, num_words), np.uint64),
        )
        self.num_added = 0  #: number of transitions added so far
        # A sum tree over the priorities: each node holds the sum of the leaves below it.
        self._num_leaves = 1 << (size - 1).bit_length() if alpha else 0
        self._sums: np.ndarray = np.zeros(2 * self._num_leaves, np.float64)
        self._max_priority = 1.0

    def __len__(self) -> int:
        """Return the number of transitions in the buffer."""
        return min(self.num_added, self.size)

    def add(self, transitions: Transitions) -> None:
        """Add transitions and give them the highest priority so far; overwrite the oldest ones."""
        indices = (self.num_added + np.arange(len(transitions.actions))) % self.size
        for column, new in zip(self._columns, transitions, strict=True):
            column[indices] = new
        self.num_added += len(indices)
        if self.alpha and len(indices):
            self._set_priorities(indices, np.full(len(indices), self._max_priority))

    def sample(self, number: int, rng: np.random.Generator) -> ReplayBatch:
        """Sample transitions with replacement."""
        if not self.alpha:
            indices = rng.integers(0, len(self), number)
            weights = np.ones(number, np.float32)
        else:
            indices = self._find_indices(rng.random(number) * self._sums[1])
            probabilities = self._sums[indices + self._num_leaves] / self._sums[1]
            weights = (len(self) * probabilities) ** -self.beta
            weights = (weights / weights.max()).astype(np.float32)
        transitions = Transitions(*(column[indices] for column in self._columns))
        return ReplayBatch(transitions, indices, weights)

    def update_priorities(self, indices: np.ndarray, td_errors: np.ndarray) -> None:
        """If `alpha` is above 0, set the priorities of these transitions from their TD errors."""
        if self.alpha:
            priorities = (np.abs(td_errors) + _MIN_PRIORITY) ** self.alpha
            self._max_priority = max(self._max_priority, float(priorities.max()))
            self._set_priorities(indices, priorities)

    def _set_priorities(self, indices: np.ndarray, priorities: np.ndarray) -> None:
        nodes = indices + self._num_leaves
        self._sums[nodes] = priorities
        nodes = np.unique(nodes // 2)
        while nodes[0] >= 1:
            self._sums[nodes] = self._sums[2 * nodes] + self._sums[2 * nodes + 1]
            if nodes[0] == 1:
                break
            nodes = np.unique(nodes // 2)

    def _find_indices(self, targets: np.ndarray) -> np.ndarray:
        """Return, for each target, the first index whose cumulative priority exceeds the target."""
        nodes = np.ones(len(targets), np.int64)
        while nodes[0] < self._num_leaves:
            left = self._sums[2 * nodes]
            goes_right = targets >= left
            targets = targets - left * goes_right
            nodes = 2 * nodes + goes_right
        return np.minimum(nodes - self._num_leaves, len(self) - 1)

    def to_arrays(self) -> dict[str, np.ndarray]:
        """Return the contents of the buffer, for a checkpoint."""
        names = (_PREFIX + name for name in _ARRAY_NAMES)
        arrays = dict(zip(names, self._columns, strict=True))
        if self.alpha:
            arrays[_PREFIX + "sums"] = self._sums
        counts = np.array([self.num_added, self._max_priority], np.float64)
        return arrays | {_PREFIX + "counts": counts}

    def load_arrays(self, arrays: dict[str, np.ndarray]) -> None:
        """Restore the contents that `to_arrays` returned."""
        for name, column in zip(_ARRAY_NAMES, self._columns, strict=True):
            column[:] = arrays[_PREFIX + name]
        if self.alpha:
            self._sums[:] = arrays[_PREFIX + "sums"]
        added, max_priority = arrays[_PREFIX + "counts"]
        self.num_added, self._max_priority = int(added), float(max_priority)
