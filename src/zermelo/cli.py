"""The command line. Commands import what they need when they run: `--help` stays light."""

import errno
import json
import math
import os
import sys
import time
from collections.abc import Callable, Iterator
from typing import IO, TYPE_CHECKING, Any

import click

from zermelo import __version__
from zermelo.errors import ZermeloError

if TYPE_CHECKING:
    from zermelo.contract import Game, Position

_BAD_ARGUMENTS, _FAILED, _INTERRUPTED = 2, 1, 130
_MAX_LINE = 100_000


def main() -> None:
    """Run a command; what is wrong with its arguments is one line on stderr and exit code 2."""
    if sys.stdin is None:
        sys.stdin = open(os.devnull, encoding="utf-8")  # noqa: PTH123, SIM115 - for the whole run
    elif hasattr(sys.stdin, "reconfigure"):
        sys.stdin.reconfigure(errors="replace")  # bytes that are no text are bad input, no crash
    try:
        code = cli(standalone_mode=False)
        sys.stdout.flush()
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message())
        code = 0
    except click.ClickException as error:
        code = _complain(error.format_message())
    except ZermeloError as error:
        code = _complain(str(error))
    except (click.Abort, KeyboardInterrupt):
        _complain("stopped")
        code = _INTERRUPTED
    except (BrokenPipeError, SystemExit):  # the reader has gone, as with `| head`; click exits
        code = _gone()
    except OSError as error:
        code = (
            _gone() if error.errno == errno.EPIPE else _complain(f"cannot write: {error.strerror}")
        )
    except Exception as error:
        from zermelo.games import files

        where = files.blame(error)
        if where is None:
            raise
        code = _complain(where)
    sys.exit(code or 0)


