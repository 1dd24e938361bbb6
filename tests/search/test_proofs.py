"""Proof files: the checker accepts ours and rejects wrong ones."""

import contextlib
import functools
import io
import random
import re
import runpy
import subprocess
import sys
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from click.testing import CliRunner

import zermelo as z
from support.paths import ROOT
from zermelo.cli import cli
from zermelo.core.errors import ZermeloError
from zermelo.games.lines.small import WordLineGame
from zermelo.kernels.compiler import compile_kernel
from zermelo.search import textbook
from zermelo.search.proofs import proof
from zermelo.search.solver.solver import Solver

CHECKER = ROOT / "src/zermelo/search/proofs/check_proof.py"
HEADER = 4  # lines
CLAIMS = {1: "first", 0: "draw", -1: "second"}
#: small games of every kind, which minimax can solve
SMALL = (
    "mnk:3x3x3",
    "line:rows=3,cols=3,win=2",
    "mnk:4x3x3",
    "connect4:3x4",
    "connect4:4x3",
    "line:rows=3,cols=3,win=3,lose=1",
    "line:rows=3,cols=3,win=3,lose=2",
    "line:rows=3,cols=4,win=3,lose=2",
    "line:rows=3,cols=4,win=3,gravity=true",
    "line:rows=4,cols=3,win=3,overline=exact,gravity=true",
    "line:rows=2,cols=5,win=3,overline=exact",
)


@functools.cache
def text_of(spec: str) -> str:
    return proof.prove(z.game(spec)).to_text()


def check(path: Path, text: str) -> tuple[int, str]:
    """Return the exit code and the output of the checker, which runs in this process."""
    path.write_text(text)
    output = io.StringIO()
    with (
        mock.patch.object(sys, "argv", [str(CHECKER), str(path)]),
        contextlib.redirect_stdout(output),
    ):
        try:
            runpy.run_path(str(CHECKER), run_name="__main__")
        except SystemExit as error:
            return 1, str(error.code)
    return 0, output.getvalue().strip()


def complaint(path: Path, text: str) -> str:
    code, output = check(path, text)
    assert code == 1, output
    assert re.fullmatch(r"not proven: [^\n]+", output)
    return output


def replace_once(text: str, old: str, new: str) -> str:
    assert old in text
    return text.replace(old, new, 1)


@pytest.mark.parametrize("spec", SMALL)
def test_small_games_are_proven(spec: str, tmp_path: Path) -> None:
    game, text = z.game(spec), text_of(spec)
    code, output = check(tmp_path / "proof", text)
    assert code == 0, output
    value = textbook.TextbookSearch(game, method="both").solve(game.initial())
    assert output.startswith(f"proven: {game.spec} (rows ")
    assert output.endswith(f" claim {CLAIMS[value]}: {len(text.splitlines()) - HEADER:,} positions")


@pytest.mark.parametrize(
    "spec",
    ["mnk:4x4x4", "mnk:5x5x5", pytest.param("line:rows=8,cols=8,win=8", marks=pytest.mark.proof)],
)
def test_draws_by_pairing_strategies(spec: str, tmp_path: Path) -> None:
    game, text = z.game(spec), text_of(spec)
    code, output = check(tmp_path / "proof", text)
    assert (code, f"claim draw: {game.num_actions + 1} positions" in output) == (0, True), output


def test_the_script_runs_alone(tmp_path: Path) -> None:
    path = tmp_path / "proof"
    path.write_text(text_of("mnk:3x3x3"))
    run = functools.partial(subprocess.run, capture_output=True, text=True, check=False)
    done = run([sys.executable, "-I", "-S", CHECKER, path])
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("proven: mnk:3x3x3 ")
    missing = run([sys.executable, "-I", "-S", CHECKER, tmp_path / "none"])
    assert (missing.returncode, missing.stdout) == (1, "")
    assert missing.stderr.startswith("not proven: ")
    text = CHECKER.read_text()
    assert len(text.splitlines()) < 110
    assert "zermelo" not in "".join(re.findall("^(?:import|from) .*$", text, re.MULTILINE))


