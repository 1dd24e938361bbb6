"""Code that commands share: common options, answers for positions, and readable output."""

import contextlib
import functools
import json
import math
import os
import queue
import shlex
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from zermelo.cli.common import progress
from zermelo.cli.common.tables import table_lines
from zermelo.core.errors import ZermeloError
from zermelo.core.phrases import escape_controls

if TYPE_CHECKING:
    from zermelo.core.game import Game
    from zermelo.core.position import Position
    from zermelo.matches.saves import Save
    from zermelo.ui.styles import Style

Command = Callable[..., Any]
Fields = dict[str, Any]  #: the JSON object of an answer

_FAILED = 1  # exit code
_MAX_LINE = 100_000  # characters
_ANSWERS = "zermelo.answers"  # key in click's `meta` of (stream for answers, id of its process)


# Options.


class Seconds(click.ParamType[float]):
    """The type of an option that takes a positive, finite number of seconds."""

    name = "seconds"

    def convert(self, value: Any, param: Any, ctx: Any) -> float:
        """Return the number of seconds, or fail with a usage error."""
        try:
            seconds = float(value)
        except ValueError:
            seconds = math.nan
        if not 0 < seconds <= 10**6:
            self.fail(f"{value!r} is not a number of seconds between 0 and 1,000,000", param, ctx)
        return seconds


def integer_option(
    name: str, text: str, default: int | None = None, *, low: int = 0, high: int | None = None,
    **settings: Any,
) -> Callable[[Command], Command]:  # fmt: skip
    """Return a decorator that adds an option whose value is an integer from `low` to `high`."""
    kind = click.IntRange(low, high)
    return click.option(name, metavar="N", type=kind, default=default, help=text, **settings)


def seconds_option(
    text: str, default: float | None = None, *, name: str = "--seconds", **settings: Any
) -> Callable[[Command], Command]:
    """Return a decorator that adds the option `name`, whose value is a number of seconds."""
    return click.option(name, type=Seconds(), default=default, help=text, **settings)


def file_option(name: str, text: str, **settings: Any) -> Callable[[Command], Command]:
    """Return a decorator that adds an option whose value is the path of a file."""
    kind = click.Path(dir_okay=False, path_type=Path)
    return click.option(name, type=kind, help=text, **settings)


def json_option(command: Command) -> Command:
    """Add `--json`, passed to the command as `as_json`."""
    return click.option("--json", "as_json", is_flag=True, help="Print JSON.")(command)


def db_option(text: str, default: str | None = None) -> Callable[[Command], Command]:
    """Return a decorator that adds `--db`; `default` describes its default in the help."""
    return file_option("--db", text, show_default=default)


def match_options(second: str) -> Callable[[Command], Command]:
    """Return a decorator that adds the options of commands that play a match on a screen.

    The help shows `second` as the default of `--second`; the command itself must apply it.
    """

    def add(command: Command) -> Command:
        for option in (
            click.option("--resume", is_flag=True, help="Continue the last unfinished game."),
            seconds_option("Time limit for each move of a player."),
            click.option(
                "--second",
                metavar="PLAYER",
                show_default=second,
                help="Player who moves second; `zermelo players` lists them.",
            ),
            click.option(
                "--first", metavar="PLAYER", show_default="human", help="Player who moves first."
            ),
            click.argument("game", required=False),
        ):
            command = option(command)
        return command

    return add


@dataclass(frozen=True)
class PositionSource:
    """Where a command gets its positions from: `--moves`, `--board` or `--stdin`."""

    moves: str | None
    board: str | None
    stdin: bool


def position_options(command: Command) -> Command:
    """Add `--moves`, `--board` and `--stdin`, passed to the command as one `source`."""

    @functools.wraps(command)
    def run(moves: str | None, board: str | None, from_stdin: bool, **others: Any) -> Any:
        if sum((moves is not None, board is not None, from_stdin)) > 1:
            msg = "give only one of --moves, --board and --stdin"
            raise click.UsageError(msg)
        return command(source=PositionSource(moves, board, from_stdin), **others)

    wrapped: Command = run
    for option in (
        click.option(
            "--stdin",
            "from_stdin",
            is_flag=True,
            help="Read one position per line of standard input: moves, or `board:` and a board.",
        ),
        click.option(
            "--board",
            help='Rows of the board from the top, then the side to move, such as "X../.O./... X".',
        ),
        moves_option,
    ):
        wrapped = option(wrapped)
    return wrapped


def moves_option(command: Command) -> Command:
    """Add `--moves`."""
    return click.option("--moves", help='Moves from the initial position, as in "b2 a1".')(command)


def runs_players(command: Command) -> Command:
    """Decorate a command so that its standard output contains nothing that players print."""

    @functools.wraps(command)
    def run(**values: Any) -> Any:
        from zermelo.games.user_output import reserve_stdout

        with reserve_stdout() as answers:
            click.get_current_context().meta[_ANSWERS] = answers, os.getpid()
            return command(**values)

    return run


def load_saved_game(game: str | None, first: str | None, second: str | None) -> "Save":
    """Return the saved game for `--resume`; `first` and `second` replace its players if given."""
    from zermelo.matches import saves

    save = saves.read(game)
    save = replace(save, first=first or save.first, second=second or save.second)
    saves.check_files(save, (game, first, second), save.resume_command())
    return save


def repeat_command(*, resume: bool = False) -> str:
    """Return the command line of this process, with or without `--resume`."""
    words = [word for word in sys.argv[1:] if word != "--resume"]
    return shlex.join(["zermelo", *words, *(["--resume"] if resume else [])])


