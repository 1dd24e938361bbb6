"""Drawings of a position: text with axes, and SVG, for terminals, documents and notebooks.

This module contains no rules: cells, lines and hints come from the position.
"""

from html import escape
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

from zermelo.core.errors import ZermeloError

if TYPE_CHECKING:
    from zermelo.core.position import Position

_RESET, _BOLD, _DIM, _REVERSE = "\x1b[0m", "\x1b[1m", "\x1b[2m", "\x1b[7m"
_PLAYER_COLOURS = ("\x1b[1m", "\x1b[35m")  # legible on dark and light backgrounds
_MAX_WIDTH = 80  # columns of a small terminal


def to_text(
    position: "Position", *, symbols: str = "", hints: bool = False, colour: bool = False
) -> str:
    """Return the board with axis labels.

    `symbols` are three characters, for the first player, the second player and an empty cell.
    With `hints`, each empty cell shows what to type to play there. With `colour`, the text has
    ANSI codes; without it, the last move and the winning line are in brackets.

    >>> import zermelo as z
    >>> print(z.game("tictactoe").position(moves="b2 a1").to_text(hints=True))
       a   b   c
    1 (O)  1   2
    2  3   X   5
    3  6   7   8
    """
    game, board = position.game, position.board
    if game.grid is None or board is None:
        return game.draw(position.state)
    symbols = symbols or f"{game.symbols}."
    if len(symbols) != 3:
        msg = f"symbols is {symbols!r}: it must be three characters, such as XO."
        raise ZermeloError(msg)
    line, last_cells = set(position.winning_line or ()), position.last_cells
    texts = []
    for cell, stone in enumerate(board):
        if stone:
            text = symbols[0 if stone > 0 else 1]
            is_last = cell in last_cells[-1:]
            texts.append((text, _draw_stone(text, stone, cell in line, is_last, colour=colour)))
        else:
            text = (game.cell_hint(position.state, cell) if hints else "") or symbols[2]
            is_left = cell in last_cells[:-1]
            texts.append((text, _draw_empty_cell(text, is_left, colour=colour)))
    return _add_axes(game.column_labels, game.grid.cols, texts)


def _draw_empty_cell(text: str, is_left: bool, *, colour: bool) -> str:
    """Return the text of an empty cell; if a piece has just left it, the cell is marked."""
    if colour:
        return f" {_DIM}{_REVERSE if is_left else ''}{text}{_RESET} "
    return f"({text})" if is_left else f" {text} "


def _draw_stone(text: str, stone: int, in_line: bool, is_last: bool, *, colour: bool) -> str:
    """Return the text of a cell that holds a stone, including marks and margins."""
    if colour:
        style = _PLAYER_COLOURS[stone < 0] + (_BOLD if in_line else "")
        style += _REVERSE if in_line or is_last else ""
        return f" {style}{text}{_RESET} "
    if in_line:
        return f"[{text}]"
    return f"({text})" if is_last else f" {text} "


