"""Compare the published Squava move ordering and heuristic with ours and with none.

Orderings are compared by the nodes of a search, and heuristics by the mistakes of a player.
"""

import time
from collections.abc import Callable
from typing import Any

from zermelo.bench import measure, positions
from zermelo.core.game import SolverHooks, WordGame
from zermelo.games import registry
from zermelo.games.lines.published import PublishedTactics
from zermelo.games.lines.small import WordLineGame
from zermelo.games.lines.tactics import LineTactics
from zermelo.search.engines import WordEngine
from zermelo.search.iterative_deepening import deepen
from zermelo.search.limits import SearchClock
from zermelo.search.negamax.searcher import NegamaxSearcher
from zermelo.search.solver.solver import Solver

_STONES = (6, 12)  # minimum and maximum number of stones in the sampled positions
_DEPTH = 2  # depth of the search whose mistakes are counted

Row = dict[str, Any]


class _Blind(LineTactics):
    """Our solver hooks without a heuristic evaluation."""

    evaluate = SolverHooks.evaluate


def compare_orderings(number: int, progress: Callable[[str], None]) -> list[Row]:
    """Solve `number` positions with each ordering, and count each heuristic's mistakes in them."""
    game = registry.game("squava")
    assert isinstance(game, WordLineGame)
    ours, blind, published = game.hooks, _Blind(game), PublishedTactics(game)
    states = [p.state for p in positions.sample_positions(game, _STONES, number)]
    rows = []
    for name, hooks, ordering in (
        ("ours", ours, True),
        ("none", ours, False),
        ("published", published, True),
    ):
        progress(f"squava, ordering {name}")
        rows.append(_count_nodes(name, hooks, states, ordering=ordering))
    truth = _solve_all_moves(game, states, progress)
    for name, hooks in (("ours", ours), ("none", blind), ("published", published)):
        progress(f"squava, heuristic {name}")
        rows.append(_count_mistakes(name, hooks, truth))
    return rows


def _count_nodes(name: str, hooks: SolverHooks, states: list[Any], *, ordering: bool) -> Row:
    """Measure the cost of solving positions for win, draw or loss, each with an empty table."""
    searcher = NegamaxSearcher(hooks, table_bits=20, ordering=ordering)
    searcher.allocate_table()
    clock, begin = SearchClock(), time.process_time()
    for state in states:
        searcher.clear()
        searcher.narrow_bounds(state, -hooks.win_score, hooks.win_score, clock, sign_only=True)
    seconds = time.process_time() - begin
    return measure.create_row(
        "squava",
        f"solve, ordering {name}",
        "zermelo",
        len(states) / seconds,
        "positions/s",
        ms=1000 * seconds / len(states),
        nodes=clock.nodes / len(states),
    )


def _solve_all_moves(
    game: WordGame, states: list[Any], progress: Callable[[str], None]
) -> list[tuple[Any, dict[int, int]]]:
    """Return the states whose moves differ in value, each with the values of its moves."""
    solver = Solver(game)
    solved = []
    for number, state in enumerate(states):
        progress(f"squava, position {number + 1} of {len(states)}")
        values = {a: -solver.sign(game.play(state, a)) for a in game.actions(state)}
        if min(values.values()) < max(values.values()):
            solved.append((state, values))
    return solved


def _count_mistakes(name: str, hooks: SolverHooks, truth: list[tuple[Any, dict[int, int]]]) -> Row:
    """Return a row with the percentage of mistakes that a shallow search with `hooks` makes."""
    engine, clock = WordEngine(hooks), SearchClock()
    mistakes = 0
    for state, values in truth:
        for iteration in deepen(engine, state, clock, max_depth=_DEPTH):
            action = iteration.best
        mistakes += values[action] < max(values.values())
    return measure.create_row(
        "squava",
        f"minimax:depth={_DEPTH}, heuristic {name}",
        "zermelo",
        100 * mistakes / len(truth),
        "mistakes/100 moves",
        nodes=clock.nodes / len(truth),
    )
