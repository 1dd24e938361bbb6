"""The studio's server, over a real loopback connection, and its store."""

import asyncio
import contextlib
import gc
import importlib.util
import json
import re
import signal
import socket
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest

import zermelo as z
from support.paths import ROOT
from support.studio import Studio, refused, serve
from zermelo import store as stores
from zermelo.games import files, registry
from zermelo.search.solver.solution import solve
from zermelo.store.database import BadStore
from zermelo.store.matches import MatchChanged, MatchRow, MatchStore
from zermelo.studio.app import create_app

JSON = {"content-type": "application/json"}


@pytest.fixture(scope="module")
def studio(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Studio]:
    yield from serve(create_app(tmp_path_factory.mktemp("studio") / "studio.db"))


def wait(until: Callable[[], bool], seconds: float = 10.0) -> bool:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if until():
            return True
        time.sleep(0.02)
    return until()


def events(text: str) -> list[tuple[str, dict[str, Any]]]:
    found = re.findall(r"event: (\w+)\ndata: (.*)\n\n", text)
    return [(name, json.loads(data)) for name, data in found]


# What there is


def test_games_and_players(studio: Studio) -> None:
    games = studio.get("games").json()
    assert [g["name"] for g in games][:2] == ["tictactoe", "connect4"]
    for game in games:
        assert set(game) == {"name", "summary", "example", "parameters"}
        assert studio.post("position", game=game["example"]).status_code == 200
    players = studio.get("players").json()
    assert players[0]["name"] == "human"
    assert {"name", "kind", "default", "note", "choices"} == set(players[1]["parameters"][0])


def test_the_document_names_every_route_and_its_refusals(studio: Studio) -> None:
    document = studio.http.get("/api/openapi.json").json()
    page = (ROOT / "docs" / "studio.md").read_text()
    told = {(m, p.partition("?")[0]) for m, p in re.findall(r"`(GET|POST) (/api\S+?)`", page)}
    ours = {
        (method.upper(), path.replace("{key}", "{id}"))
        for path, methods in document["paths"].items()
        for method in methods
    }
    assert ours == told
    for path in document["paths"].values():
        for operation in path.values():
            assert {"403", "404", "409", "413", "415", "422", "429"} <= set(operation["responses"])
    stream = document["paths"]["/api/v1/analysis"]["get"]["responses"]["200"]
    assert set(stream["content"]) == {"text/event-stream"}
    assert "`parts`" in document["paths"]["/api/v1/analysis"]["get"]["description"]
    page = studio.http.get("/api/docs").text
    assert "/page/docs.js" in page
    assert "http:" not in page  # nothing is loaded from elsewhere
    assert "https:" not in page


# Matches


def test_a_match_from_the_first_move_to_the_last(studio: Studio) -> None:
    match = studio.begin()
    key = match["id"]
    assert (match["ply"], match["to_move"], match["over"]) == (0, 0, False)
    assert match["human_to_move"]
    assert match["cells"][4] == {"name": "b2", "move": "b2"}
    for ply, move in enumerate(["b2", "a1", "c1", "b1"]):
        match = studio.post(f"matches/{key}/moves", move=move, ply=ply).json()
        assert match["moves"][-1] == move
    match = studio.post(f"matches/{key}/moves", move="a3").json()
    assert (match["over"], match["outcome"], match["verdict"]) == (True, "first", "X wins")
    assert match["winning_line"] == [2, 4, 6]
    assert match["legal"] == []
    assert not match["human_to_move"]
    assert studio.get(f"matches/{key}").json() == match
    refused(studio.post(f"matches/{key}/moves", move="c3"), 422, "the game is over")
    refused(studio.post(f"matches/{key}/reply"), 409, "the game is over")
    refused(studio.post(f"matches/{key}/resign"), 409, "the game is over")
    latest = studio.get("matches", limit=1).json()
    assert [m["id"] for m in latest] == [key]
    assert latest[0] | {"plies": 5, "over": True, "verdict": "X wins"} == latest[0]


def test_a_computer_answers(studio: Studio) -> None:
    match = studio.begin(game="connect4", second="lookahead:2", moves=["4"])
    assert not match["human_to_move"]
    answer = studio.post(f"matches/{match['id']}/reply")
    assert len(answer.json()["moves"]) == 2
    think, cpu = re.fullmatch(
        r"think;dur=([0-9.]+), cpu;dur=([0-9.]+)", answer.headers["server-timing"]
    ).groups()  # type: ignore[union-attr]
    assert 0 < float(cpu) <= float(think) + 5
    refused(studio.post(f"matches/{match['id']}/reply"), 409, "human's turn")


def test_two_computers_play_a_whole_game(studio: Studio) -> None:
    match = studio.begin(first=" perfect ", second="perfect:seed=1")
    assert match["first"] == "perfect"
    while not match["over"]:
        match = studio.post(f"matches/{match['id']}/reply", seconds=5.0).json()
    assert match["outcome"] == "draw"


