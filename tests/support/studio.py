"""A studio that serves on loopback in a thread, with a client for it."""

import socket
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import httpx
import uvicorn


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

    def begin(self, **body: Any) -> dict[str, Any]:
        answer = self.post("matches", **{"game": "tictactoe", "second": "human"} | body)
        assert answer.status_code == 201, answer.text
        return answer.json()

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
    def working(self) -> int:
        return self.app.state.thinkers.working


def serve(app: Any) -> Iterator[Studio]:
    ours = socket.create_server(("127.0.0.1", 0))
    url = f"http://127.0.0.1:{ours.getsockname()[1]}"
    server = uvicorn.Server(
        uvicorn.Config(app, log_level="error", timeout_graceful_shutdown=1, server_header=False)
    )
    thread = threading.Thread(target=server.run, kwargs={"sockets": [ours]})
    thread.start()
    try:
        with httpx.Client(base_url=url, timeout=60) as client:
            yield Studio(app, url, client)
    finally:
        server.should_exit = True
        thread.join()
        ours.close()


def refused(answer: Any, status: int, word: str = "") -> None:
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/json"
    assert set(answer.json()) == {"detail"}
    assert isinstance(answer.json()["detail"], str)
    assert word in answer.json()["detail"]
    assert len(answer.content) < 2000
