"""The bench signature: the total number of nodes of a fixed list of searches.

The signature is the same on every machine and changes only if the search or the rules change. The
perft total, which is the number of move sequences of fixed lengths, changes only with the rules.
"""

from collections.abc import Iterable
from typing import Any

from zermelo.bench import positions
from zermelo.bench.measure import Row
from zermelo.core.game import WordGame
from zermelo.games import registry
from zermelo.search.count import count
from zermelo.search.limits import SearchClock
from zermelo.search.solver.solver import Solver, SolverSettings

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
_TABLE_BITS = 18  # affects the signature: a full table evicts entries


def run() -> dict[str, Any]:
    """Return a report with the signature, the perft total and a row for every game."""
    searches = count_search_nodes()
    counts = [
        _row(spec, f"perft {depth}", sum(count(registry.game(spec), max_ply=depth).perft(depth)))
        for spec, depth in _DEPTHS.items()
    ]
    return {
        "suite": "signature",
        "signature": sum(row["rate"] for row in searches),
        "perft": sum(row["rate"] for row in counts),
        "rows": searches + counts,
        "ratios": {},
    }


def count_search_nodes() -> list[Row]:
    """Return a row with the number of search nodes for each game."""
    return [
        _row(spec, "solve", _count_nodes(spec, states), "nodes") for spec, states in _search_lists()
    ]


def _row(game: str, task: str, total: int, unit: str = "sequences") -> Row:
    return {"game": game, "task": task, "system": "zermelo", "rate": total, "unit": unit}


def _search_lists() -> Iterable[tuple[str, list[Any]]]:
    """Yield each game with its list of states to solve."""
    for spec in _STARTS:
        yield spec, [registry.game(spec).initial()]
    yield "connect4", positions.sample_connect_four("middle", _NUM_MIDDLE).states
    stones = (_SQUAVA_STONES, _SQUAVA_STONES)
    yield (
        "squava",
        [p.state for p in positions.sample_positions(registry.game("squava"), stones, _NUM_SQUAVA)],
    )


def _count_nodes(spec: str, states: list[Any]) -> int:
    """Return the total number of nodes that a new solver searches to solve all states."""
    game = registry.game(spec)
    assert isinstance(game, WordGame)
    clock = SearchClock()
    for state in states:
        Solver(game, SolverSettings(table_bits=_TABLE_BITS)).score(state, clock)
    return clock.nodes
