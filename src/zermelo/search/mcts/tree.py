"""The tree of a Monte Carlo tree search; it manages the arrays that the kernels work on."""

import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from zermelo.core.bitboard import mix, word
from zermelo.core.game import Game
from zermelo.games.determinism import RuleSampler
from zermelo.search.limits import SearchClock
from zermelo.search.mcts import kernel as k
from zermelo.search.traversal_arrays import TraversalArrays

if TYPE_CHECKING:
    from numpy.typing import NDArray

_INITIAL_NODES = 1 << 12
MAX_NODES = 1 << 22  # about 200 MB; a full tree with rollouts is still searched but does not grow
_MAX_VALUE_SUM = (1 << 31) - 1  # the largest sum that a node can hold
_MAX_LINE = 64
_NO_LIMIT = 1 << 62  # more simulations than any search can run
_MAX_SLOWDOWN = 1.25  # factor by which the time per leaf may rise from one batch to the next
_MIN_SLICE = 500  # simulations of a compiled kernel between two reports to the clock


class Evaluator(Protocol):
    """A function that evaluates a batch of states; it replaces rollouts."""

    def __call__(self, roots: "NDArray[Any]") -> "tuple[NDArray[Any], NDArray[Any]]":
        """Return (policy, values) of states, given as rows in the format of `Game.to_root`.

        The policy is float32 [state, action], non-negative and not normalised; illegal actions are
        ignored. The values are float32 [state], from -1 to 1 for the side to move.
        """


@dataclass(frozen=True)
class RootMove:
    """The statistics of one move from the root, as seen by the side to move at the root."""

    action: int
    visits: int
    mean: float
    value: int | None  #: 1, 0 or -1 if proven, otherwise None


class _TreeArrays(NamedTuple):
    """The arrays of the tree; their columns are defined in `mcts.kernel`."""

    nodes: "NDArray[Any]"  #: int32 [node, column]
    stats: "NDArray[Any]"  #: float32 [node, column]
    actions: "NDArray[Any]"  #: int16 [node]
    priors: "NDArray[Any]"  #: float32 [node]

    @classmethod
    def allocate(cls, size: int, num_columns: int) -> "_TreeArrays":
        """Return uninitialised arrays for a number of nodes."""
        import numpy as np

        return cls(
            np.empty((size, num_columns), np.int32),
            np.empty((size, 2), np.float32),
            np.empty(size, np.int16),
            np.empty(size, np.float32),
        )