def _gone() -> int:
    """Nobody reads any more: end quietly, whatever Python still wants to flush."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0


def _complain(text: str) -> int:
    line = " ".join(text.split())
    click.echo(f"zermelo: {line}", err=True)
    return _BAD_ARGUMENTS


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="zermelo")
def cli() -> None:
    """Two-player games of perfect information: play them, count them, measure them.

    A game is a spec such as tictactoe, mnk:5x5x4 or connect4; a player is one such as human or
    random:seed=1. `zermelo games` and `zermelo players` list them.
    """


class _Seconds(click.ParamType[float]):
    """A time that can pass."""

    name = "seconds"

    def convert(self, value: Any, param: Any, ctx: Any) -> float:
        try:
            seconds = float(value)
        except ValueError:
            seconds = math.nan
        if not 0 < seconds <= 10**6:
            self.fail(f"{value!r} is no time: a number of seconds above 0", param, ctx)
        return seconds


def _json_option(command: Callable[..., Any]) -> Callable[..., Any]:
    return click.option("--json", "as_json", is_flag=True, help="Answer for machines.")(command)


@cli.command()
@_json_option
def games(as_json: bool) -> None:
    """What games there are, with their parameters."""
    from zermelo.games import files, registry

    rows = [
        {
            "name": e.name,
            "summary": e.summary,
            "parameters": {p.name: p.default for p in e.parameters},
            "example": e.example,
        }
        for e in registry.entries()
    ]
    rows += [
        {"name": name, "summary": "from an installed package", "parameters": {}, "example": name}
        for name in files.installed_names()
    ]
    if as_json:
        _print_json(rows)
        return
    _table(
        ("game", "what it is", "parameters", "example"),
        [(r["name"], r["summary"], _parameters(r), r["example"]) for r in rows],
    )


@cli.command()
@_json_option
def players(as_json: bool) -> None:
    """What players there are, with their parameters."""
    from zermelo import roster

    rows = [
        {
            "name": e.name,
            "summary": e.summary,
            "parameters": {p.name: p.default for p in e.parameters},
        }
        for e in roster.entries()
    ]
    if as_json:
        _print_json(rows)
        return
    _table(
        ("player", "who it is", "parameters"),
        [(r["name"], r["summary"], _parameters(r)) for r in rows],
    )


def _parameters(row: dict[str, Any]) -> str:
    shown = {k: str(v).lower() if isinstance(v, bool) else v for k, v in row["parameters"].items()}
    return " ".join(k if v is None else f"{k}={v}" for k, v in shown.items())


@cli.command()
@click.argument("game", required=False)
@click.option("--first", help="Who moves first; a player spec.  [human]")
@click.option("--second", help="Who moves second; a player spec.  [random]")
@click.option("--seconds", type=_Seconds(), help="Thinking time a move.")
@click.option("--indices", is_flag=True, help="Show what to type in the empty cells.")
@click.option("--resume", is_flag=True, help="Go on with the game that was left.")
def play(
    game: str | None,
    first: str | None,
    second: str | None,
    seconds: float | None,
    indices: bool,
    resume: bool,
) -> None:
    """Play GAME in the terminal, with 0, 1 or 2 humans."""
    from zermelo import roster, saves
    from zermelo.games import files, registry
    from zermelo.matches import Match
    from zermelo.players import Limit
    from zermelo.ui import terminal

    moves: tuple[str, ...] = ()
    if resume:
        if first is not None or second is not None:
            msg = (
                "--resume goes on with the players it was left with: leave --first and --second out"
            )
            raise click.UsageError(msg)
        save = saves.read(game)
        if files.is_file(save.game) and game != save.game:
            msg = f"the saved game is played by a file: zermelo play {save.game} --resume"
            raise click.UsageError(msg)
        game, first, second, moves = save.game, save.first, save.second, save.moves
    if game is None:
        msg = "which game? zermelo play tictactoe, or zermelo games for the list"
        raise click.UsageError(msg)
    match = Match(registry.game(game), moves)
    players = (first or roster.HUMAN).strip(), (second or "random").strip()
    for spec in players:
        roster.check(spec)
    options = terminal.Options(indices, terminal.wants_colour(), Limit(seconds=seconds))
    terminal.play(match, players, options)


def _position_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Where a command's position comes from."""
    for option in (
        click.option("--stdin", "from_stdin", is_flag=True, help="One position a line."),
        click.option("--board", help="Rows from the top: X../.O./... X"),
        click.option("--moves", help='Moves from the start: "b2 a1"'),
    ):
        command = option(command)
    return command


@cli.command()
@click.argument("game")
@click.argument("player")
@_position_options
@click.option("--seconds", type=_Seconds(), help="Thinking time.")
@_json_option
def choose(
    game: str,
    player: str,
    moves: str | None,
    board: str | None,
    from_stdin: bool,
    seconds: float | None,
    as_json: bool,
) -> int:
    """PLAYER's move in GAME, for scripts."""
    from zermelo import roster
    from zermelo.games import registry
    from zermelo.players import Limit

    rules = registry.game(game)
    chooser = roster.player(player)

    def answer(position: "Position") -> dict[str, Any]:
        return chooser.choose(position, Limit(seconds=seconds)).choice()

    return _answer(rules, answer, moves, board, from_stdin, as_json, lambda found: found["move"])


def _answer(
    game: "Game",
    answer: Callable[["Position"], dict[str, Any]],
    moves: str | None,
    board: str | None,
    from_stdin: bool,
    as_json: bool,
    to_text: Callable[[dict[str, Any]], str],
) -> int:
    """One answer, or one a line of standard input; a bad line is answered in its place."""
    if sum((moves is not None, board is not None, from_stdin)) > 1:
        msg = "give one of --moves, --board and --stdin"
        raise click.UsageError(msg)
    if not from_stdin:
        found = answer(game.position(board, moves=moves))
        click.echo(json.dumps(found) if as_json else to_text(found))
        return 0
    failed = False
    for line in _lines():
        try:
            found = answer(_position(game, line))
        except ZermeloError as error:
            failed, found = True, {"error": str(error)}
        click.echo(json.dumps(found) if as_json or "error" in found else to_text(found))
        sys.stdout.flush()
    return _FAILED if failed else 0


