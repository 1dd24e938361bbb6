"""List the formats of records by name, and read and write records in any of them."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from zermelo.core.errors import BadRecord, ZermeloError
from zermelo.core.game import Game
from zermelo.core.notation import quote_text
from zermelo.records import compact, jsonl, plain, psq, sgf
from zermelo.records.record import Record

MAX_LENGTH = 1_000_000  #: the maximum number of characters in a record


@dataclass(frozen=True)
class RecordFormat:
    """A format, with the functions that write and read it."""

    name: str
    summary: str
    write: Callable[[Record], str]
    read: Callable[[str, Game | None], Record]
    by_line: bool = False  #: whether a record is one line, so that a file can hold several
    names_game: bool = False  #: whether a record names its game; if so, empty lines are skipped


FORMATS = {
    record_format.name: record_format
    for record_format in (
        RecordFormat(
            "text",
            "spec, moves and result on one line, for every game",
            plain.write,
            plain.read,
            by_line=True,
            names_game=True,
        ),
        RecordFormat(
            "json",
            "a JSON object on one line, for every game",
            jsonl.write,
            jsonl.read,
            by_line=True,
            names_game=True,
        ),
        RecordFormat("psq", "Piskvork's, for line games without gravity", psq.write, psq.read),
        RecordFormat("sgf", "SGF, for line games without gravity and Reversi", sgf.write, sgf.read),
        RecordFormat(
            "digits",
            "column numbers, for Connect Four",
            compact.write_digits,
            compact.read_digits,
            by_line=True,
        ),
        RecordFormat(
            "transcript",
            "cells without passes, for Reversi",
            compact.write_transcript,
            compact.read_transcript,
            by_line=True,
        ),
    )
}


def write(record: Record, format_name: str) -> str:
    """Write a game in a format; raise BadRecord if the format cannot hold it."""
    return _find_format(format_name).write(record)


def read(text: str, format_name: str, game: Game | None = None) -> Record:
    """Read the game in a text; `game` is required if the format does not name the game.

    Raise BadRecord if the text breaks the format or the rules.

    >>> read("tictactoe b2 a1 c1 b1 a3 1-0", "text").position.verdict
    'X wins'
    """
    if len(text) > MAX_LENGTH:
        msg = f"line 1: the record has {len(text):,} characters, more than {MAX_LENGTH:,}"
        raise BadRecord(msg)
    try:
        return _find_format(format_name).read(text, game)
    except BadRecord:
        raise
    except ZermeloError as error:
        msg = f"line 1: {error}"
        raise BadRecord(msg) from None


def read_all(lines: Iterable[str], format_name: str, game: Game | None = None) -> Iterator[Record]:
    """Yield the games of a file: one per line if the format allows that, otherwise just one."""
    record_format = _find_format(format_name)
    if not record_format.by_line:
        yield read("".join(lines), format_name, game)
        return
    for number, line in enumerate(lines, 1):
        if not line.strip() and record_format.names_game:
            continue
        try:
            yield read(line, format_name, game)
        except BadRecord as error:
            reason = str(error).removeprefix("line 1: ").removeprefix("line 1, ")
            msg = f"line {number}: {reason}"
            raise BadRecord(msg) from None


def _find_format(name: str) -> RecordFormat:
    if name not in FORMATS:
        msg = f"unknown format {quote_text(name)}: the formats are {', '.join(FORMATS)}"
        raise BadRecord(msg)
    return FORMATS[name]
