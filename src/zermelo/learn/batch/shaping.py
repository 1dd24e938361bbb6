"""Shaping: patterns of stones as a potential, which hurries learning and leaves best play alone.

Patterns of one side in a line game. `n` stands for `win`, the drawings and the names are for n = 4:
in general a three lacks one stone and a two lacks two. Free means without any stone.

    three              n - 1 stones that one more on a free cell makes n in a row    X X . X
    half-open three    there is one such cell                                        O X X X .
    open three         there are two, one at each end                                . X X X .
    open two           n - 2 stones that one more makes an open three: within        . X X . .
                       n + 1 cells in a row whose ends are free                      . X . X .
    fork               a stone in threes of two directions or more

They are counted by direction and stones: the same stones count once, in however many windows
(`. . X X . .` is one open two), different stones count each, overlapping or not (`X X . X X` are
two half-open threes, `. X X X . X` an open one and a half-open one; in `X . X X . .` the last two
are an open two, too). A fork counts beside its threes. With gravity a free cell need not be
playable yet; longer lines than n are taken to win, as they do by `overline=any`. A board without
n + 1 cells in a row has no open patterns.

The potential P is own minus the other's, each pattern by its `VALUES`, seen by the side to move.
`Acting` adds `-P(state) - g * P(later)` to the mover's reward, with P(end) = 0. Over k plies this
sums to `(-g)^k P(last) - P(first)`, so every Q becomes Q - P(state): the order of moves stays.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from zermelo.core.bitboard import popcount, word
from zermelo.core.errors import BadSpec
from zermelo.core.game import WordGame
from zermelo.games.lines.tactics import WordLineGame
from zermelo.kernels import compiled, kernel
from zermelo.learn.batch.game_batch import GameBatch
from zermelo.learn.config.schedules import LinearSchedule

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: what each pattern adds, in the order in which they are counted
VALUES = {"open two": 0.03, "half-open three": 0.1, "open three": 0.4, "fork": 0.3}
IDLE = 0.01  #: see `idle_penalty`


class Patterns:
    """Counts the patterns of both sides in many states."""

    def __init__(self, game: WordGame) -> None:
        if not isinstance(game, WordLineGame):
            msg = f"patterns are counted in line games up to 64 cells, not in {game.spec}"
            raise BadSpec(msg)
        self.game = game

    def __call__(self, states: Any) -> "NDArray[Any]":
        """[row, side, pattern]: the side to move first, patterns as in `VALUES`."""
        found: NDArray[Any] = np.zeros((len(states), 2, len(VALUES)), np.int64)
        compiled(count_all, self.game)(states, found)
        return found


class Fading:
    """A potential with a weight, which a training lets go from 1 to 0.

    While the weight stays as it is, best play stays the best. While it changes, the sums do not
    cancel exactly: what is learned is off by about as much as the potential fades in the course of
    one game, and a replay that holds rewards of older weights adds to that. At weight 0 nothing is
    left of either.
    """

    def __init__(
        self, potential: Callable[[Any], Any], schedule: LinearSchedule | None = None
    ) -> None:
        self.potential = potential
        self.schedule = schedule or LinearSchedule(1.0, 0.0)
        self.weight = self.schedule(0.0)

    def __call__(self, states: Any) -> "NDArray[Any]":
        """How good each state looks to the side to move; the end is not known here."""
        if self.weight == 0.0:
            return np.zeros(len(states))
        return np.asarray(self.weight * self.potential(states))

    def fade(self, done: float) -> None:
        """As its schedule has it at a share of the whole training."""
        self.weight = self.schedule(done)


def make(name: str, game_batch: GameBatch, schedule: LinearSchedule | None = None) -> Fading:
    """The potential of that name."""
    if name != "patterns":
        msg = f"shaping is {name!r}: it can be patterns"
        raise BadSpec(msg)
    count = Patterns(game_batch.game)
    return Fading(lambda states: worth(count(states)), schedule)


def worth(counts: Any) -> Any:
    """Own minus the other's, by `VALUES`; counts are [row, side, pattern]."""
    return (counts[:, 0] - counts[:, 1]) @ np.array(list(VALUES.values()))


def idle_penalty(count: Patterns, states: Any, after: Any, size: float = IDLE) -> "NDArray[Any]":
    """`-size` for those who moved, where a move leaves the counts of both sides as they were.

    This is no potential: it does not cancel, and the game with it has another best play. In a game
    of at most N plies, undiscounted, it shifts a value by at most `size * ceil(N / 2)`. While that
    is below a half, the best moves with it still win, draw or lose as before, but it chooses among
    them; beyond that it can make a side give up a draw to make threats on the way.
    """
    same = (count(states) == count(after)[:, ::-1]).all(axis=(1, 2))
    return np.where(same, -size, 0.0)


@kernel("uint64[:,::1], int64[:,:,::1]", common=False)
def count_all(game: WordLineGame, states: Any, found: Any) -> Any:
    """Count the patterns of both sides in every state."""
    for row in range(len(states)):
        mine, theirs, _player = game.load(states, row)
        free = game.full ^ (mine | theirs)
        for side in range(2):
            own = mine if side == 0 else theirs
            two, half, whole, fork = count_side(game, own, free)
            found[row, side, 0] = two
            found[row, side, 1] = half
            found[row, side, 2] = whole
            found[row, side, 3] = fork


def count_side(game: WordLineGame, own: Any, free: Any) -> Any:
    """(open twos, half-open threes, open threes, forks) of one side."""
    twos = half = whole = 0
    once = again = game.none  # stones in threes of one direction, of two
    for begins, step in game.win_windows:
        here = game.none
        for gap in range(game.win):
            lines = threes(game, begins, step, gap, own, free)
            half += popcount(lines)
            for place in range(game.win):
                if place != gap:
                    here = here | (lines << (step * word(place)))
        again = again | (once & here)
        once = once | here
        # The same stones, lacking the cell before them, and lacking the one behind them.
        before = threes(game, begins, step, 0, own, free)
        behind = threes(game, begins, step, game.win - 1, own, free)
        both = popcount(before & (behind >> step))
        whole += both
        half -= 2 * both
        for gap in range(1, game.win):
            twos += popcount(open_twos(game, begins, step, gap, own, free))
        # The same stones, seen with the free cell before them, and with the one behind them.
        early = open_twos(game, begins, step, 1, own, free)
        late = open_twos(game, begins, step, game.win - 1, own, free)
        twos -= popcount(early & (late >> step))
    return twos, half, whole, popcount(again)


def threes(game: WordLineGame, begins: Any, step: Any, gap: Any, own: Any, free: Any) -> Any:
    """The first cells of all windows that are own but for a free cell at `gap`, as a mask."""
    found = begins
    for place in range(game.win):
        cells = free if place == gap else own
        found = found & (cells >> (step * word(place)))
    return found


def open_twos(game: WordLineGame, begins: Any, step: Any, gap: Any, own: Any, free: Any) -> Any:
    """The same for stretches of `win + 1` cells: free at both ends and at `gap`, else own."""
    found = begins & (begins >> step)  # a window here, and one that begins a step further
    if found == 0 or game.win < 3:
        return game.none  # a shift past the word has no meaning
    for place in range(game.win + 1):
        cells = free if place in (0, gap, game.win) else own
        found = found & (cells >> (step * word(place)))
    return found
