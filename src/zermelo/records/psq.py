"""PSQ, Piskvork's format: a header with the board size, then lines `x,y,ms` (x, y from 1).

    Piskvorky 15x15, 11:11, 0
    8,8,0
    9,8,120
    first
    second
    -1

The header gives width x height but no rules, so the game is free-style Gomoku unless the caller
names it. The names and the result after the moves are not read: the rules decide who won.
"""

import re

from zermelo.core.errors import BadRecord
from zermelo.core.game import Game
from zermelo.core.notation import quote_text
from zermelo.games import registry
from zermelo.games.lines.rules import LineGame
from zermelo.records.record import Record, replay

_HEADER = re.compile(r"Piskvorky ([0-9]{1,2})x([0-9]{1,2}), *[0-9]+:[0-9]+, *[0-9]+")
_MOVE = re.compile(r"([0-9]{1,2}),([0-9]{1,2}),([0-9]{1,9})")
_NUMBERS = re.compile(r"[0-9,]+")


def write(record: Record) -> str:
    """Write a game in PSQ; the time of every move is written as 0."""
    game = _require_line_game(record.game)
    if "swap" in record.moves:
        msg = "the PSQ format cannot represent a swap, so this game cannot be written as PSQ"
        raise BadRecord(msg)
    if record.is_resigned:
        msg = "the PSQ format cannot represent a resignation, so this game cannot be written as PSQ"
        raise BadRecord(msg)
    lines = [f"Piskvorky {game.cols}x{game.rows}, 11:11, 0"]
    for action in record.position.history or ():
        row, col = game.grid.row_col(action)
        lines.append(f"{col + 1},{row + 1},0")
    return "\n".join([*lines, "first", "second", "-1"]) + "\n"


def read(text: str, game: Game | None) -> Record:
    """Read the header, then moves up to the first line that is not a move."""
    lines = text.splitlines()
    header = _HEADER.fullmatch(lines[0].strip()) if lines else None
    if header is None:
        first = quote_text(lines[0]) if lines else "an empty file"
        msg = f"line 1: {first} is not a PSQ header such as Piskvorky 15x15, 11:11, 0"
        raise BadRecord(msg)
    cols, rows = int(header[1]), int(header[2])
    rules = _require_line_game(game or _free_style(rows, cols))
    if (rules.rows, rules.cols) != (rows, cols):
        msg = f"line 1: the board has {rows} rows x {cols} columns, {rules.spec} has {rules.grid}"
        raise BadRecord(msg)
    moves, move_lines = [], []
    for number, line in enumerate(lines[1:], 2):
        match = _MOVE.fullmatch(line.strip())
        if match is None:
            break
        col, row = int(match[1]) - 1, int(match[2]) - 1
        if not (0 <= row < rows and 0 <= col < cols):
            msg = f"line {number}: {line.strip()} is outside the {cols} x {rows} board"
            raise BadRecord(msg)
        moves.append(rules.grid.text(row * cols + col))
        move_lines.append(number)
    _check_rest(lines, 2 + len(moves))
    return replay(rules, moves, None, lines=move_lines)


def _check_rest(lines: list[str], number: int) -> None:
    """Raise BadRecord if the lines after the moves contain more moves or a second result."""
    rest = lines[number - 1 :]
    results = 0
    for offset, line in enumerate(rest):
        text = line.strip()
        results += bool(re.fullmatch(r"-?[0-9]", text))
        if "," in text and _NUMBERS.fullmatch(text):
            msg = (
                f"line {number + offset}: {quote_text(text)} is not a move: "
                "write x,y,ms, with x and y counted from 1"
            )
            raise BadRecord(msg)
        if results > 1:
            msg = f"line {number + offset}: there are two results"
            raise BadRecord(msg)
        if len(text) > 200 or not text.isprintable():
            msg = f"line {number + offset}: {quote_text(text)} is not valid in PSQ"
            raise BadRecord(msg)
    if len(rest) > 10:
        msg = f"line {number + 10}: {len(rest)} lines follow the moves, but 3 are expected"
        raise BadRecord(msg)


def _free_style(rows: int, cols: int) -> Game:
    spec = f"gomoku:size={rows}" if rows == cols else f"mnk:{rows}x{cols}x5"
    return registry.named_game(spec)


def _require_line_game(game: Game) -> LineGame:
    if not isinstance(game, LineGame) or game.gravity:
        msg = f"PSQ is for line games without gravity, not for {game.spec}"
        raise BadRecord(msg)
    return game
