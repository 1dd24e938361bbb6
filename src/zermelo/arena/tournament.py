"""Run a tournament: play the games not yet played, store them and compute the standings."""

import contextlib
import os
import sqlite3
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from zermelo.arena import in_process, worker_pool
from zermelo.arena.in_process import ObjectPlan
from zermelo.arena.plan import MEMORY, PATIENCE, Plan
from zermelo.arena.sprt import BOUND, SequentialTest
from zermelo.arena.standings import RepeatDetector, Standings, compute_standings, half_points
from zermelo.core.errors import BadSpec, ZermeloError, import_package
from zermelo.core.notation import show_value
from zermelo.core.phrases import count
from zermelo.games import registry
from zermelo.games.registry import GameLike
from zermelo.players.registry import PlayerLike
from zermelo.store.connection import BadStore
from zermelo.store.runs import FINISHED, RUNNING, STOPPED, GameRow, RunStore

_COMMIT_INTERVAL = 0.3  # seconds
_LOCK_TIMEOUT = 60.0  # seconds to wait for another process that writes to the store


@dataclass(frozen=True)
class TournamentProgress:
    """The progress of a tournament."""

    done: int
    total: int
    rate: float  #: games per second
    points: dict[str, float]

    @property
    def seconds_left(self) -> float:
        """The estimated remaining time at the current rate."""
        return (self.total - self.done) / self.rate if self.rate else 0.0


@dataclass(frozen=True)
class Result:
    """The result of a tournament: its games, finished or not, and their standings."""

    plan: Plan
    games: tuple[GameRow, ...]  #: in the order of their numbers
    standings: Standings
    finished: bool
    run: int | None  #: number of the run in the store
    sprt: dict[str, Any] | None  #: state of the sequential test

    def to_dict(self) -> dict[str, Any]:
        """Return the fields of the JSON output."""
        return {
            "game": self.plan.game,
            **self.standings.to_dict(),
            "finished": self.finished,
            "sprt": self.sprt,
            "run": self.run,
            "settings": self.plan.to_dict(),
        }

    def to_dataframe(self) -> Any:
        """Return a pandas data frame of the standings with a row for every player, best first."""
        return import_package("pandas", "to_dataframe").DataFrame(self.standings.to_rows())

    def __repr__(self) -> str:
        """Return the game, the number of games and the best player in angle brackets."""
        games = count(self.standings.games, "game") + ("" if self.finished else " so far")
        best = self.standings.ranking()[0]
        rating = self.standings.ratings[best].rating
        return f"<tournament of {self.plan.game}: {games}, best {best} at {rating:+.0f} Elo>"


class Interrupted(KeyboardInterrupt):
    """Raised when Ctrl-C stops a tournament; `result` holds the games so far."""

    def __init__(self, result: Result) -> None:
        super().__init__("stopped")
        self.result = result


def tournament(
    game: GameLike,
    players: Sequence[PlayerLike],
    *,
    games: int = 100,
    seed: int = 0,
    opening_plies: int | None = None,
    seconds: float | None = None,
    processes: int | None = None,
    db: str | os.PathLike[str] | None = None,
    resume: bool = False,
    sprt: tuple[float, float] | None = None,
    patience: float = PATIENCE,
    memory: int = MEMORY,
    progress: Callable[[TournamentProgress], None] | None = None,
) -> Result:
    """Play a round robin between the players: `games` games for each pair.

    Every game is determined by the settings and its number, regardless of the process that plays
    it. With `db` the games are stored in that file, and `resume` continues the latest run with the
    same settings. `memory` limits each process, in MB; 0 means no limit. Ctrl-C raises Interrupted.
    docs/arena.md explains the results.

    If a player or the game is a Python object that other processes cannot load, all games are
    played in this process. `memory` is then ignored, and `resume` and `processes` above 1 raise
    ZermeloError.

    >>> result = tournament("tictactoe", ["greedy", "random"], games=20, processes=1)
    >>> sum(len(game.moves.split()) > 4 for game in result.games)
    20
    """
    settings = {
        "games": games,
        "seed": seed,
        "opening_plies": opening_plies,
        "seconds": seconds,
        "patience": patience,
        "sprt": sprt,
        "memory": memory,
    }
    plan = _build_plan(game, players, settings)
    if isinstance(plan, ObjectPlan) and (resume or (processes or 1) > 1):
        option = "resume" if resume else "processes"
        msg = f"{option} needs players and a game that other processes can load: give specs"
        raise ZermeloError(msg)
    plan.check_players()
    if resume and db is None:
        msg = "resume needs db, the file in which the games are stored"
        raise ZermeloError(msg)
    collector = _GameCollector(plan)
    with contextlib.ExitStack() as stack:
        writer = stack.enter_context(_RunWriter(plan, Path(db), resume=resume)) if db else None
        if writer is not None:
            collector.add(writer.stored)
        missing = [n for n in range(collector.end) if n not in collector.rows]
        interrupted = False
        try:
            num_workers = processes or worker_pool.usable_cores()
            generator = (
                in_process.play_games(plan, missing)
                if isinstance(plan, ObjectPlan)
                else worker_pool.play_games(plan, missing, num_workers)
            )
            with contextlib.closing(generator) as rows:
                _collect(rows, collector, writer, progress)
        except KeyboardInterrupt:
            interrupted = True
        result = collector.result(None if writer is None else writer.run)
        if writer is not None:
            writer.finish(result, collector.end)
        if interrupted:
            raise Interrupted(result)
        return result


