"""The textbook's published counts, and the agreement of all its methods."""

import json
import random

import pytest

import zermelo as z
from support.commands import answer, zermelo
from zermelo.search.textbook import (
    METHODS,
    WIN_SCORE,
    TextbookSearch,
    deepen,
    principal_variation,
    value_iteration,
)

GAME = z.game("tictactoe")


@pytest.mark.parametrize(
    ("method", "nodes", "leaves"), [("minimax", 549_946, 255_168), ("alphabeta", 18_297, 7_330)]
)
def test_counts_on_the_empty_board(method: str, nodes: int, leaves: int) -> None:
    search = TextbookSearch(GAME, method=method)
    assert search.solve(GAME.initial()) == 0
    assert (search.counts.nodes, search.counts.leaves) == (nodes, leaves)


def test_distinct_states_and_the_first_best_line() -> None:
    values, _ = value_iteration(GAME, GAME.initial())
    assert len(values) == 5478
    search = TextbookSearch(GAME, method="memo")
    assert principal_variation(search, GAME.initial()) == [0, 4, 1, 2, 6, 3, 5, 7, 8]


@pytest.mark.parametrize("spec", ["tictactoe", "connect4:rows=3,cols=3,win=3", "reversi:4"])
def test_all_methods_agree(spec: str) -> None:
    """Near the end of random games every method and every switch gives the same value."""
    game, rng = z.game(spec), random.Random(3)
    for _ in range(12):
        positions = [game.start()]
        while positions[-1].actions:
            positions.append(positions[-1].play_action(rng.choice(positions[-1].actions)))
        state = positions[-min(6, len(positions))].state
        values, _ = value_iteration(game, state)
        for method in METHODS[:-1]:
            for order in ("index", "centre"):
                plain = TextbookSearch(game, method=method, order=order)
                far = TextbookSearch(game, method=method, order=order, distance=True)
                score = far.solve(state)
                assert plain.solve(state) == values[state] == (score > 0) - (score < 0)
        assert deepen(game, state, method="both")[0] == values[state]
        scores = {TextbookSearch(game, method=m, distance=True).solve(state) for m in METHODS[:-1]}
        assert len(scores) == 1


def test_a_bound_is_never_taken_for_a_value() -> None:
    """One memo serves every state of the game, and no best move is ever wrong."""
    values, _ = value_iteration(GAME, GAME.initial())
    search = TextbookSearch(GAME, method="both")
    search.solve(GAME.initial())
    for state in values:
        if not GAME.result(state)[0]:
            value, best = search.best_actions(state)
            expected = [
                a for a in GAME.actions(state) if -values[GAME.play(state, a)] == values[state]
            ]
            assert (value, best) == (values[state], expected)


def test_the_faster_win_is_preferred() -> None:
    state = GAME.position("XX./OO./...").state
    assert TextbookSearch(GAME, distance=True).best_actions(state) == (WIN_SCORE - 1, [2])
    plain = TextbookSearch(GAME, method="memo")
    with_distance = TextbookSearch(GAME, method="memo", distance=True)
    choices = [
        (set(with_distance.best_actions(state)[1]), set(plain.best_actions(state)[1]))
        for state in value_iteration(GAME, GAME.initial())[0]
    ]
    assert all(fastest <= winning for fastest, winning in choices)
    assert sum(fastest < winning for fastest, winning in choices) > 500


def test_a_depth_limit_is_reported() -> None:
    search = TextbookSearch(GAME, depth=2)
    assert search.solve(GAME.initial()) == 0
    assert search.hit_horizon
    fields = answer("textbook", "tictactoe", "--depth", "2")
    assert isinstance(fields, dict)
    assert (fields["value"], fields["estimate"], fields["exact"]) == (None, 0.0, False)


def test_command() -> None:
    fields = answer("textbook", "tictactoe", "--method", "alphabeta")
    assert isinstance(fields, dict)
    assert fields["nodes"] == 18_297
    assert (fields["value"], fields["plies"], fields["exact"]) == ("draw", None, True)
    assert {"leaves", "cutoffs", "cache_hits", "best", "pv", "seconds"} <= set(fields)
    near = zermelo("textbook", "tictactoe", "--moves", "a1 b1", "--distance", "--json").stdout
    assert json.loads(near)["plies"] == 5
    assert (
        zermelo("textbook", "tictactoe", "--method", "value-iteration", "--depth", "2").returncode
        == 2
    )
    sweep = answer("textbook", "tictactoe", "--method", "value-iteration")
    assert isinstance(sweep, dict)
    assert sweep["value"] == "draw"
