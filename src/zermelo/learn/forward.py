"""Networks without torch: the same numbers by numpy, for play."""

from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from zermelo.learn.weights import BadWeights


class Forward:
    """A Q-network from its arrays, as `learn.nets.exported` writes them."""

    def __init__(
        self, arrays: dict[str, Any], shape: dict[str, Any], inputs: tuple[int, ...]
    ) -> None:
        self.arrays = {name: array.astype(np.float32) for name, array in arrays.items()}
        self.shape, self.inputs = shape, inputs
        try:
            self(np.zeros((1, *inputs), np.float32), None)
        except (KeyError, ValueError, IndexError, TypeError) as error:
            msg = f"the weights do not fit the network they name: {error}"
            raise BadWeights(msg) from None

    def __call__(self, x: Any, legal: Any) -> Any:
        """[row, action]; `legal` as for the network itself."""
        for number in range(len(self.shape["channels"])):
            x = self._bend(self._convolve(x, f"conv{number}"))
        x = x.reshape(len(x), -1)
        for number in range(len(self.shape["hidden"])):
            x = self._bend(self._full(x, f"full{number}"))
        found = self._full(x, "actions")
        if self.shape["dueling"]:
            counts = np.ones_like(found) if legal is None else legal.astype(np.float32)
            mean = (found * counts).sum(1, keepdims=True) / np.maximum(counts.sum(1), 1)[:, None]
            found = self._full(x, "state") + found - mean
        return found

    def _full(self, x: Any, name: str) -> Any:
        return x @ self.arrays[f"{name}.weight"].T + self.arrays[f"{name}.bias"]

    def _convolve(self, x: Any, name: str) -> Any:
        """3x3 with a border of zeros: one product of matrices."""
        weight = self.arrays[f"{name}.weight"]
        padded = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))
        windows = sliding_window_view(padded, (3, 3), axis=(2, 3))  # row, plane, y, x, 3, 3
        rows = windows.transpose(0, 2, 3, 1, 4, 5).reshape(-1, weight[0].size)
        found = rows @ weight.reshape(len(weight), -1).T + self.arrays[f"{name}.bias"]
        return found.reshape(len(x), *x.shape[2:], -1).transpose(0, 3, 1, 2)

    def _bend(self, x: Any) -> Any:
        kind = self.shape["activation"]
        if kind == "tanh":
            return np.tanh(x)
        return np.where(x > 0, x, x * np.float32(0.01 if kind == "leaky" else 0.0))
