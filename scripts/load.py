"""Load test: clients play whole games in parallel against a studio that this script starts.

    .venv/bin/python scripts/load.py [--clients 50] [--games 1] [--no-analysis]

The server is a separate process on the loopback interface, with its database in a temporary
folder. During the games it also runs one 10-second analysis after another. With every reply the
server reports how long it thought, in wall-clock time and in CPU time of the thread; the rest of
the time that a client waited is the delay. The delay by CPU time is the stricter figure, since it
includes the time that the search lost to other threads. In the first run the clients pause between
moves as people do, in the second they do not. The clients use raw connections, since the usual HTTP
libraries would use more CPU time than the server.
"""

import argparse
import asyncio
import contextlib
import json
import os
import random
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

MAX_DELAY = 100.0  # ms; 95% of the replies must be faster
_GAME, _PLAYER = "connect4", "lookahead:2"
_TIMEOUT = 180.0  # seconds for all games of a run
_ANALYSIS = f"analysis?game={_GAME}&seconds=10"
_TIMING = re.compile(r"think;dur=([0-9.]+), cpu;dur=([0-9.]+)")


@dataclass
class Measurements:
    """The measurements of all clients; times are in ms."""

    delays: list[float] = field(default_factory=list)  #: delays of replies, by wall-clock time
    cpu_delays: list[float] = field(default_factory=list)  #: delays of replies, by CPU time
    thinking: list[float] = field(default_factory=list)
    moves: list[float] = field(default_factory=list)  #: times of moves, which need no search
    games: int = 0
    errors: list[str] = field(default_factory=list)
    analyses: int = 0
    seconds: float = 0.0

    def table(self) -> str:
        """Return the percentiles as a table."""
        rows = [
            ("reply, beyond thinking", self.delays),
            ("reply, beyond CPU time of thinking", self.cpu_delays),
            ("thinking", self.thinking),
            ("move (no thinking)", self.moves),
        ]
        lines = [f"{'ms':36s}{'p50':>8s}{'p95':>8s}{'p99':>8s}{'max':>8s}"]
        for name, values in rows:
            percentiles = (percentile(values, p) for p in (50, 95, 99, 100))
            lines.append(f"{name:36s}" + "".join(f"{value:8.1f}" for value in percentiles))
        rate = (len(self.delays) + len(self.moves)) / max(self.seconds, 1e-9)
        lines.append(
            f"{self.games} games, {len(self.delays)} replies, {rate:.0f} requests/s, "
            f"{self.analyses} analyses meanwhile, {len(self.errors)} errors, {self.seconds:.1f} s"
        )
        return "\n".join([*lines, *self.errors[:5]])


def percentile(values: list[float], percent: int) -> float:
    """Return the value that `percent` % of the values do not exceed; NaN if there are none."""
    if len(values) < 2 or percent == 100:
        return max(values, default=float("nan"))
    return statistics.quantiles(values, n=100, method="inclusive")[percent - 1]


@contextlib.contextmanager
def studio_process(db: Path) -> Iterator[tuple[str, int]]:
    """Run a studio in a separate process, and yield its address and its process id."""
    command = [sys.executable, "-u", "-m", "zermelo", "studio", "--port", "0", "--db", str(db)]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert server.stdout is not None
        address = re.search(r"http://\S+", server.stdout.readline())
        assert address, "the studio did not start"
        yield address[0], server.pid
    finally:
        server.terminate()
        try:
            server.wait(10)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait()
        if server.stdout is not None:
            server.stdout.close()


@contextlib.contextmanager
def run_studio(db: Path) -> Iterator[str]:
    """Run a studio in a separate process, and yield its address."""
    with studio_process(db) as (url, _):
        yield url


async def run_clients(
    url: str,
    clients: int,
    games: int,
    pause: tuple[float, float],
    *,
    analysis: bool = True,
    seed: int = 1,
) -> Measurements:
    """Run clients in parallel, each of which plays `games` games."""
    measurements = Measurements()
    await _client(
        url, random.Random(0), 1, (0.0, 0.0), Measurements()
    )  # one game first, to compile everything
    analyses = asyncio.create_task(_analyse(url, measurements)) if analysis else None
    begin = time.perf_counter()
    tasks = [
        _client(url, random.Random(f"{seed} {number}"), games, pause, measurements)
        for number in range(clients)
    ]
    try:
        await asyncio.wait_for(asyncio.gather(*tasks), _TIMEOUT)
    except TimeoutError:
        measurements.errors.append(f"not finished after {_TIMEOUT:g} s")
    measurements.seconds = time.perf_counter() - begin
    if analyses is not None:
        analyses.cancel()
        await asyncio.gather(analyses, return_exceptions=True)
    return measurements


