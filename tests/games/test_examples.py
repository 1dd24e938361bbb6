"""The games in examples/: their rules, values and plays against rules that are written apart."""

import random
from functools import reduce
from operator import xor
from typing import Any
from xml.etree import ElementTree as ET

import pytest

import zermelo as z
from support.naive_examples import (
    NaiveBreakthrough,
    NaiveDotsAndBoxes,
    NaiveHex,
    NaiveRules,
    NaiveSolver,
    random_line,
)
from support.paths import ROOT
from zermelo.core.player import Limit
from zermelo.core.position import Position
from zermelo.search.playouts import run_playouts

NAMES = ("hex", "breakthrough", "dots_and_boxes", "nim")
WORDS = {1: "win", 0: "draw", -1: "loss"}
NAIVE: dict[str, NaiveRules] = {
    "hex": NaiveHex(7),
    "breakthrough": NaiveBreakthrough(6, 6),
    "dots_and_boxes": NaiveDotsAndBoxes(3, 3),
}


def path(name: str) -> str:
    return str(ROOT / "examples" / f"{name}.py")


def resize(name: str, *parameters: Any) -> Any:
    """The game of an example on a smaller board; all sizes share one compilation."""
    game = type(z.game(path(name)))(*parameters)
    game.spec, game.is_specialised = f"{name}{parameters}", False
    return game


def sign(number: int) -> int:
    return (number > 0) - (number < 0)


def check_value(solver: NaiveSolver, state: Any, position: Position) -> None:
    """Solve a position that is not over, and compare everything with the naive solver."""
    truth, solution = solver.value(state), z.solve(position)
    assert solution.exact
    assert solution.complete
    assert solution.value == WORDS[sign(truth.margin)]
    assert set(solution.best) == solver.best(state)
    if solver.rules.has_scores:
        assert solution.diff == truth.margin
    else:
        assert solution.plies == truth.plies
        assert len(solution.pv) == truth.plies


@pytest.mark.parametrize("name", NAIVE)
def test_rules_agree_with_naive_rules(name: str) -> None:
    game, rules, rng = z.game(path(name)), NAIVE[name], random.Random(name)
    for _ in range(15):
        position = game.start()
        for state, move in random_line(rules, rng):
            assert set(position.legal) == set(rules.moves(state))
            assert position.player == state[-1]
            if move is None:
                assert game.result(position.state) == (True, sign(rules.margin(state)))
                assert not game.has_scores or game.score(position.state) == rules.margin(state)
            else:
                position = position.play(move)


@pytest.mark.parametrize("name", NAMES)
def test_playouts_end_and_agree_with_plain_python(name: str, monkeypatch: Any) -> None:
    game = z.game(path(name))
    compiled = run_playouts(game, 20, seed=3)
    assert compiled.first + compiled.second + compiled.draw == 20
    monkeypatch.setenv("ZERMELO_JIT", "0")
    assert run_playouts(game, 20, seed=3) == compiled


def test_every_opening_of_small_hex() -> None:
    solver, game = NaiveSolver(NaiveHex(3)), resize("hex", 3)
    check_value(solver, solver.rules.initial(), game.start())
    for move, state in solver.rules.moves(solver.rules.initial()).items():
        check_value(solver, state, game.start().play(move))
    assert z.solve(resize("hex", 4).start()).value == "win"  # the first player wins on every board


@pytest.mark.parametrize(("rows", "cols"), [(5, 2), (4, 3)])
def test_every_opening_of_small_breakthrough(rows: int, cols: int) -> None:
    solver = NaiveSolver(NaiveBreakthrough(rows, cols))
    game = resize("breakthrough", rows, cols)
    check_value(solver, solver.rules.initial(), game.start())
    for move, state in solver.rules.moves(solver.rules.initial()).items():
        check_value(solver, state, game.start().play(move))


@pytest.mark.parametrize(("rows", "cols"), [(1, 1), (1, 2), (2, 2)])
def test_every_opening_of_small_dots_and_boxes(rows: int, cols: int) -> None:
    solver = NaiveSolver(NaiveDotsAndBoxes(rows, cols))
    game = resize("dots_and_boxes", rows, cols)
    check_value(solver, solver.rules.initial(), game.start())
    for move, state in solver.rules.moves(solver.rules.initial()).items():
        check_value(solver, state, game.start().play(move))


