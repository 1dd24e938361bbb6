"""Large boards and renju: drawn positions, published facts, and bitboard against padded board."""

import random

import numpy as np
import pytest

import zermelo as z
from support import truth
from support.naive import renju_foul
from zermelo.core.game import BoardGame
from zermelo.core.position import Position
from zermelo.games.lines.large import BoardLineGame
from zermelo.games.lines.renju import FOULS, RenjuGame
from zermelo.games.lines.rules import LineGame
from zermelo.kernels.compiler import compile_kernel
from zermelo.kernels.registry import kernel

SMALL = [
    {"rows": 3, "cols": 3, "win": 3},
    {"rows": 5, "cols": 5, "win": 4, "lose": 3},
    {"rows": 7, "cols": 6, "win": 3, "overline": "exact"},
    {"rows": 6, "cols": 7, "win": 4, "gravity": True},
    {"rows": 5, "cols": 7, "win": 4, "lose": 3, "gravity": True},
]
LARGE = [
    {"rows": 15, "cols": 15, "win": 5},
    {"rows": 9, "cols": 12, "win": 4, "lose": 3, "overline": "exact"},
    {"rows": 20, "cols": 20, "win": 7},
    {"rows": 10, "cols": 10, "win": 4, "gravity": True},
]


@kernel("uint8[::1], int64[::1], int64[:,::1]")
def replay(game: BoardGame, cells: np.ndarray, actions: np.ndarray, notes: np.ndarray) -> None:
    """Play actions on a padded board and write (is over, value) after each to `notes`."""
    for row in range(len(actions)):
        at = game.landing(cells, actions[row])
        cells[at] = 1 + row % 2
        over, value = game.result_after(cells, at, game.cells - row - 1)
        notes[row, 0], notes[row, 1] = over, value


def check_padded_board(game: BoardLineGame, reference: LineGame, seed: int) -> None:
    """Check `game` on the padded board, in Python and compiled, in a random game of `reference`."""
    rng = random.Random(seed)
    state, actions, expected = reference.initial(), [], []
    while choices := reference.actions(state):
        actions.append(rng.choice(choices))
        state = reference.play(state, actions[-1])
        over, value = reference.result(state)
        expected.append([int(over), int(value)])
    plain, native = (np.zeros((len(actions), 2), np.int64) for _ in range(2))
    frame = game.to_padded_board(game.initial())
    replay(game, bytearray(frame), actions, plain)
    compile_kernel(replay, game)(np.frombuffer(frame, np.uint8).copy(), np.array(actions), native)
    assert plain.tolist() == native.tolist() == expected


@pytest.mark.parametrize("rules", SMALL + LARGE, ids=lambda r: "-".join(f"{v}" for v in r.values()))
def test_the_padded_board_equals_the_bitboard(rules: dict[str, int]) -> None:
    for seed in range(20):
        check_padded_board(BoardLineGame(**rules), LineGame(**rules), seed)


def test_renju_on_the_padded_board() -> None:
    game = RenjuGame(9, "gomoku:size=9,renju=true")
    for seed in range(30):
        check_padded_board(game, game, seed)


def unchecked(game: z.Game, rows: list[str], player: int) -> Position:
    return game.position("/".join(rows), to_move=player, unchecked=True)


def from_bottom(move: str) -> str:
    """Convert a move from the literature, which counts rows from the bottom: A1 is a15 here."""
    return f"{move[0].lower()}{16 - int(move[1:])}"


@pytest.mark.parametrize("row", range(10))
def test_forbidden_points_as_published(row: int) -> None:
    record = truth.records("gomoku/forbidden.jsonl")[row]
    game = z.game("gomoku:renju=true")
    assert isinstance(game, RenjuGame)
    position = unchecked(game, record["board"], 0)
    kinds = {
        "DoubleThree": "a double three",
        "DoubleFour": "a double four",
        "Overline": "an overline",
    }
    for point in record["points"]:
        move = from_bottom(point["move"])
        foul = FOULS[game.foul_of(position.state, game.parse_action(position.state, move))]
        assert foul == kinds.get(point["forbidden"], ""), (record["id"], move)
        assert (move in position.forbidden) == bool(foul)
        if foul:
            assert position.play(move).outcome is z.Outcome.SECOND
    if record.get("complete"):
        expected = {from_bottom(p["move"]) for p in record["points"] if p["forbidden"]}
        assert set(position.forbidden) == expected


