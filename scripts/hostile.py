"""Load test with a hostile client: what it does must not delay the moves of other players.

    .venv/bin/python scripts/hostile.py [--scale 1]

The studio is a separate process on the loopback interface, with its database in a temporary folder.
Two players play one game after another on it: one sends an id as the page does, the other sends
none, so that the server cannot distinguish it from the hostile client. Meanwhile the hostile client

1. requests 80 replies of a minute each and abandons them,
2. sends 20 boards that take a long time to check,
3. locks the database and creates matches,
4. opens 1,000 connections and sends only part of a request on each,
5. sends 100 MB of headers.

Every answer to a player, even "try again", must come within a second, not counting the time for
which the computer thought. At the end the memory of the server must return to what it was before.
`--scale` shrinks all numbers.
"""

import argparse
import asyncio
import contextlib
import random
import sqlite3
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from load import Connection, server_timing, studio_process

MAX_DELAY = 1000.0  # ms for every answer, not counting the computer's thinking time
MAX_GROWTH = 100.0  # MB by which the server's memory may have grown at the end
_PLAYER = {"game": "connect4", "second": "level:3"}
_SLOW = {"game": "connect4", "first": "alphabeta:60", "second": "human"}
_BOARD_GAME = "line:rows=20,cols=20,win=20,gravity=true"
_TRY_AGAIN = (429, 503)
_TRIES = 100
_RETURN_SECONDS = 60  # for the memory to return


@dataclass
class PhaseResult:
    """How the players fared during one kind of attack."""

    name: str
    delays: list[float] = field(default_factory=list)  #: ms beyond thinking, of every answer
    num_moves: int = 0
    num_tries: int = 0  #: answers that said "try again"
    seconds: float = 0.0

    def row(self) -> str:
        """Return the figures as a row of a table."""
        return (
            f"{self.name:22s}{self.num_moves:7d}{self.num_tries:11d}{max(self.delays):13.0f}"
            f"{self.seconds:9.1f}"
        )


@dataclass
class HostileResult:
    """The results of all attacks, and the memory of the server in MB."""

    phases: list[PhaseResult]
    before: float
    peak: float
    after: float

    def table(self) -> str:
        """Return all figures as a table."""
        head = f"{'':22s}{'moves':>7s}{'try again':>11s}{'slowest ms':>13s}{'seconds':>9s}"
        memory = f"memory: {self.before:.0f} MB, at most {self.peak:.0f}, then {self.after:.0f}"
        return "\n".join([head, *(phase.row() for phase in self.phases), memory])

    def problems(self) -> list[str]:
        """Return a message for each limit that was exceeded."""
        slow = [p.name for p in self.phases if max(p.delays) > MAX_DELAY]
        stuck = [p.name for p in self.phases if not p.num_moves and p.name != "locked store"]
        grown = self.after - self.before
        return [
            *(f"{name}: an answer took more than {MAX_DELAY:g} ms" for name in slow),
            *(f"{name}: no move was played" for name in stuck),
            *([f"{grown:.0f} MB were not returned"] if grown > MAX_GROWTH else []),
        ]


class Player:
    """Plays one game after another, and records how long every answer took."""

    def __init__(self, url: str, client: str) -> None:
        self.result = PhaseResult("")
        self._url, self._client = url, client
        self._rng = random.Random(client)

    async def play(self) -> None:
        """Play until cancelled."""
        async with Connection(self._url, self._client) as server:
            while True:
                match = await self._ask(server, "matches", _PLAYER)
                path = f"matches/{match['id']}"
                while not match["over"]:
                    is_human = match["human_to_move"]
                    body = {"move": self._rng.choice(match["legal"])} if is_human else {}
                    match = await self._ask(
                        server, f"{path}/{'moves' if is_human else 'reply'}", body
                    )
                    self.result.num_moves += 1
                    await asyncio.sleep(0.02)

    async def _ask(self, server: Connection, path: str, body: dict[str, Any]) -> Any:
        """Send a request until it succeeds, and record how long each answer took."""
        for _ in range(_TRIES):
            begin = time.perf_counter()
            status, headers, answer = await server.exchange("POST", path, body)
            waited = (time.perf_counter() - begin) * 1000
            self.result.delays.append(waited - server_timing(headers)[0])
            if status not in _TRY_AGAIN:
                assert 200 <= status < 300, (status, answer)
                return answer
            self.result.num_tries += 1
            await asyncio.sleep(0.1)
        msg = f"{path}: still refused after {_TRIES} tries: {answer}"
        raise AssertionError(msg)


async def abandon_replies(url: str, number: int) -> None:
    """Request `number` replies of a minute, each in its own match, and soon disconnect."""

    async def abandon() -> None:
        async with Connection(url) as server:
            match, _ = await server.post("matches", _SLOW)
            server.send("POST", f"matches/{match['id']}/reply", {"seconds": 60.0})
            await asyncio.sleep(0.3)

    for _ in range(0, number, 20):
        await asyncio.gather(*(abandon() for _ in range(min(20, number))))


def heavy_board() -> str:
    """Return an unreachable board that the server can only refuse after trying all move orders."""
    rng = random.Random(1)
    stones = ["X"] * 105 + ["O"] * 85
    rng.shuffle(stones)
    # Of 20 columns, 19 have 11 stones, and the lowest is always O.
    rows = ["." * 20] * 9 + ["".join(stones[n::10]) + "." for n in range(10)] + ["O" * 19 + "."]
    return "/".join(rows)


async def send_heavy_boards(url: str, number: int) -> None:
    """Send boards that take a long time to check, all at once."""

    async def send() -> None:
        async with Connection(url) as server:
            body = {"game": _BOARD_GAME, "board": heavy_board()}
            status, _, answer = await server.exchange("POST", "position", body)
            assert status in (200, 422, *_TRY_AGAIN), answer

    await asyncio.gather(*(send() for _ in range(number)))


