"""Commands that measure players against perfect play: `grade` and `positions`."""

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from zermelo.cli.common import options
from zermelo.cli.common.help import command
from zermelo.cli.common.progress import Progress
from zermelo.core.errors import ZermeloError
from zermelo.core.phrases import count

if TYPE_CHECKING:
    from zermelo.grading.grade import Grade, SetResult

_BEATEN = 1  # exit code if the player can be beaten


@command(
    examples=(
        "zermelo grade tictactoe lookahead:1",
        "zermelo grade connect4 level:7 --json",
    )
)
@click.argument("game")
@click.argument("player")
@click.option(
    "--exhaustive",
    is_flag=True,
    help="Try every reply to PLAYER, even in large games; exit with 1 if a line of play beats it.",
)
@click.option(
    "--positions",
    type=click.Path(path_type=Path),
    help="Grade on the positions in this file, one per line.",
)
@options.integer_option("--seed", "Random seed for PLAYER.", 0)
@options.seconds_option("Solver time limit for each position.", show_default="10")
@options.db_option("Store the result in this SQLite file.")
@options.json_option
@options.runs_players
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
    """Grade PLAYER in GAME against perfect play.

    Counts mistakes over all states of a small game, or over the shipped positions of a larger one.
    Prints the best possible result beside every result.
    """
    from zermelo.grading import grade as grading
    from zermelo.store.runs import FINISHED, RunStore

    store = None if db is None else RunStore(db)  # opened first: a bad file is reported at once
    with Progress(f"grading {player}") as progress:
        result = grading.grade(
            game,
            player,
            exhaustive=exhaustive,
            positions=positions,
            seed=seed,
            seconds=seconds or grading.SECONDS,
            progress=progress,
        )
    fields = result.to_dict() | {"game": game}
    if store is not None:
        settings = {"player": player, "exhaustive": exhaustive, "seed": seed}
        settings["positions"] = None if positions is None else str(positions)
        store.update_run(store.add_run("grade", game, settings), FINISHED, fields)
        store.close()
    if as_json:
        options.print_json(fields)
    else:
        _print_grade(result)
    return _BEATEN if exhaustive and result.unbeatable is False else 0


def _print_grade(grade: "Grade") -> None:
    options.print_line(
        f"{grade.player} in {grade.game.spec}, compared with perfect play", bold=True
    )
    rows: list[tuple[Any, ...]] = []
    for name, result in grade.sets.items():
        rows += _set_rows(name, result)
    if len(grade.sets) > 1:
        rows += _set_rows("total", grade.total)
    rows += _random_opponent_rows(grade)
    for seat, check in zip(("first", "second"), grade.seat_checks or (), strict=False):
        answer = {True: "yes", False: "no", None: "not decided"}[check.unbeatable]
        rows.append((f"unbeatable as {seat}", answer, "yes"))
    options.print_table(("", "result", "best possible"), rows)
    for note in grade.notes:
        options.print_line(f"note: {note}")
    _print_refutation(grade)


def _set_rows(name: str, result: "SetResult") -> list[tuple[str, str, str]]:
    rate = "" if result.mistake_rate is None else f" ({result.mistake_rate:.2%})"
    positions = count(result.positions, "position")
    rows = [(f"{name}: mistakes in {positions}", f"{result.mistakes:,}{rate}", "0")]
    if result.wins:
        wins = count(result.wins, "won position")
        rows.append((f"{name}: slow wins in {wins}", f"{result.slow_wins:,}", "0"))
    return rows


def _random_opponent_rows(grade: "Grade") -> list[tuple[str, str, str]]:
    rows = []
    for number, seat in enumerate(("first", "second")):
        if grade.vs_random is None or grade.ceilings is None:
            continue
        result, ceiling = grade.vs_random[number], grade.ceilings[number]
        actual = (
            f"wins {float(result.win):.2%}, draws {float(result.draw):.2%}, "
            f"loses {float(result.loss):.2%}"
        )
        best = f"wins {float(ceiling.win):.2%}, {float(ceiling.win_never_losing):.2%} without risk"
        rows.append((f"as {seat} against random", actual, best))
    return rows


def _print_refutation(grade: "Grade") -> None:
    moves = grade.beaten_by
    if moves is not None:
        end = grade.game.position(moves=moves)
        options.print_text(f"\nbeaten by {' '.join(moves)}: {end.verdict}\n{end}")


@command(
    examples=(
        "zermelo positions connect4 --number 10",
        "zermelo positions squava --number 50 --out squava.txt",
    )
)
@click.argument("game")
@options.integer_option("--number", "Number of positions.", 100, low=1, high=100_000)
@click.option(
    "--out", type=click.Path(path_type=Path), show_default="standard output", help="File to write."
)
@options.integer_option("--seed", "Random seed; the same seed reproduces the set.", 1)
@click.option(
    "--plies",
    type=(int, int),
    metavar="LOW HIGH",
    default=(0, 400),
    help="Minimum and maximum number of moves from the start of the game to the position.",
)
@click.option(
    "--decided",
    type=(int, int),
    metavar="LOW HIGH",
    default=(1, 400),
    help="Minimum and maximum number of plies to the end of the game under best play.",
)
@options.integer_option(
    "--keeping", "Use only positions in which at most N moves preserve the value.", 400, low=1
)
@options.integer_option(
    "--nodes", "Skip positions that take the solver more than N nodes.", 10_000_000, low=1
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
    """Generate positions of GAME with the exact values of all moves.

    The positions come from random games, no two are equivalent by symmetry, and each allows a
    mistake. A position is hard if the end is far away under best play and few moves preserve its
    value. `zermelo grade --positions` reads the file.
    """
    from zermelo.core.files import write_atomically
    from zermelo.games import registry
    from zermelo.grading import generate, position_sets

    for name, (low, high) in (("--plies", plies), ("--decided", decided)):
        if not 0 <= low <= high:
            msg = f"{name} {low} {high}: give two numbers, neither below 0, the lower one first"
            raise click.UsageError(msg)
    rules = registry.game(game)
    begin = time.perf_counter()
    with Progress(f"positions of {game}") as progress:
        generated = generate.generate_positions(
            rules,
            number,
            seed=seed,
            accept=generate.PositionFilter(plies, decided, keeping, nodes),
            progress=lambda done, examined: progress(
                f"{done:,} of {number:,} found, {examined:,} examined", done / number
            ),
        )
    command = (
        f"zermelo positions {game} --number {number} --seed {seed} --plies {plies[0]} {plies[1]} "
        f"--decided {decided[0]} {decided[1]} --keeping {keeping} --nodes {nodes}"
    )
    text = position_sets.to_text(generated, rules, seed, command)
    if out is None:
        options.print_record(text.removesuffix("\n"))
        return
    try:
        write_atomically(out, text, mode=0o644)
    except OSError as error:
        msg = f"cannot write {out}: {error.strerror}"
        raise ZermeloError(msg) from None
    seconds = time.perf_counter() - begin
    if as_json:
        options.print_json(
            {"game": game, "positions": number, "path": str(out), "seconds": round(seconds, 3)}
        )
    else:
        options.print_line(f"{out}: {count(number, 'position')} in {seconds:.1f} s")
