"""A learned value inside alpha-beta: a network as a hook of the solver's kernel. No torch.

Two networks, their weights one flat array each, matrices [input, output]:

- `lines`, ours: a row of weights for every way that a line of the board can be filled, and for
  everything that a cell can be; the sum of the rows that are there, relu, and the mean of that
  over all ways to turn the board; two layers with relu; one number, tanh.
- `residual`, as published for Squava, from fifty features: x0 = relu(norm(A x)), x1 = relu(norm(B
  x0)), x2 = relu(norm(C x1)) + x0; a layer with elu; one number, tanh.
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
from zermelo.learn.batch.game_batch import GameBatch
from zermelo.learn.batch.replay import Transitions
from zermelo.search.negamax import kernel as k
from zermelo.search.negamax.runner import Net, Runner

UNIT = 2000  #: the score of a value of 1
_EPSILON = 1e-5  # of the normalisation, as torch has it
CACHE = 100_000  #: estimates that are kept
_TABLE_BITS = 16  # of short searches
_ROWS, _LONGEST = 5, 192  # of room: for two layers and notes of lines and cells


class Valued(LineTactics):
    """Solver hooks of a line game, with a network beside the heuristic."""

    width: int
    head: int

    def __init__(self, game: WordLineGame, hidden: tuple[int, ...]) -> None:
        super().__init__(game)
        self.hidden = hidden
        self.width, self.head = hidden[0], hidden[1]

    def __eq__(self, other: object) -> bool:
        """The network's size is compiled in."""
        return super().__eq__(other) and self.hidden == getattr(other, "hidden", None)

    def __hash__(self) -> int:
        """As equality has it."""
        return hash((super().__hash__(), self.hidden))

    @property
    @abstractmethod
    def sizes(self) -> list[tuple[str, tuple[int, ...]]]:
        """The arrays that the weights are made of, in order."""


class Lined(Valued):
    """By the lines and cells of the board, the mean of all ways to turn it."""

    lanes: tuple[tuple[int, int, int, int], ...]  # first cell, step, length, offset
    sources: tuple[tuple[int, ...], ...]  # [turn][line]: the line that it comes from, or, beyond
    # their number, that line backwards
    images: tuple[tuple[int, ...], ...]  # [turn][cell]: the cell that it comes from
    num_lanes: int
    num_cells: int
    num_turns: int
    fillings: int
    kinds: int

    def __init__(self, game: WordLineGame, hidden: tuple[int, ...]) -> None:
        super().__init__(game, hidden)
        self.lanes = tuple(board_lines(game.grid))
        turns = [symmetry.cells for symmetry in game.symmetries()]
        self.images = tuple(turns)
        self.sources = tuple(self._sources(turn) for turn in turns)
        self.num_lanes, self.num_cells = len(self.lanes), game.grid.size
        self.num_symmetries = len(turns)
        self.fillings, self.kinds = num_line_indices(game.grid), num_line_features(game.grid)

    def _sources(self, turn: tuple[int, ...]) -> tuple[int, ...]:
        lanes = [
            tuple(begin + place * step for place in range(length))
            for begin, step, length, _ in self.lanes
        ]
        ways = {cells: number for number, cells in enumerate(lanes)}
        ways |= {cells[::-1]: len(lanes) + number for number, cells in enumerate(lanes)}
        return tuple(ways[tuple(turn[cell] for cell in cells)] for cells in lanes)

    @property
    def sizes(self) -> list[tuple[str, tuple[int, ...]]]:
        """A row a filling or kind of cell, then three layers."""
        return [
            ("lines.weight", (self.kinds, self.width)),
            ("lines.bias", (self.width,)),
            ("full0.weight", (self.width, self.head)),
            ("full0.bias", (self.head,)),
            ("full1.weight", (self.head, self.head)),
            ("full1.bias", (self.head,)),
            ("value.weight", (self.head, 1)),
            ("value.bias", (1,)),
        ]

    def evaluate_network(self, state: Any, net: Any, room: Any) -> Any:
        """The network's value of a state, in units; rows of `room` are its layers and notes.

        Notes are whole numbers that a float32 holds exactly.
        """
        mine, theirs, _player = state
        # 1. How lines are filled, read both ways, and what cells are: once for all turns.
        filled, kinds, rows, mean = room[1], room[2], room[3], room[4]
        for lane in range(self.num_lanes):
            begin, step, length, _offset = self.lanes[lane]
            filled[lane] = line_index(mine, theirs, begin, step, length)
            last = begin + (length - 1) * step
            filled[self.num_lanes + lane] = line_index(mine, theirs, last, -step, length)
        wins, loses, avoids, spared = tactical_masks(self, mine, theirs)
        for cell in range(self.num_cells):
            kinds[cell] = cell_kind(word(cell), mine, theirs, wins, loses, avoids, spared)
        # 2. Each turn: the sum of the rows that are there, nothing below 0; the mean of them all.
        at = self.kinds * self.width
        for unit in range(self.width):
            mean[unit] = 0.0
        for turn in range(self.num_symmetries):
            number = 0
            for lane in range(self.num_lanes):
                offset = self.lanes[lane][3]
                rows[number] = (offset + int(filled[self.sources[turn][lane]])) * self.width
                number += 1
            for cell in range(self.num_cells):
                kind = NUM_CELL_KINDS * cell + int(kinds[self.images[turn][cell]])
                rows[number] = (self.fillings + kind) * self.width
                number += 1
            sum_rows(net, at, rows, number, room[0], self.width)
            for unit in range(self.width):
                mean[unit] += max(room[0, unit], np.float32(0.0))
        share = np.float32(1.0 / self.num_symmetries)
        for unit in range(self.width):
            room[0, unit] = mean[unit] * share
        # 3. The layers.
        at = full(net, at + self.width, room, 0, self.width, 1, self.head)
        bent(room, 1, self.head)
        at = full(net, at, room, 1, self.head, 2, self.head)
        bent(room, 2, self.head)
        value = float(net[at + self.head])
        for unit in range(self.head):
            value += float(net[at + unit]) * float(room[2, unit])
        return int(UNIT * np.tanh(value))


