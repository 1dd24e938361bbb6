"""Show the progress of long work on stderr: as a bar on a terminal, as lines in a log.

The work only reports how far it has got, and a separate thread draws the bar. A report therefore
costs next to nothing, and the bar moves even while the work is busy in a kernel.
"""

import contextlib
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Self

import click

if TYPE_CHECKING:
    from zermelo.kernels.compiler_pool import Compilation

State = tuple[str, float | None]  #: a text and, if it is known, the share of the work done

_DELAY = 0.3  # seconds before the bar appears: short work shows none
_REFRESH = 0.1  # seconds between two updates of the bar
_MIN_COLUMNS = 20
_LOG_INTERVAL = 10.0  # seconds between two lines in a log
_displays: list["Progress"] = []  # one for each level of nested work; only the last is visible


class Progress:
    """The progress of one piece of work. Call it with a text and the share that is done, 0 to 1.

    If `poll` is given, it is called to get the text and the share; it returns None if there is
    nothing to show.
    """

    def __init__(self, title: str, poll: Callable[[], State | None] | None = None) -> None:
        self._title = title
        self._state: State = ("", None)
        self._poll = poll
        self._begin = time.monotonic()
        self._has_news = poll is not None
        self._closed = threading.Event()
        self._lock = threading.Lock()
        self._bar: Any = None
        target = self._draw if _can_draw() else self._write_lines
        self._thread = threading.Thread(target=target, name="progress", daemon=True)

    def __call__(self, text: str, share: float | None = None) -> None:
        """Report what the work is doing now, and the share of it that is done if known."""
        self._state, self._has_news = (text, share), True

    def __enter__(self) -> Self:
        """Show this progress, and hide that of the surrounding work if there is any."""
        if _displays:
            _displays[-1].hide()
        _displays.append(self)
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        """Erase the bar."""
        self._closed.set()
        self.hide()
        self._thread.join()
        _displays.remove(self)

    def hide(self) -> None:
        """Erase the bar until the next report."""
        with self.hidden():
            pass

    @contextlib.contextmanager
    def hidden(self) -> Iterator[None]:
        """Erase the bar; it stays away in the `with` block, and after it until the next report."""
        with self._lock:
            self._has_news = self._poll is not None
            self._erase()
            yield

    def _erase(self) -> None:
        if self._bar is not None:
            self._bar.stop()
            self._bar = None

    def _draw(self) -> None:
        self._closed.wait(_DELAY)
        while not self._closed.wait(_REFRESH):
            with self._lock:
                is_visible = _displays[-1] is self and not self._closed.is_set()
                if is_visible and self._has_news:
                    self._update_bar()

    def _update_bar(self) -> None:
        state = self._poll() if self._poll else self._state
        if state is None:
            self._erase()
            return
        if self._bar is None:
            self._bar = _create_bar(self._begin)
            self._bar.start()
        text, share = state
        self._bar.update(
            self._bar.task_ids[0],
            description=f"{self._title}: {text}" if text else self._title,
            total=None if share is None else 1.0,
            completed=share or 0.0,
        )

    def _write_lines(self) -> None:
        while not self._closed.wait(_LOG_INTERVAL):
            if _displays[-1] is self and self._has_news:
                state = self._poll() if self._poll else self._state
                if state is None:
                    continue
                text, share = state
                seconds = time.monotonic() - self._begin
                left = f", about {seconds / share - seconds:,.0f} s left" if share else ""
                line = f"{self._title}: {text}" if text else self._title
                with contextlib.suppress(OSError):  # nobody reads stderr
                    click.echo(f"{line} ({seconds:,.0f} s{left})", err=True)


@contextlib.contextmanager
def hidden() -> Iterator[None]:
    """Erase the bar, if any; it stays away in the `with` block, where other text is printed."""
    with contextlib.ExitStack() as stack:
        for display in _displays:
            stack.enter_context(display.hidden())
        yield


def _can_draw() -> bool:
    """Return whether stderr is a terminal on which a line can be erased."""
    return sys.stderr.isatty() and os.environ.get("TERM") not in ("dumb", "unknown")


@contextlib.contextmanager
def show_compilation(compilation: "Compilation") -> Iterator[None]:
    """Show the progress of a kernel's compilation."""
    game = min(compilation.games)

    def poll() -> State:
        return f"{compilation.kernel} for {game}", compilation.elapsed_share

    with Progress("compiling (only once on this machine)", poll):
        yield


def _terminal_size() -> tuple[int, int]:
    """Return the columns, without the last one, and the lines of the terminal on stderr."""
    columns, lines = 80, 24
    with contextlib.suppress(OSError, ValueError):  # a terminal need not know its size
        size = os.get_terminal_size(sys.stderr.fileno())
        columns, lines = size.columns or columns, size.lines or lines
    return max(_MIN_COLUMNS, columns - 1), lines


def _create_bar(begin: float) -> Any:
    """Return a progress bar; only this function imports rich, because the import is slow."""
    from rich.console import Console, ConsoleDimensions
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn
    from rich.table import Column

    class TerminalConsole(Console):
        """A console that measures the terminal itself, and leaves its last column free.

        The environment variable COLUMNS may be out of date. A line that is longer than the terminal
        is wide would be wrapped, and only its last part would be erased.
        """

        @property
        def size(self) -> ConsoleDimensions:
            return ConsoleDimensions(*_terminal_size())

        @size.setter
        def size(self, _: tuple[int, int]) -> None:
            """Ignore a new size: the terminal has only one."""

    class TimeColumn(TextColumn):
        """The time so far and, if it can be estimated, the time left."""

        def render(self, task: Any) -> Any:
            from rich.text import Text

            seconds = time.monotonic() - begin
            left = ""
            if task.total and task.completed:
                left = f", about {seconds / task.completed - seconds:,.0f} s left"
            return Text(f"{seconds:,.0f} s{left}")

    text_column = TextColumn(
        "{task.description}",
        markup=False,
        table_column=Column(no_wrap=True, overflow="ellipsis", ratio=1),
    )
    bar = Progress(
        text_column,
        BarColumn(bar_width=20),
        TaskProgressColumn(),
        TimeColumn(""),
        console=TerminalConsole(stderr=True, highlight=False),
        transient=True,
        redirect_stdout=False,
        redirect_stderr=False,
        expand=True,
    )
    bar.add_task("", total=None)
    return bar
