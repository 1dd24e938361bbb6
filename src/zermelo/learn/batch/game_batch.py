"""The rules of a game for batches of states; a batch is an array with one state per row."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from zermelo.core.bitboard import mix, scale, word
from zermelo.core.errors import BadSpec, ZermeloError
from zermelo.core.game import Game, SolverHooks, WordGame
from zermelo.core.game.traversal import STRIDE
from zermelo.core.position import Position
from zermelo.core.symmetry import byte_tables
from zermelo.kernels.compiler import compile_kernel
from zermelo.kernels.registry import kernel
from zermelo.search.state_arrays import check_and_convert


class GameBatch:
    """The rules of a game for batches of states, which are uint64 arrays [state, word].

    The methods run compiled kernels, so a step of thousands of games takes microseconds. A
    `GameBatch` holds scratch memory, so each thread needs its own.

    >>> import zermelo as z
    >>> batch = z.GameBatch(z.game("connect4"))
    >>> states = batch.initial_states(1000)
    >>> states, rewards, over = batch.step(states, np.full(1000, 3))
    >>> states.shape, batch.legal_masks(states).shape, bool(over.any())
    ((1000, 3), (1000, 7), False)
    """

    def __init__(self, game: WordGame) -> None:
        if not isinstance(game, WordGame):
            name = game.spec if isinstance(game, Game) else type(game).__name__
            msg = f"GameBatch takes a bitboard game, such as z.game('connect4'), not {name}"
            raise BadSpec(msg)
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

    def to_states(self, positions: Iterable[Position]) -> np.ndarray:
        """Return the states of positions of this game."""
        return check_and_convert(self.game, positions, "to_states")

    def to_positions(self, states: np.ndarray) -> list[Position]:
        """Return states as positions without a history."""
        rows = self.check_states(states).tolist()
        return [Position(self.game, tuple(state), None) for state in rows]

    def check_states(self, states: np.ndarray) -> np.ndarray:
        """Return states as an array for kernels; raise ZermeloError if they are not valid."""
        is_array = isinstance(states, np.ndarray) and states.dtype == np.uint64
        if not is_array or states.ndim != 2 or states.shape[1] != self.game.num_words:
            form = f"{getattr(states, 'dtype', type(states).__name__)} {list(np.shape(states))}"
            msg = (
                f"states of {self.game.spec} are a uint64 array [n, {self.game.num_words}], "
                f"not {form}"
            )
            raise ZermeloError(msg)
        return np.ascontiguousarray(states)

    def initial_states(self, size: int) -> np.ndarray:
        """Return `size` copies of the initial state."""
        return np.tile(np.array(self.game.initial(), np.uint64), (size, 1))

    def legal_masks(self, states: np.ndarray) -> np.ndarray:
        """Return a [state, action] mask of the legal actions; terminal states have none."""
        states = self.check_states(states)
        legal: np.ndarray = np.zeros((len(states), self.num_actions), np.bool_)
        compile_kernel(mark_legal_actions, self.game)(states, self._moves, legal)
        return legal

    def step(
        self, states: np.ndarray, actions: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Play an action in every state. Legality is not checked, and no game may be over yet.

        Return the next states, the rewards of the players who moved, and whether each game is over.
        A reward is 1, 0 or -1 when the game ends, and 0 before.
        """
        states = self.check_states(states)
        actions = np.ascontiguousarray(actions, np.int64)
        if actions.shape != (len(states),):
            msg = f"{len(states)} states need as many actions, not {list(actions.shape)}"
            raise ZermeloError(msg)
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
        states = self.check_states(states)
        images: np.ndarray = np.empty_like(states)
        symmetries: np.ndarray = np.zeros(len(states), np.int64)
        compile_kernel(find_least_images, self.game)(states, self._symmetries, images, symmetries)
        return images, symmetries

    def map_back(self, values: np.ndarray, symmetries: np.ndarray) -> np.ndarray:
        """Return the values [state, action] of states, given float32 values of their images.

        `symmetries[i]` is the number of the symmetry that maps state i to its image.
        """
        mapped: np.ndarray = np.empty(values.shape, np.float32)
        run = compile_kernel(map_back_values, self.game)
        run(np.ascontiguousarray(values, np.float32), symmetries, self.action_maps, mapped)
        return mapped

    def transform(self, states: np.ndarray, symmetries: np.ndarray) -> np.ndarray:
        """Return the image of state i under symmetry number `symmetries[i]`, for every i.

        Symmetry 0 is the identity. `action_maps[symmetries[i], a]` is the image of action a.
        """
        states = self.check_states(states)
        images: np.ndarray = np.empty_like(states)
        compile_kernel(transform_states, self.game)(states, self._symmetries, symmetries, images)
        return images

    def needs_search(self, states: np.ndarray) -> np.ndarray:
        """Return a mask of the states whose value is not known without a search."""
        states = self.check_states(states)
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


@kernel("float32[:,::1], int64[::1], int64[:,::1], float32[:,::1]", common=False)
def map_back_values(
    game: WordGame, values: Any, symmetries: Any, action_maps: Any, mapped: Any
) -> Any:
    """Write the value of each action, which is that of its image under symmetry `symmetries[i]`."""
    for row in range(len(values)):
        actions = action_maps[symmetries[row]]
        for action in range(game.num_actions):
            mapped[row, action] = values[row, actions[action]]


@kernel("uint64[:,::1], bool[::1]", common=False)
def mark_open_states(game: SolverHooks, states: Any, is_open: Any) -> Any:
    """Set `is_open` to True for the states whose value `game.resolve` cannot determine."""
    for row in range(len(states)):
        known, _score, _moves = game.resolve(game.load(states, row))
        is_open[row] = not known