@pytest.mark.parametrize("spec", ["mnk:3x3x3", "mnk:4x3x3", "mnk:4x4x3", "connect4:4x4"])
def test_one_wrong_move_fails(spec: str, tmp_path: Path) -> None:
    """Try every move that fails the claim, in random positions."""
    game = z.game(spec)
    assert isinstance(game, WordLineGame)
    solver, lines = Solver(game), text_of(spec).splitlines()
    least = 0 if lines[3] == "claim draw" else 1
    wrong = 0
    for place in random.Random(1).sample(range(HEADER, len(lines)), min(40, len(lines) - HEADER)):
        board, move, *pairs = lines[place].split(" ")
        state = game.position(board).state
        for action in game.actions(state):
            after = game.play(state, action)
            cell = game.grid.text(game.move_cells(state, action)[0])
            if cell != move and -solver.sign(after) < least:
                line = " ".join((board, cell, *pairs))
                text = "\n".join([*lines[:place], line, *lines[place + 1 :]])
                complaint(tmp_path / "proof", text)
                wrong += 1
    assert wrong > 10


@pytest.mark.parametrize("spec", ["mnk:3x3x3", "mnk:4x3x3", "connect4:4x4"])
def test_every_line_is_needed(spec: str, tmp_path: Path) -> None:
    lines = text_of(spec).splitlines(keepends=True)
    for place in random.Random(2).sample(range(HEADER, len(lines)), 10):
        complaint(tmp_path / "proof", "".join(lines[:place] + lines[place + 1 :]))
        assert "twice" in complaint(tmp_path / "proof", "".join([*lines, lines[place]]))
        torn = "".join(lines[:place]) + lines[place][:5]
        complaint(tmp_path / "proof", torn)


@pytest.mark.parametrize(
    ("spec", "old", "new"),
    [
        ("mnk:3x3x3", "claim draw", "claim first"),
        ("mnk:3x3x3", "claim draw", "claim second"),
        ("mnk:3x3x3", "claim draw", "claim nobody"),
        ("mnk:3x3x3", "win 3", "win 2"),
        ("mnk:3x3x3", "lose 0", "lose 2"),
        ("mnk:3x3x3", "gravity 0", "gravity 1"),
        ("mnk:3x3x3", "gravity 0", "gravity 2"),
        ("mnk:3x3x3", "rows 3", "rows 4"),
        ("mnk:3x3x3", "rows 3", "rows 0"),
        ("mnk:3x3x3", "rows 3", "rows 333"),
        ("mnk:3x3x3", "proof 1", "proof 2"),
        ("mnk:4x4x3", "claim first", "claim second"),
        ("mnk:4x4x3", "claim first", "claim draw"),
        ("mnk:4x4x3", "win 3", "win 4"),
        ("mnk:4x4x3", "exact 0", "exact 7"),
        ("mnk:4x4x3", "cols 4", "cols 5"),
        ("mnk:4x4x3", "................ b2", "................ e9"),
        ("mnk:4x4x3", "................ b2", "................ b2 pairs a1-a2"),
        ("mnk:4x4x3", "................ b2", "................ pass"),
        ("mnk:4x4x3", "................ b2", "................"),
        ("mnk:4x4x3", "................ b2", "...............X b2"),
        ("mnk:4x4x4", " pairs ", " pairs a1-a1 "),
        ("mnk:4x4x4", " pairs ", " "),
        ("mnk:4x4x4", "-", ""),
        ("connect4:4x4", "gravity 1", "gravity 0"),
    ],
)
def test_other_claims_and_rules_fail(spec: str, old: str, new: str, tmp_path: Path) -> None:
    complaint(tmp_path / "proof", replace_once(text_of(spec), old, new))


