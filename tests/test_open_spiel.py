"""OpenSpiel's rules and ours, move for move, and our games registered there."""

import random

import pytest

import zermelo as z
from zermelo.games.reversi import Reversi

pyspiel = pytest.importorskip("pyspiel", reason="OpenSpiel is not installed")

PAIRS = [
    ("tictactoe", "tic_tac_toe", 1000),
    ("connect4", "connect_four", 700),
    ("reversi", "othello", 250),
    ("mnk:4x4x3", "mnk(m=4,n=4,k=3)", 500),
    ("mnk:3x5x3", "mnk(m=5,n=3,k=3)", 500),
    ("mnk:8x8x5", "mnk(m=8,n=8,k=5)", 150),
    ("gomoku6", "gomoku(size=6,connect=4)", 500),
    ("gomoku", "gomoku(size=15,connect=5)", 60),
]


def cross_check(ours: str, theirs: str, number: int) -> None:
    """Legal actions, the player, the end and the returns, after every move of random games."""
    game, other, dice = z.game(ours), pyspiel.load_game(theirs), random.Random(9)
    for _ in range(number):
        position, state = game.start(), other.new_initial_state()
        while True:
            assert position.is_over == state.is_terminal()
            if position.is_over:
                break
            assert position.actions == state.legal_actions()
            assert position.player == state.current_player()
            action = dice.choice(position.actions)
            state.apply_action(action)
            position = position.play_action(action)
        outcome = position.outcome
        assert outcome is not None
        if isinstance(game, Reversi):
            black = sum(position.board or ())
            sign = (black > 0) - (black < 0)
        else:
            sign = {None: 0, 0: 1, 1: -1}[outcome.winner]
        assert state.returns() == [sign, -sign]


@pytest.mark.parametrize(("ours", "theirs", "number"), PAIRS)
def test_rules_agree(ours: str, theirs: str, number: int) -> None:
    cross_check(ours, theirs, number // 5)


@pytest.mark.proof
@pytest.mark.parametrize(("ours", "theirs", "number"), PAIRS)
def test_rules_agree_over_thousands_of_games(ours: str, theirs: str, number: int) -> None:
    cross_check(ours, theirs, number * 10)


@pytest.mark.parametrize(
    "spec",
    [
        "tictactoe",
        "connect4",
        "squava:pie=true",
        "reversi:6",
        "gomoku:size=9,renju=true",
        "mnk:3x7x3",
    ],
)
def test_our_games_registered_there_pass_their_simulation(
    spec: str, capfd: pytest.CaptureFixture[str]
) -> None:
    from zermelo.envs import open_spiel

    name = open_spiel.register(spec)
    assert name == open_spiel.register(spec)
    game = pyspiel.load_game(name)
    pyspiel.random_sim_test(game, num_sims=5, serialize=True, verbose=False)
    capfd.readouterr()
    state = game.new_initial_state()
    assert state.legal_actions() == z.game(spec).start().actions
    assert state.action_to_string(0, 0) == z.game(spec).to_text(0)
