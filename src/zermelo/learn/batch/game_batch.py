"""The rules of a game for batches of states; a batch is an array with one state per row."""

from typing import Any

import numpy as np

from zermelo.core.bitboard import mix, scale, word
from zermelo.core.game import SolverHooks, WordGame
from zermelo.core.game.traversal import STRIDE
from zermelo.core.symmetry import byte_tables
from zermelo.kernels.compiler import compile_kernel
from zermelo.kernels.registry import kernel


class GameBatch:
    """The rules of a game for batches of states, which are uint64 arrays [state, word]."""

    def __init__(self, game: WordGame) -> None:
        self.game = game
        self.num_actions = game.num_actions
        symmetries = game.symmetries()
        #: [symmetry, index of a byte in a word, value of the byte] → image of the byte's bits
        self._symmetries: np.ndarray = np.array(byte_tables(symmetries), np.uint64).reshape(
            -1, 8, 256
        )
        #: [symmetry, action] → image of the action
        self.action_maps: np.ndarray = np.array(
            [s.actions for s in symmetries] or [tuple(range(game.num_actions))],
            np.int64,
        )
        self._moves: np.ndarray = np.zeros(game.num_actions, np.int64)

    @property
    def num_symmetries(self) -> int:
        """The number of symmetries, including the identity."""
        return len(self.action_maps)

    def initial_states(self, size: int) -> np.ndarray:
        """Return `size` copies of the initial state."""
        return np.tile(np.array(self.game.initial(), np.uint64), (size, 1))

    def legal_masks(self, states: np.ndarray) -> np.ndarray:
        """Return a [state, action] mask of the legal actions; terminal states have none."""
        legal: np.ndarray = np.zeros((len(states), self.num_actions), np.bool_)
        compile_kernel(mark_legal_actions, self.game)(states, self._moves, legal)
        return legal

    def step(
        self, states: np.ndarray, actions: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Play an action in every state; legality is not checked.

        Return the next states, the rewards of the players who moved, and whether each game is over.
        """
        next_states: np.ndarray = np.empty_like(states)
        rewards: np.ndarray = np.zeros(len(states), np.float32)
        over: np.ndarray = np.zeros(len(states), np.bool_)
        compile_kernel(step_states, self.game)(states, actions, next_states, rewards, over)
        return next_states, rewards, over

    def sample_states(self, size: int, max_plies: int, seed: int) -> np.ndarray:
        """Return `size` nonterminal states, each reached by fewer than `max_plies` random moves."""
        states: np.ndarray = np.empty((size, self.game.num_words), np.uint64)
        rng = word(mix(word(seed + 1)))
        compile_kernel(fill_with_random_states, self.game)(rng, max_plies, self._moves, states)
        return states

    def canonicalise(self, states: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return each state's canonical (least) image, and the symmetry that maps the state to it.

        Symmetries are given by number.
        """
        images: np.ndarray = np.empty_like(states)
        symmetries: np.ndarray = np.zeros(len(states), np.int64)
        compile_kernel(find_least_images, self.game)(states, self._symmetries, images, symmetries)
        return images, symmetries

    def transform(self, states: np.ndarray, symmetries: np.ndarray) -> np.ndarray:
        """Return the image of state i under symmetry number `symmetries[i]`, for every i."""
        images: np.ndarray = np.empty_like(states)
        compile_kernel(transform_states, self.game)(states, self._symmetries, symmetries, images)
        return images

    def needs_search(self, states: np.ndarray) -> np.ndarray:
        """Return a mask of the states whose value is not known without a search."""
        is_open: np.ndarray = np.zeros(len(states), np.bool_)
        compile_kernel(mark_open_states, self.game.hooks)(states, is_open)
        return is_open


@kernel("uint64[:,::1], int64[::1], bool[:,::1]", common=False)
def mark_legal_actions(game: WordGame, states: Any, moves: Any, legal: Any) -> Any:
    """Set `legal[row, action]` to True for the legal actions of every nonterminal state."""
    for row in range(len(states)):
        state = game.load(states, row)
        over, _value = game.result(state)
        if not over:
            for move in range(game.list_moves(state, moves)):
                legal[row, moves[move]] = True


@kernel("uint64[:,::1], int64[::1], uint64[:,::1], float32[::1], bool[::1]", common=False)
def step_states(
    game: WordGame, states: Any, actions: Any, next_states: Any, rewards: Any, over: Any
) -> Any:
    """Play an action in every state; write the next states, rewards, and which games are over."""
    for row in range(len(states)):
        state = game.load(states, row)
        child = game.as_words(game.play(state, actions[row]))
        game.store(next_states, row, child)
        ended, value = game.result(child)
        over[row] = ended
        rewards[row] = value * game.turn_sign(state, child) if ended else 0


@kernel("uint64, int64, int64[::1], uint64[:,::1]", common=False)
def fill_with_random_states(
    game: WordGame, seed: Any, max_plies: Any, moves: Any, states: Any
) -> Any:
    """Fill the array `states` with nonterminal states that random play has reached."""
    rng = word(seed)
    stride = word(STRIDE)
    row = 0
    while row < len(states):
        rng = word(rng + stride)
        left = scale(mix(rng), max_plies)
        state = game.initial()
        over, _value = game.result(state)
        while left > 0 and not over:
            count = game.list_moves(state, moves)
            rng = word(rng + stride)
            state = game.play(state, int(moves[scale(mix(rng), count)]))
            over, _value = game.result(state)
            left -= 1
        if not over:
            game.store(states, row, state)
            row += 1


@kernel("uint64[:,::1], uint64[:,:,::1], uint64[:,::1], int64[::1]", common=False)
def find_least_images(
    game: WordGame, states: Any, tables: Any, images: Any, symmetries: Any
) -> Any:
    """Write each state's least image, and the number of the symmetry that maps the state to it."""
    for row in range(len(states)):
        state = game.load(states, row)
        best = state
        symmetries[row] = 0
        for symmetry in range(1, len(tables)):
            image = game.transform_by_table(state, tables[symmetry])
            if image < best:
                best = image
                symmetries[row] = symmetry
        game.store(images, row, best)


@kernel("uint64[:,::1], uint64[:,:,::1], int64[::1], uint64[:,::1]", common=False)
def transform_states(game: WordGame, states: Any, tables: Any, symmetries: Any, images: Any) -> Any:
    """Write the image of state i under symmetry number `symmetries[i]`, for every i."""
    for row in range(len(states)):
        table = tables[symmetries[row]]
        game.store(images, row, game.transform_by_table(game.load(states, row), table))


@kernel("uint64[:,::1], bool[::1]", common=False)
def mark_open_states(game: SolverHooks, states: Any, is_open: Any) -> Any:
    """Set `is_open` to True for the states whose value `game.resolve` cannot determine."""
    for row in range(len(states)):
        known, _score, _moves = game.resolve(game.load(states, row))
        is_open[row] = not known
