"""Random playouts: complete games of uniformly random moves, played by a compiled kernel."""

from typing import Any, NamedTuple

from zermelo.core.bitboard import mix, word
from zermelo.core.game import BoardGame, Game, WordGame
from zermelo.kernels.registry import kernel
from zermelo.search.traversal_arrays import TraversalArrays


class PlayoutCounts(NamedTuple):
    """The numbers of playouts won by each player and drawn, and the total number of moves."""

    first: int
    second: int
    draw: int
    moves: int


@kernel("uint64, int64, uint64[:,::1], uint8[::1], int64[::1], int64[::1]")
def count_playouts(
    game: WordGame | BoardGame,
    seed: Any,
    num_games: Any,
    roots: Any,
    board: Any,
    moves: Any,
    counts: Any,
) -> Any:
    """Play games from roots[0]; count the mover's wins, losses and draws, and all moves played."""
    rng = word(seed)
    for _ in range(num_games):
        value, rng, num_moves = game.play_out(game.load_root(roots, 0, board), rng, moves)
        counts[2 if value == 0 else (0 if value > 0 else 1)] += 1
        counts[3] += num_moves


def run_playouts(game: Game, num_games: int, seed: int = 0) -> PlayoutCounts:
    """Play random games from the initial state; the same seed gives the same games.

    >>> import zermelo as z
    >>> run_playouts(z.game("tictactoe"), 1000).draw
    130
    """
    import numpy as np

    counts = np.zeros(4, np.int64)
    arrays = TraversalArrays(game)
    arrays.set_root(0, game.initial())
    run = arrays.bind_kernel(count_playouts)
    run(mix(word(seed + 1)), num_games, arrays.roots, arrays.board, arrays.moves, counts)
    mover_wins, mover_losses, draws, moves = map(int, counts)
    if game.player(game.initial()) == 1:
        mover_wins, mover_losses = mover_losses, mover_wins
    return PlayoutCounts(mover_wins, mover_losses, draws, moves)
