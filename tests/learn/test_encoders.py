"""Encoders, compared with drawn boards and with slow code written from their definitions."""

from typing import Any

import numpy as np
import pytest

import zermelo as z
from support.naive import DIRECTIONS, NaiveLines
from zermelo.core.errors import BadSpec
from zermelo.learn.batch.encoders import Encoder
from zermelo.learn.batch.game_batch import GameBatch

LINES = ("tictactoe", "connect4", "gomoku6", "squava")
OTHERS = (
    "squava:pie=true",
    "gomoku:size=8,overline=exact",
    "mnk:8x8x5",
    "line:rows=4,cols=6,win=4,lose=2,gravity=true",
    "line:rows=5,cols=5,win=4,lose=3,gravity=true",
)
PAIRS = ((25, 26), (27, 28), (29, 30), (31, 32))


def sample_positions(spec: str, number: int = 80, seed: int = 1) -> tuple[Any, np.ndarray]:
    game = z.game(spec)
    return game, GameBatch(game).sample_states(number, game.hooks.max_plies(game.initial()), seed)  # type: ignore[attr-defined]


def encode(spec: str, name: str, board: str, to_move: int | None = None) -> np.ndarray:
    game = z.game(spec)
    state = game.position(board, to_move, unchecked=True).state
    return Encoder(name, game)(np.array([state], np.uint64))[0]  # type: ignore[arg-type]


def draw_plane(plane: np.ndarray) -> str:
    return "/".join("".join(".1"[int(cell)] for cell in row) for row in plane)


# Drawn boards.


def test_cells_are_seen_by_the_side_to_move() -> None:
    assert encode("tictactoe", "cells", "X../.O./..X").tolist() == [
        -1, 0, 0,
        0, 1, 0,
        0, 0, -1,
    ]  # fmt: skip
    assert encode("tictactoe", "cells", "X../.O./...").tolist() == [
        1, 0, 0,
        0, -1, 0,
        0, 0, 0,
    ]  # fmt: skip


def test_planes() -> None:
    own, other = encode("connect4", "planes", "......./" * 4 + "...O.../..XXO..")
    assert draw_plane(own) == "......./" * 5 + "..11..."
    assert draw_plane(other) == "......./" * 4 + "...1.../....1.."
    own, other = encode("tictactoe", "planes", "X../.O./..X")
    assert (draw_plane(own), draw_plane(other)) == (".../.1./...", "1../.../..1")


SKY = "......./" * 4
WINS = [
    # X would complete the first row, O the second; X moves, then O.
    ("tictactoe", "XX./OO./...", "..1/.../...", ".../..1/..."),
    ("tictactoe", "XX./OO./.X.", ".../..1/...", "..1/.../..."),
    # With gravity only where a stone lands: X wins on d6; not on d5, above an empty cell.
    ("connect4", f"{SKY}OOO..../XXX....", f"{SKY}......./...1...", f"{SKY}......./......."),
    ("connect4", f"{SKY}XXX..../OOO....", f"{SKY}......./.......", f"{SKY}......./...1..."),
    # Four wins, the three on the way does not.
    ("squava", "XX.X./...../OO.../O..../.....", "..1../" + "...../" * 3 + ".....", None),
]


@pytest.mark.parametrize(("spec", "board", "own", "other"), WINS)
def test_cells_that_win_immediately(spec: str, board: str, own: str, other: str | None) -> None:
    planes = encode(spec, "threats", board)
    assert draw_plane(planes[2]) == own
    assert draw_plane(planes[3]) == (other or "...../" * 4 + ".....")


def test_features_of_a_drawing() -> None:
    #   a b c d e      X moves
    # 1 X X . X .      one short of four: a1-d1; b1-e1 holds two
    # 2 . O O . .      free twos of O below: a2-d2, b2-e2
    # 3 . . X . .
    # 4 . . . . .
    # 5 O . . . .
    encoding = encode("squava", "features", "XX.X./.OO../..X../...../O....", 0)
    names = dict(zip(Encoder("features", squava()).names, encoding.tolist(), strict=True))
    assert encoding[:25].tolist() == [
        1, 1, 0, 1, 0,
        0, -1, -1, 0, 0,
        0, 0, 1, 0, 0,
        0, 0, 0, 0, 0,
        -1, 0, 0, 0, 0,
    ]  # fmt: skip
    assert names["own lines one short"] == pytest.approx(1 / 5)
    assert names["other lines one short"] == 0
    assert names["other lines of two"] == pytest.approx(2 / 10)
    assert names["own centre"] == pytest.approx(1 / 9)
    assert names["other centre"] == pytest.approx(2 / 9)
    assert names["stones"] == pytest.approx(7 / 25)
    assert names["mobility"] == pytest.approx(18 / 25)
    assert not encoding[35:].any()


