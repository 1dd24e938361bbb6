"""Runs (tournaments, gradings and training runs), their games and ratings, and analyses."""

import json
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from zermelo.store.database import Database

RUNNING, STOPPED, FINISHED = "running", "stopped", "finished"


class GameRow(NamedTuple):
    """A stored game of a run."""

    number: int
    first: str
    second: str
    opening: int  #: the number of first moves that were sampled, not chosen by a player
    moves: str  #: separated by spaces
    outcome: str  #: first, second or draw
    reason: str = ""  #: why the game ended early, "" if it did not
    first_moves: int = 0  #: the number of moves that each player chose, and the time they took
    second_moves: int = 0
    first_seconds: float = 0.0
    second_seconds: float = 0.0
    played: float = 0.0  #: when the game ended


@dataclass(frozen=True)
class StoredRun:
    """A stored run."""

    id: int
    kind: str
    game: str
    settings: dict[str, Any]
    state: str
    created: float
    updated: float
    result: dict[str, Any] | None


class Rating(NamedTuple):
    """An Elo rating with its 95 % interval and the number of games behind it."""

    rating: float
    low: float
    high: float
    games: int


class RunStore(Database):
    """Runs by number. Threads may share one store."""

    def add_run(self, kind: str, game: str, settings: Mapping[str, Any]) -> int:
        """Insert a new run in the state RUNNING and return its number."""
        now = time.time()
        with self._lock, self._connection as connection:
            cursor = connection.execute(
                "INSERT INTO runs (kind, game, settings, state, created, updated) "
                "VALUES (?, ?, ?, ?, ?, ?)",
                (kind, game, _to_json(settings), RUNNING, now, now),
            )
        assert cursor.lastrowid is not None
        return cursor.lastrowid

    def update_run(self, run: int, state: str, result: Mapping[str, Any] | None = None) -> None:
        """Set the state of a run and its result."""
        with self._lock, self._connection as connection:
            connection.execute(
                "UPDATE runs SET state = ?, result = ?, updated = ? WHERE id = ?",
                (state, None if result is None else _to_json(result), time.time(), run),
            )

    def latest_run(self, kind: str, settings: Mapping[str, Any]) -> int | None:
        """Return the number of the last run with exactly these settings, None if there is none."""
        query = "SELECT max(id) FROM runs WHERE kind = ? AND settings = ?"
        number: int | None = self._read(query, kind, _to_json(settings))[0][0]
        return number

    def add_players(self, specs: Mapping[str, str]) -> None:
        """Insert the specs of players by name; players already stored stay unchanged."""
        rows = [(name, spec, time.time()) for name, spec in specs.items()]
        with self._lock, self._connection as connection:
            connection.executemany("INSERT OR IGNORE INTO players VALUES (?, ?, ?)", rows)

    def add_games(self, run: int, games: Iterable[GameRow]) -> None:
        """Insert finished games; games already stored stay unchanged."""
        marks = ", ".join("?" * (1 + len(GameRow._fields)))
        rows = [(run, *game) for game in games]
        with self._lock, self._connection as connection:
            connection.executemany(f"INSERT OR IGNORE INTO games VALUES ({marks})", rows)  # noqa: S608

    def delete_games(self, run: int, first: int) -> None:
        """Delete the games of a run whose number is at least `first`."""
        with self._lock, self._connection as connection:
            connection.execute("DELETE FROM games WHERE run = ? AND number >= ?", (run, first))

    def game_rows(self, run: int) -> list[GameRow]:
        """Return the games of a run, ordered by number."""
        columns = ", ".join(GameRow._fields)
        query = f"SELECT {columns} FROM games WHERE run = ? ORDER BY number"  # noqa: S608
        return [GameRow(*row) for row in self._read(query, run)]

    def set_ratings(self, run: int, ratings: Mapping[str, Rating]) -> None:
        """Replace the ratings of a run."""
        rows = [(run, name, *rating) for name, rating in ratings.items()]
        with self._lock, self._connection as connection:
            connection.execute("DELETE FROM ratings WHERE run = ?", (run,))
            connection.executemany("INSERT INTO ratings VALUES (?, ?, ?, ?, ?, ?)", rows)

    def add_analysis(
        self, game: str, moves: Iterable[str] | None, player: str, record: Mapping[str, Any]
    ) -> None:
        """Insert a player's analysis of a position; if `player` is "", it is by exact search."""
        line = None if moves is None else " ".join(moves)
        with self._lock, self._connection as connection:
            connection.execute(
                "INSERT INTO analyses (game, moves, player, record, created) "
                "VALUES (?, ?, ?, ?, ?)",
                (game, line, player, _to_json(record), time.time()),
            )


def _to_json(value: Mapping[str, Any]) -> str:
    """Write JSON with sorted keys, so that equal values have equal texts."""
    return json.dumps(value, sort_keys=True)
