"""The solver hooks of `WordLineGame`: immediate wins, forced blocks, bounds and estimates.

The hooks also order moves. They work on windows, which are the runs of cells in which a line can
lie.
"""

from typing import TYPE_CHECKING, Any

from zermelo.core.bitboard import WORD_BITS, Numbers, Word, pick, popcount, word
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

    has_tactics: bool  # False if only exact lines win: the hooks then use only the rules
    line_counts: Numbers  # [cell]: the number of winning lines through it
    eval_weights: tuple[int, ...]  # see `heuristic`
    even_above: Word  # the cells with an even number of cells above them
    odd_rows: Word  # rows 1, 3, 5, … from the bottom

    def __init__(self, game: "WordLineGame") -> None:
        super().__init__(game)
        self.has_tactics = not game.exact
        self.has_one_word_key = not game.pie and self.key_bits() <= WORD_BITS
        self.win_score = _WIN_SCORE
        self.short_wins_first = game.gravity
        # With a weight of 16, Squava takes a third of the nodes and Connect Four 1.2 times fewer,
        # but 5x5x4 takes 60 times as many.
        self.history_weight = 16 if game.gravity or game.lose else 0
        if self.has_tactics and not game.pie:
            # In games with losing lines, it is possible that every move of a side loses at once.
            self.min_win_plies, self.min_loss_plies = (2, 3) if game.lose else (3, 4)
        self.eval_weights = heuristic.weights_for(game)
        top, rows, cols = game.top, game.rows, game.cols
        self.odd_rows = sum(top << (row * cols) for row in range(rows) if (rows - row) % 2)
        self.even_above = sum(top << (row * cols) for row in range(0, rows, 2))
        self.line_counts = _line_counts(game.grid, game.win)

    def key_bits(self) -> int:
        """Return the number of bits that `pack` needs."""
        return int(self.cells + (self.cols if self.gravity else self.cells))

    def pack(self, state: Any) -> Any:
        """Pack both sides' stones into one word.

        With gravity, the word holds the mover's stones and one bit above the top stone of each
        column. It omits the player to move, which follows from the number of stones.
        """
        mine, theirs, _player = state
        if self.gravity:
            _free, places = self.free_and_playable(mine, theirs)
            return ((mine | places) << self.cols) | ((mine | theirs) & self.top)
        return mine | (theirs << self.cells)

    def resolve(self, state: Any) -> Any:
        """Find an immediate win; if there is none, find the moves that do not lose in two plies."""
        mine, theirs, _player = state
        if not self.has_tactics or (self.pie and self.legal(state) & self.swap != 0):
            over, value = self.result(state)
            return over, value * self.win_score, self.legal(state)
        free, places = self.free_and_playable(mine, theirs)
        if free == 0:
            return True, 0, self.none
        if self.completing_cells(mine, self.win_windows, self.win) & places != 0:
            return True, self.win_score - 1, self.none
        return self.resolve_without_win(mine, theirs, free, places)

    def resolve_child(self, state: Any, index: Any) -> Any:
        """Resolve the state after a move; no move from `resolve` lets the opponent win at once."""
        if not self.has_tactics or self.pie:
            return self.resolve(self.play_index(state, index))
        mine, theirs, _player = self.play_index(state, index)
        free, places = self.free_and_playable(mine, theirs)
        if free == 0:
            return True, 0, self.none
        return self.resolve_without_win(mine, theirs, free, places)

    def resolve_without_win(self, mine: Any, theirs: Any, free: Any, places: Any) -> Any:
        """Resolve a state in which the side to move cannot win at once."""
        threats = self.completing_cells(theirs, self.win_windows, self.win) & free
        safe = self.safe_cells(mine, places)
        if self.lose > 0 and safe == 0:
            return True, 1 - self.win_score, self.none
        moves = self.answer_threats(threats, places, safe)
        return moves == 0, 2 - self.win_score, moves

    def safe_cells(self, mine: Any, places: Any) -> Any:
        """Return the cells of `places` where a stone completes no losing line; works on tensors."""
        if self.lose > 0:
            return places & (self.full ^ self.completing_cells(mine, self.lose_windows, self.lose))
        return places

    def answer_threats(self, threats: Any, places: Any, safe: Any) -> Any:
        """Return the cells of `safe` after which the other side cannot win immediately.

        `threats` are the cells where the other side would win. No branch depends on the state, so
        that the method also works on tensors.
        """
        blocks = threats & places
        moves = pick(blocks == 0, safe, safe & blocks)
        moves = pick(blocks & (blocks - self.one) == 0, moves, self.none)
        if self.gravity:
            # A stone directly below a winning cell of the opponent's would let the opponent win.
            moves = moves & (self.full ^ ((threats << self.cols) & self.full))
        return moves

    def score_bounds(self, state: Any, alpha: Any, beta: Any) -> Any:
        """Bound the score in games with gravity, using a strategy like Allis's claimeven (1988).

        The follower is the side that answers every stone with a stone directly above it. It can do
        so if an even number of cells is free and the opponent is to move. If the follower itself is
        to move, it first plays in a column with an odd number of free cells. The sides take the
        lowest free cells of such odd columns in turns. The bound assumes that the opponent gets all
        cells that the follower is not sure to get.
        """
        low, high = self.min_loss_plies - self.win_score, self.win_score - self.min_win_plies
        if not self.gravity or not self.has_tactics or self.lose > 0:
            return low, high
        mine, theirs, _player = state
        free, places = self.free_and_playable(mine, theirs)
        left = popcount(free)
        odd = places & self.even_above
        follower = free & self.even_above & (self.full ^ places)
        leader = free & (self.full ^ self.even_above)
        if left & 1 == 0:
            if (
                alpha >= left - self.win_score
                and self.find_lines(mine | leader | odd, self.win_shifts) == 0
            ):
                high = 0
                if alpha < 0 and self.find_lines(theirs | follower, self.win_shifts) != 0:
                    high = left - self.win_score
        elif beta <= self.win_score - left:
            only = self.none
            if odd & (odd - self.one) == 0:
                only = odd
            if self.find_lines(theirs | leader | (odd ^ only), self.win_shifts) == 0:
                low = 0
                if beta > 0 and self.find_lines(mine | follower | only, self.win_shifts) != 0:
                    low = self.win_score - left
        return low, high

    def have_disjoint_futures(self, root: Any, image: Any) -> Any:
        """Return whether the two states can never lead to the same state.

        Stones are never removed, so this is true if a cell has different owners in the two states.
        """
        return not self.pie and (root[0] & image[1]) | (root[1] & image[0]) != 0

    def max_plies(self, state: Any) -> int:
        """Return the number of free cells, plus one ply for a swap."""
        return int(popcount(self.full ^ (state[0] | state[1]))) + int(self.pie)

    def play_index(self, state: Any, index: Any) -> Any:
        """Return the state after a stone on the cell `index`, also with gravity."""
        if not self.has_tactics or self.pie:
            return self.play(state, index)
        return (state[1], state[0] | (self.one << index), state[2] ^ self.one)

    def to_action(self, index: int) -> int:
        """Return the action of a move to this cell: the cell or, with gravity, its column."""
        return index % self.cols if self.gravity and self.has_tactics else index

    def rank_move(self, state: Any, index: Any) -> Any:
        """Rank a move by the winning cells that it creates, then by the lines through its cell."""
        if not self.has_tactics:
            return 0
        free = self.full ^ (state[0] | state[1])
        stones = state[0] | (self.one << index)
        threats = self.completing_cells(stones, self.win_windows, self.win) & free
        if self.lose > 0:
            # The opponent avoids cells where it would lose, so such a cell can be kept for later.
            spare = self.completing_cells(state[1], self.lose_windows, self.lose) >> index
            return 64 * popcount(threats) + self.line_counts[index] - 8 * popcount(spare & self.one)
        return 64 * popcount(threats) + self.line_counts[index]

    def evaluate(self, state: Any) -> Any:
        """Return the difference of the sides' features, weighted by fitted weights."""
        mine, theirs, player = state
        own = self.features(mine, theirs, player)
        other = self.features(theirs, mine, player ^ self.one)
        score = self.eval_weights[0]
        for feature in range(len(own)):
            score += self.eval_weights[feature + 1] * (own[feature] - other[feature])
        return max(-MAX_ESTIMATE, min(MAX_ESTIMATE, score))

    def features(self, mine: Any, theirs: Any, player: Any) -> Any:
        """Return the features of the side whose stones are `mine`.

        The features are: the numbers of open lines that lack 1, 2 and 3 stones; the number of free
        cells where this side would lose; and, with gravity, the number of its winning cells in rows
        of its parity, which are the rows that it fills when the sides fill the columns in turns. A
        line is open if it holds no stone of the opponent's.
        """
        lacks_one = lacks_two = lacks_three = 0
        for firsts, step in self.win_windows:
            none, one, two, three = firsts, self.none, self.none, self.none
            is_open = firsts
            for place in range(self.win):
                has = firsts & (mine >> (step * word(place)))
                lacks = firsts ^ has
                three = (three & has) | (two & lacks)
                two = (two & has) | (one & lacks)
                one = (one & has) | (none & lacks)
                none = none & has
                is_open = is_open & (firsts ^ (firsts & (theirs >> (step * word(place)))))
            lacks_one += popcount(one & is_open)
            lacks_two += popcount(two & is_open)
            lacks_three += popcount(three & is_open)
        free = self.full ^ (mine | theirs)
        losing = own_rows = 0
        if self.lose > 0:
            losing = popcount(self.completing_cells(mine, self.lose_windows, self.lose) & free)
        if self.gravity:
            # The first player fills the odd rows.
            rows = pick(player == 0, self.odd_rows, self.full ^ self.odd_rows)
            wins = self.completing_cells(mine, self.win_windows, self.win)
            own_rows = popcount(wins & free & rows)
        return lacks_one, lacks_two, lacks_three, losing, own_rows


def _line_counts(grid: Grid, win: int) -> tuple[int, ...]:
    """Return the number of winning lines through each cell, padded to 64 entries."""
    counts = [0] * WORD_BITS
    for cell, step in list_windows(grid, win):
        for place in range(win):
            counts[cell + place * step] += 1
    return tuple(counts)
