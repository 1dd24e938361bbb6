"""Checks on every request: host, origin, content type and size of the body.

Responses get security headers, which keep the browser from doing more than the page needs. When a
client disconnects, its request is cancelled.
"""

import asyncio
import contextlib
import ipaddress
import json
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Annotated, Any, NamedTuple

from fastapi import Depends, Request

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
AsgiApp = Callable[[Scope, Receive, Send], Awaitable[None]]

MAX_BODY = 100_000
CLIENT_HEADER = "zermelo-client"  #: header in which the page sends a random id, one for each tab
_MAX_CLIENT_ID = 40
_SAFE_METHODS = ("GET", "HEAD", "OPTIONS")
_OWN_SITE = (b"same-origin", b"none")  # sec-fetch-site of our page, and of a typed address
_LOCAL_HOSTS = ("localhost", "127.0.0.1", "[::1]")
_SECURITY_HEADERS = (
    (
        b"content-security-policy",
        b"default-src 'self'; img-src 'self' data:; frame-ancestors 'none'",
    ),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
)


class Client(NamedTuple):
    """Who sends a request: a network address, and the id that distinguishes its pages."""

    address: str
    id: str = ""


def network_of(address: tuple[str, int] | None) -> str:
    """Return the address of a socket without its port; for IPv6, its /64 network."""
    host = address[0] if address else ""
    if ":" not in host:
        return host
    with contextlib.suppress(ValueError):
        return str(ipaddress.ip_network((host.partition("%")[0], 64), strict=False))
    return host


async def _client_of(request: Request) -> Client:
    name = request.headers.get(CLIENT_HEADER, "")[:_MAX_CLIENT_ID]
    return Client(network_of(request.scope.get("client")), name)


#: type of a route parameter that receives the client
RequestClient = Annotated[Client, Depends(_client_of)]


class RequestLimits:
    """ASGI middleware that refuses requests that fail the checks."""

    def __init__(self, app: AsgiApp, host: str) -> None:
        self.app = app
        # A server that listens on all interfaces cannot know all host names of its machine.
        is_any = host in ("0.0.0.0", "::")  # noqa: S104
        self.hosts = None if is_any else {*_LOCAL_HOSTS, host, f"[{host}]"}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Check a request and its body, then pass both to the application."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        headers = dict(scope["headers"])
        refusal = self._refusal(scope, headers)
        if refusal is not None:
            await _refuse(send, *refusal)
            return
        try:
            body = await _read_body(receive, headers)
        except _Disconnected:
            return
        if body is None:
            await _refuse(send, 413, f"the body is too large: the limit is {MAX_BODY:,} bytes")
        else:
            respond = _add_headers(send, scope["path"])
            await _run_while_connected(self.app, scope, receive, respond, body)

    def _refusal(self, scope: Scope, headers: dict[bytes, bytes]) -> tuple[int, str] | None:
        """Return the HTTP status and reason for refusing a request, or None to accept it."""
        host = headers.get(b"host", b"").decode("latin-1")
        name = host.rsplit(":", 1)[0] if not host.endswith("]") else host
        if self.hosts is not None and name.lower() not in self.hosts:
            return 403, "this server does not accept requests for that host name"
        origin = headers.get(b"origin", b"").decode("latin-1")
        if origin and origin.partition("://")[2] != host:
            return 403, "requests from other sites are refused"
        # Other sites may link to a page, but must not start an analysis, as an image URL could do.
        # A server on another port of this machine is another site, which browsers call same-site.
        is_costly = scope["method"] not in _SAFE_METHODS or scope["path"].startswith("/api/v1/")
        if is_costly and headers.get(b"sec-fetch-site", b"same-origin") not in _OWN_SITE:
            return 403, "requests from other sites are refused"
        if scope["method"] in _SAFE_METHODS:
            return None
        content_type = headers.get(b"content-type", b"").partition(b";")[0].strip().lower()
        if content_type != b"application/json":
            return 415, "the body must be JSON, with content-type application/json"
        return None


class _Disconnected(Exception):
    """Raised when the client disconnects before it has sent the whole body."""


async def _read_body(receive: Receive, headers: dict[bytes, bytes]) -> bytes | None:
    """Read and return the whole body, or return None if it is too large."""
    length = headers.get(b"content-length", b"0")
    if not length.isdigit() or len(length) > 12 or int(length) > MAX_BODY:
        return None
    parts, size, more = [], 0, True
    while more:
        message = await receive()
        if message["type"] != "http.request":
            raise _Disconnected
        parts.append(message.get("body", b""))
        size += len(parts[-1])
        if size > MAX_BODY:
            return None
        more = message.get("more_body", False)
    return b"".join(parts)


async def _run_while_connected(
    app: AsgiApp, scope: Scope, receive: Receive, send: Send, body: bytes
) -> None:
    """Run the application on a request that has been read; cancel it if the client disconnects."""
    disconnect = asyncio.ensure_future(_wait_for_disconnect(receive))
    messages = iter([{"type": "http.request", "body": body, "more_body": False}])

    async def receive_again() -> Message:
        message = next(messages, None)
        return await asyncio.shield(disconnect) if message is None else message

    running = asyncio.ensure_future(app(scope, receive_again, send))
    with contextlib.suppress(asyncio.CancelledError):  # the server stops
        await asyncio.wait((running, disconnect), return_when=asyncio.FIRST_COMPLETED)
    disconnect.cancel()
    if running.done():
        running.result()
        return
    running.cancel()
    await asyncio.wait((running,))
    if not running.cancelled():
        running.result()


async def _wait_for_disconnect(receive: Receive) -> Message:
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            return message


def _add_headers(send: Send, path: str) -> Send:
    """Return a `send` function that adds the security headers to the response."""
    # A browser may cache the page's files, but must check whether they are still current.
    caching = b"no-cache" if path.startswith("/page/") else b"no-store"

    async def send_with_headers(message: Message) -> None:
        if message["type"] == "http.response.start":
            extra = [*_SECURITY_HEADERS, (b"cache-control", caching)]
            message["headers"] = [*message.get("headers", ()), *extra]
        await send(message)

    return send_with_headers


async def _refuse(send: Send, status: int, detail: str) -> None:
    body = json.dumps({"detail": detail}).encode()
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(body)).encode()),
        *_SECURITY_HEADERS,
    ]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
