"""Read-only access to the history of stored games and runs."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from zermelo.store.connection import damaged
from zermelo.store.rows import check_types, parse_object
from zermelo.store.runs import RunStore, StoredRun

# The queries for matches and for the games of runs both select the columns of StoredGame. The
# outcome of a match is its verdict.
_MATCHES = """
SELECT id, game, first, second, moves, over, resigned, verdict, '' AS reason, 0 AS opening,
    updated AS played, 0 AS number FROM matches"""
_GAMES = """
SELECT run || '/' || number, runs.game, first, second, moves, 1, NULL, outcome, reason, opening,
    played, number FROM games JOIN runs ON runs.id = games.run"""
_GAME_TYPES = (str, str, str, str, str, int, int | None, str, str, int, float, int)
_OUTCOMES = ("first", "second", "draw")
_RUNS = "SELECT id, kind, game, settings, state, created, updated, result FROM runs"
_RUN_TYPES = (int, str, str, str, str, float, float, str | None)


@dataclass(frozen=True)
class StoredGame:
    """A game that was played in the studio or in a run."""

    id: str
    game: str
    first: str
    second: str
    moves: tuple[str, ...]
    over: bool
    resigned: int | None  #: the player who resigned
    outcome: str  #: first, second or draw for a run's game; the verdict for a match
    reason: str  #: why the game ended early, "" if it did not
    opening: int
    played: float

    @property
    def is_match(self) -> bool:
        """Whether the game was played in the studio."""
        return "/" not in self.id


class History(RunStore):
    """A store that is opened read-only; its file may be from an older version of Zermelo."""

    def __init__(self, path: Path) -> None:
        super().__init__(path, read_only=True)

    def games(self, game: str | None, player: str | None, limit: int) -> list[StoredGame]:
        """Return the last `limit` games, newest first; None stands for any game or player."""
        union = f"{_MATCHES} UNION ALL {_GAMES}" if self._has_runs else _MATCHES
        query = (
            f"SELECT * FROM ({union}) WHERE (?1 IS NULL OR game = ?1) "  # noqa: S608
            "AND (?2 IS NULL OR ?2 IN (first, second)) ORDER BY played DESC, number DESC LIMIT ?3"
        )
        return [self._to_game(row) for row in self._read(query, game, player, limit)]

    def game(self, key: str) -> StoredGame | None:
        """Return the game with this id (a match id or RUN/NUMBER), or None if there is none."""
        run, slash, number = key.partition("/")
        rows: list[tuple[Any, ...]] = []
        if not slash:
            rows = self._read(f"{_MATCHES} WHERE id = ?", key)
        elif self._has_runs:
            rows = self._read(f"{_GAMES} WHERE run = ? AND number = ?", run, number)
        return self._to_game(rows[0]) if rows else None

    def games_in(self, run: int) -> list[StoredGame]:
        """Return the games of a run, ordered by number."""
        rows = self._read(f"{_GAMES} WHERE run = ? ORDER BY number", run)
        return [self._to_game(row) for row in rows]

    def runs(self, game: str | None, player: str | None, limit: int) -> list[StoredRun]:
        """Return the last `limit` runs, newest first; None stands for any game or player."""
        if not self._has_runs:
            return []
        query = (
            f"{_RUNS} WHERE (?1 IS NULL OR game = ?1) AND (?2 IS NULL OR id IN "  # noqa: S608
            "(SELECT run FROM games WHERE ?2 IN (first, second)) OR "
            "json_extract(settings, '$.player') = ?2) ORDER BY id DESC LIMIT ?3"
        )
        return [self._to_run(row) for row in self._read(query, game, player, limit)]

    def run(self, key: str) -> StoredRun | None:
        """Return the run with this number; None if there is none or `key` is not a number."""
        if not self._has_runs or not (key.isascii() and key.isdecimal() and len(key) < 18):
            return None
        rows = self._read(f"{_RUNS} WHERE id = ?", int(key))
        return self._to_run(rows[0]) if rows else None

    def num_games(self, run: int) -> int:
        """Return the number of stored games of a run."""
        return int(self._read("SELECT count(*) FROM games WHERE run = ?", run)[0][0])

    @property
    def _has_runs(self) -> bool:
        return self.version >= 2

    def _to_game(self, row: tuple[Any, ...]) -> StoredGame:
        check_types(self.path, row, _GAME_TYPES)
        key, game, first, second, moves, over, *rest, _number = row
        stored = StoredGame(key, game, first, second, tuple(moves.split()), bool(over), *rest)
        if not stored.is_match and stored.outcome not in _OUTCOMES:
            raise damaged(self.path, f"{stored.outcome[:40]!r} is not an outcome")
        return stored

    def _to_run(self, row: tuple[Any, ...]) -> StoredRun:
        check_types(self.path, row, _RUN_TYPES)
        key, kind, game, settings, state, created, updated, result = row
        parsed = None if result is None else parse_object(self.path, result)
        return StoredRun(
            key, kind, game, parse_object(self.path, settings), state, created, updated, parsed
        )
