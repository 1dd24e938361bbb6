"""Moves without separators: digits for Connect Four, a transcript for Reversi."""

import re

from zermelo.core.errors import BadRecord
from zermelo.core.game import Game
from zermelo.core.notation import shown
from zermelo.core.position import Outcome
from zermelo.games import registry
from zermelo.games.lines.rules import LineGame
from zermelo.games.reversi.rules import Reversi
from zermelo.records.record import Record, replay

_CELLS = re.compile(r"(?:[a-h][1-8]|pass|\s)*")
_MOVE = re.compile(r"[a-h][1-8]|pass")


def write_digits(record: Record) -> str:
    """`4455`; with more than 9 columns the numbers are separated by spaces."""
    game = _columns(record.game)
    _refuse_resignation(record)
    return ("" if game.cols <= 9 else " ").join(record.moves)


def read_digits(text: str, game: Game | None) -> Record:
    """Connect Four on 6x7 unless another game is given."""
    rules = _columns(game or registry.named_game("connect4"))
    wrong = re.search(r"[^0-9 \r\n]", text)
    if wrong:
        msg = f"line 1: {shown(wrong[0])} in a line of columns"
        raise BadRecord(msg)
    return replay(rules, rules.split(text), None)


def write_transcript(record: Record) -> str:
    """`f5d6c3`: cells one after the other; of passes only one at the very end is written."""
    if not isinstance(record.game, Reversi):
        msg = f"a transcript is for Reversi, not for {record.game.spec}"
        raise BadRecord(msg)
    _refuse_resignation(record)
    moves = record.moves
    return "".join(m for ply, m in enumerate(moves, 1) if m != "pass" or ply == len(moves))


def read_transcript(text: str, game: Game | None) -> Record:
    """Reversi on 8x8 unless another is given; a forced pass may be written or left out."""
    rules = game or registry.named_game("reversi")
    if not isinstance(rules, Reversi):
        msg = f"a transcript is for Reversi, not for {rules.spec}"
        raise BadRecord(msg)
    text = text.lower()
    good = _CELLS.match(text)
    assert good is not None
    if good.end() != len(text):
        msg = f"line 1: {shown(text[good.end() :], 12)} in a transcript: it is cells such as f5d6c3"
        raise BadRecord(msg)
    moves: list[str] = []
    position = rules.start()
    for move in _MOVE.findall(text):
        if position.legal == ["pass"] and move != "pass":
            moves.append("pass")
            position = position.play("pass")
        moves.append(move)
        if position.is_over or move not in position.legal:
            break  # `replay` says what is wrong with it
        position = position.play(move)
    return replay(rules, moves, None)


def _columns(game: Game) -> LineGame:
    if not isinstance(game, LineGame) or not game.gravity:
        msg = f"a line of columns is for Connect Four, not for {game.spec}"
        raise BadRecord(msg)
    return game


def _refuse_resignation(record: Record) -> None:
    if record.is_resigned:
        outcome: Outcome | None = record.outcome
        assert outcome is not None
        msg = f"the game ended by resignation ({outcome.value} won): this format has no results"
        raise BadRecord(msg)
