"""The server as a whole: memory, a process of its own, load."""

import asyncio
import contextlib
import gc
import importlib.util
import re
import signal
import socket
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from support.paths import ROOT
from support.studio import call
from zermelo.studio.app import create_app


def test_memory_stays_flat_over_5000_stored_matches(tmp_path: Path) -> None:
    pages = Path("/proc/self/statm")
    if not pages.exists():
        pytest.skip("memory is read from /proc, which this system does not have")
    app = create_app(tmp_path / "m.db")

    async def create(number: int) -> None:
        for _ in range(number):
            match = await call(app, "/api/v1/matches", {"game": "connect4", "moves": ["4"]})
        await call(app, f"/api/v1/matches/{match['id']}/moves", {"move": "4"})

    def resident() -> float:
        gc.collect()
        return int(pages.read_text().split()[1]) * 4096 / 1e6

    asyncio.run(create(500))
    before = resident()
    asyncio.run(create(4500))
    grown = resident() - before
    app.state.players.close()
    with contextlib.closing(sqlite3.connect(tmp_path / "m.db")) as base:
        assert base.execute("SELECT count(*) FROM matches").fetchone() == (5000,)
    assert grown < 6, f"{grown:.1f} MB more for 4,500 matches"


@contextlib.contextmanager
def process(db: Path, *options: str) -> Iterator[tuple[Any, str, str]]:
    command = [sys.executable, "-u", "-m", "zermelo", "studio", "--port", "0", "--db", str(db)]
    with subprocess.Popen(
        [*command, *options], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as server:
        try:
            greeting = server.stdout.readline()  # type: ignore[union-attr]
            address = re.search(r"http://\S+", greeting)
            assert address, server.stderr.read()  # type: ignore[union-attr]
            yield server, address[0], greeting
        finally:
            server.kill()


def test_a_match_survives_kill_9(tmp_path: Path) -> None:
    db = tmp_path / "m.db"
    with process(db) as (server, url, greeting), httpx.Client(base_url=url, timeout=60) as http:
        assert "http://127.0.0.1:" in greeting, "it binds to this machine only, and says so"
        body = {"game": "connect4", "second": "lookahead:2"}
        match = http.post("/api/v1/matches", json=body).json()
        where = f"/api/v1/matches/{match['id']}"
        http.post(f"{where}/moves", json={"move": "4", "ply": 0})
        before = http.post(f"{where}/reply", json={}).json()
        server.send_signal(signal.SIGKILL)
        server.wait()
    with process(db) as (_, url, _greeting), httpx.Client(base_url=url, timeout=60) as http:
        assert http.get(where).json() == before
        after = http.post(f"{where}/moves", json={"move": "4", "ply": 2}).json()
        assert after["moves"] == [*before["moves"], "4"]
        assert len(http.post(f"{where}/reply", json={}).json()["moves"]) == 4


def test_it_stops_soon_during_a_search(tmp_path: Path) -> None:
    with process(tmp_path / "m.db") as (server, url, _), httpx.Client(base_url=url) as http:
        params = {"game": "connect4", "seconds": "60"}
        with http.stream("GET", "/api/v1/analysis", params=params, timeout=60) as response:
            lines = response.iter_lines()
            next(lines)
            server.send_signal(signal.SIGTERM)
            with contextlib.suppress(httpx.HTTPError):
                list(lines)
        assert server.wait(15) in (0, -signal.SIGTERM)
        assert "Traceback" not in server.stderr.read()  # type: ignore[union-attr]


def test_start_errors_are_one_line(tmp_path: Path) -> None:
    text = tmp_path / "text.db"
    text.write_text("dear diary, " * 100)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        for options, word in (
            (["--db", str(text)], "is damaged: file is not a database"),
            (["--db", str(tmp_path / "m.db"), "--port", port], "cannot listen"),
        ):
            command = [sys.executable, "-m", "zermelo", "studio", *options]
            done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
            assert done.returncode != 0
            assert word in done.stderr
            assert done.stderr.count("\n") == 1


def test_a_few_clients_get_their_responses_in_time(tmp_path: Path) -> None:
    """A small run of `scripts/load.py`, whose results are in docs/benchmarks.md."""
    path = ROOT / "scripts" / "load.py"
    spec = importlib.util.spec_from_file_location("load", path)
    assert spec is not None
    assert spec.loader is not None
    load = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(load)
    with load.run_studio(tmp_path / "m.db") as url:
        measurements = asyncio.run(load.run_clients(url, 8, 1, (0.02, 0.1)))
    assert measurements.errors == []
    assert measurements.games == 8
    assert len(measurements.delays) >= 8
    # The goal of 100 ms for 50 clients needs two idle cores, which a test run does not have.
    assert load.percentile(measurements.delays, 50) < 500, measurements.table()
