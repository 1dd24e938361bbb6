"""The pattern evaluation of 8x8 Reversi, on rows, columns, diagonals and corners.

The method is Buro's (1997, "Experiments with Multi-ProbCut and a new high-quality evaluation
function for Othello"); `scripts/fit_reversi.py` fits the weights. A pattern is a list of cells. A
family is a set of patterns that symmetries map to each other and that share one table of weights.
The index of a pattern in a state has a base-3 digit for each of its cells: 0 empty, 1 the mover's,
2 the opponent's. Reversing a pattern keeps its weight, and swapping the colours negates the weight,
so the file holds one weight for up to four indices.
"""

import functools
from pathlib import Path
from typing import TYPE_CHECKING, Any

from zermelo.core.bitboard import Numbers, Word, popcount, word
from zermelo.games.reversi.endgame import ReversiHooks

if TYPE_CHECKING:
    from numpy.typing import NDArray

SIDE = 8
KNOTS = (16, 36, 56)  #: disc counts with fitted weights; estimates between them are interpolated
WEIGHTS_PER_DISC = 7  #: a sum of weights divided by this is a disc difference
NUM_GLOBAL = 2  #: the weights that precede the patterns' weights: mobility, being to move
_KNOT_DISTANCE = KNOTS[1] - KNOTS[0]
FILE = Path(__file__).with_name("patterns.npy")  #: the weights, an int8 array [weight, knot]
_CORNER = tuple((row, col) for row in range(3) for col in range(3))
Pattern = tuple[int, ...]  #: the cells of a pattern


