"""The command line: answers, errors, input and output, and start-up time."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from support.commands import answer, zermelo


def test_count() -> None:
    assert answer("count", "tictactoe", "--states", "--games", "--perft", "3") == {
        "game": "tictactoe",
        "perft": [9, 72, 504],
        "states": 5478,
        "by_ply": [1, 9, 72, 252, 756, 1260, 1520, 1140, 390, 78],
        "games": {"total": 255168, "first": 131184, "second": 77904, "draw": 46080},
    }
    assert answer("count", "tictactoe", "--states", "--symmetric")["states"] == 765  # type: ignore[index]
    assert "5,478 states" in zermelo("count", "tictactoe", "--states").stdout


def test_choose() -> None:
    fields = answer("choose", "connect4", "random:seed=1")
    assert set(fields) == {"move", "value", "estimate", "exact", "seconds"}  # type: ignore[call-overload]
    assert zermelo("choose", "tictactoe", "random", "--moves", "0 1 2 3 4 5 7").stdout in (
        "c3\n",
        "a3\n",
    )
    assert zermelo("choose", "tictactoe", "random", "--board", "XOX/OXO/.XO").stdout == "a3\n"


def test_choose_from_stdin() -> None:
    given = "4455\n\nboard:" + "......./" * 5 + "...X...\nnonsense\n44444\n"
    done = zermelo("choose", "connect4", "random", "--stdin", "--json", given=given)
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert [("error" in line) for line in lines] == [False, False, False, True, False]
    assert done.returncode == 1
    assert zermelo("choose", "connect4", "random", "--stdin", given="4\n").returncode == 0
    long = zermelo("choose", "connect4", "random", "--stdin", given="4" * 500_000 + "\n4\n")
    assert len(long.stdout.splitlines()) == 2
    assert long.returncode == 1


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (["count", "tictactoe:size=99", "--states"], "rows is 99: a board has 1 to 20 rows"),
        (
            ["count", "tictactoe:size=3,win=4", "--states"],
            "win is 4: on a 3x3 board it must be 2 to 3",
        ),
        (["count", "mnk:0x3x3", "--states"], "rows is 0: a board has 1 to 20 rows"),
        (["count", "chess", "--states"], "unknown game 'chess'"),
        (["count", "tictactoe:length=3", "--states"], "unknown parameter 'length': choose"),
        (["count", "tictactoe"], "say what to count"),
        (["count", "tictactoe", "--symmetric", "--games"], "--symmetric needs --states"),
        (["count", "tictactoe", "--perft", "x"], "'x' is not a valid integer"),
        (["choose", "tictactoe", "random", "--moves", "b2 b2"], "the cell is taken; legal: a1"),
        (["choose", "tictactoe", "random", "--moves", "z9"], "'z9' is outside the 3x3 board"),
        (["choose", "tictactoe", "random", "--moves", "0 3 1 4 2 5"], "the game is over: X wins"),
        (["choose", "tictactoe", "random", "--moves", "0 3 1 4 2"], "no move to choose"),
        (["choose", "tictactoe", "random", "--board", "XX"], "2 cells were given, but"),
        (["choose", "tictactoe", "random", "--board", "X", "--moves", "b2"], "give only one of"),
        (["choose", "tictactoe", "expert"], "unknown player 'expert'"),
        (["choose", "tictactoe", "human"], "human needs a screen"),
        (["play", "tictactoe", "--first", "nobody"], "unknown player 'nobody'"),
        (["play"], "name a game"),
        (["play", "tictactoe", "--seconds", "-1"], "-1"),
        (["frobnicate"], "No such command"),
        (["count", "mnk", "--states"], "write the sizes as"),
        (["count", "mnk:2x2x3", "--states"], "one side must be 3 or more"),
        (["count", "mnk:4x4x9", "--states"], "it must be 3 to 4"),
        (["count", "tictactoe:size=1", "--states"], "no line fits"),
        (["choose", "tictactoe", "random", "--seconds", "nan"], "'nan' is not a number of seconds"),
        (["bench", "playouts", "--seconds", "inf"], "'inf' is not a number of seconds"),
        (["count", "tictactoe", "--perft", "99999999999"], "0<=x<=1000"),
    ],
)
def test_the_error_of_bad_arguments_is_one_line(arguments: list[str], part: str) -> None:
    done = zermelo(*arguments)
    assert done.returncode == 2
    assert done.stdout == ""
    assert part in done.stderr
    assert done.stderr.count("\n") == 1
    assert done.stderr.startswith("zermelo: ")


def test_a_broken_pipe_and_a_full_disk() -> None:
    script = f"{sys.executable} -m zermelo games | head -1; echo ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.endswith("0\n")
    assert done.stderr == ""
    full = subprocess.run(
        ["bash", "-c", f"{sys.executable} -m zermelo games > /dev/full"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert full.returncode == 2
    assert full.stderr.count("\n") == 1


def test_invalid_and_closed_standard_input() -> None:
    command = [sys.executable, "-m", "zermelo", "choose", "tictactoe", "random", "--stdin"]
    strict = {**os.environ, "PYTHONIOENCODING": "utf-8:strict"}
    bytes_in = subprocess.run(
        command, input=b"a1\n\xff\n", capture_output=True, check=False, env=strict
    )
    assert bytes_in.returncode == 1
    assert b"error" in bytes_in.stdout
    closed = subprocess.run(
        ["bash", "-c", f"{' '.join(command)} <&-"], capture_output=True, check=False
    )
    assert closed.returncode == 0
    long = zermelo(*command[3:], "--json", given="a1" + " " * 200_000 + "z9\n")
    assert long.returncode == 1
    assert "has more than 100,000 characters" in long.stdout


def test_without_a_command_it_shows_help() -> None:
    for command, heading in (([], "Solve and analyze:"), (["bench"], "Commands:")):
        done = zermelo(*command)
        assert done.returncode == 0
        assert heading in done.stdout


def test_lists_of_games_and_players() -> None:
    games, players = answer("games"), answer("players")
    assert {g["name"] for g in games} >= {"tictactoe", "connect4", "squava"}  # type: ignore[attr-defined]
    assert {p["name"] for p in players} >= {"human", "random"}  # type: ignore[attr-defined]
    assert "squava:pie=true" in zermelo("games").stdout


def test_fields_of_bench_playouts() -> None:
    report = answer(
        "bench", "playouts", "--seconds", "0.01", "--repeat", "1", "--game", "tictactoe"
    )
    assert isinstance(report, dict)
    assert report["suite"] == "playouts"
    assert {"game", "task", "system", "rate", "unit"} == set(report["rows"][0])
    ours = next(row["rate"] for row in report["rows"] if row["system"] == "zermelo")
    for row in report["rows"]:
        if row["system"] != "zermelo":
            ratio = report["ratios"]["tictactoe/playouts"][row["system"]]
            assert ratio == pytest.approx(ours / row["rate"], rel=0.01)


def test_help_is_fast() -> None:
    """It takes less than 150 ms of CPU time and imports no heavy module."""
    code = "import sys; from zermelo.cli import cli; "
    code += "print([m for m in ('numpy', 'numba', 'torch', 'rich') if m in sys.modules])"
    assert subprocess.check_output([sys.executable, "-c", code], text=True) == "[]\n"
    times = []
    for _ in range(5):
        before = os.times()
        assert zermelo("--help", PYTHONDONTWRITEBYTECODE="").returncode == 0
        after = os.times()
        times.append(
            after.children_user
            + after.children_system
            - before.children_user
            - before.children_system
        )
    assert min(times) < 0.150


def test_first_move_of_a_fresh_process_is_quick() -> None:
    times = []
    for _ in range(3):
        begin = time.perf_counter()
        assert zermelo("choose", "connect4", "random").returncode == 0
        times.append(time.perf_counter() - begin)
    assert min(times) < 1.5


@pytest.mark.parametrize(
    ("games", "least"), [(["tictactoe"], 5), pytest.param([], 50, marks=pytest.mark.proof)]
)
def test_warm_fills_an_empty_cache(tmp_path: Path, games: list[str], least: int) -> None:
    done = zermelo("warm", *games, ZERMELO_CACHE=str(tmp_path))
    assert "kernels ready" in done.stdout
    count = len(list(tmp_path.rglob("*.nbc")))
    assert count >= least
    zermelo("count", "tictactoe", "--perft", "2", ZERMELO_CACHE=str(tmp_path))
    assert len(list(tmp_path.rglob("*.nbc"))) == count
