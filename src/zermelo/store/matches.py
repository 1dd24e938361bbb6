"""Store the matches played in the studio, each in one row of a table."""

import contextlib
import sqlite3
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, get_type_hints

from zermelo.core.errors import ZermeloError
from zermelo.store.connection import explain
from zermelo.store.database import Database
from zermelo.store.rows import check_types

MAX_MATCHES = 100_000
RECENT_DAYS = 30  #: matches changed within this many days are never deleted
_INSERT = "INSERT INTO matches VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"  # the fields of MatchRow


class MatchChanged(ZermeloError):
    """Raised when another request has changed the match in the meantime."""

    def __init__(
        self, detail: str = "the match has changed in the meantime: read it again"
    ) -> None:
        super().__init__(detail)


class StoreFull(ZermeloError):
    """Raised when there is no room for another match and no match may be deleted."""


class StoreLocked(sqlite3.OperationalError):
    """Raised when a caller has waited too long for another writer."""

    def __init__(self, msg: str = "it is locked by another process: try again") -> None:
        super().__init__(msg)


@dataclass(frozen=True)
class MatchRow:
    """A stored match."""

    id: str
    game: str
    first: str
    second: str
    moves: str = ""  #: separated by spaces
    plies: int = 0
    resigned: int | None = None  #: the player who resigned
    verdict: str = ""
    over: int = 0
    created: float = 0.0
    updated: float = 0.0


_TYPES = tuple(get_type_hints(MatchRow).values())  # types of the columns


class MatchStore(Database):
    """Matches by id. Threads may share one store.

    `add` and `update` raise StoreLocked if they have to wait too long for another process.
    """

    locked_at = float("-inf")  #: when StoreLocked was last raised, on the monotonic clock

    def limit_wait(self, seconds: float) -> None:
        """Wait at most this long for another writer from now on."""
        with self._lock:
            self._connection.execute(f"PRAGMA busy_timeout = {round(seconds * 1000)}")

    def add(self, row: MatchRow) -> tuple[MatchRow, list[str]]:
        """Insert a match; return it with its times, and the ids of matches deleted to make room.

        If the store has MAX_MATCHES already, finished matches that have not been changed for
        RECENT_DAYS are deleted, the oldest first. Raise StoreFull if there is no such match.
        """
        now = time.time()
        row = replace(row, created=now, updated=now)
        with self._writing() as cursor:
            cursor.execute(_INSERT, tuple(vars(row).values()))
            return row, _delete_surplus(cursor, now - RECENT_DAYS * 86_400)

    def get(self, key: str) -> MatchRow | None:
        """Return the match with this id, None if there is none."""
        query = "SELECT * FROM matches WHERE id = ?"
        with self._lock, self._explaining():
            values = self._connection.cursor().execute(query, (key,)).fetchone()
        return self._to_row(values) if values else None

    def latest(self, limit: int) -> list[MatchRow]:
        """Return the `limit` most recently changed matches, newest first."""
        query = "SELECT * FROM matches ORDER BY updated DESC LIMIT ?"
        with self._lock, self._explaining():
            rows = self._connection.cursor().execute(query, (limit,)).fetchall()
        return [self._to_row(values) for values in rows]

    def _to_row(self, values: tuple[Any, ...]) -> MatchRow:
        if not all(map(isinstance, values, _TYPES)):
            check_types(self.path, values, _TYPES)
        return MatchRow(*values)

    def update(self, before: MatchRow, after: MatchRow) -> MatchRow:
        """Store `after` in place of `before`; raise MatchChanged if `before` is out of date."""
        after = replace(after, updated=time.time())
        with self._writing() as cursor:
            update = cursor.execute(
                "UPDATE matches SET moves = ?, plies = ?, resigned = ?, verdict = ?, over = ?, "
                "updated = ? WHERE id = ? AND moves = ? AND resigned IS ?",
                (
                    after.moves, after.plies, after.resigned, after.verdict, after.over,
                    after.updated, before.id, before.moves, before.resigned,
                ),
            )  # fmt: skip
            if update.rowcount != 1:
                raise MatchChanged
        return after

    @contextlib.contextmanager
    def _writing(self) -> Iterator[sqlite3.Cursor]:
        """Begin a transaction, and commit it at the end unless there is an exception."""
        with self._lock, self._explaining():
            cursor = self._connection.cursor()
            try:
                cursor.execute("BEGIN IMMEDIATE")
            except sqlite3.OperationalError as error:
                if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY:
                    raise
                self.locked_at = time.monotonic()
                raise StoreLocked from None
            try:
                yield cursor
                cursor.execute("COMMIT")
            except BaseException:
                with contextlib.suppress(sqlite3.Error):  # SQLite may have rolled back by itself
                    cursor.execute("ROLLBACK")
                raise

    @contextlib.contextmanager
    def _explaining(self) -> Iterator[None]:
        """Turn an error of sqlite3 into a StoreFailure, which names the file."""
        try:
            yield
        except (StoreLocked, sqlite3.IntegrityError, sqlite3.ProgrammingError):
            raise
        except sqlite3.Error as error:
            raise explain(self.path, error) from None


def _delete_surplus(cursor: sqlite3.Cursor, before: float) -> list[str]:
    """Delete the oldest finished matches above MAX_MATCHES; return their ids.

    Only matches that were last changed earlier than `before` are deleted.
    """
    (number,) = cursor.execute("SELECT count(*) FROM matches").fetchone()
    surplus = max(0, number - MAX_MATCHES)
    query = "SELECT id FROM matches WHERE over AND updated < ? ORDER BY updated LIMIT ?"
    ids = [key for (key,) in cursor.execute(query, (before, surplus))] if surplus else []
    if len(ids) < surplus:
        msg = (
            f"the store is full: none of its {MAX_MATCHES:,} matches can be deleted, because each "
            f"is unfinished or was changed in the last {RECENT_DAYS} days; start the studio with "
            "another file (--db FILE)"
        )
        raise StoreFull(msg)
    cursor.executemany("DELETE FROM matches WHERE id = ?", ((key,) for key in ids))
    return ids
