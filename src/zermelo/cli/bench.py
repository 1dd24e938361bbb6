"""Commands about speed: compiling ahead, and the benchmarks."""

import contextlib
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import click

from zermelo.cli import options
from zermelo.core.errors import ZermeloError

_PARTS = ("sets", "alphabeta", "switches", "squava")  # of `bench solve`
_HYBRID_PARTS = ("search", "actors", "matches", "centre", "phases")
_COLUMNS = ("rate", "unit", "ms", "nodes", "seconds", "hits", "one", "times", "wins", "published")


@click.command()
@click.argument("games", nargs=-1)
@options.json_option
def warm(games: tuple[str, ...], as_json: bool) -> None:
    """Compile what is not yet compiled, for GAMES or for all, so that nothing waits later."""
    from zermelo import precompile

    begin = time.perf_counter()
    with options.progress("compiling") as progress:
        number = precompile.warm(progress, games)
    seconds = round(time.perf_counter() - begin, 1)
    if as_json:
        options.print_json({"kernels": number, "seconds": seconds})
    else:
        click.echo(f"{number} kernels ready in {seconds} s")


@click.group()
def bench() -> None:
    """Measure, beside the peers that are installed."""


_repeat_option = click.option(
    "--repeat", default=3, type=click.IntRange(1, 20), help="Runs; the median counts."
)


def _bench_options(command: Callable[..., Any]) -> Callable[..., Any]:
    for option in (
        click.option("--game", "names", multiple=True, help="Only these games."),
        _repeat_option,
        click.option("--seconds", default=1.0, type=options.Seconds(), help="Per measurement."),
    ):
        command = option(command)
    return command


@bench.command()
@_bench_options
@options.json_option
def playouts(seconds: float, repeat: int, names: tuple[str, ...], as_json: bool) -> None:
    """Random play on one core, in steps a second, in one run with the peers."""
    from zermelo.bench import playouts as suite

    with options.progress("measuring") as progress:
        report = suite.run(seconds, repeat, names or suite.GAMES, progress)
    _print_report(report, as_json=as_json)


@bench.command("mcts")
@_bench_options
@click.option(
    "--matches",
    default=1000,
    show_default=True,
    type=click.IntRange(0, 100_000),
    help="Games against OpenSpiel's, a kind and game.",
)
@options.json_option
def bench_mcts(
    seconds: float, repeat: int, names: tuple[str, ...], matches: int, as_json: bool
) -> None:
    """Monte Carlo tree search on one core, in simulations a second and in games."""
    from zermelo.bench import mcts as suite

    with options.progress("measuring") as progress:
        report = suite.run(seconds, repeat, names or suite.GAMES, matches, progress)
    _print_report(report, as_json=as_json)


@bench.command("learn")
@click.option(
    "--budget",
    default=120.0,
    show_default=True,
    type=options.Seconds(),
    help="CPU seconds of a training.",
)
@click.option(
    "--seeds",
    default=3,
    show_default=True,
    type=click.IntRange(1, 20),
    help="Trainings of each system; the median counts.",
)
@options.json_option
def bench_learn(budget: float, seeds: int, as_json: bool) -> None:
    """Deep Q-learning: its speed, that of actors, and the time to unbeatable tic-tac-toe."""
    with _torch(), options.progress("measuring") as progress:
        from zermelo.bench import learn as suite

        report = suite.run(budget, seeds, progress)
    _print_report(report, as_json=as_json)


@contextlib.contextmanager
def _torch() -> Iterator[None]:
    """Says what is missing where torch is."""
    try:
        yield
    except ModuleNotFoundError as error:
        if error.name != "torch":
            raise
        msg = "learning needs torch: pip install 'zermelo[learn]'"
        raise ZermeloError(msg) from None