def _lines() -> Iterator[str | None]:
    """Standard input line by line, None for a line that is too long to be a position."""
    while line := sys.stdin.readline(_MAX_LINE):
        if line.endswith("\n") or len(line) < _MAX_LINE:
            yield line.rstrip("\n")
            continue
        while (rest := sys.stdin.readline(_MAX_LINE)) and not rest.endswith("\n"):
            pass
        yield None


def _position(game: "Game", line: str | None) -> "Position":
    if line is None:
        msg = f"a line of more than {_MAX_LINE:,} characters is no position"
        raise ZermeloError(msg)
    line = line.strip()
    if line.startswith("board:"):
        return game.position(line.removeprefix("board:").strip())
    return game.position(moves=line)


@cli.command()
@click.argument("game")
@_position_options
@click.option(
    "--goal",
    type=click.Choice(["exact", "wdl", "win"]),
    default="exact",
    help="With distance; win, draw or loss; or only whether it wins.",
)
@click.option("--seconds", type=_Seconds(), help="Give up proving after so long.")
@_json_option
def solve(
    game: str,
    moves: str | None,
    board: str | None,
    from_stdin: bool,
    goal: str,
    seconds: float | None,
    as_json: bool,
) -> int:
    """The exact value of a position of GAME, its distance and all best moves."""
    from zermelo.contract import WordGame
    from zermelo.games import registry
    from zermelo.players import Limit
    from zermelo.search import solver as solving

    rules = registry.game(game)
    solver = solving.Solver(rules) if isinstance(rules, WordGame) else None

    def answer(position: "Position") -> dict[str, Any]:
        found = solving.solve(position, goal, Limit(seconds=seconds), solver=solver)
        return found.to_json(game)

    with _progress(f"solving {game}") as progress:
        if solver is not None:
            solver.progress = lambda nodes: progress(f"{nodes:,} nodes")
        return _answer(rules, answer, moves, board, from_stdin, as_json, _solution_text)


def _solution_text(found: dict[str, Any]) -> str:
    value = found["value"] or "not proven"
    plies = f" in {found['plies']} plies" if found["plies"] else ""
    parts = [f"{value}{plies}"]
    parts += [
        f"{name} {found[name]:+d}" for name in ("score", "diff") if found.get(name) is not None
    ]
    parts += [f"best {' '.join(found['best'])}"] if found["best"] else []
    parts += [f"line {' '.join(found['pv'])}"] if found["pv"] else []
    return f"{'; '.join(parts)} ({found['nodes']:,} nodes, {found['seconds']:.2f} s)"


@cli.command()
@click.argument("game")
@click.option("--moves", help='Moves from the start: "b2 a1"')
@click.option(
    "--method",
    type=click.Choice(["minimax", "alphabeta", "memo", "both", "value-iteration"]),
    default="minimax",
)
@click.option("--depth", type=click.IntRange(1, 1000), help="Look so many plies ahead.")
@click.option("--order", type=click.Choice(["index", "centre"]), default="index")
@click.option("--deepen", is_flag=True, help="Depth 1, 2, 3, … to the limit.")
@click.option("--distance", is_flag=True, help="Prefer the faster win and the slower loss.")
@_json_option
def textbook(
    game: str,
    moves: str | None,
    method: str,
    depth: int | None,
    order: str,
    deepen: bool,
    distance: bool,
    as_json: bool,
) -> None:
    """Search GAME as the textbook does, and count what it costs."""
    from zermelo.games import registry
    from zermelo.search import textbook as book

    rules = registry.game(game)
    position = rules.position(moves=moves)
    switches = {"method": method, "depth": depth, "order": order, "distance": distance}
    if method == "value-iteration" and (depth or deepen or distance or order != "index"):
        msg = "value iteration has no depth, order or distance"
        raise click.UsageError(msg)
    found = book.answer(position, deepens=deepen, **switches)
    if as_json:
        _print_json({**found, "game": game})
        return
    click.echo(_solution_text(found))
    click.echo(
        " ".join(f"{name} {found[name]:,}" for name in ("nodes", "leaves", "cutoffs", "cache_hits"))
    )


