"""Store files of the first version."""

import contextlib
import sqlite3
from pathlib import Path

# The script by which the studio created its file before there were tournaments.
VERSION_1 = """
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
PRAGMA journal_mode = WAL;
PRAGMA user_version = 1;
INSERT INTO matches VALUES
    ('old', 'tictactoe', 'human', 'level:3', 'b2 a1', 2, NULL, 'X to move', 0, 1.0, 2.0);
"""


def create_version_1(path: Path) -> Path:
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.executescript(VERSION_1)
    return path


def read_version(path: Path) -> int:
    with contextlib.closing(sqlite3.connect(path)) as connection:
        return int(connection.execute("PRAGMA user_version").fetchone()[0])
