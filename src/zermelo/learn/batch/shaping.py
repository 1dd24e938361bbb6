"""Reward shaping: a potential of stone patterns that speeds up learning and keeps best play best.

Patterns of one side in a line game, with `n` for `game.win`. Names and drawings are for n = 4: in
general a three is one stone short of winning, and a two is two stones short.

    three              n - 1 stones that one more on an empty cell completes         X X . X
    half-open three    one such cell                                                 O X X X .
    open three         two such cells, one at each end                               . X X X .
    open two           n - 2 stones that one more makes an open three: within        . X X . .
                       n + 1 cells in a row with both ends empty                     . X . X .
    fork               a stone in threes of two or more directions

Patterns are counted by direction and stones: the same stones count once, in however many windows
(`. . X X . .` is one open two), and different stones count separately, overlapping or not
(`X X . X X` has two half-open threes, `. X X X . X` an open and a half-open one; in `X . X X . .`
the last two stones are also an open two). A fork counts in addition to its threes. With gravity, an
empty cell need not be playable yet. Lines longer than n are taken to win, as with `overline=any`. A
board without n + 1 cells in a row has no open patterns.

The potential P is the sum of own patterns minus those of the other side, weighted by
`PATTERN_VALUES`, seen by the side to move. Self-play adds `-P(state) - g * P(next)` to the mover's
reward, with P(end) = 0 (Ng et al. 1999, with the sign of a zero-sum game). Over k plies this sums
to `(-g)^k P(last) - P(first)`, so every Q becomes Q - P(state): the order of moves stays.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from zermelo.core.bitboard import popcount, word
from zermelo.core.errors import BadSpec
from zermelo.core.game import WordGame
from zermelo.games.lines.small import WordLineGame
from zermelo.kernels import compile_kernel, kernel
from zermelo.learn.batch.game_batch import GameBatch
from zermelo.learn.config.schedules import LinearSchedule

#: the value of each pattern, in the order in which they are counted
PATTERN_VALUES = {"open two": 0.03, "half-open three": 0.1, "open three": 0.4, "fork": 0.3}
IDLE_PENALTY = 0.01  #: see `idle_penalty`


class PatternCounter:
    """Counts the patterns of both sides in a batch of states."""

    def __init__(self, game: WordGame) -> None:
        if not isinstance(game, WordLineGame):
            msg = f"patterns are counted in line games up to 64 cells, not in {game.spec}"
            raise BadSpec(msg)
        self.game = game

    def __call__(self, states: np.ndarray) -> np.ndarray:
        """Return counts [row, side, pattern]: the side to move first, then `PATTERN_VALUES`."""
        counts: np.ndarray = np.zeros((len(states), 2, len(PATTERN_VALUES)), np.int64)
        compile_kernel(count_patterns, self.game)(states, counts)
        return counts


class FadingPotential:
    """A potential with a weight that falls from 1 to 0 in the course of a training.

    While the weight is constant, best play stays best. While it changes, the shaping rewards of a
    game do not cancel exactly: learned values are off by about as much as the potential fades
    during one game, and a replay buffer that holds rewards of older weights adds to that. At
    weight 0 both errors are gone.
    """

    def __init__(
        self,
        potential: Callable[[np.ndarray], np.ndarray],
        schedule: LinearSchedule | None = None,
    ) -> None:
        self.potential = potential
        self.schedule = schedule or LinearSchedule(1.0, 0.0)
        self.weight = self.schedule(0.0)

    def __call__(self, states: np.ndarray) -> np.ndarray:
        """Return the weighted potential for the side to move, as if no state were terminal."""
        if self.weight == 0.0:
            return np.zeros(len(states))
        return np.asarray(self.weight * self.potential(states))

    def fade(self, progress: float) -> None:
        """Set the weight that the schedule has at that share of the training."""
        self.weight = self.schedule(progress)


def build_potential(
    name: str, game_batch: GameBatch, schedule: LinearSchedule | None = None
) -> FadingPotential:
    """Return the potential of that name; "patterns" is the only one."""
    if name != "patterns":
        msg = f"shaping is {name!r}: it can be patterns"
        raise BadSpec(msg)
    counter = PatternCounter(game_batch.game)
    return FadingPotential(lambda states: _potential(counter(states)), schedule)


def _potential(counts: np.ndarray) -> np.ndarray:
    """Return own patterns minus those of the other side, weighted by `PATTERN_VALUES`."""
    return np.asarray((counts[:, 0] - counts[:, 1]) @ np.array(list(PATTERN_VALUES.values())))


def idle_penalty(
    counter: PatternCounter,
    states: np.ndarray,
    next_states: np.ndarray,
    size: float = IDLE_PENALTY,
) -> np.ndarray:
    """Return `-size` for each move that leaves the pattern counts of both sides as they were.

    This is not a potential: it does not cancel, and the game with it has another best play. In a
    game of at most N plies, undiscounted, it shifts a value by at most `size * ceil(N / 2)`. While
    that is below a half, the best moves with it still win, draw or lose as before, but it chooses
    among them; beyond that it can make a side give up a draw to make threats on the way.
    """
    unchanged = (counter(states) == counter(next_states)[:, ::-1]).all(axis=(1, 2))
    return np.where(unchanged, -size, 0.0)


@kernel("uint64[:,::1], int64[:,:,::1]", common=False)
def count_patterns(game: WordLineGame, states: Any, counts: Any) -> Any:
    """Count the patterns of both sides in every state."""
    for row in range(len(states)):
        mine, theirs, _player = game.load(states, row)
        free = game.full ^ (mine | theirs)
        for side in range(2):
            own = mine if side == 0 else theirs
            twos, half_open, open_threes, forks = count_side(game, own, free)
            counts[row, side, 0] = twos
            counts[row, side, 1] = half_open
            counts[row, side, 2] = open_threes
            counts[row, side, 3] = forks


def count_side(game: WordLineGame, own: Any, free: Any) -> Any:
    """Return (open twos, half-open threes, open threes, forks) of one side."""
    twos = half_open = open_threes = 0
    in_one = in_two = game.none  # stones in threes of at least one direction, of at least two
    for begins, step in game.win_windows:
        here = game.none
        for gap in range(game.win):
            lines = find_threes(game, begins, step, gap, own, free)
            half_open += popcount(lines)
            for place in range(game.win):
                if place != gap:
                    here = here | (lines << (step * word(place)))
        in_two = in_two | (in_one & here)
        in_one = in_one | here
        # An open three is found twice: with the gap before its stones, and with the gap after.
        before = find_threes(game, begins, step, 0, own, free)
        after = find_threes(game, begins, step, game.win - 1, own, free)
        both = popcount(before & (after >> step))
        open_threes += both
        half_open -= 2 * both
        for gap in range(1, game.win):
            twos += popcount(find_open_twos(game, begins, step, gap, own, free))
        # Two stones in a row are found twice: with the gap before them, and with the gap after.
        early = find_open_twos(game, begins, step, 1, own, free)
        late = find_open_twos(game, begins, step, game.win - 1, own, free)
        twos -= popcount(early & (late >> step))
    return twos, half_open, open_threes, popcount(in_two)


def find_threes(game: WordLineGame, begins: Any, step: Any, gap: Any, own: Any, free: Any) -> Any:
    """Return the first cells of the windows with own stones and one empty cell, at `gap`."""
    firsts = begins
    for place in range(game.win):
        cells = free if place == gap else own
        firsts = firsts & (cells >> (step * word(place)))
    return firsts


def find_open_twos(
    game: WordLineGame, begins: Any, step: Any, gap: Any, own: Any, free: Any
) -> Any:
    """Return the first cells of `win + 1` cells in a row, empty at both ends and at `gap`."""
    firsts = begins & (begins >> step)  # a window begins here, and another a step further
    if firsts == 0 or game.win < 3:
        return game.none  # a shift by more than the word is undefined
    for place in range(game.win + 1):
        cells = free if place in (0, gap, game.win) else own
        firsts = firsts & (cells >> (step * word(place)))
    return firsts