def _add_axes(labels: tuple[str, ...], cols: int, texts: list[tuple[str, str]]) -> str:
    """Return the board with row and column labels.

    `texts` has a pair for each cell: its text, and its text with marks, colours and margins.
    """
    width = max(len(text) for text, _ in texts)
    width = max(width, *(len(label) for label in labels))
    margin = len(str(len(texts) // cols))
    gap = " " if margin + 1 + cols * (width + 3) - 2 <= _MAX_WIDTH else ""
    head = gap.join(f" {label:>{width}} " for label in labels)
    lines = [f"{'':{margin}} {head}".rstrip()]
    for row, begin in enumerate(range(0, len(texts), cols)):
        cells = (
            " " * (width - len(text)) + printed for text, printed in texts[begin : begin + cols]
        )
        lines.append(f"{row + 1:>{margin}} {gap.join(cells)}".rstrip())
    return "\n".join(lines)


_CELL, _MARGIN, _EDGE = 40, 26, 10
_STYLE = """
.board{fill:#f3efe6}.label{font:14px sans-serif;fill:#5b564c;text-anchor:middle}
.edge{stroke:#b8b1a2;stroke-width:1}.x{stroke:#1b6ca8}.o{stroke:#c2571a}
.x,.o{stroke-width:5;fill:none;stroke-linecap:round}
.disc{stroke:#3b382f;stroke-width:1}.last{fill:#c2571a;stroke:#fff}
.line{fill:#ffe08a}"""


def to_svg(position: "Position", *, title: str = "") -> str:
    """Return the board as an SVG picture, with discs or with marks, depending on the game.

    If the game's `draw_svg` returns a picture, return that picture instead.
    """
    game, board = position.game, position.board
    picture = game.draw_svg(position.state)
    if picture is not None:
        return picture
    if game.grid is None or board is None:
        return _text_svg(game.draw(position.state))
    rows, cols = game.grid.rows, game.grid.cols
    width, height = cols * _CELL + _MARGIN + _EDGE, rows * _CELL + _MARGIN + _EDGE
    parts = [
        f'<rect class="board" width="{width}" height="{height}" rx="6"/>',
        *_labels(game.column_labels, rows),
    ]
    line, last_cells = set(position.winning_line or ()), position.last_cells
    for cell, stone in enumerate(board):
        x, y = _MARGIN + cell % cols * _CELL, _MARGIN + cell // cols * _CELL
        parts += _cell(x, y, is_marked=cell in line)
        if stone:
            colour = game.disc_colours[stone < 0] if game.has_discs else None
            parts += _stone(x, y, stone, colour, is_last=cell in last_cells[-1:])
        elif cell in last_cells[:-1]:  # a piece has just left this cell
            parts.append(_frame(x, y))
    name = escape(title or f"{game.spec}: {position.verdict}")
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        f'width="{width}" height="{height}" role="img" aria-label="{name}">'
        f"<title>{name}</title><style>{_STYLE}</style>{''.join(parts)}</svg>"
    )


def is_svg(picture: object) -> bool:
    """Return whether an object is the text of one well-formed SVG element without declarations."""
    if not isinstance(picture, str) or not picture.startswith("<svg") or "<!" in picture:
        return False
    try:
        ET.fromstring(picture)  # noqa: S314 - without declarations there are no entities
    except ET.ParseError:
        return False
    return True


def _cell(x: int, y: int, *, is_marked: bool) -> list[str]:
    kind = ' class="line"' if is_marked else ' fill="#fffdf8"'
    size = f'x="{x}" y="{y}" width="{_CELL}" height="{_CELL}"'
    return [f"<rect{kind} {size}/>", f'<rect class="edge" fill="none" {size}/>']


def _stone(x: int, y: int, stone: int, disc_colour: str | None, *, is_last: bool) -> list[str]:
    """Return the SVG of a disc or, without a disc colour, a mark; the last move is highlighted."""
    middle = (x + _CELL // 2, y + _CELL // 2)
    if disc_colour is not None:
        last = f'<circle class="last" cx="{x + 20}" cy="{y + 20}" r="4"/>'
        return [_disc(*middle, disc_colour), *[last] * is_last]
    return [_mark(*middle, stone), *[_frame(x, y)] * is_last]


def _frame(x: int, y: int) -> str:
    """Return a dashed frame in a cell, which marks the last move."""
    return (
        f'<rect x="{x + 2}" y="{y + 2}" width="{_CELL - 4}" height="{_CELL - 4}" '
        'fill="none" stroke="#8a8578" stroke-dasharray="3 3"/>'
    )


def _labels(columns: tuple[str, ...], rows: int) -> list[str]:
    middle = _MARGIN + _CELL // 2
    return [
        f'<text class="label" x="{middle + col * _CELL}" y="{_MARGIN - 9}">{escape(label)}</text>'
        for col, label in enumerate(columns)
    ] + [
        f'<text class="label" x="{_MARGIN // 2}" y="{middle + row * _CELL + 5}">{row + 1}</text>'
        for row in range(rows)
    ]


def _disc(x: int, y: int, colour: str) -> str:
    return f'<circle class="disc" fill="{colour}" cx="{x}" cy="{y}" r="16"/>'


def _mark(x: int, y: int, stone: int) -> str:
    if stone > 0:
        left, right, top, bottom = x - 11, x + 11, y - 11, y + 11
        strokes = f"M{left} {top}L{right} {bottom}M{right} {top}L{left} {bottom}"
        return f'<path class="x" d="{strokes}"/>'
    return f'<circle class="o" cx="{x}" cy="{y}" r="12"/>'


def _text_svg(text: str) -> str:
    lines = text.splitlines() or [""]
    width, height = 20 + 9 * max(len(line) for line in lines), 16 + 18 * len(lines)
    body = "".join(
        f'<text x="10" y="{24 + 18 * i}" xml:space="preserve">{escape(line)}</text>'
        for i, line in enumerate(lines)
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'font-family="monospace" font-size="15">{body}</svg>'
    )
