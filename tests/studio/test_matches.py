"""Lists of games and players, matches and positions, over a real loopback connection."""

import re
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from support.paths import ROOT
from support.studio import Studio, assert_refused, serve
from zermelo.core.player import Player
from zermelo.players import registry as players
from zermelo.store import matches
from zermelo.studio.app import create_app


def test_games_and_players(studio: Studio) -> None:
    games = studio.get("games").json()
    assert [g["name"] for g in games][:2] == ["tictactoe", "connect4"]
    for game in games:
        assert set(game) == {"name", "summary", "example", "parameters"}
        assert studio.post("position", game=game["example"]).status_code == 200
    players = studio.get("players").json()
    assert players[0]["name"] == "human"
    assert {"name", "kind", "default", "note", "choices"} == set(players[1]["parameters"][0])


def test_the_openapi_document_names_every_route_and_its_errors(studio: Studio) -> None:
    document = studio.http.get("/api/openapi.json").json()
    page = (ROOT / "docs" / "studio.md").read_text()
    documented = {(m, p.partition("?")[0]) for m, p in re.findall(r"`(GET|POST) (/api\S+?)`", page)}
    ours = {
        (method.upper(), path.replace("{key}", "{id}"))
        for path, methods in document["paths"].items()
        for method in methods
    }
    assert ours == documented
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
    match = studio.create()
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
    assert_refused(studio.post(f"matches/{key}/moves", move="c3"), 422, "the game is over")
    assert_refused(studio.post(f"matches/{key}/reply"), 409, "the game is over")
    assert_refused(studio.post(f"matches/{key}/resign"), 409, "the game is over")
    latest = studio.get("matches", limit=1).json()
    assert [m["id"] for m in latest] == [key]
    assert latest[0] | {"plies": 5, "over": True, "verdict": "X wins"} == latest[0]


def test_the_computer_replies(studio: Studio) -> None:
    match = studio.create(game="connect4", second="lookahead:2", moves=["4"])
    assert not match["human_to_move"]
    response = studio.post(f"matches/{match['id']}/reply")
    assert len(response.json()["moves"]) == 2
    think, cpu = re.fullmatch(
        r"think;dur=([0-9.]+), cpu;dur=([0-9.]+)", response.headers["server-timing"]
    ).groups()  # type: ignore[union-attr]
    assert 0 < float(cpu) <= float(think) + 5
    assert_refused(studio.post(f"matches/{match['id']}/reply"), 409, "human's turn")


def test_two_computers_play_a_whole_game(studio: Studio) -> None:
    match = studio.create(first=" perfect ", second="perfect:seed=1")
    assert match["first"] == "perfect"
    while not match["over"]:
        match = studio.post(f"matches/{match['id']}/reply", seconds=5.0).json()
    assert match["outcome"] == "draw"


def test_a_player_takes_its_own_time_without_a_limit(studio: Studio) -> None:
    match = studio.create(game="gomoku", first="alphabeta:0.1", second="level:3")
    begin = time.perf_counter()
    studio.post(f"matches/{match['id']}/reply")
    assert time.perf_counter() - begin < 4, "5 s are only for players without a time of their own"
    begin = time.perf_counter()
    response = studio.post(f"matches/{match['id']}/reply", seconds=0.2)
    assert len(response.json()["moves"]) == 2
    assert time.perf_counter() - begin < 4


def test_a_move_for_an_earlier_ply_is_assert_refused(studio: Studio) -> None:
    key = studio.create()["id"]
    studio.post(f"matches/{key}/moves", move="b2", ply=0)
    assert_refused(studio.post(f"matches/{key}/moves", move="b2", ply=0), 409, "at ply 1, not at 0")
    assert_refused(studio.post(f"matches/{key}/moves", move="b2", ply=1), 422, "the cell is taken")
    assert studio.get(f"matches/{key}").json()["moves"] == ["b2"]


def test_of_two_replies_at_once_one_is_assert_refused(studio: Studio) -> None:
    match = studio.create(game="connect4", first="alphabeta:0.5", second="human")
    with ThreadPoolExecutor(2) as pool:
        both = list(pool.map(lambda _: studio.post(f"matches/{match['id']}/reply"), range(2)))
    assert sorted(response.status_code for response in both) == [200, 409]
    assert len(studio.get(f"matches/{match['id']}").json()["moves"]) == 1


def test_undo_and_resign(studio: Studio) -> None:
    key = studio.create(moves=["b2", "a1", "c1"])["id"]
    assert studio.post(f"matches/{key}/undo").json()["moves"] == ["b2", "a1"]
    assert studio.post(f"matches/{key}/undo", plies=2).json()["moves"] == []
    assert studio.post(f"matches/{key}/undo").json()["moves"] == []
    match = studio.post(f"matches/{key}/resign").json()
    assert (match["resigned"], match["outcome"], match["over"]) == (0, "second", True)
    assert match["verdict"] == "O wins: X resigned"
    assert not match["human_to_move"]
    assert_refused(studio.post(f"matches/{key}/resign"), 409)
    assert_refused(studio.post(f"matches/{key}/moves", move="b2"), 422, "resigned")
    assert studio.post(f"matches/{key}/undo").json()["resigned"] is None


