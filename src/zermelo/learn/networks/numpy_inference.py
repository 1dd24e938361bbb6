"""Networks without torch: the same numbers by numpy, for play."""

from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from zermelo.core.errors import BadSpec
from zermelo.core.game import Game
from zermelo.games.geometry import list_windows
from zermelo.games.lines.small import WordLineGame
from zermelo.learn.networks.weights_file import BadWeights

LINE = 0.25  #: what a line counts for in a plane


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
            x = self._bend(convolved(x, self.arrays, f"conv{number}"))
        x = x.reshape(len(x), -1)
        for number in range(len(self.shape["hidden"])):
            x = self._bend(full(x, self.arrays, f"full{number}"))
        found = full(x, self.arrays, "actions")
        if self.shape["dueling"]:
            counts = np.ones_like(found) if legal is None else legal.astype(np.float32)
            mean = (found * counts).sum(1, keepdims=True) / np.maximum(counts.sum(1), 1)[:, None]
            found = full(x, self.arrays, "state") + found - mean
        return found

    def _bend(self, x: Any) -> Any:
        kind = self.shape["activation"]
        if kind == "tanh":
            return np.tanh(x)
        return np.where(x > 0, x, x * np.float32(0.01 if kind == "leaky" else 0.0))


class TowerForward:
    """AlphaZero's network from its arrays, as `Tower.exported` writes them."""

    def __init__(self, arrays: dict[str, Any], blocks: int, lines: Any = None) -> None:
        self.arrays = {name: array.astype(np.float32) for name, array in arrays.items()}
        self.blocks, self.lines = blocks, lines

    def __call__(self, planes: Any) -> tuple[Any, Any]:
        """(logits of actions, what is to be expected, from -1 to 1)."""
        arrays = self.arrays
        seen = planes if self.lines is None else with_lines(planes, self.lines)
        x = np.maximum(convolved(seen, arrays, "conv0"), 0)
        for block in range(self.blocks):
            y = np.maximum(convolved(x, arrays, f"conv{2 * block + 1}"), 0)
            x = np.maximum(x + convolved(y, arrays, f"conv{2 * block + 2}"), 0)
        cells = x.reshape(*x.shape[:2], -1)
        heads = arrays["heads.weight"] @ cells + arrays["heads.bias"][:, None]
        x = np.maximum(heads, 0).reshape(len(x), -1)
        whole = np.maximum(full(x, arrays, "hidden"), 0)
        logits = full(np.concatenate([x, whole], 1), arrays, "policy")
        return logits, _expected(full(whole, arrays, "result"))


class DenseForward:
    """AlphaZero's network of full layers from its arrays, as `Dense.exported` writes them."""

    def __init__(self, arrays: dict[str, Any], layers: int, lines: Any = None) -> None:
        self.arrays = {name: array.astype(np.float32) for name, array in arrays.items()}
        self.layers, self.lines = layers, lines

    def __call__(self, planes: Any) -> tuple[Any, Any]:
        """(logits of actions, what is to be expected, from -1 to 1)."""
        arrays, stones = self.arrays, planes.reshape(*planes.shape[:2], -1)
        hits = [] if self.lines is None else line_hits(stones, self.lines)
        x = np.concatenate([stones, *hits], 2).reshape(len(planes), -1)
        x = np.maximum(full(x, arrays, "full0"), 0)
        for number in range(1, self.layers, 2):
            y = np.maximum(full(x, arrays, f"full{number}"), 0)
            x = np.maximum(x + full(y, arrays, f"full{number + 1}"), 0)
        return full(x, arrays, "policy"), _expected(full(x, arrays, "result"))


def _expected(results: Any) -> Any:
    """From the logits of win, draw and loss what is to be expected."""
    chances = np.exp(results - results.max(1, keepdims=True))
    return (chances[:, 0] - chances[:, 2]) / chances.sum(1)


def planes_of(game: Game, states: Any) -> Any:
    """[row, 2, rows, cols]: the mover's stones, the other's, of states [row, word]."""
    assert game.grid is not None
    cells = np.arange(game.grid.size, dtype=np.uint64)
    found = (states[:, :2, None] >> cells) & np.uint64(1)
    return found.reshape(-1, 2, game.grid.rows, game.grid.cols).astype(np.float32)


def lines_of(game: Game, encoder: str) -> Any:
    """[line, cell]: which cells each line of a line game holds, if the encoder wants to know."""
    if encoder != "lines":
        return None
    if not isinstance(game, WordLineGame):
        msg = f"{game.spec}: lines are counted in line games alone"
        raise BadSpec(msg)
    found = list_windows(game.grid, game.win)
    matrix = np.zeros((len(found), game.grid.size), np.float32)
    for line, (cell, step) in enumerate(found):
        matrix[line, [cell + step * place for place in range(game.win)]] = 1
    return matrix


def with_lines(planes: Any, lines: Any) -> Any:
    """After the stones of both sides, how many lines run through each cell that only one is in.

    A plane for each side and number of stones, from one to one less than it takes.
    """
    stones = planes.reshape(len(planes), 2, -1)
    parts = [hits @ lines * np.float32(LINE) for hits in line_hits(stones, lines)]
    seen = np.concatenate([stones, *parts], 1)
    return seen.reshape(len(planes), -1, *planes.shape[2:])


def line_hits(stones: Any, lines: Any) -> list[Any]:
    """[row, side, line]: for each number whether a side alone has so many stones in a line."""
    counts = stones @ lines.T
    alone = counts[:, ::-1] == 0
    numbers = range(1, int(lines[0].sum()))
    return [(alone & (counts == number)).astype(np.float32) for number in numbers]


def full(x: Any, arrays: dict[str, Any], name: str) -> Any:
    """A layer where all is connected."""
    return x @ arrays[f"{name}.weight"].T + arrays[f"{name}.bias"]


def convolved(x: Any, arrays: dict[str, Any], name: str) -> Any:
    """3x3 with a border of zeros: one product of matrices."""
    weight = arrays[f"{name}.weight"]
    padded = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))
    windows = sliding_window_view(padded, (3, 3), axis=(2, 3))  # row, plane, y, x, 3, 3
    rows = windows.transpose(0, 2, 3, 1, 4, 5).reshape(-1, weight[0].size)
    found = rows @ weight.reshape(len(weight), -1).T + arrays[f"{name}.bias"]
    return found.reshape(len(x), *x.shape[2:], -1).transpose(0, 3, 1, 2)
