"""Compare the Squava hybrid with its published figures, in five parts.

- search: nodes and time at depths 4 and 5 on one core, each with move ordering and cache on or off
- actors: the speed of one and two actors, and replay's share of an update (`bench/actors.py`)
- matches: the shipped model against heuristics and random play, at equal depth and at equal time
- centre: the published heuristic with and without its term for the centre
- phases: the published training, with matches after each phase (`bench/squava/phases.py`)

The searches of the first part use no iterative deepening, and each starts with an empty
transposition table. The evaluation cache is kept between searches, as in play.
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
from zermelo.games.lines.small import WordLineGame
from zermelo.learn.hybrid.kernel_network import (
    CACHE_SIZE,
    NetworkTactics,
    build_leaf_network,
    build_network_tactics,
)
from zermelo.learn.hybrid.player import HybridEngine, load_hybrid_engine
from zermelo.search.limits import SearchClock
from zermelo.search.negamax.searcher import LeafNetwork

PARTS = ("search", "actors", "matches", "centre")  #: measured by default
ALL_PARTS = (*PARTS, "phases")
MODEL = "squava-hybrid"
DEPTHS = (4, 5)
_ENOUGH_SECONDS = 2.0  # CPU time after which searches are not repeated
# The published network: the widths of its layers, and the weights (in thousandths) of network and
# heuristic in the blended value.
_HIDDEN, _SHARES = (512, 256), (600, 400)
# Opponents of the shipped model, each with the published win percentage against it, if any.
_OPPONENTS: dict[str, int | None] = {
    "minimax:depth=4": None,
    "minimax:depth=3": None,
    "minimax:depth=4,heuristic=published": None,
    "minimax:depth=3,heuristic=published": 65,
    "random": 85,
}
_MOVE_SECONDS = 0.01  # time per move in matches at equal time
_CENTRE = ("minimax:depth=4,heuristic=published", "minimax:depth=4,heuristic=published-no-centre")

Row = dict[str, Any]
Report = Callable[[str], None]


def run(
    parts: Sequence[str],
    progress: Report,
    *,
    number: int = 200,
    repeat: int = 3,
    games: int = 400,
    seconds: float = 5.0,
    model: str = "",
    out: Path | None = None,
) -> dict[str, Any]:
    """Measure the given parts and return the report.

    `number`: number of positions to search.
    `repeat`: number of passes over the positions; the median time is reported.
    `games`: number of games per match; matches after a phase have a quarter of this.
    `seconds`: approximate duration of a measurement of actors.
    `model`: a training run whose network `search` uses; by default, untrained weights.
    `out`: folder for the training run of the part "phases".
    """
    rows: list[Row] = []
    notes: list[str] = []
    # The search part comes last because it pins this process to one core.
    if "actors" in parts:
        from zermelo.bench import actors

        rows += actors.measure_actors(seconds, notes, progress)
    if "matches" in parts:
        rows += _measure_matches(games, notes, progress)
    if "centre" in parts:
        rows += _measure_centre(games, notes, progress)
    if "phases" in parts:
        from zermelo.bench.squava import phases

        rows += phases.measure_phases(max(1, games // 4), out, notes, progress)
    if "search" in parts:
        measure.pin_to_one_core()
        rows += _measure_search(number, repeat, model, notes, progress)
    return measure.create_report("hybrid", rows, notes)


@dataclass(frozen=True)
class SearchResults:
    """The scores of several positions by search, and the total cost of the searches."""

    scores: list[int]
    nodes: int
    seconds: float  #: CPU time
    hit_rate: float  #: hit rate of the evaluation cache, from 0 to 1


def _measure_search(
    number: int, repeat: int, model: str, notes: list[str], progress: Report
) -> list[Row]:
    """Measure nodes, time and hit rate by network and depth, with ordering and cache on and off."""
    states = [labelled.position.state for labelled in players.labelled_positions(number)]
    rows = []
    for (name, (hooks, net)), depth in itertools.product(_networks(model).items(), DEPTHS):
        results: dict[tuple[bool, bool], SearchResults] = {}
        for ordering, cache in itertools.product((True, False), repeat=2):
            switches = f"{'' if ordering else 'no '}ordering, {'' if cache else 'no '}cache"
            task = f"depth {depth}, {name}, {switches}"
            progress(task)
            shape = (CACHE_SIZE if cache else 0, hooks.game.num_words + 1)
            network = replace(net, estimates=np.zeros(shape, np.uint64))
            result = search_all(hooks, network, states, depth, ordering=ordering, repeat=repeat)
            rows.append(_row(task, result))
            results[ordering, cache] = result
        for ordering in (True, False):
            one, other = results[ordering, True], results[ordering, False]
            assert (one.scores, one.nodes) == (other.scores, other.nodes), "a cache changes nothing"
        notes += _comparison_notes(f"depth {depth}, {name}", results)
    return rows


def _networks(model: str) -> dict[str, tuple[NetworkTactics, LeafNetwork]]:
    """Return the shipped network and a second one, by name.

    The second one is the network of the run `model` or, if that is empty, the published network
    with untrained weights.
    """
    game = registry.game(players.GAME)
    assert isinstance(game, WordLineGame)
    ours, _ = load_hybrid_engine(MODEL, game)
    assert isinstance(ours.hooks, NetworkTactics)
    if model:
        theirs, _ = load_hybrid_engine(model, game)
        assert isinstance(theirs.hooks, NetworkTactics)
        return {"ours": (ours.hooks, ours.net), "the run's": (theirs.hooks, theirs.net)}
    fresh = build_network_tactics(game, "residual", _HIDDEN, published=True)
    return {
        "ours": (ours.hooks, ours.net),
        "published, fresh": (fresh, build_leaf_network(fresh, _initial_weights(fresh), _SHARES)),
    }


def _initial_weights(hooks: NetworkTactics) -> dict[str, Any]:
    """Return random weights, distributed like those of an untrained network."""
    rng = np.random.default_rng(1)
    weights: dict[str, Any] = {}
    for name, sizes in hooks.array_shapes:
        if len(sizes) > 1:
            bound = 1 / np.sqrt(sizes[0])
            weights[name] = rng.uniform(-bound, bound, sizes)
        else:
            weights[name] = np.full(sizes, name.startswith("norm") and name.endswith("weight"))
    return weights


def search_all(
    hooks: NetworkTactics,
    net: LeafNetwork,
    states: list[Any],
    depth: int,
    *,
    ordering: bool,
    repeat: int,
) -> SearchResults:
    """Search all states to a fixed depth; report the median time of up to `repeat` passes."""
    times: list[float] = []
    while not times or (len(times) < repeat and sum(times) < _ENOUGH_SECONDS):
        net.estimates[:] = 0
        engine, clock = HybridEngine(hooks, net, ordering=ordering), SearchClock()
        begin = time.process_time()
        scores = [_score(engine, state, depth, clock) for state in states]
        times.append(time.process_time() - begin)
    return SearchResults(scores, clock.nodes, statistics.median(times), engine.hit_rate)


def _score(engine: HybridEngine, state: Any, depth: int, clock: SearchClock) -> int:
    engine.clear()
    return engine.search(state, depth, -engine.win_score, engine.win_score, clock)


def _row(task: str, result: SearchResults) -> Row:
    """Return a report row; `ms` and `nodes` are means per position, and `hits` is a percentage."""
    number = len(result.scores)
    return measure.create_row(
        players.GAME,
        task,
        "zermelo",
        number / result.seconds,
        "positions/s",
        ms=1000 * result.seconds / number,
        nodes=result.nodes / number,
        seconds=result.seconds,
        hits=100 * result.hit_rate,
    )


def _comparison_notes(what: str, results: dict[tuple[bool, bool], SearchResults]) -> list[str]:
    """Return notes that compare the effects of ordering and cache with the published effects."""
    both, no_cache, no_ordering = results[True, True], results[True, False], results[False, True]
    fewer = 100 * (1 - both.nodes / no_ordering.nodes)
    faster = no_cache.seconds / both.seconds
    same = sum(a == b for a, b in zip(both.scores, no_ordering.scores, strict=True))
    ordering = (
        f"{what}: {abs(fewer):.1f}% {'fewer' if fewer >= 0 else 'MORE'} nodes with ordering "
        f"(published: 60 to 80% fewer), and {same} of {len(both.scores)} scores are the same"
    )
    cache = (
        f"{what}: {faster:.2f} times as fast with the cache (published: 1.5 to 2), "
        f"hit rate {100 * both.hit_rate:.1f}%"
    )
    return [ordering, cache]


def _measure_matches(games: int, notes: list[str], progress: Report) -> list[Row]:
    """Play the shipped model against its opponents, and count the mistakes of all players."""
    ours, timed = f"hybrid:{MODEL},depth=4", f"hybrid:{MODEL},seconds={_MOVE_SECONDS}"
    rows = []
    for opponent, wins in _OPPONENTS.items():
        task = f"depth 4 against {opponent}"
        more = {} if wins is None else {"published": wins}
        row = players.play_match(task, (ours, opponent), games, progress, **more)
        rows.append(row)
        if wins is not None:
            notes.append(f"{task}: {row['wins']:.1f} wins of 100 (published: {wins})")
    # Use one process: with two, a player might wait for a core while its clock is running.
    pair = (timed, f"alphabeta:seconds={_MOVE_SECONDS}")
    task = f"{1000 * _MOVE_SECONDS:g} ms a move each, against alphabeta"
    rows.append(players.play_match(task, pair, games, progress, processes=1))
    positions = players.labelled_positions()
    specs = [ours, *(spec for spec in _OPPONENTS if spec != "random")]
    return rows + [players.count_mistakes(spec, positions, progress) for spec in specs]


def _measure_centre(games: int, notes: list[str], progress: Report) -> list[Row]:
    """Compare the published heuristic with and without its term for the centre."""
    positions = players.labelled_positions()
    rows = [players.count_mistakes(spec, positions, progress) for spec in _CENTRE]
    task = "published heuristic without its centre, against it with"
    rows.append(players.play_match(task, (_CENTRE[1], _CENTRE[0]), games, progress))
    on, off, match = (row["rate"] for row in rows)
    notes.append(
        f"the heuristic's published centre term: {on:.1f} mistakes in 100 moves with it, {off:.1f} "
        f"without; the heuristic without it scores {match:.1f}% against the heuristic with it"
    )
    return rows
