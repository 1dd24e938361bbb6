"""Analyses, reviews and puzzles, over a real loopback connection."""

import contextlib
import json
import re
import socket
import time
from typing import Any

import pytest

import zermelo as z
from support.studio import Studio, assert_refused, read_events, wait_until
from zermelo.search.solver.solution import solve


def check_exactness(record: dict[str, Any]) -> None:
    for part in (record, *record["candidates"]):
        assert part["exact"] == (part["value"] is not None)
        assert part["exact"] == (part["estimate"] is None)
        assert part["words"]
    assert record["candidates"][0]["best"]


def test_an_analysis_deepens_and_ends(studio: Studio) -> None:
    text = studio.get("analysis", game="tictactoe", moves="b2 b1", seconds=5).text
    events = read_events(text)
    assert [name for name, _ in events] == ["analysis"] * (len(events) - 1) + ["done"]
    for _, record in events[:-1]:
        check_exactness(record)
        assert len(record["candidates"]) == 7
    last = events[-2][1]
    cells = [z.game("tictactoe").start().parse(move) for move in last["pv"]]
    assert last["pv_cells"] == last["candidates"][0]["pv_cells"] == cells
    truth = solve(z.game("tictactoe").position(moves="b2 b1"))
    assert (last["exact"], last["value"], last["plies"]) == (True, "win", truth.plies)
    assert sorted(last["best"]) == sorted(truth.best)


def test_the_first_candidates_come_soon_and_are_called_estimates(studio: Studio) -> None:
    studio.get("analysis", game="connect4:7x7", seconds=0.1)  # so that compilation is not measured
    begin = time.perf_counter()
    with studio.http.stream(
        "GET", "/api/v1/analysis", params={"game": "connect4:7x7", "seconds": 2}
    ) as response:
        assert response.headers["content-type"].startswith("text/event-stream")
        assert response.headers["cache-control"] == "no-store"
        lines = response.iter_lines()
        next(lines)
        first = json.loads(next(lines).removeprefix("data: "))
        elapsed = time.perf_counter() - begin
        rest = "\n".join(lines)
    assert elapsed < 1.5  # 0.3 on an idle machine
    check_exactness(first)
    assert not first["exact"]
    assert len(first["candidates"]) == 7
    records = [json.loads(line[6:]) for line in rest.splitlines() if '"candidates"' in line]
    depths = [record["depth"] for record in records]
    assert depths == sorted(depths)
    assert depths[-1] > first["depth"]
    for record in records:
        check_exactness(record)
        assert not record["exact"], "2 s are not enough to solve it"


def test_an_analysis_by_a_player(studio: Studio) -> None:
    for player in ("random", "minimax:3", "perfect", "lookahead:2"):
        params = {"game": "tictactoe", "moves": "b2,a1", "player": player, "seconds": 2}
        events = read_events(studio.get("analysis", **params).text)
        assert events[-1] == ("done", {})
        assert events[-2][1]["candidates"]


PARTS = {"network", "heuristic", "blend"}


def test_a_hybrid_reports_the_parts_of_its_estimates(studio: Studio) -> None:
    """Every move has parts, except those that end the game; the analyst's have none."""
    moves = "d3 e5 a1 d4 d2"  # c2 would make three: X has lost, and there is nothing to estimate
    params = {"game": "squava", "moves": moves, "seconds": 5}
    events = read_events(studio.get("analysis", **params, player="hybrid:squava-hybrid").text)
    assert events[-1] == ("done", {})
    position = z.game("squava").position(moves=moves)
    ends = {move for move in position.legal if position.play(move).is_over}
    assert ends
    for _, record in events[:-1]:
        assert {c["move"] for c in record["candidates"]} == set(position.legal)
        for candidate in record["candidates"]:
            parts = candidate.get("parts")
            assert (parts is None) == (candidate["move"] in ends)
            if parts is not None:
                assert set(parts) == PARTS
                assert all(-1 < value < 1 for value in parts.values())
    params["seconds"] = 1
    for _, record in read_events(studio.get("analysis", **params).text)[:-1]:
        assert not any("parts" in candidate for candidate in record["candidates"])


