"""Replay: the transitions that a learner draws from, uniformly or by how wrong it was.

A transition is (state, action, return, factor, later state): what the action has brought so far,
and what the later state's best value counts for: `return + factor * max Q(later)`. The signs and
powers of the discount are in there already, so that one step, n steps and replies of an opponent
look alike.
"""

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

_LEAST = 1e-3  # added to every error: nothing is never drawn


class Transitions(NamedTuple):
    """Some of them, an array each."""

    states: Any
    actions: Any
    returns: Any
    factors: Any
    later: Any


class Batch(NamedTuple):
    """Transitions drawn, where they stand, and how much each may count."""

    drawn: Transitions
    places: Any
    weights: Any


class Replay:
    """A ring of the latest transitions."""

    def __init__(self, size: int, num_words: int, alpha: float = 0.0, beta: float = 0.4) -> None:
        self.size, self.alpha, self.beta = size, alpha, beta
        self._rows = Transitions(
            np.zeros((size, num_words), np.uint64),
            np.zeros(size, np.int64),
            np.zeros(size, np.float32),
            np.zeros(size, np.float32),
            np.zeros((size, num_words), np.uint64),
        )
        self.added = 0
        # A binary tree over the places: each node holds the sum below it.
        leaves = 1 << (size - 1).bit_length() if alpha else 0
        self._sums: NDArray[Any] = np.zeros(2 * leaves, np.float64)
        self._most = 1.0

    def __len__(self) -> int:
        """How many there are to draw from."""
        return min(self.added, self.size)

    def add(self, rows: Transitions) -> None:
        """The oldest make room."""
        places = (self.added + np.arange(len(rows.actions))) % self.size
        for ours, new in zip(self._rows, rows, strict=True):
            ours[places] = new
        self.added += len(places)
        if self.alpha and len(places):
            self._weigh(places, np.full(len(places), self._most))

    def draw(self, number: int, rng: np.random.Generator) -> Batch:
        """So many, with what makes up for drawing some more often than others."""
        if not self.alpha:
            places = rng.integers(0, len(self), number)
            weights = np.ones(number, np.float32)
        else:
            places = self._find(rng.random(number) * self._sums[1])
            chances = self._sums[places + len(self._sums) // 2] / self._sums[1]
            weights = (len(self) * chances) ** -self.beta
            weights = (weights / weights.max()).astype(np.float32)
        return Batch(Transitions(*(column[places] for column in self._rows)), places, weights)

    def learned(self, places: Any, errors: Any) -> None:
        """How wrong the learner was there."""
        if self.alpha:
            weights = (np.abs(errors) + _LEAST) ** self.alpha
            self._most = max(self._most, float(weights.max()))
            self._weigh(places, weights)

    def _weigh(self, places: Any, weights: Any) -> None:
        at = places + len(self._sums) // 2
        self._sums[at] = weights
        at = np.unique(at // 2)
        while at[0] >= 1:
            self._sums[at] = self._sums[2 * at] + self._sums[2 * at + 1]
            if at[0] == 1:
                break
            at = np.unique(at // 2)

    def _find(self, targets: Any) -> Any:
        """The places where the running sum passes the targets."""
        at = np.ones(len(targets), np.int64)
        while at[0] < len(self._sums) // 2:
            left = self._sums[2 * at]
            right = targets >= left
            targets = targets - left * right
            at = 2 * at + right
        return np.minimum(at - len(self._sums) // 2, len(self) - 1)

    def to_arrays(self) -> dict[str, Any]:
        """All of it, for a checkpoint."""
        state = {f"replay.{name}": column for name, column in self._rows._asdict().items()}
        if self.alpha:
            state["replay.sums"] = self._sums
        return state | {"replay.counts": np.array([self.added, self._most], np.float64)}

    def load_arrays(self, arrays: dict[str, Any]) -> None:
        """As it was."""
        for name, column in self._rows._asdict().items():
            column[:] = arrays[f"replay.{name}"]
        if self.alpha:
            self._sums[:] = arrays["replay.sums"]
        self.added, self._most = int(arrays["replay.counts"][0]), float(arrays["replay.counts"][1])
