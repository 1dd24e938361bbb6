"""The runner: the kernel's arrays for one game, and its slices by the clock."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from zermelo.core.errors import ZermeloError
from zermelo.core.game import SolverHooks
from zermelo.core.symmetry import byte_tables
from zermelo.kernels import compiled
from zermelo.search.limits import SearchClock
from zermelo.search.negamax import batch
from zermelo.search.negamax import kernel as k
from zermelo.search.negamax.transposition_table import NO_MOVE, recall

if TYPE_CHECKING:
    from numpy.typing import NDArray

_MIN_PLIES, _MAX_PLIES = 140, 1000  # passes may make a game longer than its board
_NO_HORIZON = 1 << 20
_MAX_GENERATION = 1 << 16
TURN_PLIES = 12  #: so many plies from the root states are looked up up to symmetry


class Unsolved(ZermeloError):
    """The limit came first, or the game is beyond the solver."""


@dataclass
class Net:
    """A network for the horizon, and what it said: the cache lives as long as the weights do."""

    weights: Any  #: float32, flat
    room: Any  #: float32 [row, …]: for its layers
    cache: Any  #: uint64 [slot, word], and the estimate
    shares: tuple[int, int] = (1000, 0)  #: the network's and the heuristic's, in thousandths

    @classmethod
    def none(cls, words: int) -> "Net":
        """The heuristic alone."""
        import numpy as np

        empty: NDArray[Any] = np.zeros(0, np.float32)
        return cls(empty, empty.reshape(0, 1), np.zeros((0, words + 1), np.uint64), (0, 1000))


class Runner:
    """Runs the kernel for one game; the table stays between questions."""

    def __init__(
        self,
        hooks: SolverHooks,
        *,
        table_bits: int | None,
        ordering: bool = True,
        symmetry: bool = True,
        net: "Net | None" = None,
    ) -> None:
        import numpy as np

        self.hooks, self.game = hooks, hooks.game
        self._run = compiled(k.solve, hooks)
        words = hooks.game.num_words
        size = 2 if table_bits is None else 1 << table_bits
        key_words = len(hooks.key(hooks.game.initial()))
        self.table: NDArray[Any] = _aligned(size, key_words + 1)
        plies = max(_MIN_PLIES, min(_MAX_PLIES, hooks.max_plies(hooks.game.initial()) + 2))
        self._room = [
            np.zeros((plies, words + 1), np.uint64),
            np.zeros((plies, key_words), np.uint64),
            np.zeros((plies, k.NUM_COLUMNS), np.int64),
            np.zeros((plies, 64), np.int64),
            np.zeros((plies, 65), np.uint64),
        ]
        turns = byte_tables(hooks.game.symmetries() if symmetry and table_bits is not None else ())
        self._turns = np.array(turns, np.uint64).reshape(-1, 8, 256)
        self.control: NDArray[Any] = np.zeros(k.NUM_CONTROLS, np.int64)
        self.control[k.GENERATION] = 1
        self.control[k.USE_TABLE] = table_bits is not None
        self.control[k.USE_RANK] = ordering
        self.control[k.TURN_PLIES] = TURN_PLIES
        net = net or Net.none(words)
        self._net = [net.weights, net.room, net.cache]
        self.control[k.LEARNED], self.control[k.KNOWN] = net.shares
        k.forget(self.control, self.table)

    def forget(self) -> None:
        """An empty table, no history: nothing known is used again."""
        self.table[: self.control[k.SLOTS]] = 0
        k.forget(self.control, self.table)
        self.renew()

    def renew(self) -> None:
        """Another generation of the table: what is in it serves the ordering at most."""
        self.control[k.GENERATION] += 1
        if self.control[k.GENERATION] >= _MAX_GENERATION:
            self.table[:] = 0
            self.control[k.GENERATION] = 1

    def bounds(
        self, state: Any, low: int, high: int, clock: SearchClock, *, coarse: bool = False
    ) -> tuple[int, int]:
        """Bounds that answer the question, for a state that is not over.

        Within [low, high] the score is found; beyond them only that it lies there. `coarse` asks
        for its sign alone. Stopped when the clock says so.
        """
        self.control[k.WIDE], self.control[k.COARSE] = 0, coarse
        self.control[k.HORIZON] = _NO_HORIZON
        self.control[k.GAP] = self.hooks.win_score - self.hooks.max_plies(state) - 1
        self._work(state, low, high, clock)
        return int(self.control[k.LOW]), int(self.control[k.HIGH])

    def look_ahead(self, state: Any, depth: int, low: int, high: int, clock: SearchClock) -> int:
        """The score of a state that is not over, with estimates `depth` plies ahead."""
        self.control[k.WIDE], self.control[k.HORIZON] = 1, depth
        self._work(state, low, high, clock)
        return int(self.control[k.GUESS])

    def _work(self, state: Any, low: int, high: int, clock: SearchClock) -> None:
        import numpy as np

        control = self.control
        control[k.DEPTH] = k.NEW
        control[k.LOW], control[k.HIGH] = low, high
        root = np.array(state, np.uint64)
        done = False
        while not done:
            before = int(control[k.NODES])
            control[k.BUDGET] = before + clock.next_slice()
            done = self._run(root, control, *self._room, self.table, self._turns, *self._net)
            if control[k.TOO_DEEP]:
                control[k.TOO_DEEP] = 0
                msg = f"{self.game.spec} can last more than {_MAX_PLIES:,} plies: beyond the solver"
                raise Unsolved(msg)
            if done:
                clock.add_nodes(int(control[k.NODES]) - before)
            else:
                clock.report(int(control[k.NODES]) - before)

    def scores(self, states: Any, clock: SearchClock) -> list[int]:
        """The exact score of every state, none of which is over; each as if asked for first.

        For measuring: thousands of states cost no more calls than a few do. `states` may be an
        array [state, word].
        """
        import numpy as np

        run, control = compiled(batch.solve_each, self.hooks), self.control
        roots: NDArray[np.uint64] = np.ascontiguousarray(states, np.uint64)
        roots = roots.reshape(-1, self.game.num_words)
        found: NDArray[np.int64] = np.zeros(len(roots), np.int64)
        assert len(roots) < _MAX_GENERATION
        if control[k.GENERATION] + len(roots) >= _MAX_GENERATION:
            self.table[:] = 0
            control[k.GENERATION] = 0
        self.work_through(run, roots, (found,), clock)
        return [int(score) for score in found]

    def work_through(
        self, run: Any, states: Any, arrays: tuple[Any, ...], clock: SearchClock
    ) -> None:
        """Run a kernel that searches many states to the end; it says how many are done."""
        control = self.control
        control[k.WIDE], control[k.COARSE], control[k.HORIZON] = 0, 0, _NO_HORIZON
        control[k.DEPTH] = k.NEW
        done = 0
        while done < len(states):
            before = int(control[k.NODES])
            control[k.BUDGET] = before + clock.next_slice()
            done = run(
                states, *arrays, done, control, *self._room, self.table, self._turns, *self._net
            )
            spent = int(control[k.NODES]) - before
            clock.add_nodes(spent) if done == len(states) else clock.report(spent)

    def look_each(self, states: Any, plies: int) -> Any:
        """[state, action]: scores so many plies ahead of states that are not over; NO_SCORE else.

        For learning: short searches, which nothing interrupts.
        """
        import numpy as np

        run, control = compiled(batch.look_each, self.hooks), self.control
        roots: NDArray[np.uint64] = np.ascontiguousarray(states, np.uint64)
        found: NDArray[np.int64] = np.zeros((len(roots), self.game.num_actions), np.int64)
        legal: NDArray[np.int64] = np.zeros(self.game.num_actions, np.int64)
        if control[k.GENERATION] + len(roots) >= _MAX_GENERATION:
            self.table[:] = 0
            control[k.GENERATION] = 0
        assert len(roots) < _MAX_GENERATION
        control[k.BUDGET] = 1 << 62
        run(roots, plies, found, legal, control, *self._room, self.table, self._turns, *self._net)
        return found

    def move(self, state: Any) -> int | None:
        """The action that the table holds for a state in this generation, None if none."""
        key = self.hooks.key(state)
        slots, generation = int(self.control[k.SLOTS]), int(self.control[k.GENERATION])
        current, _, _, index = recall(self.hooks, self.table, key, slots, generation)
        return self.hooks.to_action(index) if current and index != NO_MOVE else None


def _aligned(slots: int, words: int) -> "NDArray[Any]":
    """Zeros that begin with a line of the processor's cache, so that pairs of slots share one."""
    import numpy as np

    line = 64
    room: NDArray[Any] = np.zeros(slots * words * 8 + line, np.uint8)
    begin = -room.ctypes.data % line
    return room[begin : begin + slots * words * 8].view(np.uint64).reshape(slots, words)
