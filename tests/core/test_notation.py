"""Moves and boards as text: every form, and what is refused."""

import pytest

import zermelo as z
from zermelo.core.notation import Grid


@pytest.mark.parametrize(
    ("spec", "text", "action"),
    [
        ("tictactoe", "b2", 4),
        ("tictactoe", "B2", 4),
        ("tictactoe", " c3 ", 8),
        ("tictactoe", "4", 4),
        ("gomoku6", "35", 35),
        ("gomoku6", "a6", 30),
        ("squava", "11", 0),
        ("squava", "25", 9),
        ("squava", "e5", 24),
        ("squava:pie=true", "swap", 25),
        ("connect4", "1", 0),
        ("connect4", "7", 6),
        ("connect4", "d", 3),
        ("connect4:rows=4,cols=12,win=4", "12", 11),
        ("mnk:3x20x3", "t3", 59),
    ],
)
def test_accepted_forms(spec: str, text: str, action: int) -> None:
    assert z.game(spec).parse_action(z.game(spec).initial(), text) == action


@pytest.mark.parametrize(
    ("spec", "text"),
    [
        ("tictactoe", "z9"),
        ("tictactoe", "a4"),
        ("tictactoe", "d1"),
        ("tictactoe", "9"),
        ("tictactoe", "04"),
        ("tictactoe", "-1"),
        ("tictactoe", "+1"),
        ("tictactoe", "1_0"),
        ("tictactoe", "a01"),
        ("tictactoe", "a0"),
        ("tictactoe", ""),
        ("tictactoe", "²"),
        ("tictactoe", "٣"),
        ("tictactoe", "a1 b1"),
        ("tictactoe", "swap"),
        ("squava", "12x"),
        ("squava", "16"),
        ("squava", "0"),
        ("squava", "5"),
        ("squava", "swap"),
        ("connect4", "0"),
        ("connect4", "8"),
        ("connect4", "44"),
        ("connect4", "d1"),
        ("connect4", "h"),
        ("tictactoe", "x" * 100_000),
    ],
)
def test_refused_forms(spec: str, text: str) -> None:
    game = z.game(spec)
    with pytest.raises(z.IllegalMove) as caught:
        game.start().play(text)
    message = str(caught.value)
    assert "\n" not in message
    assert len(message) < 700
    assert "legal:" in message


def test_moves_in_one_text() -> None:
    connect4 = z.game("connect4")
    four = connect4.position(moves="4455")
    assert four == connect4.position(moves="4 4 5 5") == connect4.position(moves="d,d,e,e")
    assert four == connect4.position(moves="44 5,5")
    wide = z.game("connect4:rows=4,cols=12,win=4")
    assert wide.position(moves="12 1").moves == ["12", "1"]
    assert z.game("tictactoe").position(moves="4, 0").moves == ["b2", "a1"]


@pytest.mark.parametrize(
    ("spec", "moves", "part"),
    [
        (
            "tictactoe",
            "b2 b2",
            "illegal move 'b2' in tictactoe after b2: the cell is taken; legal: a1",
        ),
        ("tictactoe", "0 3 1 4 2 5", "the game is over: X wins"),
        ("connect4", "4444444", "column 4 is full"),
        ("squava:pie=true", "a1 b1 swap", "swap can only answer the first move"),
        ("gomoku6", "a1 q", "and 23 more"),
    ],
)
def test_errors_say_what_where_and_what_is_right(spec: str, moves: str, part: str) -> None:
    with pytest.raises(z.IllegalMove) as caught:
        z.game(spec).position(moves=moves)
    assert part in str(caught.value)


def test_grid_goes_both_ways() -> None:
    grid = Grid(20, 20)
    for index in range(grid.size):
        row, col = grid.row_col(index)
        assert grid.index(row, col) == index == grid.parse(grid.text(index))
        assert grid.text(index) in grid
    with pytest.raises(z.BadMove, match="row 20, column 0 is outside"):
        grid.index(20, 0)
    with pytest.raises(z.BadMove, match="400 is outside"):
        grid.text(400)


