"""Value networks as solver hooks, with which the search kernel evaluates its leaves.

- `lines`, our own: an embedding for each index of the encoder `lines`; the relu of the sum of these
  embeddings, averaged over the symmetries of the board; two linear layers with relu; one tanh unit.
- `residual`, as published for Squava: on fifty features x, x0 = relu(norm(A x)), x1 = relu(norm(B
  x0)), x2 = relu(norm(C x1)) + x0; a linear layer with elu; one tanh unit.
"""

from abc import abstractmethod
from typing import Any

import numpy as np

from zermelo.core.bitboard import word
from zermelo.core.errors import BadSpec
from zermelo.games.lines.published import PublishedTactics
from zermelo.games.lines.small import WordLineGame
from zermelo.games.lines.tactics import LineTactics
from zermelo.learn.batch.encoders import (
    NUM_CELL_KINDS,
    board_lines,
    cell_kind,
    line_index,
    num_line_features,
    num_line_indices,
    tactical_masks,
    write_features,
)
from zermelo.learn.hybrid.kernel_layers import layer_norm_relu, linear, relu, sum_rows
from zermelo.learn.networks.weights_file import Array, Arrays
from zermelo.search.negamax.searcher import LeafNetwork

VALUE_SCALE = 2000  #: the score that corresponds to a value of 1
CACHE_SIZE = 100_000  #: maximum number of network estimates in the cache
_NUM_ROWS, _MIN_WIDTH = 5, 192  # size of the scratch memory for layers and indices

ArrayShapes = list[tuple[str, tuple[int, ...]]]  #: (name, shape), in the order of the flat weights


class NetworkTactics(LineTactics):
    """Solver hooks of a line game, with a network in addition to the heuristic."""

    width: int
    head: int

    def __init__(self, game: WordLineGame, hidden: tuple[int, ...]) -> None:
        super().__init__(game)
        self.hidden = hidden
        self.width, self.head = hidden[0], hidden[1]

    def __eq__(self, other: object) -> bool:
        """Also compare the sizes of the networks, because they are compiled into the kernel."""
        return super().__eq__(other) and self.hidden == getattr(other, "hidden", None)

    def __hash__(self) -> int:
        """Return a hash that is consistent with equality."""
        return hash((super().__hash__(), self.hidden))

    @property
    @abstractmethod
    def array_shapes(self) -> ArrayShapes:
        """Names and shapes of the arrays, in the order of the flat weights."""


class LineNetworkTactics(NetworkTactics):
    """Evaluates a state by the lines and cells of its symmetric images."""

    line_specs: tuple[tuple[int, int, int, int], ...]  # first cell, step, length, offset
    # [symmetry][line]: the line that is mapped to this line; plus `num_lines` if it is reversed
    source_lines: tuple[tuple[int, ...], ...]
    # [symmetry][cell]: the cell that is mapped to this cell
    source_cells: tuple[tuple[int, ...], ...]
    num_lines: int
    num_cells: int
    num_symmetries: int
    num_indices: int  # number of embeddings for lines
    num_features: int  # number of embeddings for lines and cells

    def __init__(self, game: WordLineGame, hidden: tuple[int, ...]) -> None:
        super().__init__(game, hidden)
        self.line_specs = tuple(board_lines(game.grid))
        self.source_cells = tuple(symmetry.cells for symmetry in game.symmetries())
        self.source_lines = tuple(self._source_lines(cells) for cells in self.source_cells)
        self.num_lines, self.num_cells = len(self.line_specs), game.grid.size
        self.num_symmetries = len(self.source_cells)
        self.num_indices = num_line_indices(game.grid)
        self.num_features = num_line_features(game.grid)

    def _source_lines(self, source_cells: tuple[int, ...]) -> tuple[int, ...]:
        lines = [
            tuple(begin + place * step for place in range(length))
            for begin, step, length, _ in self.line_specs
        ]
        numbers = {cells: number for number, cells in enumerate(lines)}
        numbers |= {cells[::-1]: len(lines) + number for number, cells in enumerate(lines)}
        return tuple(numbers[tuple(source_cells[cell] for cell in cells)] for cells in lines)

    @property
    def array_shapes(self) -> ArrayShapes:
        """Names and shapes of the arrays: a table of embeddings, then three linear layers."""
        return [
            ("lines.weight", (self.num_features, self.width)),
            ("lines.bias", (self.width,)),
            ("full0.weight", (self.width, self.head)),
            ("full0.bias", (self.head,)),
            ("full1.weight", (self.head, self.head)),
            ("full1.bias", (self.head,)),
            ("value.weight", (self.head, 1)),
            ("value.bias", (1,)),
        ]

    def evaluate_network(self, state: Any, net: Any, room: Any) -> Any:
        """Return the value of a state, times VALUE_SCALE; `room` is scratch memory.

        The float32 numbers in `room` also hold indices, which they represent exactly.
        """
        mine, theirs, _player = state
        # 1. Compute the indices of lines, read in both directions, and the kinds of cells.
        indices, kinds, rows, mean = room[1], room[2], room[3], room[4]
        for line in range(self.num_lines):
            begin, step, length, _offset = self.line_specs[line]
            indices[line] = line_index(mine, theirs, begin, step, length)
            last = begin + (length - 1) * step
            indices[self.num_lines + line] = line_index(mine, theirs, last, -step, length)
        win, block, lose, spoil = tactical_masks(self, mine, theirs)
        for cell in range(self.num_cells):
            kinds[cell] = cell_kind(word(cell), mine, theirs, win, block, lose, spoil)
        # 2. For each symmetry, sum its embeddings and apply relu; then average over symmetries.
        at = self.num_features * self.width
        for unit in range(self.width):
            mean[unit] = 0.0
        for symmetry in range(self.num_symmetries):
            number = 0
            for line in range(self.num_lines):
                offset = self.line_specs[line][3]
                index = int(indices[self.source_lines[symmetry][line]])
                rows[number] = (offset + index) * self.width
                number += 1
            for cell in range(self.num_cells):
                kind = NUM_CELL_KINDS * cell + int(kinds[self.source_cells[symmetry][cell]])
                rows[number] = (self.num_indices + kind) * self.width
                number += 1
            sum_rows(net, at, rows, number, room[0], self.width)
            for unit in range(self.width):
                mean[unit] += max(room[0, unit], np.float32(0.0))
        share = np.float32(1.0 / self.num_symmetries)
        for unit in range(self.width):
            room[0, unit] = mean[unit] * share
        # 3. Apply the linear layers.
        at = linear(net, at + self.width, room, 0, self.width, 1, self.head)
        relu(room, 1, self.head)
        at = linear(net, at, room, 1, self.head, 2, self.head)
        relu(room, 2, self.head)
        value = float(net[at + self.head])
        for unit in range(self.head):
            value += float(net[at + unit]) * float(room[2, unit])
        return int(VALUE_SCALE * np.tanh(value))


