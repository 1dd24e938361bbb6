"""Reversi on 8x8, judged by patterns: what each row, diagonal and corner is worth as it stands.

The idea is Buro's (1997, "Experiments with Multi-ProbCut and a new high-quality evaluation
function for Othello"); the weights are our own, see `scripts/fit_reversi.py`. A family is a set
of lines of cells that are alike by symmetry and share one table. A line's index has a digit for
each of its cells, to base 3: 0 free, 1 the mover's, 2 the other's. Read backwards it is worth the
same, with colours swapped the opposite, so the file has one weight for up to four indices.
"""

import functools
from pathlib import Path
from typing import TYPE_CHECKING, Any

from zermelo.core.bitboard import Numbers, Word, popcount, word
from zermelo.games.reversi.endgame import ReversiHooks

if TYPE_CHECKING:
    from numpy.typing import NDArray

SIDE = 8
KNOTS = (16, 36, 56)  #: numbers of discs that weights are for; between two they are blended
UNIT = 7  #: weights that make a disc
NUM_PLAIN = 2  #: weights before those of the patterns: a move more than the other, to be to move
_STEP = KNOTS[1] - KNOTS[0]
FILE = Path(__file__).with_name("patterns.npy")  #: the weights, int8 [weight, knot]
_CORNER = tuple((row, col) for row in range(3) for col in range(3))
Line = tuple[int, ...]


