"""The HTTP server: limits on connections, and on the size and duration of requests.

The limits apply before the application sees a request. If there are too many connections, one
that is idle or slow is closed, from the address that has the most.
"""

import asyncio
import itertools
import json
import sys
from collections import Counter
from typing import Any

import uvicorn
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from zermelo.studio.limits import AsgiApp, network_of

MAX_HEAD = 16_384  #: bytes of a request line and its headers
RECEIVE_SECONDS = 10.0  #: for a request to arrive, with its body
RESPONSE_SECONDS = 300.0  #: for a response to be sent, including the time to think
MAX_CONNECTIONS = 512
MAX_CONNECTIONS_EACH = 256  #: maximum number of connections from one address
_MAX_PIPELINE = 4  # requests on one connection that wait for the response to another

_counter = itertools.count()


def create_server(
    app: AsgiApp, log_level: str = "warning", shutdown_seconds: int = 2
) -> uvicorn.Server:
    """Return a server; on shutdown, running requests have `shutdown_seconds` to finish.

    The address of a client is that of its socket. Headers that name another one are ignored,
    because they could be forged.
    """
    config = uvicorn.Config(
        app,
        http=LimitedProtocol,
        ws="none",
        log_level=log_level,
        server_header=False,
        proxy_headers=False,
        timeout_graceful_shutdown=shutdown_seconds,
    )
    return uvicorn.Server(config)


class LimitedProtocol(HttpToolsProtocol):
    """An HTTP connection that is closed when its client exceeds a limit."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Start the deadline of the first request, and close a connection if there are too many."""
        super().connection_made(transport)
        self.address = network_of(self.client)
        self.order = next(_counter)  #: increases with every new connection and response
        self.num_requests = 0
        self._is_head, self._head_size = True, 0
        self._is_receiving = False
        self._cycles: list[Any] = []  # uvicorn's objects for the unanswered requests
        self._timer: asyncio.TimerHandle | None = None
        self._close_after(RECEIVE_SECONDS)
        self._make_room()

    def connection_lost(self, exc: Exception | None) -> None:
        """Cancel the deadline, and tell the application that the client has disconnected."""
        self._cancel_timer()
        super().connection_lost(exc)
        # uvicorn reports this only to the last request, which may be queued behind others.
        for cycle in self._cycles:
            cycle.disconnected = cycle.disconnected or not cycle.response_complete
            cycle.message_event.set()

    @property
    def is_served(self) -> bool:
        """Whether the client is waiting for the server, rather than the server for the client."""
        is_open = self.cycle is not None and not self.cycle.response_complete
        return is_open and not self._is_receiving

    def data_received(self, data: bytes) -> None:
        """Parse data; refuse a request whose line and headers are too large."""
        if self._timer is None:
            self._close_after(RECEIVE_SECONDS)
        for start in range(0, len(data), MAX_HEAD):
            part = data[start : start + MAX_HEAD]
            super().data_received(part)
            if self.transport.is_closing():
                return
            self._head_size += len(part)
            if self._is_head and self._head_size > MAX_HEAD:
                self._refuse(431, f"the request line and headers exceed {MAX_HEAD:,} bytes")
                return

    def on_message_begin(self) -> None:
        """Start the deadline for a request."""
        super().on_message_begin()
        self._is_head, self._head_size = True, 0
        self._is_receiving = True
        self._close_after(RECEIVE_SECONDS)

    def on_headers_complete(self) -> None:
        """Start the application, or queue the request behind the ones before it."""
        self._is_head = False
        if len(self.pipeline) >= _MAX_PIPELINE:
            self.transport.abort()
            return
        super().on_headers_complete()
        self._cycles = [cycle for cycle in self._cycles if not cycle.response_complete]
        self._cycles.append(self.cycle)

    def on_message_complete(self) -> None:
        """Start the deadline for the response."""
        super().on_message_complete()
        self._is_head, self._head_size = True, 0
        self._is_receiving = False
        self._close_after(RESPONSE_SECONDS)

    def on_response_complete(self) -> None:
        """End the deadline, unless the request is still arriving or another one is queued."""
        self.num_requests += 1
        self.order = next(_counter)
        if not self._is_receiving and not self.pipeline:
            self._cancel_timer()
        super().on_response_complete()

    def _make_room(self) -> None:
        """If there are too many connections, close one that is not being served.

        It belongs to the address with the most connections. The oldest connection without an
        answered request goes first, then the one that has been idle longest. If all others of that
        address are being served, this connection is refused.
        """
        numbers = Counter(other.address for other in self._others())
        numbers[self.address] += 1
        address, number = self.address, numbers[self.address]
        if number <= MAX_CONNECTIONS_EACH:
            if numbers.total() <= _max_connections():
                return
            address, number = max(numbers.items(), key=lambda item: item[1])
        idle = [
            other for other in self._others() if other.address == address and not other.is_served
        ]
        if idle:
            min(idle, key=lambda other: (other.num_requests > 0, other.order)).transport.abort()
        else:
            self._refuse(503, "too many connections: try again in a moment")

    def _others(self) -> "list[LimitedProtocol]":
        """Return the other open connections."""
        return [
            other
            for other in self.connections
            if isinstance(other, LimitedProtocol)
            and other is not self
            and not other.transport.is_closing()
        ]

    def _refuse(self, status: int, detail: str) -> None:
        """Send an error, unless a response is being sent, and close the connection."""
        if self.cycle is not None and not self.cycle.response_complete:
            self.transport.abort()
            return
        body = json.dumps({"detail": detail}).encode()
        self.transport.write(
            b"HTTP/1.1 %d Refused\r\ncontent-type: application/json\r\n"
            b"content-length: %d\r\nconnection: close\r\n\r\n%s" % (status, len(body), body)
        )
        self.transport.close()

    def _close_after(self, seconds: float) -> None:
        self._cancel_timer()
        self._timer = self.loop.call_later(seconds, self.transport.abort)

    def _cancel_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


def _max_connections() -> int:
    """Return the maximum number of connections; some file descriptors are left for other uses."""
    if sys.platform == "win32":
        return MAX_CONNECTIONS
    import resource

    return min(MAX_CONNECTIONS, resource.getrlimit(resource.RLIMIT_NOFILE)[0] // 2)
