"""JSON: `{"game": "squava", "moves": ["b2", …], "result": "first"}`, one object a line."""

import json
from typing import Any

from zermelo.core.errors import BadRecord
from zermelo.core.game import Game
from zermelo.core.notation import shown
from zermelo.core.position import Outcome
from zermelo.records.record import Record, named, replay

_KEYS = {"game", "moves", "result"}


def write(record: Record) -> str:
    """One object; the result is first, second, draw or null."""
    result = record.outcome.value if record.outcome else None
    return json.dumps({"game": record.game.spec, "moves": record.moves, "result": result})


def read(text: str, game: Game | None) -> Record:
    """One object with exactly these keys, each once."""
    try:
        data = json.loads(text, object_pairs_hook=_once)
    except (ValueError, RecursionError) as error:
        if isinstance(error, BadRecord):
            raise
        msg = f"line 1: not JSON: {error}"
        raise BadRecord(msg) from None
    if not isinstance(data, dict) or set(data) != _KEYS:
        msg = f"line 1: a record is an object with the keys {', '.join(sorted(_KEYS))}"
        raise BadRecord(msg)
    moves, result = data["moves"], data["result"]
    if not isinstance(data["game"], str) or not isinstance(moves, list):
        msg = "line 1: game is a text and moves a list of texts"
        raise BadRecord(msg)
    if not all(isinstance(move, str) for move in moves):
        msg = "line 1: moves is a list of texts"
        raise BadRecord(msg)
    outcomes: dict[Any, Outcome | None] = {o.value: o for o in Outcome} | {None: None}
    if not isinstance(result, str | None) or result not in outcomes:
        msg = f"line 1: result is {shown(str(result))}: it can be first, second, draw or null"
        raise BadRecord(msg)
    return replay(named(data["game"], game), moves, outcomes[result])


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    keys = [key for key, _ in pairs]
    twice = next((key for key in keys if keys.count(key) > 1), None) if len(keys) < 100 else "keys"
    if twice is not None:
        msg = f"line 1: two {shown(twice)}"
        raise BadRecord(msg)
    return dict(pairs)
