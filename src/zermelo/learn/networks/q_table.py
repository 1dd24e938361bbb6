"""A table of Q values, looked up by state."""

import numpy as np

from zermelo.learn.networks.weights_file import BadWeights

TABLE_KIND = "table"  #: the `kind` in the metadata of a weights file that contains a table


class QTable:
    """Q values of the states that were added; all Q values of other states are 0."""

    def __init__(self, num_words: int, num_actions: int) -> None:
        self.states: np.ndarray = np.zeros((0, num_words), np.uint64)  #: [row, word]
        self.q: np.ndarray = np.zeros((0, num_actions), np.float32)  #: [row, action]
        self._rows: dict[bytes, int] = {}

    def load(self, states: np.ndarray, q: np.ndarray) -> None:
        """Replace the contents; raise BadWeights if an array has the wrong shape or type."""
        fits = states.ndim == q.ndim == 2 and len(states) == len(q)
        fits = fits and states.dtype == self.states.dtype and q.dtype == self.q.dtype
        if not fits or states.shape[1] != self.states.shape[1] or q.shape[1] != self.q.shape[1]:
            msg = f"not a Q table: states is {list(states.shape)}, and values is {list(q.shape)}"
            raise BadWeights(msg)
        self.states, self.q = states.copy(), q.copy()
        self._rows = {state.tobytes(): row for row, state in enumerate(self.states)}

    def values(self, states: np.ndarray) -> np.ndarray:
        """Return the Q values of the states as [state, action]."""
        rows = np.array([self._rows.get(state.tobytes(), -1) for state in states], np.int64)
        values: np.ndarray = np.zeros((len(states), self.q.shape[1]), np.float32)
        values[rows >= 0] = self.q[rows[rows >= 0]]
        return values

    def add_states(self, states: np.ndarray) -> np.ndarray:
        """Add those states that are new; return the row number of each given state in the table."""
        keys = [state.tobytes() for state in states]
        new = []
        for index, key in enumerate(keys):
            if key not in self._rows:
                self._rows[key] = len(self._rows)
                new.append(index)
        if new:
            zeros = np.zeros((len(new), self.q.shape[1]), np.float32)
            self.states = np.concatenate([self.states, states[new]])
            self.q = np.concatenate([self.q, zeros])
        return np.array([self._rows[key] for key in keys], np.int64)
