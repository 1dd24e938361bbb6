"""Running a tournament: the games that are not yet there are played, kept and counted."""

import contextlib
import os
import sqlite3
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from zermelo.arena import workers as pool
from zermelo.arena.plan import PATIENCE, Plan
from zermelo.arena.sprt import BOUND, SequentialTest
from zermelo.arena.standings import Repeats, Standings, half_points, standings
from zermelo.core.errors import ZermeloError
from zermelo.store.file import BadStore
from zermelo.store.runs import FINISHED, RUNNING, STOPPED, GameRow, Runs

_COMMIT = 0.3  # seconds between two commits, about
_PATIENCE = 60.0  # seconds for another writer to be done


@dataclass(frozen=True)
class Progress:
    """How far a tournament is."""

    done: int
    total: int
    rate: float  #: games a second
    points: dict[str, float]

    @property
    def seconds_left(self) -> float:
        """At this rate."""
        return (self.total - self.done) / self.rate if self.rate else 0.0


@dataclass(frozen=True)
class Result:
    """A tournament as far as it was played."""

    plan: Plan
    games: tuple[GameRow, ...]  #: by number
    standings: Standings
    finished: bool
    run: int | None  #: its number in the store
    sprt: dict[str, Any] | None  #: what the sequential test says

    def to_json(self) -> dict[str, Any]:
        """For machines."""
        return {
            "game": self.plan.game,
            **self.standings.to_json(),
            "finished": self.finished,
            "sprt": self.sprt,
            "run": self.run,
            "settings": self.plan.to_json(),
        }


class Interrupted(KeyboardInterrupt):
    """Ctrl-C: the games so far, which are kept where there is a store."""

    def __init__(self, result: Result) -> None:
        super().__init__("stopped")
        self.result = result


def tournament(
    game: str,
    players: Sequence[str],
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
    progress: Callable[[Progress], None] | None = None,
) -> Result:
    """A round robin of `players`, named by specs, with so many games of each pair.

    Every game is a function of the settings and its number, whichever process plays it. With
    `db` each is kept, and `resume` goes on with the newest run of the same settings. Ctrl-C
    raises Interrupted, which holds the games so far. docs/arena.md says what the numbers mean.

    >>> result = tournament("tictactoe", ["greedy", "random"], games=20, processes=1)
    >>> sum(len(game.moves.split()) > 4 for game in result.games)
    20
    """
    specs = tuple(spec.strip() for spec in players)
    plan = Plan(game, specs, games, seed, opening_plies, seconds, patience, sprt)
    if resume and db is None:
        msg = "to resume takes the file that the games were kept in: db"
        raise ZermeloError(msg)
    ledger = _Ledger(plan)
    with contextlib.ExitStack() as stack:
        book = stack.enter_context(_Book(plan, Path(db), resume=resume)) if db else None
        if book is not None:
            ledger.add(book.kept)
        left = [n for n in range(ledger.end) if n not in ledger.rows]
        interrupted = False
        try:
            workers = processes or pool.usable_cores()
            with contextlib.closing(pool.play(plan, left, workers)) as running:
                _run(running, ledger, book, progress)
        except KeyboardInterrupt:
            interrupted = True
        result = ledger.result(None if book is None else book.run)
        if book is not None:
            book.end(result, ledger.end)
        if interrupted:
            raise Interrupted(result)
        return result


def _run(
    running: Iterable[list[GameRow]],
    ledger: "_Ledger",
    book: "_Book | None",
    progress: Callable[[Progress], None] | None,
) -> None:
    began, before = time.monotonic(), len(ledger.rows)
    for rows in running:
        ledger.add(rows)
        if book is not None:
            book.add(rows)
        if progress is not None:
            rate = (len(ledger.rows) - before) / max(time.monotonic() - began, 1e-9)
            progress(Progress(len(ledger.rows), ledger.end, rate, ledger.points))
        if len(ledger.rows) >= ledger.end:
            return


class _Ledger:
    """Games as they come; the sequential test reads them in the order of their numbers.

    So its decision does not depend on who finished first. What comes after it does not count.
    """

    def __init__(self, plan: Plan) -> None:
        self.plan, self.end = plan, plan.total  #: games below this number count
        self.rows: dict[int, GameRow] = {}
        self._halves: Counter[str] = Counter()
        self._test = None if plan.sprt is None else SequentialTest(*plan.sprt)
        self._repeats, self._next = Repeats(plan), 0

    @property
    def points(self) -> dict[str, float]:
        """By player, so far."""
        return {name: self._halves[name] / 2 for name in self.plan.names}

    def add(self, rows: Iterable[GameRow]) -> None:
        """Games that have ended."""
        for row in rows:
            if row.number < self.end:
                self.rows[row.number] = row
                self._halves[row.first] += {"first": 2, "draw": 1, "second": 0}[row.outcome]
                self._halves[row.second] += {"first": 0, "draw": 1, "second": 2}[row.outcome]
        while self._test is not None and self._next + 1 < self.end:
            pair = [self.rows.get(self._next), self.rows.get(self._next + 1)]
            if None in pair:
                return
            self._next += 2
            # Both are asked: a pair counts when neither has been there before.
            if not any([self._repeats.is_repeat(row) for row in pair if row]):  # noqa: C419
                self._test.add(sum(half_points(self.plan, row) for row in pair if row))
                if self._test.accepted is not None:
                    self.end = self._next
                    self.rows = {n: row for n, row in self.rows.items() if n < self.end}

    def result(self, run: int | None) -> Result:
        """As it stands."""
        games = tuple(self.rows[number] for number in sorted(self.rows))
        finished = len(games) >= self.end
        return Result(self.plan, games, standings(self.plan, games), finished, run, self._tested())

    def _tested(self) -> dict[str, Any] | None:
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


class _Book:
    """A tournament's place in the store. Only this process writes there."""

    def __init__(self, plan: Plan, path: Path, *, resume: bool) -> None:
        self._store = Runs(path, patience=_PATIENCE)
        settings = plan.to_json()
        found = self._store.newest("arena", settings) if resume else None
        self.kept = self._store.games_of(found) if found is not None else []
        self.run = self._store.begin("arena", plan.game, settings) if found is None else found
        if found is not None:
            self._store.end(found, RUNNING)
        self._store.add_players(dict(zip(plan.names, plan.players, strict=True)))
        self._waiting: list[GameRow] = []
        self._committed = time.monotonic()
        self._ended = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Whatever has happened: what was played is kept."""
        try:
            if not self._ended:
                self._commit()
                self._store.end(self.run, STOPPED)
        finally:
            self._store.close()

    def add(self, rows: list[GameRow]) -> None:
        """Games to keep, soon."""
        self._waiting += rows
        if self._waiting and time.monotonic() - self._committed > _COMMIT:
            self._commit()

    def _commit(self) -> None:
        try:
            self._store.add_games(self.run, self._waiting)
        except sqlite3.Error as error:
            msg = f"the games cannot be kept: {error}"
            raise BadStore(msg) from None
        self._waiting, self._committed = [], time.monotonic()

    def end(self, result: Result, number: int) -> None:
        """The table, and no games beyond it."""
        self._commit()
        self._store.forget_games(self.run, number)
        self._store.add_ratings(self.run, result.standings.ratings)
        self._store.end(self.run, FINISHED if result.finished else STOPPED, result.to_json())
        self._ended = True