def test_a_player_takes_its_own_time_unless_told(studio: Studio) -> None:
    match = studio.begin(game="gomoku", first="alphabeta:0.1", second="level:3")
    begin = time.perf_counter()
    studio.post(f"matches/{match['id']}/reply")
    assert time.perf_counter() - begin < 4, "5 s are for players without a time of their own"
    begin = time.perf_counter()
    answer = studio.post(f"matches/{match['id']}/reply", seconds=0.2)
    assert len(answer.json()["moves"]) == 2
    assert time.perf_counter() - begin < 4


def test_a_move_that_no_longer_fits(studio: Studio) -> None:
    key = studio.begin()["id"]
    studio.post(f"matches/{key}/moves", move="b2", ply=0)
    refused(studio.post(f"matches/{key}/moves", move="b2", ply=0), 409, "at ply 1, not at 0")
    refused(studio.post(f"matches/{key}/moves", move="b2", ply=1), 422, "the cell is taken")
    assert studio.get(f"matches/{key}").json()["moves"] == ["b2"]


def test_of_two_replies_at_once_one_counts(studio: Studio) -> None:
    match = studio.begin(game="connect4", first="alphabeta:0.5", second="human")
    with ThreadPoolExecutor(2) as pool:
        both = list(pool.map(lambda _: studio.post(f"matches/{match['id']}/reply"), range(2)))
    assert sorted(answer.status_code for answer in both) == [200, 409]
    assert len(studio.get(f"matches/{match['id']}").json()["moves"]) == 1


def test_undo_and_resign(studio: Studio) -> None:
    key = studio.begin(moves=["b2", "a1", "c1"])["id"]
    assert studio.post(f"matches/{key}/undo").json()["moves"] == ["b2", "a1"]
    assert studio.post(f"matches/{key}/undo", plies=2).json()["moves"] == []
    assert studio.post(f"matches/{key}/undo").json()["moves"] == []
    match = studio.post(f"matches/{key}/resign").json()
    assert (match["resigned"], match["outcome"], match["over"]) == (0, "second", True)
    assert match["verdict"] == "O wins: X resigned"
    assert not match["human_to_move"]
    refused(studio.post(f"matches/{key}/resign"), 409)
    refused(studio.post(f"matches/{key}/moves", move="b2"), 422, "resigned")
    assert studio.post(f"matches/{key}/undo").json()["resigned"] is None


@pytest.mark.parametrize("what", ["moves", "reply", "undo", "resign", ""])
@pytest.mark.parametrize("key", ["nothing", "%00", "%ff", "a" * 3000, "' OR 1=1 --"])
def test_a_match_that_is_not_there(studio: Studio, what: str, key: str) -> None:
    where = f"/api/v1/matches/{key}" + (f"/{what}" if what else "")
    body = {"move": "a1"} if what == "moves" else {}
    answer = studio.http.post(where, json=body) if what else studio.http.get(where)
    refused(answer, 404, "there is no such match")


def test_rules_of_a_preset_under_another_name_are_the_preset(studio: Studio) -> None:
    """Else each name would be compiled anew, for seconds in which nobody else can think."""
    for name, preset in (
        ("mnk:3x3x3", "tictactoe"),
        ("connect4:rows=6,cols=7,win=4", "connect4"),
        ("line:rows=6,cols=6,win=4", "gomoku6"),
        (" line:lose=3 ", "squava"),
    ):
        assert studio.post("position", game=name).json()["game"] == preset
        assert studio.begin(game=name)["game"] == preset
    assert studio.post("position", game="squava:pie=true").json()["extra"] == []
    pie = studio.post("position", game="squava:pie=true", moves=["c3"]).json()
    assert pie["extra"] == ["swap"]


# Positions


def test_a_position_by_moves_and_by_board(studio: Studio) -> None:
    played = studio.post("position", game="tictactoe", moves=["b2", "a1"]).json()
    drawn = studio.post("position", game="tictactoe", board="O../.X./...").json()
    assert played["board"] == drawn["board"] == [-1, 0, 0, 0, 1, 0, 0, 0, 0]
    assert played["legal"] == drawn["legal"]
    assert (played["last_cell"], drawn["last_cell"]) == (0, None)
    fallen = studio.post("position", game="connect4", moves=["4"]).json()
    assert [c["move"] for c in fallen["cells"][3::7]] == ["4"] * 5 + [None]
    passed = studio.post("position", game="reversi").json()
    assert [c["name"] for c in passed["cells"] if c["move"]] == ["d3", "c4", "f5", "e6"]
    for body, word in (
        ({"board": "XXX/XXX/..."}, ""),
        ({"board": "XXX/OOO/..."}, ""),
        ({"board": "X"}, ""),
        ({"board": "…" * 1000}, ""),
        ({"board": "O../.X./...", "moves": ["b2"]}, "not from both"),
        ({"moves": ["z9"]}, "illegal move"),
    ):
        refused(studio.post("position", game="tictactoe", **body), 422, word)


