"""The line family: tic-tac-toe, m,n,k games, Gomoku, Squava, Connect Four.

Place a stone (with gravity: in the lowest free cell of a column); a line of `win` wins, a line
of `lose` without one loses at once, a full board is a draw. The board is row by row from the
top left, bit i is cell i; on 3x3:

    a1=0 b1=1 c1=2
    a2=3 b2=4 c2=5
    a3=6 b3=7 c3=8

A state is (the mover's stones, the other's stones, the player to move). Python's ints have no
width, so the rules here serve boards of every size; up to 64 cells the same source compiles.
"""

from typing import Any, Literal

from zermelo import notation, symmetry
from zermelo.contract import MaskGame, WordGame
from zermelo.errors import BadSpec
from zermelo.games import fitted, line_boards
from zermelo.notation import Grid
from zermelo.words import WORD_BITS, Word, bits, lowest, pick, popcount, word

Overline = Literal["any", "exact"]
#: One step of looking for lines: how far to shift, and the cells for which that stays in line.
Step = tuple[Word, Word]

_DIRECTIONS = ((0, 1), (1, 0), (1, 1), (1, -1))  # (rows down, columns right)
# Every line length up to 8 is found in 3 doublings and every length up to 64 in 6, so that all
# games of the family have one of two shapes and share two compilations.
_FEW, _MANY = 3, 6
MAX_ESTIMATE = 8000
FAR = 1 << 14  # leaves room for estimates between a loss and a win