class MCTSTree:
    """The search tree of a position; it can advance to a later position and keep its subtree.

    `c` is the exploration constant. With `use_solver` proven values are propagated. With an
    evaluator, `batch` leaves are evaluated at a time, or fewer if time is short.
    """

    def __init__(
        self,
        game: Game,
        *,
        c: float,
        use_solver: bool,
        seed: int,
        evaluator: Evaluator | None = None,
        batch: int = 1,
    ) -> None:
        import numpy as np

        self.game, self.c, self.evaluator = game, c, evaluator
        self._room = TraversalArrays(game)
        self._leaves = TraversalArrays(game, batch)
        self._leaf_nodes: NDArray[Any] = np.zeros(batch, np.int64)
        self._control: NDArray[Any] = np.zeros(k.NUM_CONTROLS, np.int64)
        self._control[k.USE_SOLVER] = use_solver
        self._rng: NDArray[Any] = np.array([mix(word(seed + 1))], np.uint64)
        # Rules in plain Python are slow, so the clock is checked after every simulation.
        self._min_slice = _MIN_SLICE if self._room.is_native else 1
        self._sampler = None if self._room.is_native else RuleSampler(game)
        self._num_columns = k.NUM_COLUMNS + (not game.is_alternating)
        self._arrays = _TreeArrays.allocate(_INITIAL_NODES, self._num_columns)
        self._seconds_per_leaf = 0.0  # time of the evaluator in the batches so far
        self.root: Any = None
        search = (k.select_leaves, k.expand_leaves) if evaluator else (k.simulate,)
        kernels = (*search, k.copy_subtree)
        self._kernels = [self._room.bind_kernel(function, with_hooks=True) for function in kernels]

    def warm_up(self) -> None:
        """Call the evaluator once, because its first call may have to compile."""
        if self.evaluator:
            self._leaves.set_root(0, self.game.initial())
            self.evaluator(self._leaves.roots[:1])

    def reset(self, state: Any, *, all_moves: bool = False) -> None:
        """Start a new tree at a state that is not over.

        With `all_moves`, the search continues until every move of the root is proven.
        """
        nodes, stats, _, priors = self._arrays
        self._set_root(state)
        nodes[k.ROOT] = 0
        nodes[k.ROOT, k.PARENT] = -1
        stats[k.ROOT] = 0
        priors[k.ROOT] = 1
        self._control[[k.NUM_NODES, k.IS_FULL, k.ALL_MOVES]] = 1, 0, all_moves

    def advance_to(self, state: Any) -> bool:
        """Make a state one or two moves ahead the root; return False if it is not in the tree."""
        node = self._find(state)
        nodes = self._arrays.nodes
        # A node that was proven when it was created has no children to choose from.
        if node is None or nodes[node, k.NUM_CHILDREN] == 0 or nodes[node, k.PROOF] != k.UNPROVEN:
            return False
        subtree = _TreeArrays.allocate(len(nodes), self._num_columns)
        self._control[k.NUM_NODES] = self._kernels[-1](node, *self._arrays, *subtree)
        self._control[[k.IS_FULL, k.ALL_MOVES]] = 0
        self._arrays = subtree
        self._set_root(state)
        return True

    def _set_root(self, state: Any) -> None:
        self.root = state
        self._room.set_root(0, state)

    def _find(self, state: Any) -> int | None:
        """Return the node of a state: the root, a child, or a reply to the best move."""
        if self.root is None or self.root == state:
            return None if self.root is None else k.ROOT
        ranked = self._ranked(k.ROOT)
        for node in ranked:
            if self._play(self.root, node) == state:
                return node
        if ranked:
            after_best = self._play(self.root, ranked[0])
            for node in self._visited_children(ranked[0]):
                if self._play(after_best, node) == state:
                    return node
        return None

    def _play(self, state: Any, node: int) -> Any:
        """Return the state after the move that leads to a node."""
        return self.game.play(state, int(self._arrays.actions[node]))

    def simulate(self, max_simulations: int | None, clock: SearchClock) -> Iterator[int]:
        """Run simulations in slices; after each slice, yield how many have been run.

        The clock may raise SearchStopped.
        """
        control = self._control
        unit = k.VALUE_SCALE if self.evaluator else 1
        largest = _MAX_VALUE_SUM // unit - self.visits - len(self._leaf_nodes)
        budget = min(largest, max_simulations or _NO_LIMIT)
        control[k.SIMULATIONS] = 0
        done, last = 0, -1
        while not self.is_finished and last < done < budget:
            self._enlarge()
            if self.evaluator:
                control[k.BUDGET] = budget
                self._evaluate_batch(self.evaluator, clock)
            else:
                control[k.BUDGET] = min(budget, done + clock.next_slice(self._min_slice))
                self._simulate_slice()
            last, done = done, int(control[k.SIMULATIONS])
            if self._sampler is not None:
                self._sampler.check(self.root)
            clock.report(done - last)
            yield done

    def _simulate_slice(self) -> None:
        """Simulate with rollouts until the budget is spent or the search is finished."""
        room, (nodes, stats, actions, _) = self._room, self._arrays
        while True:
            arrays = room.roots, room.board, room.moves, nodes, stats, actions
            self._kernels[0](self._control, self._rng, self.c, *arrays)
            if self._control[k.SIMULATIONS] >= self._control[k.BUDGET] or self.is_finished:
                return
            self._enlarge()
            nodes, stats, actions, _ = self._arrays

    def _evaluate_batch(self, evaluator: Evaluator, clock: SearchClock) -> None:
        """Select, evaluate and expand a batch of leaves."""
        if self._control[k.IS_FULL]:
            return
        begin = time.perf_counter()
        size = self._batch_size(clock)
        room, leaves = self._room, (self._leaves.roots[:size], self._leaf_nodes[:size])
        select_leaves, expand_leaves, _ = self._kernels
        count = select_leaves(self._control, self.c, room.roots, room.board, *self._arrays, *leaves)
        if count:
            policy, values = evaluator(self._leaves.roots[:count])
            arrays = room.board, room.moves, *self._arrays, *leaves, count
            expand_leaves(self._control, *arrays, policy, values)
        # The speed of a small batch says little about a large one: let the estimate rise slowly.
        seconds = (time.perf_counter() - begin) / max(1, count)
        slower = _MAX_SLOWDOWN * (self._seconds_per_leaf or seconds)
        self._seconds_per_leaf = min(seconds, slower)

    def _batch_size(self, clock: SearchClock) -> int:
        """Return how many leaves to evaluate next.

        The clock cannot stop an evaluator, so a batch should take at most half of the time left, by
        the speed of earlier batches. As long as whole batches fit, the time has no influence on
        the search. The first batch of a tree, for which no speed is known, holds only the root.
        """
        batch = len(self._leaf_nodes)
        if clock.deadline is None or not self._seconds_per_leaf:
            return batch
        seconds = clock.deadline - time.perf_counter()
        return max(1, min(batch, int(seconds / 2 / self._seconds_per_leaf)))

    def _enlarge(self) -> None:
        """Enlarge the arrays for the next slice; mark them full if that exceeds MAX_NODES."""
        import numpy as np

        used = int(self._control[k.NUM_NODES])
        needed = used + len(self._leaf_nodes) * self.game.num_actions
        size = len(self._arrays.nodes)
        if needed <= size:
            self._control[k.IS_FULL] = 0
            return
        while size < needed and size < MAX_NODES:
            size *= 2
        self._control[k.IS_FULL] = size < needed
        if size > len(self._arrays.nodes):
            larger = _TreeArrays.allocate(size, self._num_columns)
            for new, old in zip(larger, self._arrays, strict=True):
                np.copyto(new[:used], old[:used])
            self._arrays = larger

    @property
    def is_finished(self) -> bool:
        """Whether the root is proven and, with `all_moves`, all its moves are proven as well."""
        return bool(k.is_finished(self._control, self._arrays.nodes))

    @property
    def is_proven(self) -> bool:
        """Whether the value of the root is proven."""
        return bool(self._arrays.nodes[k.ROOT, k.PROOF] != k.UNPROVEN)

    @property
    def visits(self) -> int:
        """The number of visits of the root, including those kept from earlier searches."""
        return int(self._arrays.nodes[k.ROOT, k.VISITS])

    def _visited_children(self, node: int) -> range:
        nodes = self._arrays.nodes
        first = int(nodes[node, k.FIRST_CHILD])
        return range(first, first + int(nodes[node, k.NUM_VISITED]))

    def root_moves(self) -> list[RootMove]:
        """Return the moves of the root that were visited, best first."""
        return [self._root_move(node) for node in self._ranked(k.ROOT)]

    def _root_move(self, node: int) -> RootMove:
        row = self._arrays.nodes[node]
        visits, value_sum, proof = (int(row[i]) for i in (k.VISITS, k.VALUE_SUM, k.PROOF))
        unit = k.VALUE_SCALE if self.evaluator else 1
        mean = value_sum / (visits * unit) if visits else 0.0
        return RootMove(
            int(self._arrays.actions[node]),
            visits,
            max(-1.0, min(1.0, mean)),
            None if proof == k.UNPROVEN else proof - k.DRAW,
        )

    def _ranked(self, node: int) -> list[int]:
        """Return the visited children by visits, with proven wins first and proven losses last."""
        nodes = self._arrays.nodes

        def rank(child: int) -> tuple[int, int, int]:
            proof = {k.WIN: 1, k.LOSS: -1}.get(int(nodes[child, k.PROOF]), 0)
            return proof, int(nodes[child, k.VISITS]), int(nodes[child, k.VALUE_SUM])

        return sorted(self._visited_children(node), key=rank, reverse=True)

    def principal_variation(self, action: int) -> list[int]:
        """Return the expected play from the root, starting with a visited action."""
        actions = self._arrays.actions
        node = next(n for n in self._visited_children(k.ROOT) if actions[n] == action)
        line = [action]
        while len(line) < _MAX_LINE and (ranked := self._ranked(node)):
            node = ranked[0]
            line.append(int(actions[node]))
        return line