# Records


def test_records_go_out_and_come_back(studio: Studio) -> None:
    games = {
        "tictactoe": ["b2", "a1", "c1", "b1", "a3"],
        "connect4": ["4", "4", "3"],
        "reversi": ["d3", "c3"],
        "gomoku": ["h8", "i9"],
        "squava:pie=true": ["c3", "swap"],
    }
    for game, moves in games.items():
        names = [form["name"] for form in studio.get("formats", game=game).json()]
        assert names[:2] == ["text", "json"]
        for name in names:
            text = studio.post("export", game=game, moves=moves, format=name)
            if text.status_code == 422:
                assert "swap" in moves, text.text
                continue
            back = studio.post("import", text=text.json()["text"], format=name, game=game).json()
            assert (back["game"], back["moves"]) == (game, moves)
            assert back["position"]["ply"] == len(moves)
    refused(studio.post("export", game="connect4", moves=["4"], format="sgf"), 422)
    refused(studio.post("export", game="connect4", moves=["4"], format="pdf"), 422, "unknown")
    refused(studio.post("import", text="tictactoe b2 b2 *", format="text"), 422, "move 2")


@pytest.mark.parametrize("form", ["text", "json", "psq", "sgf", "digits", "transcript"])
@pytest.mark.parametrize("text", ["", "[" * 49_999, "9" * 20_000, "(;" * 20_000, "\0", "<b>"])
def test_records_that_are_none(studio: Studio, form: str, text: str) -> None:
    answer = studio.post("import", text=text, format=form, game="reversi")
    assert answer.status_code == 422 or (not text and form in ("digits", "transcript"))


# Puzzles


@pytest.mark.parametrize("plies", [3, 5, 7])
@pytest.mark.parametrize("game", ["connect4", "squava", "mnk:4x4x3"])
def test_a_puzzle_is_proven(studio: Studio, game: str, plies: int) -> None:
    answer = studio.get("puzzle", game=game, plies=plies, seed=7)
    if answer.status_code == 404:
        assert game == "mnk:4x4x3"
        return
    puzzle = answer.json()
    assert studio.get("puzzle", game=game, plies=plies, seed=7).json() == puzzle
    found = solve(z.game(game).position(moves=puzzle["moves"]))
    assert (found.value, found.plies, len(found.best)) == ("win", plies, 1)
    assert puzzle["to_move"] == puzzle["position"]["to_move"]


def test_puzzles_that_do_not_exist(studio: Studio) -> None:
    refused(studio.get("puzzle", game="reversi"), 404)
    refused(studio.get("puzzle", game="gomoku"), 404)
    refused(studio.get("puzzle", game="tictactoe", plies=4), 422, "even")
    refused(studio.get("puzzle", game="tictactoe", plies=11), 422, "plies")
    begin = time.perf_counter()
    refused(studio.get("puzzle", game="tictactoe", plies=9), 404)
    assert time.perf_counter() - begin < 2, "there is no room for it"


# Analysis and review


def told_truly(record: dict[str, Any]) -> None:
    for part in (record, *record["candidates"]):
        assert part["exact"] == (part["value"] is not None)
        assert part["exact"] == (part["estimate"] is None)
        assert part["words"]
    assert record["candidates"][0]["best"]


def test_an_analysis_deepens_and_ends(studio: Studio) -> None:
    text = studio.get("analysis", game="tictactoe", moves="b2 b1", seconds=5).text
    found = events(text)
    assert [name for name, _ in found] == ["analysis"] * (len(found) - 1) + ["done"]
    for _, record in found[:-1]:
        told_truly(record)
        assert len(record["candidates"]) == 7
    last = found[-2][1]
    truth = solve(z.game("tictactoe").position(moves="b2 b1"))
    assert (last["exact"], last["value"], last["plies"]) == (True, "win", truth.plies)
    assert sorted(last["best"]) == sorted(truth.best)


def test_the_first_candidates_come_at_once_and_are_called_estimates(studio: Studio) -> None:
    studio.get("analysis", game="connect4:7x7", seconds=0.1)  # compilation aside
    begin = time.perf_counter()
    with studio.http.stream(
        "GET", "/api/v1/analysis", params={"game": "connect4:7x7", "seconds": 2}
    ) as answer:
        assert answer.headers["content-type"].startswith("text/event-stream")
        assert answer.headers["cache-control"] == "no-store"
        lines = answer.iter_lines()
        next(lines)
        first = json.loads(next(lines).removeprefix("data: "))
        elapsed = time.perf_counter() - begin
        rest = "\n".join(lines)
    assert elapsed < 1.5  # 0.3 on an idle machine
    told_truly(first)
    assert not first["exact"]
    assert len(first["candidates"]) == 7
    records = [json.loads(line[6:]) for line in rest.splitlines() if '"candidates"' in line]
    depths = [record["depth"] for record in records]
    assert depths == sorted(depths)
    assert depths[-1] > first["depth"]
    for record in records:
        told_truly(record)
        assert not record["exact"], "nobody solves it in 2 s"