@cli.command()
@click.argument("game")
@click.option("--perft", type=click.IntRange(0, 1000), help="Move sequences of length 1 to N.")
@click.option("--states", is_flag=True, help="Distinct states, and how many a ply.")
@click.option("--symmetric", is_flag=True, help="With --states: up to symmetry.")
@click.option("--games", "whole_games", is_flag=True, help="Whole games, by who wins.")
@_json_option
def count(
    game: str,
    perft: int | None,
    states: bool,
    symmetric: bool,
    whole_games: bool,
    as_json: bool,
) -> None:
    """Count move sequences, states and whole games of GAME."""
    from zermelo.games import registry
    from zermelo.search import count as counting

    rules = registry.game(game)
    if perft is None and not states and not whole_games:
        msg = "what to count? --perft N, --states or --games"
        raise click.UsageError(msg)
    if symmetric and not states:
        msg = "--symmetric goes with --states"
        raise click.UsageError(msg)
    found: dict[str, Any] = {"game": game}
    whole = states or whole_games
    with _progress(f"counting {game}") as progress:
        counts = counting.count(
            rules,
            max_ply=None if whole else perft,
            states=states,
            ways=perft is not None or whole_games,
            symmetric=symmetric,
            progress=lambda ply, total: progress(f"ply {ply}: {total:,} states"),
        )
    if perft is not None:
        found["perft"] = counts.perft(perft)
    if states:
        found["states"], found["by_ply"] = counts.states, counts.by_ply
    if whole_games:
        found["games"] = counts.games
    if as_json:
        _print_json(found)
    else:
        _print_counts(found, symmetric=symmetric)


def _print_counts(found: dict[str, Any], *, symmetric: bool) -> None:
    by_ply, perft = found.get("by_ply", []), found.get("perft", [])
    rows = [
        (
            ply,
            f"{by_ply[ply]:,}" if ply < len(by_ply) else "",
            f"{perft[ply - 1]:,}" if 0 < ply <= len(perft) else "",
        )
        for ply in range(max(len(by_ply), len(perft) + 1))
    ]
    if by_ply or perft:
        _table(("ply", "new states", "sequences"), rows)
    if "states" in found:
        click.echo(f"{found['states']:,} states{' up to symmetry' if symmetric else ''}")
    if "games" in found:
        ends = found["games"]
        click.echo(
            f"{ends['total']:,} games: {ends['first']:,} won by the first player, "
            f"{ends['second']:,} by the second, {ends['draw']:,} drawn"
        )


@cli.command()
@click.argument("file", type=click.File("r", encoding="utf-8", errors="replace"))
@click.option("--from", "source", default="text", help="The file's format.")
@click.option("--to", "target", default="text", help="The format to write.")
@click.option("--game", help="The game, where the format does not name it.")
def convert(file: IO[str], source: str, target: str, game: str | None) -> None:
    """Games in FILE (- for standard input) from one record format to another, all checked.

    Formats: text, json, psq, sgf, digits (Connect Four), transcript (Reversi).
    """
    from zermelo import records
    from zermelo.games import registry

    rules = registry.game(game) if game else None
    for record in list(records.read_all(file, source, rules)):  # all of them, or none
        click.echo(records.write(record, target).rstrip("\n"))


@cli.command()
@_json_option
def warm(as_json: bool) -> None:
    """Compile what is not yet compiled, so that nothing waits for it later."""
    from zermelo import warming

    begin = time.perf_counter()
    with _progress("compiling") as progress:
        number = warming.warm(progress)
    seconds = round(time.perf_counter() - begin, 1)
    if as_json:
        _print_json({"kernels": number, "seconds": seconds})
    else:
        click.echo(f"{number} kernels ready in {seconds} s")