async def lock_store(url: str, db: Path, seconds: float) -> None:
    """Keep other connections from writing to the database, and create matches meanwhile."""
    with contextlib.closing(sqlite3.connect(db, isolation_level=None)) as store:
        store.execute("BEGIN IMMEDIATE")
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            async with Connection(url) as server:
                await server.exchange("POST", "matches", {"game": "tictactoe", "second": "human"})
            await asyncio.sleep(0.05)
        store.execute("ROLLBACK")
    await asyncio.sleep(1)


async def open_half(url: str, number: int, hold: float) -> None:
    """Open connections, send only part of a request on each, and wait."""
    async with contextlib.AsyncExitStack() as stack:
        for _ in range(number):
            with contextlib.suppress(OSError):
                line = await stack.enter_async_context(Connection(url))
                line.send_raw(b"POST /api/v1/position HTTP/1.1\r\nhost: 127.0.0.1\r\nx-half: ")
        await asyncio.sleep(hold)


async def send_headers(url: str, megabytes: float) -> None:
    """Send headers on eight connections at once, again and again, until there are enough bytes."""
    block = b"x-header: " + b"a" * 4000 + b"\r\n"
    num_blocks = int(megabytes * 1e6 / len(block) / 8)

    async def send() -> None:
        number = 0
        while number < num_blocks:
            with contextlib.suppress(OSError):
                async with Connection(url) as server:
                    server.send_raw(b"GET / HTTP/1.1\r\nhost: 127.0.0.1\r\n")
                    while number < num_blocks:
                        number += 1
                        await server.send_and_drain(block)

    await asyncio.gather(*(send() for _ in range(8)))


async def run_hostile(url: str, pid: int, db: Path, scale: float = 1.0) -> HostileResult:
    """Run all attacks while two players play; `scale` shrinks the numbers."""
    players = [Player(url, "player"), Player(url, "")]
    await _warm_up(url)
    attacks: list[tuple[str, Callable[[], Awaitable[None]]]] = [
        ("no attack", lambda: asyncio.sleep(max(1.5, 5 * scale))),
        ("abandoned replies", lambda: abandon_replies(url, round(80 * scale))),
        ("heavy boards", lambda: send_heavy_boards(url, round(20 * scale))),
        ("locked store", lambda: lock_store(url, db, 1 + 4 * scale)),
        ("half-open connections", lambda: open_half(url, round(1000 * scale), 1 + 14 * scale)),
        ("headers", lambda: send_headers(url, 100 * scale)),
        ("afterwards", lambda: asyncio.sleep(max(1.5, 5 * scale))),
    ]
    before = memory_of(pid)
    phases = []
    tasks = [asyncio.create_task(player.play()) for player in players]
    for name, attack in attacks:
        phase = PhaseResult(name)
        for player in players:
            player.result = phase
        begin = time.perf_counter()
        async with _watch(tasks):
            await attack()
            await asyncio.sleep(0.5)  # so that the answers to the players arrive
        phase.seconds = time.perf_counter() - begin
        phases.append(phase)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    return HostileResult(phases, before, memory_of(pid, "VmHWM"), await _settle(pid, before))


@contextlib.asynccontextmanager
async def _watch(tasks: list["asyncio.Task[None]"]) -> AsyncIterator[None]:
    """Raise the error of a player that has stopped, if there is one."""
    yield
    for task in tasks:
        if task.done():
            task.result()


async def _warm_up(url: str) -> None:
    """Let the server compile and load everything that the attacks and the players use."""
    async with Connection(url) as server:
        match, _ = await server.post("matches", _PLAYER | {"moves": ["4"]})
        await server.post(f"matches/{match['id']}/reply", {})
        match, _ = await server.post("matches", _SLOW)
        await server.post(f"matches/{match['id']}/reply", {"seconds": 0.5})
    await send_heavy_boards(url, 1)


async def _settle(pid: int, before: float) -> float:
    """Wait until a process's memory is close to what it was `before`; return the memory in MB."""
    for _ in range(_RETURN_SECONDS):
        if memory_of(pid) < before + MAX_GROWTH * 0.8:
            break
        await asyncio.sleep(1)
    return memory_of(pid)


def memory_of(pid: int, field_name: str = "VmRSS") -> float:
    """Return the resident memory of a process in MB, or its peak (VmHWM); NaN if unavailable."""
    path = Path(f"/proc/{pid}/status")
    if not path.exists():
        return float("nan")
    fields = dict(line.partition(":")[::2] for line in path.read_text().splitlines())
    return int(fields[field_name].split()[0]) * 1024 / 1e6


def allow_many_files() -> None:
    """Raise this process's limit on open files, because 1,000 connections need more."""
    if sys.platform != "win32":
        import resource

        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        wanted = 4096 if hard == resource.RLIM_INFINITY else min(4096, hard)
        if soft != resource.RLIM_INFINITY and soft < wanted:
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def main() -> int:
    """Run all attacks and print the figures; return 1 if a limit is exceeded, else 0."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--scale", type=float, default=1.0, help="size of the attacks, at most 1")
    options = parser.parse_args()
    allow_many_files()
    with tempfile.TemporaryDirectory() as folder:
        db = Path(folder) / "hostile.db"
        with studio_process(db) as (url, pid):
            result = asyncio.run(run_hostile(url, pid, db, min(1.0, options.scale)))
    print(result.table())
    problems = result.problems()
    print(*problems, sep="\n", end="\n" if problems else "")
    return int(bool(problems))


if __name__ == "__main__":
    sys.exit(main())
