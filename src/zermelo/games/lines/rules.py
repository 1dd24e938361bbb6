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

from zermelo.core import notation, symmetry
from zermelo.core.bitboard import Word, lowest, pick
from zermelo.core.errors import BadSpec
from zermelo.core.game import MaskGame
from zermelo.core.notation import Grid
from zermelo.games.lines import notation as line_boards

Overline = Literal["any", "exact"]
#: One step of looking for lines: how far to shift, and the cells for which that stays in line.
Step = tuple[Word, Word]

DIRECTIONS = ((0, 1), (1, 0), (1, 1), (1, -1))  # (rows down, columns right)
# Every line length up to 8 is found in 3 doublings and every length up to 64 in 6, so that all
# games of the family have one of two shapes and share two compilations.
_FEW, _MANY = 3, 6


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
        for down, right in DIRECTIONS
    )


def _end_steps(grid: Grid, win: int) -> tuple[tuple[Step, Step], ...]:
    """For each direction: to the cell before a line's first, and to the one behind its last."""
    ends = []
    for down, right in DIRECTIONS:
        back, has_back = shift_down(grid, -down, -right)
        ends.append(((-back, has_back), shift_down(grid, down * win, right * win)))
    return tuple(ends)
