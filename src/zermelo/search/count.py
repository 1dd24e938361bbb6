"""Counting: positions, move sequences and whole games, ply by ply.

One walk answers all three. A layer holds the distinct states of one ply, each with the number
of ways that lead there, so perft is a layer's sum and games are the ways into finished states.
Word games run in a kernel over a hash table with exact keys; any other game in plain Python.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from zermelo.core.bitboard import lowest, mix, popcount, scale, word
from zermelo.core.errors import TooLarge
from zermelo.core.game import Game, MaskGame, WordGame
from zermelo.core.position import Outcome
from zermelo.core.symmetry import Symmetry, byte_tables
from zermelo.kernels import compiled, kernel

if TYPE_CHECKING:
    from numpy.typing import NDArray

MAX_STATES = 100_000_000
MAX_STATES_PYTHON = 3_000_000
_SLICE = 1 << 13  # states expanded between two looks at the table, the progress bar and Ctrl-C
_NUM_BYTES = 8
_FEWEST = 1 << 12  # slots of the smallest table
_OVERFLOW = -1

Progress = Callable[[int, int], None]  #: (ply, states so far)


@dataclass
class Layer:
    """What one ply holds: states seen for the first time, ways to get here, games that ended."""

    states: int = 0
    ways: int = 0
    finished: dict[Outcome, int] = field(default_factory=lambda: dict.fromkeys(Outcome, 0))


@dataclass(frozen=True)
class Counts:
    """The layers from the start on."""

    game: Game
    layers: tuple[Layer, ...]

    @property
    def by_ply(self) -> list[int]:
        """New states a ply; the start is entry 0."""
        return [layer.states for layer in self.layers if layer.states]

    @property
    def states(self) -> int:
        """All distinct states."""
        return sum(self.by_ply)

    @property
    def games(self) -> dict[str, int]:
        """Whole games, by how they end."""
        ends = {o.value: sum(layer.finished[o] for layer in self.layers) for o in Outcome}
        return {"total": sum(ends.values()), **ends}

    def perft(self, depth: int) -> list[int]:
        """Move sequences of length 1, 2, …, depth."""
        found, ended = [], 0
        for ply in range(depth + 1):
            layer = self.layers[ply] if ply < len(self.layers) else Layer()
            found.append(layer.ways + (ended if self.game.counts_finished else 0))
            ended += sum(layer.finished.values())
        return found[1:]


def count(
    game: Game,
    *,
    max_ply: int | None = None,
    states: bool = True,
    ways: bool = True,
    symmetric: bool = False,
    max_states: int | None = None,
    progress: Progress | None = None,
) -> Counts:
    """Walk the game from the start, to `max_ply` or to the end.

    `states=False` asks for sequences only, and the last ply is summed up without being stored;
    `ways=False` asks for states only, so each is expanded once, however often it recurs.
    `symmetric` merges states that a symmetry of the board maps onto each other; sequences and
    games are counted as before. TooLarge says how far it came.
    """
    plan = _Plan(max_ply, states, ways, game.symmetries() if symmetric else ())
    if isinstance(game, WordGame):
        layers, limit = _word_layers(game, plan), max_states or MAX_STATES
    else:
        layers, limit = _python_layers(game, plan), max_states or MAX_STATES_PYTHON
    found: list[Layer] = []
    total = 0
    for layer, size in layers:
        if layer is None:  # a slice of the layer to come
            if total + size > limit:
                raise TooLarge(_too_large(game, limit, len(found)))
            if progress:
                progress(len(found), total + size)
            continue
        found.append(layer)
        total += layer.states
        # A line longer than there are states meets one twice, and can do so for ever.
        if states and ways and len(found) > total + 1:
            msg = f"{game.spec} has games without end: a state recurs after {len(found) - 1} plies"
            raise TooLarge(msg)
    return Counts(game, tuple(found))


def _too_large(game: Game, limit: int, ply: int) -> str:
    most = f" and at most 3^{game.grid.size}" if game.grid else ""
    return (
        f"{game.spec} has more than {limit:,} states{most}: counting stopped at ply {ply}; "
        "ask for fewer plies with --perft"
    )


# Any game, in plain Python. `None` stands for a slice on the way to the next layer.


@dataclass(frozen=True)
class _Plan:
    max_ply: int | None
    states: bool
    ways: bool
    symmetries: tuple[Symmetry, ...]

    def is_summed(self, ply: int) -> bool:
        """Whether the children of this ply need only be summed up."""
        return not self.states and self.max_ply is not None and ply == self.max_ply - 1


def _python_layers(game: Game, plan: _Plan) -> Iterator[tuple[Layer | None, int]]:
    seen: set[Any] = set()
    ways: dict[Any, int] = {game.initial(): 1}
    ply = 0
    while ways:
        new = ways.keys() - seen if plan.states else set()
        if plan.states and not plan.ways:
            ways = dict.fromkeys(new, 1)
        layer = Layer(len(new), sum(ways.values()))
        seen |= new
        following: dict[Any, int] = {}
        summed = 0
        for done, (state, number) in enumerate(ways.items()):
            over, value = game.result(state)
            if over:
                layer.finished[Outcome.of(value, game.player(state))] += number
            if over or ply == plan.max_ply:
                continue
            actions = game.actions(state)
            if plan.is_summed(ply):
                summed += number * len(actions)
                continue
            for action in actions:
                child = _least_moved(game, plan.symmetries, game.play(state, action))
                following[child] = following.get(child, 0) + number
            if done % 1000 == 0:
                yield None, len(following)
        yield layer, len(ways)
        if plan.is_summed(ply):
            yield Layer(0, summed), 0
        ways = following
        ply += 1


def _least_moved(game: Game, symmetries: tuple[Symmetry, ...], state: Any) -> Any:
    if not isinstance(game, MaskGame):
        return state
    return min((game.moved(state, s) for s in symmetries), default=state)


# Word games, in kernels.


@kernel(
    "uint64[:,::1], uint64[::1], int64, int64, int64, "
    "uint64[:,::1], uint64[::1], int64, uint64[:,:,::1], uint64[::1]"
)
def expand(
    game: WordGame,
    states: Any,
    ways: Any,
    begin: Any,
    end: Any,
    last: Any,
    keys: Any,
    key_ways: Any,
    used: Any,
    turns: Any,
    ended: Any,
) -> Any:
    """Put the children of states[begin:end] into the table `keys`, `key_ways` (0: free slot).

    On the `last` layer there are no children, only ends; with `last` 2 the children's ways are
    added to ended[3] instead.
    Finished states add their ways to `ended`: first player won, second, draw. Returns how many
    slots are used now, or -1 when a number of ways outgrew 64 bits.
    """
    for row in range(begin, end):
        state = game.load(states, row)
        over, value = game.result(state)
        if over:
            winner = 2
            if value != 0:
                winner = popcount(state[-1]) if value > 0 else 1 - popcount(state[-1])
            ended[winner] = word(ended[winner]) + word(ways[row])
            if word(ended[winner]) < word(ways[row]):
                return _OVERFLOW
        if over or last == 1:
            continue
        mask = game.legal(state)
        if last == 2:
            more = word(ways[row]) * word(max(popcount(mask), 1))
            ended[3] = word(ended[3]) + more
            if word(ended[3]) < more:
                return _OVERFLOW
            continue
        action = game.num_actions - 1
        passing = mask == 0
        while passing or mask != 0:
            if not passing:
                action = lowest(mask)
                mask = mask & (mask - word(1))
            passing = False
            child = least_image(game, game.play(state, action), turns)
            slot = find(game, keys, key_ways, child)
            if key_ways[slot] == 0:
                game.store(keys, slot, child)
                used += 1
            key_ways[slot] = word(key_ways[slot]) + word(ways[row])
            if word(key_ways[slot]) < word(ways[row]):
                return _OVERFLOW
    return used


def find(game: WordGame, keys: Any, key_ways: Any, state: Any) -> Any:
    """The slot of a state in a table that is not full: its own or the free one it would take."""
    digest = word(0)
    for part in state:
        digest = mix(digest ^ part)
    slot = scale(digest, len(keys))
    while key_ways[slot] != 0 and game.load(keys, slot) != state:
        slot = slot + 1 if slot + 1 < len(keys) else 0
    return slot


def least_image(game: WordGame, state: Any, turns: Any) -> Any:
    """The least of a state's images; `turns` are the byte tables, empty for no symmetry."""
    least = state
    for turn in range(1, len(turns)):
        image = game.turned(state, turns[turn])
        if image < least:
            least = image
    return least


