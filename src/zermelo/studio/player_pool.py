"""Thinking: players and analysts at work in threads, a bounded number, lent and taken back.

Kernels release the interpreter, so threads share the cores, and a long think delays nobody: there
are more threads than cores, the system shares its time among them, and what streams for a while
has threads of its own, which give way to the others.
"""

import asyncio
import contextlib
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from zermelo.core.errors import ZermeloError
from zermelo.core.player import Analysis, Limit, Player
from zermelo.core.position import Position
from zermelo.players import registry as roster
from zermelo.players.levels import LevelPlayer
from zermelo.search.explain.analysis import Analyst
from zermelo.search.solver.solver import Settings

ANALYST = "analysis"
_SPARE = 16  # players kept for the next call, of all kinds together
_SETTINGS = Settings(table_bits=20)  # 32 MB an analyst at most
_PATIENCE = 5.0  # seconds for a move, where neither the caller nor the player has a limit
_LEVEL_SECONDS = 1.0
_NICE = 10  # of threads that think for long

Result = TypeVar("Result")


class Busy(ZermeloError):
    """Too many think at once."""


@dataclass(frozen=True)
class Answer:
    """A player's move, and the thread's time that it took: wall and CPU."""

    found: Analysis
    seconds: float
    cpu: float


class Thinkers:
    """Threads for moves and for streams, and players by spec and game."""

    def __init__(self, max_seconds: float = 60.0) -> None:
        self.max_seconds = max_seconds
        self._moves = _Pool("move", workers=16, waiting=64)
        self._long = _Pool("long", workers=8, waiting=8, begin=_give_way)
        self._lock = threading.Lock()
        self._spare: list[tuple[str, str, Player]] = []  # the last one used comes last
        self._closing = threading.Event()

    @property
    def working(self) -> int:
        """How many think, or wait to."""
        return self._moves.taken + self._long.taken

    def close(self) -> None:
        """What still thinks stops soon, and is not waited for."""
        self._closing.set()
        for pool in (self._moves, self._long):
            pool.threads.shutdown(wait=False, cancel_futures=True)

    @contextlib.contextmanager
    def player(self, spec: str, game: str) -> Iterator[Player]:
        """Borrow a player that nobody else uses; it may remember this game."""
        player = self._take(spec, game)
        if player is None:
            player = Analyst(_SETTINGS) if spec == ANALYST else roster.named_player(spec)
        try:
            yield player
        finally:
            if not player.heavy:
                with self._lock:
                    self._spare.append((spec, game, player))
                    del self._spare[:-_SPARE]

    def _take(self, spec: str, game: str) -> Player | None:
        with self._lock:
            for at in reversed(range(len(self._spare))):
                if self._spare[at][:2] == (spec, game):
                    return self._spare.pop(at)[2]
        return None

    async def run(self, work: Callable[[], Result]) -> Result:
        """Work that may take seconds; Busy when too many wait already."""
        return await self._long.run(work)

    async def choose(
        self, spec: str, position: Position, seconds: float | None, *, every: bool = False
    ) -> Answer:
        """A player's move, in the time it is given, or that it takes by itself."""

        def work() -> Answer:
            with self.player(spec, position.game.spec) as player:
                within = min(seconds or _patience(player), self.max_seconds)
                limit = Limit(seconds=within, every=every, stop=self._closing)
                begin, cpu = time.perf_counter(), time.thread_time()
                found = player.choose(position, limit)
                return Answer(found, time.perf_counter() - begin, time.thread_time() - cpu)

        return await self._moves.run(work)

    def stream(self, thoughts: Callable[[Limit], Iterator[Any]], limit: Limit) -> "Stream":
        """What a generator yields in a thread; Busy when too many wait already."""
        within = min(limit.seconds or self.max_seconds, self.max_seconds)
        stop = _Either(self._closing)
        stream = Stream(thoughts, replace(limit, seconds=within, stop=stop))
        self._long.start(stream.work)
        return stream


class Stream:
    """Thoughts on their way from a thread to the event loop, in order; `close` stops them.

    All are kept until they are taken: there are few, since every one costs a search.
    """

    def __init__(self, thoughts: Callable[[Limit], Iterator[Any]], limit: Limit) -> None:
        assert limit.stop is not None
        self._thoughts, self._limit, self._stop = thoughts, limit, limit.stop
        self._loop = asyncio.get_running_loop()
        self._ready: asyncio.Queue[tuple[str, Any]] = asyncio.Queue()

    def work(self) -> None:
        """In the thread."""
        try:
            for thought in () if self._stop.is_set() else self._thoughts(self._limit):
                if self._stop.is_set():
                    break
                self._tell("item", thought)
            self._tell("end", None)
        except Exception as error:  # noqa: BLE001 - it is raised again where it is awaited
            self._tell("error", error)

    def _tell(self, kind: str, item: Any) -> None:
        with contextlib.suppress(RuntimeError):  # the loop has ended
            self._loop.call_soon_threadsafe(self._ready.put_nowait, (kind, item))

    async def next(self) -> Any:
        """The next thought, None after the last; what went wrong in the thread is raised here."""
        kind, item = await self._ready.get()
        if kind == "error":
            raise item
        return item

    def close(self) -> None:
        """Nobody listens any more."""
        self._stop.set()


class _Either(threading.Event):
    """Set by itself or by another."""

    def __init__(self, other: threading.Event) -> None:
        super().__init__()
        self._other = other

    def is_set(self) -> bool:
        return super().is_set() or self._other.is_set()


class _Pool:
    """Threads, and a bounded number of places in them and before them."""

    def __init__(
        self, name: str, workers: int, waiting: int, begin: Callable[[], None] | None = None
    ) -> None:
        self.threads = ThreadPoolExecutor(workers, name, begin)
        self.taken = 0
        self._places = workers + waiting
        self._lock = threading.Lock()

    def start(self, work: Callable[[], Result]) -> "asyncio.Future[Result]":
        with self._lock:
            if self.taken >= self._places:
                msg = "too many are thinking at once: try again in a moment"
                raise Busy(msg)
            self.taken += 1
        try:
            future = self.threads.submit(work)
        except BaseException:
            self._release()
            raise
        future.add_done_callback(self._release)
        return asyncio.wrap_future(future)

    async def run(self, work: Callable[[], Result]) -> Result:
        return await self.start(work)

    def _release(self, _: Any = None) -> None:
        with self._lock:
            self.taken -= 1


def _give_way() -> None:
    """Less of the cores for this thread where others want them, too.

    Elsewhere than on Linux niceness is the process's.
    """
    if sys.platform == "linux":
        with contextlib.suppress(OSError):
            os.nice(_NICE)


def _patience(player: Player) -> float:
    """The seconds that a player takes for a move when nobody says."""
    if isinstance(player, LevelPlayer):
        return _LEVEL_SECONDS
    own: float | None = getattr(player, "seconds", None)
    return own or _PATIENCE
