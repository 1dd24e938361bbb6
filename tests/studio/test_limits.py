"""What every request passes: limits on bodies, origins, paths and specs."""

import json
import socket
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from support.paths import ROOT
from support.studio import JSON, Studio, assert_refused, serve
from zermelo.games import registry, user_games
from zermelo.store.matches import MatchStore
from zermelo.studio.app import create_app


def test_malformed_bodies_are_assert_refused(studio: Studio) -> None:
    for content in (
        b"",
        b"null",
        b"[]",
        b"1",
        b"{",
        b"\xff",
        b'{"game":"\xff"}',
        b'{"game":"\\ud800"}',
        b'{"game":"tictactoe","\\ud800":1}',
        b'{"game":"tictactoe","x":1}',
        b'{"game":"tictactoe","__proto__":{}}',
        b'{"game":"tictactoe","' + b"y" * 50_000 + b'":1}',
        b"[" * 90_000,
        b'{"a":' * 18_000,
        b'{"game":' + b"9" * 90_000 + b"}",
        b'{"game":"' + b"x" * 90_000 + b'"}',
        b'{"game":"tictactoe","moves":[' + b'"a1",' * 501 + b'"a1"]}',
        b'{"game":"tictactoe","moves":["' + b"a" * 30 + b'"]}',
        b'{"game":"tictactoe","moves":"a1"}',
        b'{"game":["tictactoe"]}',
        b'{"game":1}',
    ):
        assert_refused(studio.http.post("/api/v1/position", content=content, headers=JSON), 422)


@pytest.mark.parametrize("announced", [True, False])
def test_a_body_that_is_too_large(studio: Studio, announced: bool) -> None:
    content = b'{"game": "tictactoe"}' + b" " * 100_000
    parts: Any = content if announced else (content[at : at + 999] for at in range(0, 10**6, 999))
    assert_refused(
        studio.http.post("/api/v1/position", content=parts, headers=JSON), 413, "too large"
    )
    fits = b'{"game": "tictactoe"}' + b" " * 99_000
    assert studio.http.post("/api/v1/position", content=fits, headers=JSON).status_code == 200


def test_a_body_announced_as_too_large_is_refused_at_once(studio: Studio) -> None:
    for size in ("100001", "9" * 18):
        with socket.create_connection(studio.address, 10) as line:
            line.sendall(
                b"POST /api/v1/position HTTP/1.1\r\nhost: 127.0.0.1\r\n"
                b"content-type: application/json\r\ncontent-length: " + size.encode() + b"\r\n\r\n{"
            )
            assert b" 413 " in line.recv(65536)


@pytest.mark.parametrize(
    "kind", [None, "text/plain", "application/x-www-form-urlencoded", "multipart/form-data", ""]
)
def test_other_content_types_are_assert_refused(studio: Studio, kind: str | None) -> None:
    headers = {} if kind is None else {"content-type": kind}
    response = studio.http.post("/api/v1/position", content=b'{"game":"squava"}', headers=headers)
    assert_refused(response, 415, "application/json")


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "http://evil.example"},
        {"origin": "null"},
        {"origin": "http://127.0.0.1:1"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},  # another port of this machine
        {"host": "evil.example"},
        {"host": "127.0.0.1.evil.example"},
        {"host": "testserver"},
        {"host": ""},
    ],
)
def test_other_sites_are_assert_refused(studio: Studio, headers: dict[str, str]) -> None:
    before = len(studio.get("matches", limit=200).json())
    body = {"game": "tictactoe"}
    assert_refused(studio.http.post("/api/v1/matches", json=body, headers=headers), 403)
    for work in ("analysis?game=connect4", "review?game=connect4", "puzzle?game=connect4"):
        assert_refused(studio.http.get(f"/api/v1/{work}", headers=headers), 403)
    assert len(studio.get("matches", limit=200).json()) == before


def test_requests_of_our_own_page_are_not_assert_refused(studio: Studio) -> None:
    for headers in (
        {"origin": studio.url, "sec-fetch-site": "same-origin"},
        {"host": "localhost:1", "origin": "http://localhost:1"},
        {"host": "[::1]:1"},
        {"host": "LOCALHOST"},
    ):
        response = studio.http.post("/api/v1/position", json={"game": "squava"}, headers=headers)
        assert response.status_code == 200, headers


