"""Players without learning: the contract of each, and their order of strength."""

import random
from typing import Any

import pytest

import zermelo as z
from support.commands import answer, zermelo
from zermelo.core.player import Limit
from zermelo.players.levels import MISTAKES
from zermelo.search import textbook
from zermelo.search.iterative_deepening import deepen

SPECS = ("greedy:seed=1", "lookahead:2", "minimax:depth=2", "alphabeta:seconds=0.05", "level:4")
GAMES = (
    "tictactoe",
    "mnk:5x4x4",
    "squava:pie=true",
    "connect4",
    "reversi:6",
    "gomoku:size=5,overline=exact",
    "gomoku",
    "gomoku:renju=true",
    "connect4:10x10",
    "examples/domineering.py",
)


@pytest.mark.parametrize("spec", SPECS)
@pytest.mark.parametrize("name", GAMES)
def test_every_player_plays_every_game(spec: str, name: str) -> None:
    """Choose in a few positions: a legal move, and on request a candidate for every move."""
    game, player, rng = z.game(name), z.player(spec), random.Random(1)
    for length in (0, 1, 4):
        position = game.start()
        for _ in range(length):
            position = position.play_action(rng.choice(position.actions))
        found = player.choose(position, Limit(seconds=0.3, all_moves=True))
        assert found.move in position.legal
        assert {c.move for c in found.candidates} == set(position.legal)
        assert found.exact == (found.estimate is None) == (found.value is not None)


def test_a_game_in_plain_python(tmp_path: Any) -> None:
    from support.user_games import MATCHES

    path = tmp_path / "matches.py"
    path.write_text(MATCHES)
    game = z.game(str(path))
    assert z.player("lookahead:20").choose(game.start()).move == "1"
    for spec in SPECS:
        assert z.player(spec).choose(game.start()).move in game.start().legal


def match_score(
    first: str, second: str, game: str, games: int, limit: Limit | None = None
) -> float:
    """Return the first player's score in games from random openings, seats alternating."""
    rules, players = z.game(game), (z.player(first), z.player(second))
    rng, points = random.Random(7), 0.0
    for number in range(games):
        position = rules.start().play_action(rng.choice(rules.start().actions))
        while not position.is_over:
            side = (position.player + number) % 2
            position = position.play(players[side].choose(position, limit).move)
        assert position.outcome is not None
        winner = position.outcome.winner
        points += 0.5 if winner is None else (winner + number) % 2 == 0
    return points / games


@pytest.mark.parametrize(
    ("stronger", "weaker", "game"),
    [
        ("greedy:seed=1", "random:seed=1", "gomoku6"),
        ("lookahead:3,seed=1", "greedy:seed=1", "squava"),
        ("minimax:depth=4", "greedy:seed=1", "connect4"),
        ("minimax:depth=4", "random:seed=1", "reversi"),
        ("minimax:depth=4", "greedy:seed=1", "gomoku"),
        ("level:8,seed=1", "level:1,seed=2", "tictactoe"),
    ],
)
def test_stronger_players_win(stronger: str, weaker: str, game: str) -> None:
    assert match_score(stronger, weaker, game, 10) >= 0.7


def test_greedy_takes_wins_and_open_lines() -> None:
    """A win, else the most open lines with two stones or more, ties nearest the centre."""
    game = z.game("tictactoe")
    assert z.player("greedy").choose(game.start()).move == "b2"
    assert z.player("greedy").choose(game.position("XX./OO./...")).move == "c1"
    position = z.game("squava").position(moves="a1 e5 b1 e4")
    assert z.player("greedy").choose(position).move != "c1"  # three in a row lose


def test_lookahead_finds_results_within_its_plies() -> None:
    """A win in three plies by two threats, which two plies do not show."""
    position = z.game("connect4").position(moves="4455")
    found = z.player("lookahead:3").choose(position)
    assert (found.move in ("3", "6"), found.value, found.plies) == (True, "win", 3)
    assert z.player("lookahead:2").choose(position).value is None
    lost = z.game("tictactoe").position(moves="a1 b1 b2")  # X threatens c3 and then more
    assert z.player("lookahead:4").choose(lost).value == "loss"


def test_minimax_finds_the_forced_win_of_6x6x4() -> None:
    found = z.player("minimax:depth=10").choose(z.game("gomoku6").start())
    assert (found.value, found.plies) == ("win", 11)


@pytest.mark.parametrize("game", ["gomoku:size=10", "reversi"])
@pytest.mark.parametrize(("stronger", "weaker"), [(5, 1), (10, 5)])
def test_levels_are_a_ladder_where_nothing_is_proven(stronger: int, weaker: int, game: str) -> None:
    """Both have few nodes; the whole ladder is in docs/benchmarks.md."""
    limit = Limit(nodes=400)
    assert match_score(f"level:{stronger},seed=1", f"level:{weaker},seed=2", game, 8, limit) >= 0.75


