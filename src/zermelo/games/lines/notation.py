"""Moves of line games as text: parse the accepted forms, and write a cell as digits."""

from typing import TYPE_CHECKING

from zermelo.core import notation
from zermelo.core.errors import BadMove

if TYPE_CHECKING:
    from zermelo.games.lines.rules import LineGame

MAX_DIGIT = 9  #: the largest row or column that one digit can name


def parse_action(game: "LineGame", text: str) -> int:
    """Return the action that a move names, legal or not.

    Raise BadMove if the text names no action; the message lists the accepted forms.
    """
    text = text.strip().lower()
    if game.gravity:
        return _parse_column(game, text)
    if game.pie and text == "swap":
        return game.grid.size
    if not (text.isascii() and text.isdecimal()):
        return game.grid.parse(text)
    if game.lose:
        return _parse_row_col(game, text)
    number = notation.parse_number(text)
    if number is None or number >= game.grid.size:
        raise _outside(game, text)
    return number


def _parse_column(game: "LineGame", text: str) -> int:
    number = notation.parse_number(text)
    if number is None and len(text) == 1 and text in "abcdefghijklmnopqrst":
        number = ord(text) - ord("a") + 1
    if number is None or not 1 <= number <= game.cols:
        msg = f"{notation.quote_text(text)} is not a column: {move_forms(game)}"
        raise BadMove(msg)
    return number - 1


def _parse_row_col(game: "LineGame", text: str) -> int:
    """Parse a cell of two digits, row and column: `12` is row 1, column 2, as usual in Squava."""
    if _has_digit_form(game) and len(text) == 2:
        row, col = int(text[0]) - 1, int(text[1]) - 1
        if 0 <= row < game.rows and 0 <= col < game.cols:
            return row * game.cols + col
    raise _outside(game, text)


def _has_digit_form(game: "LineGame") -> bool:
    return max(game.rows, game.cols) <= MAX_DIGIT


def _outside(game: "LineGame", text: str) -> BadMove:
    where = f"outside the {game.grid} board"
    return BadMove(f"{notation.quote_text(text)} is {where}: {move_forms(game)}")


def short_form(game: "LineGame", cell: int) -> str:
    """Return the digits that `parse_action` accepts for a cell, or "" if there are none."""
    if not game.lose:
        return str(cell)
    row, col = divmod(cell, game.cols)
    return f"{row + 1}{col + 1}" if _has_digit_form(game) else ""


def move_forms(game: "LineGame") -> str:
    """Describe the accepted forms of a move, for prompts and errors."""
    last = game.grid.size - 1
    if game.gravity:
        return f"columns 1 to {game.cols} (or letters a to {game.grid.letters[-1]})"
    forms = f"cells a1 to {game.grid.text(last)}"
    if not game.lose:
        forms += f", or indices 0 to {last}"
    elif _has_digit_form(game):
        forms += f", or row and column 11 to {short_form(game, last)}"
    return f"{forms}, or swap" if game.pie else forms