def test_an_analysis_by_a_player(studio: Studio) -> None:
    for player in ("random", "minimax:3", "perfect", "lookahead:2"):
        params = {"game": "tictactoe", "moves": "b2,a1", "player": player, "seconds": 2}
        found = events(studio.get("analysis", **params).text)
        assert found[-1] == ("done", {})
        assert found[-2][1]["candidates"]


PARTS = {"network", "heuristic", "blend"}


def test_a_hybrid_says_what_its_estimates_are_made_of(studio: Studio) -> None:
    """For every move but those that end the game, in every record; the analyst has no parts."""
    moves = "d3 e5 a1 d4 d2"  # c2 would make three: X has lost, and there is nothing to judge
    params = {"game": "squava", "moves": moves, "seconds": 5}
    found = events(studio.get("analysis", **params, player="hybrid:squava-hybrid").text)
    assert found[-1] == ("done", {})
    position = z.game("squava").position(moves=moves)
    ends = {move for move in position.legal if position.play(move).is_over}
    assert ends
    for _, record in found[:-1]:
        assert {c["move"] for c in record["candidates"]} == set(position.legal)
        for candidate in record["candidates"]:
            parts = candidate.get("parts")
            assert (parts is None) == (candidate["move"] in ends)
            if parts is not None:
                assert set(parts) == PARTS
                assert all(-1 < value < 1 for value in parts.values())
    params["seconds"] = 1
    for _, record in events(studio.get("analysis", **params).text)[:-1]:
        assert not any("parts" in candidate for candidate in record["candidates"])


def test_a_match_against_a_hybrid(studio: Studio) -> None:
    """It is offered once, for its game, and plays what it says that it would."""
    models = {p["name"]: p["models"] for p in studio.get("players").json() if p["models"]}
    assert [m["spec"] for m in models["hybrid"]] == ["hybrid:squava-hybrid"]
    assert all(m["spec"].startswith("dqn:") for m in models["dqn"])
    spec = models["hybrid"][0]["spec"]
    match = studio.begin(game="squava", second=spec, moves=["b2"])
    params = {"game": "squava", "moves": "b2", "player": spec, "seconds": 5}
    said = events(studio.get("analysis", **params).text)[-2][1]["candidates"][0]["move"]
    answer = studio.post(f"matches/{match['id']}/reply")
    assert answer.json()["moves"] == ["b2", said]
    think = re.search(r"think;dur=([\d.]+)", answer.headers["server-timing"])
    assert think is not None
    assert float(think[1]) < 1000  # 10 on an idle machine
    refused(studio.post("matches", game="connect4", second=spec), 422, "trained for squava")