class LineGame(MaskGame):
    """One game of the family; the parameters are checked here, once."""

    full: Word  # every cell
    one: Word
    none: Word
    cols: int
    gravity: bool
    exact: bool
    lose: int
    pie: bool
    top: Word  # the top row: with gravity, the columns that are not full
    bottom: Word
    column: Word  # the leftmost column
    swap: Word  # the action that takes the first stone over, as a mask
    win_steps: tuple[tuple[Step, ...], ...]  # a direction each
    lose_steps: tuple[tuple[Step, ...], ...]
    end_steps: tuple[tuple[Step, Step], ...]  # the cells before and behind a winning line

    def __init__(
        self,
        rows: int,
        cols: int,
        win: int,
        *,
        lose: int = 0,
        gravity: bool = False,
        overline: Overline = "any",
        pie: bool = False,
        spec: str | None = None,
    ) -> None:
        check(rows, cols, win, lose, overline, pie=pie, gravity=gravity)
        self.grid: Grid = Grid(rows, cols)
        self.rows, self.cols, self.win, self.lose = rows, cols, win, lose
        self.gravity, self.pie, self.overline = gravity, pie, overline
        self.exact = overline == "exact"
        self.spec = spec or (
            f"line:rows={rows},cols={cols},win={win},lose={lose},gravity={str(gravity).lower()},"
            f"overline={overline},pie={str(pie).lower()}"
        )
        self.discs = gravity
        cells = self.grid.size
        self.num_actions = cols if gravity else cells + pie
        self.one, self.none = 1, 0
        self.full = (1 << cells) - 1
        self.top = (1 << cols) - 1
        self.bottom = self.top << (cells - cols)
        self.column = sum(1 << (row * cols) for row in range(rows))
        self.swap = 1 << cells if pie else 0
        depth = _FEW if win <= 1 << _FEW else _MANY
        self.win_steps = _steps(self.grid, win, depth)
        self.lose_steps = _steps(self.grid, max(lose, 1), depth)
        self.end_steps = _end_steps(self.grid, win)

    # The rules, for ints, uint64 and tensors alike.

    def initial(self) -> tuple[Word, Word, Word]:
        """No stones; player 0 moves."""
        return (0, 0, 0)

    def legal(self, state: Any) -> Any:
        """Free cells; with gravity columns, by the bits of the top row."""
        mine, theirs, player = state
        free = self.full ^ (mine | theirs)
        if self.gravity:
            return free & self.top
        if self.pie:
            # Only before the second player's first move has that player no stones.
            return free | pick((mine | (player ^ self.one)) == 0, self.swap, self.none)
        return free

    def play(self, state: Any, action: Any) -> Any:
        """The stone joins the mover's, and the sides change."""
        mine, theirs, player = state
        stone = (self.one << action) & self.full
        if self.gravity:
            stones = mine | theirs
            landing = (self.full ^ stones) & (((stones >> self.cols) & self.full) | self.bottom)
            stone = (self.column << action) & landing
        if self.pie:
            # A swap is the sides changing hands without a stone: the board seen by the mover
            # stays as it is, and the mover is now the other player.
            swapped = stone == 0
            return (
                pick(swapped, mine, theirs),
                pick(swapped, theirs, mine | stone),
                player ^ self.one,
            )
        return (theirs, mine | stone, player ^ self.one)

    def result(self, state: Any) -> Any:
        """Only the last mover's stones count; win before loss, loss before draw."""
        mine, theirs, _player = state
        won = self.winning(theirs) != 0
        full = (mine | theirs) == self.full
        if self.lose > 0:
            # `lose` is below `win`, so a winning line holds a losing one: a win takes back two.
            lost = self.lines(theirs, self.lose_steps) != 0
            return lost | full, 1 * lost - 2 * won
        return won | full, 0 - 1 * won

    def winning(self, stones: Any) -> Any:
        """The first cells of all winning lines of these stones, as a mask."""
        if not self.exact:
            return self.lines(stones, self.win_steps)
        return self.exactly(stones)

    def exactly(self, stones: Any) -> Any:
        """The first cells of all lines of `win` stones that are no part of a longer one."""
        found = stones ^ stones
        for direction in range(4):
            line = self.line(stones, self.win_steps[direction])
            (back, has_back), (ahead, has_ahead) = self.end_steps[direction]
            longer = ((stones << back) & has_back) | ((stones >> ahead) & has_ahead)
            found = found | (line & (self.full ^ longer))
        return found

    def lines(self, stones: Any, directions: Any) -> Any:
        """The first cells of all lines of these stones, as a mask."""
        found = stones ^ stones
        for steps in directions:
            found = found | self.line(stones, steps)
        return found

    def line(self, stones: Any, steps: Any) -> Any:
        """The first cells of all lines in one direction: a line doubles with every step."""
        for shift, stays in steps:
            stones = stones & (stones >> shift) & stays
        return stones

    # What people and files see.

    def to_text(self, action: int) -> str:
        """A cell, `swap`, or with gravity the column's number."""
        if self.gravity:
            return str(action + 1)
        return self.grid.text(action) if action < self.grid.size else "swap"

    def parse_action(self, text: str) -> int:
        """Every form in docs/notation.md; nothing is guessed."""
        return line_boards.parse_action(self, text)

    def split(self, text: str) -> list[str]:
        """With gravity and up to 9 columns digits need no separators: `4455`."""
        moves = notation.split_moves(text)
        if self.gravity and self.cols <= line_boards.DIGITS:
            return [m for move in moves for m in (move if move.isdecimal() else [move])]
        return moves

    def why_illegal(self, state: Any, action: int) -> str:
        """The cell is taken, the column is full, or it is too late to swap."""
        del state
        if self.gravity:
            return f"column {action + 1} is full"
        if action == self.grid.size:
            return "swap can only answer the first move"
        return "the cell is taken"

    def board(self, state: Any) -> tuple[int, ...]:
        """The cells, flat."""
        first, second = (state[0], state[1]) if self.player(state) == 0 else (state[1], state[0])
        return tuple((first >> i & 1) - (second >> i & 1) for i in range(self.grid.size))

    def from_board(self, cells: tuple[int, ...], to_move: int | None, *, checked: bool) -> Any:
        """The state of a board."""
        player = line_boards.side_to_move(self, cells, to_move, checked=checked)
        first, second = (sum(1 << i for i, c in enumerate(cells) if c == s) for s in (1, -1))
        state = (second, first, 1) if player else (first, second, 0)
        if checked:
            line_boards.check_reachable(self, state)
        return state

    def winning_line(self, state: Any) -> tuple[int, ...] | None:
        """The whole run of stones that decided the game."""
        stones, won = state[1], self.winning(state[1])
        found = won or (self.lines(stones, self.lose_steps) if self.lose else 0)
        if not found:
            return None
        return line_boards.run_from(
            self, stones, lowest(found), self.win if won else self.lose, exact=self.exact and won
        )

    def last_cell(self, state: Any, action: int) -> int | None:
        """With gravity the topmost stone of the column."""
        if self.gravity:
            return lowest((state[0] | state[1]) & (self.column << action))
        return action if action < self.grid.size else None

    def cell_hint(self, state: Any, cell: int) -> str:
        """Index, row and column digits, or the column where a stone would land."""
        if self.gravity:
            below = cell + self.cols
            lands = below >= self.grid.size or (state[0] | state[1]) >> below & 1
            return str(cell % self.cols + 1) if lands else ""
        return line_boards.short_form(self, cell)

    @property
    def column_labels(self) -> tuple[str, ...]:
        """Numbers with gravity, letters without."""
        if self.gravity:
            return tuple(str(col + 1) for col in range(self.cols))
        return self.grid.letters

    @property
    def move_forms(self) -> str:
        """The forms of move a prompt offers."""
        return line_boards.move_forms(self)

    def symmetries(self) -> tuple[symmetry.Symmetry, ...]:
        """All of the board's, or the mirror with gravity."""
        if self.gravity:
            return symmetry.of_columns(self.grid)
        return symmetry.of_grid(self.grid, extra_actions=int(self.pie))


