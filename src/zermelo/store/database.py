"""The file: opened, recognised and brought up to date; what its tables hold is said beside them.

WAL with one writer at a time and any number of readers: what a call has written is safe once it
returns, whatever happens to the process.
"""

import contextlib
import sqlite3
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Self

from zermelo.core.errors import ZermeloError

_PATIENCE = 5.0  # seconds to wait for another writer
_VERSION_1 = """
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
CREATE INDEX by_update ON matches (updated)
"""
_VERSION_2 = """
CREATE TABLE players (
    name TEXT PRIMARY KEY,    -- as in games and ratings: random (2) is the spec random
    spec TEXT NOT NULL,
    created REAL NOT NULL
) STRICT;
CREATE TABLE runs (
    id INTEGER PRIMARY KEY,
    kind TEXT NOT NULL CHECK (kind IN ('arena', 'grade', 'train')),
    game TEXT NOT NULL,
    settings TEXT NOT NULL,   -- JSON: all that defines it
    state TEXT NOT NULL CHECK (state IN ('running', 'stopped', 'finished')),
    created REAL NOT NULL,
    updated REAL NOT NULL,
    result TEXT               -- JSON, once there is one
) STRICT;
CREATE TABLE games (
    run INTEGER NOT NULL REFERENCES runs (id),
    number INTEGER NOT NULL,
    first TEXT NOT NULL REFERENCES players (name),
    second TEXT NOT NULL REFERENCES players (name),
    opening INTEGER NOT NULL, -- so many of the moves were drawn, not chosen
    moves TEXT NOT NULL,      -- separated by spaces
    outcome TEXT NOT NULL CHECK (outcome IN ('first', 'second', 'draw')),
    reason TEXT NOT NULL,     -- why it ended before the rules said so
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
    moves TEXT,               -- as above, NULL for a position from a board
    player TEXT NOT NULL,     -- whose thoughts: a spec, or '' for exact search
    record TEXT NOT NULL,     -- JSON
    created REAL NOT NULL
) STRICT;
CREATE INDEX analyses_of ON analyses (game, moves)
"""
#: what takes a file from one version to the next: a file of version n has had the first n
_STEPS = (_VERSION_1, _VERSION_2)


class BadStore(ZermeloError):
    """A file that is no store of ours."""


class File:
    """A connection that threads may share. `read_only` neither creates nor changes a file.

    `patience` is how many seconds to wait for another writer before sqlite3.OperationalError.
    """

    def __init__(self, path: Path, *, read_only: bool = False, patience: float = _PATIENCE) -> None:
        self._lock = threading.Lock()
        try:
            self._base = _connect(path, patience, read_only=read_only)
            try:
                if read_only:
                    self.version = _version(self._base)  #: an older file lacks later tables
                    _check(self._base, self.version)
                else:
                    with self._writing() as base:  # two that begin at once take turns
                        _migrate(base)
                    # after that: a file that is not ours stays as it is
                    self._base.execute("PRAGMA journal_mode = WAL")
                    self._base.execute("PRAGMA synchronous = NORMAL")
                    self.version = len(_STEPS)
            except BaseException:
                self._base.close()
                raise
        except (sqlite3.Error, OSError) as error:
            msg = f"{path} cannot be used as a store: {error}"
            raise BadStore(msg) from None

    def close(self) -> None:
        """No calls after this one."""
        with self._lock:
            self._base.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

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

    def _read(self, query: str, *values: object) -> list[tuple[Any, ...]]:
        with self._lock:
            return self._base.execute(query, values).fetchall()


def _connect(path: Path, patience: float, *, read_only: bool) -> sqlite3.Connection:
    if read_only and not path.is_file():
        msg = "there is no such file"
        raise sqlite3.Error(msg)
    if not read_only:
        path.parent.mkdir(parents=True, exist_ok=True)
    where = f"{path.resolve().as_uri()}?mode={'ro' if read_only else 'rwc'}"
    return sqlite3.connect(where, patience, uri=True, check_same_thread=False, isolation_level=None)


def _version(base: sqlite3.Connection) -> int:
    (version,) = base.execute("PRAGMA user_version").fetchone()
    if version > len(_STEPS):
        msg = f"made by a later version ({version})"
        raise sqlite3.Error(msg)
    return int(version)


def _migrate(base: sqlite3.Connection) -> None:
    version = _version(base)
    if version or base.execute("SELECT count(*) FROM sqlite_schema").fetchone()[0]:
        _check(base, version)
    for step in _STEPS[version:]:
        for statement in step.split(";"):  # not executescript, which would commit
            base.execute(statement.strip())
    base.execute(f"PRAGMA user_version = {len(_STEPS)}")


def _check(base: sqlite3.Connection, version: int) -> None:
    """That the tables are those of a version, column by column."""
    with contextlib.closing(sqlite3.connect(":memory:")) as model:
        for step in _STEPS[:version]:
            model.executescript(step)
        if version == 0 or not _tables(model).items() <= _tables(base).items():
            msg = "it is a database of something else"
            raise sqlite3.Error(msg)


def _tables(base: sqlite3.Connection) -> dict[str, tuple[str, ...]]:
    names = base.execute("SELECT name FROM sqlite_schema WHERE type = 'table'").fetchall()
    columns = "SELECT name FROM pragma_table_info(?)"
    return {name: tuple(c for (c,) in base.execute(columns, (name,))) for (name,) in names}
