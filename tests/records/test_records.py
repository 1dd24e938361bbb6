"""Records: round trips in every format, and strict reading."""

import random
import time
from pathlib import Path

import pytest

import zermelo as z
from support.commands import zermelo
from zermelo import records
from zermelo.records import Record, read, read_all, write

CELLS = ("tictactoe", "mnk:3x5x3", "squava", "gomoku6", "gomoku", "gomoku:size=9,renju=true")
CASES = [
    *[
        ("text", spec)
        for spec in (*CELLS, "connect4", "reversi", "squava:pie=true", "connect4:4x12")
    ],
    *[("json", spec) for spec in (*CELLS, "connect4", "reversi:6", "squava:pie=true")],
    *[("psq", spec) for spec in CELLS],
    *[("sgf", spec) for spec in (*CELLS, "reversi", "reversi:4")],
    *[("digits", spec) for spec in ("connect4", "connect4:5x5", "connect4:4x12")],
    *[("transcript", spec) for spec in ("reversi", "reversi:6", "reversi:4")],
]


def random_record(game: z.Game, rng: random.Random, *, can_resign: bool) -> Record:
    """Return a random game that was finished, broken off, or resigned."""
    match = z.match(game)
    length = rng.choice((1000, rng.randrange(1, 30)))
    while match.outcome is None and len(match.moves) < length:
        match.play(rng.choice([m for m in match.position.legal if m != "swap" or can_resign]))
    if match.outcome is None and can_resign and rng.random() < 0.5:
        match.resign()
    return Record.of(match)


def check_round_trips(form: str, spec: str, number: int) -> None:
    game, rng = z.game(spec), random.Random(f"{form}{spec}")
    has_results = form in ("text", "json") or (form == "sgf" and "pie" not in spec)
    for _ in range(number):
        record = random_record(game, rng, can_resign=has_results)
        again = read(write(record, form), form, game)
        assert again == record
        assert again.moves == record.moves
        assert again.outcome == record.outcome


@pytest.mark.parametrize(("form", "spec"), CASES)
def test_round_trip(form: str, spec: str) -> None:
    check_round_trips(form, spec, 25)


@pytest.mark.proof
@pytest.mark.parametrize(("form", "spec"), CASES)
def test_round_trip_over_10_000_games(form: str, spec: str) -> None:
    check_round_trips(form, spec, 10_000 if "gomoku:" not in spec and spec != "gomoku" else 2_000)


def test_every_format_is_covered() -> None:
    assert {form for form, _ in CASES} == set(records.FORMATS)


def test_one_game_in_every_format() -> None:
    record = read("tictactoe b2 a1 c1 b1 a3 1-0", "text")
    assert write(record, "json") == (
        '{"game": "tictactoe", "moves": ["b2", "a1", "c1", "b1", "a3"], "result": "first"}'
    )
    assert write(record, "sgf") == (
        "(;FF[4]GM[4]SZ[3]RU[tictactoe]RE[B+];B[bb];W[aa];B[ca];W[ba];B[ac])\n"
    )
    assert write(record, "psq").splitlines() == [
        "Piskvorky 3x3, 11:11, 0", "2,2,0", "1,1,0", "3,1,0", "2,1,0", "1,3,0",
        "first", "second", "-1",
    ]  # fmt: skip
    assert write(read("connect4 4 4 5 5 *", "text"), "digits") == "4455"
    assert write(read("reversi f5 d6 c3 *", "text"), "transcript") == "f5d6c3"


def test_passes_are_optional_in_a_transcript() -> None:
    game, rng = z.game("reversi:4"), random.Random(1)
    seen = 0
    for _ in range(50):
        record = random_record(game, rng, can_resign=False)
        with_passes = "".join(record.moves)
        assert read(with_passes, "transcript", game) == record
        seen += "pass" in with_passes[:-4]
    assert seen


def test_files_of_other_programs() -> None:
    """Names, times, comments and line breaks, as in the examples of the formats themselves."""
    moves = "10,10,15\n11,10,33\n10,11,1200\n"
    psq = f"Piskvorky 20x20, 11:11, 0\n{moves}engine-a.zip\nengine-b.zip\n-1\n"
    assert read(psq, "psq").moves == ["j10", "k10", "j11"]
    head = "GM[4]FF[3]SZ[15]\nPB[Black \\] player]PW[White]C[a\ncomment]"
    sgf = f"(;{head};B[hh];W[hg]C[(;B[zz\\])]\n)\n"
    assert read(sgf, "sgf").moves == ["h8", "h7"]
    assert read("F5D6 c3\n", "transcript").moves == ["f5", "d6", "c3"]


