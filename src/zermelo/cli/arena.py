"""The command `arena`, which runs tournaments between players."""

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from zermelo.cli.common import options
from zermelo.cli.common.help import command
from zermelo.cli.common.progress import Progress
from zermelo.core.phrases import count, escape_controls

if TYPE_CHECKING:
    from zermelo.arena.tournament import Result, TournamentProgress


class Hypotheses(click.ParamType[tuple[float, float]]):
    """The type of an option that takes two Elo differences, the lower one first."""

    name = "elo0,elo1"

    def convert(self, value: Any, param: Any, ctx: Any) -> tuple[float, float]:
        """Return the two Elo differences, or fail with a usage error."""
        match = re.fullmatch(r"(-?\d{1,4}(?:\.\d+)?),(-?\d{1,4}(?:\.\d+)?)", str(value))
        if not match or float(match[1]) >= float(match[2]):
            msg = f"{value!r} is not a pair of Elo differences in ascending order, such as 0,50"
            self.fail(msg, param, ctx)
        return float(match[1]), float(match[2])


@command(
    examples=(
        "zermelo arena tictactoe perfect greedy random --games 20",
        "zermelo arena connect4 level:3 level:5 --db games.db --html report.html",
    )
)
@click.argument("game")
@click.argument("players", nargs=-1, required=True)
@options.integer_option(
    "--games", "Number of games for each pair of players.", 100, low=1, high=10**6
)
@options.integer_option("--seed", "Random seed.", 0, high=10**18)
@options.integer_option(
    "--opening-plies",
    "Number of random moves at the start of each game.",
    high=100,
    show_default="0 on boards of at most 16 cells, otherwise 2",
)
@options.seconds_option("Time limit for each move.")
@options.seconds_option(
    "Seconds after which a player that has not moved forfeits; ignored with --seconds.",
    120.0,
    name="--patience",
)
@options.integer_option(
    "--memory",
    "Memory limit of each process in MB, 0 for none; a player that exceeds it forfeits.",
    4096,
    high=10**9,
)
@options.integer_option(
    "--processes",
    "Number of games to play at the same time.",
    low=1,
    high=1024,
    show_default="number of cores",
)
@options.db_option("Store the games in this SQLite file.")
@click.option(
    "--resume", is_flag=True, help="Continue the latest run in --db with the same settings."
)
@click.option(
    "--sprt",
    type=Hypotheses(),
    help="Stop as soon as an SPRT decides between these two Elo differences.",
)
@options.file_option("--html", "Write an HTML report to this file.")
@options.json_option
@options.runs_players
def arena(
    game: str,
    players: tuple[str, ...],
    db: Path | None,
    resume: bool,
    html: Path | None,
    as_json: bool,
    **settings: Any,
) -> None:
    """Run a tournament of PLAYERS at GAME and rate them.

    Every player plays every other one, on both sides. A player is a name with parameters, or a
    Python file with a class derived from zermelo.Player.
    """
    from zermelo.arena.tournament import Interrupted, tournament

    if resume and db is None:
        msg = "--resume needs --db, the file in which the games are stored"
        raise click.UsageError(msg)
    if html is not None and not html.absolute().parent.is_dir():
        msg = f"--html {html}: the folder does not exist"
        raise click.UsageError(msg)
    with Progress(f"arena {game}") as progress:
        try:
            result = tournament(
                game,
                players,
                db=db,
                resume=resume,
                progress=lambda now: progress(_progress_text(now), now.done / now.total),
                **settings,
            )
        except Interrupted as stopped:
            result = stopped.result
    if as_json:
        options.print_json(result.to_dict())
    else:
        _print_result(result)
    if not result.finished:
        done = f"{result.standings.games:,} of {result.plan.total:,} games"
        advice = (
            f"continue with: {options.repeat_command(resume=True)}"
            if db
            else "add --db FILE next time to be able to continue with --resume"
        )
        click.echo(f"stopped after {done}; {escape_controls(advice)}", err=True)
    if html is not None:
        _write_report(html, result)


def _progress_text(now: "TournamentProgress") -> str:
    leaders = sorted(now.points, key=lambda name: -now.points[name])[:3]
    points = ", ".join(f"{name} {now.points[name]:g}" for name in leaders)
    return (
        f"{now.done:,} of {now.total:,} games, {now.rate:,.0f}/s, "
        f"{now.seconds_left:,.0f} s left; points: {points}"
    )


def _print_result(result: "Result") -> None:
    standings = result.standings
    names = standings.ranking()
    rows = []
    for number, name in enumerate(names, 1):
        scores = [None if name == other else standings.head_to_head(name, other) for other in names]
        rating = standings.ratings[name]
        rows.append(
            (
                number,
                name,
                *("" if s is None else f"{s.wins}-{s.draws}-{s.losses}" for s in scores),
                f"{rating.rating:+.0f}",
                f"{rating.low:+.0f} to {rating.high:+.0f}",
                standings.time_text(name),
            )
        )
    numbers = tuple(str(number) for number in range(1, len(names) + 1))
    options.print_table(("", "player", *numbers, "Elo", "95%", "time/move"), rows)
    games = count(standings.games, "game")
    options.print_line(f"{games}; the table shows wins-draws-losses of the row's player")
    if standings.repeated:
        options.print_line(f"{count(standings.repeated, 'repeated game')} not rated")
    for (player, reason), number in standings.forfeits.most_common():
        options.print_line(f"{player} forfeited {count(number, 'game')}: {reason}")
    if result.sprt is not None:
        options.print_line(_test_text(result))


def _test_text(result: "Result") -> str:
    test = result.sprt
    assert test is not None
    one, other = result.plan.names
    decision = {
        None: "undecided",
        "H0": f"{one} is not better than {other} by {test['elo1']:g} Elo (H0)",
        "H1": f"{one} is better than {other} by more than {test['elo0']:g} Elo (H1)",
    }[test["accepted"]]
    return (
        f"{decision}: log likelihood ratio {test['llr']:.2f} after "
        f"{count(test['openings'], 'pair')} of games, bound ±{test['bound']:.2f}"
    )


def _write_report(path: Path, result: "Result") -> None:
    import importlib.metadata

    from zermelo.arena import report
    from zermelo.bench import measure

    versions = {name: importlib.metadata.version(name) for name in ("numpy", "numba")}
    machine = {**measure.describe_machine(), **versions}
    text = report.to_html(result, options.repeat_command(), machine)
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        msg = f"cannot write {path}: {error.strerror}"
        raise click.ClickException(msg) from None