def test_a_match_against_a_hybrid(studio: Studio) -> None:
    """It is listed once, for its game, and plays the first candidate of its analysis."""
    models = {p["name"]: p["models"] for p in studio.get("players").json() if p["models"]}
    assert [m["spec"] for m in models["hybrid"]] == ["hybrid:squava-hybrid"]
    assert all(m["spec"].startswith("dqn:") for m in models["dqn"])
    spec = models["hybrid"][0]["spec"]
    match = studio.create(game="squava", second=spec, moves=["b2"])
    params = {"game": "squava", "moves": "b2", "player": spec, "seconds": 5}
    best = read_events(studio.get("analysis", **params).text)[-2][1]["candidates"][0]["move"]
    response = studio.post(f"matches/{match['id']}/reply")
    assert response.json()["moves"] == ["b2", best]
    think = re.search(r"think;dur=([\d.]+)", response.headers["server-timing"])
    assert think is not None
    assert float(think[1]) < 1000  # 10 on an idle machine
    assert_refused(studio.post("matches", game="connect4", second=spec), 422, "trained for squava")


@pytest.mark.parametrize(
    ("params", "word"),
    [
        ({"game": "nim"}, "unknown game"),
        ({"game": "tictactoe", "player": "human"}, "cannot analyse"),
        ({"game": "tictactoe", "player": "nobody"}, "unknown player"),
        ({"game": "gomoku", "player": "perfect"}, "perfect cannot play gomoku"),
        ({"game": "gomoku", "player": "hybrid:squava-hybrid"}, "trained for squava"),
        ({"game": "gomoku", "player": "minimax:2,heuristic=published"}, "works only for squava"),
        ({"game": "tictactoe", "moves": "b2 b2"}, "taken"),
        ({"game": "tictactoe", "moves": "a1 a2 b1 b2 c1"}, "X wins"),
        ({"game": "tictactoe", "seconds": 0}, "seconds"),
        ({"game": "tictactoe", "seconds": 61}, "seconds"),
        ({"game": "tictactoe", "seconds": "nan"}, "seconds"),
        ({"game": "tictactoe", "seconds": "inf"}, "seconds"),
        ({"game": "tictactoe", "seconds": "1" * 5000}, "seconds"),
        ({}, "game"),
    ],
)
def test_a_bad_analysis_request_is_assert_refused(
    studio: Studio, params: dict[str, Any], word: str
) -> None:
    assert_refused(studio.get("analysis", **params), 422, word)


def test_a_late_error_is_an_event(studio: Studio) -> None:
    response = studio.get("analysis", game="gomoku6", player="perfect", seconds=1.2)
    assert response.status_code == 200
    ((name, problem),) = read_events(response.text)
    assert name == "problem"
    assert "did not solve" in problem["detail"]


@pytest.mark.parametrize(
    ("params", "first"),
    [
        ({"game": "mnk:7x7x5"}, True),
        ({"game": "gomoku"}, True),
        (
            {"game": "gomoku6", "player": "perfect"},
            False,
        ),  # yields nothing until solved
        ({"game": "connect4", "path": "review", "moves": "4,4,4,4"}, True),
    ],
)
def test_the_search_stops_if_the_client_leaves(
    studio: Studio, params: dict[str, str], first: bool
) -> None:
    assert wait_until(lambda: studio.num_busy == 0)
    params = {"seconds": "60"} | params
    path = params.pop("path", "analysis")
    with studio.http.stream("GET", f"/api/v1/{path}", params=params) as response:
        lines = response.iter_lines()
        if first:
            next(lines)
        assert studio.num_busy == 1
    assert wait_until(lambda: studio.num_busy == 0), "the search still runs"
    used = time.process_time()
    time.sleep(0.3)
    assert time.process_time() - used < 0.2, "a thread still works"


def test_the_search_stops_if_the_client_leaves_before_the_response(studio: Studio) -> None:
    assert wait_until(lambda: studio.num_busy == 0)
    with socket.create_connection(studio.address) as line:
        line.sendall(
            b"GET /api/v1/analysis?game=gomoku6&player=perfect&seconds=60 HTTP/1.1\r\n"
            b"host: 127.0.0.1\r\n\r\n"
        )
        assert wait_until(lambda: studio.num_busy == 1)
    assert wait_until(lambda: studio.num_busy == 0), "the search still runs"