@pytest.mark.parametrize("row", range(6))
def test_five_outcomes_as_published(row: int) -> None:
    record = truth.records("gomoku/five_outcomes.jsonl")[row]
    game = z.game({"freestyle": "gomoku", "standard": "gomoku:overline=exact"}[record["rule"]])
    names = {"CROSS_WIN": z.Outcome.FIRST, "CIRCLE_WIN": z.Outcome.SECOND, "UNKNOWN": None}
    for entry in record["moves"]:
        position = unchecked(game, record["board"], "XO".index(entry["sign"]))
        outcome = position.play(from_bottom(entry["move"])).outcome
        assert outcome == names[entry["outcome"]], (record["id"], entry)


def renju(drawing: str) -> tuple[RenjuGame, Position]:
    """Return a 9x9 position with black to move; the drawing starts at the top left."""
    game = RenjuGame(9, "gomoku:size=9,renju=true")
    rows = [line.replace(" ", "") for line in drawing.strip().splitlines()]
    rows = [f"{row:.<9}" for row in rows] + ["........."] * (9 - len(rows))
    return game, unchecked(game, rows, 0)


def fouls(drawing: str) -> dict[str, str]:
    game, position = renju(drawing)
    return {
        move: FOULS[game.foul_of(position.state, game.parse_action(position.state, move))]
        for move in position.forbidden
    }


def test_a_double_three_is_a_foul() -> None:
    drawing = """
        . . . . . . .
        . . . X . . .
        . . . X . . .
        . X X . . . .
        . . . . . . .
    """
    assert fouls(drawing)["d4"] == "a double three"


def test_a_blocked_three_does_not_count() -> None:
    drawing = """
        . . . O . . .
        . . . X . . .
        . . . X . . .
        . X X . . . .
        . . . . . . .
    """
    assert "d4" not in fouls(drawing)


def test_a_five_is_never_a_foul() -> None:
    drawing = """
        . . . . . . .
        . . . X . . .
        . . . X . . .
        X X X . X . .
        . . . . . . .
    """
    _, position = renju(drawing)
    assert "d4" not in position.forbidden
    assert position.play("d4").outcome is z.Outcome.FIRST


def test_a_double_four_in_one_line() -> None:
    """In `X.XXX.X` a stone in either gap makes five."""
    assert fouls("X . X . X . X . .") == {"d1": "a double four"}
    assert fouls("X . X . X . O . .") == {}


def test_a_straight_four_is_one_four() -> None:
    assert fouls(". X X X . . .") == {}


def test_white_has_no_restrictions() -> None:
    game, position = renju("O O O . O O . . .")
    white = Position(game, (position.state[1], position.state[0], 0, 1))
    assert white.forbidden == []
    assert white.play("d1").outcome is z.Outcome.SECOND
    assert len(white.play("d1").winning_line or ()) == 6


def test_blacks_overline_loses_even_from_a_board() -> None:
    game, position = renju("X X X . X X . . .")
    assert fouls("X X X . X X . . .")["d1"] == "an overline"
    end = position.play("d1")
    assert end.outcome is z.Outcome.SECOND
    assert end.winning_line is None
    again = game.position(end.board, to_move=1, unchecked=True)
    assert again.outcome is z.Outcome.SECOND


@pytest.mark.parametrize(
    ("spec", "part"),
    [
        ("gomoku:size=4", "5 to 20"),
        ("gomoku:size=21", "5 to 20"),
        ("gomoku:renju=true,overline=exact", "leave overline out"),
        ("gomoku:renju=perhaps", "true or false"),
        ("line:rows=10,cols=10,win=5,pie=true", "the pie rule needs a board of up to 63 cells"),
        ("mnk:21x5x5", "a board has 1 to 20 rows"),
    ],
)
def test_bad_large_specs(spec: str, part: str) -> None:
    with pytest.raises(z.BadSpec, match=part):
        z.game(spec)


def test_fouls_equal_the_naive_definitions() -> None:
    """Compare every free point of random crowded boards with the naive recursion."""
    game, rng = RenjuGame(9, "gomoku:size=9,renju=true"), random.Random(2)
    seen: dict[str, int] = {}
    for _ in range(150):
        cells = [rng.choices((0, 1, -1), (5, 3, 1))[0] for _ in range(81)]
        position = game.position(cells, to_move=0, unchecked=True)
        sets = [{divmod(i, 9) for i, c in enumerate(cells) if c == stone} for stone in (1, -1)]
        for action in (i for i, c in enumerate(cells) if c == 0):
            expected = renju_foul(*sets, divmod(action, 9), 9)
            assert FOULS[game.foul_of(position.state, action)] == expected, (
                str(position),
                action,
            )
            seen[expected] = seen.get(expected, 0) + 1
    assert all(seen[foul] > 20 for foul in FOULS), seen