def test_a_level_is_reproducible_and_keeps_its_second() -> None:
    position = z.game("gomoku").position(moves="h8 g7 h7 h6 g8 f8")
    choices = [z.player("level:6,seed=4").choose(position) for _ in range(2)]
    assert choices[0].move == choices[1].move
    assert all(choice.seconds < 1.1 for choice in choices)


@pytest.mark.parametrize(
    ("game", "moves", "passes"),
    [("tictactoe", "b2", 0), ("connect4", "", 0), ("squava", "c3", 1), ("gomoku", "h8 i9", 1)],
)
def test_a_level_searches_once(
    game: str, moves: str, passes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Deepening is for positions that the solver does not prove in time."""
    calls = []

    def count_calls(*args: Any, **options: Any) -> Any:
        calls.append(args)
        return deepen(*args, **options)

    monkeypatch.setattr("zermelo.players.levels.deepen", count_calls)
    choice = z.player("level:5,seed=1").choose(z.game(game).position(moves=moves))
    assert len(calls) == passes
    assert not any(candidate.reasons for candidate in choice.candidates)


@pytest.mark.parametrize("level", [1, 5, 9, 10])
def test_levels_make_mistakes_at_their_rate(level: int) -> None:
    """Measured against exact values where a mistake is possible."""
    game, player, rng = z.game("tictactoe"), z.player(f"level:{level},seed=3"), random.Random(5)
    search = textbook.TextbookSearch(game, method="memo")
    chances = errors = 0
    while chances < 400:
        position = game.start()
        for _ in range(rng.randrange(7)):
            if not position.is_over:
                position = position.play_action(rng.choice(position.actions))
        if position.is_over:
            continue
        values = {m: -search.solve(position.play(m).state) for m in position.legal}
        if min(values.values()) < max(values.values()):
            chances += 1
            errors += values[player.choose(position).move] < max(values.values())
    assert errors / chances == pytest.approx(MISTAKES[level], abs=0.07)


def test_the_published_heuristic_is_for_squava() -> None:
    start = z.game("squava").start()
    assert z.player("minimax:depth=2,heuristic=published").choose(start).move == "c3"
    assert z.player("minimax:depth=8").choose(start).move != "c3"
    with pytest.raises(z.BadSpec, match="for squava"):
        z.player("minimax:depth=2,heuristic=published").choose(z.game("tictactoe").start())


def test_errors_of_bad_parameters_name_valid_values() -> None:
    for spec, word in (
        ("minimax:depth=0", "1 or more"),
        ("level:11", "it must be 1 to 10"),
        ("level:0", "it must be 1 to 10"),
        ("lookahead:0", "1 or more"),
        ("alphabeta:seconds=0", "above 0"),
        ("minimax:heuristic=x", "fitted or published"),
    ):
        with pytest.raises(z.BadSpec, match=word):
            z.player(spec)


def test_choose_and_show_thinking_on_the_command_line() -> None:
    found = answer("choose", "gomoku6", "minimax:depth=6", "--moves", "c3 d4 d3 a1 c4 a2")
    assert isinstance(found, dict)
    assert (found["value"], found["exact"]) == ("win", True)
    moves = "b2\nhint\nwhy b1\nwhy a9\nquit\n"
    shown = zermelo(
        "play", "tictactoe", "--second", "minimax:depth=9", "--show-thinking", given=moves
    ).stdout
    assert "* a1   draw" in shown
    assert "you win in 3 moves" in shown
    assert "(proven by search; " in shown
    assert "keeps the draw" in shown or "threatens to win at" in shown
    assert "Illegal move 'a9'" in shown


def test_lookahead_finds_the_end_of_reversi_and_draws() -> None:
    position = z.game("reversi:4").position(moves="d3 d4 b1 d2 c4 a3 b4 a1 a2")
    truth = z.solve(position)
    found = z.player("lookahead:6").choose(position)
    assert (found.value, found.diff) == (truth.value, truth.diff)
    assert z.player("lookahead:9").choose(z.game("tictactoe").start()).value == "draw"


@pytest.mark.parametrize("spec", [*SPECS, "random:seed=1", "level:1,seed=1", "perfect:seed=2"])
def test_the_choice_is_the_first_candidate(spec: str) -> None:
    position = z.game("tictactoe").position(moves="a1 b2 b1")
    found = z.player(spec).choose(position, Limit(seconds=0.5, all_moves=True))
    assert found.candidates[0].move == found.move or spec.startswith("perfect")
    assert next(c for c in found.candidates if c.move == found.move).best
    assert found.value == next(c for c in found.candidates if c.move == found.move).value


def test_a_game_is_saved_when_a_player_gives_up(tmp_path: Any) -> None:
    done = zermelo("play", "connect4:7x7", "--second", "perfect", "--seconds", "0.2", given="4\n")
    assert done.returncode == 2
    assert "Game saved" in done.stdout
