"""Compare Squava players by matches with paired openings, and by mistakes in solved positions."""

import time
from collections.abc import Callable
from typing import Any

from zermelo.arena.tournament import TournamentProgress, tournament
from zermelo.bench import measure
from zermelo.games import registry
from zermelo.grading import position_sets
from zermelo.grading.position_sets import LabelledPosition
from zermelo.players.registry import load_player

GAME = "squava"

Row = dict[str, Any]
Report = Callable[[str], None]


def labelled_positions(number: int | None = None) -> list[LabelledPosition]:
    """Return the first `number` of the shipped positions with exact values; all if it is None."""
    sets = position_sets.load_shipped(registry.game(GAME)).values()
    return [position for positions in sets for position in positions][:number]


def play_match(
    task: str,
    players: tuple[str, str],
    games: int,
    progress: Report,
    *,
    processes: int | None = None,
    **more: float,
) -> Row:
    """Play `games` games with paired openings, and return a row with the score of `players[0]`.

    The figures in `more` are added to the row.
    """

    def report(now: TournamentProgress) -> None:
        progress(f"{task}: {now.done} of {now.total} games")

    progress(task)
    result = tournament(GAME, players, games=games, processes=processes, progress=report)
    tally = result.standings.head_to_head(*result.plan.names)
    points = 100 * (tally.wins + tally.draws / 2) / games
    return measure.create_row(
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


def count_mistakes(spec: str, positions: list[LabelledPosition], progress: Report) -> Row:
    """Return a row with the percentage of a player's moves that lower the exact value.

    The row also contains the mean number of nodes and the mean CPU time per move.
    """
    progress(f"{spec}: mistakes in {len(positions)} positions")
    player = load_player(spec)
    player.choose(positions[0].position)  # loads the model and compiles code
    mistakes = nodes = 0
    begin = time.process_time()
    for labelled in positions:
        assert labelled.move_values is not None
        analysis = player.choose(labelled.position)
        mistakes += labelled.move_values.is_mistake(labelled.position.parse(analysis.move))
        nodes += analysis.nodes
    seconds = time.process_time() - begin
    return measure.create_row(
        GAME,
        f"mistakes of {spec}",
        "zermelo",
        100 * mistakes / len(positions),
        "mistakes/100 moves",
        nodes=nodes / len(positions),
        ms=1000 * seconds / len(positions),
        positions=len(positions),
    )
