"""Squava players compared: points over paired openings, and mistakes against exact play."""

import time
from collections.abc import Callable
from typing import Any

from zermelo.arena.tournament import Progress, tournament
from zermelo.bench import measure
from zermelo.games import registry
from zermelo.grading import position_sets
from zermelo.grading.position_sets import Graded
from zermelo.players import registry as roster

GAME = "squava"

Row = dict[str, Any]
Say = Callable[[str], None]


def graded(number: int | None = None) -> list[Graded]:
    """The shipped positions with their exact values, or the first of them."""
    found = [one for some in position_sets.shipped(registry.game(GAME)).values() for one in some]
    return found[:number]


def match(
    task: str,
    players: tuple[str, str],
    games: int,
    progress: Say,
    *,
    processes: int | None = None,
    **more: float,
) -> Row:
    """Points in 100 of the first player, and its wins."""

    def say(now: Progress) -> None:
        progress(f"{task}: {now.done} of {now.total} games")

    progress(task)
    result = tournament(GAME, players, games=games, processes=processes, progress=say)
    tally = result.standings.meeting(*result.plan.names)
    points = 100 * (tally.wins + tally.draws / 2) / games
    return measure.row(
        GAME,
        task,
        "zermelo",
        points,
        "points of 100",
        wins=100 * tally.wins / games,
        draws=100 * tally.draws / games,
        games=games,
        repeated=tally.repeated,
        **more,
    )


def mistakes(spec: str, some: list[Graded], progress: Say) -> Row:
    """How often a player gives something away, of 100 moves; nodes and CPU time are a move's."""
    progress(f"{spec}: mistakes in {len(some)} positions")
    player = roster.player(spec)
    player.choose(some[0].position)  # loads, compiles
    wrong = nodes = 0
    begin = time.process_time()
    for one in some:
        assert one.verdict is not None
        found = player.choose(one.position)
        wrong += one.verdict.is_mistake(one.position.parse(found.move))
        nodes += found.nodes
    seconds = time.process_time() - begin
    return measure.row(
        GAME,
        f"mistakes of {spec}",
        "zermelo",
        100 * wrong / len(some),
        "mistakes/100 moves",
        nodes=nodes / len(some),
        ms=1000 * seconds / len(some),
        positions=len(some),
    )
