"""The rules of the line family: tic-tac-toe, m,n,k games, Gomoku, Squava and Connect Four.

A move places a stone; with gravity, in the lowest free cell of a column. A line of `win` stones
wins. A line of `lose` stones loses at once unless it is part of a winning line. A full board is a
draw. Bit i of a mask is cell i, row by row from the top left. On 3x3:

    a1=0 b1=1 c1=2
    a2=3 b2=4 c2=5
    a3=6 b3=7 c3=8

A state is (the mover's stones, the opponent's stones, the player to move). Python's ints have no
fixed width, so these rules serve boards of any size; up to 64 cells the same source compiles.
"""

from functools import cached_property
from typing import Any, Literal

from zermelo.core import notation, symmetry
from zermelo.core.bitboard import Word, lowest, pick
from zermelo.core.errors import BadSpec
from zermelo.core.game import MaskGame
from zermelo.core.notation import Grid
from zermelo.core.value import Value
from zermelo.games.geometry import Shift, end_shifts, line_shifts, run_from
from zermelo.games.lines import notation as line_notation
from zermelo.games.lines import reachability

Overline = Literal["any", "exact"]

# The number of shifts in `line_shifts`: 3 find lines of up to 8 stones, 6 find lines of up to 64.
# With only these two depths, all games of the family share two compilations.
_SHORT_DEPTH, _LONG_DEPTH = 3, 6


