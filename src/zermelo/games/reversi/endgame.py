"""What the solver knows about Reversi: how discs turn, which moves come first, the last cells.

Rays are followed in two ways: the rules shift whole boards; `flips`, which only the solver uses,
looks up the rays of one cell and lets a carry run along them.
"""

import functools
from typing import TYPE_CHECKING, Any

from zermelo.core.bitboard import Numbers, Word, highest, lowest, pick, popcount, word
from zermelo.core.game import SolverHooks

if TYPE_CHECKING:
    from zermelo.games.reversi.rules import Reversi

_DIRECTIONS = ((0, 1), (1, 0), (1, 1), (1, -1))  # towards higher bits
_FEW = 6  # cells left, from which a table and counting replies take longer than they save
_LAST = 4  # cells left that are filled outside the kernel's stack


class ReversiHooks(SolverHooks):
    """Solver hooks of Reversi. A score is a disc difference."""

    win_score: int = 64
    ply_cost: int = 0
    min_win_plies: int = 0
    min_loss_plies: int = 0
    estimate_scale = 20.0
    every: Word = (1 << 64) - 1
    quarters: tuple[Word, ...]  #: of the board
    #: sixteenths of a disc each for moves, corners, cells beside free corners, discs
    eval_weights: tuple[int, ...] = (45, 134, -55, -1)

    def __init__(self, game: "Reversi") -> None:
        super().__init__(game)
        middle = game.size // 2
        halves = (range(middle), range(middle, game.size))
        self.quarters = tuple(self._cells(rows, cols) for rows in halves for cols in halves)

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

    def lead(self, mine: Any, theirs: Any) -> Any:
        """The score of a game that is over: the disc difference, empties counting for nobody."""
        return popcount(mine) - popcount(theirs)

    def resolve(self, state: Any) -> Any:
        """The disc difference at the end, else all moves."""
        mine, theirs, _player = state
        moves = self.mobility(mine, theirs)
        over = moves == 0 and self.mobility(theirs, mine) == 0
        return over, self.lead(mine, theirs), moves

    def resolve_child(self, state: Any, index: Any) -> Any:
        """As it stands, but without moves where `resolve_in_window` will know the score."""
        mine, theirs, _player = state
        if popcount(mine | theirs) == self.cells - _LAST - 1 and index != self.cells:
            return False, 0, self.none
        return self.resolve(self.play_index(state, index))

    def play_index(self, state: Any, index: Any) -> Any:
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

    def rank_move(self, state: Any, index: Any) -> Any:
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
            after = self.play_index(state, index)
            replies = self.mobility(after[0], after[1])
            rank -= 4 * (popcount(replies) + popcount(replies & self.corners))
        return rank

    def is_worth_storing(self, state: Any) -> Any:
        """Not the last few cells."""
        mine, theirs, _player = state
        return popcount(mine | theirs) < self.cells - _FEW

    def resolve_in_window(self, state: Any, alpha: Any, beta: Any) -> Any:
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
        best, sign = -self.win_score - 1, 1
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
            if best >= -self.win_score:
                return sign * best
            mine, theirs, sign = theirs, mine, -sign
            alpha, beta = -beta, -alpha
        return self.lead(mine, theirs)

    def last_three(self, mine: Any, theirs: Any, free: Any, alpha: Any, beta: Any) -> Any:
        """The same with three."""
        best, sign = -self.win_score - 1, 1
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
            if best >= -self.win_score:
                return sign * best
            mine, theirs, sign = theirs, mine, -sign
            alpha, beta = -beta, -alpha
        return self.lead(mine, theirs)

    def last_two(self, mine: Any, theirs: Any, free: Any, beta: Any) -> Any:
        """With two: the score, or a bound that is `beta` or more."""
        best, sign = -self.win_score - 1, 1
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
            if best >= -self.win_score:
                return sign * best
            mine, theirs, sign = theirs, mine, -sign
            beta = self.win_score + 1
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

    def evaluate(self, state: Any) -> Any:
        """The difference to expect: moves and corners count, discs hardly do."""
        mine, theirs, _player = state
        own, other = self.features(mine, theirs), self.features(theirs, mine)
        score = 0
        for feature in range(len(own)):
            score += self.eval_weights[feature] * (own[feature] - other[feature])
        return max(-self.cells, min(self.cells, score // 16))

    def features(self, mine: Any, theirs: Any) -> Any:
        """What one side has."""
        open_corners = self.corners & (self.full ^ (mine | theirs))
        beside = self.none
        for shift, from_above, from_below in self.rays[2:]:  # the diagonals
            beside = beside | ((open_corners << shift) & from_above)
            beside = beside | ((open_corners >> shift) & from_below)
        return (
            popcount(self.mobility(mine, theirs)),
            popcount(mine & self.corners),
            popcount(mine & beside),
            popcount(mine),
        )
