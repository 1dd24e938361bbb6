"""Load: many clients play whole games at once against a studio that this script starts.

    .venv/bin/python scripts/load.py [--clients 50] [--games 1] [--no-analysis]

Loopback only; the server is a process of its own with a store in a temporary folder, and one
analysis of 10 s after the other runs beside the games. The server tells with every reply how long
it thought, by the clock and by the thread's CPU time; what a client waited beyond that is its
delay. The stricter figure, by CPU time, also counts what a think lost to other threads. First with
clients that pause like people, then with clients that do not. A client is a bare connection: the
usual libraries would need more of the two cores than the server does.
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

MUST = 100.0  # ms: 95% of replies within this beyond thinking
_GAME, _PLAYER = "connect4", "lookahead:2"
_PATIENCE = 180.0  # seconds for all games of a run
_ANALYSIS = f"analysis?game={_GAME}&seconds=10"
_TIMING = re.compile(r"think;dur=([0-9.]+), cpu;dur=([0-9.]+)")


@dataclass
class Figures:
    """What the clients saw; times in ms."""

    beyond: list[float] = field(default_factory=list)  #: of replies, by the clock
    beyond_cpu: list[float] = field(default_factory=list)  #: of replies, by CPU time
    think: list[float] = field(default_factory=list)
    moves: list[float] = field(default_factory=list)  #: of requests without thinking
    games: int = 0
    errors: list[str] = field(default_factory=list)
    analyses: int = 0
    seconds: float = 0.0

    def table(self) -> str:
        """The percentiles."""
        rows = [
            ("reply, beyond thinking", self.beyond),
            ("reply, beyond CPU time of thinking", self.beyond_cpu),
            ("thinking", self.think),
            ("move (no thinking)", self.moves),
        ]
        lines = [f"{'ms':36s}{'p50':>8s}{'p95':>8s}{'p99':>8s}{'max':>8s}"]
        for name, values in rows:
            shares = (percentile(values, p) for p in (50, 95, 99, 100))
            lines.append(f"{name:36s}" + "".join(f"{share:8.1f}" for share in shares))
        rate = (len(self.beyond) + len(self.moves)) / max(self.seconds, 1e-9)
        lines.append(
            f"{self.games} games, {len(self.beyond)} replies, {rate:.0f} requests/s, "
            f"{self.analyses} analyses beside them, {len(self.errors)} errors, {self.seconds:.1f} s"
        )
        return "\n".join([*lines, *self.errors[:5]])


def percentile(values: list[float], share: int) -> float:
    """The value that so many percent do not exceed."""
    if len(values) < 2 or share == 100:
        return max(values, default=float("nan"))
    return statistics.quantiles(values, n=100, method="inclusive")[share - 1]


@contextlib.contextmanager
def serving(db: Path) -> Iterator[str]:
    """A studio in a process of its own; yields its address."""
    command = [sys.executable, "-u", "-m", "zermelo", "studio", "--port", "0", "--db", str(db)]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)  # noqa: S603 - ours
    try:
        assert server.stdout is not None
        found = re.search(r"http://\S+", server.stdout.readline())
        assert found, "the studio did not start"
        yield found[0]
    finally:
        server.terminate()
        try:
            server.wait(10)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait()
        if server.stdout is not None:
            server.stdout.close()


async def load(
    url: str,
    clients: int,
    games: int,
    pause: tuple[float, float],
    *,
    analysis: bool = True,
    seed: int = 1,
) -> Figures:
    """So many clients at once, each with so many games."""
    figures = Figures()
    await _client(url, random.Random(0), 1, (0.0, 0.0), Figures())  # compilation aside
    beside = asyncio.create_task(_analyse(url, figures)) if analysis else None
    begin = time.perf_counter()
    players = [
        _client(url, random.Random(f"{seed} {number}"), games, pause, figures)
        for number in range(clients)
    ]
    try:
        await asyncio.wait_for(asyncio.gather(*players), _PATIENCE)
    except TimeoutError:
        figures.errors.append(f"not done after {_PATIENCE:g} s")
    figures.seconds = time.perf_counter() - begin
    if beside is not None:
        beside.cancel()
        await asyncio.gather(beside, return_exceptions=True)
    return figures


class Connection:
    """HTTP/1.1, one request after the other."""

    def __init__(self, url: str) -> None:
        self._host = url.removeprefix("http://")

    async def __aenter__(self) -> Self:
        """Connect."""
        name, _, port = self._host.rpartition(":")
        self._in, self._out = await asyncio.open_connection(name, int(port))
        return self

    async def __aexit__(self, *_: object) -> None:
        """Hang up."""
        self._out.close()
        with contextlib.suppress(OSError):
            await self._out.wait_closed()

    async def ask(self, method: str, path: str, body: Any = None) -> tuple[int, dict[str, str]]:
        """Status and headers."""
        data = b"" if body is None else json.dumps(body).encode()
        head = f"{method} /api/v1/{path} HTTP/1.1\r\nhost: {self._host}\r\n"
        kind = f"content-type: application/json\r\ncontent-length: {len(data)}\r\n"
        self._out.write((head + (kind if data else "") + "\r\n").encode() + data)
        lines = (await self._in.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        headers = (line.partition(":")[::2] for line in lines[1:] if line)
        return int(lines[0].split()[1]), {name.lower(): value for name, value in headers}

    async def post(self, path: str, body: dict[str, Any]) -> tuple[Any, dict[str, str]]:
        """An answer that must be one, and the headers."""
        status, headers = await self.ask("POST", path, body)
        answer = await self._in.readexactly(int(headers["content-length"]))
        assert 200 <= status < 300, f"{path}: {status} {answer[:200]!r}"
        return json.loads(answer), headers

    async def read_to(self, end: bytes) -> None:
        """Whatever comes, up to `end`."""
        while end not in await self._in.readline():
            pass


async def _client(
    url: str, rng: random.Random, games: int, pause: tuple[float, float], figures: Figures
) -> None:
    await asyncio.sleep(rng.uniform(*pause))
    try:
        async with Connection(url) as server:
            for _ in range(games):
                await _play(server, rng, pause, figures)
                figures.games += 1
    except (OSError, EOFError, AssertionError) as error:
        figures.errors.append(f"{type(error).__name__}: {error}")


async def _play(
    server: Connection, rng: random.Random, pause: tuple[float, float], figures: Figures
) -> None:
    """A whole game by random moves."""
    match, _ = await server.post("matches", {"game": _GAME, "second": _PLAYER})
    where = f"matches/{match['id']}"
    while True:
        await asyncio.sleep(rng.uniform(*pause))
        move = {"move": rng.choice(match["legal"]), "ply": match["ply"]}
        begin = time.perf_counter()
        match, _ = await server.post(f"{where}/moves", move)
        figures.moves.append((time.perf_counter() - begin) * 1000)
        if match["over"]:
            return
        begin = time.perf_counter()
        match, headers = await server.post(f"{where}/reply", {})
        waited = (time.perf_counter() - begin) * 1000
        found = _TIMING.search(headers["server-timing"])
        assert found, "the server tells no thinking time"
        figures.think.append(float(found[1]))
        figures.beyond.append(waited - float(found[1]))
        figures.beyond_cpu.append(waited - float(found[2]))
        if match["over"]:
            return


async def _analyse(url: str, figures: Figures) -> None:
    """One analysis of 10 s after the other."""
    while True:
        async with Connection(url) as server:
            status, _ = await server.ask("GET", _ANALYSIS)
            assert status == 200, "the analysis was refused"
            figures.analyses += 1
            await server.read_to(b"event: done")


def _busy() -> float:
    """CPU seconds that this machine has worked for others than us; nan where it cannot be told."""
    stat = Path("/proc/stat")
    if not stat.exists():
        return float("nan")
    user, nice, system, _, _, irq, softirq, *_ = map(int, stat.read_text().split()[1:9])
    ours = sum(os.times()[:4])  # children that have ended, too
    return (user + nice + system + irq + softirq) / os.sysconf("SC_CLK_TCK") - ours


def main() -> int:
    """Both runs; 1 if the first is slower than it must be, or anything went wrong."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--clients", type=int, default=50)
    parser.add_argument("--games", type=int, default=1, help="for each client")
    parser.add_argument("--no-analysis", action="store_true")
    options = parser.parse_args()
    print(f"{options.clients} clients, {_GAME} against {_PLAYER}, {os.cpu_count()} cores")
    missed = False
    for name, pause in (("with pauses of 0.3 to 1 s", (0.3, 1.0)), ("without pauses", (0.0, 0.0))):
        begin, before = time.perf_counter(), _busy()
        with tempfile.TemporaryDirectory() as folder, serving(Path(folder) / "load.db") as url:
            figures = asyncio.run(
                load(url, options.clients, options.games, pause, analysis=not options.no_analysis)
            )
        others = (_busy() - before) / (time.perf_counter() - begin)
        print(f"\n{name}; other programs used {others:.1f} cores\n{figures.table()}")
        people = pause[1] > 0
        missed |= bool(figures.errors) or (people and percentile(figures.beyond_cpu, 95) > MUST)
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())