class LineGame(MaskGame):
    """The rules of a line game; the constructor raises BadSpec if the parameters are invalid."""

    full: Word  # all cells
    one: Word
    none: Word
    cols: int
    gravity: bool
    exact: bool
    lose: int
    pie: bool
    top: Word  # the top row
    bottom: Word  # the bottom row
    column: Word  # the leftmost column
    swap: Word  # the mask of the swap action
    win_shifts: tuple[tuple[Shift, ...], ...]  # [direction]: see `line_shifts`
    lose_shifts: tuple[tuple[Shift, ...], ...]
    end_shifts: tuple[tuple[Shift, Shift], ...]  # [direction]: see `end_shifts`

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
        check_parameters(rows, cols, win, lose, overline, pie=pie, gravity=gravity)
        self.grid: Grid = Grid(rows, cols)
        self.rows, self.cols, self.win, self.lose = rows, cols, win, lose
        self.gravity, self.pie, self.overline = gravity, pie, overline
        self.exact = overline == "exact"
        self.spec = spec or (
            f"line:rows={rows},cols={cols},win={win},lose={lose},gravity={str(gravity).lower()},"
            f"overline={overline},pie={str(pie).lower()}"
        )
        self.has_discs = gravity
        cells = self.grid.size
        self.num_actions = cols if gravity else cells + pie
        self.one, self.none = 1, 0
        self.full = (1 << cells) - 1
        self.top = (1 << cols) - 1
        self.bottom = self.top << (cells - cols)
        self.column = sum(1 << (row * cols) for row in range(rows))
        self.swap = 1 << cells if pie else 0
        depth = _SHORT_DEPTH if win <= 1 << _SHORT_DEPTH else _LONG_DEPTH
        self.win_shifts = line_shifts(self.grid, win, depth)
        self.lose_shifts = line_shifts(self.grid, max(lose, 1), depth)
        self.end_shifts = end_shifts(self.grid, win)

    # The rules, for Python ints, uint64 words and tensors alike.

    def initial(self) -> tuple[Word, Word, Word]:
        """Return the empty board with the first player to move."""
        return (0, 0, 0)

    def legal(self, state: Any) -> Any:
        """Return the free cells, or with gravity the columns that are not full, as a mask."""
        mine, theirs, player = state
        free = self.full ^ (mine | theirs)
        if self.gravity:
            return free & self.top
        if self.pie:
            # The second player has no stones only before their first move.
            return free | pick((mine | (player ^ self.one)) == 0, self.swap, self.none)
        return free

    def play(self, state: Any, action: Any) -> Any:
        """Add a stone to the mover's stones and change sides."""
        mine, theirs, player = state
        stone = (self.one << action) & self.full
        if self.gravity:
            stones = mine | theirs
            landing = (self.full ^ stones) & (((stones >> self.cols) & self.full) | self.bottom)
            stone = (self.column << action) & landing
        if self.pie:
            # A swap adds no stone and exchanges the sides: the board as the mover sees it stays
            # the same, and the mover is now the other player.
            swapped = stone == 0
            return (
                pick(swapped, mine, theirs),
                pick(swapped, theirs, mine | stone),
                player ^ self.one,
            )
        return (theirs, mine | stone, player ^ self.one)

    def result(self, state: Any) -> Any:
        """Return (is_over, value); the last mover may have won, lost or, on a full board, drawn."""
        mine, theirs, _player = state
        won = self.winning_lines(theirs) != 0
        full = (mine | theirs) == self.full
        if self.lose > 0:
            # `lose` is less than `win`, so a winning line contains a losing one: the value is
            # then 1 for the losing line minus 2 for the winning line, which is -1.
            lost = self.find_lines(theirs, self.lose_shifts) != 0
            return lost | full, 1 * lost - 2 * won
        return won | full, 0 - 1 * won

    def winning_lines(self, stones: Any) -> Any:
        """Return the first cells of all winning lines of these stones, as a mask."""
        if not self.exact:
            return self.find_lines(stones, self.win_shifts)
        return self.exact_lines(stones)

    def exact_lines(self, stones: Any) -> Any:
        """Return a mask of the first cells of all runs of exactly `win` stones."""
        firsts = stones ^ stones
        for direction in range(4):
            lines = self.find_lines_along(stones, self.win_shifts[direction])
            (back, has_back), (ahead, has_ahead) = self.end_shifts[direction]
            longer = ((stones << back) & has_back) | ((stones >> ahead) & has_ahead)
            firsts = firsts | (lines & (self.full ^ longer))
        return firsts

    def find_lines(self, stones: Any, directions: Any) -> Any:
        """Return a mask of the first cells of all lines; `directions` comes from `line_shifts`."""
        firsts = stones ^ stones
        for shifts in directions:
            firsts = firsts | self.find_lines_along(stones, shifts)
        return firsts

    def find_lines_along(self, stones: Any, shifts: Any) -> Any:
        """Return a mask of the first cells of all lines in one direction, given its shifts."""
        for distance, inside in shifts:
            stones = stones & (stones >> distance) & inside
        return stones

    # Notation, boards and drawing.

    def to_text(self, state: Any, action: int) -> str:  # noqa: ARG002 - a cell has one name
        """Return the name of a cell (with gravity, the number of a column), or `swap`."""
        return self._moves[action]

    def parse_action(self, state: Any, text: str) -> int:  # noqa: ARG002 - as for to_text
        """Return the action that a move names, in any form listed in docs/notation.md."""
        action = self._actions_by_move.get(text)
        return line_notation.parse_action(self, text) if action is None else action

    @cached_property
    def _moves(self) -> tuple[str, ...]:
        if self.gravity:
            return self.column_labels
        cells = tuple(map(self.grid.text, range(self.grid.size)))
        return (*cells, "swap") if self.pie else cells

    @cached_property
    def _actions_by_move(self) -> dict[str, int]:
        return {move: action for action, move in enumerate(self._moves)}

    def split_moves(self, text: str) -> list[str]:
        """Split a line of moves; with gravity and up to 9 columns, `4455` is four moves."""
        moves = notation.split_moves(text)
        if self.gravity and self.cols <= line_notation.MAX_DIGIT:
            return [part for move in moves for part in (move if move.isdecimal() else [move])]
        return moves

    def why_illegal(self, state: Any, action: int) -> str:
        """Return the reason: the cell is taken, the column is full, or it is too late to swap."""
        del state
        if self.gravity:
            return f"column {action + 1} is full"
        if action == self.grid.size:
            return "swap can only answer the first move"
        return "the cell is taken"

    def board(self, state: Any) -> tuple[int, ...]:
        """Return the cells, row by row: +1 first player, -1 second, 0 empty."""
        first, second = (state[0], state[1]) if self.player(state) == 0 else (state[1], state[0])
        return tuple((first >> i & 1) - (second >> i & 1) for i in range(self.grid.size))

    def from_board(self, cells: tuple[int, ...], to_move: int | None, *, checked: bool) -> Any:
        """Return the state of a board; `reachability` describes the checks."""
        player = reachability.side_to_move(self, cells, to_move, checked=checked)
        first, second = (sum(1 << i for i, c in enumerate(cells) if c == s) for s in (1, -1))
        state = (second, first, 1) if player else (first, second, 0)
        if checked:
            reachability.check_reachable(self, state)
        return state

    def score_fields(
        self, state: Any, value: Value | None, plies: int | None, diff: int | None
    ) -> dict[str, int | None]:
        """Return Connect Four's score, for games with gravity.

        It is (cells + 3) // 2 minus the winner's number of stones at the end; for a loss it is
        negated, and for a draw it is 0.
        """
        del diff
        if not self.gravity:
            return {}
        if value is None or (plies is None and value is not Value.DRAW):
            return {"score": None}
        mover = self.player(state)
        winner = mover if value is Value.WIN else 1 - mover
        # The first player plays the odd stone.
        stones = (state[0] | state[1]).bit_count() + (plies or 0) + 1 - winner
        return {"score": value.sign * ((self.grid.size + 3) // 2 - stones // 2)}

    def winning_line(self, state: Any) -> tuple[int, ...] | None:
        """Return the cells of the whole run of stones that decided the game."""
        stones = state[1]
        wins = self.winning_lines(stones)
        if wins:
            return run_from(self.grid, stones, lowest(wins), self.win, exact=self.exact)
        losses = self.find_lines(stones, self.lose_shifts) if self.lose else 0
        if losses:
            return run_from(self.grid, stones, lowest(losses), self.lose, exact=False)
        return None

    def move_cells(self, state: Any, action: int) -> tuple[int, ...]:
        """Return the cell that an action fills; () for a swap."""
        if self.gravity:
            column: int = (self.full ^ (state[0] | state[1])) & (self.column << action)
            return (column.bit_length() - 1,) if column else ()  # the lowest free cell
        return (action,) if action < self.grid.size else ()

    def cell_hint(self, state: Any, cell: int) -> str:
        """Return the digits to type for a move to a cell, or "" if there are none."""
        if self.gravity:
            col = cell % self.cols
            return str(col + 1) if self.move_cells(state, col) == (cell,) else ""
        return line_notation.short_form(self, cell)

    @property
    def column_labels(self) -> tuple[str, ...]:
        """Return the labels above the columns: numbers with gravity, letters without."""
        if self.gravity:
            return tuple(str(col + 1) for col in range(self.cols))
        return self.grid.letters

    @property
    def move_forms(self) -> str:
        """Describe the accepted forms of a move."""
        return line_notation.move_forms(self)

    def symmetries(self) -> tuple[symmetry.Symmetry, ...]:
        """Return the symmetries of the board: with gravity, the identity and the mirror image."""
        if self.gravity:
            return symmetry.column_symmetries(self.grid)
        return symmetry.grid_symmetries(self.grid, extra_actions=int(self.pie))


def check_parameters(
    rows: int, cols: int, win: int, lose: int, overline: str, *, pie: bool, gravity: bool
) -> None:
    """Raise BadSpec if no line game has these parameters; the message says what is allowed."""
    for name, side in (("rows", rows), ("cols", cols)):
        if not 1 <= side <= notation.MAX_SIDE:
            msg = f"{name} is {side}: a board has 1 to {notation.MAX_SIDE} {name}"
            raise BadSpec(msg)
    longest = max(rows, cols)
    if not 2 <= win <= longest:
        right = f"it must be 2 to {longest}" if longest > 1 else "no line fits, so enlarge it"
        msg = f"win is {win}: on a {rows}x{cols} board {right}"
        raise BadSpec(msg)
    if not 0 <= lose < win:
        msg = f"lose is {lose}: it must be 0 (none) or 1 to {win - 1}, less than win"
        raise BadSpec(msg)
    if overline not in ("any", "exact"):
        msg = f"overline is {notation.quote_text(str(overline))}: it must be any or exact"
        raise BadSpec(msg)
    if pie and gravity:
        msg = "the pie rule needs a game without gravity"
        raise BadSpec(msg)
