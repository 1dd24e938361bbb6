"""The Squava hybrid beside what was published for it: its search, its actors, and how it plays.

- search: positions to depths 4 and 5, with ordering and cache on and off, one core
- actors: one and two of them, and the replay's share of a step (`bench/actors.py`)
- matches: the shipped model against the heuristics and random, at equal depth and equal time
- centre: the published heuristic with and without its term for the centre
- phases: the published training, played at the end of each phase (`bench/phases.py`)

Each search of the first part is one to its depth, without deepening, as if nothing had been asked
before; the cache lives through all of them, as it does in play.
"""

import itertools
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from zermelo.bench import measure
from zermelo.bench.squava import players
from zermelo.games import registry
from zermelo.games.lines.tactics import WordLineGame
from zermelo.learn.hybrid.kernel_network import CACHE, Valued, net_for, valued
from zermelo.learn.hybrid.player import HybridEngine, hybrid_engine
from zermelo.search.limits import SearchClock
from zermelo.search.negamax.runner import Net

PARTS = ("search", "actors", "matches", "centre")  #: that are measured unless others are asked for
ALL_PARTS = (*PARTS, "phases")
MODEL = "squava-hybrid"
DEPTHS = (4, 5)
_LONG = 2.0  # CPU seconds of a pass: once is enough
# Of the published network.
_HIDDEN, _SHARES = (512, 256), (600, 400)
# Whom the shipped model meets, and the wins of 100 that were published against two of them.
_OPPONENTS: dict[str, int | None] = {
    "minimax:depth=4": None,
    "minimax:depth=3": None,
    "minimax:depth=4,heuristic=published": None,
    "minimax:depth=3,heuristic=published": 65,
    "random": 85,
}
_SECONDS = 0.01  # a move, at equal time
_CENTRE = ("minimax:depth=4,heuristic=published", "minimax:depth=4,heuristic=published-no-centre")

Row = dict[str, Any]
Say = Callable[[str], None]


