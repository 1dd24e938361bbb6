"""`zermelo inspect`: encodings, patterns and the parts of the shaping reward."""

import json
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

import zermelo as z
from zermelo.learn.batch import encoders, inspect, shaping
from zermelo.learn.batch.encoders import Encoder
from zermelo.learn.batch.game_batch import GameBatch
from zermelo.learn.config.selfplay import ActingConfig
from zermelo.learn.dqn.selfplay import SelfPlay

FIELDS = {
    "game", "moves", "to_move", "drawing", "encoders", "patterns", "shaping", "left_out",
}  # fmt: skip


def zermelo(*arguments: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "zermelo", "inspect", *arguments],
        input=stdin,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


def inspect_position(spec: str, moves: str = "", board: str | None = None) -> dict[str, Any]:
    game = z.game(spec)
    position = game.position(board) if board else game.position(moves=moves)
    result = inspect.inspect(position, spec)
    assert set(result) == FIELDS
    assert json.loads(json.dumps(result)) == result
    assert inspect.to_text(result)
    return result


def test_every_encoder_is_shown() -> None:
    assert set(inspect.ENCODERS) == set(encoders.ENCODERS)


def test_the_numbers_are_those_of_the_encoders() -> None:
    game = z.game("squava")
    position = game.position(moves="a1 b2 b1 c2")
    result = inspect_position("squava", "a1 b2 b1 c2")
    assert result["left_out"] == {}
    for name in inspect.ENCODERS:
        encoder = Encoder(name, game)  # type: ignore[arg-type]
        values = encoder(np.array([position.state], np.uint64)).ravel()
        shown = result["encoders"][name]
        assert shown["shape"] == list(encoder.shape)
        assert shown["names"] == encoder.names
        np.testing.assert_allclose(shown["values"], values, atol=1e-6)


def test_patterns_name_their_cells() -> None:
    result = inspect_position("gomoku6", board="....../.XXX../.X..../.X.OOO/....../.OO...")[
        "patterns"
    ]
    assert result["first"] == [
        {"kind": "open two", "stones": ["d2", "b4"], "needs": ["c3"]},
        {"kind": "open three", "stones": ["b2", "c2", "d2"], "needs": ["a2", "e2"]},
        {"kind": "open three", "stones": ["b2", "b3", "b4"], "needs": ["b1", "b5"]},
        {"kind": "fork", "stones": ["b2"], "needs": ["b1", "a2", "e2", "b5"]},
    ]
    assert [pattern["kind"] for pattern in result["second"]] == ["open two", "half-open three"]
    assert result["second"][1] == {
        "kind": "half-open three",
        "stones": ["d4", "e4", "f4"],
        "needs": ["c4"],
    }


@pytest.mark.parametrize(
    ("spec", "moves"),
    [
        ("gomoku6", "b2 a1 c2 f6 d2"),
        ("gomoku6", "b2 a1 c2 f6 d2 e2"),
        ("gomoku6", "b2 a1 c2 f6 d2 f1 e2"),  # a finished game has the potential 0
        ("connect4", "4 4 3 3 5"),
        ("squava", "a1 e5"),
    ],
)
def test_the_reward_is_that_of_self_play(spec: str, moves: str) -> None:
    game: Any = z.game(spec)
    position = game.position(moves=moves)
    before = game.position(moves=game.split_moves(moves)[:-1])
    result = inspect_position(spec, moves)["shaping"]
    game_batch = GameBatch(game)
    self_play = SelfPlay(
        game_batch,
        ActingConfig(1),
        np.random.default_rng(0),
        shaping.build_potential("patterns", game_batch),
    )
    self_play.states = np.array([before.state], np.uint64)
    transitions = self_play.step(lambda _s, _l: np.array([position.last_action]), None, 0.0)
    won = float(-game.result(position.state)[1])
    assert result["reward"] == pytest.approx(transitions.returns[0] - won, abs=1e-6)
    assert result["reward"] == pytest.approx(sum(result["parts"].values()), abs=1e-6)
    gained = result["after"]["potential"] - result["before"]["potential"]
    assert result["reward"] == pytest.approx(gained, abs=1e-6)
    assert result["player"] == before.player


def test_a_move_that_changes_nothing_is_marked() -> None:
    assert inspect_position("gomoku6", "b2 f6")["shaping"]["changes_nothing"] is True
    assert inspect_position("gomoku6", "b2 f6 c2")["shaping"]["changes_nothing"] is False
    for result in (
        inspect_position("gomoku6"),
        inspect_position("gomoku6", board="X...../" + "....../" * 4 + "......"),
    ):
        assert result["shaping"]["before"] is result["shaping"]["reward"] is None
        assert result["shaping"]["player"] == result["to_move"]


def test_encoders_that_do_not_fit_are_left_out_with_the_reason() -> None:
    result = inspect_position("reversi:4")
    assert set(result["encoders"]) == {"cells", "planes"}
    assert set(result["left_out"]) == {"threats", "features", "lines", "patterns", "shaping"}
    assert result["patterns"] is result["shaping"] is None
    large = inspect_position("gomoku", "h8")
    assert large["encoders"] == {}
    assert "up to 64 cells, not for gomoku" in large["left_out"]["planes"]
    assert "without cells, planes, threats, features, lines: " in inspect.to_text(large)


def test_text() -> None:
    process = zermelo("tictactoe", "--moves", "b2 a1 c1")
    assert process.returncode == 0, process.stderr
    assert (
        process.stdout
        == """\
   a   b   c
1  O   .  (X)
2  .   X   .
3  .   .   .

cells: 9 numbers, 6 of them 0
  a1                         +1
  c1                         -1
  b2                         -1

planes: 2 planes of 3x3
  own     other
  1 . .   . . 1
  . . .   . 1 .
  . . .   . . .

threats: 4 planes of 3x3
  own         other       own wins    other wins
  1 . .       . . 1       . . .       . . .
  . . .       . 1 .       . . .       . . .
  . . .       . . .       . . .       1 . .

lines: 17 numbers for each of 8 symmetries, here for the identity
     19   33   54   82  114  137  169  197  216  236
    253  272  289  308  328  344  362

patterns:
  first   half-open three  c1 b2, then a3

shaping of the last move, by the first player (patterns of first / second):
                       before      after   reward
  open two              0 / 0      0 / 0       +0
  half-open three       0 / 0      1 / 0     +0.1
  open three            0 / 0      0 / 0       +0
  fork                  0 / 0      0 / 0       +0
  potential                +0       +0.1     +0.1

without features: encoder features is for 5x5 boards, not for tictactoe
"""
    )


def test_command() -> None:
    result = json.loads(zermelo("gomoku6", "--moves", "b2 a1", "--json").stdout)
    assert set(result) == FIELDS
    assert (result["game"], result["moves"], result["to_move"]) == ("gomoku6", ["b2", "a1"], 0)
    lines = zermelo("tictactoe", "--stdin", "--json", stdin="b2\nb2 b2\nboard:X../.../...\n")
    assert lines.returncode == 1
    assert ["error" in json.loads(line) for line in lines.stdout.splitlines()] == [
        False, True, False,
    ]  # fmt: skip
    bad = zermelo("tictactoe", "--moves", "b2 b2")
    assert bad.returncode == 2
    assert bad.stderr.count("\n") == 1
    assert "the cell is taken" in bad.stderr


def test_torch_is_not_imported() -> None:
    code = "import sys, zermelo.learn.batch.inspect; print('torch' in sys.modules)"
    assert subprocess.check_output([sys.executable, "-c", code], text=True) == "False\n"