def _word_layers(game: WordGame, plan: _Plan) -> Iterator[tuple[Layer | None, int]]:
    import numpy as np

    run = compiled(expand, game)
    turns = np.array(byte_tables(plan.symmetries), np.uint64).reshape(-1, _NUM_BYTES, 256)
    states = np.array([game.initial()], np.uint64)
    ways = np.ones(1, np.uint64)
    table = _Table(game)
    seen = None if game.layered or not plan.states else _Table(game)
    ply = 0
    while len(states):
        last = 1 if ply == plan.max_ply else 2 if plan.is_summed(ply) else 0
        layer = Layer(len(states) if plan.states else 0, _exact_sum(ways))
        if seen is not None:
            new = seen.add(states)
            layer.states = len(new)
            if not plan.ways:
                states, ways = new, np.ones(len(new), np.uint64)
        ended = np.zeros(4, np.uint64)
        for begin in range(0, len(states), _SLICE):
            end = min(begin + _SLICE, len(states))
            table.make_room(0 if last else (end - begin) * game.num_actions)
            at = (states, ways, begin, end, last)
            table.used = run(*at, table.keys, table.ways, table.used, turns, ended)
            if table.used == _OVERFLOW:
                msg = f"{game.spec} has more than 2^64 move sequences"
                raise TooLarge(msg)
            yield None, table.used
        layer.finished = dict(zip(Outcome, map(int, ended[:3]), strict=True))
        yield layer, len(states)
        if last == 2:
            yield Layer(0, int(ended[3])), 0
        states, ways = table.take()
        ply += 1


