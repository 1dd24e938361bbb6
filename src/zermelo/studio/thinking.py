"""Thinking: players and analysts at work in threads, a bounded number, lent and taken back.

Kernels release the interpreter, so threads share the cores, and a long think delays nobody: there
are more threads than cores, and the system shares its time among them.
"""

import asyncio
import contextlib
import threading
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from zermelo import roster
from zermelo.errors import ZermeloError
from zermelo.players import Analysis, Limit, Player
from zermelo.position import Position
from zermelo.search.analysis import Analyst
from zermelo.search.solver import Settings

ANALYST = "analysis"
_WORKERS, _WAITING = 16, 64
_SPARE = 2  # players of a kind kept for the next call
_KINDS = 64
_SETTINGS = Settings(table_bits=20)  # 32 MB an analyst at most

Result = TypeVar("Result")


class Busy(ZermeloError):
    """Too many think at once."""


class Thinkers:
    """A pool of threads, and one of players by spec and game."""

    def __init__(self) -> None:
        self._threads = ThreadPoolExecutor(_WORKERS, "think")
        self._places = threading.BoundedSemaphore(_WORKERS + _WAITING)
        self._lock = threading.Lock()
        self._spare: defaultdict[tuple[str, str], list[Player]] = defaultdict(list)

    def close(self) -> None:
        """What still thinks is not waited for."""
        self._threads.shutdown(wait=False, cancel_futures=True)

    @contextlib.contextmanager
    def player(self, spec: str, game: str) -> Iterator[Player]:
        """Borrow a player that nobody else uses; it may remember this game."""
        with self._lock:
            kind = self._spare.pop((spec, game), [])
            player = kind.pop() if kind else None
            if kind:
                self._spare[spec, game] = kind
        if player is None:
            player = Analyst(_SETTINGS) if spec == ANALYST else roster.player(spec)
        try:
            yield player
        finally:
            with self._lock:
                if len(self._spare) >= _KINDS:
                    self._spare.pop(next(iter(self._spare)))
                if len(self._spare[spec, game]) < _SPARE:
                    self._spare[spec, game].append(player)

    async def run(self, work: Callable[[], Result]) -> Result:
        """Work in a thread; Busy when too many wait already."""
        with self._place() as release:
            future = asyncio.get_running_loop().run_in_executor(self._threads, work)
            future.add_done_callback(lambda _: release())
        return await future

    async def choose(self, spec: str, position: Position, limit: Limit) -> Analysis:
        """A player's move."""

        def work() -> Analysis:
            with self.player(spec, position.game.spec) as player:
                return player.choose(position, limit)

        return await self.run(work)

    async def stream(
        self, thoughts: Callable[[threading.Event], Iterator[Any]]
    ) -> AsyncIterator[Any]:
        """What a generator yields in a thread, as it comes; leaving early stops it.

        Of records that come faster than they are taken, the older ones are kept in order too: there
        are few, since every one costs a search.
        """
        loop = asyncio.get_running_loop()
        ready: asyncio.Queue[tuple[str, Any]] = asyncio.Queue()
        stop = threading.Event()

        def tell(kind: str, item: Any) -> None:
            with contextlib.suppress(RuntimeError):  # the loop has ended
                loop.call_soon_threadsafe(ready.put_nowait, (kind, item))

        def work() -> None:
            try:
                for thought in thoughts(stop):
                    if stop.is_set():
                        break
                    tell("item", thought)
                tell("end", None)
            except Exception as error:  # noqa: BLE001 - it is raised again where it is awaited
                tell("error", error)

        with self._place() as release:
            future = loop.run_in_executor(self._threads, work)
            future.add_done_callback(lambda _: release())
        try:
            while True:
                kind, item = await ready.get()
                if kind == "end":
                    return
                if kind == "error":
                    raise item
                yield item
        finally:
            stop.set()

    @contextlib.contextmanager
    def _place(self) -> Iterator[Callable[[], None]]:
        """A place in the queue, to be released when the work is done."""
        if not self._places.acquire(blocking=False):
            msg = "too many are thinking at once: try again in a moment"
            raise Busy(msg)
        try:
            yield self._places.release
        except BaseException:
            self._places.release()
            raise
