"""The text of a position can be read back: `game.position(position.to_text())` is the position."""

import random
from typing import Any

import pytest

import zermelo as z
from support.user_script import Nim

SPECS = [
    "tictactoe",
    "connect4",
    "connect4:rows=4,cols=12",
    "gomoku6",
    "gomoku:renju=true,size=9",
    "gomoku:size=19",
    "line:rows=4,cols=4,win=3,pie=true",
    "mnk:3x20x3",
    "reversi",
    "reversi:4",
    "squava",
]


def random_games(game: z.Game, num_games: int) -> list[z.Position]:
    """All positions of random games, the finished ones included."""
    rng, positions = random.Random(0), []
    for _ in range(num_games):
        position = game.start()
        positions.append(position)
        while not position.is_over:
            position = position.play_action(rng.choice(position.actions))
            positions.append(position)
    return positions


@pytest.mark.parametrize("spec", SPECS)
def test_every_text_gives_the_same_position_again(spec: str) -> None:
    game = z.game(spec)
    for position in random_games(game, 5):
        text = position.to_text()
        again = game.position(text)
        assert again == position, text
        assert again.player == position.player


def test_positions_after_a_swap_are_read_back() -> None:
    game = z.game("squava:pie=true")
    for moves in ("c3 swap", "c3 swap a1", "c3 a1"):
        position = game.position(moves=moves)
        assert game.position(position.to_text()) == position
    # The same stones, with and without a swap.
    assert game.position(moves="c3 swap a1").to_text().splitlines()[-1] == "O to move"
    assert game.position(moves="a1 c3").to_text().splitlines()[-1] == "X to move"


def test_a_game_without_a_board_lists_its_moves() -> None:
    game = z.game(Nim(10))
    for position in random_games(game, 5):
        assert game.position(position.to_text()) == position
    assert game.position(moves="0 2 1").to_text() == "(4, 1)\nmoves: 0 2 1"
    assert game.position("moves: 0 2 1") == game.position(moves="0 2 1")


def test_the_side_to_move_is_named_only_where_the_stones_do_not_show_it() -> None:
    assert z.game("tictactoe").start().to_text().count("\n") == 3
    reversi = z.game("reversi:4")
    assert reversi.start().to_text().splitlines()[-1] == "X to move"
    finished = next(p for p in random_games(reversi, 1) if p.is_over)
    assert finished.to_text().splitlines()[-1].endswith("would be next")
    board = "\n".join(reversi.start().to_text().splitlines()[:-1])
    with pytest.raises(z.BadBoard, match="do not show who is to move: add X or O"):
        reversi.position(board)
    assert reversi.position(board, 0) == reversi.start()


def test_options_give_a_plain_drawing_for_screens() -> None:
    start = z.game("reversi:4").start()
    assert start.to_text(hints=False).count("\n") == 4
    assert start.to_text().count("\n") == 5


@pytest.mark.parametrize(
    "text",
    [
        "X . .\n. O .\n. . .",
        "a b c\n1 X . .\n2 . O .\n3 . . .",
        "  1 [X] .  .\n  2  . (O) .\n  3  .  .  .\n  X to move",
        "X--\n-O-\n---",
    ],
)
def test_drawings_by_hand_are_read(text: str) -> None:
    assert z.game("tictactoe").position(text) == z.game("tictactoe").position("X../.O./...")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("X . .\n. O .", "needs 3 rows of 3 cells, not rows of 3 3"),
        ("X . .\n. Z .\n. . .", "'Z' is not a cell"),
        ("X . .\n. O .\n. . .\nO to move", "O cannot be to move"),
        ("X . .\n. . .\n. . .\nmoves: b2", "do not lead to the board above them"),
    ],
)
def test_wrong_drawings_are_refused(text: str, message: str) -> None:
    with pytest.raises(z.BadBoard, match=message):
        z.game("tictactoe").position(text)


def test_letters_of_its_own_are_read() -> None:
    from zermelo.core.notation import Grid

    class Lines(z.Game):
        """Mark a cell of a row of four; the last one to move wins."""

        num_actions, symbols, grid = 4, "BW", Grid(1, 4)

        def initial(self) -> Any:
            return (0, 0, 0, 0)

        def player(self, state: Any) -> int:
            return sum(map(abs, state)) % 2

        def actions(self, state: Any) -> list[int]:
            return [cell for cell in range(4) if not state[cell]]

        def play(self, state: Any, action: int) -> Any:
            stone = -1 if self.player(state) else 1
            return (*state[:action], stone, *state[action + 1 :])

        def result(self, state: Any) -> tuple[bool, int]:
            return all(state), -1 if all(state) else 0

        def board(self, state: Any) -> tuple[int, ...]:
            return tuple(state)

        def from_board(self, cells: tuple[int, ...], to_move: int | None, *, checked: bool) -> Any:
            del to_move, checked
            return cells

    game = z.game(Lines())
    position = game.start().play("2").play("0")
    assert position.to_text() == "   a   b   c   d\n1 (W)  .   B   ."
    assert game.position(position.to_text()) == position
