"""Redirect the output of users' code to standard error, escaped and limited in length.

Standard output is reserved for the answers of a command, which other programs may read.
"""

import codecs
import contextlib
import os
import sys
import threading
from collections.abc import Iterator
from typing import IO, TextIO

from zermelo.core.phrases import escape_controls

MAX_OUTPUT = 100_000  #: the maximum number of characters that a relay shows
_BLOCK = 1 << 16  # bytes
_DRAINING = 1.0  # seconds to wait for output that is still in a pipe


class OutputRelay:
    """Copies the output of users' code to standard error, up to a total number of characters."""

    def __init__(self, limit: int = MAX_OUTPUT) -> None:
        self._limit = self._left = limit
        self._stderr = sys.stderr
        self._lock = threading.Lock()

    def follow(self, stream: IO[bytes]) -> threading.Thread:
        """Start a thread that copies a stream until its end, and return the thread.

        Output beyond the limit is read and discarded, so that the writer never has to wait.
        """
        thread = threading.Thread(target=self._copy, args=(stream,), daemon=True)
        thread.start()
        return thread

    def _copy(self, stream: IO[bytes]) -> None:
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        with stream, contextlib.suppress(OSError, ValueError):
            while block := os.read(stream.fileno(), _BLOCK):
                self._show(decoder.decode(block))

    def _show(self, text: str) -> None:
        with self._lock:
            if not self._left:
                return
            shown = text[: self._left]
            self._left -= len(shown)
            line = escape_controls(shown.replace("\r\n", "\n"), keep="\n\t")
            if not self._left:
                line += f"\n[more than {self._limit:,} characters of output: the rest is not shown]"
                line += "\n"
            with contextlib.suppress(OSError, ValueError, AttributeError):  # no standard error
                self._stderr.write(line)
                self._stderr.flush()


@contextlib.contextmanager
def reserve_stdout() -> Iterator[IO[str]]:
    """Yield a stream to standard output on which nothing but the caller's output appears.

    Everything else that is written to standard output, also by C code and by child processes, is
    relayed to standard error. The redirection remains after the `with` block, because threads and
    exit handlers of users' code may go on writing. If `sys.stdout` is not the process's standard
    output, as in a test, only `sys.stdout` itself is replaced.
    """
    answers: TextIO = sys.stdout or open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123, SIM115
    if not _is_process_stdout(answers):
        with contextlib.redirect_stdout(sys.stderr):
            yield answers
        return
    answers.flush()
    private = os.dup(1)
    reader, writer = os.pipe()
    os.dup2(writer, 1)
    os.close(writer)
    thread = OutputRelay().follow(os.fdopen(reader, "rb", buffering=0))
    try:
        with os.fdopen(private, "w", encoding=answers.encoding, errors=answers.errors) as stream:
            yield stream
    finally:
        with contextlib.suppress(OSError, ValueError):  # users' code may have closed it
            sys.stdout.flush()
        _point_stdout_at_stderr()
        thread.join(_DRAINING)


def _is_process_stdout(stream: TextIO) -> bool:
    try:
        return stream.fileno() == 1
    except (AttributeError, OSError, ValueError):
        return False


def _point_stdout_at_stderr() -> None:
    """Make file descriptor 1 refer to standard error, or to the null device if that is closed."""
    try:
        os.dup2(2, 1)
    except OSError:
        nothing = os.open(os.devnull, os.O_WRONLY)
        if nothing != 1:
            os.dup2(nothing, 1)
            os.close(nothing)
