"""Cells and moves: which cell plays which move, and where stones land."""

import zermelo as z
from zermelo.core.cells import filled_cells, line_cells, moves_by_cell


def test_without_gravity_a_cell_plays_itself() -> None:
    cells = moves_by_cell(z.game("tictactoe").position(moves="b2"))
    assert cells.move_at[0] == "a1"
    assert 4 not in cells.move_at
    assert cells.landing == {move: cell for cell, move in cells.move_at.items()}
    assert cells.extra == ()


def test_with_gravity_a_column_plays_its_move() -> None:
    #  1 2 3 4 5 6 7
    #  . . . X . . .   row 6; the other rows are empty
    cells = moves_by_cell(z.game("connect4").position(moves="4"))
    assert [cells.move_at[cell] for cell in range(3, 42, 7)] == ["4"] * 6
    assert cells.landing == {"1": 35, "2": 36, "3": 37, "4": 31, "5": 39, "6": 40, "7": 41}


def test_a_full_column_plays_nothing() -> None:
    cells = moves_by_cell(z.game("connect4").position(moves="111111"))
    assert not set(range(0, 42, 7)) & set(cells.move_at)
    assert "1" not in cells.landing


def test_moves_without_a_cell() -> None:
    swap = moves_by_cell(z.game("squava:pie=true").position(moves="c3"))
    assert swap.extra == ("swap",)
    assert "swap" not in swap.landing
    forced = moves_by_cell(z.game("reversi:4").position(moves="b1 c1 d3 a1"))
    assert forced.extra == ("pass",)
    assert forced.move_at == {}


def test_only_some_moves_can_be_played() -> None:
    position = z.game("squava:pie=true").position(moves="c3")
    cells = moves_by_cell(position, ["a1"])
    assert cells.move_at == {0: "a1"}
    assert cells.extra == ()
    assert len(cells.landing) == 24, "landing has all legal moves"


def test_the_cells_of_a_line() -> None:
    assert line_cells(z.game("connect4").start(), "4435") == [38, 31, 37, 39]
    assert line_cells(z.game("squava:pie=true").start(), ["c3", "swap", "a1"]) == [12, None, 0]


def test_the_cells_that_a_move_fills() -> None:
    assert filled_cells(z.game("connect4").position(moves="4"), "4") == [31]
    assert filled_cells(z.game("reversi").start(), "d3") == [19], "flipped discs were there before"
    assert len(filled_cells(z.game("examples/domineering.py").start(), "a1")) == 2
