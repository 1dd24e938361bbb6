"""One client must not starve the others: cancelled requests, fair queues, limits on connections."""

import asyncio
import contextlib
import json
import socket
import sqlite3
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from support.paths import ROOT
from support.studio import Studio, assert_refused, serve, wait_until
from zermelo.studio import server
from zermelo.studio.app import create_app
from zermelo.studio.limits import Client, network_of
from zermelo.studio.player_pool import Busy, FairExecutor

SLOW = {"game": "connect4", "first": "alphabeta:60", "second": "human"}
OTHER = {"zermelo-client": "other"}


@pytest.fixture
def hostile(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """`scripts/hostile.py`, which imports its neighbour `load.py`."""
    monkeypatch.syspath_prepend(ROOT / "scripts")
    import hostile

    return hostile


@pytest.fixture
def new_studio(tmp_path: Path) -> Iterator[Studio]:
    """A studio without connections of earlier tests."""
    yield from serve(create_app(tmp_path / "m.db"))


def send_reply(studio: Studio, match: str, client: str = "") -> socket.socket:
    """Request a reply of a minute, and return the connection without waiting."""
    line = socket.create_connection(studio.address, 20)
    body = json.dumps({"seconds": 60.0})
    line.sendall(
        f"POST /api/v1/matches/{match}/reply HTTP/1.1\r\nhost: 127.0.0.1\r\n"
        f"content-type: application/json\r\ncontent-length: {len(body)}\r\n"
        f"zermelo-client: {client}\r\n\r\n{body}".encode()
    )
    return line


# Replies


def test_a_reply_is_cancelled_if_the_client_leaves(studio: Studio) -> None:
    match = studio.create(**SLOW)
    assert wait_until(lambda: studio.num_busy == 0)
    with send_reply(studio, match["id"]):
        assert wait_until(lambda: studio.num_busy == 1)
    assert wait_until(lambda: studio.num_busy == 0), "the player still thinks"
    assert studio.get(f"matches/{match['id']}").json()["moves"] == []
    used = time.process_time()
    time.sleep(0.3)
    assert time.process_time() - used < 0.2, "a thread still works"


def test_pending_replies_of_one_client_do_not_delay_another(studio: Studio) -> None:
    other = studio.create(game="tictactoe", second="lookahead:2", moves=["b2"])
    matches = [studio.create(**SLOW)["id"] for _ in range(66)]
    with contextlib.ExitStack() as stack:
        for match in matches[:64]:
            stack.enter_context(send_reply(studio, match))
        assert wait_until(lambda: studio.num_busy == 64)
        assert studio.app.state.players.moves._running == {Client("127.0.0.1"): 4}
        assert_refused(studio.post(f"matches/{matches[64]}/reply"), 429, "of your requests")
        path = f"/api/v1/matches/{other['id']}/reply"
        response = studio.http.post(path, json={}, headers=OTHER)
        assert response.status_code == 200
        assert response.elapsed.total_seconds() < 1
    assert wait_until(lambda: studio.num_busy == 0), "the players still think"


def test_one_reply_at_a_time_thinks_about_a_match(studio: Studio) -> None:
    match = studio.create(**SLOW)["id"]
    with contextlib.ExitStack() as stack:
        first = stack.enter_context(send_reply(studio, match, "a"))
        assert wait_until(lambda: studio.num_busy == 1)
        for client in "bcd":
            stack.enter_context(send_reply(studio, match, client))
        turns = studio.app.state.players._turns
        assert wait_until(lambda: match in turns and turns[match].num_requests == 4)
        turn = turns[match]
        assert_refused(studio.post(f"matches/{match}/reply"), 429, "thinking about this match")
        assert wait_until(lambda: studio.num_busy == 1), "the others wait"
        first.close()
        assert wait_until(lambda: turn.num_requests == 3)
        assert wait_until(lambda: studio.num_busy == 1), "the next one thinks"
    assert wait_until(lambda: studio.num_busy == 0)
    assert wait_until(lambda: not studio.app.state.players._turns)


def test_idle_players_are_discarded(studio: Studio) -> None:
    pool = studio.app.state.players
    with pool.borrow("random", "tictactoe"):
        pass
    pool.discard_idle(60)
    assert any(idle.spec == "random" for idle in pool._idle)
    pool.discard_idle(0)
    assert pool._idle == []


# The queue


@pytest.fixture
def executor() -> Iterator[FairExecutor]:
    executor = FairExecutor("test", 2, max_tasks=8, max_running_each=2, max_tasks_each=5)
    yield executor
    executor.shutdown()


def test_clients_take_turns() -> None:
    order: list[str] = []
    gate = threading.Event()
    executor = FairExecutor("test", 1, max_tasks=8, max_running_each=1, max_tasks_each=5)

    async def run() -> None:
        def task(name: str) -> Any:
            return lambda: (order.append(name), gate.wait(10))

        a, b, c = (Client("1", name) for name in "abc")
        tasks = [executor.submit(a, task(f"a{n}")) for n in range(4)]
        tasks += [executor.submit(b, task(f"b{n}")) for n in range(2)]
        tasks += [executor.submit(c, task("c0"))]
        gate.set()
        await asyncio.gather(*tasks)

    asyncio.run(run())
    assert order == ["a0", "a1", "b0", "c0", "a2", "b1", "a3"]
    assert executor.num_tasks == 0
    assert not executor._running
    executor.shutdown()


def test_a_client_without_running_tasks_comes_first(executor: FairExecutor) -> None:
    order: list[str] = []
    gates = {name: threading.Event() for name in ("a0", "a1", "a2", "b0")}

    async def run() -> None:
        def task(name: str) -> Any:
            return lambda: (order.append(name), gates[name].wait(10))

        tasks = [executor.submit(Client("1", name[0]), task(name)) for name in gates]
        gates["a0"].set()
        await tasks[0]
        for gate in gates.values():
            gate.set()
        await asyncio.gather(*tasks)

    asyncio.run(run())
    assert order == ["a0", "a1", "b0", "a2"]


def test_addresses_share_before_the_ids_of_one_address(executor: FairExecutor) -> None:
    """A client that invents a new id for every request gets no more than its address's share."""
    order: list[str] = []
    gate = threading.Event()

    async def run() -> None:
        def task(name: str) -> Any:
            return lambda: (order.append(name), gate.wait(10))

        forged = [executor.submit(Client("1", f"{n}"), task("forged")) for n in range(5)]
        own = [executor.submit(Client("2"), task("own"))]
        gate.set()
        await asyncio.gather(*forged, *own)

    asyncio.run(run())
    assert order[2] == "own", order


def test_a_client_and_all_clients_have_a_limit(executor: FairExecutor) -> None:
    gate = threading.Event()

    async def run() -> None:
        tasks = [executor.submit(Client("1"), lambda: gate.wait(10)) for _ in range(5)]
        with pytest.raises(Busy, match="of your requests"):
            executor.submit(Client("1"), gate.wait)
        tasks += [executor.submit(Client("2"), lambda: gate.wait(10)) for _ in range(3)]
        with pytest.raises(Busy, match="the server is busy"):
            executor.submit(Client("3"), gate.wait)
        gate.set()
        assert all(await asyncio.gather(*tasks))

    asyncio.run(run())


def test_a_cancelled_task_is_withdrawn_or_told_to_stop(executor: FairExecutor) -> None:
    stop = threading.Event()
    calls: list[str] = []

    async def run() -> None:
        tasks = [executor.submit(Client("1"), lambda: stop.wait(10), stop) for _ in range(2)]
        waiting = executor.submit(Client("1"), lambda: calls.append("called"))
        waiting.cancel()
        await asyncio.sleep(0.02)
        assert executor.num_tasks == 2
        assert not stop.is_set()
        for task in tasks:
            task.cancel()
        await asyncio.sleep(0.02)
        assert stop.is_set()

    asyncio.run(run())
    assert wait_until(lambda: executor.num_tasks == 0)
    assert calls == []


def test_waiting_tasks_are_refused_at_the_end(executor: FairExecutor) -> None:
    gate = threading.Event()

    async def run() -> None:
        tasks = [executor.submit(Client("1"), lambda: gate.wait(10)) for _ in range(3)]
        executor.shutdown()
        gate.set()
        results = await asyncio.gather(*tasks, return_exceptions=True)
        assert results[:2] == [True, True]
        assert isinstance(results[2], Busy)
        with pytest.raises(Busy, match="stopping"):
            executor.submit(Client("1"), gate.wait)

    asyncio.run(run())


def test_a_client_is_an_address_and_an_id() -> None:
    assert network_of(("10.1.2.3", 5)) == "10.1.2.3"
    assert network_of(None) == ""
    assert network_of(("2001:db8::1", 5)) == network_of(("2001:db8::ffff", 6)) == "2001:db8::/64"
    assert network_of(("fe80::1%eth0", 5)) == "fe80::/64"


# The event loop


def test_heavy_boards_do_not_delay_other_requests(studio: Studio, hostile: ModuleType) -> None:
    """The check of each board took a second, during which nothing else was answered."""
    body = {"game": hostile._BOARD_GAME, "board": hostile.heavy_board()}
    match = studio.create()["id"]
    with ThreadPoolExecutor(8) as pool:
        boards = [pool.submit(studio.post, "position", **body) for _ in range(8)]
        slowest = 0.0
        while not all(board.done() for board in boards):
            begin = time.perf_counter()
            assert studio.get(f"matches/{match}").status_code == 200
            slowest = max(slowest, time.perf_counter() - begin)
        assert all(board.result().status_code == 200 for board in boards)
    assert slowest < 0.5
    begin = time.perf_counter()
    studio.post("position", **body)
    assert time.perf_counter() - begin < 0.8, "the check gives up sooner"


def test_a_locked_store_delays_no_other_request(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    for served in serve(create_app(path)):
        match = served.create()["id"]
        with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            with ThreadPoolExecutor(12) as pool:
                begin = time.perf_counter()
                moves = [
                    pool.submit(served.post, f"matches/{match}/moves", move="b2") for _ in range(10)
                ]
                time.sleep(0.05)
                assert served.post("position", game="tictactoe").status_code == 200
                assert time.perf_counter() - begin < 0.5
                for move in moves:
                    assert_refused(move.result(), 503, "locked by another process: try again")
                    assert move.result().headers["retry-after"] == "1"
                    assert move.result().elapsed.total_seconds() < 1
            other.execute("ROLLBACK")
        assert served.post(f"matches/{match}/moves", move="b2").status_code == 200


# Connections


def ask(studio: Studio) -> int:
    """Return the status of a request on a new connection."""
    head = "GET /api/v1/matches?limit=1 HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\n\r\n"
    return int(studio.raw(head).split()[1])


def is_closed(line: socket.socket) -> bool:
    """Return whether the server has closed a connection on which it sent nothing more."""
    line.settimeout(0)
    try:
        return line.recv(1) == b""
    except BlockingIOError:
        return False
    except OSError:
        return True


@pytest.mark.parametrize("end", [b"", b"\r\n\r\n"])
def test_a_head_that_is_too_large_is_refused(studio: Studio, end: bytes) -> None:
    with socket.create_connection(studio.address, 10) as line:
        line.sendall(b"GET / HTTP/1.1\r\nhost: 127.0.0.1\r\nx-large: " + b"a" * 16_384)
        time.sleep(0.1)
        with contextlib.suppress(OSError):
            line.sendall(b"a" * 20_000 + end)
        answer = line.recv(65536)
        assert answer.startswith(b"HTTP/1.1 431 "), answer
        assert b"exceed 16,384 bytes" in answer
        assert wait_until(lambda: is_closed(line))
    fits = f"GET / HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\nx: {'a' * 15_000}\r\n\r\n"
    assert b" 200 " in studio.raw(fits)[:20]


def test_headers_without_end_are_refused(studio: Studio) -> None:
    with socket.create_connection(studio.address, 10) as line, contextlib.suppress(OSError):
        line.sendall(b"GET / HTTP/1.1\r\n")
        for number in range(3000):
            line.sendall(b"x-header: " + b"a" * 4000 + b"\r\n")
            assert number < 2500, "10 MB of headers were taken in"


@pytest.mark.parametrize(
    "start",
    [
        b"",
        b"\r\n",
        b"GET / HT",
        b"GET / HTTP/1.1\r\nhost: 127.0.0.1\r\n",
        (
            b"POST /api/v1/position HTTP/1.1\r\nhost: 127.0.0.1\r\n"
            b"content-type: application/json\r\ncontent-length: 99\r\n\r\n{"
        ),
        b"GET /api/v1/games HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\nGET / HT",
    ],
)
def test_a_request_must_arrive_in_time(
    studio: Studio, start: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "RECEIVE_SECONDS", 0.4)
    with socket.create_connection(studio.address, 10) as line:
        line.sendall(start)
        begin = time.monotonic()
        with contextlib.suppress(ConnectionResetError):
            while line.recv(65536):
                pass
        assert time.monotonic() - begin < 3
    assert ask(studio) == 200


def test_a_thinking_player_has_more_time_than_a_request(
    studio: Studio, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "RECEIVE_SECONDS", 0.3)
    match = studio.create(**SLOW | {"first": "alphabeta:0.8"})
    response = studio.post(f"matches/{match['id']}/reply")
    assert len(response.json()["moves"]) == 1


def test_new_connections_replace_unused_ones(
    new_studio: Studio, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "MAX_CONNECTIONS_EACH", 20)
    match = new_studio.create(**SLOW)["id"]
    with contextlib.ExitStack() as stack:
        thinking = stack.enter_context(send_reply(new_studio, match))
        assert wait_until(lambda: new_studio.num_busy == 1)
        lines = []
        for _ in range(60):
            lines.append(stack.enter_context(socket.create_connection(new_studio.address, 10)))
            lines[-1].sendall(b"GET / HTTP/1.1\r\nhost:")
        assert ask(new_studio) == 200
        # The 20 are a thinking one, that of the client, a new one, and the newest of the rest.
        assert wait_until(lambda: all(map(is_closed, lines[:43])))
        assert not any(map(is_closed, lines[43:]))
        assert not is_closed(thinking)
        assert new_studio.get("matches").status_code == 200
    assert wait_until(lambda: new_studio.num_busy == 0)


def test_connections_in_use_are_kept_and_further_ones_refused(
    new_studio: Studio, monkeypatch: pytest.MonkeyPatch
) -> None:
    matches = [new_studio.create(**SLOW)["id"] for _ in range(5)]
    new_studio.http.close()  # its connection is idle and would make room
    with contextlib.ExitStack() as stack:
        lines = [stack.enter_context(send_reply(new_studio, match)) for match in matches]
        assert wait_until(lambda: new_studio.num_busy == 5)
        monkeypatch.setattr(server, "MAX_CONNECTIONS_EACH", 5)
        with socket.create_connection(new_studio.address, 10) as line:
            assert line.recv(65536).startswith(b"HTTP/1.1 503 ")
        assert not any(map(is_closed, lines))
    assert wait_until(lambda: new_studio.num_busy == 0)


def test_requests_queue_only_in_small_numbers_on_a_connection(studio: Studio) -> None:
    match = studio.create(**SLOW)["id"]
    with send_reply(studio, match) as line:
        assert wait_until(lambda: studio.num_busy == 1)
        line.sendall(b"GET / HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n" * 50)
        assert wait_until(lambda: is_closed(line))
    assert wait_until(lambda: studio.num_busy == 0)


# Everything at once


def test_a_hostile_client_delays_nobody(tmp_path: Path, hostile: ModuleType) -> None:
    """A small run of `scripts/hostile.py`, whose results are in docs/studio.md."""
    db = tmp_path / "m.db"
    with hostile.studio_process(db) as (url, pid):
        result = asyncio.run(hostile.run_hostile(url, pid, db, 0.1))
    assert result.problems() == [], result.table()
    assert all(phase.num_moves for phase in result.phases), result.table()