@pytest.mark.parametrize(
    ("params", "word"),
    [
        ({"game": "nim"}, "unknown game"),
        ({"game": "tictactoe", "player": "human"}, "cannot be read"),
        ({"game": "tictactoe", "player": "nobody"}, "unknown player"),
        ({"game": "gomoku", "player": "perfect"}, "beyond perfect"),
        ({"game": "gomoku", "player": "hybrid:squava-hybrid"}, "trained for squava"),
        ({"game": "gomoku", "player": "minimax:2,heuristic=published"}, "is for squava"),
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
def test_an_analysis_that_is_refused(studio: Studio, params: dict[str, Any], word: str) -> None:
    refused(studio.get("analysis", **params), 422, word)


def test_too_late_to_refuse_it_is_an_event(studio: Studio) -> None:
    answer = studio.get("analysis", game="gomoku6", player="perfect", seconds=1.2)
    assert answer.status_code == 200
    ((name, problem),) = events(answer.text)
    assert name == "problem"
    assert "did not solve" in problem["detail"]


@pytest.mark.parametrize(
    ("params", "first"),
    [
        ({"game": "connect4"}, True),
        ({"game": "gomoku"}, True),
        ({"game": "gomoku6", "player": "perfect"}, False),  # it is silent all the time
        ({"game": "connect4", "path": "review", "moves": "4,4,4,4"}, True),
    ],
)
def test_thinking_stops_when_the_client_leaves(
    studio: Studio, params: dict[str, str], first: bool
) -> None:
    assert wait(lambda: studio.working == 0)
    params = {"seconds": "60"} | params
    path = params.pop("path", "analysis")
    with studio.http.stream("GET", f"/api/v1/{path}", params=params) as answer:
        lines = answer.iter_lines()
        if first:
            next(lines)
        assert studio.working == 1
    assert wait(lambda: studio.working == 0), "it still thinks"
    used = time.process_time()
    time.sleep(0.3)
    assert time.process_time() - used < 0.2, "somebody still works"


def test_thinking_stops_when_the_client_leaves_before_the_answer(studio: Studio) -> None:
    assert wait(lambda: studio.working == 0)
    with socket.create_connection(studio.address) as line:
        line.sendall(
            b"GET /api/v1/analysis?game=gomoku6&player=perfect&seconds=60 HTTP/1.1\r\n"
            b"host: 127.0.0.1\r\n\r\n"
        )
        assert wait(lambda: studio.working == 1)
    assert wait(lambda: studio.working == 0), "it still thinks"


def test_a_bounded_number_thinks_and_moves_are_not_among_them(studio: Studio) -> None:
    match = studio.begin(game="tictactoe", second="lookahead:2", moves=["b2"])
    params = {"game": "gomoku6", "player": "perfect", "seconds": "60"}
    lines = []
    with contextlib.ExitStack() as stack:
        for _ in range(16):
            line = stack.enter_context(socket.create_connection(studio.address))
            query = "&".join(f"{k}={v}" for k, v in params.items())
            line.sendall(
                f"GET /api/v1/analysis?{query} HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n".encode()
            )
            lines.append(line)
        assert wait(lambda: studio.working == 16)
        refused(studio.get("analysis", **params), 429, "try again")
        refused(studio.get("puzzle", game="connect4"), 429, "try again")
        answer = studio.post(f"matches/{match['id']}/reply")
        assert answer.status_code == 200
        assert answer.elapsed.total_seconds() < 5  # ms on an idle machine
    assert wait(lambda: studio.working == 0), "it still thinks"


def test_a_review_marks_a_planted_mistake_and_says_what_was_better(studio: Studio) -> None:
    # O answers the centre by an edge, which loses; X misses the win; the rest is sound.
    text = studio.get("review", game="tictactoe", moves="b2 b1 b3 a1 c3", seconds=5).text
    found = events(text)
    assert [name for name, _ in found] == ["ply"] * 6 + ["done"]
    plies = [record for _, record in found[:-1]]
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
        assert plies[ply]["better"]["words"].split()[0] in ("draw", "win", "a", "drawn", "wins")
    assert plies[1]["better"] is None


def test_a_review_of_a_finished_game_and_of_none(studio: Studio) -> None:
    found = events(studio.get("review", game="tictactoe", moves="a1 a2 b1 b2 c1", seconds=2).text)
    assert len(found) == 7
    assert found[5][1]["estimate"] == 1
    found = events(studio.get("review", game="tictactoe", seconds=2).text)
    assert [name for name, _ in found] == ["ply", "done"]
    refused(studio.get("review", game="tictactoe", moves="a1 a1"), 422, "taken")


# The stateless move


def ai_move(studio: Studio, **body: Any) -> Any:
    full = {"board": [0] * 9, "player": 1, "board_size": 3} | body
    return studio.http.post("/api/ai-move", json=full)


def test_a_stateless_move(studio: Studio) -> None:
    # X threatens c1; O must take it.
    answer = ai_move(studio, board=[1, 1, 0, 0, -1, 0, 0, 0, 0], player=-1, show_thinking=True)
    assert answer.status_code == 200, answer.text
    found = answer.json()
    assert found["action"] == 2
    assert sorted(found["evaluations"]) == ["2", "3", "5", "6", "7", "8"]
    for action, record in found["evaluations"].items():
        assert set(record) == {"value", "reasoning", "is_best"}
        assert record["is_best"] == (action == "2")
        assert record["value"] == (0 if action == "2" else 1), "seen by X"
        assert record["reasoning"]
    assert '"value":-0.0' not in answer.text
    assert ai_move(studio).json()["evaluations"] is None


def test_a_win_at_once_is_worth_1_to_x_and_minus_1_by_o(studio: Studio) -> None:
    x = ai_move(studio, board=[1, 1, 0, -1, -1, 0, 0, 0, 0], show_thinking=True).json()
    assert (x["action"], x["evaluations"]["2"]["value"]) == (2, 1)
    board = [1, 1, 0, -1, -1, 0, 1, 0, 0]
    o = ai_move(studio, board=board, player=-1, show_thinking=True).json()
    assert (o["action"], o["evaluations"]["5"]["value"]) == (5, -1)


def test_other_sizes(studio: Studio) -> None:
    board = [0] * 25
    board[0] = board[1] = board[2] = 1
    board[20] = board[21] = -1
    found = ai_move(studio, board=board, player=-1, board_size=5, win_length=4).json()
    assert found["action"] == 3
    large = ai_move(studio, board=[0] * 400, board_size=20, win_length=5, show_thinking=True)
    assert len(large.json()["evaluations"]) == 400


@pytest.mark.parametrize(
    "body",
    [
        {"board": [1, 1, 0, 0, 0, 0, 0, 0, 0]},  # counts
        {"board": [-1, 0, 0, 0, 0, 0, 0, 0, 0]},
        {"board": [1, 0, 0, 0, 0, 0, 0, 0, 0], "player": 1},  # not X's turn
        {"board": [0] * 9, "player": -1},
        {"board": [1, 1, 1, -1, -1, -1, 0, 0, 0]},  # two winners
        {"board": [1, 1, 1, -1, -1, 0, 0, 0, 0], "player": -1},  # finished
        {"board": [1, -1, 1, 1, -1, -1, -1, 1, 1], "player": -1},  # full
        {"board": [0] * 8},  # size
        {"board": [0] * 10},
        {"board": [0] * 16},
        {"board": [0] * 9, "board_size": 4},
        {"board": [0] * 4, "board_size": 2},
        {"board": [0] * 441, "board_size": 21},
        {"board": []},
        {"board": [0] * 9, "board_size": 10**30},
        {"board": [0] * 9, "board_size": -3},
        {"win_length": 4},
        {"win_length": 2},
        {"win_length": 0},
        {"board": [2] + [0] * 8},  # types
        {"board": ["0"] * 9},
        {"board": [0.0] * 9},
        {"board": [False] * 9},
        {"board": [None] * 9},
        {"board": "000000000"},
        {"board": {"0": 1}},
        {"board": [[0] * 3] * 3},
        {"board": None},
        {"player": 0},
        {"player": 2},
        {"player": True},
        {"player": 1.0},
        {"player": "1"},
        {"board_size": "3"},
        {"board_size": 3.0},
        {"board_size": True},
        {"show_thinking": 1},
        {"show_thinking": "yes"},
        {"action": 4},
    ],
)
def test_a_board_that_cannot_arise(studio: Studio, body: dict[str, Any]) -> None:
    refused(ai_move(studio, **body), 422)


def test_nan_and_infinity_are_no_stones(studio: Studio) -> None:
    for word in ("NaN", "Infinity", "-Infinity", "1e999", "9" * 4000, "9" * 6000):
        content = '{"board":[' + word + ',0,0,0,0,0,0,0,0],"player":1,"board_size":3}'
        refused(studio.http.post("/api/ai-move", content=content, headers=JSON), 422)


# The door


def test_bodies_that_are_none(studio: Studio) -> None:
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
        refused(studio.http.post("/api/v1/position", content=content, headers=JSON), 422)


@pytest.mark.parametrize("announced", [True, False])
def test_a_body_that_is_too_large(studio: Studio, announced: bool) -> None:
    content = b'{"game": "tictactoe"}' + b" " * 100_000
    parts: Any = content if announced else (content[at : at + 999] for at in range(0, 10**6, 999))
    refused(studio.http.post("/api/v1/position", content=parts, headers=JSON), 413, "too large")
    fits = b'{"game": "tictactoe"}' + b" " * 99_000
    assert studio.http.post("/api/v1/position", content=fits, headers=JSON).status_code == 200


def test_what_is_announced_as_too_large_is_not_waited_for(studio: Studio) -> None:
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
def test_a_body_that_is_no_json_by_its_kind(studio: Studio, kind: str | None) -> None:
    headers = {} if kind is None else {"content-type": kind}
    answer = studio.http.post("/api/v1/position", content=b'{"game":"squava"}', headers=headers)
    refused(answer, 415, "application/json")


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "http://evil.example"},
        {"origin": "null"},
        {"origin": "http://127.0.0.1:1"},
        {"sec-fetch-site": "cross-site"},
        {"host": "evil.example"},
        {"host": "127.0.0.1.evil.example"},
        {"host": "testserver"},
        {"host": ""},
    ],
)
def test_other_sites_are_refused(studio: Studio, headers: dict[str, str]) -> None:
    before = len(studio.get("matches", limit=200).json())
    body = {"game": "tictactoe"}
    refused(studio.http.post("/api/v1/matches", json=body, headers=headers), 403)
    refused(studio.http.get("/api/v1/analysis?game=connect4", headers=headers), 403)
    assert len(studio.get("matches", limit=200).json()) == before