def run(
    parts: Sequence[str],
    progress: Say,
    *,
    number: int = 200,
    repeat: int = 3,
    games: int = 400,
    seconds: float = 5.0,
    model: str = "",
    out: Path | None = None,
) -> dict[str, Any]:
    """Measure the parts asked for.

    `number`: positions of the search; `model`: a run of the published network for it, fresh
    weights else. `games`: of a match; at the end of a phase a quarter. `seconds`: of play by an
    actor, about. `out`: the folder of the part phases.
    """
    rows: list[Row] = []
    notes: list[str] = []
    # First what takes several cores: whoever starts later has one.
    if "actors" in parts:
        from zermelo.bench import actors

        rows += actors.rows(seconds, notes, progress)
    if "matches" in parts:
        rows += _matches(games, notes, progress)
    if "centre" in parts:
        rows += _centre(games, notes, progress)
    if "phases" in parts:
        from zermelo.bench.squava import phases

        rows += phases.rows(max(1, games // 4), out, notes, progress)
    if "search" in parts:
        measure.use_one_core()
        rows += _search(number, repeat, model, notes, progress)
    return measure.report("hybrid", rows, notes)


@dataclass(frozen=True)
class Searches:
    """What searches of some positions found and took."""

    scores: list[int]
    nodes: int
    seconds: float  #: CPU time
    hit_rate: float  #: of the cache


def _search(number: int, repeat: int, model: str, notes: list[str], progress: Say) -> list[Row]:
    """Nodes, time and hit rate by network, depth and switches."""
    states = [one.position.state for one in players.graded(number)]
    rows = []
    for (name, (game, net)), depth in itertools.product(_networks(model).items(), DEPTHS):
        found: dict[tuple[bool, bool], Searches] = {}
        for ordering, cache in itertools.product((True, False), repeat=2):
            said = f"{'' if ordering else 'no '}ordering, {'' if cache else 'no '}cache"
            task = f"depth {depth}, {name}, {said}"
            progress(task)
            held = replace(
                net, cache=np.zeros((CACHE if cache else 0, game.num_words + 1), np.uint64)
            )
            some = searches(game, held, states, depth, ordering=ordering, repeat=repeat)
            rows.append(_row(task, some))
            found[ordering, cache] = some
        for ordering in (True, False):
            one, other = found[ordering, True], found[ordering, False]
            assert (one.scores, one.nodes) == (other.scores, other.nodes), "a cache changes nothing"
        notes += _compared(f"depth {depth}, {name}", found)
    return rows


def _networks(model: str) -> dict[str, tuple[Valued, Net]]:
    """Ours as it is shipped; a run's, or the published one as it begins."""
    game = registry.game(players.GAME)
    assert isinstance(game, WordLineGame)
    ours, _ = hybrid_engine(MODEL, game)
    assert isinstance(ours.game, Valued)
    if model:
        theirs, _ = hybrid_engine(model, game)
        assert isinstance(theirs.game, Valued)
        return {"ours": (ours.game, ours.net), "the run's": (theirs.game, theirs.net)}
    fresh = valued(game, "residual", _HIDDEN, published=True)
    return {
        "ours": (ours.game, ours.net),
        "published, fresh": (fresh, net_for(fresh, _drawn(fresh), _SHARES)),
    }


def _drawn(game: Valued) -> dict[str, Any]:
    """Weights as a training begins with them."""
    rng = np.random.default_rng(1)
    found: dict[str, Any] = {}
    for name, sizes in game.sizes:
        if len(sizes) > 1:
            most = 1 / np.sqrt(sizes[0])
            found[name] = rng.uniform(-most, most, sizes)
        else:
            found[name] = np.full(sizes, name.startswith("norm") and name.endswith("weight"))
    return found


def searches(
    game: Valued, net: Net, states: list[Any], depth: int, *, ordering: bool, repeat: int
) -> Searches:
    """The median of so many passes over all states; of one, where that is long."""
    times: list[float] = []
    while not times or (len(times) < repeat and sum(times) < _LONG):
        net.cache[:] = 0
        engine, clock = HybridEngine(game, net, ordering=ordering), SearchClock()
        begin = time.process_time()
        scores = [_score(engine, state, depth, clock) for state in states]
        times.append(time.process_time() - begin)
    return Searches(scores, clock.nodes, statistics.median(times), engine.hit_rate)


def _score(engine: HybridEngine, state: Any, depth: int, clock: SearchClock) -> int:
    engine.clear()
    return engine.search(state, depth, -engine.far, engine.far, clock)


def _row(task: str, some: Searches) -> Row:
    """`ms` and `nodes` are means for a position, `hits` of 100 estimates."""
    number = len(some.scores)
    return measure.row(
        players.GAME,
        task,
        "zermelo",
        number / some.seconds,
        "positions/s",
        ms=1000 * some.seconds / number,
        nodes=some.nodes / number,
        seconds=some.seconds,
        hits=100 * some.hit_rate,
    )


def _compared(what: str, found: dict[tuple[bool, bool], Searches]) -> list[str]:
    """Beside the published claims."""
    both, no_cache, no_ordering = found[True, True], found[True, False], found[False, True]
    fewer = 100 * (1 - both.nodes / no_ordering.nodes)
    faster = no_cache.seconds / both.seconds
    same = sum(a == b for a, b in zip(both.scores, no_ordering.scores, strict=True))
    ordering = (
        f"{what}: ordering takes {abs(fewer):.1f}% {'fewer' if fewer >= 0 else 'MORE'} nodes "
        f"(published: 60 to 80% fewer); {same} of {len(both.scores)} scores are the same without"
    )
    cache = (
        f"{what}: with the cache {faster:.2f} times as fast (published: 1.5 to 2), "
        f"{100 * both.hit_rate:.1f}% hits"
    )
    return [ordering, cache]


def _matches(games: int, notes: list[str], progress: Say) -> list[Row]:
    """The shipped model and the heuristics."""
    ours, timed = f"hybrid:{MODEL},depth=4", f"hybrid:{MODEL},seconds={_SECONDS}"
    rows = []
    for opponent, claim in _OPPONENTS.items():
        task = f"depth 4 against {opponent}"
        more = {} if claim is None else {"published": claim}
        row = players.match(task, (ours, opponent), games, progress, **more)
        rows.append(row)
        if claim is not None:
            notes.append(f"{task}: {row['wins']:.1f} wins of 100 (published: {claim})")
    # One process: two that wait for each other would not have the time they are said to have.
    pair = (timed, f"alphabeta:seconds={_SECONDS}")
    task = f"{1000 * _SECONDS:g} ms a move each, against alphabeta"
    rows.append(players.match(task, pair, games, progress, processes=1))
    some = players.graded()
    specs = [ours, *(spec for spec in _OPPONENTS if spec != "random")]
    return rows + [players.mistakes(spec, some, progress) for spec in specs]


def _centre(games: int, notes: list[str], progress: Say) -> list[Row]:
    """With the term for the centre, and without it."""
    some = players.graded()
    rows = [players.mistakes(spec, some, progress) for spec in _CENTRE]
    task = "published heuristic without its centre, against it with"
    rows.append(players.match(task, (_CENTRE[1], _CENTRE[0]), games, progress))
    on, off, match = (row["rate"] for row in rows)
    notes.append(
        f"the published term for the centre: {on:.1f} mistakes in 100 moves with it, {off:.1f} "
        f"without; without it {match:.1f} points of 100 against it"
    )
    return rows