@bench.command("hybrid")
@click.option(
    "--part",
    "parts",
    multiple=True,
    type=click.Choice(_HYBRID_PARTS),
    help="Only these measurements; phases trains for a while, and only when asked for.",
)
@click.option(
    "--number",
    default=200,
    show_default=True,
    type=click.IntRange(1, 500),
    help="Positions of search.",
)
@click.option(
    "--games",
    default=400,
    show_default=True,
    type=click.IntRange(4, 100_000),
    help="Of each match; after a phase a quarter.",
)
@click.option(
    "--seconds",
    default=5.0,
    show_default=True,
    type=options.Seconds(),
    help="Of play by an actor, about.",
)
@click.option(
    "--run", "model", default="", help="A run of the published network, for search; fresh weights."
)
@click.option(
    "--out", type=click.Path(path_type=Path, file_okay=False), help="The folder of phases."
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
    """The Squava hybrid beside what was published for it: search, actors, matches, phases."""
    with _torch(), options.progress("measuring") as progress:
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


@bench.command("selfplay")
@click.option("--device", type=click.Choice(["cpu", "cuda"]), default="cpu", show_default=True)
@click.option(
    "--games",
    "batches",
    multiple=True,
    type=click.IntRange(1, 1 << 20),
    help="At once, on a GPU.  [1024, 8192 and 32768]",
)
@_repeat_option
@options.json_option
def bench_selfplay(device: str, batches: tuple[int, ...], repeat: int, as_json: bool) -> None:
    """AlphaZero's search and self-play, on a GPU beside pgx with mctx and the bare network."""
    with _torch(), options.progress("measuring") as progress:
        from zermelo.bench import selfplay as suite

        report = suite.run(device, batches or suite.BATCHES, repeat, progress)
    _print_report(report, as_json=as_json)


@bench.command()
@_bench_options
@options.json_option
def envs(seconds: float, repeat: int, names: tuple[str, ...], as_json: bool) -> None:
    """Our PettingZoo environments beside its own, wrapped and raw, in one run."""
    from zermelo.bench import envs as suite

    for name in names:
        if name not in suite.GAMES:
            msg = f"PettingZoo has no {name}: {', '.join(suite.GAMES)}"
            raise click.UsageError(msg)
    with options.progress("measuring") as progress:
        report = suite.run(seconds, repeat, names or tuple(suite.GAMES), progress)
    _print_report(report, as_json=as_json)


@bench.command("solve")
@click.option(
    "--positions",
    "file",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="Connect Four positions: a csv with the columns moves and set, or moves, one line each.",
)
@click.option(
    "--part", "parts", multiple=True, type=click.Choice(_PARTS), help="Only these measurements."
)
@click.option(
    "--number", default=500, type=click.IntRange(1, 10_000), help="Positions a set that we draw."
)
@_repeat_option
@options.json_option
def bench_solve(
    file: Path | None, parts: tuple[str, ...], number: int, repeat: int, as_json: bool
) -> None:
    """Exact search on one core: Connect Four sets, alpha-beta, and what each switch is worth."""
    from zermelo.bench import solve as suite

    with options.progress("measuring") as progress:
        report = suite.run(number, repeat, parts or _PARTS, file, progress)
    _print_report(report, as_json=as_json)


@bench.command()
@click.option("--write", type=click.Path(dir_okay=False, path_type=Path), help="As a page.")
@options.json_option
def solved(write: Path | None, as_json: bool) -> None:
    """Prove every published value again: m,n,k games, Connect Four by size, Reversi 4x4, Squava."""
    from zermelo.bench import solved as suite

    with options.progress("proving") as progress:
        rows = suite.run(progress)
    if write is not None:
        write.write_text(suite.to_markdown(rows), encoding="utf-8")
    if as_json:
        options.print_json(suite.to_json(rows))
        return
    options.table(
        ("game", "after", "value", "plies", "positions", "seconds"),
        [
            (r.game, r.position, r.value, r.plies or "", f"{r.nodes:,}", f"{r.seconds:.2f}")
            for r in rows
        ],
    )


@bench.command()
@options.json_option
def signature(as_json: bool) -> None:
    """The nodes of a fixed list of searches: they change only when rules or search do."""
    from zermelo.bench import signature as suite

    report = suite.run()
    if as_json:
        options.print_json(report)
    else:
        click.echo(f"signature {report['signature']}")


def _print_report(report: dict[str, Any], *, as_json: bool) -> None:
    if as_json:
        options.print_json(report)
        return
    columns = [c for c in _COLUMNS if any(c in r for r in report["rows"])]
    options.table(
        ("game", "task", "system", *columns),
        [
            (r["game"], r["task"], r["system"], *[_cell(r.get(c, "")) for c in columns])
            for r in report["rows"]
        ],
    )
    for key, ratios in report["ratios"].items():
        for system, ratio in ratios.items():
            click.echo(f"{key}: {ratio:.1f} times {system}")
    for note in report.get("notes", []):
        click.echo(note)


def _cell(value: Any) -> str:
    return value if isinstance(value, str) else f"{value:,}"
