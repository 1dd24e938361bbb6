"""Notation: convert between a cell's index, (row, column) and name; parse and format boards.

Cells are `a1`, `b1`, …: a column letter, then the row number from the **top**, so `a1` is top
left and index 0. Input is checked here, once.
"""

import re
from dataclasses import dataclass
from functools import cached_property

from zermelo.core.errors import BadBoard, BadMove

MAX_SIDE = 20
_CELL = re.compile(r"([a-z])([1-9][0-9]?)")
_NUMBER = re.compile(r"0|[1-9][0-9]{0,3}")


@dataclass(frozen=True)
class Grid:
    """A board of rows x cols cells, indexed row by row from the top left.

    >>> grid = Grid(3, 4)
    >>> grid.index(1, 2), grid.row_col(6), grid.text(6), grid.parse("c2")
    (6, (1, 2), 'c2', 6)
    >>> "d3" in grid, "e1" in grid
    (True, False)
    """

    rows: int
    cols: int

    @cached_property
    def size(self) -> int:
        """The number of cells."""
        return self.rows * self.cols

    def index(self, row: int, col: int) -> int:
        """Return the index of a cell; raise BadMove if it is off the board. Numbers start at 0."""
        if not (0 <= row < self.rows and 0 <= col < self.cols):
            msg = (
                f"row {row}, column {col} is outside the {self} board: "
                f"rows 0-{self.rows - 1}, columns 0-{self.cols - 1}"
            )
            raise BadMove(msg)
        return row * self.cols + col

    def row_col(self, index: int) -> tuple[int, int]:
        """Return the row and the column of a cell, counted from 0."""
        self._check(index)
        return divmod(index, self.cols)

    def text(self, index: int) -> str:
        """Return the name of a cell, such as `a1`."""
        self._check(index)
        row, col = divmod(index, self.cols)
        return f"{chr(ord('a') + col)}{row + 1}"

    def parse(self, text: str) -> int:
        """Return the index of the cell with this name; raise BadMove if there is no such cell."""
        match = _CELL.fullmatch(text.strip().lower())
        if not match:
            msg = f"{quote_text(text)} is not a cell: {self.cells_text}"
            raise BadMove(msg)
        row, col = int(match[2]) - 1, ord(match[1]) - ord("a")
        if row >= self.rows or col >= self.cols:
            msg = f"{quote_text(text)} is outside the {self} board: {self.cells_text}"
            raise BadMove(msg)
        return row * self.cols + col

    def __contains__(self, text: object) -> bool:
        """Return whether a text names a cell of this board."""
        try:
            self.parse(str(text))
        except BadMove:
            return False
        return True

    def __str__(self) -> str:
        """Return rows x columns, such as `6x7`."""
        return f"{self.rows}x{self.cols}"

    @cached_property
    def letters(self) -> tuple[str, ...]:
        """The letters of the columns."""
        return tuple(chr(ord("a") + col) for col in range(self.cols))

    @property
    def cells_text(self) -> str:
        """The range of valid cells, for error messages."""
        return f"cells run from a1 to {self.text(self.size - 1)}"

    def _check(self, index: int) -> None:
        if not 0 <= index < self.size:
            msg = f"{index} is outside the {self} board: indices run from 0 to {self.size - 1}"
            raise BadMove(msg)


def parse_number(text: str) -> int | None:
    """Return the number that ASCII digits without leading zeros denote; None for other texts."""
    text = text.strip()
    return int(text) if _NUMBER.fullmatch(text) else None


def quote_text(text: str, limit: int = 40) -> str:
    """Return a text quoted, escaped and shortened, for use in error messages."""
    return ascii(text) if len(text) <= limit else f"{ascii(text[:limit])[:-1]}…'"


def show_value(value: object, limit: int = 60) -> str:
    """Return the repr of a value of the wrong type, escaped and shortened, for error messages.

    >>> show_value(None), show_value(["random"])
    ('None', "['random']")
    """
    text = ascii(value)
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