def list_families() -> list[list[Pattern]]:
    """Return each family's patterns: lines by distance from the edge, diagonals, then corners."""
    rows = [_pattern([(row, col) for col in range(SIDE)]) for row in range(SIDE)]
    cols = [_pattern([(row, col) for row in range(SIDE)]) for col in range(SIDE)]
    families = [[line[n] for line in (rows, cols) for n in (i, -1 - i)] for i in range(SIDE // 2)]
    families += [[d for d in _diagonals() if len(d) == length] for length in range(4, SIDE + 1)]
    corners = [(down, right) for down in (False, True) for right in (False, True)]
    families.append([_pattern([_from(cell, *corner) for cell in _CORNER]) for corner in corners])
    return families


def _pattern(cells: list[tuple[int, int]]) -> Pattern:
    return tuple(SIDE * row + col for row, col in cells)


def _from(cell: tuple[int, int], down: bool, right: bool) -> tuple[int, int]:
    """Return the board coordinates of a cell that is given relative to one of the corners."""
    row, col = cell
    return (SIDE - 1 - row if down else row, SIDE - 1 - col if right else col)


def _diagonals() -> list[Pattern]:
    """Return all diagonals of four cells or more, each from left to right."""
    lines = [[(c + d, c) for c in range(SIDE)] for d in range(-4, 5)]
    lines += [[(7 + d - c, c) for c in range(SIDE)] for d in range(-4, 5)]
    return [_pattern([(r, c) for r, c in line if 0 <= r < SIDE]) for line in lines]


def weight_classes() -> "tuple[NDArray[Any], NDArray[Any]]":
    """Return two arrays that give, for every index of every family, its weight's number and sign.

    The indices of all families are concatenated, and the weights are numbered in the same order.
    """
    import numpy as np

    numbers, signs, used = [], [], 0
    for patterns in list_families():
        size = len(patterns[0])
        powers = 3 ** np.arange(size)
        digits = np.arange(3**size)[:, None] // powers % 3  # [index, cell]
        is_corner = size == len(_CORNER)  # a square is reversed by reflection in its diagonal
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


def _family_starts() -> list[int]:
    """Return where the indices of each family begin in the table of all weights."""
    sizes = [3 ** len(patterns[0]) for patterns in list_families()]
    return [sum(sizes[:number]) for number in range(len(sizes))]


class PatternHooks(ReversiHooks):
    """Solver hooks of Reversi on 8x8, with the evaluation by patterns."""

    knots: tuple[int, ...] = KNOTS
    byte: Word = 0xFF
    column: Word = 0x0101010101010101
    # Delta swaps (distance, mask), applied in turn: each swaps the bits of the mask with the
    # bits that are `distance` higher.
    mirror_swaps: tuple[tuple[Word, Word], ...] = (
        (1, 0x5555555555555555),
        (2, 0x3333333333333333),
        (4, 0x0F0F0F0F0F0F0F0F),
    )
    flip_swaps: tuple[tuple[Word, Word], ...] = (
        (8, 0x00FF00FF00FF00FF),
        (16, 0x0000FFFF0000FFFF),
        (32, 0x00000000FFFFFFFF),
    )
    transpose_swaps: tuple[tuple[Word, Word], ...] = (
        (7, 0x00AA00AA00AA00AA),
        (14, 0x0000CCCC0000CCCC),
        (28, 0x00000000F0F0F0F0),
    )

    @functools.cached_property
    def weights(self) -> Numbers:
        """Return the [row, knot] weights; the rows are all indices, mobility, being to move."""
        import numpy as np

        fitted = np.load(FILE).astype(np.int16)
        number, sign = weight_classes()
        patterns = fitted[NUM_GLOBAL:][number] * sign[:, None]
        return np.concatenate([patterns, fitted[:NUM_GLOBAL]]).astype(np.int16)

    @functools.cached_property
    def base3(self) -> Numbers:
        """Return, for each mask of up to 9 bits, its value if its digits are read in base 3."""
        import numpy as np

        return np.array([int(f"{mask:b}", 3) for mask in range(1 << len(_CORNER))], np.int64)

    @functools.cached_property
    def row_starts(self) -> Numbers:
        """Return where the weights of each board row's family, and of the corner family, begin."""
        import numpy as np

        starts = _family_starts()
        return np.array([starts[family] for family in (0, 1, 2, 3, 3, 2, 1, 0, -1)], np.int64)

    @functools.cached_property
    def diagonals(self) -> Numbers:
        """Return each diagonal's mask and first column, and where its family's weights begin."""
        import numpy as np

        starts = _family_starts()
        rows = [(sum(1 << c for c in d), d[0] % SIDE, starts[len(d)]) for d in _diagonals()]
        return np.array(rows, np.uint64)

    def evaluate(self, state: Any) -> Any:
        """Estimate the final disc difference; interpolate between the two nearest `KNOTS`."""
        mine, theirs, _player = state
        discs = popcount(mine | theirs)
        knot = 1 if discs >= self.knots[1] else 0
        place = len(self.weights) - NUM_GLOBAL
        moves = popcount(self.mobility(mine, theirs)) - popcount(self.mobility(theirs, mine))
        early = moves * int(self.weights[place, knot]) + int(self.weights[place + 1, knot])
        late = moves * int(self.weights[place, knot + 1]) + int(self.weights[place + 1, knot + 1])
        us, them = mine, theirs
        for corner in range(4):
            place = self.pattern_index(self.extract_corner(us), self.extract_corner(them))
            place += int(self.row_starts[SIDE])
            early += int(self.weights[place, knot])
            late += int(self.weights[place, knot + 1])
            swaps = self.mirror_swaps if corner % 2 == 0 else self.flip_swaps
            us, them = self.delta_swap(us, swaps), self.delta_swap(them, swaps)
        for number in range(len(self.diagonals)):
            cells = word(self.diagonals[number, 0])
            first = word(self.diagonals[number, 1])
            us = self.gather_columns(mine & cells) >> first
            them = self.gather_columns(theirs & cells) >> first
            place = int(self.diagonals[number, 2]) + self.pattern_index(us, them)
            early += int(self.weights[place, knot])
            late += int(self.weights[place, knot + 1])
        # Rows, then columns as the rows of the transposed board.
        us, them = mine, theirs
        for _orientation in range(2):
            for row in range(SIDE):
                shift = word(SIDE * row)
                place = self.pattern_index((us >> shift) & self.byte, (them >> shift) & self.byte)
                place += int(self.row_starts[row])
                early += int(self.weights[place, knot])
                late += int(self.weights[place, knot + 1])
            us = self.delta_swap(us, self.transpose_swaps)
            them = self.delta_swap(them, self.transpose_swaps)
        share = max(0, min(_KNOT_DISTANCE, discs - self.knots[knot]))
        score = early * (_KNOT_DISTANCE - share) + late * share
        unit = _KNOT_DISTANCE * WEIGHTS_PER_DISC
        score = (score + unit // 2) // unit
        return max(1 - self.win_score, min(self.win_score - 1, score))

    def pattern_index(self, us: Any, them: Any) -> Any:
        """Return the index of a pattern, given each side's discs in it as a mask."""
        return int(self.base3[us]) + 2 * int(self.base3[them])

    def gather_columns(self, diagonal: Any) -> Any:
        """Return a mask of 8 bits: the columns in which the discs of a diagonal lie."""
        return ((diagonal * self.column) & self.all_bits) >> word(56)

    def extract_corner(self, board: Any) -> Any:
        """Return the nine cells at the top left, as a mask of 9 bits."""
        row = word(7)
        second = (board >> word(5)) & (row << word(3))
        return (board & row) | second | ((board >> word(10)) & (row << word(6)))

    def delta_swap(self, board: Any, swaps: Any) -> Any:
        """Return a board after delta swaps such as `mirror_swaps`."""
        for shift, cells in swaps:
            differ = (board ^ (board >> shift)) & cells
            board = board ^ differ ^ (differ << shift)
        return board
