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
_READING = ("GET", "HEAD", "OPTIONS")
_OWN_HOSTS = ("localhost", "127.0.0.1", "[::1]")
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
        answer = _Answer(send, scope["path"])
        if scope["method"] in _READING:
            await self.app(scope, receive, answer.send)
            return
        body = await _read(receive, headers)
        if body is None:
            await _refuse(send, 413, f"a body of more than {MAX_BODY:,} bytes is too large")
        else:
            await self.app(scope, _Body(receive, body).receive, answer.send)

    def _refusal(self, scope: Scope, headers: dict[bytes, bytes]) -> tuple[int, str] | None:
        host = headers.get(b"host", b"").decode("latin-1")
        name = host.rsplit(":", 1)[0] if not host.endswith("]") else host
        if self.hosts is not None and name.lower() not in self.hosts:
            return 403, "this server answers to its own name only"
        origin = headers.get(b"origin", b"").decode("latin-1")
        if origin and origin.partition("://")[2] != host:
            return 403, "requests from other sites are refused"
        # A picture's address may be an analysis: reading costs time, too. Pages may be linked to.
        costs = scope["method"] not in _READING or scope["path"].startswith("/api/v1/")
        if costs and headers.get(b"sec-fetch-site", b"same-origin") == b"cross-site":
            return 403, "requests from other sites are refused"
        if scope["method"] in _READING:
            return None
        kind = headers.get(b"content-type", b"").partition(b";")[0].strip().lower()
        if kind != b"application/json":
            return 415, "the body must be JSON, with content-type application/json"
        return None


async def _read(receive: Receive, headers: dict[bytes, bytes]) -> bytes | None:
    """The whole body, None if it is too large; what was announced as such is not read."""
    announced = headers.get(b"content-length", b"0")
    if not announced.isdigit() or len(announced) > 12 or int(announced) > MAX_BODY:
        return None
    parts, size, more = [], 0, True
    while more:
        message = await receive()
        if message["type"] != "http.request":
            break  # the client has left
        parts.append(message.get("body", b""))
        size += len(parts[-1])
        if size > MAX_BODY:
            return None
        more = message.get("more_body", False)
    return b"".join(parts)


class _Body:
    """A body that was read, and after it whatever comes from the client."""

    def __init__(self, receive: Receive, body: bytes) -> None:
        self._receive, self._body = receive, body
        self._told = False

    async def receive(self) -> Message:
        if self._told:
            return await self._receive()
        self._told = True
        return {"type": "http.request", "body": self._body, "more_body": False}


class _Answer:
    """Adds headers to what goes out."""

    def __init__(self, send: Send, path: str) -> None:
        self._send = send
        self._kept = path.startswith("/page/")

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            # A browser may keep the page's files, but asks whether they are still the same.
            kept = b"no-cache" if self._kept else b"no-store"
            extra = [*_HEADERS, (b"cache-control", kept)]
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
