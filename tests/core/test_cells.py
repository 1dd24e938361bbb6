"""Cells and moves: which cell plays which move, and where stones land."""

import zermelo as z
from support.piece_games import BOXES, BREAKTHROUGH, PROMOTION
from zermelo.core.cells import filled_cells, line_cells, moves_by_cell, trace_line


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


def test_a_piece_is_selected_and_moved() -> None:
    """The cells are numbered row by row from a1, which is 0; b3 is 13, and a2 is 6."""
    cells = moves_by_cell(z.game(BREAKTHROUGH).position(moves="b5b4 f2f3 b4b3 f3f4"))
    assert cells.targets[13] == {6: ("b3a2",), 8: ("b3c2",)}
    assert (cells.sources["b3a2"], cells.landing["b3a2"]) == (13, 6)
    assert (cells.move_at, cells.extra) == ({}, ())
    assert cells.click(13, None) == (13, ())
    assert cells.click(6, 13) == (None, ("b3a2",))
    assert cells.click(24, 13) == (24, ())  # another piece is selected instead
    for cell in (13, 14, 0, None):  # the same piece, an empty cell, a piece of O, outside
        assert cells.click(cell, 13) == (None, ())
    assert cells.click(8, None) == (None, ())


def test_the_value_of_a_move_is_shown_on_its_piece_and_then_where_it_leads() -> None:
    cells = moves_by_cell(z.game(BREAKTHROUGH).position(moves="b5b4 f2f3 b4b3 f3f4"))
    assert [cells.cell_of("b3a2", selected) for selected in (None, 13, 24)] == [13, 6, None]
    placed = moves_by_cell(z.game("tictactoe").start())
    assert placed.cell_of("b2", None) == 4


def test_several_moves_may_have_the_same_cells() -> None:
    start = z.game(PROMOTION).start()
    assert moves_by_cell(start).extra == ("wait",)
    cells = moves_by_cell(start.play("step").play("step").play("step").play("step"))
    assert cells.click(0, 3) == (None, ("q", "r"))


def test_the_player_and_the_cells_of_each_move_of_a_line() -> None:
    line = trace_line(z.game(BREAKTHROUGH).start(), ["b5b4", "f2f3"])
    assert line == [(0, (25, 19)), (1, (11, 17))]
    again = trace_line(z.game(BOXES).position(moves="a1b1 a1a2 b1b2"), ["a2b2", "b1c1"])
    assert again == [(1, ()), (1, ())]
