"""Reward shaping by a potential of stone patterns, which does not change the optimal policy.

These are the patterns of one side in a line game, where n is `game.win`. Names and drawings are for
n = 4; in general, a three is one stone short of a winning line, and a two is two stones short.

    three              n - 1 stones and one empty cell within n cells in a row       X X . X
    half-open three    a three that only one empty cell completes                    O X X X .
    open three         a three that two empty cells complete, one at each end        . X X X .
    open two           n - 2 stones that one more turns into an open three: within   . X X . .
                       n + 1 cells in a row with both ends empty                     . X . X .
    fork               a stone in threes of two or more directions

Patterns are counted by direction and stones. The same stones are counted once, even if several
windows contain them (`. . X X . .` is one open two). Different sets of stones are counted
separately, even if they overlap: `X X . X X` has two half-open threes, `. X X X . X` has an open
and a half-open three, and in `X . X X . .` the last two stones are also an open two. A fork is
counted in addition to its threes. With gravity, an empty cell need not be playable yet. Lines
longer than n are assumed to win, as with `overline=any`. A board without n + 1 cells in a row has
no open patterns.

The potential P is the weighted sum (`PATTERN_VALUES`) of the patterns of the side to move, minus
that of the other side. Self-play adds `-P(state) - g * P(next)` to the reward of the side to move,
with P(end) = 0 (Ng et al. 1999, with the sign of a zero-sum game). Over k plies this sums to
`(-g)^k P(last) - P(first)`, so every Q becomes Q - P(state), and the order of moves is the same.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from zermelo.core.bitboard import popcount, word
from zermelo.core.errors import BadSpec
from zermelo.core.game import WordGame
from zermelo.games.lines.small import WordLineGame
from zermelo.kernels.compiler import compile_kernel
from zermelo.kernels.registry import kernel
from zermelo.learn.batch.game_batch import GameBatch
from zermelo.learn.config.schedules import LinearSchedule

#: the weight of each kind of pattern; arrays of counts have the same order
PATTERN_VALUES = {"open two": 0.03, "half-open three": 0.1, "open three": 0.4, "fork": 0.3}
IDLE_PENALTY = 0.01  #: default size of the penalty in `idle_penalty`


class PatternCounter:
    """Counts the patterns of both sides in a batch of states."""

    def __init__(self, game: WordGame) -> None:
        if not isinstance(game, WordLineGame):
            msg = f"patterns are for line games up to 64 cells, not for {game.spec}"
            raise BadSpec(msg)
        self.game = game

    def __call__(self, states: np.ndarray) -> np.ndarray:
        """Return the counts as [state, side, kind of pattern]; side 0 is the side to move."""
        counts: np.ndarray = np.zeros((len(states), 2, len(PATTERN_VALUES)), np.int64)
        compile_kernel(count_patterns, self.game)(states, counts)
        return counts


class FadingPotential:
    """A potential with a weight that falls from 1 to 0 in the course of a training run.

    While the weight is constant, the optimal policy does not change. While the weight falls, the
    shaping rewards of a game do not cancel exactly: the error of learned values is about the amount
    by which the potential fades during one game, plus an error from rewards in the replay buffer
    that were computed with older weights. At weight 0 there are no such errors.
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
        """Return the weighted potential for the side to move; no state is treated as terminal."""
        if self.weight == 0.0:
            return np.zeros(len(states))
        return np.asarray(self.weight * self.potential(states))

    def fade(self, progress: float) -> None:
        """Set the weight; `progress` is the fraction of the training that is complete."""
        self.weight = self.schedule(progress)


def build_potential(
    name: str, game_batch: GameBatch, schedule: LinearSchedule | None = None
) -> FadingPotential:
    """Return the potential with this name; "patterns" is the only name so far."""
    if name != "patterns":
        msg = f"shaping is {name!r}: the only possible value is 'patterns'"
        raise BadSpec(msg)
    counter = PatternCounter(game_batch.game)
    return FadingPotential(lambda states: _potential(counter(states)), schedule)


def _potential(counts: np.ndarray) -> np.ndarray:
    """Return the weighted sum of the mover's patterns minus that of the other side's patterns."""
    return np.asarray((counts[:, 0] - counts[:, 1]) @ np.array(list(PATTERN_VALUES.values())))


def idle_penalty(
    counter: PatternCounter,
    states: np.ndarray,
    next_states: np.ndarray,
    size: float = IDLE_PENALTY,
) -> np.ndarray:
    """Return `-size` for each move that does not change the pattern counts of either side.

    This is not a potential: the penalties do not cancel, so they can change the optimal policy. In
    an undiscounted game of at most N plies, they shift a value by at most `size * ceil(N / 2)`. If
    this is less than a half, the optimal moves with the penalty still preserve the game's value,
    but the penalty chooses among them; otherwise, a side may give up a draw in order to make
    threats.
    """
    unchanged = (counter(states) == counter(next_states)[:, ::-1]).all(axis=(1, 2))
    return np.where(unchanged, -size, 0.0)


@kernel("uint64[:,::1], int64[:,:,::1]", common=False)
def count_patterns(game: WordLineGame, states: Any, counts: Any) -> Any:
    """Write the number of patterns of each kind, for both sides of every state, to `counts`."""
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
    """Return the numbers of (open twos, half-open threes, open threes, forks) of one side."""
    twos = half_open = open_threes = 0
    in_one = in_two = game.none  # stones in threes of >= 1 and >= 2 directions
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
        # Adjacent stones are found twice: with the gap before them, and with the gap after.
        early = find_open_twos(game, begins, step, 1, own, free)
        late = find_open_twos(game, begins, step, game.win - 1, own, free)
        twos -= popcount(early & (late >> step))
    return twos, half_open, open_threes, popcount(in_two)


def find_threes(game: WordLineGame, begins: Any, step: Any, gap: Any, own: Any, free: Any) -> Any:
    """Return a mask of the first cells of windows of own stones with an empty cell at `gap`."""
    firsts = begins
    for place in range(game.win):
        cells = free if place == gap else own
        firsts = firsts & (cells >> (step * word(place)))
    return firsts


def find_open_twos(
    game: WordLineGame, begins: Any, step: Any, gap: Any, own: Any, free: Any
) -> Any:
    """Return a mask of the first cells of those lines of `win + 1` cells that contain an open two.

    Such a line is empty at both ends and at `gap`, and has own stones on its other cells.
    """
    firsts = begins & (begins >> step)  # one window begins here, and another one cell further
    if firsts == 0 or game.win < 3:
        return game.none  # a shift by the word size or more would be undefined
    for place in range(game.win + 1):
        cells = free if place in (0, gap, game.win) else own
        firsts = firsts & (cells >> (step * word(place)))
    return firsts
