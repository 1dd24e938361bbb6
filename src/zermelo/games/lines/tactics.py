"""Line games up to 64 cells: the family's rules, with all that a search can know without looking.

Wins at once, forced blocks, which moves come first, and an estimate: the hooks of `WordGame`, on
windows, the stretches of cells where a line can be.
"""

from typing import Any

from zermelo.core.bitboard import WORD_BITS, Word, bits, pick, popcount, word
from zermelo.core.errors import BadSpec
from zermelo.core.game import WordGame
from zermelo.core.notation import Grid
from zermelo.games.lines import heuristic
from zermelo.games.lines.rules import DIRECTIONS, LineGame, shift_down

MAX_ESTIMATE = 8000
FAR = 1 << 14  # leaves room for estimates between a loss and a win


class WordLineGame(LineGame, WordGame):
    """A game of the family up to 64 cells."""

    def __init__(self, *sizes: int, specialised: bool = False, **rules: Any) -> None:
        super().__init__(*sizes, **rules)
        if self.grid.size > WORD_BITS:
            msg = f"{self.grid} has {self.grid.size} cells: a word holds {WORD_BITS}"
            raise BadSpec(msg)
        self.specialised = specialised
        self.cells = self.grid.size
        self.layered = not self.pie  # a swap adds no stone
        # With exact lines the solver knows the rules only; else see `quick`.
        self.tactical = not self.exact
        self.one_word = not self.pie and self.word_bits() <= WORD_BITS
        self.far = FAR
        self.ends_first = self.gravity
        # Measured: squava 3 times fewer nodes with 16, Connect Four 1.2; 5x5x4 60 times more.
        self.history = 16 if self.gravity or self.lose else 0
        self.soonest_win, self.soonest_loss = (3, 4) if self.tactical and not self.pie else (1, 1)
        if (
            self.tactical and not self.pie and self.lose
        ):  # a side can be left with moves that lose by themselves
            self.soonest_win, self.soonest_loss = 2, 3
        self.eval_weights = heuristic.weights(self)
        self.odd_rows = sum(
            self.top << (row * self.cols) for row in range(self.rows) if (self.rows - row) % 2
        )
        # From the top down every second row.
        self.upper = sum(self.top << (row * self.cols) for row in range(0, self.rows, 2))
        self.win_windows = _windows(self.grid, self.win)
        self.lose_windows = _windows(self.grid, self.lose or 2)
        self.weights = _weights(self.grid, self.win)

    rows: int
    cells: int
    win: int
    tactical: bool
    win_windows: tuple[tuple[Word, Word], ...]  # a direction each: where lines begin, the step
    lose_windows: tuple[tuple[Word, Word], ...]
    weights: tuple[int, ...]  # a cell each: how many lines run through it
    eval_weights: tuple[int, ...]  # see `games/fitted.py`
    upper: Word  # the cells with an even number of others above them
    odd_rows: Word  # counted from the bottom, from 1

    def word_bits(self) -> int:
        """How many bits of a word `whole` takes."""
        return self.grid.size + (self.cols if self.gravity else self.grid.size)

    def whole(self, state: Any) -> Any:
        """Both sides' stones; with gravity the mover's and, above each column, a mark.

        Who moves follows from how many stones there are, and no score depends on it.
        """
        mine, theirs, _player = state
        if self.gravity:
            _free, places = self.room(mine, theirs)
            return ((mine | places) << self.cols) | ((mine | theirs) & self.top)
        return mine | (theirs << self.cells)

    def quick(self, state: Any) -> Any:
        """Win now; else block, and leave out what loses at once or at the next move."""
        mine, theirs, _player = state
        if not self.tactical or (self.pie and self.legal(state) & self.swap != 0):
            over, value = self.result(state)
            return over, value * self.far, self.legal(state)
        free, places = self.room(mine, theirs)
        if free == 0:
            return True, 0, self.none
        if self.gaps(mine, self.win_windows, self.win) & places != 0:
            return True, self.far - 1, self.none
        return self.narrow(mine, theirs, free, places)

    def reply(self, state: Any, index: Any) -> Any:
        """The moves that `quick` leaves let nobody win at once."""
        if not self.tactical or self.pie:
            return self.quick(self.play_at(state, index))
        mine, theirs, _player = self.play_at(state, index)
        free, places = self.room(mine, theirs)
        if free == 0:
            return True, 0, self.none
        return self.narrow(mine, theirs, free, places)

    def room(self, mine: Any, theirs: Any) -> Any:
        """The free cells, and those of them that a stone can go to."""
        stones = mine | theirs
        free = self.full ^ stones
        if self.gravity:
            return free, free & (((stones >> self.cols) & self.full) | self.bottom)
        return free, free

    def narrow(self, mine: Any, theirs: Any, free: Any, places: Any) -> Any:
        """As `quick`, for a side that cannot win at once."""
        threats = self.gaps(theirs, self.win_windows, self.win) & free
        safe = places
        if self.lose > 0:
            safe = places & (self.full ^ self.gaps(mine, self.lose_windows, self.lose))
            if safe == 0:
                return True, 1 - self.far, self.none
        blocks = threats & places
        moves = safe
        if blocks != 0:
            moves = safe & blocks
            if blocks & (blocks - self.one) != 0:
                moves = self.none
        if self.gravity:
            # A stone right below the other's winning cell opens it.
            moves = moves & (self.full ^ ((threats << self.cols) & self.full))
        return moves == 0, 2 - self.far, moves

    def bounds(self, state: Any, alpha: Any, beta: Any) -> Any:
        """With gravity what a side is sure of that answers every stone with one right above it.

        It can do so when an even number of cells is free and the other side moves, or after a
        stone of its own in a column with an odd number. All else is left to the other side; of the
        lowest cells of odd columns each takes every second one. (Allis 1988: claimeven.)
        """
        low, high = self.soonest_loss - self.far, self.far - self.soonest_win
        if not self.gravity or not self.tactical or self.lose > 0:
            return low, high
        mine, theirs, _player = state
        free, places = self.room(mine, theirs)
        left = popcount(free)
        odd = places & self.upper
        follower = free & self.upper & (self.full ^ places)
        leader = free & (self.full ^ self.upper)
        if left & 1 == 0:
            if alpha >= left - self.far and self.lines(mine | leader | odd, self.win_steps) == 0:
                high = 0
                if alpha < 0 and self.lines(theirs | follower, self.win_steps) != 0:
                    high = left - self.far
        elif beta <= self.far - left:
            only = self.none
            if odd & (odd - self.one) == 0:
                only = odd
            if self.lines(theirs | leader | (odd ^ only), self.win_steps) == 0:
                low = 0
                if beta > 0 and self.lines(mine | follower | only, self.win_steps) != 0:
                    low = self.far - left
        return low, high

    def clashes(self, root: Any, image: Any) -> Any:
        """Stones stay: one cell cannot have either side's."""
        return not self.pie and (root[0] & image[1]) | (root[1] & image[0]) != 0

    def longest(self, state: Any) -> int:
        """Every move fills a cell, but for a swap."""
        return int(popcount(self.full ^ (state[0] | state[1]))) + int(self.pie)

    def gaps(self, stones: Any, windows: Any, length: Any) -> Any:
        """The cells that would complete a line of `length`, stones of the line itself included."""
        found = self.none
        for begin, step in windows:
            for gap in range(length):
                whole = begin
                for other in range(length):
                    if other != gap:
                        whole = whole & (stones >> (step * word(other)))
                found = found | (whole << (step * word(gap)))
        return found

    def play_at(self, state: Any, index: Any) -> Any:
        """Bits of `quick`'s moves are cells, with gravity too."""
        if not self.tactical or self.pie:
            return self.play(state, index)
        return (state[1], state[0] | (self.one << index), state[2] ^ self.one)

    def action_at(self, index: int) -> int:
        """With gravity the column of the cell."""
        return index % self.cols if self.gravity and self.tactical else index

    def rank(self, state: Any, index: Any) -> Any:
        """By the winning cells it makes, then by the lines through it."""
        if not self.tactical:
            return 0
        free = self.full ^ (state[0] | state[1])
        after = state[0] | (self.one << index)
        made = self.gaps(after, self.win_windows, self.win) & free
        if self.lose > 0:
            # A cell where only the other side would lose is a move in reserve: keep it.
            reserve = self.gaps(state[1], self.lose_windows, self.lose) >> index
            return 64 * popcount(made) + self.weights[index] - 8 * popcount(reserve & self.one)
        return 64 * popcount(made) + self.weights[index]

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


def _windows(grid: Grid, length: int) -> tuple[tuple[Word, Word], ...]:
    """For each direction the cells where a line of `length` can begin, and its step."""
    windows = []
    for down, right in DIRECTIONS:
        _, begins = shift_down(grid, down * (length - 1), right * (length - 1))
        windows.append((begins, down * grid.cols + right if begins else 0))
    return tuple(windows)


def windows(grid: Grid, length: int) -> list[tuple[int, int]]:
    """Every line of `length`: its first cell, and the step from one cell to the next."""
    return [(cell, step) for begins, step in _windows(grid, length) for cell in bits(begins)]


def _weights(grid: Grid, win: int) -> tuple[int, ...]:
    """How many winning lines run through each cell; 64 entries, so that all sizes share a type."""
    weights = [0] * WORD_BITS
    for cell, step in windows(grid, win):
        for place in range(win):
            weights[cell + place * step] += 1
    return tuple(weights)
