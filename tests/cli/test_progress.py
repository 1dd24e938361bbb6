"""Progress: a bar that moves on a terminal, plain lines in a log, and answers that stay clean."""

import os
import pty
import re
import select
import subprocess
import sys
import time
from pathlib import Path

import pytest

from zermelo.cli.common import progress
from zermelo.cli.common.progress import Progress

COMMAND = [sys.executable, "-m", "zermelo"]
# Long commands, each with enough work for some tenths of a second after the bar appears.
LONG = {
    "solve": ["solve", "mnk:5x5x5"],
    "choose": ["choose", "connect4", "alphabeta:seconds=2"],
    "analyze": ["analyze", "connect4", "--moves", "4455", "--seconds", "1.5"],
    "count": ["count", "connect4", "--perft", "11"],
    "textbook": ["textbook", "tictactoe"],
    "grade": ["grade", "tictactoe", "mcts:sims=200"],
    "arena": ["arena", "tictactoe", "random", "mcts:sims=300", "--games", "400"],
    "positions": ["positions", "connect4", "--number", "300", "--out", "positions.txt"],
    "review": ["review", "connect4", "--moves", "444444333", "--seconds", "0.3"],
    "puzzle": ["puzzle", "line:rows=6,cols=6,win=5", "--plies", "9", "--seed", "2"],
    "prove": ["prove", "squava", "--out", "proof.txt"],
    "table": ["table", "mnk:4x4x3"],
    "book": ["book", "mnk:4x5x4", "--plies", "3", "--out", "new.book"],
    "train": ["train", "tictactoe-dqn", "--out", "run"],
    "bench": ["bench", "playouts", "--game", "tictactoe", "--seconds", "0.5"],
}


def environment(folder: Path) -> dict[str, str]:
    return os.environ | {"ZERMELO_HOME": str(folder), "COLUMNS": "100", "TERM": "xterm-256color"}


def run_on_terminal(arguments: list[str], folder: Path) -> str:
    """Run a command whose stderr is a terminal; return what it wrote there, until it is clear."""
    terminal, stderr = pty.openpty()
    process = subprocess.Popen(
        COMMAND + arguments,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=stderr,
        env=environment(folder),
        cwd=folder,
    )
    os.close(stderr)
    shown, deadline = b"", time.monotonic() + 60
    try:
        while time.monotonic() < deadline and len(states(shown.decode(errors="replace"))) < 2:
            if select.select([terminal], [], [], 0.1)[0]:
                try:
                    shown += os.read(terminal, 65536)
                except OSError:  # the command has ended
                    break
    finally:
        process.kill()
        process.wait()
        os.close(terminal)
    return shown.decode(errors="replace")


def states(shown: str) -> set[str]:
    """The different lines that a bar has shown, without colours and movements of the cursor."""
    plain = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", shown)
    return {line.strip() for line in re.split(r"[\r\n]+", plain) if line.strip()}


@pytest.mark.parametrize("name", LONG)
def test_long_commands_show_a_bar_that_moves(name: str, tmp_path: Path) -> None:
    if name == "train":
        pytest.importorskip("torch", reason="torch is not installed: nothing can be trained")
    shown = run_on_terminal(LONG[name], tmp_path)
    assert len(states(shown)) >= 2, shown
    assert re.search(r"\d+ s", shown)


def test_without_a_terminal_there_are_no_control_characters(tmp_path: Path) -> None:
    done = subprocess.run(
        [*COMMAND, "solve", "mnk:5x5x4"], capture_output=True, env=environment(tmp_path), check=True
    )
    assert b"\x1b" not in done.stdout + done.stderr
    assert b"\r" not in done.stdout + done.stderr
    assert done.stdout.startswith(b"draw")


def test_a_log_gets_lines_at_intervals(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress, "_LOG_INTERVAL", 0.05)
    with Progress("counting") as report:
        report("half", 0.5)
        time.sleep(0.3)
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) >= 2
    assert all(re.fullmatch(r"counting: half \(0 s, about 0 s left\)", line) for line in lines)


def test_nested_work_takes_the_place_of_its_parent(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress, "_LOG_INTERVAL", 0.05)
    with Progress("outer") as outer:
        outer("working")
        with Progress("inner", lambda: ("polled", None)):
            time.sleep(0.2)
        time.sleep(0.2)
    lines = capsys.readouterr().err.splitlines()
    assert [line.split()[0] for line in lines] == sorted(line.split()[0] for line in lines)
    assert {"inner: polled (0 s)"} <= set(lines)


def test_short_work_shows_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    with Progress("short") as report:
        report("done", 1.0)
    assert capsys.readouterr().err == ""
