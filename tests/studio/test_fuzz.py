"""The studio's API at the mercy of a fuzzer that reads its OpenAPI document."""

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
HANG = 60.0  # seconds; what thinks is told to take 0.05, but kernels may have to be compiled first
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
    """One for each test: the fuzzer shuts an application down when its test is over."""
    made = create_app(tmp_path / "fuzz.db", max_seconds=0.05)
    yield made
    made.state.players.close()


@pytest.fixture
def schema(app: Any) -> Any:
    return schemathesis.openapi.from_asgi("/api/openapi.json", app, headers={"Host": HOST})


def spice(rng: random.Random, part: Any, keys: list[str]) -> None:
    """Words that mean something, in places where the fuzzer's would never get past the door."""
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
        drawn = some_moves(rng, part.get("game"))
        part["moves"] = drawn if isinstance(moves, list) else " ".join(drawn)
    if isinstance(part.get("text"), str) and rng.random() < 0.5:
        part["format"], part["text"], part["game"] = rng.choice(RECORDS)
    if isinstance(part.get("board"), list) and rng.random() < 0.8:
        size = rng.choice([3, 3, 4, 7, 8, 20])
        part["board_size"] = size
        part["board"] = [0] * size**2
        for count in range(rng.randrange(6)):
            part["board"][rng.randrange(size**2)] = 1 if count % 2 == 0 else -1


def some_moves(rng: random.Random, game: Any) -> list[str]:
    """Legal ones, if the game is one, and now and then one more."""
    moves: list[str] = []
    with contextlib.suppress(ZermeloError):
        position = registry.named_game(game).start() if isinstance(game, str) else None
        while position and not position.is_over and rng.random() < 0.8:
            moves.append(rng.choice(position.legal))
            position = position.play(moves[-1])
    return moves if rng.random() < 0.8 else [*moves, rng.choice(MOVES)]


def fuzz(operation: Any, examples: int, keys: list[str]) -> int:
    """So many requests to one operation; answers how many there were."""
    modes = [GenerationMode.POSITIVE] * 2
    if operation.body or operation.query or operation.path_parameters:
        modes.append(GenerationMode.NEGATIVE)
    strategy = st.one_of([operation.as_strategy(generation_mode=mode) for mode in modes])
    number = 0

    @settings(
        max_examples=examples, database=None, deadline=None, suppress_health_check=list(HealthCheck)
    )
    @given(case=strategy, luck=st.integers(0, 2**32))
    def ask(case: Any, luck: int) -> None:
        nonlocal number
        rng = random.Random(luck)
        for part in (case.body, case.query, case.path_parameters):
            spice(rng, part, keys)
        begin = time.perf_counter()
        answer = case.call(base_url=f"http://{HOST}", timeout=HANG)
        number += 1
        assert answer.status_code < 500, (case.as_curl_command(), answer.text)
        assert time.perf_counter() - begin < HANG
        documented = operation.definition.raw["responses"]
        # The framework's own: a path that is none, a method that is not there.
        assert str(answer.status_code) in documented or answer.status_code in (404, 405, 307)
        kind = answer.headers["content-type"][0]
        if answer.status_code >= 400:
            assert isinstance(json.loads(answer.content)["detail"], str)
        elif operation.path in ("/api/v1/analysis", "/api/v1/review"):
            assert kind.startswith("text/event-stream")
        else:
            assert kind == "application/json"
            found = json.loads(answer.content)
            if operation.path == "/api/v1/matches" and answer.status_code == 201:
                keys.append(found["id"])
                del keys[:-20]

    ask()
    return number


def fuzz_all(schema: Any, examples: int) -> int:
    keys = ["nothing"]
    asked = 0
    operations = [found.ok() for found in schema.get_all_operations()]
    # Matches first, so that there are some to play in.
    operations.sort(key=lambda o: (o.method, o.path) != ("post", "/api/v1/matches"))
    assert len(operations) == 17
    for operation in operations:
        still = not (operation.body or operation.query or operation.path_parameters)
        asked += fuzz(operation, 3 if still else examples, keys)
    return asked


def test_no_request_breaks_the_server(schema: Any, app: Any) -> None:
    assert fuzz_all(schema, 60) >= 800
    assert app.state.players.num_busy == 0


@pytest.mark.proof
def test_no_request_of_10000_breaks_the_server(schema: Any, app: Any) -> None:
    assert fuzz_all(schema, 720) >= 10_000
    assert app.state.players.num_busy == 0