def _build_plan(game: GameLike, players: Sequence[PlayerLike], settings: dict[str, Any]) -> Plan:
    """Return the plan of a tournament; raise BadSpec if the game or a player has the wrong type."""
    if isinstance(players, str) or not isinstance(players, Sequence):
        msg = f"players is {show_value(players)}: it must be a list of two players or more"
        raise BadSpec(msg)
    rules = game if isinstance(game, str) else registry.as_game(game)
    specs = tuple(player.strip() for player in players if isinstance(player, str))
    is_loadable = isinstance(rules, str) or registry.is_loadable(rules)
    if is_loadable and len(specs) == len(players):
        return Plan(rules if isinstance(rules, str) else rules.spec, specs, **settings)
    return ObjectPlan(registry.as_game(rules), players, **settings)


def _collect(
    games: Iterable[list[GameRow]],
    collector: "_GameCollector",
    writer: "_RunWriter | None",
    progress: Callable[[TournamentProgress], None] | None,
) -> None:
    """Collect and store games as they end, until the collector has all games that it needs."""
    start, num_stored = time.monotonic(), len(collector.rows)
    for rows in games:
        collector.add(rows)
        if writer is not None:
            writer.add(rows)
        done = len(collector.rows)
        if progress is not None:
            rate = (done - num_stored) / max(time.monotonic() - start, 1e-9)
            progress(TournamentProgress(done, collector.end, rate, collector.points))
        if done >= collector.end:
            return


class _GameCollector:
    """Collects the games so far and applies the sequential test to them.

    The test reads the games in the order of their numbers, so that its decision does not depend on
    which game finished first. Games after its decision do not count.
    """

    def __init__(self, plan: Plan) -> None:
        self.plan, self.end = plan, plan.total  #: games with a number below `end` count
        self.rows: dict[int, GameRow] = {}
        self._half_points: Counter[str] = Counter()
        self._test = None if plan.sprt is None else SequentialTest(*plan.sprt)
        self._repeats, self._next = RepeatDetector(plan), 0

    @property
    def points(self) -> dict[str, float]:
        """The points of each player so far."""
        return {name: self._half_points[name] / 2 for name in self.plan.names}

    def add(self, rows: Iterable[GameRow]) -> None:
        """Add games that have ended."""
        for row in rows:
            if row.number < self.end:
                self.rows[row.number] = row
                self._half_points[row.first] += {"first": 2, "draw": 1, "second": 0}[row.outcome]
                self._half_points[row.second] += {"first": 0, "draw": 1, "second": 2}[row.outcome]
        while self._test is not None and self._next + 1 < self.end:
            one, other = self.rows.get(self._next), self.rows.get(self._next + 1)
            if one is None or other is None:
                return
            self._next += 2
            is_repeat = [self._repeats.is_repeat(one), self._repeats.is_repeat(other)]
            if not any(is_repeat):
                self._test.add(half_points(self.plan, one) + half_points(self.plan, other))
                if self._test.accepted is not None:
                    self.end = self._next
                    self.rows = {n: row for n, row in self.rows.items() if n < self.end}

    def result(self, run: int | None) -> Result:
        """Return the result so far; `run` is the number of the run in the store."""
        games = tuple(self.rows[number] for number in sorted(self.rows))
        standings = compute_standings(self.plan, games)
        is_finished = len(games) >= self.end
        return Result(self.plan, games, standings, is_finished, run, self._test_fields())

    def _test_fields(self) -> dict[str, Any] | None:
        if self._test is None or self.plan.sprt is None:
            return None
        accepted = self._test.accepted
        return {
            "elo0": self.plan.sprt[0],
            "elo1": self.plan.sprt[1],
            "llr": round(self._test.llr, 4),
            "bound": round(BOUND, 4),
            "accepted": None if accepted is None else f"H{accepted}",
            "openings": sum(self._test.counts),
        }


class _RunWriter:
    """Writes the games of a tournament to the store. Workers never write to it."""

    def __init__(self, plan: Plan, path: Path, *, resume: bool) -> None:
        self._store = RunStore(path, lock_timeout=_LOCK_TIMEOUT)
        settings = plan.to_dict()
        latest = self._store.latest_run("arena", settings) if resume else None
        self.stored = self._store.game_rows(latest) if latest is not None else []
        self.run = self._store.add_run("arena", plan.game, settings) if latest is None else latest
        if latest is not None:
            self._store.update_run(latest, RUNNING)
        self._store.add_players(dict(zip(plan.names, plan.players, strict=True)))
        self._uncommitted: list[GameRow] = []
        self._last_commit = time.monotonic()
        self._is_finished = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Store the games so far, even after an error."""
        try:
            if not self._is_finished:
                self._commit()
                self._store.update_run(self.run, STOPPED)
        finally:
            self._store.close()

    def add(self, rows: list[GameRow]) -> None:
        """Collect games and write them to the store every `_COMMIT_INTERVAL` seconds."""
        self._uncommitted += rows
        if self._uncommitted and time.monotonic() - self._last_commit > _COMMIT_INTERVAL:
            self._commit()

    def _commit(self) -> None:
        try:
            self._store.add_games(self.run, self._uncommitted)
        except sqlite3.Error as error:
            msg = f"cannot store the games: {error}"
            raise BadStore(msg) from None
        self._uncommitted, self._last_commit = [], time.monotonic()

    def finish(self, result: Result, end: int) -> None:
        """Store the result, and delete the games whose number is `end` or higher."""
        self._commit()
        self._store.delete_games(self.run, end)
        self._store.set_ratings(self.run, result.standings.ratings)
        self._store.update_run(self.run, FINISHED if result.finished else STOPPED, result.to_dict())
        self._is_finished = True
