"""The textbook's published counts, and that all its chapters agree."""

import json

import pytest

import zermelo as z
from support.commands import answer, zermelo
from zermelo.search.textbook import (
    FAR,
    METHODS,
    Search,
    deepen,
    principal_variation,
    value_iteration,
)

GAME = z.game("tictactoe")


@pytest.mark.parametrize(
    ("method", "nodes", "leaves"), [("minimax", 549_946, 255_168), ("alphabeta", 18_297, 7_330)]
)
def test_counts_on_the_empty_board(method: str, nodes: int, leaves: int) -> None:
    search = Search(GAME, method=method)
    assert search.solve(GAME.initial()) == 0
    assert (search.counts.nodes, search.counts.leaves) == (nodes, leaves)


def test_distinct_states_and_the_first_best_line() -> None:
    values, _ = value_iteration(GAME, GAME.initial())
    assert len(values) == 5478
    search = Search(GAME, method="memo")
    assert principal_variation(search, GAME.initial()) == [0, 4, 1, 2, 6, 3, 5, 7, 8]


@pytest.mark.parametrize("spec", ["tictactoe", "connect4:rows=3,cols=3,win=3", "reversi:4"])
def test_all_chapters_agree(spec: str) -> None:
    """From positions near the end of random games, every method and switch has one value."""
    import random

    game, rng = z.game(spec), random.Random(3)
    for _ in range(12):
        line = [game.start()]
        while line[-1].actions:
            line.append(line[-1].play_action(rng.choice(line[-1].actions)))
        state = line[-min(6, len(line))].state
        values, _ = value_iteration(game, state)
        for method in METHODS[:-1]:
            for order in ("index", "centre"):
                plain = Search(game, method=method, order=order).solve(state)
                far = Search(game, method=method, order=order, distance=True).solve(state)
                assert plain == values[state] == (far > 0) - (far < 0)
        assert deepen(game, state, method="both")[0] == values[state]
        fars = {Search(game, method=m, distance=True).solve(state) for m in METHODS[:-1]}
        assert len(fars) == 1


def test_a_bound_is_never_taken_for_a_value() -> None:
    """One memo serves every state of the game: with bounds kept apart no choice is ever wrong."""
    values, _ = value_iteration(GAME, GAME.initial())
    search = Search(GAME, method="both")
    search.solve(GAME.initial())
    for state in values:
        if not GAME.result(state)[0]:
            value, best = search.best_actions(state)
            right = [
                a for a in GAME.actions(state) if -values[GAME.play(state, a)] == values[state]
            ]
            assert (value, best) == (values[state], right)


def test_the_faster_win_is_preferred() -> None:
    state = GAME.position("XX./OO./...").state
    assert Search(GAME, distance=True).best_actions(state) == (FAR - 1, [2])
    plain, far = Search(GAME, method="memo"), Search(GAME, method="memo", distance=True)
    choices = [
        (set(far.best_actions(s)[1]), set(plain.best_actions(s)[1]))
        for s in value_iteration(GAME, GAME.initial())[0]
    ]
    assert all(fast <= winning for fast, winning in choices)
    assert sum(fast < winning for fast, winning in choices) > 500


def test_a_depth_limit_hides_and_says_so() -> None:
    search = Search(GAME, depth=2)
    assert search.solve(GAME.initial()) == 0
    assert search.horizon
    found = answer("textbook", "tictactoe", "--depth", "2")
    assert isinstance(found, dict)
    assert (found["value"], found["estimate"], found["exact"]) == (None, 0.0, False)


def test_command() -> None:
    found = answer("textbook", "tictactoe", "--method", "alphabeta")
    assert isinstance(found, dict)
    assert found["nodes"] == 18_297
    assert (found["value"], found["plies"], found["exact"]) == ("draw", None, True)
    assert {"leaves", "cutoffs", "cache_hits", "best", "pv", "seconds"} <= set(found)
    near = zermelo("textbook", "tictactoe", "--moves", "a1 b1", "--distance", "--json").stdout
    assert json.loads(near)["plies"] == 5
    assert (
        zermelo("textbook", "tictactoe", "--method", "value-iteration", "--depth", "2").returncode
        == 2
    )
    sweep = answer("textbook", "tictactoe", "--method", "value-iteration")
    assert isinstance(sweep, dict)
    assert sweep["value"] == "draw"