CROWDED = ".XX../.X.X./..XX./...../.XX.."  # twenty lines of four and twenty of three hold two


def test_line_counts_are_capped_at_one() -> None:
    """No three in a row, and far more than ten lines of each length with two stones."""
    board = squava().position(CROWDED, to_move=0, unchecked=True)
    assert count_lines(board.game, board.board, 1, length=4, count=2) == 20
    assert count_lines(board.game, board.board, 1, length=3, count=2) == 20
    encoding = encode("squava", "features", CROWDED, 0)
    assert encoding[25:31].tolist() == [0, 0, 1, 0, 1, 0]
    assert encode("squava", "features", CROWDED, 1)[25:31].tolist() == [0, 0, 0, 1, 0, 1]


def squava() -> Any:
    return z.game("squava")


# The definitions in slow code.


def to_naive(game: Any, board: tuple[int, ...], player: int) -> NaiveLines:
    naive = NaiveLines(game.rows, game.cols, game.win, game.lose, game.gravity, game.overline)
    for cell, stone in enumerate(board):
        if stone:
            naive.cells[cell // game.cols][cell % game.cols] = 0 if stone > 0 else 1
    naive.player = player
    return naive


def naive_winning_cells(game: Any, board: tuple[int, ...], player: int) -> list[float]:
    """Return 1 for each cell where `player` can place a stone and wins immediately."""
    wins = [0.0] * len(board)
    for cell, stone in enumerate(board):
        naive = to_naive(game, board, player)
        row, col = divmod(cell, game.cols)
        if stone or (game.gravity and naive.landing(col) != (row, col)):
            continue
        naive.cells[row][col], naive.last_mover = player, player
        wins[cell] = float(naive.result() == ("first", "second")[player])
    return wins


def count_lines(game: Any, board: tuple[int, ...], side: int, length: int, count: int) -> int:
    """Count the lines of `length` with `count` stones of a side (1 or -1), none of the other."""
    total = 0
    for row in range(game.rows):
        for col in range(game.cols):
            for down, right in DIRECTIONS:
                cells = [(row + down * i, col + right * i) for i in range(length)]
                if all(0 <= r < game.rows and 0 <= c < game.cols for r, c in cells):
                    stones = [board[r * game.cols + c] for r, c in cells]
                    total += -side not in stones and stones.count(side) == count
    return total


def naive_encode(name: str, game: Any, state: Any) -> list[float]:
    board, player = game.board(state), game.player(state)
    side = 1 if player == 0 else -1
    cells = [float(side * stone) for stone in board]
    own, other = [float(c > 0) for c in cells], [float(c < 0) for c in cells]
    if name == "cells":
        return cells
    if name == "planes":
        return own + other
    if name == "threats":
        wins = (
            naive_winning_cells(game, board, player),
            naive_winning_cells(game, board, 1 - player),
        )
        return own + other + wins[0] + wins[1]
    both = (side, -side)
    short = [min(count_lines(game, board, s, game.win, game.win - 1) / 5, 1.0) for s in both]
    twos = [min(count_lines(game, board, s, game.win, 2) / 10, 1.0) for s in both]
    losing = [count_lines(game, board, s, game.lose, 2) if game.lose else 0 for s in both]
    losing = [min(count / 10, 1.0) for count in losing]
    inner = [r * 5 + c for r in (1, 2, 3) for c in (1, 2, 3)]
    centre = [sum(board[c] == s for c in inner) / 9 for s in both]
    stones = sum(map(abs, board))
    counts = [*short, *twos, *losing, *centre, stones / 25, (25 - stones) / 25]
    return cells + counts + [0.0] * 15


@pytest.mark.parametrize("name", ["cells", "planes", "threats"])
@pytest.mark.parametrize("spec", [*LINES, *OTHERS])
def test_encoders_follow_their_definitions(spec: str, name: str) -> None:
    game, states = sample_positions(spec)
    encoder = Encoder(name, game)
    encoding = encoder(states)
    assert encoding.dtype == np.float32
    assert encoding.shape == (len(states), *encoder.shape)
    assert encoder.size == encoding[0].size == len(encoder.names)
    for row, state in enumerate(map(tuple, states.tolist())):
        expected = naive_encode(name, game, state)
        np.testing.assert_array_equal(
            encoding[row].ravel(), np.float32(expected), err_msg=str(state)
        )


@pytest.mark.parametrize("spec", ["squava", "squava:pie=true", "gomoku:size=5", "mnk:5x5x4"])
def test_features_follow_their_definitions(spec: str) -> None:
    game, states = sample_positions(spec, 150)
    encoding = Encoder("features", game)(states)
    for row, state in enumerate(map(tuple, states.tolist())):
        expected = naive_encode("features", game, state)
        np.testing.assert_allclose(encoding[row], expected, atol=1e-6, err_msg=str(state))


@pytest.mark.parametrize("spec", ["reversi:6", "reversi"])
@pytest.mark.parametrize("name", ["cells", "planes"])
def test_encoders_of_reversi(spec: str, name: str) -> None:
    game, states = sample_positions(spec, 40)
    encoding = Encoder(name, game)(states)
    for row, state in enumerate(map(tuple, states.tolist())):
        assert encoding[row].ravel().tolist() == naive_encode(name, game, state)


# Invariants.


def test_swapping_sides() -> None:
    game, states = sample_positions("squava", 500)
    swapped = states[:, [1, 0, 2]].copy()
    swapped[:, 2] ^= np.uint64(1)
    encoder = Encoder("features", game)
    before, after = encoder(states), encoder(swapped)
    np.testing.assert_array_equal(after[:, :25], -before[:, :25])
    for mine, theirs in PAIRS:
        np.testing.assert_array_equal(after[:, mine], before[:, theirs])
        np.testing.assert_array_equal(after[:, theirs], before[:, mine])
        assert before[:, mine].any()
    np.testing.assert_array_equal(after[:, 33:], before[:, 33:])
    planes = Encoder("threats", game)
    np.testing.assert_array_equal(planes(swapped), planes(states)[:, [1, 0, 3, 2]])


@pytest.mark.parametrize("spec", LINES)
@pytest.mark.parametrize("name", ["cells", "planes", "threats", "features"])
def test_symmetries_commute_with_encoders(spec: str, name: str) -> None:
    game, states = sample_positions(spec, 60)
    if name == "features" and spec != "squava":
        return
    encoder, size = Encoder(name, game), game.grid.size
    before = encoder(states).reshape(len(states), -1)
    for symmetry in game.symmetries():
        images = np.array(
            [game.transform(s, symmetry) for s in map(tuple, states.tolist())], np.uint64
        )
        after = encoder(images).reshape(len(states), -1)
        planes = 1 if name in ("cells", "features") else encoder.shape[0]
        for plane in range(planes):
            places = plane * size + np.array(symmetry.cells)
            here = before[:, plane * size : (plane + 1) * size]
            np.testing.assert_array_equal(after[:, places], here)
        if name == "features":
            np.testing.assert_array_equal(after[:, 25:], before[:, 25:])


def test_names_are_in_the_order_of_the_numbers() -> None:
    game = z.game("gomoku6")
    threats = Encoder("threats", game)  # type: ignore[arg-type]
    names = threats.names
    board = game.position("X...../" + "....../" * 4 + ".....O").state
    encoding = threats(np.array([board], np.uint64))[0].ravel()
    assert {names[i] for i in np.flatnonzero(encoding)} == {"own a1", "other f6"}
    assert (names[72], names[-1], len(set(names))) == ("own wins a1", "other wins f6", 144)
    features = Encoder("features", squava()).names
    assert features[25:35] == [
        "own lines one short", "other lines one short", "own lines of two", "other lines of two",
        "own losing lines of two", "other losing lines of two", "own centre", "other centre",
        "stones", "mobility",
    ]  # fmt: skip
    assert len(features) == len(set(features)) == 50


@pytest.mark.parametrize(
    ("name", "spec", "part"),
    [
        ("pictures", "tictactoe", "it must be one of cells, planes, threats, lines, features"),
        ("threats", "reversi", "for line games"),
        ("features", "gomoku6", "for 5x5 boards"),
    ],
)
def test_encoders_that_do_not_fit_a_game_are_refused(name: str, spec: str, part: str) -> None:
    with pytest.raises(BadSpec, match=part):
        Encoder(name, z.game(spec))  # type: ignore[arg-type]
