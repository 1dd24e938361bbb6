"""Games of the user over HTTP: what clients are told, and which files they can name."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

import zermelo as z
from support.commands import zermelo
from support.examples import EXAMPLE_FILES, random_game
from support.piece_games import BOXES, BOXES_MOVERS, BOXES_WIN, BREAKTHROUGH, PROMOTION
from support.studio import Studio, assert_refused, read_events, serve
from zermelo.studio.app import create_app
from zermelo.studio.responses import to_picture


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Studio]:
    games = map(z.game, (BREAKTHROUGH, BOXES, PROMOTION, *EXAMPLE_FILES))
    yield from serve(create_app(tmp_path_factory.mktemp("studio") / "studio.db", games=games))


def test_clients_are_told_where_pieces_can_move(own: Studio) -> None:
    """The cells are numbered row by row from a1: b3 is 13, a2 is 6 and c2 is 8."""
    moves = ["b5b4", "c2c3", "b4b3", "c3c4"]
    position = own.post("position", game=BREAKTHROUGH, moves=moves).json()
    assert position["targets"]["13"] == {"6": ["b3a2"], "8": ["b3c2"]}
    assert position["cells"][13] == {"name": "b3", "move": None}
    assert "0" not in position["targets"]  # a piece of the other side
    assert (position["sources"]["b3a2"], position["landing"]["b3a2"]) == (13, 6)
    assert (position["last_cell"], position["last_cells"]) == (20, [14, 20])
    assert (position["drawing"], position["picture"], position["extra"]) == (None, None, [])
    promoted = own.post("position", game=PROMOTION, moves=["step"] * 4).json()
    assert promoted["targets"] == {"3": {"0": ["q", "r"]}}


def test_clients_are_told_who_moved_and_get_the_drawing(own: Studio) -> None:
    match = own.create(game=BOXES, moves=list(BOXES_WIN[:4]))
    assert (match["movers"], match["to_move"], match["human_to_move"]) == ([0, 1, 0, 1], 1, True)
    assert (match["rows"], match["cells"], match["last_cells"]) == (0, [], [])
    assert match["drawing"].splitlines()[1:3] == ["1  +---+   +", "   | O |"]
    assert match["picture"].startswith("<svg ")
    assert match["extra"] == match["legal"]
    assert match["score"] is None
    end = own.post("position", game=BOXES, moves=list(BOXES_WIN)).json()
    assert end["movers"] == BOXES_MOVERS
    assert (end["verdict"], end["score"], end["to_move"]) == ("O wins, 3 to 1", -2, 0)


def test_a_computer_that_moves_again_replies_again(own: Studio) -> None:
    """O has a move that completes a box, and one that does not; then the side to move is told."""
    match = own.create(game=BOXES, second="perfect", moves=["a1b1", "a1a2", "b1b2"])
    after = own.post(f"matches/{match['id']}/reply").json()
    assert after["moves"][-1] == "a2b2"
    assert (after["to_move"], after["human_to_move"]) == (1, False)
    again = own.post(f"matches/{match['id']}/reply").json()
    assert again["movers"] == [0, 1, 0, 1, 1]
    assert again["human_to_move"]


def test_an_analysis_tells_the_players_and_cells_of_its_lines(own: Studio) -> None:
    moves = " ".join(BOXES_WIN[:6])
    response = own.get("analysis", game=BOXES, moves=moves, seconds=5)
    last = [data for name, data in read_events(response.text) if name == "analysis"][-1]
    assert (last["value"], last["margin"], last["words"]) == ("win", 2, "wins by 2")
    assert [move["player"] for move in last["pv_line"][:2]] == [1, 1]  # O completes a box
    response = own.get("analysis", game=PROMOTION, moves="step step step step", seconds=5)
    last = [data for name, data in read_events(response.text) if name == "analysis"][-1]
    assert last["candidates"][0]["pv_line"] == [{"player": 0, "cells": [3, 0]}]
    assert last["candidates"][0]["pv_cells"] == [0]


def test_only_the_files_that_were_offered_can_be_named(own: Studio) -> None:
    listed = {game["name"]: game for game in own.get("games").json()}
    assert listed[BOXES]["summary"].startswith("Dots and Boxes with four boxes")
    assert listed[BREAKTHROUGH]["picture"].startswith("<svg ")
    assert "picture" not in listed["tictactoe"]
    other = str(Path(BOXES).with_name("other.py"))
    for spec in (other, f" {BOXES}", f"./{BOXES}"):
        assert_refused(own.post("position", game=spec), 422)


@pytest.mark.parametrize(
    "bad", [None, "<svg>", "<svg><script>a&b</script></svg>", f"<svg>{' ' * 200_000}</svg>"]
)
def test_a_bad_picture_is_not_sent(bad: str | None) -> None:
    assert to_picture(bad) is None


def test_a_picture_gets_the_namespace_that_browsers_need() -> None:
    assert to_picture("<svg/>") == '<svg xmlns="http://www.w3.org/2000/svg"/>'
    whole = '<svg width="1" xmlns="http://www.w3.org/2000/svg"/>'
    assert to_picture(whole) == whole


def test_the_command_offers_files(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "zermelo", "studio", "--port", "0"]
    process = subprocess.Popen(
        [*command, "--db", str(tmp_path / "studio.db"), "--game", BOXES, "--game", PROMOTION],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        assert process.stdout is not None
        url = process.stdout.readline().split()[2]
        names = [game["name"] for game in httpx.get(f"{url}/api/v1/games", timeout=60).json()]
        assert names[-2:] == [BOXES, PROMOTION]
    finally:
        process.kill()
        process.wait()
        process.stdout.close()  # type: ignore[union-attr]


def test_the_command_refuses_a_file_that_is_no_game(tmp_path: Path) -> None:
    done = zermelo("studio", "--db", str(tmp_path / "studio.db"), "--game", "missing.py")
    assert done.returncode == 2
    assert done.stderr == "zermelo: 'missing.py': there is no such file\n"


@pytest.mark.parametrize("spec", EXAMPLE_FILES)
def test_a_whole_game_of_each_example(own: Studio, spec: str) -> None:
    moves, end = random_game(spec)
    match = own.create(game=spec)
    for move, cells in moves:
        if len(cells) == 2:
            assert move in match["targets"][str(cells[0])][str(cells[1])]
        elif not cells:
            assert move in match["extra"]
        match = own.post(f"matches/{match['id']}/moves", move=move).json()
    assert (match["moves"], match["verdict"]) == ([move for move, _ in moves], end.verdict)
    assert match["score"] == (z.game(spec).score(end.state) if z.game(spec).has_scores else None)
    reply = own.post(f"matches/{own.create(game=spec, first='level:3')['id']}/reply").json()
    assert len(reply["moves"]) == 1
