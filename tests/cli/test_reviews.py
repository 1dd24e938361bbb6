"""Reviews of recorded games, puzzles, and the proof checker on the command line."""

import json
from pathlib import Path

import pytest

from support.commands import command, zermelo
from support.paths import ROOT
from zermelo.games import registry
from zermelo.matches.match import Match
from zermelo.records import Record, write
from zermelo.search.proofs import check_proof

MOVES = "b2 b1 b3 a1"


def record_of(spec: str, moves: str) -> Record:
    return Record.of(Match(spec, moves))


@pytest.mark.parametrize(("suffix", "record_format"), [("txt", "text"), ("sgf", "sgf")])
def test_a_record_is_reviewed_like_its_moves(
    suffix: str, record_format: str, tmp_path: Path
) -> None:
    path = tmp_path / f"game.{suffix}"
    path.write_text(write(record_of("tictactoe", MOVES), record_format))
    _, expected, _ = command("review", "tictactoe", "--moves", MOVES)
    assert expected.endswith("2 mistakes; X to move\n")
    assert command("review", str(path)) == (0, expected, "")


def test_standard_input_may_hold_several_games() -> None:
    given = "".join(
        write(record_of("tictactoe", moves), "text") + "\n" for moves in (MOVES, "a1 b2")
    )
    done = zermelo("review", "-", "--json", given=given)
    assert done.returncode == 0, done.stderr
    reviews = [json.loads(line) for line in done.stdout.splitlines()]
    assert [len(review) for review in reviews] == [5, 3]
    assert [move["mistake"] for move in reviews[0]] == [None, None, "mistake", "mistake", None]


def test_a_resignation_is_part_of_the_verdict(tmp_path: Path) -> None:
    match = Match("tictactoe", MOVES)
    match.resign()
    path = tmp_path / "game.json"
    path.write_text(write(Record.of(match), "json"))
    assert command("review", str(path))[1].endswith("; O wins: X resigned\n")


def test_bad_records(tmp_path: Path) -> None:
    empty = tmp_path / "empty.txt"
    empty.touch()
    for arguments, part in (
        (["review", "tictactoe"], "there is no file 'tictactoe': give a file of game records"),
        (["review", str(empty)], "contains no game"),
        (["review", str(empty), "--from", "pgn"], "unknown format 'pgn'"),
    ):
        code, out, err = command(*arguments)
        assert (code, out, part in err) == (2, "", True), err


def test_a_puzzle_keeps_its_solution_until_it_is_asked_for() -> None:
    _, out, _ = command("puzzle", "tictactoe")
    fields = json.loads(command("puzzle", "tictactoe", "--json")[1])
    assert f"Solution: {fields['solution']}\n" not in out
    hint = next(line for line in out.splitlines() if line.startswith("Solution: "))
    _, solved, _ = command(*hint.removeprefix("Solution: zermelo ").split())
    assert f"Solution: {fields['solution']}\n" in solved
    position = registry.game("tictactoe").position(moves=fields["moves"])
    assert fields["solution"] in position.legal


def test_check_proof(tmp_path: Path) -> None:
    path = tmp_path / "proof.txt"
    assert command("prove", "mnk:4x4x3", "--out", str(path))[0] == 0
    code, out, _ = command("check-proof", str(path))
    assert (code, out.startswith("proven: mnk:4x4x3 ")) == (0, True)
    path.write_text("\n".join(path.read_text().splitlines()[:-1]))  # a position is missing
    code, out, _ = command("check-proof", str(path), "--json")
    fields = json.loads(out)
    assert (code, fields["proven"]) == (1, False)
    assert fields["verdict"].startswith("not proven: ")
    assert command("check-proof")[0] == 2


def test_the_checker_can_be_taken_along() -> None:
    source = Path(check_proof.__file__).read_text()
    assert command("check-proof", "--source")[1] == source


def test_a_game_of_the_user_is_proven_and_checked(tmp_path: Path) -> None:
    nim, path = str(ROOT / "examples" / "nim.py"), str(tmp_path / "nim.txt")
    code, out, _ = command("prove", nim, "--out", path, "--json")
    assert (code, json.loads(out)["claim"]) == (0, "first")
    code, out, _ = command("check-proof", path, "--game", nim)
    assert (code, out.split(" (")[0]) == (0, "proven: nim.py")
    assert command("check-proof", path)[0] == 1, "the checker of line games does not know it"
    other = str(ROOT / "examples" / "hex.py")
    code, out, _ = command("check-proof", path, "--game", other)
    assert (code, "another version" in out) == (1, True)
