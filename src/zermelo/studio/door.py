"""The door: what every request passes before anything else looks at it.

Foreign hosts and origins, bodies that are too large or no JSON: refused here. Answers get headers
that keep a browser from doing more than the page needs.
"""

import json
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Asgi = Callable[[Scope, Receive, Send], Awaitable[None]]

MAX_BODY = 100_000
_OWN_HOSTS = ("localhost", "127.0.0.1", "[::1]", "testserver")
_HEADERS = (
    (
        b"content-security-policy",
        b"default-src 'self'; img-src 'self' data:; frame-ancestors 'none'",
    ),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
)


class Door:
    """An ASGI middleware."""

    def __init__(self, app: Asgi, host: str) -> None:
        self.app = app
        # On every interface the machine has names that are not known here.
        self.hosts = None if host in ("0.0.0.0", "::") else {*_OWN_HOSTS, host, f"[{host}]"}  # noqa: S104

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Check, then pass on."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        headers = dict(scope["headers"])
        refusal = self._refusal(scope, headers)
        if refusal is not None:
            await _refuse(send, *refusal)
            return
        body = _Body(receive)
        answer = _Answer(send, scope["path"])
        try:
            await self.app(scope, body.receive, answer.send)
        except _TooLarge:
            if answer.started:
                raise
            await _refuse(send, 413, f"a body of more than {MAX_BODY:,} bytes is too large")

    def _refusal(self, scope: Scope, headers: dict[bytes, bytes]) -> tuple[int, str] | None:
        host = headers.get(b"host", b"").decode("latin-1")
        name = host.rsplit(":", 1)[0] if not host.endswith("]") else host
        if self.hosts is not None and name.lower() not in self.hosts:
            return 403, "this server answers to its own name only"
        if scope["method"] in ("GET", "HEAD", "OPTIONS"):
            return None
        origin = headers.get(b"origin", b"").decode("latin-1")
        if origin and origin.partition("://")[2] != host:
            return 403, "requests from other sites are refused"
        if headers.get(b"sec-fetch-site", b"same-origin") == b"cross-site":
            return 403, "requests from other sites are refused"
        kind = headers.get(b"content-type", b"").partition(b";")[0].strip().lower()
        if kind != b"application/json":
            return 415, "the body must be JSON, with content-type application/json"
        return None


class _TooLarge(Exception):
    pass


class _Body:
    """Counts what comes in."""

    def __init__(self, receive: Receive) -> None:
        self._receive, self._size = receive, 0

    async def receive(self) -> Message:
        message = await self._receive()
        if message["type"] == "http.request":
            self._size += len(message.get("body", b""))
            if self._size > MAX_BODY:
                raise _TooLarge
        return message


class _Answer:
    """Adds headers to what goes out."""

    def __init__(self, send: Send, path: str) -> None:
        self._send, self.started = send, False
        self._kept = path.startswith("/page/")
        # The page of the API's documentation brings its own script.
        self._strict = not path.startswith("/api/docs")

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.started = True
            extra = [*_HEADERS] if self._strict else [*_HEADERS[1:]]
            if not self._kept:
                extra.append((b"cache-control", b"no-store"))
            message["headers"] = [*message.get("headers", ()), *extra]
        await self._send(message)


async def _refuse(send: Send, status: int, detail: str) -> None:
    body = json.dumps({"detail": detail}).encode()
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(body)).encode()),
        *_HEADERS,
    ]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
