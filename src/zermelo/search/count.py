"""Counting positions, move sequences and complete games, ply by ply.

One breadth-first traversal gives all three counts. A layer holds the distinct states of one
ply, each with the number of paths that lead to it: the sum of a layer's paths is the
perft number, and the paths into finished states are the complete games. Bitboard games are counted
by a kernel with a hash table of exact states, all other games in plain Python.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from zermelo.core import phrases
from zermelo.core.bitboard import popcount, scale, word
from zermelo.core.errors import BadSpec, TooLarge, import_package
from zermelo.core.game import Game, MaskGame, WordGame
from zermelo.core.notation import show_value
from zermelo.core.position import Outcome
from zermelo.core.symmetry import Symmetry
from zermelo.games import registry
from zermelo.games.determinism import RuleSampler
from zermelo.games.registry import GameLike
from zermelo.kernels.compiler import compile_kernel
from zermelo.kernels.registry import kernel
from zermelo.search.state_keys import build_symmetry_tables, canonical_state, hash_words

if TYPE_CHECKING:
    from numpy.typing import NDArray

MAX_STATES = 100_000_000
MAX_STATES_PYTHON = 3_000_000
_SLICE = 1 << 13  # states expanded between two checks of the limit and updates of the progress bar
_SLICE_PYTHON = 1000
_MIN_SLOTS = 1 << 12
_OVERFLOW = -1
_EXPAND, _ENDS_ONLY, _SUM_ONLY = 0, 1, 2  # the modes of `expand_layer`

Progress = Callable[[int, int], None]  #: called with (ply, states so far)
_Layers = Iterator[tuple["PlyCounts | None", int]]  # (counts, states); no counts within a layer


@dataclass
class PlyCounts:
    """The counts at one ply."""

    states: int = 0  #: states that did not occur at an earlier ply
    paths: int = 0  #: move sequences of this length
    finished: dict[Outcome, int] = field(default_factory=lambda: dict.fromkeys(Outcome, 0))


@dataclass(frozen=True)
class Counts:
    """The numbers of states, move sequences and complete games, by ply from the initial state."""

    game: Game
    layers: tuple[PlyCounts, ...]

    @property
    def by_ply(self) -> list[int]:
        """The number of new states at each ply; the first number, for ply 0, is 1."""
        return [layer.states for layer in self.layers if layer.states]

    @property
    def states(self) -> int:
        """The number of distinct states."""
        return sum(self.by_ply)

    @property
    def games(self) -> dict[str, int]:
        """The number of complete games, in total and by outcome."""
        ends = {o.value: sum(layer.finished[o] for layer in self.layers) for o in Outcome}
        return {"total": sum(ends.values()), **ends}

    def perft(self, depth: int) -> list[int]:
        """Return the numbers of move sequences of length 1, 2, …, depth."""
        numbers, num_finished = [], 0
        for ply in range(depth + 1):
            layer = self.layers[ply] if ply < len(self.layers) else PlyCounts()
            numbers.append(layer.paths + (num_finished if self.game.counts_finished else 0))
            num_finished += sum(layer.finished.values())
        return numbers[1:]

    def to_dict(self) -> dict[str, Any]:
        """Return the fields of the JSON output, as if all counts had been requested."""
        return {
            "game": self.game.spec,
            "perft": self.perft(len(self.layers) - 1),
            "states": self.states,
            "by_ply": self.by_ply,
            "games": self.games,
        }

    def to_dataframe(self) -> Any:
        """Return a pandas data frame with a row for every ply."""
        rows = [
            {
                "ply": ply,
                "states": layer.states,
                "sequences": layer.paths,
                **{outcome.value: layer.finished[outcome] for outcome in Outcome},
            }
            for ply, layer in enumerate(self.layers)
        ]
        return import_package("pandas", "to_dataframe").DataFrame(rows)

    def __repr__(self) -> str:
        """Return the game and the number of states in angle brackets."""
        plies = phrases.count(max(len(self.layers) - 1, 0), "ply", "plies")
        return f"<counts of {self.game.spec}: {phrases.count(self.states, 'state')} in {plies}>"


def count(
    game: GameLike,
    *,
    max_ply: int | None = None,
    states: bool = True,
    paths: bool = True,
    symmetric: bool = False,
    max_states: int | None = None,
    progress: Progress | None = None,
) -> Counts:
    """Count the states, move sequences and complete games of a game up to `max_ply` or its end.

    With `states=False` only move sequences are counted, and the last ply is summed up without
    storing its states. With `paths=False` only states are counted, and each state is expanded only
    once. With `symmetric`, states that a symmetry of the board maps onto each other count as one;
    this does not affect the other counts. Raise TooLarge if more than `max_states` states exist.
    """
    rules = registry.as_game(game)
    if max_ply is not None and not isinstance(max_ply, int):
        msg = f"max_ply is {show_value(max_ply)}: it must be a whole number or None"
        raise BadSpec(msg)
    options = _CountOptions(max_ply, states, paths, rules.symmetries() if symmetric else ())
    if isinstance(rules, WordGame):
        layers, limit = _word_layers(rules, options), max_states or MAX_STATES
    else:
        layers, limit = _python_layers(rules, options), max_states or MAX_STATES_PYTHON
    counts: list[PlyCounts] = []
    total = 0
    for layer, size in layers:
        if layer is None:
            if total + size > limit:
                raise TooLarge(_too_large(rules, limit, len(counts)))
            if progress:
                progress(len(counts), total + size)
            continue
        counts.append(layer)
        total += layer.states
        # If there are more plies than states, a state has recurred: the game can last forever.
        if states and paths and len(counts) > total + 1:
            msg = f"{rules.spec} has endless games: a state recurs after {len(counts) - 1} plies"
            raise TooLarge(msg)
    return Counts(rules, tuple(counts))


def _too_large(game: Game, limit: int, ply: int) -> str:
    bound = f" and at most 3^{game.grid.size}" if game.grid else ""
    return (
        f"{game.spec} has more than {limit:,} states{bound}: counting stopped at ply {ply}; "
        "limit the number of plies"
    )


@dataclass(frozen=True)
class _CountOptions:
    max_ply: int | None
    states: bool
    paths: bool
    symmetries: tuple[Symmetry, ...]

    def is_summed(self, ply: int) -> bool:
        """Return whether the children of this ply are only summed up and not stored."""
        return not self.states and self.max_ply is not None and ply == self.max_ply - 1


# Counting for any game, in plain Python.


def _python_layers(game: Game, options: _CountOptions) -> _Layers:
    seen: set[Any] = set()
    paths: dict[Any, int] = {game.initial(): 1}
    sampler = RuleSampler(game)
    ply = 0
    while paths:
        new = paths.keys() - seen if options.states else set()
        if options.states and not options.paths:
            paths = dict.fromkeys(new, 1)
        layer = PlyCounts(len(new), sum(paths.values()))
        seen |= new
        next_paths: dict[Any, int] = {}
        child_sum = 0
        for number, (state, num_paths) in enumerate(paths.items()):
            sampler.check(state)
            is_over, value = game.result(state)
            if is_over:
                layer.finished[Outcome.from_value(value, game.player(state))] += num_paths
            if is_over or ply == options.max_ply:
                continue
            actions = game.actions(state)
            if options.is_summed(ply):
                child_sum += num_paths * len(actions)
                continue
            for action in actions:
                child = _canonical(game, options.symmetries, game.play(state, action))
                next_paths[child] = next_paths.get(child, 0) + num_paths
            if number % _SLICE_PYTHON == 0:
                yield None, len(next_paths)
        yield layer, len(paths)
        if options.is_summed(ply):
            yield PlyCounts(0, child_sum), 0
        paths = next_paths
        ply += 1


def _canonical(game: Game, symmetries: tuple[Symmetry, ...], state: Any) -> Any:
    if not isinstance(game, MaskGame):
        return state
    return min((game.transform(state, symmetry) for symmetry in symmetries), default=state)


# Counting for bitboard games, in kernels.


def _word_layers(game: WordGame, options: _CountOptions) -> _Layers:
    import numpy as np

    expand = compile_kernel(expand_layer, game)
    tables = build_symmetry_tables(options.symmetries)
    states = np.array([game.initial()], np.uint64)
    paths = np.ones(1, np.uint64)
    children = _StateTable(game)
    seen = None if game.is_layered or not options.states else _StateTable(game)
    ply = 0
    while len(states):
        mode = _SUM_ONLY if options.is_summed(ply) else _EXPAND
        mode = _ENDS_ONLY if ply == options.max_ply else mode
        layer = PlyCounts(len(states) if options.states else 0, _exact_sum(paths))
        if seen is not None:
            new = seen.add(states)
            layer.states = len(new)
            if not options.paths:
                states, paths = new, np.ones(len(new), np.uint64)
        sums = np.zeros(4, np.uint64)
        for begin in range(0, len(states), _SLICE):
            end = min(begin + _SLICE, len(states))
            children.reserve((end - begin) * game.num_actions if mode == _EXPAND else 0)
            table = (children.keys, children.paths, children.used)
            children.used = expand(states, paths, begin, end, mode, *table, tables, sums)
            if children.used == _OVERFLOW:
                msg = f"{game.spec} has more than 2^64 move sequences"
                raise TooLarge(msg)
            yield None, children.used
        layer.finished = dict(zip(Outcome, map(int, sums[:3]), strict=True))
        yield layer, len(states)
        if mode == _SUM_ONLY:
            yield PlyCounts(0, int(sums[3])), 0
        states, paths = children.take()
        ply += 1


def _exact_sum(paths: "NDArray[Any]") -> int:
    """Return the exact sum, which may exceed 64 bits: add the 32-bit halves separately."""
    high, low = paths >> 32, paths & 0xFFFFFFFF
    return (int(high.sum()) << 32) + int(low.sum())


class _StateTable:
    """A hash table that maps exact states to numbers of paths; it grows when it is half full."""

    def __init__(self, game: WordGame) -> None:
        self.game = game
        self._clear(_MIN_SLOTS)

    keys: "NDArray[Any]"  # [slot, word]
    paths: "NDArray[Any]"  # [slot]; 0 marks a free slot
    used: int

    def _clear(self, size: int) -> None:
        import numpy as np

        self.keys = np.empty((size, self.game.num_words), np.uint64)
        self.paths = np.zeros(size, np.uint64)
        self.used = 0

    def reserve(self, num_states: int) -> None:
        """Enlarge the table so that it stays at most half full with this many more states."""
        import numpy as np

        size = len(self.paths)
        while 2 * (self.used + num_states) > size:
            size *= 2
        if size > len(self.paths):
            states, paths = self.take(size)
            self._insert(states, paths, np.zeros(len(states), np.bool_))

    def take(self, size: int | None = None) -> tuple["NDArray[Any]", "NDArray[Any]"]:
        """Return the stored states and their numbers of paths, and clear the table."""
        slots = self.paths.nonzero()[0]
        states, paths = self.keys[slots], self.paths[slots]
        self._clear(size or 1 << (4 * len(slots) + _MIN_SLOTS).bit_length())
        return states, paths

    def add(self, states: "NDArray[Any]") -> "NDArray[Any]":
        """Store states and return those that were not yet in the table."""
        import numpy as np

        self.reserve(len(states))
        is_new = np.zeros(len(states), np.bool_)
        self._insert(states, np.ones(len(states), np.uint64), is_new)
        return states[is_new]

    def _insert(
        self, states: "NDArray[Any]", paths: "NDArray[Any]", is_new: "NDArray[Any]"
    ) -> None:
        insert = compile_kernel(insert_states, self.game)
        self.used = insert(states, paths, self.keys, self.paths, self.used, is_new)


@kernel(
    "uint64[:,::1], uint64[::1], int64, int64, int64, "
    "uint64[:,::1], uint64[::1], int64, uint64[:,:,::1], uint64[::1]"
)
def expand_layer(
    game: WordGame,
    states: Any,  # [state, word]
    paths: Any,  # [state]
    begin: Any,
    end: Any,
    mode: Any,
    keys: Any,  # [slot, word]
    key_paths: Any,  # [slot]
    used: Any,
    symmetry_tables: Any,
    sums: Any,  # games won by the first player, by the second, drawn; paths to the next ply
) -> Any:
    """Add the children of states[begin:end] to the table `keys`, `key_paths`.

    The numbers of paths into finished states are added to `sums`. With the mode _ENDS_ONLY no
    children are added; with _SUM_ONLY the paths to the children are added to sums[3] instead.
    Return the number of used slots, or _OVERFLOW if a number of paths exceeds 64 bits. The caller
    must provide enough free slots.
    """
    for row in range(begin, end):
        state = game.load(states, row)
        over, value = game.result(state)
        if over:
            winner = 2
            if value != 0:
                winner = popcount(state[-1]) if value > 0 else 1 - popcount(state[-1])
            sums[winner] = word(sums[winner]) + word(paths[row])
            if word(sums[winner]) < word(paths[row]):
                return _OVERFLOW
        if over or mode == _ENDS_ONLY:
            continue
        mask = game.as_mask(game.legal(state))
        if mode == _SUM_ONLY:
            child_paths = word(paths[row]) * word(max(game.count_actions(mask), 1))
            sums[3] = word(sums[3]) + child_paths
            if word(sums[3]) < child_paths:
                return _OVERFLOW
            continue
        action = game.num_actions - 1
        is_pass = game.is_empty(mask)
        while is_pass or not game.is_empty(mask):
            if not is_pass:
                action = game.lowest_action(mask)
                mask = game.without_lowest(mask)
            is_pass = False
            child = canonical_state(game, game.play(state, action), symmetry_tables)
            slot = find_slot(game, keys, key_paths, child)
            if key_paths[slot] == 0:
                game.store(keys, slot, child)
                used += 1
            key_paths[slot] = word(key_paths[slot]) + word(paths[row])
            if word(key_paths[slot]) < word(paths[row]):
                return _OVERFLOW
    return used


@kernel("uint64[:,::1], uint64[::1], uint64[:,::1], uint64[::1], int64, bool[::1]")
def insert_states(
    game: WordGame, states: Any, paths: Any, keys: Any, key_paths: Any, used: Any, is_new: Any
) -> Any:
    """Insert states and their numbers of paths into a table, which must have enough free slots.

    Set `is_new` for each state that was not yet in the table; return the number of used slots.
    """
    for row in range(len(states)):
        state = game.load(states, row)
        slot = find_slot(game, keys, key_paths, state)
        if key_paths[slot] == 0:
            game.store(keys, slot, state)
            key_paths[slot] = paths[row]
            is_new[row] = True
            used += 1
    return used


def find_slot(game: WordGame, keys: Any, key_paths: Any, state: Any) -> Any:
    """Return the slot that holds a state, or the free slot for it; the table must not be full."""
    slot = scale(hash_words(state), len(keys))
    while key_paths[slot] != 0 and game.load(keys, slot) != state:
        slot = slot + 1 if slot + 1 < len(keys) else 0
    return slot
