"""Random playouts: whole games of uniformly random moves, at native speed."""

import random
from typing import Any, NamedTuple

from zermelo.contract import BoardGame, Game, WordGame
from zermelo.kernels import compiled, kernel
from zermelo.position import Outcome
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


@kernel("uint64, int64, uint8[::1], uint8[::1], int64[::1], int64[::1]")
def random_board_games(
    game: BoardGame, seed: Any, count: Any, frame: Any, cells: Any, actions: Any, tally: Any
) -> Any:
    """The same on a padded board: `frame` is the start, `cells` and `actions` are room to work."""
    dice = word(seed)
    stride = word(_STRIDE)
    steps = 0
    for _ in range(count):
        cells[:] = frame
        for action in range(len(actions)):
            actions[action] = action
        choices = len(actions)
        left = game.cells
        player = 0
        over, value = False, 0
        while not over:
            dice = word(dice + stride)
            chosen = scale(mix(dice), choices)
            at = game.landing(cells, actions[chosen])
            cells[at] = 1 + player
            left -= 1
            if game.is_spent(cells, actions[chosen]):
                choices -= 1
                actions[chosen] = actions[choices]
            over, value = game.judge(cells, at, left)
            player = 1 - player
            steps += 1
        tally[2 if value == 0 else (player if value > 0 else 1 - player)] += 1
    tally[3] += steps


def play_random(game: Game, count: int, seed: int = 0) -> Tally:
    """Play `count` random games of any kind of game.

    >>> import zermelo as z
    >>> play_random(z.game("tictactoe"), 1000).draw
    130
    """
    import numpy as np

    tally = np.zeros(4, np.int64)
    dice = mix(word(seed + 1))
    if isinstance(game, WordGame):
        compiled(random_games, game)(dice, count, tally)
    elif isinstance(game, BoardGame):
        frame = np.frombuffer(bytes(game.to_cells(game.initial())), np.uint8)
        actions = np.zeros(game.num_actions, np.int64)
        run = compiled(random_board_games, game)
        run(dice, count, frame.copy(), frame.copy(), actions, tally)
    else:
        return _play_plainly(game, count, seed)
    return Tally(*(int(x) for x in tally))


def _play_plainly(game: Game, count: int, seed: int) -> Tally:
    """In plain Python, for games that do not compile."""
    dice = random.Random(seed)
    ends = dict.fromkeys(Outcome, 0)
    steps = 0
    for _ in range(count):
        state = game.initial()
        while actions := game.actions(state):
            state = game.play(state, dice.choice(actions))
            steps += 1
        ends[Outcome.of(game.result(state)[1], game.player(state))] += 1
    return Tally(ends[Outcome.FIRST], ends[Outcome.SECOND], ends[Outcome.DRAW], steps)
