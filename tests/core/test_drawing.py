"""Boards as text and as pictures."""

import xml.etree.ElementTree as ET

import pytest

import zermelo as z
from support.piece_games import BOXES, BREAKTHROUGH
from support.samples import SPECS
from zermelo.core.drawing import is_svg


def test_text_with_axes_last_move_and_winning_line() -> None:
    assert str(z.game("tictactoe").position(moves="b2 a1 c1 b1 a3")) == (
        "   a   b   c\n"
        "1  O   O  [X]\n"
        "2  .  [X]  .\n"
        "3 [X]  .   ."
    )  # fmt: skip
    assert str(z.game("connect4:rows=2,cols=3,win=3").position(moves="2 2")) == (
        "   1   2   3\n"
        "1  .  (O)  .\n"
        "2  .   X   ."
    )  # fmt: skip


def test_hints_are_what_the_game_takes() -> None:
    for spec in SPECS:
        position = z.game(spec).start()
        assert position.game.grid is not None
        hints = [position.game.cell_hint(position.state, c) for c in range(position.game.grid.size)]
        typed = {position.parse(hint) for hint in hints if hint}
        without_swap = [a for a in position.actions if position.to_move_text(a) != "swap"]
        assert sorted(typed) in (without_swap, [])


def test_other_symbols() -> None:
    text = z.game("tictactoe").position(moves="b2 a1").to_text(symbols="●○·")
    assert text.splitlines()[1] == "1 (○)  ·   ·"


def test_wide_boards_line_up() -> None:
    lines = z.game("line:rows=3,cols=20,win=3").start().to_text(hints=True).splitlines()
    assert len({len(line) for line in lines[1:]}) == 1
    assert lines[0].index("t") == lines[1].index("19") + 1


def test_colour_only_adds_codes() -> None:
    import re

    position = z.game("tictactoe").position(moves="b2 a1 c1 b1 a3")
    plain = re.sub(r"\x1b\[[0-9]*m", "", position.to_text(colour=True))
    expected = str(position).replace("[", " ").replace("]", " ")
    assert plain.splitlines() == [line.rstrip() for line in expected.splitlines()]


@pytest.mark.parametrize("spec", SPECS)
def test_svg_is_well_formed_and_complete(spec: str) -> None:
    position = z.game(spec).start()
    while position.actions:
        position = position.play_action(position.actions[0])
    root = ET.fromstring(position.svg(title='<"&">'))  # noqa: S314 - our own text
    assert position.board is not None
    shapes = [e for e in root.iter() if e.get("class", "").split()[:1] in (["x"], ["o"], ["disc"])]
    assert len(shapes) == sum(map(abs, position.board))
    lines = [e for e in root.iter() if e.get("class") == "line"]
    assert len(lines) == len(position.winning_line or ())
    assert position._repr_svg_().startswith("<svg")


def test_the_widest_board_fits_a_terminal() -> None:
    text = z.game("mnk:20x20x5").start().to_text()
    assert max(map(len, text.splitlines())) <= 80
    assert "  a  b  c" in text
    assert "  a   b   c" in z.game("mnk:19x19x5").start().to_text()


def test_the_cell_that_a_piece_left_is_marked() -> None:
    position = z.game(BREAKTHROUGH).position(moves="b5b4 c2c3")
    lines = str(position).splitlines()
    assert lines[2:4] == ["2  O   O  (.)  O   O   O", "3  .   .  (O)  .   .   ."]
    assert position.svg().count("stroke-dasharray") == 2
    assert "\x1b[2m\x1b[7m." in position.to_text(colour=True)


def test_a_game_may_draw_its_own_picture() -> None:
    position = z.game(BOXES).position(moves="a1b1 a1a2")
    assert position.svg() == position.game.draw_svg(position.state)
    assert is_svg(position.svg())
    assert str(position).splitlines()[1:3] == ["1  +---+   +", "   |"]


@pytest.mark.parametrize(
    "bad",
    [None, "", "<p/>", "<svg>", "<svg/><svg/>", '<!DOCTYPE svg [<!ENTITY a "b">]><svg>&a;</svg>'],
)
def test_pictures_that_are_no_svg_element(bad: object) -> None:
    assert not is_svg(bad)
