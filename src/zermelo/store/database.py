"""Open and check the SQLite file, and migrate its tables to the newest version.

The file uses write-ahead logging: one writer at a time and any number of readers. Data written by
a call survives a crash of the process once the call has returned.
"""

import contextlib
import sqlite3
import threading
import time
from pathlib import Path
from typing import Any, Self

from zermelo.store.connection import BadStore, StoreConnection, connect, explain

_LOCK_TIMEOUT = 5.0  # seconds to wait for another writer
_RETRY = 0.01  # seconds between two attempts to switch to write-ahead logging
_VERSION_1 = """
CREATE TABLE matches (
    id TEXT PRIMARY KEY,
    game TEXT NOT NULL,
    first TEXT NOT NULL,
    second TEXT NOT NULL,
    moves TEXT NOT NULL,      -- separated by spaces
    plies INTEGER NOT NULL,
    resigned INTEGER,         -- the player who resigned
    verdict TEXT NOT NULL,
    over INTEGER NOT NULL,
    created REAL NOT NULL,
    updated REAL NOT NULL
) STRICT;
CREATE INDEX by_update ON matches (updated)
"""
_VERSION_2 = """
CREATE TABLE players (
    name TEXT PRIMARY KEY,    -- as in games and ratings: random (2) has the spec random
    spec TEXT NOT NULL,
    created REAL NOT NULL
) STRICT;
CREATE TABLE runs (
    id INTEGER PRIMARY KEY,
    kind TEXT NOT NULL CHECK (kind IN ('arena', 'grade', 'train')),
    game TEXT NOT NULL,
    settings TEXT NOT NULL,   -- JSON: everything that defines the run
    state TEXT NOT NULL CHECK (state IN ('running', 'stopped', 'finished')),
    created REAL NOT NULL,
    updated REAL NOT NULL,
    result TEXT               -- JSON, NULL until there is one
) STRICT;
CREATE TABLE games (
    run INTEGER NOT NULL REFERENCES runs (id),
    number INTEGER NOT NULL,
    first TEXT NOT NULL REFERENCES players (name),
    second TEXT NOT NULL REFERENCES players (name),
    opening INTEGER NOT NULL, -- the number of moves that were sampled, not chosen
    moves TEXT NOT NULL,      -- separated by spaces
    outcome TEXT NOT NULL CHECK (outcome IN ('first', 'second', 'draw')),
    reason TEXT NOT NULL,     -- why the game ended early, '' if it did not
    first_moves INTEGER NOT NULL,
    second_moves INTEGER NOT NULL,
    first_seconds REAL NOT NULL,
    second_seconds REAL NOT NULL,
    played REAL NOT NULL,
    PRIMARY KEY (run, number)
) STRICT, WITHOUT ROWID;
CREATE TABLE ratings (
    run INTEGER NOT NULL REFERENCES runs (id),
    player TEXT NOT NULL REFERENCES players (name),
    rating REAL NOT NULL,
    low REAL NOT NULL,
    high REAL NOT NULL,
    games INTEGER NOT NULL,
    PRIMARY KEY (run, player)
) STRICT, WITHOUT ROWID;
CREATE TABLE analyses (
    id INTEGER PRIMARY KEY,
    game TEXT NOT NULL,
    moves TEXT,               -- as above, NULL for a position set up from a board
    player TEXT NOT NULL,     -- the spec of the player that analysed, '' for exact search
    record TEXT NOT NULL,     -- JSON
    created REAL NOT NULL
) STRICT;
CREATE INDEX analyses_of ON analyses (game, moves)
"""
#: each script migrates a file to the next version; a file of version n has had the first n scripts
_MIGRATIONS = (_VERSION_1, _VERSION_2)


class Database:
    """A connection that threads may share; hold `_lock` while using `_connection`.

    `with self._lock, self._connection:` is one transaction, which begins with the first INSERT,
    UPDATE or DELETE and is rolled back by an exception. With `read_only` the file must exist and
    is not changed. Methods raise StoreFailure if the file is damaged or cannot be written, or after
    waiting `lock_timeout` seconds for another writer. The constructor raises BadStore if the file
    cannot be opened or is not a store.
    """

    version: int  #: the version of the tables, which may be older in a file opened read-only

    def __init__(
        self, path: Path, *, read_only: bool = False, lock_timeout: float = _LOCK_TIMEOUT
    ) -> None:
        self.path = path
        self._lock_timeout = lock_timeout
        self._lock = threading.Lock()
        self._connection = connect(path, lock_timeout, read_only=read_only)
        try:
            if not read_only:
                self._migrate()
            self.version = _read_version(self._connection)
            _check_tables(self._connection, self.version)
        except BaseException:
            self._connection.close()
            raise

    def close(self) -> None:
        """Close the file; no other method may be called afterwards."""
        with self._lock:
            self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _read(self, query: str, *values: object) -> list[tuple[Any, ...]]:
        with self._lock:
            rows: list[tuple[Any, ...]] = self._connection.execute(query, values).fetchall()
        return rows

    def _migrate(self) -> None:
        with self._connection as connection:
            connection.execute("BEGIN IMMEDIATE")  # two processes that open a new file take turns
            (num_tables,) = connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()
            version = _read_version(connection)
            if version or num_tables:
                _check_tables(connection, version)
            for script in _MIGRATIONS[version:]:
                for statement in script.split(";"):  # not executescript, which would commit
                    connection.execute(statement.strip())
            connection.execute(f"PRAGMA user_version = {len(_MIGRATIONS)}")
        # These come last: they change the file, so it must have been checked first.
        self._use_write_ahead_log()
        self._connection.execute("PRAGMA synchronous = NORMAL")

    def _use_write_ahead_log(self) -> None:
        """Switch to a write-ahead log; try again while other connections use the file."""
        deadline = time.monotonic() + self._lock_timeout
        while True:
            try:
                self._connection.cursor().execute("PRAGMA journal_mode = WAL")
            except sqlite3.OperationalError as error:
                is_busy = error.sqlite_errorcode & 0xFF == sqlite3.SQLITE_BUSY
                if not is_busy or time.monotonic() > deadline:
                    raise explain(self.path, error) from None
                time.sleep(_RETRY)
            else:
                return


def _read_version(connection: StoreConnection) -> int:
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if version > len(_MIGRATIONS):
        msg = f"{connection.path} was written by a later version of zermelo ({version})"
        raise BadStore(msg)
    return int(version)


def _check_tables(connection: StoreConnection, version: int) -> None:
    """Raise BadStore unless the file has all tables of a version, with the same columns."""
    with contextlib.closing(sqlite3.connect(":memory:")) as expected:
        for script in _MIGRATIONS[:version]:
            expected.executescript(script)
        if version == 0 or not _columns(expected).items() <= _columns(connection).items():
            msg = f"{connection.path} is another program's database, not a store"
            raise BadStore(msg)


def _columns(connection: sqlite3.Connection) -> dict[str, tuple[str, ...]]:
    """Return, for every table, the names of its columns."""
    tables = connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'").fetchall()
    query = "SELECT name FROM pragma_table_info(?)"
    return {
        name: tuple(column for (column,) in connection.execute(query, (name,)).fetchall())
        for (name,) in tables
    }