REACHABLE = [
    ("tictactoe", "........."),
    ("tictactoe", "XXX/XOO/XOO"),  # two lines through a1, the last stone
    ("tictactoe", "XOX/XOO/OXX"),
    ("connect4", "......./......./......./......./......./XXXXOOO"),
    ("squava", "XX.../OO.../...../...../....."),
]
UNREACHABLE = [
    ("tictactoe", "XXX/OOO/...", "finished line already"),
    ("tictactoe", "XX./.../...", "2 X and 0 O cannot occur"),
    ("tictactoe", "X../.../... X", "X cannot be to move with 1 X and 0 O: it is O's turn"),
    ("tictactoe", "XXX/.../OO. X", "X cannot be to move"),
    ("gomoku6", "XXXX../OOO.../OOO.../XXXX../....../O.....", "without a common last stone"),
    ("connect4", "......./......./......./...X.../......./.......", "d4 has no stone below it"),
    ("connect4", "......./......./......./......./X....../O......", "no order of moves"),
    ("squava", "XXX../OO.../O..../...../.....", "finished line already"),
    ("squava:pie=true", "XO.../...../...../...../.....", "do not show who is to move"),
    ("tictactoe", "XOX", "3 cells were given, but the 3x3 board has 9"),
    ("tictactoe", "XO/XO/XO", "needs 3 rows of 3 cells, not rows of 2 2 2"),
    ("tictactoe", "XOx/.../...", "a cell must be X, O, . or -"),
    ("tictactoe", "... ... ...", "is not a board"),
    ("tictactoe", "XO......./ Z", "is not a board"),
    ("tictactoe", "", "is not a board"),
]


@pytest.mark.parametrize(("spec", "board"), REACHABLE)
def test_boards_that_can_arise(spec: str, board: str) -> None:
    position = z.game(spec).position(board)
    assert position.moves is None


@pytest.mark.parametrize(("spec", "board", "part"), UNREACHABLE)
def test_boards_that_cannot_arise(spec: str, board: str, part: str) -> None:
    with pytest.raises(z.BadBoard) as caught:
        z.game(spec).position(board)
    assert part in str(caught.value)


def test_boards_as_numbers() -> None:
    game = z.game("tictactoe")
    assert game.position([1, 0, 0, 0, -1, 0, 0, 0, 0]).player == 0
    for board, part in (
        ([0] * 8, "8 cells were given, but the board of tictactoe has 9"),
        ([2] + [0] * 8, "'2' is not a cell"),
        ([True] + [0] * 8, "'True' is not a cell"),
        (["X"] * 9, "'X' is not a cell"),
    ):
        with pytest.raises(z.BadBoard, match=part):
            game.position(board)
    with pytest.raises(z.BadBoard, match="to_move is 2"):
        game.position([0] * 9, 2)
    odd = game.position([1, 1, 0, 0, 0, 0, 0, 0, 0], 0, unchecked=True)
    assert odd.player == 0


@pytest.mark.parametrize("spec", ["tictactoe", "connect4:4x4", "squava"])
def test_every_position_of_play_passes_the_check(spec: str) -> None:
    import random

    rng = random.Random(3)
    game = z.game(spec)
    for _ in range(100):
        position = game.start()
        while position.actions:
            position = position.play_action(rng.choice(position.actions))
            assert game.position(position.board, position.player) == position


def test_gravity_reachability_is_exact_on_a_small_board() -> None:
    """All boards of 2 x 3 stones that fall: reachable by the check, exactly when by play."""
    import itertools

    game = z.game("connect4:rows=3,cols=3,win=3")
    reached = set()
    todo = [game.start()]
    while todo:
        position = todo.pop()
        if (position.board, position.player) not in reached:
            reached.add((position.board, position.player))
            todo += [position.play_action(a) for a in position.actions]
    accepted = set()
    for cells in itertools.product((0, 1, -1), repeat=9):
        try:
            position = game.position(cells)
        except z.BadBoard:
            continue
        accepted.add((position.board, position.player))
    assert accepted == reached
