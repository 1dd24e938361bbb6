"""What commands share: the options that many take, positions read, answers printed."""

import contextlib
import json
import math
import queue
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import click

from zermelo.core.errors import ZermeloError

if TYPE_CHECKING:
    from zermelo.core.game import Game
    from zermelo.core.position import Position
    from zermelo.matches.saves import Save

Tool = TypeVar("Tool")
_FAILED = 1
_MAX_LINE = 100_000


class Seconds(click.ParamType[float]):
    """A time that can pass."""

    name = "seconds"

    def convert(self, value: Any, param: Any, ctx: Any) -> float:
        """The seconds that a text names; what cannot pass fails as a bad argument."""
        try:
            seconds = float(value)
        except ValueError:
            seconds = math.nan
        if not 0 < seconds <= 10**6:
            self.fail(f"{value!r} is no time: a number of seconds above 0", param, ctx)
        return seconds


def json_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """Whether the answer is JSON."""
    return click.option("--json", "as_json", is_flag=True, help="Answer for machines.")(command)


def position_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Where a command's position comes from."""
    for option in (
        click.option("--stdin", "from_stdin", is_flag=True, help="One position a line."),
        click.option("--board", help="Rows from the top: X../.O./... X"),
        click.option("--moves", help='Moves from the start: "b2 a1"'),
    ):
        command = option(command)
    return command


def answer(
    game: "Game",
    find: Callable[["Position"], dict[str, Any]],
    moves: str | None,
    board: str | None,
    from_stdin: bool,
    as_json: bool,
    to_text: Callable[[dict[str, Any]], str],
    *,
    workers: int = 1,
    stop: threading.Event | None = None,
) -> int:
    """One answer, or one a line of standard input; a bad line is answered in its place."""
    if sum((moves is not None, board is not None, from_stdin)) > 1:
        msg = "give one of --moves, --board and --stdin"
        raise click.UsageError(msg)
    if not from_stdin:
        found = find(game.position(board, moves=moves))
        click.echo(json.dumps(found) if as_json else to_text(found))
        return 0

    def answer_line(line: str | None) -> dict[str, Any]:
        try:
            return find(_position(game, line))
        except ZermeloError as error:
            return {"error": str(error)}

    failed = False
    for found in _in_order(answer_line, _lines(), workers, stop or threading.Event()):
        failed = failed or "error" in found
        click.echo(json.dumps(found) if as_json or "error" in found else to_text(found))
        sys.stdout.flush()
    return _FAILED if failed else 0


def _in_order(
    work: Callable[[str | None], dict[str, Any]],
    lines: Iterator[str | None],
    workers: int,
    stop: threading.Event,
) -> Iterator[dict[str, Any]]:
    """The answers in the order of the lines, each as soon as it is there.

    `stop` is set when they are no longer wanted, as after Ctrl-C.
    """
    if workers == 1:
        yield from map(work, lines)
        return
    from concurrent.futures import Future, ThreadPoolExecutor

    waiting: queue.Queue[Future[dict[str, Any]] | None] = queue.Queue(4 * workers)
    with ThreadPoolExecutor(workers) as pool:

        def read() -> None:
            for line in lines:
                waiting.put(pool.submit(work, line))
            waiting.put(None)

        # A thread of its own reads: whoever sends line after line gets answer after answer.
        threading.Thread(target=read, daemon=True).start()
        try:
            while (done := waiting.get()) is not None:
                yield done.result()
        except BaseException:
            stop.set()
            pool.shutdown(wait=False, cancel_futures=True)
            raise


class Pool(Generic[Tool]):
    """So many tools that are made when needed and lent to one thread at a time."""

    def __init__(self, make: Callable[[], Tool], number: int) -> None:
        self._make = make
        self._free: queue.LifoQueue[Tool | None] = queue.LifoQueue()
        for _ in range(number):
            self._free.put(None)

    @contextlib.contextmanager
    def one(self) -> Iterator[Tool]:
        """Borrow one."""
        tool = self._free.get()
        tool = self._make() if tool is None else tool
        try:
            yield tool
        finally:
            self._free.put(tool)


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
    return game.read(line)


def print_json(value: Any) -> None:
    """An answer for machines, on one line."""
    click.echo(json.dumps(value))


def table(head: tuple[str, ...], rows: list[tuple[Any, ...]]) -> None:
    """A plain table, columns as wide as they need to be."""
    texts = [head, *[tuple(str(cell) for cell in row) for row in rows]]
    widths = [max(len(row[i]) for row in texts) for i in range(len(head))]
    for number, row in enumerate(texts):
        line = "  ".join(f"{cell:{width}}" for cell, width in zip(row, widths, strict=True))
        click.secho(line.rstrip(), bold=number == 0)


def size(number: int) -> str:
    """Bytes for people."""
    if number < 10**6:
        return f"{number / 1e3:.1f} kB" if number < 10**4 else f"{number / 1e3:.0f} kB"
    return f"{number / 1e6:.1f} MB"


def saved(game: str | None, first: str | None, second: str | None) -> "Save":
    """The game that was left, for --resume; others may go on with it."""
    from zermelo.matches import saves

    save = saves.read(game)
    save = replace(save, first=first or save.first, second=second or save.second)
    saves.check_files(save, (game, first, second), save.command())
    return save


class progress:  # noqa: N801 - used as a function
    """A line on stderr that says what goes on, only where somebody is watching."""

    def __init__(self, title: str) -> None:
        self.title, self.shown = title, sys.stderr.isatty()
        self.last = 0.0

    def __enter__(self) -> Callable[[str], None]:
        return self.say

    def say(self, text: str) -> None:
        """At most ten times a second, and as much as fits into a line."""
        now = time.monotonic()
        if self.shown and now - self.last > 0.1:
            import shutil

            self.last = now
            line = f"{self.title}: {text}"[: shutil.get_terminal_size().columns - 1]
            click.echo(f"\r\x1b[K{line}", err=True, nl=False)

    def __exit__(self, *_: object) -> None:
        if self.shown and self.last:
            click.echo("\r\x1b[K", err=True, nl=False)
