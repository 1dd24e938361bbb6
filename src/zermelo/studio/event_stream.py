"""Thoughts as server-sent events, while they come."""

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

from fastapi.responses import StreamingResponse

from zermelo.core.errors import ZermeloError
from zermelo.studio.limits import Receive, Scope, Send
from zermelo.studio.thinking import Stream

_AT_ONCE = 0.5  # seconds in which what goes wrong is still an error, and no event


class _Events(StreamingResponse):
    """A stream that stops its thinking when it ends, in whatever way it does."""

    def __init__(self, stream: Stream, lines: AsyncIterator[str]) -> None:
        super().__init__(lines, media_type="text/event-stream")
        self._stream = stream

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._stream.close()


async def streamed(stream: Stream, name: str) -> StreamingResponse:
    """Server-sent events: one a thought, then `done`; an error arrives as `problem`.

    What goes wrong at once is an error, no stream.
    """
    first = asyncio.ensure_future(stream.next())
    try:
        await asyncio.wait((first,), timeout=_AT_ONCE)
        if first.done():
            first.result()
    except BaseException:
        first.cancel()
        stream.close()
        raise

    async def lines() -> AsyncIterator[str]:
        try:
            thought = await first
            while thought is not None:
                yield _event(name, thought)
                thought = await stream.next()
            yield _event("done", {})
        except ZermeloError as error:
            yield _event("problem", {"detail": str(error)})

    return _Events(stream, lines())


def _event(name: str, data: dict[str, Any]) -> str:
    return f"event: {name}\ndata: {json.dumps(data)}\n\n"
