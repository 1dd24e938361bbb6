"""How text looks on a terminal: its width, and colours for wins, draws and losses."""

import contextlib
import os
import shutil
import sys
import textwrap
from dataclasses import dataclass
from typing import IO

_COLOURS = {"win": 32, "draw": 33, "loss": 31}  # green, yellow and red
_MIN_WIDTH = 40  # columns; on a narrower terminal, text is wrapped as if it had this width


@dataclass(frozen=True)
class Style:
    """The look of text on one output stream."""

    width: int | None = None  #: columns of the terminal; None if lines must not be wrapped
    colour: bool = False

    def paint(self, text: str, value: str | None) -> str:
        r"""Return a text in the colour of a value; unchanged for None and without colours.

        >>> Style(colour=True).paint("wins", "win")
        '\x1b[32mwins\x1b[0m'
        """
        if value is None or not self.colour:
            return text
        return f"\x1b[{_COLOURS[value]}m{text}\x1b[0m"

    def wrap(self, text: str, indent: int = 0) -> str:
        """Return a text in lines that fit the terminal; all but the first are indented.

        >>> print(Style(width=40).wrap("draw; best moves: a1 b1 c1 a2 b2 c2 a3 b3 c3", indent=2))
        draw; best moves: a1 b1 c1 a2 b2 c2 a3
          b3 c3
        """
        if self.width is None:
            return text
        return textwrap.fill(
            text, self.width, subsequent_indent=" " * indent, break_on_hyphens=False
        )


PLAIN = Style()  #: for pipes and files


def style_of(stream: IO[str]) -> Style:
    """Return the style for a stream: plain unless it is a terminal."""
    if not stream.isatty():
        return PLAIN
    columns = 0
    with contextlib.suppress(OSError, ValueError):  # not every stream has a file
        columns = os.get_terminal_size(stream.fileno()).columns
    columns = columns or shutil.get_terminal_size().columns  # a terminal need not know its size
    return Style(max(_MIN_WIDTH, columns), wants_colour(stream))


def wants_colour(stream: IO[str] | None = None) -> bool:
    """Return whether to use colour: a terminal, TERM is not dumb, and NO_COLOR is not set."""
    is_dumb = os.environ.get("TERM") == "dumb"
    is_terminal = (stream or sys.stdout).isatty()
    return is_terminal and not os.environ.get("NO_COLOR") and not is_dumb