class ResidualNetworkTactics(NetworkTactics):
    """Evaluates a state by the fifty features published for Squava."""

    num_features: int = 50

    @property
    def array_shapes(self) -> ArrayShapes:
        """Names and shapes of the arrays: three linear layers with layer norm, then two without."""
        shapes: ArrayShapes = []
        for number in range(3):
            inputs = self.width if number else self.num_features
            shapes += [
                (f"full{number}.weight", (inputs, self.width)),
                (f"full{number}.bias", (self.width,)),
                (f"norm{number}.weight", (self.width,)),
                (f"norm{number}.bias", (self.width,)),
            ]
        return [
            *shapes,
            ("head.weight", (self.width, self.head)),
            ("head.bias", (self.head,)),
            ("value.weight", (self.head, 1)),
            ("value.bias", (1,)),
        ]

    def evaluate_network(self, state: Any, net: Any, room: Any) -> Any:
        """Return the value of a state, times VALUE_SCALE; `room` is scratch memory."""
        for at in range(self.num_features):
            room[0, at] = 0.0
        write_features(self, state, 0, room)
        at = linear(net, 0, room, 0, self.num_features, 1, self.width)
        at = layer_norm_relu(net, at, room, 1, self.width)
        at = linear(net, at, room, 1, self.width, 2, self.width)
        at = layer_norm_relu(net, at, room, 2, self.width)
        at = linear(net, at, room, 2, self.width, 3, self.width)
        at = layer_norm_relu(net, at, room, 3, self.width)
        for unit in range(self.width):
            room[3, unit] += room[1, unit]
        at = linear(net, at, room, 3, self.width, 2, self.head)
        value = float(net[at + self.head])
        for unit in range(self.head):
            x = float(room[2, unit])
            value += float(net[at + unit]) * (x if x > 0 else np.exp(x) - 1.0)
        return int(VALUE_SCALE * np.tanh(value))


class PublishedNetworkTactics(ResidualNetworkTactics, PublishedTactics):
    """The residual network with the move ordering and heuristic published for Squava."""


def build_network_tactics(
    game: WordLineGame, kind: str, hidden: tuple[int, ...], *, published: bool = False
) -> NetworkTactics:
    """Return solver hooks that evaluate states with a network of the given kind and widths."""
    if published:
        if game.spec != "squava" or kind != "residual":
            msg = (
                "the option `published` needs a residual network for squava; "
                f"this is a {kind} network for {game.spec}"
            )
            raise BadSpec(msg)
        return PublishedNetworkTactics(game, hidden)
    return {"lines": LineNetworkTactics, "residual": ResidualNetworkTactics}[kind](game, hidden)


def flatten_weights(hooks: NetworkTactics, arrays: Arrays) -> Array:
    """Return the weights as one array, in the order of `hooks.array_shapes`."""
    parts = [np.asarray(arrays[name], np.float32).reshape(-1) for name, _ in hooks.array_shapes]
    return np.concatenate(parts)


def build_leaf_network(
    hooks: NetworkTactics,
    arrays: Arrays,
    blend: tuple[int, int] = (1000, 0),
    cache_size: int = CACHE_SIZE,
) -> LeafNetwork:
    """Return the weights for the search kernel, with scratch memory and an empty cache.

    `blend` gives the weights of the network and of the heuristic, in thousandths.
    """
    scratch = np.zeros((_NUM_ROWS, max(hooks.width, hooks.head, _MIN_WIDTH)), np.float32)
    cache = np.zeros((cache_size, hooks.game.num_words + 1), np.uint64)
    return LeafNetwork(flatten_weights(hooks, arrays), scratch, cache, blend)