def split_moves(text: str) -> list[str]:
    """Split moves that are separated by spaces or commas.

    >>> split_moves("a1, b2  c3")
    ['a1', 'b2', 'c3']
    """
    return text.replace(",", " ").split()


_STONES = {"X": 1, "O": -1, ".": 0, "-": 0}


def parse_board(text: str, grid: Grid) -> tuple[tuple[int, ...], int | None]:
    """Return the cells of a board and the side to move (None if the text does not name it).

    A cell is +1 (first player), -1 (second player) or 0. Raise BadBoard if the text is not a board.

    >>> parse_board("X../.O./... X", Grid(3, 3))
    ((1, 0, 0, 0, -1, 0, 0, 0, 0), 0)
    """
    parts = text.split()
    sides: dict[str, int] = {"X": 0, "O": 1}
    if len(parts) not in (1, 2) or (len(parts) == 2 and parts[1] not in sides):
        msg = (
            f"{quote_text(text)} is not a board: write rows of X, O and . from the top, separated "
            "by / or nothing, then optionally a space and the side to move, X or O"
        )
        raise BadBoard(msg)
    rows = parts[0].split("/")
    wrong = sorted(set(parts[0]) - set(_STONES) - {"/"})
    if wrong:
        msg = f"{quote_text(wrong[0])} is not a cell: a cell must be X, O, . or -"
        raise BadBoard(msg)
    if len(rows) > 1 and (len(rows) != grid.rows or any(len(row) != grid.cols for row in rows)):
        sizes = " ".join(str(len(row)) for row in rows[: MAX_SIDE + 1])
        msg = f"the {grid} board needs {grid.rows} rows of {grid.cols} cells, not rows of {sizes}"
        raise BadBoard(msg)
    cells = tuple(_STONES[char] for char in "".join(rows))
    if len(cells) != grid.size:
        msg = f"{len(cells)} cells were given, but the {grid} board has {grid.size}"
        raise BadBoard(msg)
    return cells, sides[parts[1]] if len(parts) == 2 else None


MOVES_LINE = "moves:"  #: how a last line begins that lists the moves of a position
_SIDE_LINE = re.compile(r"(\S) (?:to move|would be next)")
_COLOURS = re.compile(r"\x1b\[[0-9;]*m")
_MARKS = str.maketrans("", "", " \t()[]")  # the last move and the winning line are in brackets


def flatten_drawing(text: str, labels: tuple[str, ...], symbols: str) -> str:
    r"""Convert a board drawn on several lines to the one-line text that `parse_board` reads.

    The labels of columns and rows may be left out. The last line may name the side to move.

    >>> flatten_drawing("   a   b\n1  X   .\n2  .  (O)\nX to move", ("a", "b"), "XO")
    'X./.O X'
    """
    lines = [line.strip() for line in _COLOURS.sub("", text).splitlines() if line.strip()]
    side = _SIDE_LINE.fullmatch(lines[-1])
    rows = lines[:-1] if side else lines
    if rows and rows[0].split() == list(labels):
        rows = rows[1:]
    unlabelled = (row.removeprefix(str(number)) for number, row in enumerate(rows, 1))
    board = "/".join(row.translate(_MARKS) for row in unlabelled)
    flat = f"{board} {side[1]}" if side else board
    return flat.translate(str.maketrans(symbols, "XO"))


def format_board(cells: tuple[int, ...], grid: Grid, player: int) -> str:
    """Return the text that `parse_board` reads: rows separated by `/`, then the side to move.

    >>> format_board((1, 0, 0, -1), Grid(2, 2), 0)
    'X./.O X'
    """
    text = "".join(".XO"[stone] for stone in cells)
    rows = (text[i : i + grid.cols] for i in range(0, grid.size, grid.cols))
    return f"{'/'.join(rows)} {'XO'[player]}"
