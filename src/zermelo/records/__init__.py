"""Records: finished and unfinished games as text, in our formats and in those of others.

Reading is strict: every move is replayed by the rules, and what breaks them is refused with the
line and the reason. A record never loads a game file. One file a format; this one is the door.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from zermelo.core.errors import BadRecord, ZermeloError
from zermelo.core.game import Game
from zermelo.core.notation import shown
from zermelo.records import compact, jsonl, plain, psq, sgf
from zermelo.records.record import Record

__all__ = ["FORMATS", "BadRecord", "Format", "Record", "read", "read_all", "write"]

MAX_BYTES = 1_000_000  #: one record


@dataclass(frozen=True)
class Format:
    """A way to write games down."""

    name: str
    summary: str
    write: Callable[[Record], str]
    read: Callable[[str, Game | None], Record]
    by_line: bool = False  #: a record is one line, and a file may hold many


FORMATS = {
    form.name: form
    for form in (
        Format(
            "text",
            "spec, moves and result on one line, every game",
            plain.write,
            plain.read,
            by_line=True,
        ),
        Format("json", "an object on one line, every game", jsonl.write, jsonl.read, by_line=True),
        Format("psq", "Piskvork's, line games without gravity", psq.write, psq.read),
        Format("sgf", "SGF, line games without gravity and Reversi", sgf.write, sgf.read),
        Format(
            "digits",
            "columns, Connect Four",
            compact.write_digits,
            compact.read_digits,
            by_line=True,
        ),
        Format(
            "transcript",
            "cells without passes, Reversi",
            compact.write_transcript,
            compact.read_transcript,
            by_line=True,
        ),
    )
}


_NAMED = ("text", "json")


def write(record: Record, form: str) -> str:
    """A game in a format; BadRecord when the format cannot hold it."""
    return _format(form).write(record)


def read(text: str, form: str, game: Game | None = None) -> Record:
    """The game that a text holds; `game` is needed where the format does not name it.

    >>> read("tictactoe b2 a1 c1 b1 a3 1-0", "text").position.verdict
    'X wins'
    """
    if len(text) > MAX_BYTES:
        msg = f"line 1: {len(text):,} characters: a record has at most {MAX_BYTES:,}"
        raise BadRecord(msg)
    try:
        return _format(form).read(text, game)
    except BadRecord:
        raise
    except ZermeloError as error:
        msg = f"line 1: {error}"
        raise BadRecord(msg) from None


def read_all(lines: Iterable[str], form: str, game: Game | None = None) -> Iterator[Record]:
    """The games of a file: one a line where the format allows, else one in all."""
    if not _format(form).by_line:
        yield read("".join(lines), form, game)
        return
    for number, line in enumerate(lines, 1):
        if not line.strip() and form in _NAMED:
            continue  # elsewhere an empty line is a game without moves
        try:
            yield read(line, form, game)
        except BadRecord as error:
            rest = str(error).removeprefix("line 1: ").removeprefix("line 1, ")
            msg = f"line {number}: {rest}"
            raise BadRecord(msg) from None


def _format(name: str) -> Format:
    if name not in FORMATS:
        msg = f"unknown format {shown(name)}: there is {', '.join(FORMATS)}"
        raise BadRecord(msg)
    return FORMATS[name]