def test_nim_is_won_unless_the_heaps_cancel() -> None:
    """Bouton's theorem: the side to move loses exactly if the exclusive or of all heaps is 0."""
    game = z.game(path("nim"))
    width = game.plane_shape[1]
    for a in range(4):
        for b in range(6):
            for c in range(8):
                heaps = (a, b, c)
                matches = sum(((1 << size) - 1) << width * i for i, size in enumerate(heaps))
                solution = z.solve(Position(game, (matches, 0), None))
                nim_sum = reduce(xor, heaps)
                assert solution.value == ("win" if nim_sum else "loss"), heaps
                wins = {
                    f"{'abc'[i]}{taken}"
                    for i, size in enumerate(heaps)
                    for taken in range(1, size + 1)
                    if nim_sum ^ size ^ (size - taken) == 0
                }
                assert not nim_sum or set(solution.best) <= wins


@pytest.mark.parametrize("name", ["hex", "breakthrough"])
def test_games_too_large_to_solve_are_estimated(name: str) -> None:
    """Without `evaluate` every estimate would be 0; whoever is ahead is estimated as ahead."""
    ahead = {"hex": "d1 a1 d2 a2 d3 a3 d4 a4", "breakthrough": "c2c3 a5a4 c3c4 a4a3"}
    game = z.game(path(name))
    solution = z.solve(game.position(moves=ahead[name]), limit=Limit(nodes=20_000))
    assert solution.exact or solution.estimate is not None
    assert solution.value == "win" or (solution.estimate or 0) > 0


@pytest.mark.parametrize("name", NAMES)
def test_players_play_each_example(name: str) -> None:
    game = z.game(path(name))
    for spec in ("mcts:sims=50,seed=1", "greedy:seed=1", "minimax:depth=2"):
        assert z.player(spec).choose(game.start()).move in game.start().legal


@pytest.mark.parametrize("name", NAMES)
def test_symmetries_and_moves_round_trip(name: str) -> None:
    game = z.game(path(name))
    position, rng = game.start(), random.Random(1)
    while not position.is_over:
        for action in position.actions:
            assert position.parse(position.to_move_text(action)) == action
        position = position.play_action(rng.choice(position.actions))


def test_breakthrough_moves_from_a_cell_to_a_cell() -> None:
    game = z.game(path("breakthrough"))
    start = game.start()
    action = start.parse("b2c3")
    assert [game.grid.text(cell) for cell in game.move_cells(start.state, action)] == ["b2", "c3"]
    after = start.play("b2c3").play("d5d4")
    assert after.legal.count("c3d4") == 1  # a capture
    assert "c3c4" in after.legal
    assert str(after.play("c3d4")) != str(after)


DOTS = """\
    a b c d e f g
 1  +---+   +   +
 2  | O |
 3  +---+   +   +
 4
 5  +   +   +   +
 6
 7  +   +   +   +"""
NIM = """\
a | | |
b | | |
c | | | | | | |"""


def test_games_without_a_grid_draw_themselves() -> None:
    dots = z.game(path("dots_and_boxes"))
    before = dots.position(moves="b1 c2 a2")
    after = before.play("b3")
    assert (before.player, after.player) == (1, 1)  # O completes a box and moves again
    assert dots.draw(after.state) == DOTS
    assert (nim := z.game(path("nim"))).draw(nim.position(moves="b2").state) == NIM


@pytest.mark.parametrize("name", ["dots_and_boxes", "nim"])
def test_pictures_are_svg(name: str) -> None:
    game = z.game(path(name))
    position, rng = game.start(), random.Random(2)
    while not position.is_over:
        position = position.play_action(rng.choice(position.actions))
        picture = ET.fromstring(game.draw_svg(position.state))  # noqa: S314 - our own file's
        assert picture.tag == "{http://www.w3.org/2000/svg}svg"
        assert game.draw(position.state)
