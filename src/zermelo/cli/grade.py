"""Commands that measure players against perfect play, and make the positions for it."""

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from zermelo.cli import options
from zermelo.core.errors import ZermeloError

if TYPE_CHECKING:
    from zermelo.grading.grade import Grade, SetResult

_BEATEN = 1


@click.command()
@click.argument("game")
@click.argument("player")
@click.option("--exhaustive", is_flag=True, help="Every reply against it, in large games too.")
@click.option(
    "--positions", type=click.Path(path_type=Path), help="Grade by these, a position a line."
)
@click.option("--seed", type=click.IntRange(0), default=0, help="For players with dice.")
@click.option("--seconds", type=options.Seconds(), help="For the solver, a position.  [10]")
@click.option("--db", type=click.Path(dir_okay=False, path_type=Path), help="Keep it here.")
@options.json_option
def grade(
    game: str,
    player: str,
    exhaustive: bool,
    positions: Path | None,
    seed: int,
    seconds: float | None,
    db: Path | None,
    as_json: bool,
) -> int:
    """Grade PLAYER in GAME against perfect play, with the ceiling beside every figure.

    Small games are graded over all their states, others over the positions shipped for them.
    With --exhaustive the exit code is 1 if some line beats the player.
    """
    from zermelo.grading import grade as grading
    from zermelo.store.runs import FINISHED, Runs

    store = None if db is None else Runs(db)  # a file that will not do is said at once
    with options.progress(f"grading {player}") as progress:
        found = grading.grade(
            game,
            player,
            exhaustive=exhaustive,
            positions=positions,
            seed=seed,
            seconds=seconds or grading.SECONDS,
            progress=progress,
        )
    record = found.to_json() | {"game": game}
    if store is not None:
        asked = {"player": player, "exhaustive": exhaustive, "seed": seed}
        asked["positions"] = None if positions is None else str(positions)
        store.end(store.begin("grade", game, asked), FINISHED, record)
        store.close()
    if as_json:
        options.print_json(record)
    else:
        _print_grade(found)
    return _BEATEN if exhaustive and found.unbeatable is False else 0


def _print_grade(found: "Grade") -> None:
    click.secho(f"{found.player} in {found.game.spec}, against perfect play", bold=True)
    rows: list[tuple[Any, ...]] = []
    for name, tally in found.sets.items():
        rows += _tally_rows(name, tally)
    if len(found.sets) > 1:
        rows += _tally_rows("in all", found.total)
    rows += _chance_rows(found)
    for seat, trial in zip(("first", "second"), found.trials or (), strict=False):
        held = {True: "yes", False: "no", None: "not decided"}[trial.holds]
        rows.append((f"unbeatable as {seat}", held, "yes"))
    options.table(("", "figure", "ceiling"), rows)
    for note in found.notes:
        click.echo(f"note: {note}")
    _print_defeat(found)


def _tally_rows(name: str, tally: "Tally") -> list[tuple[str, str, str]]:
    rate = "" if tally.mistake_rate is None else f" ({tally.mistake_rate:.2%})"
    where = f"{name}: {tally.positions:,} positions"
    rows = [(f"{where}, mistakes", f"{tally.mistakes:,}{rate}", "0")]
    if tally.wins:
        rows.append((f"{name}: {tally.wins:,} won, slow wins", f"{tally.slow_wins:,}", "0"))
    return rows


def _chance_rows(found: "Grade") -> list[tuple[str, str, str]]:
    rows = []
    for number, seat in enumerate(("first", "second")):
        if found.vs_random is None or found.ceilings is None:
            continue
        chances, most = found.vs_random[number], found.ceilings[number]
        figure = (
            f"wins {float(chances.win):.2%}, draws {float(chances.draw):.2%}, "
            f"loses {float(chances.loss):.2%}"
        )
        best = f"wins {float(most.win):.2%}, {float(most.win_never_losing):.2%} without a risk"
        rows.append((f"as {seat} against random", figure, best))
    return rows


def _print_defeat(found: "Grade") -> None:
    moves = found.beaten_by
    if moves is not None:
        end = found.game.position(moves=moves)
        click.echo(f"\nbeaten by {' '.join(moves)}: {end.verdict}\n{end}")


@click.command()
@click.argument("game")
@click.option("--number", type=click.IntRange(1, 100_000), default=100, help="How many.  [100]")
@click.option("--out", type=click.Path(path_type=Path), help="A file.  [standard output]")
@click.option("--seed", type=click.IntRange(0), default=1, help="The same gives the same set.")
@click.option("--plies", type=(int, int), default=(0, 400), help="Moves before: LOW HIGH.")
@click.option(
    "--decided", type=(int, int), default=(1, 400), help="Plies to the end, best play: LOW HIGH."
)
@click.option(
    "--keeping", type=click.IntRange(1), default=400, help="So many moves at most keep the value."
)
@click.option(
    "--nodes", type=click.IntRange(1), default=10_000_000, help="Leave out what takes more."
)
@options.json_option
def positions(
    game: str,
    number: int,
    out: Path | None,
    seed: int,
    plies: tuple[int, int],
    decided: tuple[int, int],
    keeping: int,
    nodes: int,
    as_json: bool,
) -> None:
    """Make a set of different positions of GAME with the exact worth of every move.

    Sensible random play leads to them, and in each there is a mistake to make: `zermelo grade
    --positions` reads it. Hard ones are those decided far away, where few moves keep the value.
    """
    from zermelo.core.files import write_atomically
    from zermelo.games import registry
    from zermelo.grading import generate, position_sets

    for name, (low, high) in (("--plies", plies), ("--decided", decided)):
        if not 0 <= low <= high:
            msg = f"{name} {low} {high}: give two numbers, the lower one first"
            raise click.UsageError(msg)
    rules = registry.game(game)
    begin = time.perf_counter()
    with options.progress(f"positions of {game}") as progress:
        found = generate.generate_positions(
            rules,
            number,
            seed=seed,
            wanted=generate.PositionFilter(plies, decided, keeping, nodes),
            progress=lambda done, looked: progress(f"{done} of {number}, {looked:,} looked at"),
        )
    command = (
        f"zermelo positions {game} --number {number} --seed {seed} --plies {plies[0]} {plies[1]} "
        f"--decided {decided[0]} {decided[1]} --keeping {keeping} --nodes {nodes}"
    )
    text = position_sets.to_text(found, rules, seed, command)
    if out is None:
        click.echo(text, nl=False)
        return
    try:
        write_atomically(out, text, mode=0o644)
    except OSError as error:
        msg = f"{out} cannot be written: {error.strerror}"
        raise ZermeloError(msg) from None
    seconds = time.perf_counter() - begin
    if as_json:
        options.print_json(
            {"game": game, "positions": number, "path": str(out), "seconds": round(seconds, 3)}
        )
    else:
        click.echo(f"{out}: {number:,} positions in {seconds:.1f} s")