class Featured(Valued):
    """By the fifty features that were published for Squava."""

    num_features: int = 50

    @property
    def sizes(self) -> list[tuple[str, tuple[int, ...]]]:
        """Three layers with their normalisations, then two."""
        found: list[tuple[str, tuple[int, ...]]] = []
        for number in range(3):
            before = self.width if number else self.num_features
            found += [
                (f"full{number}.weight", (before, self.width)),
                (f"full{number}.bias", (self.width,)),
                (f"norm{number}.weight", (self.width,)),
                (f"norm{number}.bias", (self.width,)),
            ]
        return [
            *found,
            ("head.weight", (self.width, self.head)),
            ("head.bias", (self.head,)),
            ("value.weight", (self.head, 1)),
            ("value.bias", (1,)),
        ]

    def evaluate_network(self, state: Any, net: Any, room: Any) -> Any:
        """The network's value of a state, in units; rows of `room` are its layers."""
        for at in range(self.num_features):
            room[0, at] = 0.0
        write_features(self, state, 0, room)
        at = full(net, 0, room, 0, self.num_features, 1, self.width)
        at = normed(net, at, room, 1, self.width)
        at = full(net, at, room, 1, self.width, 2, self.width)
        at = normed(net, at, room, 2, self.width)
        at = full(net, at, room, 2, self.width, 3, self.width)
        at = normed(net, at, room, 3, self.width)
        for unit in range(self.width):
            room[3, unit] += room[1, unit]
        at = full(net, at, room, 3, self.width, 2, self.head)
        value = float(net[at + self.head])
        for unit in range(self.head):
            x = float(room[2, unit])
            value += float(net[at + unit]) * (x if x > 0 else np.exp(x) - 1.0)
        return int(UNIT * np.tanh(value))


def full(net: Any, at: Any, room: Any, source: Any, inputs: Any, target: Any, outputs: Any) -> Any:
    """One layer from a row to another; returns where its weights end.

    Four inputs that are not 0 at a time: measured twice as fast as one by one. Slices, because
    the compiler knows that nothing in them lies before their beginning.
    """
    bias = net[at + inputs * outputs : at + inputs * outputs + outputs]
    found, given = room[target], room[source]
    for unit in range(outputs):
        found[unit] = bias[unit]
    zero = np.float32(0.0)
    a, b, c, d = zero, zero, zero, zero
    row_a, row_b, row_c, row_d = at, at, at, at
    count = 0
    for feature in range(inputs):
        x = given[feature]
        if x != 0:
            a, b, c, d = x, a, b, c
            row_a, row_b, row_c, row_d = at + feature * outputs, row_a, row_b, row_c
            count += 1
            if count == 4:
                add_rows(net, found, outputs, a, b, c, d, row_a, row_b, row_c, row_d)
                a, b, c, d = zero, zero, zero, zero
                count = 0
    if count > 0:
        add_rows(net, found, outputs, a, b, c, d, row_a, row_b, row_c, row_d)
    return at + (inputs + 1) * outputs


def add_rows(
    net: Any,
    found: Any,
    outputs: Any,
    a: Any,
    b: Any,
    c: Any,
    d: Any,
    row_a: Any,
    row_b: Any,
    row_c: Any,
    row_d: Any,
) -> None:
    """Four rows of weights, each times its input."""
    u, v = net[row_a : row_a + outputs], net[row_b : row_b + outputs]
    w, x = net[row_c : row_c + outputs], net[row_d : row_d + outputs]
    for unit in range(outputs):
        found[unit] += (a * u[unit] + b * v[unit]) + (c * w[unit] + d * x[unit])


