"""Squava: the published ordering and evaluation beside none and ours, in nodes and in mistakes."""

import copy
import time
from collections.abc import Callable
from typing import Any

from zermelo.bench import measure, positions
from zermelo.core.game import WordGame
from zermelo.games import registry
from zermelo.games.lines.published import PublishedSquava
from zermelo.games.lines.tactics import WordLineGame
from zermelo.search.engines import WordEngine
from zermelo.search.iterative_deepening import deepen
from zermelo.search.limits import SearchClock
from zermelo.search.negamax.runner import Runner
from zermelo.search.solver.solver import Solver

_STONES = (6, 12)
_DEPTH = 2

Row = dict[str, Any]


class _Blind(WordLineGame):
    """The same rules, without an evaluation."""

    evaluate = WordGame.evaluate


def rows(number: int, progress: Callable[[str], None]) -> list[Row]:
    """Nodes of solving `number` positions, and mistakes in them where one is possible."""
    ours = registry.game("squava")
    assert isinstance(ours, WordLineGame)
    blind = copy.copy(ours)
    blind.__class__ = _Blind
    published = PublishedSquava()
    states = [p.state for p in positions.draw(ours, _STONES, number)]
    found = []
    for name, game, ordering in (
        ("ours", ours, True),
        ("none", ours, False),
        ("published", published, True),
    ):
        progress(f"squava, ordering {name}")
        found.append(_nodes(name, game, states, ordering=ordering))
    truth = _truth(ours, states, progress)
    for name, game in (("ours", ours), ("none", blind), ("published", published)):
        progress(f"squava, heuristic {name}")
        found.append(_mistakes(name, game, truth))
    return found


def _nodes(name: str, game: WordGame, states: list[Any], *, ordering: bool) -> Row:
    """Win, draw or loss of every position, each with a new table."""
    runner = Runner(game, table_bits=20, ordering=ordering)
    runner.table[:] = 0
    clock, begin = SearchClock(), time.process_time()
    for state in states:
        runner.forget()
        runner.bounds(state, -game.far, game.far, clock, coarse=True)
    seconds = time.process_time() - begin
    return measure.row(
        "squava",
        f"solve, ordering {name}",
        "zermelo",
        len(states) / seconds,
        "positions/s",
        ms=1000 * seconds / len(states),
        nodes=clock.nodes / len(states),
    )


def _truth(
    game: WordGame, states: list[Any], progress: Callable[[str], None]
) -> list[tuple[Any, dict[int, int]]]:
    """The exact values of all moves, where they differ."""
    solver = Solver(game)
    found = []
    for number, state in enumerate(states):
        progress(f"squava, position {number + 1} of {len(states)}")
        values = {a: -solver.sign(game.play(state, a)) for a in game.actions(state)}
        if min(values.values()) < max(values.values()):
            found.append((state, values))
    return found


def _mistakes(name: str, game: WordGame, truth: list[tuple[Any, dict[int, int]]]) -> Row:
    """How often a search to a small depth with this evaluation gives something away."""
    engine, clock = WordEngine(game), SearchClock()
    wrong = 0
    for state, values in truth:
        for found in deepen(engine, state, clock, max_depth=_DEPTH):
            chosen = found.best
        wrong += values[chosen] < max(values.values())
    return measure.row(
        "squava",
        f"minimax:depth={_DEPTH}, heuristic {name}",
        "zermelo",
        100 * wrong / len(truth),
        "mistakes/100 moves",
        nodes=clock.nodes / len(truth),
    )