def test_the_page_has_security_headers(studio: Studio) -> None:
    response = studio.http.get("/", headers={"sec-fetch-site": "cross-site"})  # a link
    assert response.status_code == 200
    assert "default-src 'self'" in response.headers["content-security-policy"]
    assert response.headers["x-content-type-options"] == "nosniff"
    assert "access-control-allow-origin" not in response.headers


@pytest.mark.parametrize(
    "path",
    [
        "/page/../app.py",
        "/page/../../store.py",
        "/page/%2e%2e/app.py",
        "/page/..%2fapp.py",
        "/page/%2e%2e%2fapp.py",
        "/page/%252e%252e%252fapp.py",
        "/page/..%5capp.py",
        "/page/..\\app.py",
        "/page//etc/passwd",
        "/page/%2fetc%2fpasswd",
        "/page/%00",
        "/page/index.html%00.js",
        "/page/" + "a" * 3000,
        "/page/" + "a/" * 1000,
        "/page/",
        "/page",
        "/api/v1/../../app.py",
    ],
)
def test_path_traversal_is_assert_refused(studio: Studio, path: str) -> None:
    head = f"GET {path} HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\n\r\n"
    response = studio.raw(head)
    status = int(response.split()[1])
    assert status in (307, 400, 404, 405), response
    assert b"create_app" not in response
    assert b"root:" not in response


@pytest.mark.parametrize(
    "game",
    [
        "path.py",
        "examples/domineering.py",
        "./examples/domineering.py",
        str(ROOT / "examples" / "domineering.py"),
        "examples/domineering.py ",
        "examples/domineering.py:size=4",
        "file:///etc/passwd",
        "os",
        "zermelo.studio.app:create_app",
    ],
)
def test_no_request_loads_a_game_file(
    studio: Studio, game: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    loads: list[str] = []
    monkeypatch.setattr(registry, "_file_game", loads.append)
    monkeypatch.setattr(user_games, "load_game", loads.append)
    for response in (
        studio.post("matches", game=game),
        studio.post("position", game=game),
        studio.post("export", game=game, moves=[], format="text"),
        studio.post("import", text=f"{game.strip()} 1", format="text"),
        studio.post(
            "import",
            text=json.dumps({"game": game, "moves": [], "result": None}),
            format="json",
        ),
        studio.post("import", text="b2", format="text", game=game),
        studio.get("analysis", game=game),
        studio.get("review", game=game),
        studio.get("puzzle", game=game),
        studio.get("formats", game=game),
    ):
        assert_refused(response, 422)
    assert not loads


def test_markup_is_never_echoed(studio: Studio) -> None:
    markup = "<img src=x onerror=alert(1)>"
    for response in (
        studio.post("matches", game=markup),
        studio.post("matches", game="tictactoe", first=markup),
        studio.post("position", game="tictactoe", moves=["<b>"]),
        studio.post("position", game="tictactoe", **{markup: 1}),
        studio.get("analysis", game=markup),
        studio.post("export", game="tictactoe", moves=[], format="<b>"),
    ):
        assert_refused(response, 422)
        assert response.headers["x-content-type-options"] == "nosniff"
    response = studio.http.get(f"/api/v1/matches/{markup}")
    assert_refused(response, 404)
    assert markup not in response.text
    latest = studio.get("matches", limit=200).text
    assert "<" not in latest


def test_unknown_methods_and_paths(studio: Studio) -> None:
    assert studio.http.delete("/api/v1/matches", headers=JSON).status_code == 405
    assert studio.http.put("/api/v1/matches", json={}).status_code == 405
    assert studio.http.get("/api/v2/games").status_code == 404
    assert studio.http.options("/api/v1/matches").status_code == 405


def test_a_locked_store_gives_503(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    app = create_app(tmp_path / "m.db")

    def fail(*_: Any) -> None:
        msg = "database is locked"
        raise sqlite3.OperationalError(msg)

    monkeypatch.setattr(MatchStore, "add", fail)
    for served in serve(app):
        response = served.post("matches", game="tictactoe")
        assert response.status_code == 503
        assert "locked" in response.json()["detail"]
