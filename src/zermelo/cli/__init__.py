"""The command line: one file a topic, and in `asking` what they share. Nothing imports this.

Commands import what they need when they run: `--help` stays light.
"""

import errno
import os
import sys

import click

from zermelo import __version__
from zermelo.cli import (
    arena,
    bench,
    grade,
    history,
    inspect,
    play,
    prove,
    review,
    solve,
    studio,
    table,
    train,
    window,
)
from zermelo.core.errors import ZermeloError

_BAD_ARGUMENTS, _INTERRUPTED = 2, 130


def main() -> None:
    """Run a command; what is wrong with its arguments is one line on stderr and exit code 2."""
    # numpy's products are small here: its threads only wait for each other, for ages if cores are
    # busy. To be said before numpy is imported.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
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
        from zermelo.games import user_code

        where = user_code.locate_error(error)
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


for _command in (
    play.games,
    play.players,
    play.play,
    play.choose,
    play.convert,
    solve.solve,
    solve.analyze,
    review.review,
    review.puzzle,
    solve.textbook,
    solve.count,
    inspect.inspect,
    table.table,
    prove.prove,
    table.book,
    arena.arena,
    grade.grade,
    grade.positions,
    history.history,
    train.train,
    train.runs,
    studio.studio,
    window.window,
    bench.warm,
    bench.bench,
):
    cli.add_command(_command)