def test_ones_own_page_is_not(studio: Studio) -> None:
    for headers in (
        {"origin": studio.url, "sec-fetch-site": "same-origin"},
        {"host": "localhost:1", "origin": "http://localhost:1"},
        {"host": "[::1]:1"},
        {"host": "LOCALHOST"},
    ):
        answer = studio.http.post("/api/v1/position", json={"game": "squava"}, headers=headers)
        assert answer.status_code == 200, headers


def test_a_page_with_headers_that_bind_a_browser(studio: Studio) -> None:
    answer = studio.http.get("/", headers={"sec-fetch-site": "cross-site"})  # a link
    assert answer.status_code == 200
    assert "default-src 'self'" in answer.headers["content-security-policy"]
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert "access-control-allow-origin" not in answer.headers


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
def test_path_tricks(studio: Studio, path: str) -> None:
    head = f"GET {path} HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\n\r\n"
    answer = studio.raw(head)
    status = int(answer.split()[1])
    assert status in (307, 400, 404, 405), answer
    assert b"create_app" not in answer
    assert b"root:" not in answer


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
def test_a_game_file_is_not_loaded_by_http(
    studio: Studio, game: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried: list[str] = []
    monkeypatch.setattr(registry, "_file_game", tried.append)
    monkeypatch.setattr(files, "load_game", tried.append)
    for answer in (
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
        refused(answer, 422)
    assert not tried


def test_markup_is_data(studio: Studio) -> None:
    markup = "<img src=x onerror=alert(1)>"
    for answer in (
        studio.post("matches", game=markup),
        studio.post("matches", game="tictactoe", first=markup),
        studio.post("position", game="tictactoe", moves=["<b>"]),
        studio.post("position", game="tictactoe", **{markup: 1}),
        studio.get("analysis", game=markup),
        studio.post("export", game="tictactoe", moves=[], format="<b>"),
    ):
        refused(answer, 422)
        assert answer.headers["x-content-type-options"] == "nosniff"
    answer = studio.http.get(f"/api/v1/matches/{markup}")
    refused(answer, 404)
    assert markup not in answer.text
    latest = studio.get("matches", limit=200).text
    assert "<" not in latest


def test_unknown_methods_and_paths(studio: Studio) -> None:
    assert studio.http.delete("/api/v1/matches", headers=JSON).status_code == 405
    assert studio.http.put("/api/v1/matches", json={}).status_code == 405
    assert studio.http.get("/api/v2/games").status_code == 404
    assert studio.http.options("/api/v1/matches").status_code == 405


# The store


def row(key: str = "a") -> MatchRow:
    return MatchRow(key, "tictactoe", "human", "level:3")


def test_the_store_survives_reopening(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "er" / "m.db"
    store = MatchStore(path)
    before = store.add(row())
    after = store.update(before, replace(before, moves="b2", plies=1))
    store.close()
    store = MatchStore(path)
    assert store.get("a") == after
    assert store.get("b") is None
    assert store.latest(5) == [after]
    store.close()


def test_the_store_refuses_what_has_changed(tmp_path: Path) -> None:
    store = MatchStore(tmp_path / "m.db")
    before = store.add(row())
    store.update(before, replace(before, moves="b2", plies=1))
    with pytest.raises(MatchChanged, match="changed"):
        store.update(before, replace(before, moves="a1", plies=1))
    with pytest.raises(MatchChanged):
        store.update(row("gone"), row("gone"))
    assert store.get("a").moves == "b2"  # type: ignore[union-attr]
    store.close()


def test_the_oldest_makes_room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stores, "MAX_MATCHES", 3)
    store = MatchStore(tmp_path / "m.db")
    for key in "abcde":
        store.add(row(key))
    assert [r.id for r in store.latest(9)] == ["e", "d", "c"]
    store.close()


def test_a_foreign_file_is_refused_and_left_alone(tmp_path: Path) -> None:
    text = tmp_path / "text.db"
    text.write_text("dear diary, " * 100)
    other = tmp_path / "other.db"
    versioned = tmp_path / "versioned.db"
    later = tmp_path / "later.db"
    for path, script in (
        (other, "CREATE TABLE photos (name TEXT)"),
        (versioned, "CREATE TABLE matches (id TEXT); PRAGMA user_version = 1"),
        (later, "PRAGMA user_version = 99"),
    ):
        with contextlib.closing(sqlite3.connect(path)) as base:
            base.executescript(script)
    for path, word in (
        (text, "not a database"),
        (other, "something else"),
        (versioned, "something else"),
        (later, "later version"),
        (tmp_path, "unable to open"),
        (text / "below", "cannot be used"),
    ):
        before = path.read_bytes() if path.is_file() else b""
        with pytest.raises(BadStore, match=word) as caught:
            MatchStore(path)
        assert str(path) in str(caught.value)
        assert "\n" not in str(caught.value)
        assert not path.is_file() or path.read_bytes() == before
    assert sorted(p.name for p in tmp_path.iterdir()) == [
        "later.db", "other.db", "text.db", "versioned.db",
    ]  # fmt: skip


def test_two_may_open_a_new_store_at_once(tmp_path: Path) -> None:
    with ThreadPoolExecutor(4) as pool:
        opened = list(pool.map(lambda _: MatchStore(tmp_path / "m.db"), range(4)))
    opened[0].add(row())
    assert all(store.get("a") for store in opened)
    for store in opened:
        store.close()


def test_a_store_that_is_locked_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    app = create_app(tmp_path / "m.db")

    def fail(*_: Any) -> None:
        msg = "database is locked"
        raise sqlite3.OperationalError(msg)

    monkeypatch.setattr(MatchStore, "add", fail)
    for served in serve(app):
        answer = served.post("matches", game="tictactoe")
        assert answer.status_code == 503
        assert "locked" in answer.json()["detail"]


# Calls without a network, for numbers


async def call(app: Any, path: str, body: dict[str, Any]) -> dict[str, Any]:
    data = json.dumps(body).encode()
    sent: list[Any] = []

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": data, "more_body": False}

    async def send(message: Any) -> None:
        sent.append(message)

    scope = {
        "type": "http", "asgi": {"version": "3.0", "spec_version": "2.3"}, "http_version": "1.1",
        "method": "POST", "scheme": "http", "path": path, "raw_path": path.encode(),
        "query_string": b"", "root_path": "", "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", 80),
        "headers": [(b"host", b"127.0.0.1"), (b"content-type", b"application/json")],
    }  # fmt: skip
    await app(scope, receive, send)
    assert sent[0]["status"] < 300, sent
    return json.loads(b"".join(m.get("body", b"") for m in sent[1:]))


def test_memory_stays_flat_over_5000_stored_matches(tmp_path: Path) -> None:
    pages = Path("/proc/self/statm")
    if not pages.exists():
        pytest.skip("memory is read from /proc, which this system does not have")
    app = create_app(tmp_path / "m.db")

    async def begin(number: int) -> None:
        for _ in range(number):
            match = await call(app, "/api/v1/matches", {"game": "connect4", "moves": ["4"]})
        await call(app, f"/api/v1/matches/{match['id']}/moves", {"move": "4"})

    def resident() -> float:
        gc.collect()
        return int(pages.read_text().split()[1]) * 4096 / 1e6

    asyncio.run(begin(500))
    before = resident()
    asyncio.run(begin(4500))
    grown = resident() - before
    app.state.players.close()
    with contextlib.closing(sqlite3.connect(tmp_path / "m.db")) as base:
        assert base.execute("SELECT count(*) FROM matches").fetchone() == (5000,)
    assert grown < 6, f"{grown:.1f} MB more for 4,500 matches"


# A process of its own


@contextlib.contextmanager
def process(db: Path, *options: str) -> Iterator[tuple[Any, str, str]]:
    command = [sys.executable, "-u", "-m", "zermelo", "studio", "--port", "0", "--db", str(db)]
    with subprocess.Popen(
        [*command, *options], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as server:
        try:
            said = server.stdout.readline()  # type: ignore[union-attr]
            found = re.search(r"http://\S+", said)
            assert found, server.stderr.read()  # type: ignore[union-attr]
            yield server, found[0], said
        finally:
            server.kill()


def test_kill_9_in_mid_game_and_the_match_goes_on(tmp_path: Path) -> None:
    db = tmp_path / "m.db"
    with process(db) as (server, url, said), httpx.Client(base_url=url, timeout=60) as http:
        assert "http://127.0.0.1:" in said, "it binds to this machine, and says so"
        begun = {"game": "connect4", "second": "lookahead:2"}
        match = http.post("/api/v1/matches", json=begun).json()
        where = f"/api/v1/matches/{match['id']}"
        http.post(f"{where}/moves", json={"move": "4", "ply": 0})
        before = http.post(f"{where}/reply", json={}).json()
        server.send_signal(signal.SIGKILL)
        server.wait()
    with process(db) as (_, url, _said), httpx.Client(base_url=url, timeout=60) as http:
        assert http.get(where).json() == before
        after = http.post(f"{where}/moves", json={"move": "4", "ply": 2}).json()
        assert after["moves"] == [*before["moves"], "4"]
        assert len(http.post(f"{where}/reply", json={}).json()["moves"]) == 4


def test_it_ends_soon_when_told_whoever_thinks(tmp_path: Path) -> None:
    with process(tmp_path / "m.db") as (server, url, _), httpx.Client(base_url=url) as http:
        params = {"game": "connect4", "seconds": "60"}
        with http.stream("GET", "/api/v1/analysis", params=params, timeout=60) as answer:
            lines = answer.iter_lines()
            next(lines)
            server.send_signal(signal.SIGTERM)
            with contextlib.suppress(httpx.HTTPError):
                list(lines)
        assert server.wait(15) in (0, -signal.SIGTERM)
        assert "Traceback" not in server.stderr.read()  # type: ignore[union-attr]


def test_what_it_cannot_serve_is_one_line(tmp_path: Path) -> None:
    text = tmp_path / "text.db"
    text.write_text("dear diary, " * 100)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        for options, word in (
            (["--db", str(text)], "cannot be used as a store"),
            (["--db", str(tmp_path / "m.db"), "--port", port], "cannot listen"),
        ):
            command = [sys.executable, "-m", "zermelo", "studio", *options]
            done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
            assert done.returncode != 0
            assert word in done.stderr
            assert done.stderr.count("\n") == 1


def test_a_few_clients_are_answered_in_time(tmp_path: Path) -> None:
    """`scripts/load.py` in small; its figures are in docs/benchmarks.md."""
    path = ROOT / "scripts" / "load.py"
    spec = importlib.util.spec_from_file_location("load", path)
    assert spec is not None
    assert spec.loader is not None
    load = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(load)
    with load.serving(tmp_path / "m.db") as url:
        figures = asyncio.run(load.load(url, 8, 1, (0.02, 0.1)))
    assert figures.errors == []
    assert figures.games == 8
    assert len(figures.beyond) >= 8
    # 100 ms is for 50 clients on two cores of one's own; a test run has neither.
    assert load.percentile(figures.beyond, 50) < 500, figures.table()
