"""Opening books against fresh solves, interrupted builds, and damaged files."""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from click.testing import CliRunner

import zermelo as z
from zermelo.cli import cli
from zermelo.core.game import WordGame
from zermelo.search.solver.book_builder import build_book
from zermelo.search.solver.solution import solve, solver_for
from zermelo.search.solver.solver import Solver
from zermelo.search.tablebase import opening_book
from zermelo.search.tablebase.files import BadTablebase
from zermelo.search.tablebase.opening_book import OpeningBook

SMALL = "connect4:4x5"


def word_game(spec: str) -> WordGame:
    game = z.game(spec)
    assert isinstance(game, WordGame)
    return game


def test_a_book_has_what_a_fresh_solver_finds(tmp_path: Path) -> None:
    game = word_game(SMALL)
    reports: list[tuple[int, int]] = []
    book = build_book(game, 3, tmp_path / "part", progress=lambda *report: reports.append(report))
    states = {game.initial()}
    for _ in range(3):
        states |= {game.play(s, a) for s in states for a in game.actions(s)}
    for state in states:
        assert book.score(state) == Solver(game).score(state)
    assert reports[-1][0] == reports[-1][1] == len(reports)
    beyond = game.play(game.play(game.play(game.play(game.initial(), 0), 0), 0), 1)
    assert book.score(beyond) is None


def test_the_shipped_book_of_connect_four() -> None:
    """The values of the first moves that Allen and Allis proved in 1988, without search."""
    start = z.game("connect4").start()
    solution = solve(start)
    assert (solution.source, solution.value, solution.plies, solution.best) == (
        "book",
        "win",
        41,
        ("4",),
    )
    after = [solve(start.play(move)) for move in start.legal]
    assert {solution.source for solution in after} == {"book"}
    # For the second player: the plies of a win or a loss after each first move.
    assert [(solution.value, solution.plies) for solution in after] == [
        ("win", 39), ("win", 41), ("draw", None), ("loss", 40),
        ("draw", None), ("win", 41), ("win", 39),
    ]  # fmt: skip
    assert solve(start.play("4").play("4").play("4")).source == "book"


def test_two_threads_build_the_same_book(tmp_path: Path) -> None:
    game = word_game(SMALL)
    one = build_book(game, 2, tmp_path / "one")
    two = build_book(game, 2, tmp_path / "two", threads=2)
    assert (one._keys == two._keys).all()
    assert (one._codes == two._codes).all()


def test_solve_says_that_the_book_answers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    game = word_game(SMALL)
    path = tmp_path / "a.book"
    build_book(game, 3, tmp_path / "part").write(path)
    fresh = solve(game.start(), solver=Solver(game))
    monkeypatch.setattr(opening_book, "_shipped_path", lambda _game: path)
    by_book = solve(game.start(), solver=solver_for(game))
    assert (by_book.source, fresh.source, by_book.nodes) == ("book", "search", 0)
    assert (by_book.value, by_book.plies, by_book.best) == (fresh.value, fresh.plies, fresh.best)
    assert by_book.pv == fresh.pv[: len(by_book.pv)]
    assert len(by_book.pv) == 3
    beyond = game.position(moves="1 1 1 2")
    assert solve(beyond, solver=solver_for(game)).source == "search"
    assert z.player("perfect").choose(game.start()).source == "book"


def test_a_damaged_book_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    game, path = word_game(SMALL), tmp_path / "a.book"
    build_book(game, 1, tmp_path / "part").write(path)
    data = path.read_bytes()
    assert OpeningBook.read(path, game).score(game.initial()) is not None
    for wrong, reason in (
        (data[:-1], "bytes, not"),
        (data[:-1] + bytes([data[-1] ^ 1]), "its contents are damaged"),
        (b"x" + data, "its first bytes are wrong"),
    ):
        path.write_bytes(wrong)
        with pytest.raises(BadTablebase, match=f"is not a book of {SMALL}: .*{reason}"):
            OpeningBook.read(path, game)
    monkeypatch.setattr(opening_book, "_shipped_path", lambda _game: path)
    assert solver_for(game).tablebase is None
    assert "this file is ignored" in caplog.text
    path.write_bytes(data)
    with pytest.raises(BadTablebase, match="it belongs to"):
        OpeningBook.read(path, word_game("connect4:5x4"))


def test_a_killed_build_is_resumed(tmp_path: Path) -> None:
    path = tmp_path / "a.book"
    part = tmp_path / "a.book.part"
    command = [sys.executable, "-m", "zermelo", "book", "connect4:5x5", "--plies", "4"]
    run = subprocess.Popen([*command, "--out", str(path)], env=os.environ)
    while not part.exists() or len(part.read_text().splitlines()) < 4:
        assert run.poll() is None
        time.sleep(0.01)
    run.send_signal(signal.SIGKILL)
    run.wait()
    assert not path.exists()
    with part.open("a") as file:
        file.write("12 3")  # as if the write had been interrupted
    before = part.read_text().splitlines()[1:-1]
    game = word_game("connect4:5x5")
    reports: list[int] = []
    book = build_book(game, 4, part, progress=lambda done, _all: reports.append(done))
    assert reports[0] == len(before) + 1
    assert book.score(game.initial()) == Solver(game).score(game.initial())


def test_journals_of_other_builds_are_refused(tmp_path: Path) -> None:
    part = tmp_path / "part"
    build_book(word_game(SMALL), 1, part)
    with pytest.raises(z.ZermeloError, match="is the journal of another book"):
        build_book(word_game(SMALL), 2, part)
    lines = part.read_text().splitlines()
    part.write_text("\n".join([lines[0], "1 2 three", ""]))
    with pytest.raises(z.ZermeloError, match="line 2 is damaged"):
        build_book(word_game(SMALL), 1, part)


def test_a_journal_of_the_release_before_is_resumed(tmp_path: Path) -> None:
    """It has no checksums; a line of a new journal without one is damaged."""
    game, part = word_game(SMALL), tmp_path / "part"
    scores = build_book(game, 1, part)._codes.tolist()
    new = part.read_text()
    assert new.startswith("zermelo journal 2 ")
    old = re.sub(" #.*", "", new)
    part.write_text(old)
    with pytest.raises(z.ZermeloError, match="line 2 is damaged"):
        build_book(game, 1, part)
    header, *lines = old.replace("journal 2 ", "journal ").splitlines(keepends=True)
    part.write_text(header + "".join(lines[:1]))
    assert build_book(game, 1, part)._codes.tolist() == scores
    assert part.read_text() == header + "".join(lines)


def test_command(tmp_path: Path) -> None:
    path = tmp_path / "a.book"
    run = CliRunner().invoke(cli, ["book", SMALL, "--plies", "1", "--out", str(path)])
    assert run.exit_code == 0, run.output
    assert run.output.startswith(f"{SMALL}: 4 states")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.book"]
    for wrong, reason in (
        (["gomoku"], "more than 64 cells"),
        ([SMALL, "--plies", "99"], "0 to 12"),
    ):
        run = CliRunner().invoke(cli, ["book", *wrong, "--out", str(path)])
        assert reason in str(run.exception)
