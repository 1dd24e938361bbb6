"""Reversi (Othello) on 4x4, 6x6 and 8x8.

Bit i is cell i, row by row from the top left, as in `lines.py`; on 8x8 the start is

       c d e f
    3  . . . .        X black, the first player
    4  . O X .        O white
    5  . X O .
    6  . . . .

A state is (the mover's discs, the other's discs, the player to move). A side without a move
passes; the game ends as soon as neither side can move, and more discs win.
"""

import functools
from typing import Any

from zermelo.core import notation, symmetry
from zermelo.core.bitboard import Word, bits, pick, popcount
from zermelo.core.errors import BadBoard, BadMove, BadSpec
from zermelo.core.game import SolverHooks, WordGame
from zermelo.core.notation import Grid
from zermelo.games.geometry import board_shift
from zermelo.games.reversi.endgame import ReversiHooks
from zermelo.games.reversi.patterns import SIDE, PatternHooks

SIZES = (4, 6, SIDE)
_DIRECTIONS = ((0, 1), (1, 0), (1, 1), (1, -1))  # towards higher bits


class Reversi(WordGame):
    """Discs turn over between the new one and the next of its colour, in all eight directions."""

    has_discs = True
    disc_colours = ("#26241f", "#fdfcf9")
    counts_finished = True
    is_layered = False  # a pass adds no disc

    full: Word
    one: Word
    none: Word
    cells: int
    corners: Word
    #: a direction each: the shift, the cells that may receive from above, and from below
    rays: tuple[tuple[Word, Word, Word], ...]

    def __init__(self, size: int = SIDE, spec: str = "reversi") -> None:
        if size not in SIZES:
            msg = f"size is {size}: Reversi has 4, 6 or 8 rows and columns"
            raise BadSpec(msg)
        self.size, self.spec = size, spec
        self.is_specialised = size == max(SIZES)
        self.grid: Grid = Grid(size, size)
        self.cells = size * size
        self.num_actions = self.cells + 1  # the last is the pass
        self.full, self.one, self.none = (1 << self.cells) - 1, 1, 0
        self.rays = tuple(_ray(self.grid, down, right) for down, right in _DIRECTIONS)
        self.corners = sum(self._bit(row, col) for row in (0, size - 1) for col in (0, size - 1))
        middle = size // 2
        self._white = self._bit(middle - 1, middle - 1) | self._bit(middle, middle)
        self._black = self._bit(middle - 1, middle) | self._bit(middle, middle - 1)

    @functools.cached_property
    def hooks(self) -> SolverHooks:
        """What the solver knows; the evaluation by patterns is for the board of 8x8."""
        return PatternHooks(self) if self.size == SIDE else ReversiHooks(self)

    def _bit(self, row: int, col: int) -> Word:
        return 1 << self.grid.index(row, col)

    def initial(self) -> tuple[Word, Word, Word]:
        """Four discs in the middle; black moves."""
        return (self._black, self._white, 0)

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

    # What people and files see.

    def diff(self, state: Any) -> int:
        """The raw disc difference for the side to move; empties count for nobody."""
        return int(popcount(state[0])) - int(popcount(state[1]))

    def remark(self, state: Any, last: int | None) -> str:
        """The count, the first player's discs first."""
        del last
        board = self.board(state)
        return f" {board.count(1)}-{board.count(-1)}"

    def to_text(self, action: int) -> str:
        """A cell, or `pass`."""
        return self.grid.text(action) if action < self.cells else "pass"

    def parse_action(self, text: str) -> int:
        """A cell, its index, or `pass`."""
        text = text.strip().lower()
        if text == "pass":
            return self.cells
        number = notation.parse_number(text)
        if number is None:
            return self.grid.parse(text)
        if number >= self.cells:
            msg = f"{notation.quote_text(text)} is outside the {self.grid} board: {self.move_forms}"
            raise BadMove(msg)
        return number

    def why_illegal(self, state: Any, action: int) -> str:
        """Taken, turning nothing over, or a pass with a move to make."""
        if action == self.cells:
            return "a side that can move may not pass"
        taken = (state[0] | state[1]) >> action & 1
        return "the cell is taken" if taken else "it turns no disc over"

    def cell_hint(self, state: Any, cell: int) -> str:
        """The index, where a disc may go."""
        return str(cell) if self.legal(state) >> cell & 1 else ""

    @property
    def move_forms(self) -> str:
        """The forms of move a prompt offers."""
        last = self.cells - 1
        return f"cells a1 to {self.grid.text(last)}, or indices 0 to {last}, or pass"

    def board(self, state: Any) -> tuple[int, ...]:
        """The cells, flat."""
        first, second = (state[0], state[1]) if state[2] == 0 else (state[1], state[0])
        return tuple((first >> i & 1) - (second >> i & 1) for i in range(self.cells))

    def from_board(self, cells: tuple[int, ...], to_move: int | None, *, checked: bool) -> Any:
        """The state of a board; discs never leave it, so the middle is taken and all are joined."""
        if to_move is None:
            msg = "in Reversi the discs do not tell who moves: add X or O"
            raise BadBoard(msg)
        first, second = (sum(1 << i for i, c in enumerate(cells) if c == s) for s in (1, -1))
        if checked:
            self._check_reachable(first | second)
        return (second, first, 1) if to_move else (first, second, 0)

    def _check_reachable(self, discs: Word) -> None:
        middle = self._black | self._white
        if discs & middle != middle:
            cell = self.grid.text(bits(middle & ~discs)[0])
            msg = f"{cell} is empty: the four middle cells are taken from the start"
            raise BadBoard(msg)
        joined = middle
        while True:
            around = joined
            for shift, from_above, from_below in self.rays:
                around |= (joined << shift) & from_above | (joined >> shift) & from_below
            if around & discs == joined:
                break
            joined = around & discs
        if joined != discs:
            cell = self.grid.text(bits(discs ^ joined)[0])
            msg = f"the disc on {cell} touches no other that leads to the middle"
            raise BadBoard(msg)

    def symmetries(self) -> tuple[symmetry.Symmetry, ...]:
        """All of the square's."""
        return symmetry.grid_symmetries(self.grid, extra_actions=1)


def _ray(grid: Grid, down: int, right: int) -> tuple[Word, Word, Word]:
    """A direction's shift, and the cells a shifted disc may land on without leaving the board."""
    shift, from_below = board_shift(grid, down, right)
    _, from_above = board_shift(grid, -down, -right)
    return (shift, from_above, from_below)
