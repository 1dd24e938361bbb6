"""Network inference in numpy, so that players do not need torch."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from zermelo.core.errors import BadSpec
from zermelo.core.game import Game, WordGame
from zermelo.games.geometry import list_windows
from zermelo.games.lines.small import WordLineGame
from zermelo.games.state_layout import declares_planes
from zermelo.learn.batch.encoders import Encoder
from zermelo.learn.batch.planes import input_shape
from zermelo.learn.networks.weights_file import Array, Arrays, BadWeights

LINE_PLANE_SCALE = 0.25  #: amount that one line adds to each of its cells in a line plane


class NumpyQNetwork:
    """A Q network with weights returned by `q_network.export_q_network`."""

    def __init__(
        self, arrays: Arrays, config: Mapping[str, Any], input_shape: tuple[int, ...]
    ) -> None:
        self.arrays = _to_float32(arrays)
        self.config, self.input_shape = config, input_shape
        try:
            self(np.zeros((1, *input_shape), np.float32), None)
        except (KeyError, ValueError, IndexError, TypeError) as error:
            msg = f"the weights do not fit the network described in the file: {error}"
            raise BadWeights(msg) from None

    def __call__(self, x: Array, legal: Array | None) -> Array:
        """Return the Q values [row, action].

        A dueling network subtracts the mean advantage of the `legal` actions.
        """
        for number in range(len(self.config["channels"])):
            x = self._activate(_convolve(x, self.arrays, f"conv{number}"))
        x = x.reshape(len(x), -1)
        for number in range(len(self.config["hidden"])):
            x = self._activate(_linear(x, self.arrays, f"full{number}"))
        q = _linear(x, self.arrays, "actions")
        if self.config["dueling"]:
            mask = np.ones_like(q) if legal is None else legal.astype(np.float32)
            mean = (q * mask).sum(1, keepdims=True) / np.maximum(mask.sum(1), 1)[:, None]
            q = _linear(x, self.arrays, "state") + q - mean
        return q

    def _activate(self, x: Array) -> Array:
        kind = self.config["activation"]
        if kind == "tanh":
            return np.asarray(np.tanh(x))
        return np.where(x > 0, x, x * np.float32(0.01 if kind == "leaky" else 0.0))


class NumpyTower:
    """AlphaZero's residual tower with weights returned by `Tower.export`."""

    def __init__(self, arrays: Arrays, num_blocks: int, lines: Array | None = None) -> None:
        self.arrays = _to_float32(arrays)
        self.num_blocks, self.lines = num_blocks, lines

    def __call__(self, planes: Array) -> tuple[Array, Array]:
        """Return (action logits, expected values in [-1, 1])."""
        arrays = self.arrays
        inputs = planes if self.lines is None else add_line_planes(planes, self.lines)
        x = np.maximum(_convolve(inputs, arrays, "conv0"), 0)
        for block in range(self.num_blocks):
            y = np.maximum(_convolve(x, arrays, f"conv{2 * block + 1}"), 0)
            x = np.maximum(x + _convolve(y, arrays, f"conv{2 * block + 2}"), 0)
        cells = x.reshape(*x.shape[:2], -1)
        heads = arrays["heads.weight"] @ cells + arrays["heads.bias"][:, None]
        x = np.maximum(heads, 0).reshape(len(x), -1)
        board = np.maximum(_linear(x, arrays, "hidden"), 0)
        logits = _linear(np.concatenate([x, board], 1), arrays, "policy")
        return logits, _expected_value(_linear(board, arrays, "result"))


