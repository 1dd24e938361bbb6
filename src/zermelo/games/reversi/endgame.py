"""The solver hooks of Reversi: faster moves, move ordering, and the solution of the last plies.

The rules shift whole boards along the rays. Here `flips` looks up the rays of one cell and adds 1,
so that a carry runs along them, which is faster for a single move.
"""

import functools
from typing import TYPE_CHECKING, Any

from zermelo.core.bitboard import Numbers, Word, highest, lowest, pick, popcount, word
from zermelo.core.game import SolverHooks
from zermelo.games.geometry import DIRECTIONS

if TYPE_CHECKING:
    from zermelo.games.reversi.rules import Reversi

_FEW_EMPTIES = 6  # with this many empties or fewer, storing states and counting replies is too slow
_LAST_EMPTIES = 4  # with this many empties, dedicated functions replace the kernel's stack


class ReversiHooks(SolverHooks):
    """Solver hooks of Reversi. A score is a disc difference."""

    win_score: int = 64
    ply_cost: int = 0
    min_win_plies: int = 0
    min_loss_plies: int = 0
    estimate_scale = 20.0
    all_bits: Word = (1 << 64) - 1
    quarters: tuple[Word, ...]  # the four quarters of the board, as masks
    # The weights of `features` in sixteenths of a disc: moves, corners, discs diagonally beside
    # free corners, discs.
    eval_weights: tuple[int, ...] = (45, 134, -55, -1)

    def __init__(self, game: "Reversi") -> None:
        super().__init__(game)
        middle = game.size // 2
        halves = (range(middle), range(middle, game.size))
        self.quarters = tuple(self._cells(rows, cols) for rows in halves for cols in halves)

    def _cells(self, rows: Any, cols: Any) -> Word:
        return sum(1 << self.grid.index(row, col) for row in rows for col in cols)

    @functools.cached_property
    def ray_masks(self) -> Numbers:
        """Return an array [cell, direction] of ray masks; four go to higher bits, four to lower."""
        import numpy as np

        rays = [(sign * down, sign * right) for sign in (1, -1) for down, right in DIRECTIONS]
        cells = range(self.cells)
        return np.array([[self._ray_from(cell, *ray) for ray in rays] for cell in cells], np.uint64)

    def _ray_from(self, cell: int, down: int, right: int) -> Word:
        row, col = divmod(cell, self.size)
        steps = range(1, self.size)
        cells = ((row + step * down, col + step * right) for step in steps)
        return sum(
            1 << self.grid.index(r, c)
            for r, c in cells
            if 0 <= r < self.size and 0 <= c < self.size
        )

    def final_score(self, mine: Any, theirs: Any) -> Any:
        """Return the score of a game that is over; empty cells are not counted."""
        return popcount(mine) - popcount(theirs)

    def resolve(self, state: Any) -> Any:
        """Return the disc difference if the game is over, else all moves."""
        mine, theirs, _player = state
        moves = self.mobility(mine, theirs)
        over = moves == 0 and self.mobility(theirs, mine) == 0
        return over, self.final_score(mine, theirs), moves

    def resolve_child(self, state: Any, index: Any) -> Any:
        """Resolve the state after a move; list no moves if `resolve_in_window` can solve it."""
        mine, theirs, _player = state
        if popcount(mine | theirs) == self.cells - _LAST_EMPTIES - 1 and index != self.cells:
            return False, 0, self.none
        return self.resolve(self.play_index(state, index))

    def play_index(self, state: Any, index: Any) -> Any:
        """Return the state after a move, like `play` but faster."""
        mine, theirs, player = state
        if index == self.cells:
            return (theirs, mine, player ^ self.one)
        flipped = self.flips(index, mine, theirs)
        return (theirs ^ flipped, mine | flipped | (self.one << word(index)), player ^ self.one)

    def flips(self, index: Any, mine: Any, theirs: Any) -> Any:
        """Return the discs that a disc on a free cell flips, as a mask.

        Towards higher bits, adding 1 at the near end of the ray carries through the opponent's
        discs to the first cell beyond them. Towards lower bits, the first cell beyond them is the
        highest cell of the ray without a disc of the opponent's.
        """
        flipped = self.none
        for direction in range(4):
            ray = word(self.ray_masks[index, direction])
            end = ((theirs | (self.all_bits ^ ray)) + self.one) & ray & mine
            flipped = flipped | ((end - pick(end == 0, self.none, self.one)) & ray)
            ray = word(self.ray_masks[index, direction + 4])
            end = (self.one << word(highest((ray ^ (ray & theirs)) | self.one))) & ray & mine
            flipped = flipped | ((self.none - (end + end)) & ray)
        return flipped

    def rank_move(self, state: Any, index: Any) -> Any:
        """Prefer corners, quarters of the board with an odd number of empties, and few replies.

        In a region with an odd number of empties, the side that starts there also plays last.
        A reply in a corner counts as two replies.
        """
        mine, theirs, _player = state
        free = self.full ^ (mine | theirs)
        cell = self.one << word(index)
        rank = 4 * popcount(cell & self.corners)
        for quarter in self.quarters:
            if cell & quarter != 0:
                rank += 2 * (popcount(free & quarter) & 1)
        if popcount(free) > _FEW_EMPTIES:
            after = self.play_index(state, index)
            replies = self.mobility(after[0], after[1])
            rank -= 4 * (popcount(replies) + popcount(replies & self.corners))
        return rank

    def should_store(self, state: Any) -> Any:
        """Return whether enough empty cells are left to make storing the state worthwhile."""
        mine, theirs, _player = state
        return popcount(mine | theirs) < self.cells - _FEW_EMPTIES

    def resolve_in_window(self, state: Any, alpha: Any, beta: Any) -> Any:
        """Return the score, or a bound outside the window, if exactly four cells are empty."""
        mine, theirs, _player = state
        free = self.full ^ (mine | theirs)
        if popcount(free) != _LAST_EMPTIES:
            return False, 0
        return True, self.solve_four(mine, theirs, free, alpha, beta)

    # There is one function for each number of empties, because compiled kernels cannot recurse and
    # an explicit stack takes twice as long. They differ only in the function they call. Cells are
    # tried in index order; `sign` changes when a side passes.

    def solve_four(self, mine: Any, theirs: Any, free: Any, alpha: Any, beta: Any) -> Any:
        """Return the score with four empties, or a bound outside the window."""
        best, sign = -self.win_score - 1, 1
        for _side in range(2):
            left = free
            while left != 0:
                disc = left & (self.none - left)
                left = left ^ disc
                flipped = self.flips(lowest(disc), mine, theirs)
                if flipped != 0:
                    worst = max(alpha, best)
                    us, them = mine | disc | flipped, theirs ^ flipped
                    best = max(best, -self.solve_three(them, us, free ^ disc, -beta, -worst))
                    if best >= beta:
                        return sign * best
            if best >= -self.win_score:
                return sign * best
            mine, theirs, sign = theirs, mine, -sign
            alpha, beta = -beta, -alpha
        return self.final_score(mine, theirs)

    def solve_three(self, mine: Any, theirs: Any, free: Any, alpha: Any, beta: Any) -> Any:
        """Return the score with three empties, or a bound outside the window."""
        best, sign = -self.win_score - 1, 1
        for _side in range(2):
            left = free
            while left != 0:
                disc = left & (self.none - left)
                left = left ^ disc
                flipped = self.flips(lowest(disc), mine, theirs)
                if flipped != 0:
                    worst = max(alpha, best)
                    us, them = mine | disc | flipped, theirs ^ flipped
                    best = max(best, -self.solve_two(them, us, free ^ disc, -worst))
                    if best >= beta:
                        return sign * best
            if best >= -self.win_score:
                return sign * best
            mine, theirs, sign = theirs, mine, -sign
            alpha, beta = -beta, -alpha
        return self.final_score(mine, theirs)

    def solve_two(self, mine: Any, theirs: Any, free: Any, beta: Any) -> Any:
        """Return the score with two empties, or a lower bound that is at least `beta`."""
        best, sign = -self.win_score - 1, 1
        for _side in range(2):
            left = free
            while left != 0:
                disc = left & (self.none - left)
                left = left ^ disc
                flipped = self.flips(lowest(disc), mine, theirs)
                if flipped != 0:
                    us, them = mine | disc | flipped, theirs ^ flipped
                    best = max(best, -self.solve_one(them, us, free ^ disc))
                    if best >= beta:
                        return sign * best
            if best >= -self.win_score:
                return sign * best
            mine, theirs, sign = theirs, mine, -sign
            beta = self.win_score + 1
        return self.final_score(mine, theirs)

    def solve_one(self, mine: Any, theirs: Any, free: Any) -> Any:
        """Return the score with one empty cell: the mover fills it if able, else the opponent."""
        index = lowest(free)
        flipped = self.flips(index, mine, theirs)
        if flipped != 0:
            return popcount(mine) - popcount(theirs) + 2 * popcount(flipped) + 1
        flipped = self.flips(index, theirs, mine)
        if flipped != 0:
            return popcount(mine) - popcount(theirs) - 2 * popcount(flipped) - 1
        return self.final_score(mine, theirs)

    def evaluate(self, state: Any) -> Any:
        """Estimate the final disc difference, mainly from moves and corners."""
        mine, theirs, _player = state
        own, other = self.features(mine, theirs), self.features(theirs, mine)
        score = 0
        for feature in range(len(own)):
            score += self.eval_weights[feature] * (own[feature] - other[feature])
        return max(-self.cells, min(self.cells, score // 16))

    def features(self, mine: Any, theirs: Any) -> Any:
        """Count one side's moves, corners, discs diagonally beside free corners, and discs."""
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