@contextlib.contextmanager
def needs_torch() -> Iterator[None]:
    """Turn a failed import of torch into an error that says how to install it."""
    try:
        yield
    except ModuleNotFoundError as error:
        if error.name != "torch":
            raise
        msg = "this command needs torch: pip install 'zermelo[learn]'"
        raise ZermeloError(msg) from None


# Answers for positions.


def answer_positions(
    game: "Game",
    source: PositionSource,
    answer: Callable[["Position"], Fields],
    to_text: Callable[[Fields], str],
    *,
    as_json: bool,
    workers: int = 1,
    stop: threading.Event | None = None,
) -> int:
    """Print the answer for a position, or for each position on stdin; return the exit code.

    For a bad line, print an error instead of an answer. `to_text` must escape control characters;
    it may add colours. `workers` is the number of threads that
    compute answers; `stop` is set when no more answers are needed, for example after Ctrl-C.
    """
    if not source.stdin:
        fields = answer(game.position(source.board, moves=source.moves))
        _print_answer(fields, to_text, as_json=as_json)
        return 0

    def answer_line(line: str | None) -> Fields:
        try:
            return answer(_read_position(game, line))
        except ZermeloError as error:
            return {"error": str(error)}

    failed = False
    for fields in _map_in_order(answer_line, _read_lines(), workers, stop or threading.Event()):
        failed = failed or "error" in fields
        _print_answer(fields, to_text, as_json=as_json or "error" in fields)
    return _FAILED if failed else 0


def _print_answer(fields: Fields, to_text: Callable[[Fields], str], *, as_json: bool) -> None:
    if as_json:
        print_json(fields)
    else:
        print_styled(to_text(fields))


def _map_in_order(
    function: Callable[[str | None], Fields],
    lines: Iterator[str | None],
    workers: int,
    stop: threading.Event,
) -> Iterator[Fields]:
    """Yield the result for each line, in the order of the lines, as soon as it is available."""
    if workers == 1:
        yield from map(function, lines)
        return
    from concurrent.futures import Future, ThreadPoolExecutor

    pending: queue.Queue[Future[Fields] | None] = queue.Queue(4 * workers)
    with ThreadPoolExecutor(workers) as pool:

        def read() -> None:
            for line in lines:
                pending.put(pool.submit(function, line))
            pending.put(None)

        # Lines are read in a separate thread. Otherwise a program that waits for each answer
        # before it sends the next line would wait forever.
        threading.Thread(target=read, daemon=True).start()
        try:
            while (future := pending.get()) is not None:
                yield future.result()
        except BaseException:
            stop.set()
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _read_lines() -> Iterator[str | None]:
    """Yield each line of standard input, or None for a line that is too long to be a position."""
    while line := sys.stdin.readline(_MAX_LINE):
        if line.endswith("\n") or len(line) < _MAX_LINE:
            yield line.rstrip("\n")
            continue
        while (rest := sys.stdin.readline(_MAX_LINE)) and not rest.endswith("\n"):
            pass
        yield None


def _read_position(game: "Game", line: str | None) -> "Position":
    if line is None:
        msg = f"the line has more than {_MAX_LINE:,} characters"
        raise ZermeloError(msg)
    return game.parse_position(line)


# Output.


def print_line(text: str, *, bold: bool = False) -> None:
    """Print a line of text for people, with control characters escaped."""
    _write(click.style(escape_controls(text), bold=True) if bold else escape_controls(text))


def print_text(text: str) -> None:
    """Print text of several lines, with control characters escaped."""
    _write(escape_controls(text, keep="\n"))


def print_styled(text: str) -> None:
    """Print text whose control characters are escaped already, and which may have colours."""
    _write(text)


def print_record(text: str) -> None:
    """Print the contents of a file, with control characters escaped only on a terminal."""
    _write(escape_controls(text, keep="\n\t") if sys.stdout.isatty() else text)


def print_json(value: Any) -> None:
    """Print a value as JSON on one line."""
    _write(json.dumps(value))


def print_table(head: tuple[str, ...], rows: list[tuple[Any, ...]]) -> None:
    """Print a plain-text table with its header in bold; wrap long cells on a terminal."""
    texts = [head, *[tuple(escape_controls(str(cell)) for cell in row) for row in rows]]
    for number, lines in enumerate(table_lines(texts, output_style().width)):
        for line in lines:
            print_line(line, bold=number == 0)


def output_style() -> "Style":
    """Return the width and colours of the terminal to which answers go, or plain for a pipe."""
    from zermelo.ui.styles import style_of

    context = click.get_current_context(silent=True)
    answers, _ = (context and context.meta.get(_ANSWERS)) or (None, 0)
    return style_of(answers or sys.stdout)


def _write(text: str) -> None:
    """Write a text and a line break to standard output, which `runs_players` may have reserved."""
    context = click.get_current_context(silent=True)
    answers, pid = (context and context.meta.get(_ANSWERS)) or (None, os.getpid())
    if os.getpid() != pid:
        os._exit(0)  # a player has forked this process, and the original prints the answer
    with progress.hidden():
        click.echo(text, file=answers)


def format_bytes(number: int) -> str:
    """Return a file size in readable form, such as 1.8 kB."""
    if number < 10**6:
        return f"{number / 1e3:.1f} kB" if number < 10**4 else f"{number / 1e3:.0f} kB"
    return f"{number / 1e6:.1f} MB"
