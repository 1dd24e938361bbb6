"""Answers on a terminal: never in the line of the progress bar, wrapped, and in colour."""

import contextlib
import itertools
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from support.commands import zermelo
from support.pseudo_terminal import run_on_terminal, screen_lines
from zermelo.cli.common import progress
from zermelo.cli.common.progress import Progress
from zermelo.cli.common.tables import table_lines

ANALYZE = ["analyze", "connect4", "--moves", "4455", "--seconds", "1"]


@pytest.mark.parametrize("environment", [{}, {"COLUMNS": "120"}, {"TERM": "dumb"}])
@pytest.mark.parametrize(
    ("arguments", "start"),
    [
        (ANALYZE, "* 3    wins in 2 moves"),
        (["solve", "connect4", "--moves", "1212", "--seconds", "1"], ("loses", "not proven")),
    ],
)
def test_answers_are_not_printed_into_the_bar(
    arguments: list[str], start: str | tuple[str, ...], environment: dict[str, str], tmp_path: Path
) -> None:
    """COLUMNS may be wrong: a bar wider than the terminal would be erased only in part."""
    written = run_on_terminal(arguments, tmp_path, **environment)
    if environment != {"TERM": "dumb"}:
        assert "━" in written  # a bar was visible
    lines = screen_lines(written)
    assert lines[0].startswith(start), lines
    assert not any("━" in line or "analyzing" in line or "solving" in line for line in lines)


def test_no_bar_appears_while_an_answer_is_printed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Other threads may report progress between the removal of the bar and the answer."""
    events: list[str] = []

    class Bar:
        task_ids = (0,)

        def start(self) -> None:
            events.append("drawn")

        def stop(self) -> None:
            events.append("erased")

        def update(self, *_: Any, **__: Any) -> None:
            pass

    monkeypatch.setattr(progress, "_can_draw", lambda: True)
    monkeypatch.setattr(progress, "_create_bar", lambda _: Bar())
    monkeypatch.setattr(progress, "_DELAY", 0.0)
    monkeypatch.setattr(progress, "_REFRESH", 0.001)
    with Progress("working") as report:
        done = threading.Event()

        def report_all_the_time() -> None:
            while not done.is_set():
                report("busy")
                time.sleep(0)

        thread = threading.Thread(target=report_all_the_time)
        thread.start()
        for _ in range(10):
            time.sleep(0.01)
            with progress.hidden():
                time.sleep(0.01)
                events.append("answer")
        done.set()
        thread.join()
    before_answers = [a for a, b in itertools.pairwise(events) if b == "answer"]
    assert "drawn" in events
    assert set(before_answers) <= {"erased", "answer"}


def test_long_answers_are_wrapped_on_a_terminal(tmp_path: Path) -> None:
    lines = screen_lines(run_on_terminal(["recipes"], tmp_path, columns=200), 1000)
    narrow = screen_lines(run_on_terminal(["recipes"], tmp_path), 1000)
    assert all(len(line) <= 80 for line in narrow)
    assert len(narrow) > len(lines)
    assert " ".join(" ".join(narrow).split()) == " ".join(" ".join(lines).split())
    solved = run_on_terminal(["solve", "tictactoe", "--moves", "b2 a1"], tmp_path, columns=50)
    assert all(len(line) <= 50 for line in screen_lines(solved, 1000))
    piped = zermelo("solve", "tictactoe", "--moves", "b2 a1").stdout
    assert piped.count("\n") == 1
    assert " ".join("".join(screen_lines(solved, 1000)).split())[:4] == piped[:4] == "draw"


def test_reasons_have_their_own_lines_on_a_narrow_terminal(tmp_path: Path) -> None:
    written = run_on_terminal(["analyze", "tictactoe", "--moves", "b2 b1"], tmp_path, columns=40)
    lines = screen_lines(written, 1000)
    assert max(map(len, lines)) <= 40
    assert lines[0].startswith("* a1   wins in 3 moves")


@pytest.mark.parametrize(("environment", "colour"), [({}, True), ({"NO_COLOR": "1"}, False)])
def test_values_have_colours_on_a_terminal(
    environment: dict[str, str], colour: bool, tmp_path: Path
) -> None:
    written = run_on_terminal(["analyze", "tictactoe", "--moves", "b2 b1"], tmp_path, **environment)
    assert ("\x1b[32m* a1   wins in 3 moves\x1b[0m" in written) == colour
    assert ("\x1b[33m" in written) == colour
    solved = run_on_terminal(["solve", "tictactoe"], tmp_path, **environment)
    assert ("\x1b[33mdraw\x1b[0m;" in solved) == colour
    assert "\x1b" not in zermelo("analyze", "tictactoe", "--moves", "b2 b1").stdout


def test_tables_without_a_terminal_are_not_wrapped() -> None:
    row = ("name", "a " * 100)
    assert table_lines([row], None) == [[f"name  {row[1]}".rstrip()]]
    assert all(len(line) <= 40 for line in table_lines([row], 40)[0])
    assert table_lines([("a-name-that-is-never-split", "two words " * 2)], 40) == [
        ["a-name-that-is-never-split  two words", f"{'':28}two words"]
    ]


def test_hidden_releases_the_lock_after_an_error() -> None:
    with Progress("working") as report:
        with contextlib.suppress(OSError), progress.hidden():
            raise OSError
        report("goes on")
        assert not report._lock.locked()
