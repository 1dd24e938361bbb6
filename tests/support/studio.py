"""A studio that serves on loopback in a thread, with a client for it."""

import asyncio
import json
import re
import socket
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import httpx

from zermelo.studio.server import create_server

JSON = {"content-type": "application/json"}


@dataclass
class Studio:
    """A server in a thread, and a client."""

    app: Any
    url: str
    http: Any

    def get(self, path: str, **params: Any) -> Any:
        return self.http.get(f"/api/v1/{path}", params=params)

    def post(self, path: str, **body: Any) -> Any:
        return self.http.post(f"/api/v1/{path}", json=body)

    def create(self, **body: Any) -> dict[str, Any]:
        response = self.post("matches", **{"game": "tictactoe", "second": "human"} | body)
        assert response.status_code == 201, response.text
        return response.json()

    def raw(self, text: str) -> bytes:
        """Bytes as they are: a client that does not tidy up its paths."""
        with socket.create_connection(self.address, 10) as line:
            line.sendall(text.encode("latin-1"))
            parts = []
            while part := line.recv(65536):
                parts.append(part)
        return b"".join(parts)

    @property
    def address(self) -> tuple[str, int]:
        name, _, port = self.url.removeprefix("http://").partition(":")
        return name, int(port)

    @property
    def num_busy(self) -> int:
        return self.app.state.players.num_busy


def serve(app: Any) -> Iterator[Studio]:
    ours = socket.create_server(("127.0.0.1", 0))
    url = f"http://127.0.0.1:{ours.getsockname()[1]}"
    server = create_server(app, log_level="error", shutdown_seconds=1)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [ours]})
    thread.start()
    try:
        with httpx.Client(base_url=url, timeout=60) as client:
            yield Studio(app, url, client)
    finally:
        server.should_exit = True
        thread.join()
        ours.close()


def assert_refused(response: Any, status: int, word: str = "") -> None:
    assert response.status_code == status, response.text
    assert response.headers["content-type"] == "application/json"
    assert set(response.json()) == {"detail"}
    assert isinstance(response.json()["detail"], str)
    assert word in response.json()["detail"]
    assert len(response.content) < 2000


def wait_until(condition: Callable[[], bool], seconds: float = 10.0) -> bool:
    """Wait for a condition; return whether it came true in time."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.02)
    return condition()


def read_events(text: str) -> list[tuple[str, dict[str, Any]]]:
    """Return the names and data of server-sent events."""
    return [
        (name, json.loads(data)) for name, data in re.findall(r"event: (\w+)\ndata: (.*)\n\n", text)
    ]


async def call(app: Any, path: str, body: dict[str, Any]) -> dict[str, Any]:
    """Post a request to an application without a server, and return the body of the response."""
    data = json.dumps(body).encode()
    messages: list[Any] = []

    bodies = iter([data])

    async def receive() -> dict[str, Any]:
        for part in bodies:
            return {"type": "http.request", "body": part, "more_body": False}
        return await asyncio.Future()  # the client stays connected

    async def send(message: Any) -> None:
        messages.append(message)

    scope = {
        "type": "http", "asgi": {"version": "3.0", "spec_version": "2.3"}, "http_version": "1.1",
        "method": "POST", "scheme": "http", "path": path, "raw_path": path.encode(),
        "query_string": b"", "root_path": "", "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", 80),
        "headers": [(b"host", b"127.0.0.1"), (b"content-type", b"application/json")],
    }  # fmt: skip
    await app(scope, receive, send)
    assert messages[0]["status"] < 300, messages
    return json.loads(b"".join(m.get("body", b"") for m in messages[1:]))
