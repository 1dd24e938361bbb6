"""The player pool: threads that all clients share fairly, and idle players for later requests.

Kernels release the interpreter lock, so threads can use all cores. A long search does not delay
other requests, because there are more threads than cores and long tasks have their own low-priority
threads. The event loop itself neither searches, nor checks boards, nor calls the store.
"""

import asyncio
import contextlib
import os
import sys
import threading
import time
from collections import Counter, deque
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Annotated, Any, TypeVar

from fastapi import Depends, Request

from zermelo.core.errors import ZermeloError
from zermelo.core.game import Game
from zermelo.core.player import Analysis, Limit, Player
from zermelo.core.position import Position
from zermelo.players import registry as players
from zermelo.players.levels import LevelPlayer
from zermelo.search.explain.analysis import Analyst
from zermelo.search.solver.solver import SolverSettings
from zermelo.studio.limits import Client
from zermelo.studio.preparation import Preparation

ANALYST = "analysis"  #: the spec of the exact analyst, which the registry of players does not list
IDLE_SECONDS = 20.0  #: seconds for which a player that nobody uses is kept
_MAX_IDLE = 16  # maximum number of idle players kept for later requests
_MAX_REPLIES = 4  # requests for a reply in one match: one thinks, the others wait
_ANALYST_SETTINGS = SolverSettings(table_bits=20)  # at most 32 MB for each analyst
_DEFAULT_SECONDS = 5.0  # for a move, if neither the request nor the player sets a limit
_LEVEL_SECONDS = 1.0
_LOW_PRIORITY = 10  # added to the niceness of background threads

Result = TypeVar("Result")


class Busy(ZermeloError):
    """Raised when a client, or all clients together, have too many tasks."""


class StopEvent(threading.Event):
    """A threading event that also counts as set whenever the event `other` is set."""

    def __init__(self, other: threading.Event) -> None:
        super().__init__()
        self._other = other

    def is_set(self) -> bool:
        """Return whether this event or the other one is set."""
        return super().is_set() or self._other.is_set()


@dataclass(frozen=True)
class TimedAnalysis:
    """A player's analysis, with the wall-clock and CPU time that it took."""

    analysis: Analysis
    seconds: float
    cpu_seconds: float


class PlayerPool:
    """Holds threads for each kind of work, and idle players by spec and game.

    No search takes longer than `max_seconds`.
    """

    def __init__(self, max_seconds: float) -> None:
        self.max_seconds = max_seconds
        self.preparation = Preparation()
        self.closing = threading.Event()  #: set when the server stops
        #: for thinking about a move that a client waits for
        self.moves = FairExecutor("move", 16, max_tasks=128, max_running_each=4, max_tasks_each=64)
        #: for long searches
        self.background = FairExecutor(
            "background",
            8,
            max_tasks=64,
            max_running_each=4,
            max_tasks_each=8,
            initializer=_lower_priority,
        )
        #: for loading games and players, which may have to load a model
        self.loading = FairExecutor(
            "loading", 4, max_tasks=128, max_running_each=2, max_tasks_each=64
        )
        #: for reading and checking positions and records
        self.boards = FairExecutor("board", 2, max_tasks=128, max_running_each=1, max_tasks_each=32)
        #: for the store, whose calls take turns anyway
        self.store = FairExecutor("store", 1, max_tasks=256, max_running_each=1, max_tasks_each=64)
        self._executors = (self.moves, self.background, self.loading, self.boards, self.store)
        self._lock = threading.Lock()
        self._idle: list[_IdlePlayer] = []  # the most recently used comes last
        self._turns: dict[str, _Turn] = {}

    @property
    def num_busy(self) -> int:
        """The number of tasks that are running or waiting."""
        return sum(executor.num_tasks for executor in self._executors)

    def close(self) -> None:
        """Tell running searches to stop, without waiting for them."""
        self.closing.set()
        self.preparation.close()
        for executor in self._executors:
            executor.shutdown()

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
                    self._idle.append(_IdlePlayer(spec, game, player, time.monotonic()))
                    del self._idle[:-_MAX_IDLE]

    def discard_idle(self, seconds: float = IDLE_SECONDS) -> None:
        """Discard the players that have been idle for this long, to free their memory."""
        with self._lock:
            oldest = time.monotonic() - seconds
            self._idle = [idle for idle in self._idle if idle.since > oldest]

    def _take_idle(self, spec: str, game: str) -> Player | None:
        with self._lock:
            for index in reversed(range(len(self._idle))):
                idle = self._idle[index]
                if (idle.spec, idle.game) == (spec, game):
                    return self._idle.pop(index).player
        return None

    async def check(self, client: Client, spec: str, game: Game) -> None:
        """Raise an error if a player cannot play a game; if the player has a model, load it."""

        def work() -> None:
            self.preparation.prefer(game)
            with self.borrow(spec, game.spec) as player:
                player.prepare(game)

        await self.loading.submit(client, work)

    async def choose(
        self,
        client: Client,
        spec: str,
        position: Position,
        seconds: float | None,
        *,
        all_moves: bool = False,
    ) -> TimedAnalysis:
        """Let a player choose a move within `seconds` or, if None, within its default time.

        The player stops thinking when the task that awaits this is cancelled.
        """
        stop = StopEvent(self.closing)

        def work() -> TimedAnalysis:
            with self.borrow(spec, position.game.spec) as player:
                within = min(seconds or _default_seconds(player), self.max_seconds)
                limit = Limit(seconds=within, all_moves=all_moves, stop=stop)
                begin, cpu_begin = time.perf_counter(), time.thread_time()
                analysis = player.choose(position, limit)
                wall, cpu = time.perf_counter() - begin, time.thread_time() - cpu_begin
                return TimedAnalysis(analysis, wall, cpu)

        return await self.moves.submit(client, work, stop)

    @contextlib.asynccontextmanager
    async def take_turn(self, match: str) -> AsyncIterator[bool]:
        """Let one request at a time compute a move for a match; yield whether this one had to wait.

        Raise Busy if too many requests wait already.
        """
        turn = self._turns.setdefault(match, _Turn())
        if turn.num_requests >= _MAX_REPLIES:
            msg = "the computer is thinking about this match already: wait for its reply"
            raise Busy(msg)
        turn.num_requests += 1
        has_waited = turn.lock.locked()
        try:
            async with turn.lock:
                yield has_waited
        finally:
            turn.num_requests -= 1
            if not turn.num_requests:
                del self._turns[match]


