"""Random playouts: whole games of uniformly random moves, at native speed."""

import functools
from typing import TYPE_CHECKING, Any, NamedTuple

from zermelo.core.bitboard import mix, word
from zermelo.core.game import BoardGame, Game, WordGame
from zermelo.kernels import compile_kernel, kernel

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Tally(NamedTuple):
    """How so many random games ended, and how many moves they took."""

    first: int
    second: int
    draw: int
    steps: int


@kernel("uint64, int64, uint64[:,::1], uint8[::1], int64[::1], int64[::1]")
def random_games(
    game: WordGame | BoardGame,
    seed: Any,
    count: Any,
    roots: Any,
    room: Any,
    moves: Any,
    tally: Any,
) -> Any:
    """Play `count` games; add wins of the side to move, of the other, draws, moves to `tally`."""
    rng = word(seed)
    for _ in range(count):
        value, rng, steps = game.play_out(game.load_root(roots, 0, room), rng, moves)
        tally[2 if value == 0 else (0 if value > 0 else 1)] += 1
        tally[3] += steps


def play_random(game: Game, count: int, seed: int = 0) -> Tally:
    """Play `count` random games of any kind of game.

    >>> import zermelo as z
    >>> play_random(z.game("tictactoe"), 1000).draw
    130
    """
    import numpy as np

    tally = np.zeros(4, np.int64)
    room = Room(game)
    room.fill(0, game.initial())
    run = room.kernel(random_games)
    run(mix(word(seed + 1)), count, room.roots, room.board, room.moves, tally)
    first, second, *rest = map(int, tally)
    if game.player(game.initial()) == 1:
        first, second = second, first
    return Tally(first, second, *rest)


class Room:
    """The arrays that a walk through a game needs, for a number of roots."""

    def __init__(self, game: Game, rows: int = 1) -> None:
        import numpy as np

        self.game = game
        width = len(game.to_root(game.initial()))
        self.is_native = isinstance(game, WordGame | BoardGame)
        kind = np.uint64 if self.is_native else np.object_
        self.roots: NDArray[Any] = np.zeros((rows, width), kind)
        self.board = np.zeros(width - 1 if isinstance(game, BoardGame) else 0, np.uint8)
        self.moves = np.zeros(game.num_actions, np.int64)

    def fill(self, row: int, state: Any) -> None:
        """A state as the root in a row."""
        for column, part in enumerate(self.game.to_root(state)):
            self.roots[row, column] = part

    def kernel(self, function: Any, *, with_hooks: bool = False) -> Any:
        """A kernel for the game: native, or plain Python where its rules do not compile."""
        game = self.game
        if not self.is_native:
            return functools.partial(function, game)
        return compile_kernel(function, game.hooks if with_hooks and isinstance(game, WordGame) else game)
