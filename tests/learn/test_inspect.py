"""What `zermelo inspect` says: what encoders see, where patterns are, what rewards are made of."""

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


def zermelo(*arguments: str, given: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "zermelo", "inspect", *arguments],
        input=given,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


def inspected(spec: str, moves: str = "", board: str | None = None) -> dict[str, Any]:
    game = z.game(spec)
    position = game.position(board) if board else game.position(moves=moves)
    found = inspect.inspect(position, spec)
    assert set(found) == FIELDS
    assert json.loads(json.dumps(found)) == found
    assert inspect.to_text(found)
    return found


def test_every_encoder_is_shown() -> None:
    assert set(inspect.ENCODERS) == set(encoders._KERNELS)


def test_the_numbers_are_the_encoders() -> None:
    game = z.game("squava")
    position = game.position(moves="a1 b2 b1 c2")
    found = inspected("squava", "a1 b2 b1 c2")
    assert found["left_out"] == {}
    for name in inspect.ENCODERS:
        encoder = Encoder(name, game)  # type: ignore[arg-type]
        values = encoder(np.array([position.state], np.uint64)).ravel()
        shown = found["encoders"][name]
        assert shown["shape"] == list(encoder.shape)
        assert shown["names"] == encoder.names
        np.testing.assert_allclose(shown["values"], values, atol=1e-6)


def test_patterns_name_their_cells() -> None:
    found = inspected("gomoku6", board="....../.XXX../.X..../.X.OOO/....../.OO...")["patterns"]
    assert found["first"] == [
        {"kind": "open two", "stones": ["d2", "b4"], "needs": ["c3"]},
        {"kind": "open three", "stones": ["b2", "c2", "d2"], "needs": ["a2", "e2"]},
        {"kind": "open three", "stones": ["b2", "b3", "b4"], "needs": ["b1", "b5"]},
        {"kind": "fork", "stones": ["b2"], "needs": ["b1", "a2", "e2", "b5"]},
    ]
    assert [pattern["kind"] for pattern in found["second"]] == ["open two", "half-open three"]
    assert found["second"][1] == {
        "kind": "half-open three",
        "stones": ["d4", "e4", "f4"],
        "needs": ["c4"],
    }


@pytest.mark.parametrize(
    ("spec", "moves"),
    [
        ("gomoku6", "b2 a1 c2 f6 d2"),
        ("gomoku6", "b2 a1 c2 f6 d2 e2"),
        ("gomoku6", "b2 a1 c2 f6 d2 f1 e2"),  # the end: a potential of 0
        ("connect4", "4 4 3 3 5"),
        ("squava", "a1 e5"),
    ],
)
def test_the_reward_is_what_learners_get(spec: str, moves: str) -> None:
    game: Any = z.game(spec)
    position = game.position(moves=moves)
    before = game.position(moves=game.split(moves)[:-1])
    found = inspected(spec, moves)["shaping"]
    game_batch = GameBatch(game)
    playing = SelfPlay(
        game_batch, ActingConfig(1), np.random.default_rng(0), shaping.make("patterns", game_batch)
    )
    playing.states = np.array([before.state], np.uint64)
    rows = playing.step(lambda _s, _l: np.array([position.last]), None, 0.0)
    won = float(-game.result(position.state)[1])
    assert found["reward"] == pytest.approx(rows.returns[0] - won, abs=1e-6)
    assert found["reward"] == pytest.approx(sum(found["parts"].values()), abs=1e-6)
    gained = found["after"]["potential"] - found["before"]["potential"]
    assert found["reward"] == pytest.approx(gained, abs=1e-6)
    assert found["player"] == before.player


def test_a_move_that_changes_nothing_is_told() -> None:
    assert inspected("gomoku6", "b2 f6")["shaping"]["changes_nothing"] is True
    assert inspected("gomoku6", "b2 f6 c2")["shaping"]["changes_nothing"] is False
    for found in (
        inspected("gomoku6"),
        inspected("gomoku6", board="X...../" + "....../" * 4 + "......"),
    ):
        assert found["shaping"]["before"] is found["shaping"]["reward"] is None
        assert found["shaping"]["player"] == found["to_move"]


def test_what_does_not_fit_is_left_out_with_the_reason() -> None:
    found = inspected("reversi:4")
    assert set(found["encoders"]) == {"cells", "planes"}
    assert set(found["left_out"]) == {"threats", "features", "lines", "patterns", "shaping"}
    assert found["patterns"] is found["shaping"] is None
    large = inspected("gomoku", "h8")
    assert large["encoders"] == {}
    assert "up to 64 cells, not for gomoku" in large["left_out"]["planes"]
    assert "without cells, planes, threats, features, lines: " in inspect.to_text(large)


def test_text() -> None:
    done = zermelo("tictactoe", "--moves", "b2 a1 c1")
    assert done.returncode == 0, done.stderr
    assert (
        done.stdout
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

lines: 17 numbers in each of 8 turns, here those of the first
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

without features: encoder features is for boards of 5x5, not for tictactoe
"""
    )


def test_command() -> None:
    found = json.loads(zermelo("gomoku6", "--moves", "b2 a1", "--json").stdout)
    assert set(found) == FIELDS
    assert (found["game"], found["moves"], found["to_move"]) == ("gomoku6", ["b2", "a1"], 0)
    lines = zermelo("tictactoe", "--stdin", "--json", given="b2\nb2 b2\nboard:X../.../...\n")
    assert lines.returncode == 1
    assert ["error" in json.loads(line) for line in lines.stdout.splitlines()] == [
        False, True, False,
    ]  # fmt: skip
    bad = zermelo("tictactoe", "--moves", "b2 b2")
    assert bad.returncode == 2
    assert bad.stderr.count("\n") == 1
    assert "the cell is taken" in bad.stderr


def test_torch_stays_away() -> None:
    code = "import sys, zermelo.learn.batch.inspect; print('torch' in sys.modules)"
    assert subprocess.check_output([sys.executable, "-c", code], text=True) == "False\n"