def families() -> list[list[Line]]:
    """The lines of each family: rows by their distance from the edge, diagonals, corners."""
    rows = [[_line([(row, col) for col in range(SIDE)]) for row in range(SIDE)]]
    rows += [[_line([(row, col) for row in range(SIDE)]) for col in range(SIDE)]]
    found = [[way[at] for way in rows for at in (row, -1 - row)] for row in range(SIDE // 2)]
    found += [[d for d in _diagonals() if len(d) == length] for length in range(4, SIDE + 1)]
    ends = [(down, right) for down in (False, True) for right in (False, True)]
    return [*found, [_line([_from(cell, *end) for cell in _CORNER]) for end in ends]]


def _line(cells: list[tuple[int, int]]) -> Line:
    return tuple(SIDE * row + col for row, col in cells)


def _from(cell: tuple[int, int], down: bool, right: bool) -> tuple[int, int]:
    """A cell counted from one of the corners."""
    row, col = cell
    return (SIDE - 1 - row if down else row, SIDE - 1 - col if right else col)


def _diagonals() -> list[Line]:
    """All of four cells or more, from left to right."""
    ways = [[(c + d, c) for c in range(SIDE)] for d in range(-4, 5)]
    ways += [[(7 + d - c, c) for c in range(SIDE)] for d in range(-4, 5)]
    return [_line([(r, c) for r, c in way if 0 <= r < SIDE]) for way in ways]


def classes() -> "tuple[NDArray[Any], NDArray[Any]]":
    """Of every index of every family, one after the other: its weight's number, and its sign."""
    import numpy as np

    numbers, signs, used = [], [], 0
    for lines in families():
        size = len(lines[0])
        powers = 3 ** np.arange(size)
        digits = np.arange(3**size)[:, None] // powers % 3  # [index, cell]
        is_corner = size == len(_CORNER)  # a square is turned about its diagonal
        back = (
            digits.reshape(-1, 3, 3).swapaxes(1, 2).reshape(-1, 9) if is_corner else digits[:, ::-1]
        )
        swap = np.array([0, 2, 1])
        own = np.minimum(digits @ powers, back @ powers)
        other = np.minimum(swap[digits] @ powers, swap[back] @ powers)
        first, number = np.unique(np.minimum(own, other), return_inverse=True)
        numbers.append(number + used)
        signs.append(np.sign(other - own))
        used += len(first)
    return np.concatenate(numbers), np.concatenate(signs)


def _starts() -> list[int]:
    """Where each family's indices begin."""
    sizes = [3 ** len(lines[0]) for lines in families()]
    return [sum(sizes[:number]) for number in range(len(sizes))]


class PatternHooks(ReversiHooks):
    """Solver hooks of the board of 8x8, with an evaluation by patterns."""

    knots: tuple[int, ...] = KNOTS
    byte: Word = 0xFF
    columns: Word = 0x0101010101010101
    # Bits to swap with those so far above them, one step after the other.
    mirrored: tuple[tuple[Word, Word], ...] = (
        (1, 0x5555555555555555),
        (2, 0x3333333333333333),
        (4, 0x0F0F0F0F0F0F0F0F),
    )
    upside_down: tuple[tuple[Word, Word], ...] = (
        (8, 0x00FF00FF00FF00FF),
        (16, 0x0000FFFF0000FFFF),
        (32, 0x00000000FFFFFFFF),
    )
    transposed: tuple[tuple[Word, Word], ...] = (
        (7, 0x00AA00AA00AA00AA),
        (14, 0x0000CCCC0000CCCC),
        (28, 0x00000000F0F0F0F0),
    )

    @functools.cached_property
    def weights(self) -> Numbers:
        """[place, knot]: of every index of every family; then of a move, and of being to move."""
        import numpy as np

        fitted = np.load(FILE).astype(np.int16)
        number, sign = classes()
        patterns = fitted[NUM_PLAIN:][number] * sign[:, None]
        return np.concatenate([patterns, fitted[:NUM_PLAIN]]).astype(np.int16)

    @functools.cached_property
    def base3(self) -> Numbers:
        """[mask]: the digits of a mask read as a number to base 3."""
        import numpy as np

        return np.array([int(f"{mask:b}", 3) for mask in range(1 << len(_CORNER))], np.int64)

    @functools.cached_property
    def places(self) -> Numbers:
        """[row]: where its family begins; then the corners' begins."""
        import numpy as np

        return np.array([_starts()[number] for number in (0, 1, 2, 3, 3, 2, 1, 0, -1)], np.int64)

    @functools.cached_property
    def diagonals(self) -> Numbers:
        """[diagonal]: its cells, its first column, and where its family begins."""
        import numpy as np

        rows = [(sum(1 << c for c in d), d[0] % SIDE, _starts()[len(d)]) for d in _diagonals()]
        return np.array(rows, np.uint64)

    def evaluate(self, state: Any) -> Any:
        """The difference to expect, by two of the knots."""
        mine, theirs, _player = state
        discs = popcount(mine | theirs)
        knot = 1 if discs >= self.knots[1] else 0
        place = len(self.weights) - NUM_PLAIN
        moves = popcount(self.mobility(mine, theirs)) - popcount(self.mobility(theirs, mine))
        early = moves * int(self.weights[place, knot]) + int(self.weights[place + 1, knot])
        late = moves * int(self.weights[place, knot + 1]) + int(self.weights[place + 1, knot + 1])
        us, them = mine, theirs
        for corner in range(4):
            place = int(self.places[SIDE]) + self.index(self.corner(us), self.corner(them))
            early += int(self.weights[place, knot])
            late += int(self.weights[place, knot + 1])
            steps = self.mirrored if corner % 2 == 0 else self.upside_down
            us, them = self.swapped(us, steps), self.swapped(them, steps)
        for number in range(len(self.diagonals)):
            cells = word(self.diagonals[number, 0])
            first = word(self.diagonals[number, 1])
            us = self.gathered(mine & cells) >> first
            them = self.gathered(theirs & cells) >> first
            place = int(self.diagonals[number, 2]) + self.index(us, them)
            early += int(self.weights[place, knot])
            late += int(self.weights[place, knot + 1])
        # Rows, then columns: the rows of the board turned about its diagonal.
        us, them = mine, theirs
        for _way in range(2):
            for row in range(SIDE):
                shift = word(SIDE * row)
                place = self.index((us >> shift) & self.byte, (them >> shift) & self.byte)
                place += int(self.places[row])
                early += int(self.weights[place, knot])
                late += int(self.weights[place, knot + 1])
            us, them = self.swapped(us, self.transposed), self.swapped(them, self.transposed)
        share = max(0, min(_STEP, discs - self.knots[knot]))
        score = early * (_STEP - share) + late * share
        score = (score + _STEP * UNIT // 2) // (_STEP * UNIT)
        return max(1 - self.win_score, min(self.win_score - 1, score))

    def index(self, us: Any, them: Any) -> Any:
        """Of a line, within its family."""
        return int(self.base3[us]) + 2 * int(self.base3[them])

    def gathered(self, diagonal: Any) -> Any:
        """A diagonal's discs by their columns."""
        return ((diagonal * self.columns) & self.every) >> word(56)

    def corner(self, board: Any) -> Any:
        """The nine cells at the top left, side by side."""
        row = word(7)
        second = (board >> word(5)) & (row << word(3))
        return (board & row) | second | ((board >> word(10)) & (row << word(6)))

    def swapped(self, board: Any, steps: Any) -> Any:
        """A board mirrored, upside down or transposed."""
        for shift, cells in steps:
            differ = (board ^ (board >> shift)) & cells
            board = board ^ differ ^ (differ << shift)
        return board
