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

from typing import Any

from zermelo.core import notation, symmetry
from zermelo.core.bitboard import Word, bits, popcount
from zermelo.core.errors import BadBoard, BadMove, BadSpec
from zermelo.games.reversi.endgame import DiscGame

SIZES = (4, 6, 8)


class Reversi(DiscGame):
    """Discs turn over between the new one and the next of its colour, in all eight directions."""

    discs = True
    disc_colours = ("#26241f", "#fdfcf9")

    def __init__(self, size: int = 8, spec: str = "reversi") -> None:
        if size not in SIZES:
            msg = f"size is {size}: Reversi has 4, 6 or 8 rows and columns"
            raise BadSpec(msg)
        super().__init__(size)
        self.spec = spec
        self.specialised = size == max(SIZES)
        middle = size // 2
        self._white = self._bit(middle - 1, middle - 1) | self._bit(middle, middle)
        self._black = self._bit(middle - 1, middle) | self._bit(middle, middle - 1)

    def _bit(self, row: int, col: int) -> Word:
        return 1 << self.grid.index(row, col)

    def initial(self) -> tuple[Word, Word, Word]:
        """Four discs in the middle; black moves."""
        return (self._black, self._white, 0)

    scale = 20.0
    #: sixteenths of a disc each for moves, corners, cells beside free corners, discs
    eval_weights: tuple[int, ...] = (45, 134, -55, -1)

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
            msg = f"{notation.shown(text)} is outside the {self.grid} board: {self.move_forms}"
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
        return symmetry.of_grid(self.grid, extra_actions=1)
