"""History: what is kept, to be looked at. Nothing here writes, and no file is created."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from zermelo.store.runs import Run, Runs

# Matches and games of runs in one list; the columns are those of Kept. A match has no outcome
# where it still runs; its verdict says who won.
_MATCHES = """
SELECT id, game, first, second, moves, over, resigned, verdict, '' AS reason, 0 AS opening,
    updated AS played, 0 AS number FROM matches"""
_GAMES = """
SELECT run || '/' || number, runs.game, first, second, moves, 1, NULL, outcome, reason, opening,
    played, number FROM games JOIN runs ON runs.id = games.run"""
_RUNS = "SELECT id, kind, game, settings, state, created, updated, result FROM runs"


@dataclass(frozen=True)
class Kept:
    """A game that was played, in the studio or in a run."""

    id: str
    game: str
    first: str
    second: str
    moves: tuple[str, ...]
    over: bool
    resigned: int | None  #: the player who gave up
    outcome: str  #: of a run's game: first, second or draw; of a match: its verdict
    reason: str  #: why it ended before the rules said so
    opening: int
    played: float

    @property
    def is_match(self) -> bool:
        """Whether it was played in the studio."""
        return "/" not in self.id


class History(Runs):
    """A store, read only."""

    def __init__(self, path: Path) -> None:
        super().__init__(path, read_only=True)

    def games(self, game: str | None, player: str | None, limit: int) -> list[Kept]:
        """The last games, of a game and with a player where they are named."""
        union = f"{_MATCHES} UNION ALL {_GAMES}" if self._has_runs else _MATCHES
        query = (
            f"SELECT * FROM ({union}) WHERE (?1 IS NULL OR game = ?1) "  # noqa: S608
            "AND (?2 IS NULL OR ?2 IN (first, second)) ORDER BY played DESC, number DESC LIMIT ?3"
        )
        return [_kept(row) for row in self._read(query, game, player, limit)]

    def one(self, key: str) -> Kept | None:
        """The game of an id: a match's own, or run/number."""
        run, slash, number = key.partition("/")
        if not slash:
            found = self._read(f"{_MATCHES} WHERE id = ?", key)
        elif self._has_runs:
            found = self._read(f"{_GAMES} WHERE run = ? AND number = ?", run, number)
        else:
            found = []
        return _kept(found[0]) if found else None

    def games_in(self, run: int) -> list[Kept]:
        """The games of a run, by number."""
        return [_kept(row) for row in self._read(f"{_GAMES} WHERE run = ? ORDER BY number", run)]

    def runs(self, game: str | None, player: str | None, limit: int) -> list[Run]:
        """The last runs, of a game and with a player where they are named."""
        if not self._has_runs:
            return []
        query = (
            f"{_RUNS} WHERE (?1 IS NULL OR game = ?1) AND (?2 IS NULL OR id IN "  # noqa: S608
            "(SELECT run FROM games WHERE ?2 IN (first, second)) OR "
            "json_extract(settings, '$.player') = ?2) ORDER BY id DESC LIMIT ?3"
        )
        return [_run(row) for row in self._read(query, game, player, limit)]

    def run(self, key: str) -> Run | None:
        """The run of a number."""
        if not self._has_runs or not (key.isascii() and key.isdecimal() and len(key) < 18):
            return None
        found = self._read(f"{_RUNS} WHERE id = ?", int(key))
        return _run(found[0]) if found else None

    def num_games(self, run: int) -> int:
        """How many games of a run are kept."""
        return int(self._read("SELECT count(*) FROM games WHERE run = ?", run)[0][0])

    @property
    def _has_runs(self) -> bool:
        return self.version >= 2


def _kept(row: tuple[Any, ...]) -> Kept:
    key, game, first, second, moves, over, *rest, _number = row
    return Kept(key, game, first, second, tuple(moves.split()), bool(over), *rest)


def _run(row: tuple[Any, ...]) -> Run:
    key, kind, game, settings, state, created, updated, result = row
    read = None if result is None else json.loads(result)
    return Run(key, kind, game, json.loads(settings), state, created, updated, read)
