"""Review: a game move by move, with what was better, and why."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from zermelo.core.player import Analysis, Candidate, Limit, Player
from zermelo.core.position import Position
from zermelo.studio.views import analysis_view

_SLIP = 0.5  # of an estimate


def review(analyst: Player, positions: list[Position], limit: Limit) -> Iterator[dict[str, Any]]:
    """A record for the start and for every move: who stands how, and whether it was a mistake."""
    assert limit.seconds is not None
    assert limit.stop is not None
    share = min(2.0, max(0.05, limit.seconds / max(1, len(positions))))
    for ply, position in enumerate(positions):
        if limit.stop.is_set():
            return
        if position.is_over:
            break
        found = analyst.choose(position, replace(limit, seconds=share))
        if ply == 0:
            yield _start(position, found)
        if ply + 1 < len(positions):
            yield _move(position, found, positions[ply + 1], ply + 1)


def _start(position: Position, found: Analysis) -> dict[str, Any]:
    view = analysis_view(position, found)
    return {
        "ply": 0,
        "move": None,
        "player": None,
        "estimate": _for_first(position, found.worth),
        "exact": found.exact,
        "mistake": None,
        "better": None,
        "words": view["words"],
        "reasons": [],
    }


def _move(position: Position, found: Analysis, after: Position, ply: int) -> dict[str, Any]:
    moves = after.moves or []
    by_move = {c.move: c for c in found.candidates}
    played, best = by_move[moves[ply - 1]], found.candidates[0]
    views = {c["move"]: c for c in analysis_view(position, found)["candidates"]}
    fault = _fault(played, best)
    better = views[best.move]
    return {
        "ply": ply,
        "move": played.move,
        "player": position.player,
        "estimate": _for_first(position, played.worth),
        "exact": played.exact,
        "mistake": fault,
        "better": {k: better[k] for k in ("move", "words", "reasons")} if fault else None,
        "words": views[played.move]["words"],
        "reasons": views[played.move]["reasons"],
    }


def _fault(played: Candidate, best: Candidate) -> str | None:
    """A mistake is proven, whatever the other moves may be worth; a slip is clear by estimate."""
    if played.exact and best.exact:
        return "mistake" if played.worth < best.worth else None
    return "slip" if played.worth < best.worth - _SLIP else None


def _for_first(position: Position, worth: float) -> float:
    return worth if position.player == 0 else -worth
