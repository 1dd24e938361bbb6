"""A tree of Monte Carlo search: the kernel's arrays, which grow, and what can be read off them."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from zermelo.core.bitboard import mix, word
from zermelo.core.game import Game
from zermelo.search.limits import SearchClock
from zermelo.search.mcts import kernel as k
from zermelo.search.playouts import Room

if TYPE_CHECKING:
    from numpy.typing import NDArray

_FIRST_NODES = 1 << 12
MAX_NODES = 1 << 22  # some 200 MB; beyond that a tree of rollouts is visited, but does not grow
_MAX_TOTAL = (1 << 31) - 1  # what a node's sum can hold
_MAX_LINE = 64
_ENDLESS = 1 << 62  # simulations
_SLICE = 500  # simulations in kernels between two looks at the clock, at least


class Evaluator(Protocol):
    """What can take the place of rollouts: a judge of many states at once."""

    def __call__(self, roots: "NDArray[Any]") -> "tuple[NDArray[Any], NDArray[Any]]":
        """Of each state, a row as `Game.to_root` writes it: (how promising each action is, value).

        Both are float32: [state, action], from 0 and of any sum, where only legal actions count;
        and [state], from -1 to 1 for the side to move.
        """


@dataclass(frozen=True)
class Child:
    """What the tree holds of one move from the root, for the side to move."""

    action: int
    visits: int
    mean: float
    value: int | None  #: 1, 0 or -1 when it is proven


class Tree:
    """The tree of one position; it can move on to a later one and keep what it knows of it."""

    def __init__(
        self,
        game: Game,
        *,
        c: float,
        sure: bool,
        seed: int,
        evaluator: Evaluator | None = None,
        batch: int = 1,
    ) -> None:
        import numpy as np

        self.game, self.c, self.evaluator = game, c, evaluator
        self._room = Room(game)
        self._leaves = Room(game, batch)
        self._slots: NDArray[Any] = np.zeros(batch, np.int64)
        self._control: NDArray[Any] = np.zeros(k.NUM_CONTROLS, np.int64)
        self._control[k.USE_SOLVER] = sure
        self._dice: NDArray[Any] = np.array([mix(word(seed + 1))], np.uint64)
        # A slice must be short where a simulation takes long.
        self._least = _SLICE if self._room.is_native else 1
        self._arrays = self._new_arrays(_FIRST_NODES)
        self.root: Any = None
        work = (k.select_leaves, k.expand_leaves) if evaluator else (k.simulate,)
        kernels = (*work, k.copy_subtree)
        self._run = [self._room.kernel(function, with_hooks=True) for function in kernels]

    @staticmethod
    def _new_arrays(size: int) -> "list[NDArray[Any]]":
        """Nodes, stats, actions, priors."""
        import numpy as np

        return [
            np.empty((size, k.NUM_COLUMNS), np.int32),
            np.empty((size, 2), np.float32),
            np.empty(size, np.int16),
            np.empty(size, np.float32),
        ]

    def plant(self, state: Any, *, all_moves: bool = False) -> None:
        """Begin anew at a state that is not over; `all_moves`: every move is to be evaluated."""
        nodes, stats, _, priors = self._arrays
        self.root = state
        self._room.fill(0, state)
        nodes[k.ROOT] = 0
        nodes[k.ROOT, k.PARENT] = -1
        stats[k.ROOT] = 0
        priors[k.ROOT] = 1
        self._control[k.NUM_NODES], self._control[k.IS_FULL], self._control[k.ALL_MOVES] = 1, 0, all_moves

    def move_to(self, state: Any) -> bool:
        """Keep what is known of a state that is a move or two on; False if that is nothing."""
        node = self._find(state)
        nodes = self._arrays[0]
        # A node that was proven when it was entered has no children to choose from.
        if node is None or nodes[node, k.NUM_CHILDREN] == 0 or nodes[node, k.PROOF] != k.UNPROVEN:
            return False
        moved = self._new_arrays(len(nodes))
        self._control[k.NUM_NODES] = self._run[-1](node, *self._arrays, *moved)
        self._control[k.IS_FULL] = self._control[k.ALL_MOVES] = 0
        self._arrays = moved
        self.root = state
        self._room.fill(0, state)
        return True

    def _find(self, state: Any) -> int | None:
        """The node of a state: the root, one move on, or a reply to the best move."""
        if self.root is None or self.root == state:
            return None if self.root is None else k.ROOT
        ranked = self._ranked(k.ROOT)
        for node in ranked:
            if self._after(self.root, node) == state:
                return node
        if ranked:
            played = self._after(self.root, ranked[0])
            for node in self._children(ranked[0]):
                if self._after(played, node) == state:
                    return node
        return None

    def _after(self, state: Any, node: int) -> Any:
        """The state after the move to a node."""
        return self.game.play(state, int(self._arrays[2][node]))

    def simulate(self, number: int | None, clock: SearchClock) -> Iterator[int]:
        """Simulate so many times, in slices; yields how many are done. SearchStopped by the clock."""
        control = self._control
        unit = k.VALUE_SCALE if self.evaluator else 1
        whole = min(_MAX_TOTAL // unit - self.visits - len(self._slots), number or _ENDLESS)
        control[k.SIMULATIONS] = 0
        done, last = 0, -1
        while not self.is_settled and last < done < whole:
            self._make_room()
            if self.evaluator:
                control[k.BUDGET] = whole
                self._evaluate(self.evaluator)
            else:
                control[k.BUDGET] = min(whole, done + clock.next_slice(self._least))
                self._roll_out()
            last, done = done, int(control[k.SIMULATIONS])
            clock.report(done - last)
            yield done

    def _roll_out(self) -> None:
        """A slice of simulations."""
        room = self._room
        while True:
            work = room.roots, room.board, room.moves, *self._arrays[:3]
            self._run[0](self._control, self._dice, self.c, *work)
            if self._control[k.SIMULATIONS] >= self._control[k.BUDGET] or self.is_settled:
                return
            self._make_room()

    def _evaluate(self, evaluator: Evaluator) -> None:
        """One batch of leaves: whole ones, so that the clock has no say in what they hold."""
        if self._control[k.IS_FULL]:
            return
        room, found = self._room, (self._leaves.roots, self._slots)
        gather, scatter, _ = self._run
        waiting = gather(self._control, self.c, room.roots, room.board, *self._arrays, *found)
        if waiting:
            priors, values = evaluator(self._leaves.roots[:waiting])
            work = room.board, room.moves, *self._arrays, *found, waiting
            scatter(self._control, *work, priors, values)

    def _make_room(self) -> None:
        """Arrays as large as the next slice of work may need, as far as there may be."""
        import numpy as np

        need = int(self._control[k.NUM_NODES]) + len(self._slots) * self.game.num_actions
        size = len(self._arrays[0])
        if need <= size:
            self._control[k.IS_FULL] = 0
            return
        while size < need and size < MAX_NODES:
            size *= 2
        self._control[k.IS_FULL] = size < need
        if size > len(self._arrays[0]):
            used = int(self._control[k.NUM_NODES])
            larger = self._new_arrays(size)
            for new, old in zip(larger, self._arrays, strict=True):
                np.copyto(new[:used], old[:used])
            self._arrays = larger

    @property
    def is_settled(self) -> bool:
        """Whether what was asked is proven."""
        return bool(k.is_finished(self._control, self._arrays[0]))

    @property
    def is_proven(self) -> bool:
        """Whether the root's value is known."""
        return bool(self._arrays[0][k.ROOT, k.PROOF] != k.UNPROVEN)

    @property
    def visits(self) -> int:
        """How often the root was visited, in this search and those it was kept from."""
        return int(self._arrays[0][k.ROOT, k.VISITS])

    def _children(self, node: int) -> range:
        """Those that were tried."""
        first = int(self._arrays[0][node, k.FIRST_CHILD])
        return range(first, first + int(self._arrays[0][node, k.NUM_VISITED]))

    def children(self) -> list[Child]:
        """The moves that were tried from the root, best first."""
        return [self._child(node) for node in self._ranked(k.ROOT)]

    def _child(self, node: int) -> Child:
        nodes, _, actions, _ = self._arrays
        visits, total, proven = (int(nodes[node, i]) for i in (k.VISITS, k.VALUE_SUM, k.PROOF))
        unit = k.VALUE_SCALE if self.evaluator else 1
        value = None if proven == k.UNPROVEN else proven - k.DRAW
        mean = total / (visits * unit) if visits else 0.0
        return Child(int(actions[node]), visits, max(-1.0, min(1.0, mean)), value)

    def _ranked(self, node: int) -> list[int]:
        """Children, best first: proven wins, then by visits, proven losses last."""
        nodes = self._arrays[0]

        def rank(child: int) -> tuple[int, int, int]:
            settled = {k.WIN: 1, k.LOSS: -1}.get(int(nodes[child, k.PROOF]), 0)
            return settled, int(nodes[child, k.VISITS]), int(nodes[child, k.VALUE_SUM])

        return sorted(self._children(node), key=rank, reverse=True)

    def line(self, action: int) -> list[int]:
        """The play that is expected from the root after an action, which comes first."""
        actions = self._arrays[2]
        node = next(n for n in self._children(k.ROOT) if actions[n] == action)
        line = [action]
        while len(line) < _MAX_LINE and (ranked := self._ranked(node)):
            node = ranked[0]
            line.append(int(actions[node]))
        return line
