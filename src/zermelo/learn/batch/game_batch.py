"""Many games at once: states in the rows of an array, stepped, listed and turned by kernels."""

from typing import TYPE_CHECKING, Any

import numpy as np

from zermelo.core.bitboard import mix, scale, word
from zermelo.core.game import WordGame
from zermelo.core.symmetry import byte_tables
from zermelo.core.traversal import STRIDE
from zermelo.kernels import compiled, kernel

if TYPE_CHECKING:
    from numpy.typing import NDArray

Array = Any  #: of numpy


class GameBatch:
    """What learners ask of a game, for whole arrays of states [row, word]."""

    def __init__(self, game: WordGame) -> None:
        self.game = game
        self.num_actions = game.num_actions
        symmetries = game.symmetries()
        tables = byte_tables(symmetries)
        self._turns: NDArray[Any] = np.array(tables, np.uint64).reshape(-1, 8, 256)
        #: [symmetry, action] → the action that it becomes
        self.action_maps: NDArray[Any] = np.array(
            [s.actions for s in symmetries] or [tuple(range(game.num_actions))],
            np.int64,
        )
        self._moves: NDArray[Any] = np.zeros(game.num_actions, np.int64)

    def start(self, number: int) -> Array:
        """So many games before the first move."""
        return np.tile(np.array(self.game.initial(), np.uint64), (number, 1))

    def masks(self, states: Array) -> Array:
        """[row, action]: whether it is legal; none is where the game is over."""
        found: NDArray[Any] = np.zeros((len(states), self.num_actions), np.bool_)
        compiled(list_all, self.game)(states, self._moves, found)
        return found

    def step(self, states: Array, actions: Array) -> tuple[Array, Array, Array]:
        """(states after it, reward of those who moved, whether the game is over)."""
        after: NDArray[Any] = np.empty_like(states)
        rewards: NDArray[Any] = np.zeros(len(states), np.float32)
        over: NDArray[Any] = np.zeros(len(states), np.bool_)
        compiled(step_all, self.game)(states, actions, after, rewards, over)
        return after, rewards, over

    def sampled(self, number: int, plies: int, seed: int) -> Array:
        """Running games at a random ply below `plies`, reached by random moves."""
        states: NDArray[Any] = np.empty((number, self.game.num_words), np.uint64)
        compiled(sample_all, self.game)(word(mix(word(seed + 1))), plies, self._moves, states)
        return states

    def canonical(self, states: Array) -> tuple[Array, Array]:
        """(of each state the least of its symmetric images, the symmetry that leads there)."""
        least: NDArray[Any] = np.empty_like(states)
        which: NDArray[Any] = np.zeros(len(states), np.int64)
        compiled(turn_all, self.game)(states, self._turns, least, which)
        return least, which

    def open(self, states: Array) -> Array:
        """Whether each state needs a search, as far as its game can tell at a glance."""
        found: NDArray[Any] = np.zeros(len(states), np.bool_)
        compiled(open_all, self.game)(states, found)
        return found

    def turned(self, states: Array, which: Array) -> Array:
        """Each state moved by the symmetry of this number."""
        found: NDArray[Any] = np.empty_like(states)
        compiled(turn_each, self.game)(states, self._turns, which, found)
        return found

    @property
    def num_turns(self) -> int:
        """How many symmetries there are."""
        return len(self.action_maps)


@kernel("uint64[:,::1], int64[::1], bool[:,::1]", common=False)
def list_all(game: WordGame, states: Any, moves: Any, found: Any) -> Any:
    """Mark the legal actions of every state."""
    for row in range(len(states)):
        state = game.load(states, row)
        over, _value = game.result(state)
        if not over:
            for move in range(game.list_moves(state, False, moves)):  # noqa: FBT003 - compiled
                found[row, moves[move]] = True


@kernel("uint64[:,::1], int64[::1], uint64[:,::1], float32[::1], bool[::1]", common=False)
def step_all(game: WordGame, states: Any, actions: Any, after: Any, rewards: Any, over: Any) -> Any:
    """Play an action in every state."""
    for row in range(len(states)):
        state = game.play(game.load(states, row), actions[row])
        game.store(after, row, state)
        ended, value = game.result(state)
        over[row] = ended
        rewards[row] = -value if ended else 0


@kernel("uint64, int64, int64[::1], uint64[:,::1]", common=False)
def sample_all(game: WordGame, seed: Any, plies: Any, moves: Any, states: Any) -> Any:
    """Fill the rows with states that random play meets and that are not over."""
    rng = word(seed)
    stride = word(STRIDE)
    row = 0
    while row < len(states):
        rng = word(rng + stride)
        left = scale(mix(rng), plies)
        state = game.initial()
        over, _value = game.result(state)
        while left > 0 and not over:
            count = game.list_moves(state, False, moves)  # noqa: FBT003 - compiled
            rng = word(rng + stride)
            state = game.play(state, int(moves[scale(mix(rng), count)]))
            over, _value = game.result(state)
            left -= 1
        if not over:
            game.store(states, row, state)
            row += 1


@kernel("uint64[:,::1], uint64[:,:,::1], uint64[:,::1], int64[::1]", common=False)
def turn_all(game: WordGame, states: Any, turns: Any, least: Any, which: Any) -> Any:
    """Of every state the least image, and by which symmetry."""
    for row in range(len(states)):
        state = game.load(states, row)
        best = state
        which[row] = 0
        for turn in range(1, len(turns)):
            image = game.turned(state, turns[turn])
            if image < best:
                best = image
                which[row] = turn
        game.store(least, row, best)


@kernel("uint64[:,::1], uint64[:,:,::1], int64[::1], uint64[:,::1]", common=False)
def turn_each(game: WordGame, states: Any, turns: Any, which: Any, found: Any) -> Any:
    """Every state by the symmetry of its own."""
    for row in range(len(states)):
        game.store(found, row, game.turned(game.load(states, row), turns[which[row]]))


@kernel("uint64[:,::1], bool[::1]", common=False)
def open_all(game: WordGame, states: Any, found: Any) -> Any:
    """Mark the states that `quick` does not settle."""
    for row in range(len(states)):
        known, _score, _moves = game.quick(game.load(states, row))
        found[row] = not known
