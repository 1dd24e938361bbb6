"""AlphaZero's search on a CPU: kernels for a batch of games, with leaves evaluated in batches.

It chooses the same moves as `search_gpu`. The network can be any function on numpy arrays, so this
module does not need torch.
"""

import math

import numpy as np

from zermelo.core.game import WordGame
from zermelo.kernels.compiler import compile_kernel
from zermelo.learn.alphazero import search_kernel as kernels
from zermelo.learn.alphazero.search_parameters import (
    UNPROVEN,
    PolicySearchResult,
    halving_schedule,
)
from zermelo.learn.alphazero.selection import (
    NUM_EDGE_COLUMNS,
    NUM_NODES,
    NUM_TREE_COLUMNS,
    TreeArrays,
)
from zermelo.learn.batch.custom_encoder import CustomEncoder
from zermelo.learn.batch.planes import input_shape
from zermelo.learn.config.selfplay import GUMBEL, PUCT
from zermelo.learn.networks.evaluation import PolicyValueFunction
from zermelo.learn.networks.weights_file import Array
from zermelo.search.limits import SearchClock, SearchStopped


class KernelSearch:
    """Searches up to `max_games` games at once with a fixed number of simulations.

    The network sees the planes of the game or, with a custom encoder, its output.
    """

    def __init__(
        self,
        game: WordGame,
        network: PolicyValueFunction,
        max_games: int,
        simulations: int,
        *,
        considered: int = 16,
        max_depth: int = 16,
        rule: str = GUMBEL,
        encoder: CustomEncoder | None = None,
    ) -> None:
        self.game, self.network, self.max_games = game, network, max_games
        self._encoder = encoder
        self.simulations, self._room = simulations, simulations + 1
        num_nodes = max_games * self._room
        self._input_shape = input_shape(game)
        self._control: Array = np.zeros(kernels.NUM_CONTROLS, np.int64)
        self._control[kernels.MAX_SIMULATIONS] = simulations
        self._control[kernels.NUM_CONSIDERED] = considered
        self._control[kernels.USE_PUCT] = rule == PUCT
        schedules = [halving_schedule(number, simulations) for number in range(considered + 1)]
        self._halving = np.array(schedules, np.int64).reshape(considered + 1, -1)
        self._arrays = TreeArrays(
            states=np.zeros((num_nodes, game.num_words), np.uint64),
            trees=np.zeros((max_games, NUM_TREE_COLUMNS), np.int64),
            nodes=np.zeros((num_nodes, 2), np.int64),
            raw_values=np.zeros(num_nodes, np.float32),
            edges=np.zeros((num_nodes * game.num_actions, NUM_EDGE_COLUMNS), np.float32),
            paths=np.zeros((max_games, max_depth), np.int64),
            scores=np.zeros(game.num_actions, np.float32),
            planes=np.zeros((max_games, math.prod(self._input_shape)), np.float32),
            leaf_trees=np.zeros(max_games, np.int64),
        )
        self._packed = tuple(self._arrays)
        self._reset_trees, self._simulate, self._read_results = (
            compile_kernel(kernel, game.hooks)
            for kernel in (kernels.reset_trees, kernels.simulate, kernels.read_results)
        )

    def __call__(
        self, states: Array, noise: Array | None = None, clock: SearchClock | None = None
    ) -> PolicySearchResult:
        """Search nonterminal states [row, word]; the clock can end the search early.

        `noise` [row, action] adds exploration: Gumbel noise or, with PUCT, Dirichlet noise.
        """
        rows, num_actions, room = len(states), self.game.num_actions, self._room
        assert rows <= self.max_games
        if noise is None:
            noise = np.zeros((rows, num_actions), np.float32)
        arrays, packed, control = self._arrays, self._packed, self._control
        arrays.states[: rows * room : room] = states
        self._reset_trees(rows, room, packed)
        waiting = rows
        while waiting:
            logits, values = self.network(self._inputs(waiting))
            waiting = self._simulate(
                waiting, room, control, self._halving, noise, packed, logits, values
            )
            try:
                if clock is not None:
                    clock.report(waiting)
            except SearchStopped:
                break
        result = PolicySearchResult(
            np.empty(rows, np.int64),
            np.zeros((rows, num_actions), np.float32),
            np.empty(rows, np.float32),
            np.zeros((rows, num_actions), np.float32),
            np.empty(rows, np.int64),
            np.zeros((rows, num_actions), np.float32),
            np.full((rows, num_actions), UNPROVEN),
        )
        self._read_results(rows, room, control, noise, packed, *vars(result).values())
        return result

    def _inputs(self, waiting: int) -> Array:
        """Return the network's inputs for the waiting leaves."""
        arrays = self._arrays
        if self._encoder is None:
            planes: Array = arrays.planes[:waiting].reshape(waiting, *self._input_shape)
            return planes
        trees = arrays.leaf_trees[:waiting]
        leaves = trees * self._room + arrays.trees[trees, NUM_NODES] - 1
        return self._encoder(arrays.states[leaves])