FIFTH = "a1 b1 c1 a2 a1"
BAD = [
    ("text", f"tictactoe {FIFTH} *", "line 1, move 5: illegal move 'a1' in tictactoe after"),
    ("text", "tictactoe a1 1-0 0-1", "line 1: there are two results, 1-0 and 0-1"),
    ("text", "tictactoe a1", "line 1: the line must end with a result"),
    ("text", "tictactoe a1 b1 a2 b2 a3 0-1", "line 1: the result says the second player wins"),
    ("text", "tictactoe a1 1/2-1/2", "line 1: the result says a draw"),
    ("text", "[Event chess] e4 e5 1-0", "line 1: unknown game '[Event'"),
    ("text", "nim.py 1 2 *", "line 1: unknown game 'nim.py'"),
    ("text", "", "line 1: a record must be one line"),
    (
        "json",
        '{"game":"tictactoe","moves":["a1","b1","c1","a2","a1"],"result":null}',
        "line 1, move 5: illegal",
    ),
    (
        "json",
        '{"game":"tictactoe","moves":[],"result":null,"result":"first"}',
        "line 1: 'result' occurs twice",
    ),
    ("json", '{"game":"tictactoe","moves":[]}', "line 1: a record must be an object with"),
    ("json", '{"game":"tictactoe","moves":"a1","result":null}', "line 1: moves must be a list"),
    (
        "json",
        '{"game":"tictactoe","moves":[1],"result":null}',
        "line 1: moves must be a list of",
    ),
    ("json", '{"game":"tictactoe","moves":[],"result":"win"}', "line 1: result is 'win'"),
    ("json", "[" * 100_000, "line 1: not JSON"),
    ("json", "<html>", "line 1: not JSON"),
    (
        "psq",
        "Piskvorky 15x15, 11:11, 0\n8,8,0\n9,9,0\n7,7,0\n6,6,0\n8,8,0\n",
        "line 6, move 5: illegal move 'h8'",
    ),
    ("psq", "Piskvorky 15x15, 11:11, 0\n8,8,0\na\nb\n1\n-1\n", "line 6: there are two results"),
    (
        "psq",
        "Piskvorky 15x15, 11:11, 0\n8,8,0\n16,1,0\n",
        "line 3: 16,1,0 is outside the 15 x 15 board",
    ),
    ("psq", "Piskvorky 15x15, 11:11, 0\n8,8,0\n8,9\n", "line 3: '8,9' is not a move"),
    ("psq", "Piskvorky 99x99, 11:11, 0\n", "line 1: 'gomoku:size=99': size is 99"),
    ("psq", "(;GM[4]SZ[15])", "line 1: '(;GM[4]SZ[15])' is not a PSQ header"),
    (
        "sgf",
        "(;GM[4]SZ[3]RU[tictactoe]\n;B[aa];W[ba]\n;B[ca];W[ab]\n;B[aa])",
        "line 4, move 5: illegal move",
    ),
    ("sgf", "(;GM[4]SZ[15]RE[B+]RE[W+])", "line 1: there are two results"),
    ("sgf", "(;GM[4]SZ[15]RE[B+]\n;B[hh]RE[W+])", "line 2: there is a second result"),
    ("sgf", "(;GM[1]SZ[19];B[pd])", "line 1: GM['1'] is unsupported: only GM[4]"),
    ("sgf", "(;GM[4];B[hh])", "line 1: SZ gives no board"),
    ("sgf", "(;GM[4]SZ[15];W[hh])", "line 1, move 1: W moves out of turn"),
    ("sgf", "(;GM[4]SZ[15](;B[hh])(;B[gg]))", "line 1: variations cannot be read"),
    ("sgf", "(;GM[4]SZ[15]AB[hh])", "line 1: AB sets up a position"),
    ("sgf", "(;GM[4]SZ[15];B[zz])", "line 1, move 1: 'zz' is not a point"),
    ("sgf", "(;GM[4]SZ[15];B[pa])", "line 1, move 1: pa is outside"),
    ("sgf", "(;GM[4]SZ[15];B[hh]", "line 1: an SGF game has the form"),
    ("sgf", "(;GM[4]SZ[15]RU[tictactoe];B[hh])", "line 1: SZ[15] is not the board size of"),
    ("sgf", "(;GM[2]SZ[5])", "line 1: 'reversi:5'"),
    ("sgf", "(;GM[4]SZ[15]RE[B+foo])", "is not a result"),
    ("sgf", "(;GM[4]SZ[15];B[hh]W[gg])", "line 1: there are two moves in one node"),
    ("sgf", "(;GM[4]SZ[15];B;W[gg])", "line 1: B has no value"),
    ("sgf", "(;GM[4]SZ[15];B[hh];[gg])", "line 1: a value has no property"),
    ("psq", "Piskvorky \u0661\u0665x15, 11:11, 0\n", "is not a PSQ header"),
    ("digits", "44444444", "line 1, move 7: illegal move '4' in connect4"),
    ("digits", "44x4", "line 1: 'x' is not a column"),
    ("digits", "4480", "line 1, move 3: illegal move '8'"),
    ("transcript", "f5d6c3d3f5", "line 1, move 5: illegal move 'f5'"),
    ("transcript", "f5 d6 z9", "line 1: 'z9' is not a cell"),
    ("nonsense", "", "unknown format 'nonsense': the formats are text, json, psq"),
]


