"""JSON: `{"game": "squava", "moves": ["b2", …], "result": "first"}`, one object per line."""

import json
from typing import Any

from zermelo.core.errors import BadRecord
from zermelo.core.game import Game
from zermelo.core.notation import quote_text
from zermelo.core.position import Outcome
from zermelo.records.record import Record, find_game, replay

_KEYS = {"game", "moves", "result"}
_OUTCOMES: dict[str | None, Outcome | None] = {o.value: o for o in Outcome} | {None: None}


def write(record: Record) -> str:
    """Write a game as one JSON object, whose result is first, second, draw or null."""
    result = record.outcome.value if record.outcome else None
    return json.dumps({"game": record.game.spec, "moves": record.moves, "result": result})


def read(text: str, game: Game | None) -> Record:
    """Read one JSON object, which must have exactly the expected keys, each of them once."""
    try:
        data = json.loads(text, object_pairs_hook=_refuse_duplicates)
    except (ValueError, RecursionError) as error:
        if isinstance(error, BadRecord):
            raise
        msg = f"line 1: not JSON: {error}"
        raise BadRecord(msg) from None
    if not isinstance(data, dict) or set(data) != _KEYS:
        msg = f"line 1: a record must be an object with the keys {', '.join(sorted(_KEYS))}"
        raise BadRecord(msg)
    spec, moves, result = data["game"], data["moves"], data["result"]
    if not isinstance(spec, str):
        msg = "line 1: game must be a string"
        raise BadRecord(msg)
    if not isinstance(moves, list) or not all(isinstance(move, str) for move in moves):
        msg = "line 1: moves must be a list of strings"
        raise BadRecord(msg)
    if not isinstance(result, str | None) or result not in _OUTCOMES:
        msg = f"line 1: result is {quote_text(str(result))}: it must be first, second, draw or null"
        raise BadRecord(msg)
    return replay(find_game(spec, game), moves, _OUTCOMES[result])


def _refuse_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    data: dict[str, Any] = {}
    for key, value in pairs:
        if key in data:
            msg = f"line 1: {quote_text(key)} occurs twice"
            raise BadRecord(msg)
        data[key] = value
    return data
