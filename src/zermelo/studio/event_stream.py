"""Server-sent events from a generator that runs in a background thread."""

import asyncio
import contextlib
import json
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import replace
from typing import Any

from fastapi.responses import StreamingResponse

from zermelo.core.errors import ZermeloError
from zermelo.core.player import Limit
from zermelo.studio.limits import Client, Receive, Scope, Send
from zermelo.studio.player_pool import PlayerPool, StopEvent

Event = dict[str, Any]
Generate = Callable[[Limit], Iterator[Event]]

_GRACE = 0.5  # seconds after the start in which an exception still becomes an HTTP error


async def stream_events(
    pool: PlayerPool, client: Client, name: str, generate: Generate, limit: Limit
) -> StreamingResponse:
    """Return a stream with one event `name` for each item of a generator, then an event `done`.

    An exception in the first half second is raised here, so that it becomes an HTTP error; a later
    one is sent as an event `problem`. The generator must obey the limit that it is given, whose
    `stop` is set when the client disconnects or the server stops. Raise Busy if too many streams
    are open.
    """
    stop = StopEvent(pool.closing)
    within = min(limit.seconds or pool.max_seconds, pool.max_seconds)
    queue = _EventQueue()
    task = pool.background.submit(
        client, lambda: queue.fill(generate, replace(limit, seconds=within, stop=stop), stop), stop
    )
    first = asyncio.ensure_future(queue.next())
    try:
        await asyncio.wait((first,), timeout=_GRACE)
        if first.done():
            first.result()
    except BaseException:
        first.cancel()
        task.cancel()
        raise
    return _EventStream(task, _encode_events(name, first, queue))


class _EventQueue:
    """A queue that passes events from a thread to the event loop.

    The queue is unbounded: there are few events, since each one costs a search.
    """

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._queue: asyncio.Queue[Event | Exception | None] = asyncio.Queue()

    def fill(self, generate: Generate, limit: Limit, stop: threading.Event) -> None:
        """Put all events into the queue, then None or the exception; called in the thread."""
        try:
            for event in () if stop.is_set() else generate(limit):
                if stop.is_set():
                    break
                self._put(event)
            self._put(None)
        except Exception as error:  # noqa: BLE001 - `next` raises it again
            self._put(error)

    def _put(self, item: Event | Exception | None) -> None:
        with contextlib.suppress(RuntimeError):  # the event loop has been closed
            self._loop.call_soon_threadsafe(self._queue.put_nowait, item)

    async def next(self) -> Event | None:
        """Return the next event, or None after the last; raise the generator's exception if any."""
        item = await self._queue.get()
        if isinstance(item, Exception):
            raise item
        return item


class _EventStream(StreamingResponse):
    """A response that stops its generator when the response ends, for whatever reason."""

    def __init__(self, task: "asyncio.Future[None]", lines: AsyncIterator[str]) -> None:
        super().__init__(lines, media_type="text/event-stream")
        self._task = task

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._task.cancel()


async def _encode_events(
    name: str, first: "asyncio.Future[Event | None]", queue: _EventQueue
) -> AsyncIterator[str]:
    try:
        event = await first
        while event is not None:
            yield _encode(name, event)
            event = await queue.next()
        yield _encode("done", {})
    except ZermeloError as error:
        yield _encode("problem", {"detail": str(error)})


def _encode(name: str, data: Event) -> str:
    return f"event: {name}\ndata: {json.dumps(data)}\n\n"
