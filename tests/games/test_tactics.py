"""The solver's hooks of line games, held against complete tables of small ones."""

from typing import Any

import pytest

import zermelo as z
from zermelo.core.bitboard import bits
from zermelo.core.game import WordGame
from zermelo.games.lines.small import WordLineGame
from zermelo.search.tablebase.tablebase import Tablebase

GRAVITY = (
    "line:rows=4,cols=3,win=3,gravity=true",
    "line:rows=3,cols=4,win=3,gravity=true",
    "line:rows=5,cols=3,win=4,gravity=true",
    "line:rows=3,cols=4,win=4,lose=3,gravity=true",
)
OTHERS = ("tictactoe", "line:rows=3,cols=3,win=3,lose=2", "line:rows=3,cols=3,win=3,pie=true")


def word_game(spec: str) -> WordLineGame:
    game = z.game(spec)
    assert isinstance(game, WordLineGame)
    return game


def running(game: WordGame) -> list[Any]:
    """Every state that is not over."""
    seen, todo = set(), [game.initial()]
    while todo:
        state = todo.pop()
        if state not in seen and not game.result(state)[0]:
            seen.add(state)
            todo += [game.play(state, a) for a in game.actions(state)]
    return sorted(seen)


@pytest.mark.parametrize("spec", GRAVITY)
def test_bounds_hold_whatever_the_window(spec: str) -> None:
    game = word_game(spec)
    table, narrowed = Tablebase.build(game), 0
    for state in running(game):
        if game.hooks.resolve(state)[0]:
            continue
        score = table.score(state)
        assert score is not None
        for alpha in (
            -game.hooks.win_score,
            score - 1,
            score,
            -1,
            0,
            4 - game.hooks.win_score,
            game.hooks.win_score - 8,
        ):
            low, high = game.hooks.score_bounds(state, alpha, alpha + 1)
            assert low <= score <= high, (state, alpha)
            narrowed += low >= 0 or high <= 0
    assert (narrowed > 0) == (game.lose == 0)


@pytest.mark.parametrize("spec", GRAVITY + OTHERS)
def test_replies_are_what_resolve_says_after_its_moves(spec: str) -> None:
    game = word_game(spec)
    for state in running(game)[::3]:
        known, _score, moves = game.hooks.resolve(state)
        for index in () if known else bits(moves):
            reply, expected = (
                game.hooks.resolve_child(state, index),
                game.hooks.resolve(game.hooks.play_index(state, index)),
            )
            assert reply[0] == expected[0]
            assert reply[1:] == expected[1:] or (reply[0] and reply[1] == expected[1])


@pytest.mark.parametrize("spec", GRAVITY + OTHERS)
def test_keys_tell_states_apart(spec: str) -> None:
    game = word_game(spec)
    states = running(game)
    assert len({game.hooks.key(state) for state in states}) == len(states)
    assert game.hooks.has_one_word_key == (not game.pie)
    assert all(0 <= part < 1 << 64 for state in states for part in game.hooks.key(state))