class NumpyFullyConnected:
    """AlphaZero's fully connected network with weights returned by `FullyConnected.export`."""

    def __init__(self, arrays: Arrays, num_layers: int, lines: Array | None = None) -> None:
        self.arrays = _to_float32(arrays)
        self.num_layers, self.lines = num_layers, lines

    def __call__(self, planes: Array) -> tuple[Array, Array]:
        """Return (action logits, expected values in [-1, 1])."""
        arrays, stones = self.arrays, planes.reshape(*planes.shape[:2], -1)
        indicators = [] if self.lines is None else line_indicators(stones, self.lines)
        x = np.concatenate([stones, *indicators], 2).reshape(len(planes), -1)
        x = np.maximum(_linear(x, arrays, "full0"), 0)
        for number in range(1, self.num_layers, 2):
            y = np.maximum(_linear(x, arrays, f"full{number}"), 0)
            x = np.maximum(x + _linear(y, arrays, f"full{number + 1}"), 0)
        return _linear(x, arrays, "policy"), _expected_value(_linear(x, arrays, "result"))


def encode_planes(game: WordGame, states: Array) -> Array:
    """Return the planes [row, plane, row of the board, column] of states [row, word]."""
    if declares_planes(game) or not game.has_equal_sides:
        return Encoder("planes", game)(states)
    rows, cols = game.plane_shape
    cells = np.arange(rows * cols, dtype=np.uint64)
    planes = (states[:, :2, None] >> cells) & np.uint64(1)
    return planes.reshape(-1, 2, rows, cols).astype(np.float32)


def line_matrix(game: Game, encoder: str) -> Array | None:
    """Return a 0/1 matrix [line, cell] of all winning lines; None if the encoder is not `lines`."""
    if encoder != "lines":
        return None
    if not isinstance(game, WordLineGame) or input_shape(game)[0] != 2 or declares_planes(game):
        msg = f"{game.spec}: the encoder lines is for line games up to 64 cells"
        raise BadSpec(msg)
    windows = list_windows(game.grid, game.win)
    matrix = np.zeros((len(windows), game.grid.size), np.float32)
    for line, (cell, step) in enumerate(windows):
        matrix[line, [cell + step * place for place in range(game.win)]] = 1
    return matrix


def add_line_planes(planes: Array, lines: Array) -> Array:
    """Return the planes of stones, followed by the line planes.

    There is one line plane for each side and each count of stones from 1 to one less than a winning
    line. It gives, for each cell, the scaled number of lines through that cell that hold exactly
    that many stones of that side and none of the other.
    """
    stones = planes.reshape(len(planes), 2, -1)
    scale = np.float32(LINE_PLANE_SCALE)
    line_planes = [hits @ lines * scale for hits in line_indicators(stones, lines)]
    return np.concatenate([stones, *line_planes], 1).reshape(len(planes), -1, *planes.shape[2:])


def line_indicators(stones: Array, lines: Array) -> list[Array]:
    """Return a list of arrays [row, side, line]; the n-th marks lines with exactly n stones.

    An array is 1 where the side has exactly n stones in the line and the other side has none.
    """
    counts = stones @ lines.T
    is_alone = counts[:, ::-1] == 0
    numbers = range(1, int(lines[0].sum()))
    return [(is_alone & (counts == number)).astype(np.float32) for number in numbers]


def _to_float32(arrays: Arrays) -> Arrays:
    return {name: array.astype(np.float32) for name, array in arrays.items()}


def _expected_value(results: Array) -> Array:
    """Return P(win) - P(loss) from the logits of win, draw and loss."""
    weights = np.exp(results - results.max(1, keepdims=True))
    return np.asarray((weights[:, 0] - weights[:, 2]) / weights.sum(1))


def _linear(x: Array, arrays: Arrays, name: str) -> Array:
    return np.asarray(x @ arrays[f"{name}.weight"].T + arrays[f"{name}.bias"])


def _convolve(x: Array, arrays: Arrays, name: str) -> Array:
    """Apply a 3x3 convolution with zero padding, as one matrix product."""
    weight = arrays[f"{name}.weight"]
    padded = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))
    patches = sliding_window_view(padded, (3, 3), axis=(2, 3))  # row, plane, y, x, 3, 3
    rows = patches.transpose(0, 2, 3, 1, 4, 5).reshape(-1, weight[0].size)
    y = rows @ weight.reshape(len(weight), -1).T + arrays[f"{name}.bias"]
    return np.asarray(y.reshape(len(x), *x.shape[2:], -1).transpose(0, 3, 1, 2))