def _exact_sum(ways: "NDArray[Any]") -> int:
    """A sum that may pass 64 bits: high and low halves apart."""
    high, low = ways >> 32, ways & 0xFFFFFFFF
    return (int(high.sum()) << 32) + int(low.sum())


class _Table:
    """A hash table of exact states with a number of ways each; it doubles when half full."""

    def __init__(self, game: WordGame) -> None:
        self.game = game
        self._clear(_FEWEST)

    keys: "NDArray[Any]"
    ways: "NDArray[Any]"
    used: int

    def _clear(self, size: int) -> None:
        import numpy as np

        self.keys = np.empty((size, self.game.num_words), np.uint64)
        self.ways = np.zeros(size, np.uint64)
        self.used = 0

    def make_room(self, more: int) -> None:
        """Room for so many new states at half load, as far as they are all new."""
        import numpy as np

        size = len(self.ways)
        while 2 * (self.used + more) > size:
            size *= 2
        if size > len(self.ways):
            states, ways = self.take(size)
            self._insert(states, ways, np.zeros(len(states), np.bool_))

    def take(self, size: int | None = None) -> tuple["NDArray[Any]", "NDArray[Any]"]:
        """What it holds; the table is empty afterwards."""
        at = self.ways.nonzero()[0]
        states, ways = self.keys[at], self.ways[at]
        self._clear(size or 1 << (4 * len(at) + _FEWEST).bit_length())
        return states, ways

    def add(self, states: "NDArray[Any]") -> "NDArray[Any]":
        """Remember states; returns those that were new."""
        import numpy as np

        self.make_room(len(states))
        fresh = np.zeros(len(states), np.bool_)
        self._insert(states, np.ones(len(states), np.uint64), fresh)
        return states[fresh]

    def _insert(self, states: "NDArray[Any]", ways: "NDArray[Any]", fresh: "NDArray[Any]") -> None:
        run = compiled(insert, self.game)
        self.used = run(states, ways, self.keys, self.ways, self.used, fresh)


@kernel("uint64[:,::1], uint64[::1], uint64[:,::1], uint64[::1], int64, bool[::1]")
def insert(
    game: WordGame, states: Any, ways: Any, keys: Any, key_ways: Any, used: Any, fresh: Any
) -> Any:
    """Put states with their ways into a table with room for them; returns the slots used.

    `fresh` marks the states that were not there yet.
    """
    for row in range(len(states)):
        state = game.load(states, row)
        slot = find(game, keys, key_ways, state)
        if key_ways[slot] == 0:
            game.store(keys, slot, state)
            key_ways[slot] = ways[row]
            fresh[row] = True
            used += 1
    return used
