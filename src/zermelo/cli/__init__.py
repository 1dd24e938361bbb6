"""The command line: one module per command group; `common` holds the code they share.

Commands import their dependencies when they run, so that `--help` stays fast. No other package
imports this one.
"""

import atexit
import contextlib
import errno
import os
import signal
import sys
import threading
from typing import Any, NoReturn

import click

from zermelo import __version__
from zermelo.cli import (
    arena,
    bench,
    games,
    grade,
    history,
    installation,
    learning,
    play,
    review,
    solve,
    studio,
    table,
    train,
)
from zermelo.cli.common import progress
from zermelo.cli.common.help import CommandGroup
from zermelo.cli.common.progress import show_compilation
from zermelo.core.errors import ZermeloError
from zermelo.core.phrases import escape_controls
from zermelo.kernels.observer import set_observer

_BAD_ARGUMENTS, _INTERRUPTED = 2, 130  # exit codes


def main() -> None:
    """Run a command and exit; report bad arguments in one line on stderr, with exit code 2."""
    # Matrix products are small here, so OpenBLAS threads would only wait for each other, and for
    # a long time if the cores are busy. This must be set before numpy is imported.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    _replace_closed_streams()
    set_observer(show_compilation)
    if hasattr(sys.stdin, "reconfigure"):
        sys.stdin.reconfigure(errors="replace")  # invalid UTF-8 is bad input, not a crash
    _leave(_run())


def _run() -> int:
    """Run the command line; return the exit code."""
    try:
        code = cli(prog_name="zermelo", standalone_mode=False)
        sys.stdout.flush()
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message())
        code = 0
    except click.ClickException as error:
        code = _fail(error.format_message())
    except ZermeloError as error:
        code = _fail(str(error))
    except (click.Abort, _Interrupted, KeyboardInterrupt):
        _fail("stopped")
        code = _INTERRUPTED
    except (BrokenPipeError, SystemExit):  # click turns a broken pipe into an exit
        code = _end_quietly()
    except OSError as error:
        is_broken_pipe = error.errno == errno.EPIPE
        code = _end_quietly() if is_broken_pipe else _fail(f"cannot write: {error.strerror}")
    except Exception as error:
        from zermelo.games import user_code

        place = user_code.locate_error(error)
        if place is None:
            raise
        code = _fail(place)
    return code or 0


def _replace_closed_streams() -> None:
    """Replace a closed stdin, stdout or stderr by the null device.

    The null device gets the descriptor of the closed stream, in this process and in its children.
    Otherwise the next file to be opened would get this descriptor, and the output of the stream.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            stream = open(os.devnull, mode, encoding="utf-8")  # noqa: PTH123, SIM115 - for the whole run
            os.set_inheritable(stream.fileno(), True)  # noqa: FBT003 - the API of os
            setattr(sys, name, stream)


def _leave(code: int) -> NoReturn:
    """End this process; a second Ctrl-C ends it at once."""
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError):  # its reader has gone
            stream.flush()
    interruptible = sys.modules.get("zermelo.kernels.interruptible")
    if interruptible is not None and interruptible.is_running():  # a compilation, after Ctrl-C
        atexit._run_exitfuncs()  # noqa: SLF001 - exit() would wait for it
        os._exit(code)
    sys.exit(code)


def _end_quietly() -> int:
    """Discard the rest of the output, because its reader has gone; return the exit code."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0


def _fail(text: str) -> int:
    """Print an error message on one line; return the exit code."""
    line = escape_controls(" ".join(text.split()))
    with progress.hidden(), contextlib.suppress(OSError):  # nobody reads stderr
        click.echo(f"zermelo: {line}", err=True)
    return _BAD_ARGUMENTS


class _Interrupted(Exception):
    """Raised for Ctrl-C in a command, because click would print an empty line."""


class _Group(CommandGroup):
    """The group of all commands."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command; unlike click, distinguish Ctrl-C from the end of the input."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            raise _Interrupted from None
        except EOFError as error:
            msg = f"a file or the input ended too early: {error}"
            raise ZermeloError(msg) from error


@click.group(
    cls=_Group,
    context_settings={"help_option_names": ["-h", "--help"], "show_default": True},
    examples=(
        "zermelo play connect4 --second level:3",
        'zermelo analyze tictactoe --moves "b2 b1"',
        "zermelo COMMAND --help    # every command has examples",
    ),
)
@click.version_option(__version__, prog_name="zermelo")
def cli() -> None:
    """Play, solve, analyze and learn two-player games of perfect information.

    GAME is a name with optional parameters, such as tictactoe, mnk:5x5x4 or connect4, or a Python
    file; `zermelo games` lists the names. PLAYER is a name with optional parameters, such as human,
    level:3 or mcts:sims=800; `zermelo players` lists them.
    """


_SECTIONS: dict[str, tuple[click.Command, ...]] = {
    "Play": (
        games.games,
        games.rules,
        games.players,
        play.play,
        play.window,
        studio.studio,
        play.choose,
    ),
    "Solve and analyze": (
        solve.solve,
        solve.analyze,
        review.review,
        review.puzzle,
        games.count,
        solve.textbook,
        solve.prove,
        solve.check_proof,
        table.table,
        table.book,
    ),
    "Learn": (learning.recipes, train.train, train.runs, learning.inspect),
    "Compare": (grade.grade, grade.positions, arena.arena, bench.bench),
    "Data": (history.history, history.convert),
    "Set-up": (installation.warm, installation.doctor, installation.completion),
}
for _heading, _commands in _SECTIONS.items():
    cli.add_section(_heading, _commands)