def test_a_missing_pair_fails(tmp_path: Path) -> None:
    lines = text_of("mnk:4x4x4").splitlines()
    for place in range(HEADER, len(lines)):
        board, move, _pairs, *pairs = lines[place].split(" ")
        for rest in ([*pairs[1:]], [*pairs[:-1], pairs[0]], [*pairs, f"{move}-a1"]):
            line = " ".join((board, move, "pairs", *rest))
            text = "\n".join([*lines[:place], line, *lines[place + 1 :]])
            assert "let the opponent complete a line" in complaint(tmp_path / "proof", text)


def test_a_win_of_the_second_player_is_not_one_of_the_first(tmp_path: Path) -> None:
    text = text_of("line:rows=3,cols=3,win=3,lose=1").replace("claim second", "claim first")
    assert "not a legal move" in complaint(tmp_path / "proof", text)


@pytest.mark.parametrize("text", ["", "\n" * 9, "\x00\xff" * 99, "zermelo proof 1\n", "x" * 10**6])
def test_garbage_fails(text: str, tmp_path: Path) -> None:
    complaint(tmp_path / "proof", text)
    complaint(tmp_path / "proof", text_of("mnk:3x3x3") + (text or "x"))


def test_command(tmp_path: Path) -> None:
    path = tmp_path / "proof"
    done = CliRunner().invoke(cli, ["prove", "mnk:4x4x3", "--out", str(path), "--json"])
    assert done.exit_code == 0
    assert re.search('"claim": "first", "positions": 16, "bytes": 408', done.output)
    assert path.read_text() == text_of("mnk:4x4x3")
    assert [file.name for file in tmp_path.iterdir()] == ["proof"]


def test_too_many_positions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(proof, "MAX_POSITIONS", 10)
    path = tmp_path / "proof"
    done = CliRunner().invoke(
        cli, ["prove", "mnk:4x4x3", "--out", str(path)], standalone_mode=False
    )
    assert done.return_value == 1
    assert re.fullmatch(r"zermelo: mnk:4x4x3 is too large[^\n]*: 16 positions[^\n]*\n", done.output)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("spec", "why"),
    [
        ("gomoku", "64 cells"),
        ("reversi:4", "line games"),
        ("squava:pie=true", "pie=true"),
    ],
)
def test_games_without_proofs(spec: str, why: str) -> None:
    with pytest.raises(ZermeloError, match=why):
        proof.prove(z.game(spec))


@pytest.mark.proof
@pytest.mark.parametrize(
    ("spec", "claim"), [("gomoku6", "first"), ("squava", "first"), ("mnk:5x5x4", "draw")]
)
def test_large_games_are_proven(spec: str, claim: str, tmp_path: Path) -> None:
    code, output = check(tmp_path / "proof", text_of(spec))
    assert (code, f" claim {claim}: " in output) == (0, True), output


def test_no_kernel_call_takes_long(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C waits for the end of a call: candidate moves are listed for few states at a time."""
    game = z.game("mnk:4x4x3")
    assert isinstance(game, WordLineGame)
    start = game.initial()
    states = [game.play(start, action) for action in game.actions(start)] * 30
    sizes: list[int] = []
    whole = proof._Prover(game, str)._list_candidates(states, proof.HOLD)

    def record(kernel: Any, rules: Any) -> Any:
        run = compile_kernel(kernel, rules)

        def run_and_record(states: Any, *others: Any) -> Any:
            sizes.append(len(states))
            return run(states, *others)

        return run_and_record

    monkeypatch.setattr(proof, "compile_kernel", record)
    monkeypatch.setattr(proof, "_KERNEL_SLICE", 7)
    sliced = proof._Prover(game, str)._list_candidates(states, proof.HOLD)
    assert len(sizes) > 1
    assert max(sizes) == 7
    assert sum(sizes) == len(states)
    for name in ("candidates", "counts", "pairs", "num_pairs", "chosen"):
        assert (getattr(sliced, name) == getattr(whole, name)).all()
