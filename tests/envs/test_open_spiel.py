"""OpenSpiel's rules against ours, move by move; our games and players in OpenSpiel."""

import random

import pytest

import zermelo as z
from zermelo.games.reversi.rules import Reversi

pyspiel = pytest.importorskip("pyspiel", reason="OpenSpiel is not installed")
from zermelo.envs import open_spiel_games  # noqa: E402 - only where it is installed
from zermelo.envs.open_spiel_players import ZermeloBot, open_spiel_name  # noqa: E402

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
    """Compare legal actions, players, ends and returns after every move of random games."""
    game, other, rng = z.game(ours), pyspiel.load_game(theirs), random.Random(9)
    for _ in range(number):
        position, state = game.start(), other.new_initial_state()
        while True:
            assert position.is_over == state.is_terminal()
            if position.is_over:
                break
            assert position.actions == state.legal_actions()
            assert position.player == state.current_player()
            action = rng.choice(position.actions)
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
def test_our_registered_games_pass_the_random_simulation(
    spec: str, capfd: pytest.CaptureFixture[str]
) -> None:
    name = open_spiel_games.register(spec)
    assert name == open_spiel_games.register(spec)
    game = pyspiel.load_game(name)
    pyspiel.random_sim_test(game, num_sims=5, serialize=True, verbose=False)
    capfd.readouterr()
    state = game.new_initial_state()
    assert state.legal_actions() == z.game(spec).start().actions
    assert state.action_to_string(0, 0) == z.game(spec).start().to_move_text(0)


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        *((ours, theirs) for ours, theirs, _ in PAIRS if ours not in ("connect4", "mnk:4x4x3")),
        ("connect4", "connect_four(rows=6,columns=7,x_in_row=4)"),
        ("connect4:rows=5,cols=6,win=3", "connect_four(rows=5,columns=6,x_in_row=3)"),
        ("mnk:4x4x3", "gomoku(size=4,connect=3)"),
        ("squava", None),
        ("reversi:6", None),
        ("gomoku:renju=true", None),
        ("gomoku:overline=exact", None),
        ("squava:pie=true", None),
    ],
)
def test_the_open_spiel_game_with_our_rules(ours: str, theirs: str | None) -> None:
    name = open_spiel_name(z.game(ours))
    # OpenSpiel's mnk and gomoku both have square boards; the faster one is used.
    assert name == ("gomoku(size=8,connect=5)" if ours == "mnk:8x8x5" else theirs)
    if name:
        cross_check(ours, name, 20)


@pytest.mark.parametrize("spec", ["tictactoe", "connect4", "reversi", "squava"])
@pytest.mark.parametrize("bot", ["mcts,sims=30", "random"])
def test_open_spiel_bots_as_our_players(spec: str, bot: str) -> None:
    player, position, lines = z.player(f"openspiel:{bot},seed=3"), z.game(spec).start(), []
    for _ in range(2):
        position, moves = z.game(spec).start(), []
        while not position.is_over and len(moves) < 12:
            analysis = player.choose(position)
            assert analysis.move in position.legal
            moves.append(analysis.move)
            position = position.play(analysis.move)
        lines.append(moves)
        player.reseed(3)
    assert lines[0] == lines[1]
    with pytest.raises(z.ZermeloError, match="needs all moves"):
        player.choose(z.game("tictactoe").position("X../.O./..."))


def test_our_players_as_open_spiel_bots() -> None:
    game = pyspiel.load_game("tic_tac_toe")
    for seed in range(5):
        bots = [
            ZermeloBot("perfect", z.game("tictactoe")),
            pyspiel.make_uniform_random_bot(1, seed),
        ]
        returns = pyspiel.evaluate_bots(game.new_initial_state(), bots, seed)
        assert returns[0] >= 0
    registered = pyspiel.load_game(open_spiel_games.register("squava"))
    bots = [ZermeloBot(f"mcts:sims=100,seed={side}", z.game("squava")) for side in (0, 1)]
    assert sum(pyspiel.evaluate_bots(registered.new_initial_state(), bots, 1)) == 0


@pytest.mark.parametrize("moves", ["4 4 3 3", "1 4 1 4"])
def test_both_tree_searches_distribute_their_visits_alike(moves: str) -> None:
    """With the same constant and no solver, mean visits over 300 seeds agree."""
    position = z.game("connect4").position(moves=moves)
    visits = []
    for spec in (
        "mcts:sims=200,c=2,solver=false,reuse=false",
        "openspiel:mcts,sims=200,c=2,solver=false",
    ):
        total = dict.fromkeys(position.legal, 0)
        for seed in range(300):
            for candidate in z.player(f"{spec},seed={seed}").choose(position).candidates:
                total[candidate.move] += candidate.visits or 0
        visits.append([number / 300 for number in total.values()])
    ours, theirs = visits
    assert max(abs(a - b) for a, b in zip(ours, theirs, strict=True)) < 3.5
