"""The rules of Reversi (Othello) on 4x4, 6x6 and 8x8.

Bit i is cell i, row by row from the top left. On 8x8 the game starts with

       c d e f
    3  . . . .        X black, the first player
    4  . O X .        O white
    5  . X O .
    6  . . . .

A state is (the mover's discs, the opponent's discs, the player to move). A side that cannot move
passes. The game ends as soon as neither side can move, and the side with more discs wins.
"""

import functools
from typing import Any

from zermelo.core import notation, symmetry
from zermelo.core.bitboard import Word, bits, pick, popcount
from zermelo.core.errors import BadBoard, BadMove, BadSpec
from zermelo.core.game import SolverHooks, WordGame
from zermelo.core.notation import Grid
from zermelo.core.value import Value
from zermelo.games.geometry import DIRECTIONS, board_shift
from zermelo.games.reversi.endgame import ReversiHooks
from zermelo.games.reversi.patterns import SIDE, PatternHooks

SIZES = (4, 6, SIDE)


class Reversi(WordGame):
    """Reversi on a square board.

    In each of the eight directions, a move flips the opponent's discs between the new disc and the
    mover's next one. A move must flip at least one disc.
    """

    has_discs = True
    disc_colours = ("#26241f", "#fdfcf9")
    counts_finished = True
    score_unit = "disc"
    is_layered = False  # a pass adds no disc

    full: Word
    one: Word
    none: Word
    cells: int
    corners: Word
    #: for each line direction: the shift, and the cells that it reaches downwards and upwards
    rays: tuple[tuple[Word, Word, Word], ...]

    def __init__(self, size: int = SIDE, spec: str = "reversi") -> None:
        if size not in SIZES:
            msg = f"size is {size}: it must be 4, 6 or 8"
            raise BadSpec(msg)
        self.size, self.spec = size, spec
        self.is_specialised = size == max(SIZES)
        self.grid: Grid = Grid(size, size)
        self.cells = size * size
        self.num_actions = self.cells + 1  # the last one is the pass
        self.full, self.one, self.none = (1 << self.cells) - 1, 1, 0
        self.rays = tuple(_ray(self.grid, down, right) for down, right in DIRECTIONS)
        self.corners = sum(self._bit(row, col) for row in (0, size - 1) for col in (0, size - 1))
        middle = size // 2
        self._white = self._bit(middle - 1, middle - 1) | self._bit(middle, middle)
        self._black = self._bit(middle - 1, middle) | self._bit(middle, middle - 1)

    @functools.cached_property
    def hooks(self) -> SolverHooks:
        """Return the solver hooks; on 8x8 they include the evaluation by patterns."""
        return PatternHooks(self) if self.size == SIDE else ReversiHooks(self)

    def _bit(self, row: int, col: int) -> Word:
        return 1 << self.grid.index(row, col)

    def initial(self) -> tuple[Word, Word, Word]:
        """Return the initial state: four discs in the middle, with black to move."""
        return (self._black, self._white, 0)

    # The rules, for Python ints, uint64 words and tensors alike.

    def legal(self, state: Any) -> Any:
        """Return a mask of the cells where a disc would flip others; 0 means a forced pass."""
        mine, theirs, _player = state
        return self.mobility(mine, theirs)

    def mobility(self, mine: Any, theirs: Any) -> Any:
        """Return the free cells from which an unbroken line of `theirs` leads to one of `mine`."""
        cells = self.none
        for shift, from_above, from_below in self.rays:
            up = self.ray_up(mine, theirs, shift, from_below)
            down = self.ray_down(mine, theirs, shift, from_above)
            cells = cells | ((up >> shift) & from_below) | ((down << shift) & from_above)
        return cells & (self.full ^ (mine | theirs))

    def ray_up(self, origin: Any, theirs: Any, shift: Any, stays: Any) -> Any:
        """Return the discs of `theirs` in unbroken rays from `origin` towards lower bits."""
        # A ray grows to 1, 2, 4 and 6 discs; at most 6 fit between the two ends of a line of 8.
        through = theirs & stays
        ray = (origin >> shift) & through
        ray = ray | ((ray >> shift) & through)
        through = through & ((through >> shift) & stays)
        shift2 = shift + shift
        ray = ray | ((ray >> shift2) & through)
        return ray | ((ray >> shift2) & through)

    def ray_down(self, origin: Any, theirs: Any, shift: Any, stays: Any) -> Any:
        """Return the discs of `theirs` in unbroken rays from `origin` towards higher bits."""
        through = theirs & stays
        ray = (origin << shift) & through
        ray = ray | ((ray << shift) & through)
        through = through & ((through << shift) & stays)
        shift2 = shift + shift
        ray = ray | ((ray << shift2) & through)
        return ray | ((ray << shift2) & through)

    def play(self, state: Any, action: Any) -> Any:
        """Place a disc and flip the opponent's discs, then change sides; a pass flips nothing."""
        mine, theirs, player = state
        # A shift by 64 is undefined for a word, so a pass must not be shifted.
        disc = pick(action == self.cells, self.none, self.one << (action & 63)) & self.full
        flipped = self.none
        for shift, from_above, from_below in self.rays:
            up = self.ray_up(disc, theirs, shift, from_below)
            down = self.ray_down(disc, theirs, shift, from_above)
            closed_up = ((up >> shift) & from_below & mine) != 0
            closed_down = ((down << shift) & from_above & mine) != 0
            flipped = flipped | pick(closed_up, up, self.none) | pick(closed_down, down, self.none)
        return (theirs ^ flipped, mine | disc | flipped, player ^ self.one)

    def result(self, state: Any) -> Any:
        """Return (is over, value): the game is over when neither side can move."""
        mine, theirs, _player = state
        over = (self.mobility(mine, theirs) | self.mobility(theirs, mine)) == 0
        diff = popcount(mine) - popcount(theirs)
        return over, (1 * (diff > 0) - 1 * (diff < 0)) * over

    # Notation, boards and drawing.

    def diff(self, state: Any) -> int:
        """Return the disc difference for the side to move; empty cells are not counted."""
        return int(popcount(state[0])) - int(popcount(state[1]))

    def score_fields(
        self, state: Any, value: Value | None, plies: int | None, diff: int | None
    ) -> dict[str, int | None]:
        """Return the disc difference for the side to move."""
        del state, value, plies
        return {"diff": diff}

    def remark(self, state: Any, last: int | None) -> str:
        """Return the numbers of discs as text, the first player's number first."""
        del last
        board = self.board(state)
        return f" {board.count(1)}-{board.count(-1)}"

    def to_text(self, state: Any, action: int) -> str:  # noqa: ARG002 - a cell has one name
        """Return the name of a cell, or `pass`."""
        return self.grid.text(action) if action < self.cells else "pass"

    def parse_action(self, state: Any, text: str) -> int:  # noqa: ARG002 - as for to_text
        """Return the action that a move names: a cell, its index, or `pass`."""
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
        """Return the reason: the cell is taken, no disc is flipped, or a pass is not allowed."""
        if action == self.cells:
            return "a side that can move may not pass"
        is_taken = (state[0] | state[1]) >> action & 1
        return "the cell is taken" if is_taken else "it flips no disc"

    def cell_hint(self, state: Any, cell: int) -> str:
        """Return the index of a cell as text if a move there is legal, else ""."""
        return str(cell) if self.legal(state) >> cell & 1 else ""

    @property
    def move_forms(self) -> str:
        """Describe the accepted forms of a move."""
        last = self.cells - 1
        return f"cells a1 to {self.grid.text(last)}, or indices 0 to {last}, or pass"

    def board(self, state: Any) -> tuple[int, ...]:
        """Return the cells, row by row: +1 first player, -1 second, 0 empty."""
        first, second = (state[0], state[1]) if state[2] == 0 else (state[1], state[0])
        return tuple((first >> i & 1) - (second >> i & 1) for i in range(self.cells))

    def from_board(self, cells: tuple[int, ...], to_move: int | None, *, checked: bool) -> Any:
        """Return the state of a board.

        With `checked`, raise BadBoard unless the four middle cells are taken and every disc is
        connected to them: discs are never removed.
        """
        if to_move is None:
            msg = (
                "in Reversi, the discs do not show who is to move: add X or O to the board, "
                "or give to_move"
            )
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
        connected = middle
        while True:
            around = connected
            for shift, from_above, from_below in self.rays:
                around |= (connected << shift) & from_above | (connected >> shift) & from_below
            if around & discs == connected:
                break
            connected = around & discs
        if connected != discs:
            cell = self.grid.text(bits(discs ^ connected)[0])
            msg = f"the disc on {cell} is not connected to the middle"
            raise BadBoard(msg)

    def symmetries(self) -> tuple[symmetry.Symmetry, ...]:
        """Return all symmetries of the square."""
        return symmetry.grid_symmetries(self.grid, extra_actions=1)


def _ray(grid: Grid, down: int, right: int) -> tuple[Word, Word, Word]:
    """Return the shift of a direction, and the cells that it reaches downwards and upwards."""
    shift, from_below = board_shift(grid, down, right)
    _, from_above = board_shift(grid, -down, -right)
    return (shift, from_above, from_below)
