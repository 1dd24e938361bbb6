"""The stateless move on a board of tic-tac-toe."""

from typing import Any

import pytest

from support.studio import JSON, Studio, assert_refused


def ai_move(studio: Studio, **body: Any) -> Any:
    full = {"board": [0] * 9, "player": 1, "board_size": 3} | body
    return studio.http.post("/api/ai-move", json=full)


def test_a_stateless_move(studio: Studio) -> None:
    # X threatens c1; O must take it.
    response = ai_move(studio, board=[1, 1, 0, 0, -1, 0, 0, 0, 0], player=-1, show_thinking=True)
    assert response.status_code == 200, response.text
    result = response.json()
    assert result["action"] == 2
    assert sorted(result["evaluations"]) == ["2", "3", "5", "6", "7", "8"]
    for action, record in result["evaluations"].items():
        assert set(record) == {"value", "reasoning", "is_best"}
        assert record["is_best"] == (action == "2")
        assert record["value"] == (0 if action == "2" else 1), "values are from the view of X"
        assert record["reasoning"]
    assert '"value":-0.0' not in response.text
    assert ai_move(studio).json()["evaluations"] is None


def test_a_winning_move_has_value_1_for_x_and_minus_1_for_o(studio: Studio) -> None:
    x = ai_move(studio, board=[1, 1, 0, -1, -1, 0, 0, 0, 0], show_thinking=True).json()
    assert (x["action"], x["evaluations"]["2"]["value"]) == (2, 1)
    board = [1, 1, 0, -1, -1, 0, 1, 0, 0]
    o = ai_move(studio, board=board, player=-1, show_thinking=True).json()
    assert (o["action"], o["evaluations"]["5"]["value"]) == (5, -1)


def test_other_sizes(studio: Studio) -> None:
    board = [0] * 25
    board[0] = board[1] = board[2] = 1
    board[20] = board[21] = -1
    result = ai_move(studio, board=board, player=-1, board_size=5, win_length=4).json()
    assert result["action"] == 3
    large = ai_move(studio, board=[0] * 400, board_size=20, win_length=5, show_thinking=True)
    assert len(large.json()["evaluations"]) == 400


@pytest.mark.parametrize(
    "body",
    [
        {"board": [1, 1, 0, 0, 0, 0, 0, 0, 0]},  # counts
        {"board": [-1, 0, 0, 0, 0, 0, 0, 0, 0]},
        {"board": [1, 0, 0, 0, 0, 0, 0, 0, 0], "player": 1},  # not X's turn
        {"board": [0] * 9, "player": -1},
        {"board": [1, 1, 1, -1, -1, -1, 0, 0, 0]},  # two winners
        {"board": [1, 1, 1, -1, -1, 0, 0, 0, 0], "player": -1},  # finished
        {"board": [1, -1, 1, 1, -1, -1, -1, 1, 1], "player": -1},  # full
        {"board": [0] * 8},  # size
        {"board": [0] * 10},
        {"board": [0] * 16},
        {"board": [0] * 9, "board_size": 4},
        {"board": [0] * 4, "board_size": 2},
        {"board": [0] * 441, "board_size": 21},
        {"board": []},
        {"board": [0] * 9, "board_size": 10**30},
        {"board": [0] * 9, "board_size": -3},
        {"win_length": 4},
        {"win_length": 2},
        {"win_length": 0},
        {"board": [2] + [0] * 8},  # types
        {"board": ["0"] * 9},
        {"board": [0.0] * 9},
        {"board": [False] * 9},
        {"board": [None] * 9},
        {"board": "000000000"},
        {"board": {"0": 1}},
        {"board": [[0] * 3] * 3},
        {"board": None},
        {"player": 0},
        {"player": 2},
        {"player": True},
        {"player": 1.0},
        {"player": "1"},
        {"board_size": "3"},
        {"board_size": 3.0},
        {"board_size": True},
        {"show_thinking": 1},
        {"show_thinking": "yes"},
        {"action": 4},
    ],
)
def test_impossible_boards_are_assert_refused(studio: Studio, body: dict[str, Any]) -> None:
    assert_refused(ai_move(studio, **body), 422)


def test_nan_and_infinity_are_assert_refused(studio: Studio) -> None:
    for word in ("NaN", "Infinity", "-Infinity", "1e999", "9" * 4000, "9" * 6000):
        content = '{"board":[' + word + ',0,0,0,0,0,0,0,0],"player":1,"board_size":3}'
        assert_refused(studio.http.post("/api/ai-move", content=content, headers=JSON), 422)
