"""Store the matches played in the studio, each in one row of a table."""

import time
from dataclasses import dataclass, replace
from typing import Any, get_type_hints

from zermelo.core.errors import ZermeloError
from zermelo.store.database import Database
from zermelo.store.rows import check_types

MAX_MATCHES = 100_000
_INSERT = "INSERT INTO matches VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"  # the fields of MatchRow


class MatchChanged(ZermeloError):
    """Raised when another request has changed the match in the meantime."""


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


_TYPES = tuple(get_type_hints(MatchRow).values())  # of the columns


class MatchStore(Database):
    """Matches by id. Threads may share one store."""

    def add(self, row: MatchRow) -> MatchRow:
        """Insert a match and return it with its times; if there are too many, delete the oldest."""
        now = time.time()
        row = replace(row, created=now, updated=now)
        with self._lock, self._connection as connection:
            connection.execute(_INSERT, tuple(vars(row).values()))
            (number,) = connection.execute("SELECT count(*) FROM matches").fetchone()
            if number > MAX_MATCHES:
                connection.execute(
                    "DELETE FROM matches WHERE id IN "
                    "(SELECT id FROM matches ORDER BY updated LIMIT ?)",
                    (number - MAX_MATCHES,),
                )
        return row

    def get(self, key: str) -> MatchRow | None:
        """Return the match with this id, None if there is none."""
        with self._lock:
            query = "SELECT * FROM matches WHERE id = ?"
            values = self._connection.execute(query, (key,)).fetchone()
        return self._to_row(values) if values else None

    def latest(self, limit: int) -> list[MatchRow]:
        """Return the `limit` matches that were changed last, the most recent first."""
        with self._lock:
            query = "SELECT * FROM matches ORDER BY updated DESC LIMIT ?"
            rows = self._connection.execute(query, (limit,)).fetchall()
        return [self._to_row(values) for values in rows]

    def _to_row(self, values: tuple[Any, ...]) -> MatchRow:
        check_types(self.path, values, _TYPES)
        return MatchRow(*values)

    def update(self, before: MatchRow, after: MatchRow) -> MatchRow:
        """Replace `before` by `after`, with its time; raise MatchChanged if `before` is stale."""
        after = replace(after, updated=time.time())
        with self._lock, self._connection as connection:
            update = connection.execute(
                "UPDATE matches SET moves = ?, plies = ?, resigned = ?, verdict = ?, over = ?, "
                "updated = ? WHERE id = ? AND moves = ? AND resigned IS ?",
                (
                    after.moves, after.plies, after.resigned, after.verdict, after.over,
                    after.updated, before.id, before.moves, before.resigned,
                ),
            )  # fmt: skip
            if update.rowcount != 1:
                msg = "the match has changed in the meantime: read it again"
                raise MatchChanged(msg)
        return after
