"""Random playouts: whole games of uniformly random moves, at native speed."""

from typing import Any, NamedTuple

from zermelo.contract import WordGame
from zermelo.kernels import compiled, kernel
from zermelo.words import mix, popcount, scale, select, word

_STRIDE = 0x9E3779B97F4A7C15  # splitmix64's step, an odd number near 2**64 / golden ratio


class Tally(NamedTuple):
    """How so many random games ended, and how many moves they took."""

    first: int
    second: int
    draw: int
    steps: int


@kernel("uint64, int64, int64[::1]")
def random_games(game: WordGame, seed: Any, count: Any, tally: Any) -> Any:
    """Play `count` games; add wins of the first, of the second player, draws, moves to `tally`."""
    dice = word(seed)
    stride = word(_STRIDE)
    steps = 0
    for _ in range(count):
        state = game.initial()
        over, value = game.result(state)
        while not over:
            mask = game.legal(state)
            action = game.num_actions - 1
            if mask != 0:
                dice = word(dice + stride)
                action = select(mask, scale(mix(dice), popcount(mask)))
            state = game.play(state, action)
            over, value = game.result(state)
            steps += 1
        if value == 0:
            tally[2] += 1
        else:
            # The last word of a state is the player to move, whose value this is.
            tally[popcount(state[-1]) if value > 0 else 1 - popcount(state[-1])] += 1
    tally[3] += steps


def play_random(game: WordGame, count: int, seed: int = 0) -> Tally:
    """Play `count` random games.

    >>> import zermelo as z
    >>> play_random(z.game("tictactoe"), 1000).draw
    130
    """
    import numpy as np

    tally = np.zeros(4, np.int64)
    compiled(random_games, game)(mix(word(seed + 1)), count, tally)
    return Tally(*(int(x) for x in tally))
