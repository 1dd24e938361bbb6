"""Solver hooks: what they take from their game, and when two of them are equal."""

import copy
import pickle
from typing import Any

import pytest

import zermelo as z
from zermelo.core.game import SolverHooks, WordGame
from zermelo.games.lines.published import PublishedTactics
from zermelo.games.lines.small import WordLineGame
from zermelo.search.solver.solver import Solver


class Heap(WordGame):
    """Take one or two stones; the last stone wins. A state is (stones, player)."""

    spec, num_actions, num_words, num_boards = "heap", 2, 2, 0
    one: z.Word = 1

    def initial(self) -> Any:
        return (7, 0)

    def legal(self, state: Any) -> Any:
        return self.one * (state[0] > 0) + (self.one + self.one) * (state[0] > 1)

    def play(self, state: Any, action: Any) -> Any:
        return (state[0] - self.one - self.one * (action == 1), state[1] ^ self.one)

    def result(self, state: Any) -> Any:
        return state[0] == 0, -1 * (state[0] == 0)


class HeapHooks(SolverHooks):
    """Three stones are lost in two plies."""

    def resolve(self, state: Any) -> Any:
        over, value = self.result(state)
        if state[0] == 3:
            return True, 2 - self.win_score, self.legal(state)
        return over, value * self.win_score, self.legal(state)


def squava() -> WordLineGame:
    game = z.game("squava")
    assert isinstance(game, WordLineGame)
    return game


def test_attributes_come_from_the_game() -> None:
    hooks = squava().hooks
    assert hooks.spec == "squava"
    assert hooks.initial() == (0, 0, 0)
    with pytest.raises(AttributeError, match="nonsense"):
        _ = hooks.nonsense


def test_a_game_has_one_hooks_object() -> None:
    game = Heap()
    assert type(game.hooks) is SolverHooks
    assert game.hooks is game.hooks


def test_equal_games_have_equal_hooks() -> None:
    assert squava().hooks == squava().hooks
    assert hash(squava().hooks) == hash(squava().hooks)
    assert SolverHooks(squava()) != squava().hooks
    assert z.game("tictactoe").hooks != squava().hooks  # type: ignore[attr-defined]
    assert PublishedTactics(squava(), centre=0) != PublishedTactics(squava())


@pytest.mark.parametrize("duplicate", [copy.copy, lambda x: pickle.loads(pickle.dumps(x))])  # noqa: S301 - its own
def test_hooks_can_be_copied_and_pickled(duplicate: Any) -> None:
    game = squava()
    assert duplicate(game.hooks) == game.hooks
    assert duplicate(game).hooks == game.hooks


def test_signed_rules_have_hooks_of_their_own() -> None:
    game = squava()
    hooks = game.hooks
    signed = game.to_signed()
    assert signed.hooks is not hooks
    assert signed.hooks.game is signed


@pytest.mark.parametrize("jit", ["0", "1"])
def test_hooks_change_the_effort_and_not_the_answer(
    jit: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ZERMELO_JIT", jit)
    plain, fast = Heap(), Heap()
    monkeypatch.setattr(fast, "hooks", HeapHooks(fast), raising=False)
    for stones in range(1, 8):
        scores = [Solver(game).score((stones, 0)) for game in (plain, fast)]
        assert scores[0] == scores[1]
        assert (scores[0] > 0) == (stones % 3 > 0)