class WordLineGame(LineGame, WordGame):
    """A game of the family up to 64 cells."""

    def __init__(self, *sizes: int, specialised: bool = False, **rules: Any) -> None:
        super().__init__(*sizes, **rules)
        if self.grid.size > WORD_BITS:
            msg = f"{self.grid} has {self.grid.size} cells: a word holds {WORD_BITS}"
            raise BadSpec(msg)
        self.specialised = specialised
        self.layered = not self.pie  # a swap adds no stone
        # With exact lines the solver knows the rules only; else see `quick`.
        self.tactical = not self.exact
        self.far = FAR
        self.ends_first = self.gravity
        # Measured: squava 3 times fewer nodes with 16, Connect Four 1.2; 5x5x4 60 times more.
        self.history = 16 if self.gravity or self.lose else 0
        self.soonest_win, self.soonest_loss = (3, 4) if self.tactical and not self.pie else (1, 1)
        if (
            self.tactical and not self.pie and self.lose
        ):  # a side can be left with moves that lose by themselves
            self.soonest_win, self.soonest_loss = 2, 3
        self.eval_weights = fitted.weights(self)
        self.odd_rows = sum(
            self.top << (row * self.cols) for row in range(self.rows) if (self.rows - row) % 2
        )
        self.win_windows = _windows(self.grid, self.win)
        self.lose_windows = _windows(self.grid, self.lose or 2)
        self.weights = _weights(self.grid, self.win)

    rows: int
    win: int
    tactical: bool
    win_windows: tuple[tuple[Word, Word], ...]  # a direction each: where lines begin, the step
    lose_windows: tuple[tuple[Word, Word], ...]
    weights: tuple[int, ...]  # a cell each: how many lines run through it
    eval_weights: tuple[int, ...]  # see `games/fitted.py`
    odd_rows: Word  # counted from the bottom, from 1

    def quick(self, state: Any) -> Any:
        """Win now; else block, and leave out what loses at once or at the next move."""
        mine, theirs, _player = state
        if not self.tactical or (self.pie and self.legal(state) & self.swap != 0):
            over, value = self.result(state)
            return over, value * self.far, self.legal(state)
        free = self.full ^ (mine | theirs)
        places = free
        if self.gravity:
            stones = mine | theirs
            places = free & (((stones >> self.cols) & self.full) | self.bottom)
        if free == 0:
            return True, 0, self.none
        if self.gaps(mine, self.win_windows, self.win) & places != 0:
            return True, self.far - 1, self.none
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


def check(
    rows: int, cols: int, win: int, lose: int, overline: str, *, pie: bool, gravity: bool
) -> None:
    """BadSpec with what would be right, for parameters no game of the family has."""
    for name, side in (("rows", rows), ("cols", cols)):
        if not 1 <= side <= notation.MAX_SIDE:
            msg = f"{name} is {side}: a board has 1 to {notation.MAX_SIDE} {name}"
            raise BadSpec(msg)
    longest = max(rows, cols)
    if not 2 <= win <= longest:
        right = f"it can be 2 to {longest}" if longest > 1 else "there is no line: make it larger"
        msg = f"win is {win}: on a {rows}x{cols} board {right}"
        raise BadSpec(msg)
    if not 0 <= lose < win:
        msg = f"lose is {lose}: with win {win} it can be 0 (none) or 1 to {win - 1}, below win"
        raise BadSpec(msg)
    if overline not in ("any", "exact"):
        msg = f"overline is {notation.shown(str(overline))}: it can be any or exact"
        raise BadSpec(msg)
    if pie and gravity:
        msg = "pie goes with games without gravity"
        raise BadSpec(msg)


def shift_down(grid: Grid, down: int, right: int) -> Step:
    """A shift towards lower bits, and the cells from which it lands on the board."""
    cells = (
        row * grid.cols + col
        for row in range(grid.rows)
        for col in range(grid.cols)
        if 0 <= row + down < grid.rows and 0 <= col + right < grid.cols
    )
    stays = sum(1 << cell for cell in cells)
    # A shift of 64 or more has no meaning in a word; where nothing stays, neither has any.
    return (down * grid.cols + right if stays else 0, stays)


def _steps(grid: Grid, length: int, depth: int) -> tuple[tuple[Step, ...], ...]:
    """For each direction `depth` steps that leave the first cells of all lines of `length`."""
    jumps, known = [], 1
    while known < length:
        jumps.append(min(known, length - known))
        known += jumps[-1]
    jumps += [0] * (depth - len(jumps))  # a jump of 0 changes nothing
    return tuple(
        tuple(shift_down(grid, down * jump, right * jump) for jump in jumps)
        for down, right in _DIRECTIONS
    )


def _end_steps(grid: Grid, win: int) -> tuple[tuple[Step, Step], ...]:
    """For each direction: to the cell before a line's first, and to the one behind its last."""
    ends = []
    for down, right in _DIRECTIONS:
        back, has_back = shift_down(grid, -down, -right)
        ends.append(((-back, has_back), shift_down(grid, down * win, right * win)))
    return tuple(ends)


def _windows(grid: Grid, length: int) -> tuple[tuple[Word, Word], ...]:
    """For each direction the cells where a line of `length` can begin, and its step."""
    windows = []
    for down, right in _DIRECTIONS:
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
