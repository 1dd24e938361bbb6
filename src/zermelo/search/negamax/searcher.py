"""The searcher, which holds the arrays of one game and runs the kernels in slices of nodes."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from zermelo.core.errors import ZermeloError
from zermelo.core.game import SolverHooks
from zermelo.kernels.compiler import compile_kernel
from zermelo.search.limits import SearchClock
from zermelo.search.negamax import arrays, batch, kernel
from zermelo.search.negamax.arrays import SearchArrays
from zermelo.search.negamax.transposition_table import NO_MOVE, probe
from zermelo.search.state_keys import build_symmetry_tables

if TYPE_CHECKING:
    from numpy.typing import NDArray

# The smallest and the largest stack; with passes, a game may have more plies than cells.
_MIN_PLIES, _MAX_PLIES = 140, 1000
_NO_HORIZON = 1 << 20
_MAX_GENERATION = 1 << 16
_CACHE_LINE = 64  # bytes
SYMMETRY_PLIES = 12  #: states up to this many plies from the root are looked up by canonical form


class Unsolved(ZermeloError):
    """Raised when a limit is reached before a proof, or when a game cannot be solved at all."""


@dataclass
class LeafNetwork:
    """A network that estimates states at the horizon, with a cache of its estimates."""

    weights: Any  #: a flat float32 array
    layers: Any  #: float32 [row, …]: scratch memory for the layers
    estimates: Any  #: uint64 [slot, word]: the cache of states, each with its estimate
    blend: tuple[int, int] = (1000, 0)  #: weights of network and heuristic in thousandths

    @classmethod
    def none(cls, num_words: int) -> "LeafNetwork":
        """Return a placeholder with empty arrays: the heuristic alone estimates leaves."""
        import numpy as np

        empty: NDArray[Any] = np.zeros(0, np.float32)
        estimates = np.zeros((0, num_words + 1), np.uint64)
        return cls(empty, empty.reshape(0, 1), estimates, (0, 1000))


class NegamaxSearcher:
    """Runs the search kernels for one game; the transposition table is kept between searches."""

    def __init__(
        self,
        hooks: SolverHooks,
        *,
        table_bits: int | None,
        ordering: bool = True,
        symmetry: bool = True,
        network: LeafNetwork | None = None,
    ) -> None:
        import numpy as np

        self.hooks, self.game = hooks, hooks.game
        self._solve = compile_kernel(kernel.solve, hooks)
        self._num_words = hooks.game.num_words
        key_words = len(hooks.key(hooks.game.initial()))
        plies = max(_MIN_PLIES, min(_MAX_PLIES, hooks.max_plies(hooks.game.initial()) + 2))
        symmetries = hooks.game.symmetries() if symmetry and table_bits is not None else ()
        num_child_moves = max(65, hooks.game.num_actions) * hooks.game.num_masks
        network = network or LeafNetwork.none(self._num_words)
        self._arrays = SearchArrays(
            states=np.zeros((plies, self._num_words + hooks.game.num_masks), np.uint64),
            keys=np.zeros((plies, key_words), np.uint64),
            frames=np.zeros((plies, arrays.NUM_COLUMNS), np.int64),
            moves=np.zeros((plies, max(64, hooks.game.num_actions)), np.int64),
            child_moves=np.zeros((plies, num_child_moves), np.uint64),
            table=_aligned_zeros(2 if table_bits is None else 1 << table_bits, key_words + 1),
            symmetry_tables=build_symmetry_tables(symmetries),
            weights=network.weights,
            layers=network.layers,
            estimates=network.estimates,
        )
        self._packed = tuple(self._arrays)
        self.control: NDArray[Any] = np.zeros(arrays.NUM_CONTROLS, np.int64)
        self.control[arrays.GENERATION] = 1
        self.control[arrays.USE_TABLE] = table_bits is not None
        self.control[arrays.USE_ORDERING] = ordering
        self.control[arrays.SYMMETRY_PLIES] = SYMMETRY_PLIES
        self.control[arrays.NETWORK_WEIGHT], self.control[arrays.HEURISTIC_WEIGHT] = network.blend
        kernel.reset_search(self.control, self._arrays.table)

    def clear(self) -> None:
        """Clear the transposition table and the history: earlier searches then have no effect."""
        self._arrays.table[: self.control[arrays.NUM_SLOTS]] = 0
        kernel.reset_search(self.control, self._arrays.table)
        self.start_generation()

    def allocate_table(self) -> None:
        """Write to the whole table, so that its memory is allocated before a benchmark starts."""
        self._arrays.table[:] = 0

    def start_generation(self) -> None:
        """Invalidate the bounds in the table; its best moves are still used for move ordering."""
        self.control[arrays.GENERATION] += 1
        if self.control[arrays.GENERATION] >= _MAX_GENERATION:
            self._clear_table()
            self.control[arrays.GENERATION] = 1

    def narrow_bounds(
        self, state: Any, low: int, high: int, clock: SearchClock, *, sign_only: bool = False
    ) -> tuple[int, int]:
        """Return bounds of the score of a state that is not over.

        If the score lies within [low, high], both bounds equal it; otherwise they show
        whether it lies below or above. With `sign_only`, stop when a win, a draw or a loss is
        proven. Raise SearchStopped when a limit of the clock is reached.
        """
        control = self.control
        control[arrays.FIXED_WINDOW], control[arrays.SIGN_ONLY] = 0, sign_only
        control[arrays.HORIZON] = _NO_HORIZON
        self._run(state, low, high, clock)
        return int(control[arrays.LOWER]), int(control[arrays.UPPER])

    def search(self, state: Any, depth: int, alpha: int, beta: int, clock: SearchClock) -> int:
        """Return the score of a state that is not over, searched to a depth of `depth` plies.

        Fail-soft: see `Engine.search`.
        """
        self.control[arrays.FIXED_WINDOW], self.control[arrays.HORIZON] = 1, depth
        self._run(state, alpha, beta, clock)
        return int(self.control[arrays.GUESS])

    def _run(self, state: Any, low: int, high: int, clock: SearchClock) -> None:
        """Run the kernel, slice by slice, until the search is finished."""
        control = self.control
        control[arrays.DEPTH] = arrays.NOT_STARTED
        control[arrays.LOWER], control[arrays.UPPER] = low, high
        self._arrays.states[0, : self._num_words] = state
        finished = False
        while not finished:
            before = int(control[arrays.NODES])
            control[arrays.NODE_LIMIT] = before + clock.next_slice()
            finished = self._solve(control, self._packed)
            self._check_stack()
            nodes = int(control[arrays.NODES]) - before
            clock.add_nodes(nodes) if finished else clock.report(nodes)

    def solve_batch(self, states: Any, clock: SearchClock) -> list[int]:
        """Return the exact scores of states that are not over, each searched with a cleared table.

        One call of the kernel handles thousands of states. `states` may be an array [state, word].
        """
        import numpy as np

        roots: NDArray[np.uint64] = np.ascontiguousarray(states, np.uint64)
        batch_search = self.start_batch(roots.reshape(-1, self._num_words))
        while not batch_search.is_finished:
            batch_search.run_slice(clock)
        return [int(score) for score in batch_search.scores]

    def start_batch(self, roots: "NDArray[Any]", goal: int = batch.EXACT) -> "BatchSearch":
        """Return a search of `roots` [state, word] that has not begun.

        The states must not be over. No other search may use this searcher until it is finished.
        """
        self._reserve_generations(len(roots))
        self._set_controls()
        return BatchSearch(self, roots, goal)

    def run_batch_slice(
        self, run: Any, arguments: tuple[Any, ...], begin: int, clock: SearchClock
    ) -> tuple[int, int]:
        """Call a kernel for one slice; return the numbers of finished states and of searched nodes.

        The arguments of the kernel are `arguments`, the number of finished states, and the control
        and arrays of the search. It returns the new number of finished states.
        """
        control = self.control
        before = int(control[arrays.NODES])
        control[arrays.NODE_LIMIT] = before + clock.next_slice()
        finished = int(run(*arguments, begin, control, self._packed))
        self._check_stack()
        return finished, int(control[arrays.NODES]) - before

    def _set_controls(self) -> None:
        """Prepare for null-window searches to the end of the game."""
        control = self.control
        control[arrays.FIXED_WINDOW], control[arrays.SIGN_ONLY] = 0, 0
        control[arrays.HORIZON] = _NO_HORIZON
        control[arrays.DEPTH] = arrays.NOT_STARTED

    def _check_stack(self) -> None:
        """Raise Unsolved if the last search needed more plies than the stack holds."""
        if self.control[arrays.STACK_OVERFLOW]:
            self.control[arrays.STACK_OVERFLOW] = 0
            msg = f"cannot solve {self.game.spec}: a game can exceed {_MAX_PLIES:,} plies"
            raise Unsolved(msg)

    def run_batch(
        self, run: Any, states: Any, arguments: tuple[Any, ...], clock: SearchClock
    ) -> None:
        """Call a kernel repeatedly until it has finished all states.

        The arguments of the kernel are the states, `arguments`, the number of finished states, and
        the control and arrays of the search. It returns the new number of finished states.
        """
        self._set_controls()
        finished = 0
        while finished < len(states):
            finished, nodes = self.run_batch_slice(run, (states, *arguments), finished, clock)
            clock.add_nodes(nodes) if finished == len(states) else clock.report(nodes)

    def look_ahead_batch(self, states: Any, plies: int) -> Any:
        """Return the scores [state, action] of all actions, searched to a depth of `plies` plies.

        The states must not be over. Illegal actions have NO_SCORE. The searches are short and
        have no limit.
        """
        import numpy as np

        run, control = compile_kernel(batch.look_ahead_batch, self.hooks), self.control
        roots: NDArray[np.uint64] = np.ascontiguousarray(states, np.uint64)
        scores: NDArray[np.int64] = np.zeros((len(roots), self.game.num_actions), np.int64)
        legal: NDArray[np.int64] = np.zeros(self.game.num_actions, np.int64)
        self._reserve_generations(len(roots))
        control[arrays.NODE_LIMIT] = 1 << 62
        run(roots, plies, scores, legal, control, self._packed)
        return scores

    def _reserve_generations(self, number: int) -> None:
        """Clear the table if fewer than this many generation numbers are left."""
        assert number < _MAX_GENERATION
        if self.control[arrays.GENERATION] + number >= _MAX_GENERATION:
            self._clear_table()
            self.control[arrays.GENERATION] = 0

    def _clear_table(self) -> None:
        """Clear all slots that were ever in use; the others have no memory yet."""
        self._arrays.table[: self.control[arrays.PEAK_SLOTS]] = 0

    def table_move(self, state: Any) -> int | None:
        """Return the best action stored for a state in this generation, if there is one."""
        key = self.hooks.key(state)
        num_slots, generation = (
            int(self.control[arrays.NUM_SLOTS]),
            int(self.control[arrays.GENERATION]),
        )
        is_current, _, _, index = probe(self.hooks, self._arrays.table, key, num_slots, generation)
        return self.hooks.to_action(index) if is_current and index != NO_MOVE else None


class BatchSearch:
    """A search of a batch of states, which the caller runs slice by slice.

    Between two slices, the caller may give up the state that is being searched.
    """

    def __init__(self, searcher: NegamaxSearcher, roots: "NDArray[Any]", goal: int) -> None:
        import numpy as np

        self._searcher, self._roots, self._goal = searcher, roots, goal
        self._run = compile_kernel(batch.solve_batch, searcher.hooks)
        self.scores: NDArray[np.int64] = np.full(len(roots), arrays.NO_SCORE, np.int64)  #: [state]
        self.nodes: NDArray[np.int64] = np.zeros(len(roots), np.int64)  #: [state]
        self.num_finished = 0  #: the number of states searched or given up

    @property
    def is_finished(self) -> bool:
        """Whether no state is left to search."""
        return self.num_finished == len(self._roots)

    def run_slice(self, clock: SearchClock) -> None:
        """Search for about 10 ms; raise SearchStopped if the clock reaches a limit."""
        arguments = self._roots, self._goal, self.scores, self.nodes
        self.num_finished, nodes = self._searcher.run_batch_slice(
            self._run, arguments, self.num_finished, clock
        )
        clock.add_nodes(nodes) if self.is_finished else clock.report(nodes)

    def give_up_state(self) -> None:
        """Skip the state that is being searched: its score remains NO_SCORE."""
        self._searcher.control[arrays.DEPTH] = arrays.NOT_STARTED
        self.num_finished += 1


def terminal_score(hooks: SolverHooks, state: Any) -> int:
    """Return the score of a state that is over."""
    if hooks.ply_cost == 0:
        return int(hooks.resolve(state)[1])
    return int(hooks.game.result(state)[1]) * hooks.win_score


def _aligned_zeros(slots: int, words: int) -> "NDArray[Any]":
    """Return an array aligned to cache lines, so that both slots of a key lie in the same line."""
    import numpy as np

    size = slots * words * 8
    memory: NDArray[Any] = np.zeros(size + _CACHE_LINE, np.uint8)
    begin = -memory.ctypes.data % _CACHE_LINE
    return memory[begin : begin + size].view(np.uint64).reshape(slots, words)
