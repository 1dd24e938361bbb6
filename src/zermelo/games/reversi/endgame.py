"""Discs that turn over: the rules on words, and what the solver knows of their endgames.

A state is (the mover's discs, the other's discs, the player to move). Rays are followed in two
ways: `mobility` and `play` shift whole boards, for ints, uint64 and tensors alike; `flips`, which
only the solver uses, looks up the rays of one cell and lets a carry run along them.
"""

import functools
from typing import Any

from zermelo.core.bitboard import Numbers, Word, highest, lowest, pick, popcount, word
from zermelo.core.game import WordGame
from zermelo.core.notation import Grid
from zermelo.games.lines.rules import shift_down

_DIRECTIONS = ((0, 1), (1, 0), (1, 1), (1, -1))  # towards higher bits
_FEW = 6  # cells left, from which a table and counting replies take longer than they save
_LAST = 4  # cells left that are filled outside the kernel's stack


class DiscGame(WordGame):
    """Discs turn over between the new one and the next of its colour, in all eight directions."""

    full: Word
    one: Word
    none: Word
    every: Word = (1 << 64) - 1
    cells: int
    corners: Word
    quarters: tuple[Word, ...]  #: of the board
    #: a direction each: the shift, the cells that may receive from above, and from below
    rays: tuple[tuple[Word, Word, Word], ...]

    counts_finished = True
    layered = False  # a pass adds no disc
    far: int = 64
    ply_cost: int = 0  # a score is a disc difference
    soonest_win: int = 0
    soonest_loss: int = 0

    def __init__(self, size: int) -> None:
        self.size = size
        self.grid: Grid = Grid(size, size)
        self.cells = size * size
        self.num_actions = self.cells + 1  # the last is the pass
        self.full, self.one, self.none = (1 << self.cells) - 1, 1, 0
        self.rays = tuple(_ray(self.grid, down, right) for down, right in _DIRECTIONS)
        middle = size // 2
        halves = (range(middle), range(middle, size))
        self.quarters = tuple(self._cells(rows, cols) for rows in halves for cols in halves)
        self.corners = self._cells((0, size - 1), (0, size - 1))

    def _cells(self, rows: Any, cols: Any) -> Word:
        return sum(1 << self.grid.index(row, col) for row in rows for col in cols)

    @functools.cached_property
    def reach(self) -> Numbers:
        """[cell, direction]: a ray's cells; four towards higher bits, then the opposite four."""
        import numpy as np

        ways = [(s * down, s * right) for s in (1, -1) for down, right in _DIRECTIONS]
        cells = range(self.cells)
        return np.array([[self._ray_from(cell, *way) for way in ways] for cell in cells], np.uint64)

    def _ray_from(self, cell: int, down: int, right: int) -> Word:
        row, col = divmod(cell, self.size)
        steps = range(1, self.size)
        cells = ((row + step * down, col + step * right) for step in steps)
        return sum(
            1 << self.grid.index(r, c)
            for r, c in cells
            if 0 <= r < self.size and 0 <= c < self.size
        )

    # The rules, for ints, uint64 and tensors alike.

    def legal(self, state: Any) -> Any:
        """The cells where the mover turns something over; none means a pass, while it runs."""
        mine, theirs, _player = state
        return self.mobility(mine, theirs)

    def mobility(self, mine: Any, theirs: Any) -> Any:
        """The free cells from which a ray of the other's discs leads to one of the mover's."""
        found = self.none
        for shift, from_above, from_below in self.rays:
            up = self.ray_up(mine, theirs, shift, from_below)
            down = self.ray_down(mine, theirs, shift, from_above)
            found = found | ((up >> shift) & from_below) | ((down << shift) & from_above)
        return found & (self.full ^ (mine | theirs))

    def ray_up(self, origin: Any, theirs: Any, shift: Any, stays: Any) -> Any:
        """The other's discs in unbroken rays from `origin` towards lower bits."""
        # A ray doubles with every step: 1, 2, 4 and at most 6 discs lie between two others.
        through = theirs & stays
        ray = (origin >> shift) & through
        ray = ray | ((ray >> shift) & through)
        through = through & ((through >> shift) & stays)
        shift2 = shift + shift
        ray = ray | ((ray >> shift2) & through)
        return ray | ((ray >> shift2) & through)

    def ray_down(self, origin: Any, theirs: Any, shift: Any, stays: Any) -> Any:
        """The same towards higher bits."""
        through = theirs & stays
        ray = (origin << shift) & through
        ray = ray | ((ray << shift) & through)
        through = through & ((through << shift) & stays)
        shift2 = shift + shift
        ray = ray | ((ray << shift2) & through)
        return ray | ((ray << shift2) & through)

    def play(self, state: Any, action: Any) -> Any:
        """The new disc and what it turns over join the mover's; a pass only changes sides."""
        mine, theirs, player = state
        # A shift by 64 has no meaning in a word, so the pass is kept away from it.
        disc = pick(action == self.cells, self.none, self.one << (action & 63)) & self.full
        turned = self.none
        for shift, from_above, from_below in self.rays:
            up = self.ray_up(disc, theirs, shift, from_below)
            down = self.ray_down(disc, theirs, shift, from_above)
            closed_up = ((up >> shift) & from_below & mine) != 0
            closed_down = ((down << shift) & from_above & mine) != 0
            turned = turned | pick(closed_up, up, self.none) | pick(closed_down, down, self.none)
        return (theirs ^ turned, mine | disc | turned, player ^ self.one)

    def result(self, state: Any) -> Any:
        """Over when neither side can move; then more discs win."""
        mine, theirs, _player = state
        over = (self.mobility(mine, theirs) | self.mobility(theirs, mine)) == 0
        diff = popcount(mine) - popcount(theirs)
        return over, (1 * (diff > 0) - 1 * (diff < 0)) * over

    # The solver's hooks.

    def lead(self, mine: Any, theirs: Any) -> Any:
        """The score of a game that is over: the disc difference, empties counting for nobody."""
        return popcount(mine) - popcount(theirs)

    def quick(self, state: Any) -> Any:
        """The disc difference at the end, else all moves."""
        mine, theirs, _player = state
        moves = self.mobility(mine, theirs)
        over = moves == 0 and self.mobility(theirs, mine) == 0
        return over, self.lead(mine, theirs), moves

    def reply(self, state: Any, index: Any) -> Any:
        """As it stands, but not where `within` will know: moves are not asked for there."""
        mine, theirs, _player = state
        if popcount(mine | theirs) == self.cells - _LAST - 1 and index != self.cells:
            return False, 0, self.none
        return self.quick(self.play_at(state, index))

    def play_at(self, state: Any, index: Any) -> Any:
        """As `play`, sooner."""
        mine, theirs, player = state
        if index == self.cells:
            return (theirs, mine, player ^ self.one)
        turned = self.flips(index, mine, theirs)
        return (theirs ^ turned, mine | turned | (self.one << word(index)), player ^ self.one)

    def flips(self, index: Any, mine: Any, theirs: Any) -> Any:
        """What a disc on a free cell turns over.

        Towards higher bits a one added to the ray's near end runs through the other's discs to
        the first cell beyond them; towards lower bits that cell is the highest not the other's.
        """
        turned = self.none
        for direction in range(4):
            ray = word(self.reach[index, direction])
            end = ((theirs | (self.every ^ ray)) + self.one) & ray & mine
            turned = turned | ((end - pick(end == 0, self.none, self.one)) & ray)
            ray = word(self.reach[index, direction + 4])
            end = (self.one << word(highest((ray ^ (ray & theirs)) | self.one))) & ray & mine
            turned = turned | ((self.none - (end + end)) & ray)
        return turned

    def rank(self, state: Any, index: Any) -> Any:
        """Corners, cells of quarters with an odd number left, and few replies, corners twice.

        The last disc in a region is worth having, and an odd one gives it to who begins there.
        """
        mine, theirs, _player = state
        free = self.full ^ (mine | theirs)
        cell = self.one << word(index)
        rank = 4 * popcount(cell & self.corners)
        for quarter in self.quarters:
            if cell & quarter != 0:
                rank += 2 * (popcount(free & quarter) & 1)
        if popcount(free) > _FEW:
            after = self.play_at(state, index)
            replies = self.mobility(after[0], after[1])
            rank -= 4 * (popcount(replies) + popcount(replies & self.corners))
        return rank

    def keeps(self, state: Any) -> Any:
        """Not the last few cells."""
        mine, theirs, _player = state
        return popcount(mine | theirs) < self.cells - _FEW

    def within(self, state: Any, alpha: Any, beta: Any) -> Any:
        """The last four cells, tried as they come."""
        mine, theirs, _player = state
        free = self.full ^ (mine | theirs)
        if popcount(free) != _LAST:
            return False, 0
        return True, self.last_four(mine, theirs, free, alpha, beta)

    # One function for each number of cells left, alike but for what comes next: kernels know no
    # recursion, and with a stack these cells take twice as long. `sign` turns when a side passes.

    def last_four(self, mine: Any, theirs: Any, free: Any, alpha: Any, beta: Any) -> Any:
        """The score with four cells left, or a bound outside the window."""
        best, sign = -self.far - 1, 1
        for _side in range(2):
            left = free
            while left != 0:
                disc = left & (self.none - left)
                left = left ^ disc
                turned = self.flips(lowest(disc), mine, theirs)
                if turned != 0:
                    worst = max(alpha, best)
                    us, them = mine | disc | turned, theirs ^ turned
                    best = max(best, -self.last_three(them, us, free ^ disc, -beta, -worst))
                    if best >= beta:
                        return sign * best
            if best >= -self.far:
                return sign * best
            mine, theirs, sign = theirs, mine, -sign
            alpha, beta = -beta, -alpha
        return self.lead(mine, theirs)

    def last_three(self, mine: Any, theirs: Any, free: Any, alpha: Any, beta: Any) -> Any:
        """The same with three."""
        best, sign = -self.far - 1, 1
        for _side in range(2):
            left = free
            while left != 0:
                disc = left & (self.none - left)
                left = left ^ disc
                turned = self.flips(lowest(disc), mine, theirs)
                if turned != 0:
                    worst = max(alpha, best)
                    us, them = mine | disc | turned, theirs ^ turned
                    best = max(best, -self.last_two(them, us, free ^ disc, -worst))
                    if best >= beta:
                        return sign * best
            if best >= -self.far:
                return sign * best
            mine, theirs, sign = theirs, mine, -sign
            alpha, beta = -beta, -alpha
        return self.lead(mine, theirs)

    def last_two(self, mine: Any, theirs: Any, free: Any, beta: Any) -> Any:
        """With two: the score, or a bound that is `beta` or more."""
        best, sign = -self.far - 1, 1
        for _side in range(2):
            left = free
            while left != 0:
                disc = left & (self.none - left)
                left = left ^ disc
                turned = self.flips(lowest(disc), mine, theirs)
                if turned != 0:
                    us, them = mine | disc | turned, theirs ^ turned
                    best = max(best, -self.last_one(them, us, free ^ disc))
                    if best >= beta:
                        return sign * best
            if best >= -self.far:
                return sign * best
            mine, theirs, sign = theirs, mine, -sign
            beta = self.far + 1
        return self.lead(mine, theirs)

    def last_one(self, mine: Any, theirs: Any, free: Any) -> Any:
        """With one: whoever can fill it does."""
        index = lowest(free)
        turned = self.flips(index, mine, theirs)
        if turned != 0:
            return popcount(mine) - popcount(theirs) + 2 * popcount(turned) + 1
        turned = self.flips(index, theirs, mine)
        if turned != 0:
            return popcount(mine) - popcount(theirs) - 2 * popcount(turned) - 1
        return self.lead(mine, theirs)


def _ray(grid: Grid, down: int, right: int) -> tuple[Word, Word, Word]:
    """A direction's shift, and the cells a shifted disc may land on without leaving the board."""
    shift, from_below = shift_down(grid, down, right)
    _, from_above = shift_down(grid, -down, -right)
    return (shift, from_above, from_below)