@pytest.mark.parametrize(("form", "text", "part"), BAD)
def test_a_bad_record_is_refused_with_line_and_reason(form: str, text: str, part: str) -> None:
    with pytest.raises(z.BadRecord) as caught:
        read(text, form)
    assert part in str(caught.value)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 600


@pytest.mark.parametrize("form", sorted(records.FORMATS))
def test_noise_is_refused_quickly(form: str) -> None:
    noise = random.Random(1).randbytes(10_000_000).decode("latin-1")
    with pytest.raises(z.BadRecord, match="line 1: "):
        read(noise, form)
    for size in (50, 5_000, 900_000):
        with pytest.raises(z.BadRecord, match=r"line [0-9]+"):
            read(noise[:size], form)
        with pytest.raises(z.BadRecord, match=r"line [0-9]+"):
            list(read_all(noise[:size].splitlines(keepends=True), form))


def test_a_megabyte_of_properties_is_read_in_time() -> None:
    begin = time.perf_counter()
    read("(;GM[4]SZ[15]" + "C[x]\n" * 190_000 + ")", "sgf")
    assert time.perf_counter() - begin < 5


@pytest.mark.parametrize(
    ("form", "text"),
    [
        ("psq", "connect4 4 *"),
        ("sgf", "connect4 4 *"),
        ("digits", "tictactoe a1 *"),
        ("transcript", "tictactoe a1 *"),
        ("psq", "squava:pie=true a1 swap *"),
        ("sgf", "squava:pie=true a1 swap *"),
        ("psq", "gomoku a1 1-0"),
        ("digits", "connect4 4 1-0"),
    ],
)
def test_a_game_that_a_format_cannot_hold_is_refused(form: str, text: str) -> None:
    with pytest.raises(z.BadRecord):
        write(read(text, "text"), form)


def test_a_record_never_loads_a_file(tmp_path: Path) -> None:
    trap = tmp_path / "trap.py"
    trap.write_text("raise SystemExit('loaded')")
    for form, text in (("text", f"{trap} a1 *"), ("sgf", f"(;GM[4]SZ[15]RU[{trap}])")):
        try:
            read(text, form)
        except z.BadRecord as error:
            assert "unknown game" in str(error)  # noqa: PT017 - SGF ignores a foreign RU


def test_the_game_must_be_the_expected_one() -> None:
    with pytest.raises(z.BadRecord, match="the game of the record is 'gomoku6', not tictactoe"):
        read("gomoku6 a1 *", "text", z.game("tictactoe"))


def test_specs_with_spaces_are_normalised() -> None:
    record = Record.of(z.match(z.game("tictactoe:size=4, win=3"), "a1"))
    assert read(write(record, "text"), "text").moves == ["a1"]


def test_an_empty_line_is_a_game_without_moves() -> None:
    assert [r.moves for r in read_all(["4\n", "\n", "5\n"], "digits")] == [["4"], [], ["5"]]


def test_convert() -> None:
    given = "connect4 4 4 5 5 *\n\nconnect4 1 2 *\n"
    assert zermelo("convert", "-", "--to", "digits", given=given).stdout == "4455\n12\n"
    back = zermelo("convert", "-", "--from", "digits", "--game", "connect4", given="4455\n12\n")
    assert back.stdout == "connect4 4 4 5 5 *\nconnect4 1 2 *\n"
    bad = zermelo("convert", "-", given="tictactoe a1 *\ntictactoe a1 a1 *\n")
    assert bad.returncode == 2
    assert "line 2: move 2: illegal move" in bad.stderr
    assert zermelo("convert", "/nowhere").returncode == 2
