"""PSQ, Piskvork's format: a header with the board's size, then `x,y,ms` lines from 1.

    Piskvorky 15x15, 11:11, 0
    8,8,0
    9,8,120
    first
    second
    -1

The header gives width x height and no rules, so a board is free-style Gomoku unless the caller
names the game. What follows the moves (the players' names, the winner) is not ours to trust: the
rules decide who won.
"""

import re

from zermelo.core.errors import BadRecord
from zermelo.core.game import Game
from zermelo.core.notation import shown
from zermelo.games import registry
from zermelo.games.lines.rules import LineGame
from zermelo.records.record import Record, replay

_HEADER = re.compile(r"Piskvorky ([0-9]{1,2})x([0-9]{1,2}), *[0-9]+:[0-9]+, *[0-9]+")
_MOVE = re.compile(r"([0-9]{1,2}),([0-9]{1,2}),([0-9]{1,9})")
_NUMBER_LINES = re.compile(r"[0-9,]+")


def write(record: Record) -> str:
    """The moves without times."""
    game = _checked(record.game)
    if "swap" in record.moves:
        msg = "PSQ has no swap: this game cannot be written in it"
        raise BadRecord(msg)
    if record.is_resigned:
        msg = "PSQ has no resignation: this game cannot be written in it"
        raise BadRecord(msg)
    lines = [f"Piskvorky {game.cols}x{game.rows}, 11:11, 0"]
    for action in record.position.history or ():
        row, col = game.grid.row_col(action)
        lines.append(f"{col + 1},{row + 1},0")
    return "\n".join([*lines, "first", "second", "-1"]) + "\n"


def read(text: str, game: Game | None) -> Record:
    """A header, then moves until the first line that is none."""
    lines = text.splitlines()
    header = _HEADER.fullmatch(lines[0].strip()) if lines else None
    if header is None:
        first = shown(lines[0]) if lines else "nothing"
        msg = f"line 1: {first} is no PSQ header: Piskvorky 15x15, 11:11, 0"
        raise BadRecord(msg)
    cols, rows = int(header[1]), int(header[2])
    rules = _checked(game or _free_style(rows, cols))
    if (rules.rows, rules.cols) != (rows, cols):
        msg = f"line 1: the board is {rows} rows x {cols} columns, {rules.spec} has {rules.grid}"
        raise BadRecord(msg)
    moves, places = [], []
    for number, line in enumerate(lines[1:], 2):
        found = _MOVE.fullmatch(line.strip())
        if found is None:
            break
        col, row = int(found[1]) - 1, int(found[2]) - 1
        if not (0 <= row < rows and 0 <= col < cols):
            msg = f"line {number}: {line.strip()} is outside the board of {cols} x {rows}"
            raise BadRecord(msg)
        moves.append(rules.grid.text(row * cols + col))
        places.append(number)
    _check_rest(lines, 2 + len(moves))
    return replay(rules, moves, None, lines=places)


def _check_rest(lines: list[str], number: int) -> None:
    """After the moves come names and one result: no more moves, no second result."""
    rest = lines[number - 1 :]
    results = 0
    for offset, line in enumerate(rest):
        text = line.strip()
        results += bool(re.fullmatch(r"-?[0-9]", text))
        if "," in text and _NUMBER_LINES.fullmatch(text):
            msg = f"line {number + offset}: {shown(text)} is no move: x,y,ms from 1"
            raise BadRecord(msg)
        if results > 1:
            msg = f"line {number + offset}: two results"
            raise BadRecord(msg)
        if len(text) > 200 or not text.isprintable():
            msg = f"line {number + offset}: {shown(text)} has no place in PSQ"
            raise BadRecord(msg)
    if len(rest) > 10:
        msg = f"line {number + 10}: {len(rest)} lines after the moves: names and a result are all"
        raise BadRecord(msg)


def _free_style(rows: int, cols: int) -> Game:
    spec = f"gomoku:size={rows}" if rows == cols else f"mnk:{rows}x{cols}x5"
    return registry.named_game(spec)


def _checked(game: Game) -> LineGame:
    if not isinstance(game, LineGame) or game.gravity:
        msg = f"PSQ is for line games without gravity, not for {game.spec}"
        raise BadRecord(msg)
    return game
