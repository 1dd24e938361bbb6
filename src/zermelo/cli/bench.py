"""The command group `bench`, which runs benchmarks."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from zermelo.cli.common import options
from zermelo.cli.common.help import CommandGroup
from zermelo.cli.common.options import Command, Fields
from zermelo.cli.common.progress import Progress

_SOLVE_PARTS = ("sets", "alphabeta", "switches", "squava")
_BATCH_PARTS = ("solve", "evaluate")
_HYBRID_PARTS = ("search", "actors", "matches", "centre", "phases")
_COLUMNS = ("rate", "unit", "ms", "nodes", "seconds", "hits", "one", "times", "wins", "published")


@click.group(cls=CommandGroup, examples=("zermelo bench playouts --game tictactoe",))
def bench() -> None:
    """Measure speed and compare it with other installed libraries."""


_repeat_option = options.integer_option(
    "--repeat", "Number of runs; the median is reported.", 3, low=1, high=20
)


def _part_option(parts: tuple[str, ...], note: str = "") -> Callable[[Command], Command]:
    text = f"Run only this part; can be repeated.{note}"
    return click.option("--part", "parts", multiple=True, type=click.Choice(parts), help=text)


def _bench_options(command: Command) -> Command:
    for option in (
        click.option(
            "--game",
            "names",
            metavar="GAME",
            multiple=True,
            help="Measure only this game; can be repeated.",
        ),
        _repeat_option,
        options.seconds_option("Length of one measurement.", 1.0),
    ):
        command = option(command)
    return command


@bench.command(examples=("zermelo bench playouts --game tictactoe --seconds 0.5",))
@_bench_options
@options.json_option
def playouts(seconds: float, repeat: int, names: tuple[str, ...], as_json: bool) -> None:
    """Measure random playouts on one core, in moves per second."""
    from zermelo.bench import playouts as suite

    with Progress("measuring") as progress:
        report = suite.run(seconds, repeat, names or suite.GAMES, progress)
    _print_report(report, as_json=as_json)


@bench.command("mcts", examples=("zermelo bench mcts --game connect4 --matches 0",))
@_bench_options
@options.integer_option(
    "--matches",
    "Number of games against OpenSpiel's MCTS, for each game and setting.",
    1000,
    high=100_000,
)
@options.json_option
def bench_mcts(
    seconds: float, repeat: int, names: tuple[str, ...], matches: int, as_json: bool
) -> None:
    """Measure Monte Carlo tree search on one core.

    Measures simulations per second, and plays matches against OpenSpiel's search.
    """
    from zermelo.bench import mcts as suite

    with Progress("measuring") as progress:
        report = suite.run(seconds, repeat, names or suite.GAMES, matches, progress)
    _print_report(report, as_json=as_json)


@bench.command("learn", examples=("zermelo bench learn --budget 30 --seeds 1",))
@options.seconds_option("CPU seconds for each training run.", 120.0, name="--budget")
@options.integer_option(
    "--seeds", "Number of training runs for each system; the median is reported.", 3, low=1, high=20
)
@options.json_option
def bench_learn(budget: float, seeds: int, as_json: bool) -> None:
    """Measure deep Q-learning.

    Measures the speed of updates and actors, and the time to learn unbeatable tic-tac-toe.
    """
    with options.needs_torch(), Progress("measuring") as progress:
        from zermelo.bench import learn as suite

        report = suite.run(budget, seeds, progress)
    _print_report(report, as_json=as_json)


@bench.command("hybrid", examples=("zermelo bench hybrid --part search",))
@_part_option(_HYBRID_PARTS, " Default: all except `phases`, which trains networks.")
@options.integer_option("--number", "Number of positions for `search`.", 200, low=1, high=500)
@options.integer_option(
    "--games",
    "Number of games per match; a quarter of it in the part `phases`.",
    400,
    low=4,
    high=100_000,
)
@options.seconds_option("Time for each measurement in the part `actors`.", 5.0)
@click.option(
    "--run",
    "model",
    default="",
    show_default="random weights",
    help="Training run that supplies the network for `search`.",
)
@click.option(
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    help="Folder for the training runs of `phases`.",
)
@_repeat_option
@options.json_option
def bench_hybrid(
    parts: tuple[str, ...],
    number: int,
    games: int,
    seconds: float,
    model: str,
    out: Path | None,
    repeat: int,
    as_json: bool,
) -> None:
    """Compare the Squava hybrid with its published figures."""
    with options.needs_torch(), Progress("measuring") as progress:
        from zermelo.bench.squava import hybrid as suite

        report = suite.run(
            parts or suite.PARTS,
            progress,
            number=number,
            repeat=repeat,
            games=games,
            seconds=seconds,
            model=model,
            out=out,
        )
    _print_report(report, as_json=as_json)


@bench.command("selfplay", examples=("zermelo bench selfplay --repeat 1",))
@click.option(
    "--device",
    type=click.Choice(["cpu", "cuda"]),
    default="cpu",
    help="Device to run the network on.",
)
@click.option(
    "--games",
    "batches",
    multiple=True,
    type=click.IntRange(1, 1 << 20),
    show_default="1024, 8192 and 32768",
    help="Batch size on a GPU; can be repeated.",
)
@_repeat_option
@options.json_option
def bench_selfplay(device: str, batches: tuple[int, ...], repeat: int, as_json: bool) -> None:
    """Measure AlphaZero search and self-play.

    On a GPU, also measures pgx with mctx, and the network alone.
    """
    with options.needs_torch(), Progress("measuring") as progress:
        from zermelo.bench import selfplay as suite

        report = suite.run(device, batches or suite.BATCHES, repeat, progress)
    _print_report(report, as_json=as_json)


@bench.command(examples=("zermelo bench envs --game connect4",))
@_bench_options
@options.json_option
def envs(seconds: float, repeat: int, names: tuple[str, ...], as_json: bool) -> None:
    """Compare our environments with those of PettingZoo and pgx.

    Measures single environments and vector environments.
    """
    from zermelo.bench import envs as suite

    for name in names:
        if name not in suite.GAMES:
            msg = f"--game {name}: PettingZoo has only {', '.join(suite.GAMES)}"
            raise click.UsageError(msg)
    with Progress("measuring") as progress:
        report = suite.run(seconds, repeat, names or tuple(suite.GAMES), progress)
    _print_report(report, as_json=as_json)


@bench.command("solve", examples=("zermelo bench solve --part alphabeta --repeat 1",))
@click.option(
    "--positions",
    "file",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="File of Connect Four positions: CSV with columns `moves` and `set`, or one per line.",
)
@_part_option(_SOLVE_PARTS)
@options.integer_option(
    "--number", "Number of positions in each generated set.", 500, low=1, high=10_000
)
@_repeat_option
@options.json_option
def bench_solve(
    file: Path | None, parts: tuple[str, ...], number: int, repeat: int, as_json: bool
) -> None:
    """Measure exact search on one core.

    Measures sets of Connect Four positions, alpha-beta, and the effect of each optimization.
    """
    from zermelo.bench import solve as suite

    with Progress("measuring") as progress:
        report = suite.run(number, repeat, parts or _SOLVE_PARTS, file, progress)
    _print_report(report, as_json=as_json)


@bench.command("batches", examples=("zermelo bench batches --number 1000 --repeat 1",))
@click.option(
    "--positions",
    "file",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="File of Connect Four positions to solve, as for `bench solve`.",
)
@_part_option(_BATCH_PARTS)
@options.integer_option("--number", "Number of positions.", 10_000, low=10, high=100_000)
@_repeat_option
@options.json_option
def bench_batches(
    file: Path | None, parts: tuple[str, ...], number: int, repeat: int, as_json: bool
) -> None:
    """Compare batches from Python with the kernels they run.

    Measures `z.solve_many` and a loop over `z.solve`, and `z.model(…).evaluate` of every shipped
    model, on one core.
    """
    from zermelo.bench.batches import suite

    with Progress("measuring") as progress:
        report = suite.run(parts or _BATCH_PARTS, file, number, repeat, progress)
    _print_report(report, as_json=as_json)


@bench.command(examples=("zermelo bench solved --write solved-games.md",))
@options.file_option("--write", "Markdown file to write the table to.")
@options.json_option
def solved(write: Path | None, as_json: bool) -> None:
    """Prove the published values of solved games again.

    The games are m,n,k-games, Connect Four in many sizes, 4x4 Reversi and Squava.
    """
    from zermelo.bench import solved as suite

    with Progress("proving") as progress:
        rows = suite.run(progress)
    if write is not None:
        write.write_text(suite.to_markdown(rows), encoding="utf-8")
    if as_json:
        options.print_json(suite.to_dict(rows))
        return
    options.print_table(
        ("game", "after", "value", "plies", "nodes", "seconds"),
        [
            (r.game, r.position, r.value, r.plies or "", f"{r.nodes:,}", f"{r.seconds:.2f}")
            for r in rows
        ],
    )


@bench.command(examples=("zermelo bench signature",))
@options.json_option
def signature(as_json: bool) -> None:
    """Print the total node count of a fixed list of searches.

    The count changes only if the rules or the search change.
    """
    from zermelo.bench import signature as suite

    report = suite.run()
    if as_json:
        options.print_json(report)
    else:
        click.echo(f"signature {report['signature']}")


def _print_report(report: Fields, *, as_json: bool) -> None:
    if as_json:
        options.print_json(report)
        return
    columns = [c for c in _COLUMNS if any(c in r for r in report["rows"])]
    options.print_table(
        ("game", "task", "system", *columns),
        [
            (r["game"], r["task"], r["system"], *[_cell_text(r.get(c, "")) for c in columns])
            for r in report["rows"]
        ],
    )
    for key, ratios in report["ratios"].items():
        for system, ratio in ratios.items():
            click.echo(f"{key}: {_ratio_text(ratio)} times as fast as {system}")
    for note in report.get("notes", []):
        click.echo(note)


def _ratio_text(ratio: float) -> str:
    return f"{ratio:.2f}" if ratio < 2 else f"{ratio:.1f}"


def _cell_text(value: Any) -> str:
    return value if isinstance(value, str) else f"{value:,}"
