"""Connections to SQLite that raise errors of our own, each with a one-line message.

The message names the file. StoreFailure is also a sqlite3 error, so that callers that can
continue without the store can catch it together with other sqlite3 errors.
"""

import contextlib
import os
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Self

from zermelo.core.errors import ZermeloError

# SQLite's codes for errors that do not mean that the file is damaged.
_OTHER_CAUSES = {
    sqlite3.SQLITE_BUSY,
    sqlite3.SQLITE_CANTOPEN,
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_INTERRUPT,
    sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_LOCKED,
    sqlite3.SQLITE_NOMEM,
    sqlite3.SQLITE_PERM,
    sqlite3.SQLITE_PROTOCOL,
    sqlite3.SQLITE_READONLY,
}


class BadStore(ZermeloError):
    """Raised when a file cannot be used as a store."""


class StoreFailure(sqlite3.OperationalError, BadStore):
    """Raised when a store that is in use cannot be read or written, temporarily or for good."""


def damaged(path: Path, reason: object) -> StoreFailure:
    """Return the error for a damaged file; it says how to save what is left."""
    line = " ".join(str(reason).split())  # SQLite may quote several lines of SQL
    return StoreFailure(
        f"{path} is damaged: {line}; `zermelo history recover {path} --out NEW` copies what can "
        "be read to a new file"
    )


def connect(path: Path, lock_timeout: float, *, read_only: bool) -> "StoreConnection":
    """Open a file; with `read_only` it must exist and is not changed. Raise BadStore if that fails.

    To read a file with a write-ahead log, SQLite must be able to write to its folder. In a
    read-only folder, SQLite is told instead that nobody changes the file (`immutable`).
    """
    if read_only and not path.is_file():
        msg = f"{path} cannot be used as a store: there is no such file"
        raise BadStore(msg)
    if not read_only:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            msg = f"{path} cannot be used as a store: {error.strerror}"
            raise BadStore(msg) from None
    mode = "ro" if read_only else "rwc"
    if read_only and not _is_writable(path.parent) and not _has_log(path):
        mode += "&immutable=1"
    with explain_errors(path):
        connection = sqlite3.connect(
            f"{path.resolve().as_uri()}?mode={mode}",
            lock_timeout,
            uri=True,
            check_same_thread=False,
            isolation_level="IMMEDIATE",
            factory=StoreConnection,
        )
    connection.path = path
    return connection


def _is_writable(folder: Path) -> bool:
    return os.access(folder, os.W_OK, effective_ids=os.access in os.supports_effective_ids)


def _has_log(path: Path) -> bool:
    """Return whether a file has a write-ahead log that is not empty."""
    log = path.with_name(f"{path.name}-wal")
    return log.is_file() and log.stat().st_size > 0


class StoreConnection(sqlite3.Connection):
    """A connection that raises StoreFailure instead of OperationalError and DatabaseError."""

    path: Path

    def execute(self, *arguments: Any) -> "_Cursor":
        """Execute a statement, and return a cursor that raises the same errors."""
        return self.cursor(_Cursor).execute(*arguments)

    def executemany(self, *arguments: Any) -> "_Cursor":
        """Execute a statement for each row, and return a cursor that raises the same errors."""
        return self.cursor(_Cursor).executemany(*arguments)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> Literal[False]:
        """Commit, or roll back after an error."""
        with explain_errors(self.path):
            return super().__exit__(kind, error, traceback)


class _Cursor(sqlite3.Cursor):
    connection: StoreConnection

    def execute(self, *arguments: Any) -> Self:
        with explain_errors(self.connection.path):
            return super().execute(*arguments)

    def executemany(self, *arguments: Any) -> Self:
        with explain_errors(self.connection.path):
            return super().executemany(*arguments)

    def fetchone(self) -> Any:
        with explain_errors(self.connection.path):
            return super().fetchone()

    def fetchall(self) -> Any:
        with explain_errors(self.connection.path):
            return super().fetchall()


@contextlib.contextmanager
def explain_errors(path: Path) -> Iterator[None]:
    """Turn errors of sqlite3 into a StoreFailure, except IntegrityError and ProgrammingError."""
    try:
        yield
    except (StoreFailure, sqlite3.IntegrityError, sqlite3.ProgrammingError):
        raise
    except (sqlite3.DatabaseError, UnicodeDecodeError, OverflowError) as error:
        raise explain(path, error) from None


def explain(path: Path, error: Exception) -> StoreFailure:
    """Return a StoreFailure that names the file and explains an error of sqlite3."""
    code: int | None = getattr(error, "sqlite_errorcode", None)
    if code is None or code & 0xFF not in _OTHER_CAUSES:
        return damaged(path, error)
    hint = "" if _is_writable(path.parent) else f"; the folder {path.parent} is read-only"
    return StoreFailure(f"the store {path} cannot be used: {error}{hint}")
