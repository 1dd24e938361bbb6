"""AlphaZero's search on a processor: many games at once, their leaves judged in batches.

What it finds is what `learn/tensor_search.py` finds, move for move; what differs is who computes.
The network is any function on arrays, so nothing here needs torch.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from zermelo.core.game import WordGame
from zermelo.kernels import compile_kernel
from zermelo.learn.alphazero import search_kernel as k
from zermelo.learn.alphazero.search_options import UNKNOWN, Found, considered_visits
from zermelo.learn.alphazero.selection import NUM_COLUMNS
from zermelo.search.limits import SearchClock, SearchStopped

if TYPE_CHECKING:
    from numpy.typing import NDArray

Array = Any  #: of numpy
#: planes [row, 2, rows, cols] → (logits of actions, value for the side to move), all float32
Network = Callable[[Array], tuple[Array, Array]]


class KernelSearch:
    """Room for searches of up to so many games with so many simulations."""

    def __init__(
        self,
        game: WordGame,
        network: Network,
        games: int,
        simulations: int,
        *,
        considered: int = 16,
        deepest: int = 16,
        rule: str = "gumbel",
    ) -> None:
        assert game.grid is not None
        self.game, self.network, self.games, self.simulations = game, network, games, simulations
        self._room, actions = simulations + 1, game.num_actions
        nodes = games * self._room
        self._shape = 2, game.grid.rows, game.grid.cols
        self._control: NDArray[Any] = np.zeros(k.NUM_CONTROLS, np.int64)
        self._control[k.SIMULATIONS] = simulations
        self._control[k.CONSIDERED] = considered
        self._control[k.BY_PUCT] = rule == "puct"
        visits = [considered_visits(number, simulations) for number in range(considered + 1)]
        self._halving: NDArray[Any] = np.array(visits, np.int64).reshape(considered + 1, -1)
        self._states: NDArray[Any] = np.zeros((nodes, game.num_words), np.uint64)
        self._trees: NDArray[Any] = np.zeros((games, k.NUM_TREE), np.int64)
        self._nodes: NDArray[Any] = np.zeros((nodes, 2), np.int64)
        self._raw: NDArray[Any] = np.zeros(nodes, np.float32)
        self._edges: NDArray[Any] = np.zeros((nodes * actions, NUM_COLUMNS), np.float32)
        self._paths: NDArray[Any] = np.zeros((games, deepest), np.int64)
        self._scores: NDArray[Any] = np.zeros(actions, np.float32)
        self._planes: NDArray[Any] = np.zeros((games, 2 * game.grid.size), np.float32)
        self._slots: NDArray[Any] = np.zeros(games, np.int64)
        self._plant, self._simulate, self._answer = (
            compile_kernel(kernel, game.hooks) for kernel in (k.plant, k.simulate, k.answer)
        )

    def __call__(
        self, states: Array, noise: Array | None = None, clock: SearchClock | None = None
    ) -> Found:
        """Search from running games [row, word]; noise [row, action] makes it explore.

        That is Gumbel's, or by PUCT Dirichlet's. A clock may end it early.
        """
        rows, actions, room = len(states), self.game.num_actions, self._room
        assert rows <= self.games
        if noise is None:
            noise = np.zeros((rows, actions), np.float32)
        trees, nodes, edges = self._trees, self._nodes, self._edges
        self._states[: rows * room : room] = states
        self._plant(rows, self._states, room, trees, nodes, edges, self._planes, self._slots)
        waiting = rows
        while waiting:
            logits, values = self.network(self._planes[:waiting].reshape(waiting, *self._shape))
            waiting = self._simulate(
                waiting,
                self._control,
                self._halving,
                noise,
                self._states,
                room,
                trees,
                nodes,
                self._raw,
                edges,
                self._paths,
                self._scores,
                self._planes,
                self._slots,
                logits,
                values,
            )
            try:
                if clock is not None:
                    clock.report(waiting)
            except SearchStopped:
                break
        found = Found(
            np.empty(rows, np.int64),
            np.zeros((rows, actions), np.float32),
            np.empty(rows, np.float32),
            np.zeros((rows, actions), np.float32),
            np.empty(rows, np.int64),
            np.zeros((rows, actions), np.float32),
            np.full((rows, actions), UNKNOWN),
        )
        answer = vars(found).values()
        self._answer(
            rows, self._control, noise, room, trees, nodes, self._raw, edges, self._scores, *answer
        )
        return found
