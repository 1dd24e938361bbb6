"""Copy what can be read of a damaged store to a new one.

Rows are read in two ways: by SQLite from both ends of each table, up to the first damaged page, and
then directly from all pages of the file. Rows whose values do not fit the columns are left out.
"""

import contextlib
import json
import math
import shutil
import sqlite3
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from zermelo.store.connection import BadStore
from zermelo.store.database import Database
from zermelo.store.pages import read_rows

_TYPES = {"TEXT": str, "INTEGER": int, "REAL": float}
_JSON_COLUMNS = {"settings", "result", "record"}

Row = tuple[Any, ...]


@dataclass(frozen=True)
class _Column:
    name: str
    kind: str
    is_key: bool
    is_nullable: bool

    def accepts(self, value: object) -> bool:
        """Return whether a value fits this column."""
        if value is None:
            return self.is_nullable
        if not isinstance(value, _TYPES[self.kind]):
            return False
        if isinstance(value, float):
            return math.isfinite(value)
        return self.name not in _JSON_COLUMNS or _is_json_object(str(value))

    def decode(self, value: Any, rowid: int | None) -> Any:
        """Return a stored value as SQLite would return it for this column."""
        if value is None and self.is_key and self.kind == "INTEGER":
            return rowid  # SQLite stores such a key only as the rowid
        if isinstance(value, int) and self.kind == "REAL":
            return float(value)  # SQLite stores whole numbers as integers
        return value


@dataclass(frozen=True)
class _Table:
    name: str
    columns: tuple[_Column, ...]
    has_rowid: bool

    def parse(self, rowid: int | None, values: Row) -> Row | None:
        """Return a row as SQLite would, or None if it cannot be a row of this table."""
        if len(values) != len(self.columns) or (rowid is not None) != self.has_rowid:
            return None
        row = tuple(
            column.decode(value, rowid) for value, column in zip(values, self.columns, strict=True)
        )
        return row if self.accepts(row) else None

    def accepts(self, row: Iterable[Any]) -> bool:
        """Return whether the values of a row fit the columns."""
        return all(c.accepts(value) for value, c in zip(row, self.columns, strict=True))

    def key(self, row: Row) -> Row:
        """Return the primary key of a row."""
        return tuple(v for v, column in zip(row, self.columns, strict=True) if column.is_key)

    def age(self, row: Row) -> float:
        """Return the time at which a row was last changed, or 0 if the table does not store it."""
        names = [column.name for column in self.columns]
        return float(row[names.index("updated")]) if "updated" in names else 0.0


def recover(path: Path, out: Path) -> dict[str, int]:
    """Copy the readable rows of a store to the new file `out`; return their number by table.

    Raise BadStore if there is no row to recover, if `out` exists or cannot be written, or if `path`
    cannot be read.
    """
    if out.exists():
        msg = f"{out} exists: choose another file"
        raise BadStore(msg)
    try:
        data, log = path.read_bytes(), _read_if_present(_log_path(path))
    except OSError as error:
        msg = f"cannot read {path}: {error.strerror}"
        raise BadStore(msg) from None
    counts: dict[str, int] = {}
    try:
        with _NewStore(out) as new:
            for table, rows in _find_rows(new.tables(), path, data, log):
                counts[table.name] = new.insert(table, rows.values())
    except BaseException:
        _delete(out)
        raise
    if not any(counts.values()):
        _delete(out)
        msg = f"no row of {path} can be read"
        raise BadStore(msg)
    return counts


class _NewStore(Database):
    """The store to which rows are copied."""

    def tables(self) -> list[_Table]:
        """Return the tables of a store."""
        query = "SELECT name, sql FROM sqlite_schema WHERE type = 'table'"
        tables = []
        for name, sql in self._read(query):
            has_rowid = "WITHOUT ROWID" not in sql
            columns = tuple(
                _Column(column, kind, bool(key), not not_null and not key)
                for _, column, kind, not_null, _, key in self._read(f"PRAGMA table_info({name})")
            )
            tables.append(_Table(name, columns, has_rowid))
        return tables

    def insert(self, table: _Table, rows: Iterable[Row]) -> int:
        """Insert rows and return how many; leave out those that contradict the table's rules."""
        marks = ", ".join("?" * len(table.columns))
        number = 0
        with self._lock, self._connection as connection:
            for row in rows:
                with contextlib.suppress(sqlite3.IntegrityError, OverflowError, ValueError):
                    connection.execute(f"INSERT INTO {table.name} VALUES ({marks})", row)  # noqa: S608
                    number += 1
        return number


def _find_rows(
    tables: list[_Table], path: Path, data: bytes, log: bytes
) -> Iterator[tuple[_Table, dict[Row, Row]]]:
    """Yield each table with its rows by primary key."""
    is_intact, by_sql = _read_by_sql(tables, path)
    raw_rows = [] if is_intact else list(read_rows(data, log))
    for table in tables:
        rows: dict[Row, Row] = {}
        for raw in raw_rows:
            row = table.parse(*raw)
            if row is not None:
                key = table.key(row)
                if key not in rows or table.age(row) > table.age(rows[key]):
                    rows[key] = row
        rows |= {table.key(row): row for row in by_sql[table.name] if table.accepts(row)}
        yield table, dict(sorted(rows.items()))


def _read_by_sql(tables: list[_Table], path: Path) -> tuple[bool, dict[str, list[Row]]]:
    """Return whether SQLite finds the file intact, and the rows of each table that it can read.

    SQLite reads a copy, because it may change the file or need to write to its folder.
    """
    rows: dict[str, list[Row]] = {table.name: [] for table in tables}
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "store.db"
        shutil.copyfile(path, copy)
        with contextlib.suppress(OSError):
            shutil.copyfile(_log_path(path), _log_path(copy))
        with contextlib.closing(sqlite3.connect(copy)) as connection:
            connection.text_factory = _decode
            for table in tables:
                columns = ", ".join(column.name for column in table.columns)
                keys = [column.name for column in table.columns if column.is_key]
                if table.has_rowid:
                    keys = ["rowid"]  # so that SQLite needs no index, which may be damaged
                for order in ("", " DESC"):
                    by = ", ".join(name + order for name in keys)
                    query = f"SELECT {columns} FROM {table.name} ORDER BY {by}"  # noqa: S608
                    rows[table.name] += _read_until_error(connection, query)
            check = _read_until_error(connection, "PRAGMA integrity_check")
    return check == [("ok",)], rows


def _read_until_error(connection: sqlite3.Connection, query: str) -> list[Row]:
    rows: list[Row] = []
    with contextlib.suppress(sqlite3.Error, OverflowError):
        for row in connection.execute(query):
            rows.append(row)  # noqa: PERF402 - those before an error are kept
    return rows


def _decode(text: bytes) -> str | bytes:
    """Decode UTF-8; return invalid bytes unchanged, since no column accepts bytes."""
    try:
        return text.decode()
    except UnicodeDecodeError:
        return text


def _is_json_object(text: str) -> bool:
    try:
        return isinstance(json.loads(text), dict)
    except (ValueError, RecursionError):
        return False


def _delete(path: Path) -> None:
    for name in (path, _log_path(path), path.with_name(f"{path.name}-shm")):
        name.unlink(missing_ok=True)


def _log_path(path: Path) -> Path:
    return path.with_name(f"{path.name}-wal")


def _read_if_present(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return b""
