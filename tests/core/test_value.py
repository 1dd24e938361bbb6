"""The enum of values: text, order and sign."""

import itertools
import json
import pickle

import pytest

import zermelo as z
from zermelo.core.value import Value


def test_values_are_their_texts() -> None:
    assert [str(value) for value in Value] == ["loss", "draw", "win"]
    assert repr(Value.WIN) == "'win'"
    assert f"{Value.DRAW}" == "draw"
    assert json.dumps({"value": Value.WIN}) == '{"value": "win"}'
    assert {"win": 1}[Value.WIN] == 1
    assert pickle.loads(pickle.dumps(Value.LOSS)) is Value.LOSS  # noqa: S301 - its own


def test_values_are_ordered_for_the_side_to_move() -> None:
    for (i, a), (j, b) in itertools.product(enumerate(Value), repeat=2):
        assert (a < b, a <= b, a > b, a >= b) == (i < j, i <= j, i > j, i >= j)
    assert max(Value) is Value.WIN
    assert sorted([Value.WIN, Value.LOSS, Value.DRAW]) == ["loss", "draw", "win"]
    assert Value.LOSS < "draw"
    with pytest.raises(ValueError, match="nothing"):
        assert Value.WIN < "nothing"


def test_values_and_signs() -> None:
    assert [value.sign for value in Value] == [-1, 0, 1]
    assert [-value for value in Value] == [Value.WIN, Value.DRAW, Value.LOSS]
    assert [Value.from_score(score) for score in (-30, 0, 0.25)] == list(Value)


def test_the_public_api_uses_the_enum() -> None:
    position = z.game("tictactoe").position(moves="a1 b1 a2 b2")
    assert z.Value is Value
    assert z.solve(position).value is Value.WIN
    analysis = z.analyze(position)
    assert analysis.value is Value.WIN
    assert {type(c.value) for c in analysis.candidates} == {Value}
    for spec in ("perfect", "minimax:depth=2", "mcts:sims=50,seed=1"):
        assert z.player(spec).choose(position).value is Value.WIN
    over = z.solve(position.play("a3"))
    assert over.value is Value.LOSS
