"""What the solver knows about line games without search.

Immediate wins, forced blocks, the order of moves, and an estimate: the solver hooks of
`WordLineGame`, computed on windows, the runs of cells where a line can be.
"""

from typing import TYPE_CHECKING, Any

from zermelo.core.bitboard import WORD_BITS, Word, pick, popcount, word
from zermelo.core.game import SolverHooks
from zermelo.core.notation import Grid
from zermelo.games.geometry import list_windows
from zermelo.games.lines import heuristic

if TYPE_CHECKING:
    from zermelo.games.lines.small import WordLineGame

MAX_ESTIMATE = 8000
_WIN_SCORE = 1 << 14  # leaves room for estimates between a loss and a win


class LineTactics(SolverHooks):
    """Solver hooks of the line games."""

    has_tactics: bool  # whether more than the rules is known: not where lines must be exact
    line_counts: tuple[int, ...]  # [cell]: how many winning lines contain it
    eval_weights: tuple[int, ...]  # see `heuristic`
    upper: Word  # the cells with an even number of others above them
    odd_rows: Word  # counted from the bottom, from 1

    def __init__(self, game: "WordLineGame") -> None:
        super().__init__(game)
        self.has_tactics = not game.exact
        self.has_one_word_key = not game.pie and self.key_bits() <= WORD_BITS
        self.win_score = _WIN_SCORE
        self.short_wins_first = game.gravity
        # Measured: squava 3 times fewer nodes with 16, Connect Four 1.2; 5x5x4 60 times more.
        self.history_weight = 16 if game.gravity or game.lose else 0
        if self.has_tactics and not game.pie:
            # With losing lines a side can be left with moves that lose by themselves.
            self.min_win_plies, self.min_loss_plies = (2, 3) if game.lose else (3, 4)
        self.eval_weights = heuristic.weights(game)
        top, rows, cols = game.top, game.rows, game.cols
        self.odd_rows = sum(top << (row * cols) for row in range(rows) if (rows - row) % 2)
        # From the top down every second row.
        self.upper = sum(top << (row * cols) for row in range(0, rows, 2))
        self.line_counts = _line_counts(game.grid, game.win)

    def key_bits(self) -> int:
        """How many bits of a word `pack` takes."""
        return int(self.cells + (self.cols if self.gravity else self.cells))

    def pack(self, state: Any) -> Any:
        """Both sides' stones; with gravity the mover's and, above each column, a mark.

        Who moves follows from how many stones there are, and no score depends on it.
        """
        mine, theirs, _player = state
        if self.gravity:
            _free, places = self.room(mine, theirs)
            return ((mine | places) << self.cols) | ((mine | theirs) & self.top)
        return mine | (theirs << self.cells)

    def resolve(self, state: Any) -> Any:
        """Win now; else block, and leave out what loses at once or at the next move."""
        mine, theirs, _player = state
        if not self.has_tactics or (self.pie and self.legal(state) & self.swap != 0):
            over, value = self.result(state)
            return over, value * self.win_score, self.legal(state)
        free, places = self.room(mine, theirs)
        if free == 0:
            return True, 0, self.none
        if self.gaps(mine, self.win_windows, self.win) & places != 0:
            return True, self.win_score - 1, self.none
        return self.narrow(mine, theirs, free, places)

    def resolve_child(self, state: Any, index: Any) -> Any:
        """The moves that `resolve` leaves let nobody win at once."""
        if not self.has_tactics or self.pie:
            return self.resolve(self.play_index(state, index))
        mine, theirs, _player = self.play_index(state, index)
        free, places = self.room(mine, theirs)
        if free == 0:
            return True, 0, self.none
        return self.narrow(mine, theirs, free, places)

    def narrow(self, mine: Any, theirs: Any, free: Any, places: Any) -> Any:
        """As `resolve`, for a side that cannot win at once."""
        threats = self.gaps(theirs, self.win_windows, self.win) & free
        safe = places
        if self.lose > 0:
            safe = places & (self.full ^ self.gaps(mine, self.lose_windows, self.lose))
            if safe == 0:
                return True, 1 - self.win_score, self.none
        blocks = threats & places
        moves = safe
        if blocks != 0:
            moves = safe & blocks
            if blocks & (blocks - self.one) != 0:
                moves = self.none
        if self.gravity:
            # A stone right below the other's winning cell opens it.
            moves = moves & (self.full ^ ((threats << self.cols) & self.full))
        return moves == 0, 2 - self.win_score, moves

    def score_bounds(self, state: Any, alpha: Any, beta: Any) -> Any:
        """With gravity what a side is sure of that answers every stone with one right above it.

        It can do so when an even number of cells is free and the other side moves, or after a
        stone of its own in a column with an odd number. All else is left to the other side; of the
        lowest cells of odd columns each takes every second one. (Allis 1988: claimeven.)
        """
        low, high = self.min_loss_plies - self.win_score, self.win_score - self.min_win_plies
        if not self.gravity or not self.has_tactics or self.lose > 0:
            return low, high
        mine, theirs, _player = state
        free, places = self.room(mine, theirs)
        left = popcount(free)
        odd = places & self.upper
        follower = free & self.upper & (self.full ^ places)
        leader = free & (self.full ^ self.upper)
        if left & 1 == 0:
            if (
                alpha >= left - self.win_score
                and self.lines(mine | leader | odd, self.win_steps) == 0
            ):
                high = 0
                if alpha < 0 and self.lines(theirs | follower, self.win_steps) != 0:
                    high = left - self.win_score
        elif beta <= self.win_score - left:
            only = self.none
            if odd & (odd - self.one) == 0:
                only = odd
            if self.lines(theirs | leader | (odd ^ only), self.win_steps) == 0:
                low = 0
                if beta > 0 and self.lines(mine | follower | only, self.win_steps) != 0:
                    low = self.win_score - left
        return low, high

    def have_disjoint_futures(self, root: Any, image: Any) -> Any:
        """Stones stay: one cell cannot have either side's."""
        return not self.pie and (root[0] & image[1]) | (root[1] & image[0]) != 0

    def max_plies(self, state: Any) -> int:
        """Every move fills a cell, but for a swap."""
        return int(popcount(self.full ^ (state[0] | state[1]))) + int(self.pie)

    def play_index(self, state: Any, index: Any) -> Any:
        """Bits of `resolve`'s moves are cells, with gravity too."""
        if not self.has_tactics or self.pie:
            return self.play(state, index)
        return (state[1], state[0] | (self.one << index), state[2] ^ self.one)

    def to_action(self, index: int) -> int:
        """With gravity the column of the cell."""
        return index % self.cols if self.gravity and self.has_tactics else index

    def rank_move(self, state: Any, index: Any) -> Any:
        """By the winning cells it makes, then by the lines through it."""
        if not self.has_tactics:
            return 0
        free = self.full ^ (state[0] | state[1])
        after = state[0] | (self.one << index)
        made = self.gaps(after, self.win_windows, self.win) & free
        if self.lose > 0:
            # A cell where only the other side would lose is a move in reserve: keep it.
            reserve = self.gaps(state[1], self.lose_windows, self.lose) >> index
            return 64 * popcount(made) + self.line_counts[index] - 8 * popcount(reserve & self.one)
        return 64 * popcount(made) + self.line_counts[index]

    def evaluate(self, state: Any) -> Any:
        """Line counts by what they lack, and what else `features` sees, by fitted weights."""
        mine, theirs, player = state
        own = self.features(mine, theirs, player)
        other = self.features(theirs, mine, player ^ self.one)
        score = self.eval_weights[0]
        for feature in range(len(own)):
            score += self.eval_weights[feature + 1] * (own[feature] - other[feature])
        return max(-MAX_ESTIMATE, min(MAX_ESTIMATE, score))

    def features(self, mine: Any, theirs: Any, player: Any) -> Any:
        """What one side has: open lines that lack 1, 2, 3 stones; cells to avoid; good parity.

        A line is open that the other side has no stone in. Parity matters with gravity: cells
        that win in rows that this side fills when columns are filled by turns.
        """
        lacks_one = lacks_two = lacks_three = 0
        for begin, step in self.win_windows:
            none, one, two, three = begin, self.none, self.none, self.none
            open_to_me = begin
            for place in range(self.win):
                has = begin & (mine >> (step * word(place)))
                lacks = begin ^ has
                three = (three & has) | (two & lacks)
                two = (two & has) | (one & lacks)
                one = (one & has) | (none & lacks)
                none = none & has
                open_to_me = open_to_me & (begin ^ (begin & (theirs >> (step * word(place)))))
            lacks_one += popcount(one & open_to_me)
            lacks_two += popcount(two & open_to_me)
            lacks_three += popcount(three & open_to_me)
        free = self.full ^ (mine | theirs)
        avoid = own_rows = 0
        if self.lose > 0:
            avoid = popcount(self.gaps(mine, self.lose_windows, self.lose) & free)
        if self.gravity:
            # The first player fills the odd rows.
            rows = pick(player == 0, self.odd_rows, self.full ^ self.odd_rows)
            own_rows = popcount(self.gaps(mine, self.win_windows, self.win) & free & rows)
        return lacks_one, lacks_two, lacks_three, avoid, own_rows


def _line_counts(grid: Grid, win: int) -> tuple[int, ...]:
    """Count the winning lines through each cell; 64 entries, so that all sizes share a type."""
    counts = [0] * WORD_BITS
    for cell, step in list_windows(grid, win):
        for place in range(win):
            counts[cell + place * step] += 1
    return tuple(counts)