def test_the_number_of_streams_is_bounded_and_moves_do_not_wait_for_them(studio: Studio) -> None:
    """One client may have 8 streams, 4 of which run at once; all together may have 64."""
    match = studio.create(game="tictactoe", second="lookahead:2", moves=["b2"])
    params = {"game": "gomoku6", "player": "perfect", "seconds": "60"}
    query = "&".join(f"{k}={v}" for k, v in params.items())
    with contextlib.ExitStack() as stack:

        def open_streams(client: str) -> None:
            for _ in range(8):
                line = stack.enter_context(socket.create_connection(studio.address))
                line.sendall(
                    f"GET /api/v1/analysis?{query} HTTP/1.1\r\nhost: 127.0.0.1\r\n"
                    f"zermelo-client: {client}\r\n\r\n".encode()
                )

        open_streams("")
        assert wait_until(lambda: studio.num_busy == 8)
        assert_refused(studio.get("analysis", **params), 429, "of your requests")
        assert_refused(studio.get("puzzle", game="connect4"), 429, "try again")
        other = studio.http.get(
            "/api/v1/puzzle", params={"game": "tictactoe"}, headers={"zermelo-client": "other"}
        )
        assert other.status_code == 200, "one client must not keep others from a puzzle"
        for number in range(7):
            open_streams(f"{number}")
        assert wait_until(lambda: studio.num_busy == 64)
        headers = {"zermelo-client": "other"}
        busy = studio.http.get("/api/v1/analysis", params=params, headers=headers)
        assert_refused(busy, 429, "the server is busy")
        response = studio.post(f"matches/{match['id']}/reply")
        assert response.status_code == 200
        assert response.elapsed.total_seconds() < 5  # ms on an idle machine
    assert wait_until(lambda: studio.num_busy == 0), "the search still runs"


def test_a_review_finds_planted_mistakes_and_the_better_moves(studio: Studio) -> None:
    # O answers the centre with an edge, which loses; X misses the win; the other moves are sound.
    text = studio.get("review", game="tictactoe", moves="b2 b1 b3 a1 c3", seconds=5).text
    events = read_events(text)
    assert [name for name, _ in events] == ["ply"] * 6 + ["done"]
    plies = [record for _, record in events[:-1]]
    assert [p["ply"] for p in plies] == list(range(6))
    assert [p["move"] for p in plies] == [None, "b2", "b1", "b3", "a1", "c3"]
    assert [p["player"] for p in plies] == [None, 0, 1, 0, 1, 0]
    assert all(p["exact"] for p in plies)
    assert [p["estimate"] for p in plies][:4] == [0, 0, 1, 0]
    assert [p["mistake"] for p in plies][:4] == [None, None, "mistake", "mistake"]
    for ply in (2, 3):
        position = z.game("tictactoe").position(moves=["b2", "b1", "b3"][: ply - 1])
        truth = solve(position)
        assert plies[ply]["better"]["move"] in truth.best
        assert plies[ply]["better"]["cell"] == position.parse(plies[ply]["better"]["move"])
        assert plies[ply]["better"]["words"].split()[0] in ("draw", "win", "a", "drawn", "wins")
    assert plies[1]["better"] is None


def test_reviews_of_a_finished_game_and_of_an_empty_one(studio: Studio) -> None:
    events = read_events(
        studio.get("review", game="tictactoe", moves="a1 a2 b1 b2 c1", seconds=2).text
    )
    assert len(events) == 7
    assert events[5][1]["estimate"] == 1
    events = read_events(studio.get("review", game="tictactoe", seconds=2).text)
    assert [name for name, _ in events] == ["ply", "done"]
    assert_refused(studio.get("review", game="tictactoe", moves="a1 a1"), 422, "taken")


# Puzzles


@pytest.mark.parametrize("plies", [3, 5, 7])
@pytest.mark.parametrize("game", ["connect4", "squava", "mnk:4x4x3"])
def test_a_puzzle_has_one_winning_move(studio: Studio, game: str, plies: int) -> None:
    response = studio.get("puzzle", game=game, plies=plies, seed=7)
    if response.status_code == 404:
        assert game == "mnk:4x4x3"
        return
    puzzle = response.json()
    assert studio.get("puzzle", game=game, plies=plies, seed=7).json() == puzzle
    solution = solve(z.game(game).position(moves=puzzle["moves"]))
    assert (solution.value, solution.plies, len(solution.best)) == ("win", plies, 1)
    assert puzzle["to_move"] == puzzle["position"]["to_move"]


def test_impossible_puzzles_are_assert_refused(studio: Studio) -> None:
    assert_refused(studio.get("puzzle", game="reversi"), 404)
    assert_refused(studio.get("puzzle", game="gomoku"), 404)
    assert_refused(studio.get("puzzle", game="tictactoe", plies=4), 422, "even")
    assert_refused(studio.get("puzzle", game="tictactoe", plies=11), 422, "plies")
    begin = time.perf_counter()
    assert_refused(studio.get("puzzle", game="tictactoe", plies=9), 404)
    assert time.perf_counter() - begin < 2, "the board is too small for a search"