@dataclass(frozen=True)
class _IdlePlayer:
    spec: str
    game: str
    player: Player
    since: float  # on the monotonic clock


@dataclass
class _Turn:
    """The requests for a reply in one match."""

    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    num_requests: int = 0


class FairExecutor:
    """A thread pool with a bounded queue in which clients take turns.

    A free thread serves the address with the fewest running tasks, and at this address the client
    with the fewest. Of several such clients, it serves the one that has waited longest for its
    turn. A client never has more than `max_running_each` running tasks, and its tasks start in the
    order of their submission.
    """

    def __init__(
        self,
        name: str,
        max_workers: int,
        *,
        max_tasks: int,
        max_running_each: int,
        max_tasks_each: int,
        initializer: Callable[[], None] | None = None,
    ) -> None:
        self.num_tasks = 0
        self._max_workers = max_workers
        self._max_tasks = max_tasks
        self._max_running_each = max_running_each
        self._max_tasks_each = max_tasks_each
        self._threads = ThreadPoolExecutor(max_workers, name, initializer)
        self._lock = threading.Lock()
        self._waiting: dict[Client, deque[_Task]] = {}  # the client that is next comes first
        self._running: Counter[Client] = Counter()
        self._is_closed = False

    def submit(
        self,
        client: Client,
        work: Callable[[], Result],
        stop: threading.Event | None = None,
    ) -> "asyncio.Future[Result]":
        """Run `work` in a thread; return a future of the running event loop for its result.

        If the future is cancelled, a waiting task is withdrawn, and a running one is told to end
        through the event `stop`. Raise Busy if there are too many tasks.
        """
        task = _Task(client, work)
        with self._lock:
            self._check_room(client)
            self.num_tasks += 1
            self._waiting.setdefault(client, deque()).append(task)
            self._start_tasks()
        result: asyncio.Future[Result] = asyncio.wrap_future(task.future)

        def withdraw(result: "asyncio.Future[Result]") -> None:
            if result.cancelled():
                if stop is not None:
                    stop.set()
                self._withdraw(task)

        result.add_done_callback(withdraw)
        return result

    def shutdown(self) -> None:
        """Refuse waiting tasks, and do not wait for running ones."""
        with self._lock:
            self._is_closed = True
            tasks = [task for tasks in self._waiting.values() for task in tasks]
            self._waiting.clear()
            self.num_tasks -= len(tasks)
        for task in tasks:
            if task.future.set_running_or_notify_cancel():
                task.future.set_exception(Busy("the server is stopping"))
        self._threads.shutdown(wait=False)

    def _check_room(self, client: Client) -> None:
        if self._is_closed:
            msg = "the server is stopping"
            raise Busy(msg)
        if self.num_tasks >= self._max_tasks:
            msg = "the server is busy: try again in a moment"
            raise Busy(msg)
        if self._running[client] + len(self._waiting.get(client, ())) >= self._max_tasks_each:
            msg = "too many of your requests are in progress: try again in a moment"
            raise Busy(msg)

    def _start_tasks(self) -> None:
        """Start tasks while threads are free; called with the lock held."""
        while self._running.total() < self._max_workers:
            ready = [c for c in self._waiting if self._running[c] < self._max_running_each]
            if not ready:
                return
            at_address = Counter(c.address for c in self._running.elements())
            client = min(ready, key=lambda c: (at_address[c.address], self._running[c]))
            tasks = self._waiting.pop(client)
            task = tasks.popleft()
            if tasks:
                self._waiting[client] = tasks  # its next turn comes after all others
            self._running[client] += 1
            self._threads.submit(self._run, task)

    def _run(self, task: "_Task") -> None:
        result, error = None, None
        is_wanted = task.future.set_running_or_notify_cancel()
        try:
            result = task.work() if is_wanted else None
        except BaseException as raised:  # noqa: BLE001 - raised where the future is awaited
            error = raised
        # Update the counts first, so that they are right when the result arrives.
        with self._lock:
            self.num_tasks -= 1
            self._running[task.client] -= 1
            self._running += Counter()  # removes clients without running tasks
            if not self._is_closed:
                self._start_tasks()
        if error is not None:
            task.future.set_exception(error)
        elif is_wanted:
            task.future.set_result(result)

    def _withdraw(self, task: "_Task") -> None:
        with self._lock:
            tasks = self._waiting.get(task.client, deque())
            if task in tasks:
                tasks.remove(task)
                self.num_tasks -= 1
                if not tasks:
                    del self._waiting[task.client]


@dataclass(eq=False)
class _Task:
    client: Client
    work: Callable[[], Any]
    future: "Future[Any]" = field(default_factory=Future)


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