def test_a_slow_model_blocks_no_other_request(
    studio: Studio, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A match and an analysis wait for a model that loads slowly; other requests do not."""
    is_loading, may_load = threading.Event(), threading.Event()
    load_player = players.load_builtin_player

    def load_slowly(spec: str) -> Player:
        is_loading.set()
        assert may_load.wait(30)
        return load_player(spec)

    monkeypatch.setattr(players, "load_builtin_player", load_slowly)
    params = {"game": "tictactoe", "player": "dqn:tictactoe-dqn", "seconds": 1}
    for call in (
        lambda: studio.post("matches", game="tictactoe", second="dqn:tictactoe-dqn"),
        lambda: studio.get("analysis", **params),
    ):
        is_loading.clear()
        may_load.clear()
        with ThreadPoolExecutor(1) as pool:
            slow = pool.submit(call)
            try:
                assert is_loading.wait(10)
                other = studio.create(moves=["b2"])
                assert studio.post(f"matches/{other['id']}/moves", move="a1").status_code == 200
                assert not slow.done()
            finally:
                may_load.set()
            assert slow.result().is_success
        with studio.app.state.players._lock:
            studio.app.state.players._idle.clear()  # so that the next one loads its model again


@pytest.mark.parametrize("what", ["moves", "reply", "undo", "resign", ""])
@pytest.mark.parametrize("key", ["nothing", "%00", "%ff", "a" * 3000, "' OR 1=1 --"])
def test_an_unknown_match(studio: Studio, what: str, key: str) -> None:
    where = f"/api/v1/matches/{key}" + (f"/{what}" if what else "")
    body = {"move": "a1"} if what == "moves" else {}
    response = studio.http.post(where, json=body) if what else studio.http.get(where)
    assert_refused(response, 404, "there is no such match")


def test_a_preset_under_another_name_is_the_preset(studio: Studio) -> None:
    """Otherwise the rules would be compiled once for each name, which takes seconds."""
    for name, preset in (
        ("mnk:3x3x3", "tictactoe"),
        ("connect4:rows=6,cols=7,win=4", "connect4"),
        ("line:rows=6,cols=6,win=4", "gomoku6"),
        (" line:lose=3 ", "squava"),
    ):
        assert studio.post("position", game=name).json()["game"] == preset
        assert studio.create(game=name)["game"] == preset
    assert studio.post("position", game="squava:pie=true").json()["extra"] == []
    pie = studio.post("position", game="squava:pie=true", moves=["c3"]).json()
    assert pie["extra"] == ["swap"]


def test_a_full_store_says_what_it_deletes_and_refuses_to_delete_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for served in serve(create_app(tmp_path / "m.db")):
        old = served.create(moves=["b2", "a1", "c1", "b1", "a3"])
        assert (old["over"], old["deleted"]) == (True, [])
        unfinished = served.create()
        monkeypatch.setattr(matches, "MAX_MATCHES", 2)
        refused = served.post("matches", game="tictactoe", second="human")
        assert_refused(refused, 507, "in the last 30 days; start the studio with another file")
        monkeypatch.setattr(matches, "RECENT_DAYS", 0)
        assert served.create()["deleted"] == [old["id"]]
        assert_refused(served.get(f"matches/{old['id']}"), 404)
        assert served.get(f"matches/{unfinished['id']}").status_code == 200


# Positions


def test_a_position_by_moves_and_by_board(studio: Studio) -> None:
    played = studio.post("position", game="tictactoe", moves=["b2", "a1"]).json()
    by_board = studio.post("position", game="tictactoe", board="O../.X./...").json()
    assert played["board"] == by_board["board"] == [-1, 0, 0, 0, 1, 0, 0, 0, 0]
    assert played["legal"] == by_board["legal"]
    assert (played["last_cell"], by_board["last_cell"]) == (0, None)
    fallen = studio.post("position", game="connect4", moves=["4"]).json()
    assert [c["move"] for c in fallen["cells"][3::7]] == ["4"] * 5 + [None]
    assert (fallen["gravity"], played["gravity"]) == (True, False)
    assert fallen["landing"] == {"1": 35, "2": 36, "3": 37, "4": 31, "5": 39, "6": 40, "7": 41}
    assert played["landing"]["c3"] == 8
    opening = studio.post("position", game="reversi").json()
    assert [c["name"] for c in opening["cells"] if c["move"]] == ["d3", "c4", "f5", "e6"]
    for body, word in (
        ({"board": "XXX/XXX/..."}, ""),
        ({"board": "XXX/OOO/..."}, ""),
        ({"board": "X"}, ""),
        ({"board": "…" * 1000}, ""),
        ({"board": "O../.X./...", "moves": ["b2"]}, "not both"),
        ({"moves": ["z9"]}, "illegal move"),
    ):
        assert_refused(studio.post("position", game="tictactoe", **body), 422, word)
