"""Games at the keyboard, through pipes."""

import os
from pathlib import Path

import pytest

from test_cli import zermelo


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ZERMELO_HOME", str(tmp_path))
    return tmp_path


def test_a_whole_game_of_two_humans(home: Path) -> None:
    done = zermelo("play", "tictactoe", "--second", "human", given="b2\na1\nc1\n1\na3\n")
    assert done.returncode == 0
    assert done.stdout == (
        "tictactoe: human (X) against human (O).\n"
        "Moves: cells a1 to c3, or indices 0 to 8. Type help for more.\n\n"
        "   a   b   c\n1  .   .   .\n2  .   .   .\n3  .   .   .\n\n"
        "X to move: You played: b2 (4)\n"
        "   a   b   c\n1  .   .   .\n2  .  (X)  .\n3  .   .   .\n\n"
        "O to move: You played: a1 (0)\n"
        "   a   b   c\n1 (O)  .   .\n2  .   X   .\n3  .   .   .\n\n"
        "X to move: You played: c1 (2)\n"
        "   a   b   c\n1  O   .  (X)\n2  .   X   .\n3  .   .   .\n\n"
        "O to move: You played: b1 (1)\n"
        "   a   b   c\n1  O  (O)  X\n2  .   X   .\n3  .   .   .\n\n"
        "X to move: You played: a3 (6)\n"
        "   a   b   c\n1  O   O  [X]\n2  .  [X]  .\n3 [X]  .   .\n\n"
        "X wins.\n"
    )
    assert not list(home.rglob("*.json"))


def test_no_humans(home: Path) -> None:
    done = zermelo("play", "connect4", "--first", "random:seed=1", "--second", "random:seed=2")
    assert done.returncode == 0
    assert "wins." in done.stdout
    assert "to move" not in done.stdout


def test_commands(home: Path) -> None:
    given = "undo\nhistory\nb2\nundo\nhelp\nboard\na1\nb1\nhistory\nresign\n"
    done = zermelo("play", "tictactoe", "--second", "human", given=given)
    for part in ("There is nothing to take back.", "No moves yet.", "Took back 1 move."):
        assert part in done.stdout
    assert "  1. a1  b1" in done.stdout
    assert "O wins: X resigned." in done.stdout


def test_undo_goes_back_to_the_human(home: Path) -> None:
    done = zermelo("play", "squava", given="a1\nundo\nhistory\nquit\n")
    assert "Took back 2 moves." in done.stdout
    assert "No moves yet." in done.stdout


@pytest.mark.parametrize("bad", ["", "z9", "b2", "\u00b2", "9", "x" * 1_000_000, "a1; rm", "\x00"])
def test_bad_input_is_answered_and_asked_again(home: Path, bad: str) -> None:
    done = zermelo("play", "tictactoe", "--second", "human", given=f"b2\n{bad}\na1\nquit\n")
    assert done.returncode == 0
    assert done.stdout.count("to move: ") == 4
    assert "You played: a1 (0)" in done.stdout
    assert len(done.stdout) < 3000


def test_end_of_input_saves_and_resume_continues(home: Path) -> None:
    done = zermelo("play", "tictactoe", "--second", "human", given="b2\na1\n")
    assert done.returncode == 0
    assert "Go on with: zermelo play --resume" in done.stdout
    again = zermelo("play", "--resume", given="history\nc1\nb1\na3\n")
    assert "  1. b2  a1" in again.stdout
    assert "X wins." in again.stdout
    gone = zermelo("play", "--resume")
    assert gone.returncode == 2
    assert "there is no game to resume" in gone.stderr


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{}",
        "[1]",
        "\x00",
        '{"game": 1}',
        '{"game":"tictactoe","first":"human"}',
        "9" * 200_000,
        "[" * 90_000,
    ],
)
def test_a_damaged_save_is_refused(home: Path, text: str) -> None:
    (home / "saved").mkdir()
    (home / "saved" / "tictactoe.json").write_text(text)
    done = zermelo("play", "--resume")
    assert done.returncode == 2
    assert "is not a saved game" in done.stderr


def test_a_save_with_illegal_moves_is_refused(home: Path) -> None:
    text = '{"game":"tictactoe","first":"human","second":"human","moves":["a1","a1"]}'
    (home / "saved").mkdir()
    (home / "saved" / "tictactoe.json").write_text(text)
    done = zermelo("play", "--resume")
    assert done.returncode == 2
    assert "the cell is taken" in done.stderr


def test_ctrl_c_saves(home: Path) -> None:
    import signal
    import subprocess
    import sys

    with subprocess.Popen(
        [sys.executable, "-m", "zermelo", "play", "tictactoe", "--second", "human"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONUNBUFFERED": "1"},
    ) as running:
        assert running.stdin
        assert running.stdout
        running.stdin.write("b2\n")
        running.stdin.flush()
        while "You played" not in running.stdout.readline():
            pass
        running.send_signal(signal.SIGINT)
        rest = running.stdout.read()
        assert running.wait(10) == 0
    assert "The game is saved." in rest
    assert "  1. b2" in zermelo("play", "--resume", given="history\n").stdout


def test_one_game_never_costs_another(home: Path) -> None:
    """Finishing or leaving other games keeps the saved one; each game has its own."""
    zermelo("play", "connect4", "--second", "human", given="4\n")
    zermelo("play", "tictactoe", "--first", "random", "--second", "random")
    zermelo("play", "tictactoe", "--second", "human", given="b2\n")
    assert "tictactoe" in zermelo("play", "--resume", given="history\n").stdout
    assert "  1. 4" in zermelo("play", "connect4", "--resume", given="history\n").stdout
    missing = zermelo("play", "squava", "--resume")
    assert "there is no game of squava to resume" in missing.stderr


def test_a_game_that_cannot_be_saved_is_told(home: Path) -> None:
    (home / "saved").write_text("in the way")
    done = zermelo("play", "tictactoe", "--second", "human", given="b2\na1\n")
    assert done.returncode == 0
    assert "The game could not be saved" in done.stdout
    assert "b2 a1" in done.stdout


def test_undo_before_ones_first_move_takes_nothing_back(home: Path) -> None:
    done = zermelo("play", "tictactoe", "--first", "random", "--second", "human", given="undo\n")
    assert "There is nothing to take back." in done.stdout


def test_endings_say_why(home: Path) -> None:
    moves = "e4 a9 e6 c9 d5 i9 f5 i7 e5".replace(" ", "\n")
    done = zermelo("play", "gomoku:size=9,renju=true", "--second", "human", given=f"{moves}\n")
    assert "O wins: X made two threes." in done.stdout
    both = ["play", "reversi:4", "--first", "random:seed=1", "--second", "random:seed=2"]
    assert "-" in zermelo(*both).stdout.splitlines()[-1]
