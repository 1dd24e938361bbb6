"""Drawing: a position as text with axes, and as SVG; one drawing for terminal, docs and notebooks.

Nothing here knows any rules: cells, lines and hints come from the position.
"""

from html import escape
from typing import TYPE_CHECKING

from zermelo.core.errors import ZermeloError

if TYPE_CHECKING:
    from zermelo.core.position import Position

_RESET, _BOLD, _DIM, _REVERSE = "\x1b[0m", "\x1b[1m", "\x1b[2m", "\x1b[7m"
_PLAYER_COLOURS = ("\x1b[1m", "\x1b[35m")  # bold and magenta read on dark and on light
_WIDEST = 80  # columns of a terminal that everybody has


def to_text(
    position: "Position", *, symbols: str = "", hints: bool = False, colour: bool = False
) -> str:
    """The board with axis labels.

    `symbols`: first player, second player, empty. `hints`: what to type, in the empty cells.
    `colour`: with ANSI codes; without, the last move and the winning line stand in brackets.

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
        msg = f"symbols is {symbols!r}: three are needed, for both players and an empty cell"
        raise ZermeloError(msg)
    line = set(position.winning_line or ())
    texts = []
    for cell, stone in enumerate(board):
        if stone:
            text = symbols[0 if stone > 0 else 1]
            if colour:
                style = _PLAYER_COLOURS[stone < 0] + (_BOLD if cell in line else "")
                style += _REVERSE if cell in line or cell == position.last_cell else ""
                texts.append((text, f" {style}{text}{_RESET} "))
            elif cell in line:
                texts.append((text, f"[{text}]"))
            else:
                texts.append((text, f"({text})" if cell == position.last_cell else f" {text} "))
        else:
            text = (game.cell_hint(position.state, cell) if hints else "") or symbols[2]
            texts.append((text, f" {_DIM}{text}{_RESET} " if colour else f" {text} "))
    return _with_axes(game.column_labels, game.grid.cols, texts)


def _with_axes(labels: tuple[str, ...], cols: int, texts: list[tuple[str, str]]) -> str:
    """Rows under their labels. A text is what a cell shows and how it is printed, with edges."""
    width = max(len(text) for text, _ in texts)
    width = max(width, *(len(label) for label in labels))
    margin = len(str(len(texts) // cols))
    gap = " " if margin + 1 + cols * (width + 3) - 2 <= _WIDEST else ""
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
    """The board as an SVG picture: marks for placed stones, discs where stones fall or flip."""
    game, board = position.game, position.board
    if game.grid is None or board is None:
        return _text_svg(game.draw(position.state))
    rows, cols = game.grid.rows, game.grid.cols
    width, height = cols * _CELL + _MARGIN + _EDGE, rows * _CELL + _MARGIN + _EDGE
    line = set(position.winning_line or ())
    parts = [
        f'<rect class="board" width="{width}" height="{height}" rx="6"/>',
        *_labels(game.column_labels, rows),
    ]
    for cell, stone in enumerate(board):
        x, y = _MARGIN + cell % cols * _CELL, _MARGIN + cell // cols * _CELL
        kind = ' class="line"' if cell in line else ' fill="#fffdf8"'
        parts.append(f'<rect{kind} x="{x}" y="{y}" width="{_CELL}" height="{_CELL}"/>')
        parts.append(
            f'<rect class="edge" fill="none" x="{x}" y="{y}" width="{_CELL}" height="{_CELL}"/>'
        )
        if stone:
            middle = (x + _CELL // 2, y + _CELL // 2)
            parts.append(
                _disc(*middle, game.disc_colours[stone < 0])
                if game.has_discs
                else _mark(*middle, stone)
            )
            if cell == position.last_cell and game.has_discs:
                parts.append(f'<circle class="last" cx="{x + 20}" cy="{y + 20}" r="4"/>')
            elif cell == position.last_cell:
                parts.append(
                    f'<rect x="{x + 2}" y="{y + 2}" width="{_CELL - 4}" height="{_CELL - 4}" '
                    'fill="none" stroke="#8a8578" stroke-dasharray="3 3"/>'
                )
    name = escape(title or f"{game.spec}: {position.verdict}")
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        f'width="{width}" height="{height}" role="img" aria-label="{name}">'
        f"<title>{name}</title><style>{_STYLE}</style>{''.join(parts)}</svg>"
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
