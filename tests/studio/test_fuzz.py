"""A fuzzer that reads the OpenAPI document of the studio's API."""

import contextlib
import json
import random
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from schemathesis import GenerationMode

from zermelo.core.errors import ZermeloError
from zermelo.games import registry
from zermelo.studio.app import create_app

HOST = "127.0.0.1"
TIMEOUT = 60.0  # seconds; searches take 0.05, but kernels may have to be compiled first
GAMES = [
    "tictactoe",
    "connect4",
    "gomoku6",
    "squava:pie=true",
    "mnk:4x5x4",
    "gomoku",
    "gomoku:renju=true",
    "reversi:6",
    "line:rows=20,cols=20,win=5,gravity=true",
    "connect4:rows=1000000,cols=7",
    "mnk:0x0x0",
    "examples/domineering.py",
]
PLAYERS = [
    "human",
    "random",
    "greedy:seed=3",
    "lookahead:2",
    "lookahead:999999999999",
    "minimax:99",
    "minimax:2,heuristic=published",
    "alphabeta:1000000",
    "level:1",
    "level:11",
    "perfect",
]
MOVES = ["1", "4", "7", "a1", "b2", "c3", "d3", "h8", "swap", "pass", "A1", "8", "z99", "-1", ""]
FORMATS = ["text", "json", "psq", "sgf", "digits", "transcript"]
RECORDS = [  # format, text, game
    ("text", "tictactoe b2 a1 *", None),
    ("json", '{"game": "squava", "moves": ["c3"], "result": null}', None),
    ("sgf", "(;FF[4]GM[4]SZ[15]RE[?];B[hh];W[ig])", None),
    ("digits", "4455", "connect4"),
    ("transcript", "d3c3", "reversi"),
    ("psq", "", "gomoku"),
    ("sgf", "", "connect4"),
]


@pytest.fixture
def app(tmp_path: Path) -> Iterator[Any]:
    """An application for each test, since the fuzzer shuts it down at the end."""
    app = create_app(tmp_path / "fuzz.db", max_seconds=0.05)
    yield app
    app.state.players.close()


@pytest.fixture
def schema(app: Any) -> Any:
    return schemathesis.openapi.from_asgi("/api/openapi.json", app, headers={"Host": HOST})


def insert_specs(rng: random.Random, part: Any, keys: list[str]) -> None:
    """Put valid specs, moves and records in the place of texts that would be refused at once."""
    if not isinstance(part, dict):
        return
    for name, words in (
        ("game", GAMES),
        ("first", PLAYERS),
        ("second", PLAYERS),
        ("player", PLAYERS),
        ("move", MOVES),
        ("format", FORMATS),
        ("key", keys),
    ):
        if isinstance(part.get(name), str) and rng.random() < 0.8:
            part[name] = rng.choice(words)
    moves = part.get("moves")
    if isinstance(moves, list | str) and rng.random() < 0.9:
        sample = random_moves(rng, part.get("game"))
        part["moves"] = sample if isinstance(moves, list) else " ".join(sample)
    if isinstance(part.get("text"), str) and rng.random() < 0.5:
        part["format"], part["text"], part["game"] = rng.choice(RECORDS)
    if isinstance(part.get("board"), list) and rng.random() < 0.8:
        size = rng.choice([3, 3, 4, 7, 8, 20])
        part["board_size"] = size
        part["board"] = [0] * size**2
        for count in range(rng.randrange(6)):
            part["board"][rng.randrange(size**2)] = 1 if count % 2 == 0 else -1


def random_moves(rng: random.Random, game: Any) -> list[str]:
    """Return legal moves if the game exists, sometimes followed by another move."""
    moves: list[str] = []
    with contextlib.suppress(ZermeloError):
        position = registry.named_game(game).start() if isinstance(game, str) else None
        while position and not position.is_over and rng.random() < 0.8:
            moves.append(rng.choice(position.legal))
            position = position.play(moves[-1])
    return moves if rng.random() < 0.8 else [*moves, rng.choice(MOVES)]


def fuzz(operation: Any, examples: int, keys: list[str]) -> int:
    """Send up to `examples` requests to one operation and return how many were sent."""
    modes = [GenerationMode.POSITIVE] * 2
    if operation.body or operation.query or operation.path_parameters:
        modes.append(GenerationMode.NEGATIVE)
    strategy = st.one_of([operation.as_strategy(generation_mode=mode) for mode in modes])
    number = 0

    @settings(
        max_examples=examples, database=None, deadline=None, suppress_health_check=list(HealthCheck)
    )
    @given(case=strategy, seed=st.integers(0, 2**32))
    def send(case: Any, seed: int) -> None:
        nonlocal number
        rng = random.Random(seed)
        for part in (case.body, case.query, case.path_parameters):
            insert_specs(rng, part, keys)
        begin = time.perf_counter()
        response = case.call(base_url=f"http://{HOST}", timeout=TIMEOUT)
        number += 1
        assert response.status_code < 500, (case.as_curl_command(), response.text)
        assert time.perf_counter() - begin < TIMEOUT
        documented = operation.definition.raw["responses"]
        # The framework answers itself if a path or a method does not exist.
        assert str(response.status_code) in documented or response.status_code in (404, 405, 307)
        content_type = response.headers["content-type"][0]
        if response.status_code >= 400:
            assert isinstance(json.loads(response.content)["detail"], str)
        elif operation.path in ("/api/v1/analysis", "/api/v1/review"):
            assert content_type.startswith("text/event-stream")
        else:
            assert content_type == "application/json"
            body = json.loads(response.content)
            if operation.path == "/api/v1/matches" and response.status_code == 201:
                keys.append(body["id"])
                del keys[:-20]

    send()
    return number


def fuzz_all(schema: Any, examples: int) -> int:
    keys = ["nothing"]
    num_requests = 0
    operations = [result.ok() for result in schema.get_all_operations()]
    # Matches come first, so that other requests have some to play in.
    operations.sort(key=lambda o: (o.method, o.path) != ("post", "/api/v1/matches"))
    assert len(operations) == 18
    for operation in operations:
        is_constant = not (operation.body or operation.query or operation.path_parameters)
        num_requests += fuzz(operation, 3 if is_constant else examples, keys)
    return num_requests


def test_no_request_breaks_the_server(schema: Any, app: Any) -> None:
    assert fuzz_all(schema, 60) >= 800
    assert app.state.players.num_busy == 0


@pytest.mark.proof
def test_no_request_of_10000_breaks_the_server(schema: Any, app: Any) -> None:
    assert fuzz_all(schema, 720) >= 10_000
    assert app.state.players.num_busy == 0
