"""Two formats without separators: digits for Connect Four, and transcripts for Reversi."""

import re

from zermelo.core.errors import BadRecord
from zermelo.core.game import Game
from zermelo.core.notation import quote_text
from zermelo.games import registry
from zermelo.games.lines.rules import LineGame
from zermelo.games.reversi.rules import Reversi
from zermelo.records.record import Record, replay

_TRANSCRIPT = re.compile(r"(?:[a-h][1-8]|pass|\s)*")
_MOVE = re.compile(r"[a-h][1-8]|pass")


def write_digits(record: Record) -> str:
    """Write the columns of the moves, as in `4455`; with more than 9 columns, add spaces."""
    game = _require_columns(record.game)
    _refuse_resignation(record)
    return ("" if game.cols <= 9 else " ").join(record.moves)


def read_digits(text: str, game: Game | None) -> Record:
    """Read the column of each move; if `game` is None, the game is Connect Four on 6x7."""
    rules = _require_columns(game or registry.named_game("connect4"))
    wrong = re.search(r"[^0-9 \r\n]", text)
    if wrong:
        msg = f"line 1: {quote_text(wrong[0])} is not a column"
        raise BadRecord(msg)
    return replay(rules, rules.split_moves(text), None)


def write_transcript(record: Record) -> str:
    """Write the cell of each move, as in `f5d6c3`; omit passes, except as the last move."""
    _require_reversi(record.game)
    _refuse_resignation(record)
    moves = record.moves
    return "".join(m for ply, m in enumerate(moves, 1) if m != "pass" or ply == len(moves))


def read_transcript(text: str, game: Game | None) -> Record:
    """Read the cell of each move; passes may be omitted. By default, the game is 8x8 Reversi."""
    rules = _require_reversi(game or registry.named_game("reversi"))
    text = text.lower()
    match = _TRANSCRIPT.match(text)
    assert match is not None
    if match.end() != len(text):
        wrong = quote_text(text[match.end() :], 12)
        msg = f"line 1: {wrong} is not a cell: a transcript consists of cells, as in f5d6c3"
        raise BadRecord(msg)
    moves: list[str] = []
    position = rules.start()
    for move in _MOVE.findall(text):
        if position.legal == ["pass"] and move != "pass":
            moves.append("pass")
            position = position.play("pass")
        moves.append(move)
        if position.is_over or move not in position.legal:
            break  # `replay` reports the error
        position = position.play(move)
    return replay(rules, moves, None)


def _require_columns(game: Game) -> LineGame:
    if not isinstance(game, LineGame) or not game.gravity:
        msg = f"the digits format is for Connect Four, not for {game.spec}"
        raise BadRecord(msg)
    return game


def _require_reversi(game: Game) -> Reversi:
    if not isinstance(game, Reversi):
        msg = f"the transcript format is for Reversi, not for {game.spec}"
        raise BadRecord(msg)
    return game


def _refuse_resignation(record: Record) -> None:
    if record.is_resigned:
        msg = "the game ended by resignation, but this format cannot represent results"
        raise BadRecord(msg)
