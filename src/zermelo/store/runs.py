"""Runs: tournaments, grades and trainings with their games and ratings; and analyses."""

import json
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from zermelo.store.file import File

RUNNING, STOPPED, FINISHED = "running", "stopped", "finished"


class GameRow(NamedTuple):
    """A game of a run, as it is kept."""

    number: int
    first: str
    second: str
    opening: int  #: so many of the moves were drawn, not chosen
    moves: str  #: separated by spaces
    outcome: str  #: first, second or draw
    reason: str = ""  #: why it ended before the rules said so
    first_moves: int = 0  #: chosen by each, and the time it took them
    second_moves: int = 0
    first_seconds: float = 0.0
    second_seconds: float = 0.0
    played: float = 0.0  #: when it ended


@dataclass(frozen=True)
class Run:
    """A run as it is kept."""

    id: int
    kind: str
    game: str
    settings: dict[str, Any]
    state: str
    created: float
    updated: float
    result: dict[str, Any] | None


class Rating(NamedTuple):
    """Elo with a 95% interval, from so many games."""

    rating: float
    low: float
    high: float
    games: int


class Runs(File):
    """Runs by number. Threads may share one."""

    def begin(self, kind: str, game: str, settings: Mapping[str, Any]) -> int:
        """A new run; its number."""
        now = time.time()
        with self._writing() as base:
            made = base.execute(
                "INSERT INTO runs (kind, game, settings, state, created, updated) "
                "VALUES (?, ?, ?, ?, ?, ?)",
                (kind, game, _json(settings), RUNNING, now, now),
            )
        assert made.lastrowid is not None
        return made.lastrowid

    def end(self, run: int, state: str, result: Mapping[str, Any] | None = None) -> None:
        """How a run stands, and what came of it."""
        with self._writing() as base:
            base.execute(
                "UPDATE runs SET state = ?, result = ?, updated = ? WHERE id = ?",
                (state, None if result is None else _json(result), time.time(), run),
            )

    def newest(self, kind: str, settings: Mapping[str, Any]) -> int | None:
        """The last run with just these settings."""
        query = "SELECT max(id) FROM runs WHERE kind = ? AND settings = ?"
        found: int | None = self._read(query, kind, _json(settings))[0][0]
        return found

    def add_players(self, specs: Mapping[str, str]) -> None:
        """Players by name."""
        rows = [(name, spec, time.time()) for name, spec in specs.items()]
        with self._writing() as base:
            base.executemany("INSERT OR IGNORE INTO players VALUES (?, ?, ?)", rows)

    def add_games(self, run: int, games: Iterable[GameRow]) -> None:
        """Finished games; one that is there already stays as it is."""
        marks = ", ".join("?" * (1 + len(GameRow._fields)))
        rows = [(run, *game) for game in games]
        with self._writing() as base:
            base.executemany(f"INSERT OR IGNORE INTO games VALUES ({marks})", rows)  # noqa: S608

    def forget_games(self, run: int, number: int) -> None:
        """Games from a number on, which came after the end."""
        with self._writing() as base:
            base.execute("DELETE FROM games WHERE run = ? AND number >= ?", (run, number))

    def games_of(self, run: int) -> list[GameRow]:
        """The games of a run, by number."""
        columns = ", ".join(GameRow._fields)
        query = f"SELECT {columns} FROM games WHERE run = ? ORDER BY number"  # noqa: S608
        return [GameRow(*row) for row in self._read(query, run)]

    def add_ratings(self, run: int, ratings: Mapping[str, Rating]) -> None:
        """The ratings of a run, instead of those it had."""
        rows = [(run, name, *rating) for name, rating in ratings.items()]
        with self._writing() as base:
            base.execute("DELETE FROM ratings WHERE run = ?", (run,))
            base.executemany("INSERT INTO ratings VALUES (?, ?, ?, ?, ?, ?)", rows)

    def add_analysis(
        self, game: str, moves: Iterable[str] | None, player: str, record: Mapping[str, Any]
    ) -> None:
        """What a player, or exact search for "", thinks of a position."""
        line = None if moves is None else " ".join(moves)
        with self._writing() as base:
            base.execute(
                "INSERT INTO analyses (game, moves, player, record, created) "
                "VALUES (?, ?, ?, ?, ?)",
                (game, line, player, _json(record), time.time()),
            )


def _json(value: Mapping[str, Any]) -> str:
    """Equal values, equal texts."""
    return json.dumps(value, sort_keys=True)
