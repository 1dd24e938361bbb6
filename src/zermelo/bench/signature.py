"""The signature: the nodes of a fixed list of searches, in one number.

It is the same on every machine and changes only when the search or the rules do. The move
sequences of fixed lengths are counted beside it: they change with the rules alone.
"""

from collections.abc import Iterable
from typing import Any

from zermelo.bench import positions
from zermelo.core.game import WordGame
from zermelo.games import registry
from zermelo.search.count import count
from zermelo.search.limits import SearchClock
from zermelo.search.solver.solver import Settings, Solver

_DEPTHS = {
    "tictactoe": 9,
    "connect4": 8,
    "connect4:5x5": 8,
    "gomoku6": 4,
    "squava": 6,
    "squava:pie=true": 5,
    "mnk:4x5x3": 6,
    "gomoku:size=5,overline=exact": 5,
    "reversi": 8,
    "reversi:6": 9,
    "gomoku:size=9,renju=true": 2,
}
_STARTS = ("tictactoe", "mnk:4x3x3", "mnk:4x4x3", "mnk:4x4x4", "reversi:4")
_NUM_MIDDLE = 20
_NUM_SQUAVA, _SQUAVA_STONES = 5, 6
_TABLE_BITS = 18  # part of the signature: a table that is full forgets


def run() -> dict[str, Any]:
    """The totals, and what each game adds."""
    found = searches()
    counts = [
        _row(spec, f"perft {depth}", sum(count(registry.game(spec), max_ply=depth).perft(depth)))
        for spec, depth in _DEPTHS.items()
    ]
    return {
        "suite": "signature",
        "signature": sum(row["rate"] for row in found),
        "perft": sum(row["rate"] for row in counts),
        "rows": found + counts,
        "ratios": {},
    }


def searches() -> list[dict[str, Any]]:
    """The nodes of each game's searches."""
    return [_row(spec, "solve", _nodes(spec, states), "nodes") for spec, states in _lists()]


def _row(game: str, task: str, total: int, unit: str = "sequences") -> dict[str, Any]:
    return {"game": game, "task": task, "system": "zermelo", "rate": total, "unit": unit}


def _lists() -> Iterable[tuple[str, list[Any]]]:
    """Games, and the states of each to solve."""
    for spec in _STARTS:
        yield spec, [registry.game(spec).initial()]
    yield "connect4", positions.connect_four("middle", _NUM_MIDDLE).states
    stones = (_SQUAVA_STONES, _SQUAVA_STONES)
    yield "squava", [p.state for p in positions.draw(registry.game("squava"), stones, _NUM_SQUAVA)]


def _nodes(spec: str, states: list[Any]) -> int:
    """Each state with a solver that knows nothing."""
    game = registry.game(spec)
    assert isinstance(game, WordGame)
    clock = SearchClock()
    for state in states:
        Solver(game, Settings(table_bits=_TABLE_BITS)).score(state, clock)
    return clock.nodes
