"""Text: `squava b2 c3 a1 … 1-0`, one game per line: spec, moves, result (`*` if unfinished)."""

from zermelo.core.errors import BadRecord
from zermelo.core.game import Game
from zermelo.core.position import Outcome
from zermelo.records.record import Record, find_game, replay

RESULTS = {"1-0": Outcome.FIRST, "0-1": Outcome.SECOND, "1/2-1/2": Outcome.DRAW, "*": None}
_TEXTS = {outcome: text for text, outcome in RESULTS.items()}


def write(record: Record) -> str:
    """Write a game as one line; raise BadRecord if its spec contains spaces."""
    if len(record.game.spec.split()) != 1:
        msg = f"the spec {record.game.spec} contains spaces: this format cannot hold it"
        raise BadRecord(msg)
    return " ".join([record.game.spec, *record.moves, _TEXTS[record.outcome]])


def read(text: str, game: Game | None) -> Record:
    """Read a game from one line: the spec, the moves and, as the last word, the result."""
    words = text.split()
    if len(text.strip().splitlines()) > 1 or len(words) < 2:
        msg = "line 1: a record must be one line with the game's spec, the moves and the result"
        raise BadRecord(msg)
    rules = find_game(words[0], game)
    results = [word for word in words[1:] if word in RESULTS]
    if len(results) > 1:
        msg = f"line 1: there are two results, {results[0]} and {results[1]}"
        raise BadRecord(msg)
    if words[-1] not in RESULTS:
        msg = f"line 1: the line must end with a result, one of {', '.join(RESULTS)}"
        raise BadRecord(msg)
    return replay(rules, words[1:-1], RESULTS[words[-1]])