class Connection:
    """An HTTP/1.1 connection for one request at a time; `client` is the id to send, if any."""

    def __init__(self, url: str, client: str = "") -> None:
        self._host = url.removeprefix("http://")
        self._client = client

    async def __aenter__(self) -> Self:
        """Open the connection."""
        name, _, port = self._host.rpartition(":")
        self._in, self._out = await asyncio.open_connection(name, int(port))
        return self

    async def __aexit__(self, *_: object) -> None:
        """Close the connection."""
        self._out.close()
        with contextlib.suppress(OSError):
            await self._out.wait_closed()

    def send(self, method: str, path: str, body: Any = None) -> None:
        """Send a request without waiting for the response."""
        data = b"" if body is None else json.dumps(body).encode()
        head = f"{method} /api/v1/{path} HTTP/1.1\r\nhost: {self._host}\r\n"
        client = f"zermelo-client: {self._client}\r\n" if self._client else ""
        kind = f"content-type: application/json\r\ncontent-length: {len(data)}\r\n"
        self.send_raw((head + client + (kind if data else "") + "\r\n").encode() + data)

    def send_raw(self, data: bytes) -> None:
        """Send bytes as they are."""
        self._out.write(data)

    async def send_and_drain(self, data: bytes) -> None:
        """Send bytes as they are, and wait until there is room for more."""
        self._out.write(data)
        await self._out.drain()

    async def request(self, method: str, path: str, body: Any = None) -> tuple[int, dict[str, str]]:
        """Send a request, and return the status and the headers; the body is left unread."""
        self.send(method, path, body)
        lines = (await self._in.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        headers = (line.partition(":")[::2] for line in lines[1:] if line)
        return int(lines[0].split()[1]), {name.lower(): value for name, value in headers}

    async def exchange(
        self, method: str, path: str, body: dict[str, Any]
    ) -> tuple[int, dict[str, str], Any]:
        """Send a request, and return the status, the headers and the JSON of the response."""
        status, headers = await self.request(method, path, body)
        answer = await self._in.readexactly(int(headers["content-length"]))
        return status, headers, json.loads(answer)

    async def post(self, path: str, body: dict[str, Any]) -> tuple[Any, dict[str, str]]:
        """Send a POST request that must succeed, and return the JSON and the headers."""
        status, headers, answer = await self.exchange("POST", path, body)
        assert 200 <= status < 300, f"{path}: {status} {answer}"
        return answer, headers

    async def read_to(self, end: bytes) -> None:
        """Read and discard lines up to one that contains `end`."""
        while end not in await self._in.readline():
            pass


def server_timing(headers: dict[str, str]) -> tuple[float, float]:
    """Return how long the server thought, in ms of wall-clock and of CPU time; 0 if it did not."""
    timing = _TIMING.search(headers.get("server-timing", ""))
    return (float(timing[1]), float(timing[2])) if timing else (0.0, 0.0)


async def _client(
    url: str, rng: random.Random, games: int, pause: tuple[float, float], measurements: Measurements
) -> None:
    await asyncio.sleep(rng.uniform(*pause))
    try:
        async with Connection(url, f"{rng.random()}") as server:
            for _ in range(games):
                await _play(server, rng, pause, measurements)
                measurements.games += 1
    except (OSError, EOFError, AssertionError) as error:
        measurements.errors.append(f"{type(error).__name__}: {error}")


async def _play(
    server: Connection, rng: random.Random, pause: tuple[float, float], measurements: Measurements
) -> None:
    """Play a whole game with random moves against the server's player."""
    match, _ = await server.post("matches", {"game": _GAME, "second": _PLAYER})
    path = f"matches/{match['id']}"
    while True:
        await asyncio.sleep(rng.uniform(*pause))
        move = {"move": rng.choice(match["legal"]), "ply": match["ply"]}
        begin = time.perf_counter()
        match, _ = await server.post(f"{path}/moves", move)
        measurements.moves.append((time.perf_counter() - begin) * 1000)
        if match["over"]:
            return
        begin = time.perf_counter()
        match, headers = await server.post(f"{path}/reply", {})
        waited = (time.perf_counter() - begin) * 1000
        thinking, cpu = server_timing(headers)
        assert thinking, "the server reports no thinking time"
        measurements.thinking.append(thinking)
        measurements.delays.append(waited - thinking)
        measurements.cpu_delays.append(waited - cpu)
        if match["over"]:
            return


async def _analyse(url: str, measurements: Measurements) -> None:
    """Run one analysis of 10 s after another."""
    while True:
        async with Connection(url) as server:
            status, _ = await server.request("GET", _ANALYSIS)
            assert status == 200, "the analysis was refused"
            measurements.analyses += 1
            await server.read_to(b"event: done")


def _cpu_seconds_of_others() -> float:
    """Return the CPU seconds used by other programs so far; NaN if unavailable."""
    stat = Path("/proc/stat")
    if not stat.exists():
        return float("nan")
    user, nice, system, _, _, irq, softirq, *_ = map(int, stat.read_text().split()[1:9])
    ours = sum(os.times()[:4])  # including child processes that have ended
    return (user + nice + system + irq + softirq) / os.sysconf("SC_CLK_TCK") - ours


def main() -> int:
    """Do both runs; return 1 if the first is too slow or there was any error, else 0."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--clients", type=int, default=50)
    parser.add_argument("--games", type=int, default=1, help="number of games per client")
    parser.add_argument("--no-analysis", action="store_true")
    options = parser.parse_args()
    print(f"{options.clients} clients, {_GAME} against {_PLAYER}, {os.cpu_count()} cores")
    has_failed = False
    for name, pause in (("with pauses of 0.3 to 1 s", (0.3, 1.0)), ("without pauses", (0.0, 0.0))):
        begin, before = time.perf_counter(), _cpu_seconds_of_others()
        with tempfile.TemporaryDirectory() as folder, run_studio(Path(folder) / "load.db") as url:
            clients = run_clients(
                url, options.clients, options.games, pause, analysis=not options.no_analysis
            )
            measurements = asyncio.run(clients)
        others = (_cpu_seconds_of_others() - before) / (time.perf_counter() - begin)
        print(f"\n{name}; other programs used {others:.1f} cores\n{measurements.table()}")
        has_pauses = pause[1] > 0
        is_slow = has_pauses and percentile(measurements.cpu_delays, 95) > MAX_DELAY
        has_failed |= bool(measurements.errors) or is_slow
    return int(has_failed)


if __name__ == "__main__":
    sys.exit(main())
