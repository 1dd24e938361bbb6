"""The player pool: threads in which players think, and idle players kept for the next request.

Kernels release the interpreter lock, so threads can use all cores. A long search does not delay
other requests, because there are more threads than cores and long tasks have their own low-priority
threads.
"""

import asyncio
import contextlib
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Annotated, TypeVar

from fastapi import Depends, Request

from zermelo.core.errors import ZermeloError
from zermelo.core.game import Game
from zermelo.core.player import Analysis, Limit, Player
from zermelo.core.position import Position
from zermelo.players import registry as players
from zermelo.players.levels import LevelPlayer
from zermelo.search.explain.analysis import Analyst
from zermelo.search.solver.solver import SolverSettings

ANALYST = "analysis"  #: the spec of the exact analyst, which the registry of players does not list
_MAX_IDLE = 16  # maximum number of idle players kept for later requests
_ANALYST_SETTINGS = SolverSettings(table_bits=20)  # at most 32 MB for each analyst
_DEFAULT_SECONDS = 5.0  # for a move, if neither the request nor the player sets a limit
_LEVEL_SECONDS = 1.0
_LOW_PRIORITY = 10  # added to the niceness of background threads

Result = TypeVar("Result")


class Busy(ZermeloError):
    """Raised when all threads are busy and the queue is full."""


@dataclass(frozen=True)
class TimedAnalysis:
    """A player's analysis, with the wall-clock and CPU time that it took."""

    analysis: Analysis
    seconds: float
    cpu_seconds: float


class PlayerPool:
    """Holds threads for moves, threads for background work, and idle players by spec and game.

    No search takes longer than `max_seconds`.
    """

    def __init__(self, max_seconds: float) -> None:
        self.max_seconds = max_seconds
        self.closing = threading.Event()  #: set when the server stops
        self.moves = BoundedExecutor("move", max_workers=16, max_waiting=64)
        self.background = BoundedExecutor(
            "background", max_workers=8, max_waiting=8, initializer=_lower_priority
        )
        self._lock = threading.Lock()
        self._idle: list[tuple[str, str, Player]] = []  # the most recently used comes last

    @property
    def num_busy(self) -> int:
        """The number of tasks that are running or waiting."""
        return self.moves.num_tasks + self.background.num_tasks

    def close(self) -> None:
        """Tell running searches to stop, without waiting for them."""
        self.closing.set()
        self.moves.shutdown()
        self.background.shutdown()

    @contextlib.contextmanager
    def borrow(self, spec: str, game: str) -> Iterator[Player]:
        """Lend a player that no other thread uses; prefer an idle one that has played this game.

        Call this in a thread: creating a player may load a model, which takes seconds.
        """
        player = self._take_idle(spec, game)
        if player is None:
            is_analyst = spec == ANALYST
            player = Analyst(_ANALYST_SETTINGS) if is_analyst else players.load_builtin_player(spec)
        try:
            yield player
        finally:
            if not player.is_heavy:
                with self._lock:
                    self._idle.append((spec, game, player))
                    del self._idle[:-_MAX_IDLE]

    def _take_idle(self, spec: str, game: str) -> Player | None:
        with self._lock:
            for index in reversed(range(len(self._idle))):
                if self._idle[index][:2] == (spec, game):
                    return self._idle.pop(index)[2]
        return None

    async def check(self, spec: str, game: Game) -> None:
        """Raise an error if a player cannot play a game; if the player has a model, load it."""

        def work() -> None:
            with self.borrow(spec, game.spec) as player:
                player.prepare(game)

        await self.moves.submit(work)

    async def choose(
        self, spec: str, position: Position, seconds: float | None, *, all_moves: bool = False
    ) -> TimedAnalysis:
        """Let a player choose a move within `seconds` or, if None, within its default time."""

        def work() -> TimedAnalysis:
            with self.borrow(spec, position.game.spec) as player:
                within = min(seconds or _default_seconds(player), self.max_seconds)
                limit = Limit(seconds=within, all_moves=all_moves, stop=self.closing)
                begin, cpu_begin = time.perf_counter(), time.thread_time()
                analysis = player.choose(position, limit)
                wall, cpu = time.perf_counter() - begin, time.thread_time() - cpu_begin
                return TimedAnalysis(analysis, wall, cpu)

        return await self.moves.submit(work)


class BoundedExecutor:
    """A thread pool with a bounded queue: `submit` raises Busy when the queue is full."""

    def __init__(
        self,
        name: str,
        max_workers: int,
        max_waiting: int,
        initializer: Callable[[], None] | None = None,
    ) -> None:
        self.num_tasks = 0
        self._max_tasks = max_workers + max_waiting
        self._threads = ThreadPoolExecutor(max_workers, name, initializer)
        self._lock = threading.Lock()

    def submit(self, work: Callable[[], Result]) -> "asyncio.Future[Result]":
        """Run `work` in a thread; return a future of the running event loop for its result."""
        with self._lock:
            if self.num_tasks >= self._max_tasks:
                msg = "the server is busy: try again in a moment"
                raise Busy(msg)
            self.num_tasks += 1
        try:
            future = self._threads.submit(work)
        except BaseException:
            self._release()
            raise
        future.add_done_callback(self._release)
        return asyncio.wrap_future(future)

    def shutdown(self) -> None:
        """Cancel waiting tasks, and do not wait for running ones."""
        self._threads.shutdown(wait=False, cancel_futures=True)

    def _release(self, _: object = None) -> None:
        with self._lock:
            self.num_tasks -= 1


async def _pool_of(request: Request) -> PlayerPool:
    pool: PlayerPool = request.app.state.players
    return pool


#: type of a route parameter that receives the application's pool
Players = Annotated[PlayerPool, Depends(_pool_of)]


def _lower_priority() -> None:
    """Lower the current thread's priority; only on Linux, where each thread has a niceness."""
    if sys.platform == "linux":
        with contextlib.suppress(OSError):
            os.nice(_LOW_PRIORITY)


def _default_seconds(player: Player) -> float:
    """Return the seconds that a player takes for a move if the request sets no limit."""
    if isinstance(player, LevelPlayer):
        return _LEVEL_SECONDS
    own: float | None = getattr(player, "seconds", None)
    return own or _DEFAULT_SECONDS
