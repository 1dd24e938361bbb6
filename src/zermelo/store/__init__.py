"""The store: one SQLite file that anyone can query. Memory holds nothing of it.

`file` opens it and keeps its tables, `runs` holds tournaments, grades and analyses, and the
matches of the studio are here. docs/arena.md says what the tables mean.
"""

import time
from dataclasses import dataclass, replace

from zermelo.core.errors import ZermeloError
from zermelo.store.file import BadStore, File

__all__ = ["MAX_MATCHES", "BadStore", "Changed", "Row", "Store"]

MAX_MATCHES = 100_000
_INSERT = "INSERT INTO matches VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"  # as in Row


class Changed(ZermeloError):
    """Somebody else has played on in the meantime."""


@dataclass(frozen=True)
class Row:
    """A match as it is kept."""

    id: str
    game: str
    first: str
    second: str
    moves: str = ""
    plies: int = 0
    resigned: int | None = None
    verdict: str = ""
    over: int = 0
    created: float = 0.0
    updated: float = 0.0


class Store(File):
    """Matches by id, a row each. Threads may share one."""

    def add(self, row: Row) -> Row:
        """A new match; the oldest makes room for it when there are too many."""
        now = time.time()
        row = replace(row, created=now, updated=now)
        with self._writing() as base:
            base.execute(_INSERT, tuple(vars(row).values()))
            (number,) = base.execute("SELECT count(*) FROM matches").fetchone()
            if number > MAX_MATCHES:
                base.execute(
                    "DELETE FROM matches WHERE id IN "
                    "(SELECT id FROM matches ORDER BY updated LIMIT ?)",
                    (number - MAX_MATCHES,),
                )
        return row

    def get(self, key: str) -> Row | None:
        """The match of an id."""
        found = self._read("SELECT * FROM matches WHERE id = ?", key)
        return Row(*found[0]) if found else None

    def latest(self, limit: int) -> list[Row]:
        """The matches played in last."""
        found = self._read("SELECT * FROM matches ORDER BY updated DESC LIMIT ?", limit)
        return [Row(*values) for values in found]

    def put(self, before: Row, after: Row) -> Row:
        """Replace a match that is still as it was; Changed when it is not."""
        after = replace(after, updated=time.time())
        with self._writing() as base:
            done = base.execute(
                "UPDATE matches SET moves = ?, plies = ?, resigned = ?, verdict = ?, over = ?, "
                "updated = ? WHERE id = ? AND moves = ? AND resigned IS ?",
                (
                    after.moves, after.plies, after.resigned, after.verdict, after.over,
                    after.updated, before.id, before.moves, before.resigned,
                ),
            )  # fmt: skip
            if done.rowcount != 1:
                msg = "the match has changed in the meantime: read it again"
                raise Changed(msg)
        return after