@cli.group()
def bench() -> None:
    """Measure, beside the peers that are installed."""


def _bench_options(command: Callable[..., Any]) -> Callable[..., Any]:
    for option in (
        click.option("--game", "names", multiple=True, help="Only these games."),
        click.option(
            "--repeat", default=3, type=click.IntRange(1, 20), help="Runs; the median counts."
        ),
        click.option("--seconds", default=1.0, type=_Seconds(), help="Per measurement."),
    ):
        command = option(command)
    return command


@bench.command()
@_bench_options
@_json_option
def playouts(seconds: float, repeat: int, names: tuple[str, ...], as_json: bool) -> None:
    """Random play on one core, in steps a second, in one run with the peers."""
    from zermelo.bench import playouts as suite

    with _progress("measuring") as progress:
        report = suite.run(seconds, repeat, names or suite.GAMES, progress)
    _print_report(report, as_json=as_json)


@bench.command()
@_bench_options
@_json_option
def envs(seconds: float, repeat: int, names: tuple[str, ...], as_json: bool) -> None:
    """Our PettingZoo environments beside its own, wrapped and raw, in one run."""
    from zermelo.bench import envs as suite

    for name in names:
        if name not in suite.GAMES:
            msg = f"PettingZoo has no {name}: {', '.join(suite.GAMES)}"
            raise click.UsageError(msg)
    with _progress("measuring") as progress:
        report = suite.run(seconds, repeat, names or tuple(suite.GAMES), progress)
    _print_report(report, as_json=as_json)


@bench.command()
@_json_option
def signature(as_json: bool) -> None:
    """A fixed total of move sequences: it changes only when rules or search do."""
    from zermelo.bench import signature as suite

    report = suite.run()
    if as_json:
        _print_json(report)
    else:
        click.echo(f"signature {report['signature']}")


def _print_report(report: dict[str, Any], *, as_json: bool) -> None:
    if as_json:
        _print_json(report)
        return
    _table(
        ("game", "task", "system", "rate", "unit"),
        [
            (r["game"], r["task"], r["system"], f"{r['rate']:,.0f}", r["unit"])
            for r in report["rows"]
        ],
    )
    for key, ratios in report["ratios"].items():
        for system, ratio in ratios.items():
            click.echo(f"{key}: {ratio:.1f} times {system}")
    for note in report.get("notes", []):
        click.echo(note)


def _print_json(value: Any) -> None:
    click.echo(json.dumps(value))


def _table(head: tuple[str, ...], rows: list[tuple[Any, ...]]) -> None:
    """A plain table, columns as wide as they need to be."""
    texts = [head, *[tuple(str(cell) for cell in row) for row in rows]]
    widths = [max(len(row[i]) for row in texts) for i in range(len(head))]
    for number, row in enumerate(texts):
        line = "  ".join(f"{cell:{width}}" for cell, width in zip(row, widths, strict=True))
        click.secho(line.rstrip(), bold=number == 0)


class _progress:  # noqa: N801 - used as a function
    """A line on stderr that says what goes on, only where somebody is watching."""

    def __init__(self, title: str) -> None:
        self.title, self.shown = title, sys.stderr.isatty()
        self.last = 0.0

    def __enter__(self) -> Callable[[str], None]:
        return self.say

    def say(self, text: str) -> None:
        """At most ten times a second."""
        now = time.monotonic()
        if self.shown and now - self.last > 0.1:
            self.last = now
            click.echo(f"\r\x1b[K{self.title}: {text}", err=True, nl=False)

    def __exit__(self, *_: object) -> None:
        if self.shown and self.last:
            click.echo("\r\x1b[K", err=True, nl=False)


if __name__ == "__main__":
    main()
