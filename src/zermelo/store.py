"""The store: matches in one SQLite file, a row each. Memory holds none of them.

WAL with one writer: a match is safe once a call returns, whatever happens to the process.
"""

import contextlib
import sqlite3
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from pathlib import Path

from zermelo.errors import ZermeloError

MAX_MATCHES = 100_000
_VERSION = 1
_SCHEMA = """
CREATE TABLE matches (
    id TEXT PRIMARY KEY,
    game TEXT NOT NULL,
    first TEXT NOT NULL,
    second TEXT NOT NULL,
    moves TEXT NOT NULL,      -- separated by spaces
    plies INTEGER NOT NULL,
    resigned INTEGER,         -- the player who gave up
    verdict TEXT NOT NULL,
    over INTEGER NOT NULL,
    created REAL NOT NULL,
    updated REAL NOT NULL
) STRICT;
CREATE INDEX by_update ON matches (updated);
"""
_INSERT = "INSERT INTO matches VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"  # as in Row


class BadStore(ZermeloError):
    """A file that is no store of ours."""


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


class Store:
    """Matches by id. Threads may share one."""

    def __init__(self, path: Path) -> None:
        self._lock = threading.Lock()
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._base = sqlite3.connect(path, check_same_thread=False, isolation_level=None)
            try:
                self._migrate()  # first: a file that is not ours stays as it is
                self._base.execute("PRAGMA journal_mode = WAL")
                self._base.execute("PRAGMA synchronous = NORMAL")
            except BaseException:
                self._base.close()
                raise
        except (sqlite3.Error, OSError) as error:
            msg = f"{path} cannot be used as a store of matches: {error}"
            raise BadStore(msg) from None

    def _migrate(self) -> None:
        with self._writing() as base:  # two that begin at once take turns
            (version,) = base.execute("PRAGMA user_version").fetchone()
            if version > _VERSION:
                msg = f"made by a later version ({version})"
                raise sqlite3.Error(msg)
            tables = base.execute("SELECT count(*) FROM sqlite_schema").fetchone()[0]
            if version == 0 and tables == 0:
                for statement in _SCHEMA.split(";"):
                    base.execute(statement)
                base.execute(f"PRAGMA user_version = {_VERSION}")
            names = [name for _, name, *_ in base.execute("PRAGMA table_info(matches)")]
            if names != [field.name for field in fields(Row)]:
                msg = "it is a database of something else"
                raise sqlite3.Error(msg)

    def close(self) -> None:
        """No calls after this one."""
        with self._lock:
            self._base.close()

    @contextlib.contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        with self._lock:
            self._base.execute("BEGIN IMMEDIATE")
            try:
                yield self._base
            except BaseException:
                self._base.execute("ROLLBACK")
                raise
            self._base.execute("COMMIT")

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
        with self._lock:
            found = self._base.execute("SELECT * FROM matches WHERE id = ?", (key,)).fetchone()
        return Row(*found) if found else None

    def latest(self, limit: int) -> list[Row]:
        """The matches played in last."""
        with self._lock:
            found = self._base.execute(
                "SELECT * FROM matches ORDER BY updated DESC LIMIT ?", (limit,)
            ).fetchall()
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
