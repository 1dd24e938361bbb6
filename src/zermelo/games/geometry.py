"""Lines of cells on a rectangular board: directions, shifts of whole boards, and runs of stones.

In a mask, bit i is cell i, row by row from the top left, as in `zermelo.core.notation.Grid`. Both
families of games use this module, which depends only on `zermelo.core`.
"""

from zermelo.core.bitboard import Word, bits
from zermelo.core.notation import Grid

#: The four directions of lines as (rows down, columns right).
DIRECTIONS = ((0, 1), (1, 0), (1, 1), (1, -1))

#: A shift of a whole board: (distance in bits towards lower bits, mask of the target cells). The
#: mask removes bits that wrapped around an edge of the board.
Shift = tuple[Word, Word]


def board_shift(grid: Grid, down: int, right: int) -> Shift:
    """Return the shift that moves every stone up by `down` rows and left by `right` columns.

    The mask holds the cells to which a cell of the board moves. If the mask is empty, the distance
    is 0, because a shift by 64 or more is undefined for a word.
    """
    cells = (
        row * grid.cols + col
        for row in range(grid.rows)
        for col in range(grid.cols)
        if 0 <= row + down < grid.rows and 0 <= col + right < grid.cols
    )
    inside = sum(1 << cell for cell in cells)
    return (down * grid.cols + right if inside else 0, inside)


def line_shifts(grid: Grid, length: int, depth: int) -> tuple[tuple[Shift, ...], ...]:
    """Return, for each direction, `depth` shifts that find the lines of `length` in a mask.

    Applying `stones & (stones >> distance) & inside` for each shift in turn leaves the first
    cells of all lines of `length` in that direction. Each shift at most doubles the length of the
    lines found, so `depth` must be at least the base-2 logarithm of `length`.
    """
    jumps, known = [], 1
    while known < length:
        jumps.append(min(known, length - known))
        known += jumps[-1]
    jumps += [0] * (depth - len(jumps))  # a jump of 0 changes nothing
    return tuple(
        tuple(board_shift(grid, down * jump, right * jump) for jump in jumps)
        for down, right in DIRECTIONS
    )


def end_shifts(grid: Grid, length: int) -> tuple[tuple[Shift, Shift], ...]:
    """Return, for each direction, the shifts that move a line's two neighbours to its first cell.

    The first shift moves the cell before the line; its distance is towards higher bits. The
    second shift moves the cell after the line.
    """
    ends = []
    for down, right in DIRECTIONS:
        back, has_back = board_shift(grid, -down, -right)
        ends.append(((-back, has_back), board_shift(grid, down * length, right * length)))
    return tuple(ends)


def window_masks(grid: Grid, length: int) -> tuple[tuple[Word, Word], ...]:
    """Return (mask of the first cells of all lines of `length`, step) for each direction.

    The step is the distance from one cell of a line to the next.
    """
    masks = []
    for down, right in DIRECTIONS:
        _, firsts = board_shift(grid, down * (length - 1), right * (length - 1))
        masks.append((firsts, down * grid.cols + right if firsts else 0))
    return tuple(masks)


def list_windows(grid: Grid, length: int) -> list[tuple[int, int]]:
    """Return every line of `length` on the board as (first cell, step between its cells)."""
    return [(cell, step) for firsts, step in window_masks(grid, length) for cell in bits(firsts)]


def run_from(grid: Grid, stones: Word, first: int, length: int, *, exact: bool) -> tuple[int, ...]:
    """Return the cells of the whole run of `stones` that begins on cell `first`.

    The run has at least `length` stones; with `exact`, it has exactly `length`. The caller must
    know that such a run exists.
    """
    row, col = divmod(first, grid.cols)
    for down, right in DIRECTIONS:
        if _holds(grid, stones, row - down, col - right):
            continue
        count = 1
        while _holds(grid, stones, row + down * count, col + right * count):
            count += 1
        if count == length or (count > length and not exact):
            return tuple(first + place * (down * grid.cols + right) for place in range(count))
    msg = f"no line of {length} begins on cell {first}"
    raise AssertionError(msg)


def _holds(grid: Grid, stones: Word, row: int, col: int) -> bool:
    is_inside = 0 <= row < grid.rows and 0 <= col < grid.cols
    return is_inside and bool(stones >> (row * grid.cols + col) & 1)
