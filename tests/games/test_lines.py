"""The rules of the line family against slow, obvious ones."""

import random

import pytest

from support.naive import NaiveLines
from zermelo.core.position import Position
from zermelo.games.lines.rules import LineGame

FAMILY = [
    {"rows": 3, "cols": 3, "win": 3},
    {"rows": 3, "cols": 3, "win": 2},
    {"rows": 2, "cols": 5, "win": 3, "pie": True},
    {"rows": 4, "cols": 3, "win": 3},
    {"rows": 1, "cols": 8, "win": 3},
    {"rows": 9, "cols": 1, "win": 3},
    {"rows": 5, "cols": 5, "win": 4, "lose": 3},
    {"rows": 5, "cols": 5, "win": 4, "lose": 3, "pie": True},
    {"rows": 5, "cols": 6, "win": 5, "lose": 2},
    {"rows": 6, "cols": 6, "win": 3, "overline": "exact"},
    {"rows": 6, "cols": 8, "win": 2, "overline": "exact"},
    {"rows": 7, "cols": 7, "win": 4, "lose": 3, "overline": "exact"},
    {"rows": 8, "cols": 8, "win": 4, "overline": "exact"},
    {"rows": 8, "cols": 8, "win": 5},
    {"rows": 8, "cols": 8, "win": 8},
    {"rows": 3, "cols": 20, "win": 9},
    {"rows": 4, "cols": 16, "win": 4, "overline": "exact"},
    {"rows": 6, "cols": 7, "win": 4, "gravity": True},
    {"rows": 8, "cols": 8, "win": 4, "gravity": True},
    {"rows": 4, "cols": 10, "win": 5, "gravity": True},
    {"rows": 5, "cols": 7, "win": 4, "lose": 3, "gravity": True},
    {"rows": 6, "cols": 7, "win": 3, "gravity": True, "overline": "exact"},
]


@pytest.mark.parametrize("rules", FAMILY, ids=lambda r: "-".join(f"{v}" for v in r.values()))
def test_the_rules_equal_the_naive_rules(rules: dict[str, int]) -> None:
    game = LineGame(**rules)
    rng = random.Random(7)
    for _ in range(60):
        position = Position(game, game.initial())
        naive = NaiveLines(**rules)
        while True:
            outcome = position.outcome
            assert (outcome and outcome.value) == naive.result()
            assert position.board == naive.board()
            assert position.actions == naive.actions()
            assert position.player == naive.player
            if outcome:
                break
            action = rng.choice(position.actions)
            naive.play(action)
            position = position.play_action(action)


def test_six_in_one_direction_and_five_in_another_wins_with_exact_five() -> None:
    """Without column d the stone on d5 makes only a six; with it, a five downwards as well.

       a b c d e f g h
    1  . . . X . . . .
    2  . . . X . . . .
    3  . . . X . . . .
    4  . . . X . . . .
    5  X X X . X X . .
    """
    game = LineGame(8, 8, 5, overline="exact")
    column, row, empty = "...X....", "XXX.XX..", "........"
    six = game.position("/".join([empty] * 4 + [row] + [empty] * 3), to_move=0, unchecked=True)
    assert six.play("d5").outcome is None
    both = game.position("/".join([column] * 4 + [row] + [empty] * 3), to_move=0, unchecked=True)
    assert both.outcome is None
    after = both.play("d5")
    assert after.verdict == "X wins"
    assert after.winning_line == (3, 11, 19, 27, 35)


def test_a_win_by_the_last_stone_is_a_win() -> None:
    game = LineGame(3, 3, 3)
    end = game.position("XOX/OXO/OX. X").play("c3")
    assert end.verdict == "X wins"


def test_in_squava_four_wins_although_it_contains_three() -> None:
    game = LineGame(5, 5, 4, lose=3)
    assert game.position(moves="a1 a5 b1 b5 d1 d5 c1").verdict == "X wins"
    assert game.position(moves="a1 a5 b1 b5 c1").verdict == "O wins"


def test_a_swap_changes_the_owner_and_is_a_ply() -> None:
    game = LineGame(5, 5, 4, lose=3, pie=True)
    position = game.position(moves="c3 swap")
    assert position.player == 0
    assert position.board is not None
    assert position.board[12] == -1
    assert "swap" not in position.legal
    assert "swap" not in game.start().legal
    assert "swap" not in game.position(moves="c3 c2").legal
