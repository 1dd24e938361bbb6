"""The arena: tournaments between players."""

import re
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from zermelo.cli import options

if TYPE_CHECKING:
    from zermelo.arena.tournament import Progress, Result


class Hypotheses(click.ParamType[tuple[float, float]]):
    """Two differences in Elo."""

    name = "elo0,elo1"

    def convert(self, value: Any, param: Any, ctx: Any) -> tuple[float, float]:
        """The two that a text names, the lower first."""
        found = re.fullmatch(r"(-?\d{1,4}(?:\.\d+)?),(-?\d{1,4}(?:\.\d+)?)", str(value))
        if not found or float(found[1]) >= float(found[2]):
            self.fail(f"{value!r} is no pair of ratings, the lower first: 0,50", param, ctx)
        return float(found[1]), float(found[2])


@click.command()
@click.argument("game")
@click.argument("players", nargs=-1, required=True)
@click.option(
    "--games", type=click.IntRange(1, 10**6), default=100, help="Of each pair.", show_default=True
)
@click.option("--seed", type=click.IntRange(0, 10**18), default=0, show_default=True)
@click.option(
    "--opening-plies",
    type=click.IntRange(0, 100),
    help="Random plies before the players begin.  [0 up to 16 cells, else 2]",
)
@click.option("--seconds", type=options.Seconds(), help="Thinking time a move.")
@click.option(
    "--patience",
    type=options.Seconds(),
    default=120.0,
    help="Where there is no such limit: when a player hangs.",
    show_default=True,
)
@click.option("--processes", type=click.IntRange(1, 1024), help="[as many as there are cores]")
@click.option("--db", type=click.Path(dir_okay=False, path_type=Path), help="Keep every game here.")
@click.option("--resume", is_flag=True, help="Go on with the newest run of these settings.")
@click.option("--sprt", type=Hypotheses(), help="Stop once one of two differences in Elo stands.")
@click.option(
    "--html", type=click.Path(dir_okay=False, path_type=Path), help="A report as a web page."
)
@options.json_option
def arena(
    game: str,
    players: tuple[str, ...],
    db: Path | None,
    resume: bool,
    html: Path | None,
    as_json: bool,
    **settings: Any,
) -> None:
    """A tournament of PLAYERS at GAME, everybody against everybody, and their ratings.

    A player is a spec, or a Python file with a class derived from zermelo.Player.
    """
    from zermelo.arena.tournament import Interrupted, tournament

    if resume and db is None:
        msg = "--resume goes with --db: the file that the games were kept in"
        raise click.UsageError(msg)
    if html is not None and not html.absolute().parent.is_dir():
        msg = f"--html {html}: there is no such folder"
        raise click.UsageError(msg)
    with options.progress(f"arena {game}") as say:
        try:
            result = tournament(
                game,
                players,
                db=db,
                resume=resume,
                progress=lambda now: say(_progress_text(now)),
                **settings,
            )
        except Interrupted as stopped:
            result = stopped.result
    if as_json:
        options.print_json(result.to_json())
    else:
        _print(result)
    if not result.finished:
        _say_how_to_go_on(result, db)
    if html is not None:
        _write(html, result)


def _progress_text(now: "Progress") -> str:
    leaders = sorted(now.points, key=lambda name: -now.points[name])[:3]
    score = ", ".join(f"{name} {now.points[name]:g}" for name in leaders)
    return (
        f"{now.done:,} of {now.total:,} games, {now.rate:,.0f} a second, "
        f"{now.seconds_left:,.0f} s left; {score}"
    )


def _print(result: "Result") -> None:
    found = result.standings
    names = found.ranked()
    rows = []
    for number, name in enumerate(names, 1):
        meetings = [None if name == other else found.meeting(name, other) for other in names]
        rating = found.ratings[name]
        rows.append(
            (
                number,
                name,
                *("" if t is None else f"{t.wins}-{t.draws}-{t.losses}" for t in meetings),
                f"{rating.rating:+.0f}",
                f"{rating.low:+.0f} to {rating.high:+.0f}",
                found.pace_text(name),
            )
        )
    numbers = tuple(str(number) for number in range(1, len(names) + 1))
    options.table(("", "player", *numbers, "Elo", "95%", "a move"), rows)
    click.echo(f"{found.games:,} games; wins, draws and losses of the row's player")
    if found.repeated:
        click.echo(f"{found.repeated:,} repeated games, which are not rated")
    for (player, reason), games in found.forfeits.most_common():
        click.echo(f"{player} lost {games:,} {'game' if games == 1 else 'games'}: {reason}")
    if result.sprt is not None:
        click.echo(_test_text(result))


def _test_text(result: "Result") -> str:
    test = result.sprt
    assert test is not None
    one, other = result.plan.names
    stands = {
        None: "not decided",
        "H0": f"{one} is not better than {other} by {test['elo1']:g} Elo (H0)",
        "H1": f"{one} is better than {other} by more than {test['elo0']:g} Elo (H1)",
    }[test["accepted"]]
    return (
        f"{stands}: log likelihood ratio {test['llr']:.2f} of {test['bound']:.2f} "
        f"after {test['openings']:,} pairs of games"
    )


def _say_how_to_go_on(result: "Result", db: Path | None) -> None:
    of = f"{result.standings.games:,} of {result.plan.total:,} games"
    how = f"go on with: {_command(resume=True)}" if db else "with --db FILE it could go on later"
    click.echo(f"stopped after {of}; {how}", err=True)


def _command(*, resume: bool = False) -> str:
    """What was typed, as it would be typed again."""
    given = [word for word in sys.argv[1:] if word != "--resume"]
    return shlex.join(["zermelo", *given, *(["--resume"] if resume else [])])


def _write(path: Path, result: "Result") -> None:
    import importlib.metadata

    from zermelo.arena import report
    from zermelo.bench import measure

    versions = {name: importlib.metadata.version(name) for name in ("numpy", "numba")}
    text = report.to_html(result, _command(), {**measure.machine(), **versions})
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        msg = f"cannot write {path}: {error.strerror}"
        raise click.ClickException(msg) from None
