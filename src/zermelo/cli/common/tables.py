"""Tables of plain text whose cells are wrapped if the table is wider than the terminal."""

import textwrap
from collections.abc import Sequence

_GAP = "  "  # between columns
_MIN_WIDTH = 8  # columns are made no narrower than this, and no narrower than a word


def table_lines(rows: Sequence[tuple[str, ...]], max_width: int | None) -> list[list[str]]:
    """Return the lines of each row of a table; `max_width` is None if cells must not be wrapped.

    >>> for lines in table_lines([("a", "one two three four five six"), ("b", "two")], 21):
    ...     print(lines)
    ['a  one two three four', '   five six']
    ['b  two']
    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    if max_width is not None:
        words = [
            [word for cell in column for word in cell.split()] for column in zip(*rows, strict=True)
        ]
        least = [max(_MIN_WIDTH, *map(len, column), 0) for column in words]
        widths = _shrink(widths, least, max_width - len(_GAP) * (len(widths) - 1))
    return [_row_lines(row, widths) for row in rows]


def _shrink(widths: list[int], least: list[int], total: int) -> list[int]:
    """Make the widest columns narrower until all fit into `total`, but none below its minimum."""
    widths = list(widths)
    while sum(widths) > total:
        spare = [(width, i) for i, width in enumerate(widths) if width > least[i]]
        if not spare:
            break
        widths[max(spare)[1]] -= 1
    return widths


def _row_lines(row: tuple[str, ...], widths: list[int]) -> list[str]:
    cells = [
        textwrap.wrap(cell, width, break_on_hyphens=False) if len(cell) > width else [cell]
        for cell, width in zip(row, widths, strict=True)
    ]
    height = max(map(len, cells))
    columns = [cell + [""] * (height - len(cell)) for cell in cells]
    return [
        _GAP.join(f"{part:{width}}" for part, width in zip(line, widths, strict=True)).rstrip()
        for line in zip(*columns, strict=True)
    ]