def sum_rows(net: Any, bias: Any, rows: Any, count: Any, found: Any, width: Any) -> None:
    """The bias and these rows of weights, four at a time."""
    first = net[bias : bias + width]
    for unit in range(width):
        found[unit] = first[unit]
    at = 0
    while at + 4 <= count:
        a, b, c, d = int(rows[at]), int(rows[at + 1]), int(rows[at + 2]), int(rows[at + 3])
        u, v = net[a : a + width], net[b : b + width]
        w, x = net[c : c + width], net[d : d + width]
        for unit in range(width):
            found[unit] += (u[unit] + v[unit]) + (w[unit] + x[unit])
        at += 4
    while at < count:
        a = int(rows[at])
        u = net[a : a + width]
        for unit in range(width):
            found[unit] += u[unit]
        at += 1


def bent(room: Any, row: Any, width: Any) -> None:
    """Nothing below 0."""
    found = room[row]
    for unit in range(width):
        found[unit] = max(found[unit], np.float32(0.0))


def normed(net: Any, at: Any, room: Any, row: Any, width: Any) -> Any:
    """Mean 0 and spread 1, then a scale and a shift of its own for each unit, nothing below 0."""
    found = room[row]
    scales, shifts = net[at : at + width], net[at + width : at + 2 * width]
    total = 0.0
    for unit in range(width):
        total += found[unit]
    mean = np.float32(total / width)
    total = 0.0
    for unit in range(width):
        total += (found[unit] - mean) * (found[unit] - mean)
    factor = np.float32(1.0 / np.sqrt(total / width + _EPSILON))
    for unit in range(width):
        found[unit] = (found[unit] - mean) * factor * scales[unit] + shifts[unit]
    bent(room, row, width)
    return at + 2 * width


class Published(Featured, PublishedTactics):
    """With the ordering and the heuristic that were published, too."""


def valued(
    game: WordLineGame, kind: str, hidden: tuple[int, ...], *, published: bool = False
) -> Valued:
    """Solver hooks that evaluate states by a network of this kind and size."""
    if published:
        if game.spec != "squava" or kind != "residual":
            msg = f"what was published is a residual network for squava, not {kind} for {game.spec}"
            raise BadSpec(msg)
        return Published(game, hidden)
    return {"lines": Lined, "residual": Featured}[kind](game, hidden)


def flat(hooks: Valued, arrays: dict[str, Any]) -> Any:
    """Weights in the order of the kernel."""
    parts = [np.asarray(arrays[name], np.float32).reshape(-1) for name, _ in hooks.sizes]
    return np.concatenate(parts)


def net_for(
    hooks: Valued, arrays: dict[str, Any], shares: tuple[int, int] = (1000, 0), cache: int = CACHE
) -> Net:
    """The weights as the kernel takes them, with a cache that lives as long as they do."""
    room = np.zeros((_ROWS, max(hooks.width, hooks.head, _LONGEST)), np.float32)
    kept = np.zeros((cache, hooks.game.num_words + 1), np.uint64)
    return Net(flat(hooks, arrays), room, kept, shares)


class Looking:
    """Short searches with a network at their horizon, for arrays of states."""

    def __init__(self, hooks: Valued, shares: tuple[int, int], gamma: float) -> None:
        self.hooks, self.gamma, self.game_batch = hooks, gamma, GameBatch(hooks.game)
        nothing = {name: np.zeros(sizes, np.float32) for name, sizes in hooks.sizes}
        self._net = net_for(hooks, nothing, shares)
        self._runner = Runner(hooks, table_bits=_TABLE_BITS, symmetry=False, net=self._net)

    def load(self, arrays: dict[str, Any]) -> None:
        """Other weights; what the last ones said is forgotten."""
        self._net.weights[:] = flat(self.hooks, arrays)
        self._net.cache[:] = 0

    def worths(self, states: Any, plies: int) -> tuple[Any, Any, Transitions]:
        """What moves seem worth, [row, action]; whether a row is decided; what there is to learn.

        That is the states that were searched, but for those that a search settles without looking
        ahead: no network is asked there.
        """
        scores = self._runner.look_each(states, plies)
        legal = scores != k.NO_SCORE
        scores = np.where(legal, scores, -self.hooks.win_score)
        decided = np.abs(scores.max(1)) > self.hooks.win_score // 2
        found = worth(scores, plies, self.gamma, self.hooks.win_score)
        rows, actions = (np.ascontiguousarray(part) for part in np.nonzero(legal))
        after, _, over = self.game_batch.step(np.ascontiguousarray(states[rows]), actions)
        known = -found[rows, actions] / self.gamma  # a ply nearer
        states = np.concatenate([states, after[~over]])
        known = np.concatenate([found.max(1), known[~over]])
        asked = self.game_batch.needs_search(states)
        states, known = states[asked], np.clip(known[asked], -1, 1).astype(np.float32)
        nothing = np.zeros(len(known), np.float32)
        return found, decided, Transitions(states, nothing.astype(np.int64), known, nothing, states)


def worth(scores: Any, plies: int, gamma: float, far: int) -> Any:
    """Scores as values from -1 to 1: proven ones by their distance, others by the search's."""
    decided = np.abs(scores) > far // 2
    distance = np.where(decided, far - np.abs(scores), plies)
    return np.where(decided, np.sign(scores), scores / UNIT) * gamma**distance
