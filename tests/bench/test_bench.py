"""Benchmarks: their reports, the positions they sample, and equal scores by all systems."""

from pathlib import Path
from typing import Any

import pytest

import zermelo as z
from support.commands import answer, zermelo
from zermelo.bench import measure, positions, signature, solve
from zermelo.bench.batches import evaluating, suite
from zermelo.core.game import WordGame
from zermelo.core.player import Limit
from zermelo.learn.models.files import shipped_models
from zermelo.search.limits import SearchClock, SearchStopped
from zermelo.search.negamax import arrays
from zermelo.search.negamax.searcher import NegamaxSearcher
from zermelo.search.solver.solver import Solver, SolverSettings

SIGNATURE = 412879
PERFT = 186371285


def word_game(spec: str) -> WordGame:
    game = z.game(spec)
    assert isinstance(game, WordGame)
    return game


def ignore(_: str) -> None:
    pass


@pytest.fixture(autouse=True)
def all_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    """Do not pin the process, which runs other tests, too, to one core."""
    monkeypatch.setattr(measure, "pin_to_one_core", lambda: None)


def test_signature() -> None:
    """The numbers change only with rules or search, and then here in the same commit."""
    report = answer("bench", "signature")
    assert isinstance(report, dict)
    assert (report["signature"], report["perft"]) == (SIGNATURE, PERFT)
    again = signature.count_search_nodes()
    assert again == [row for row in report["rows"] if row["unit"] == "nodes"]
    assert sum(row["rate"] for row in again) == SIGNATURE


@pytest.mark.parametrize(
    ("spec", "stones", "number"),
    [("connect4", (20, 30), 30), ("squava", (12, 14), 5), ("reversi:4", (2, 5), 5)],
)
def test_scores_of_several_states_in_one_call(
    spec: str, stones: tuple[int, int], number: int
) -> None:
    """The solver finds the same scores one by one, and a new solver visits as many nodes."""
    game = word_game(spec)
    states = [p.state for p in positions.sample_positions(game, stones, number)]
    searcher, clock = NegamaxSearcher(game.hooks, table_bits=16), SearchClock()
    together = searcher.solve_batch(states, clock)
    solver, nodes = Solver(game, SolverSettings(table_bits=16, deepening=False)), 0
    for state, score in zip(states, together, strict=True):
        solver.clear()
        assert score == solver.score(state)
        solver.clear()
        alone = SearchClock()
        solver.searcher.control[arrays.SHORT_WINS_FIRST] = game.hooks.ply_cost
        solver.bounds(state, -game.hooks.win_score, game.hooks.win_score, alone)
        solver.searcher.control[arrays.SHORT_WINS_FIRST] = 0
        nodes += alone.nodes
    assert clock.nodes == nodes
    assert searcher.solve_batch([], SearchClock()) == []


def test_scores_when_generations_run_out_and_when_stopped() -> None:
    game = word_game("connect4")
    states = positions.sample_connect_four("middle", 8).states
    searcher = NegamaxSearcher(game.hooks, table_bits=16)
    once = searcher.solve_batch(states, SearchClock())
    with pytest.raises(SearchStopped):
        searcher.solve_batch(states, SearchClock(Limit(nodes=3000)))
    searcher.control[arrays.GENERATION] = (1 << 16) - 5
    assert searcher.solve_batch(states, SearchClock()) == once
    assert searcher.control[arrays.GENERATION] == len(states)


def test_sampled_positions_are_what_their_set_says() -> None:
    game = word_game("connect4")
    solver = Solver(game)
    for name, (low, high) in positions.STONE_RANGES.items():
        position_set = positions.sample_connect_four(name, 15)
        assert position_set.positions == positions.sample_connect_four(name, 15).positions
        assert len(set(position_set.states)) == 15
        for number, position in enumerate(position_set.positions):
            assert low <= len(position_set.history(number)) <= high
            assert not position.is_over
            children = [position.play_action(action) for action in position.actions]
            assert not any(child.outcome and child.outcome.winner is not None for child in children)
            if name == "begin-easy":
                assert game.hooks.win_score - abs(solver.score(position.state)) <= 14


def test_report() -> None:
    report = solve.run(3, 1, ("sets", "switches"), None, ignore, max_nodes=30_000)
    assert report["suite"] == "solve"
    for row in report["rows"]:
        assert {"game", "task", "system", "rate", "unit", "ms", "nodes"} <= set(row)
    sets = [f"connect4/solve {name}" for name in positions.STONE_RANGES]
    if measure.is_installed("bitbully"):
        assert list(report["ratios"]) == sets
        assert all(set(ratio) == {"bitbully"} for ratio in report["ratios"].values())
    stopped = [row for row in report["rows"] if row.get("stopped")]
    assert stopped
    assert all(row["rate"] == 0 and row["nodes"] >= 30_000 for row in stopped)
    assert len(stopped) == sum("stopped" in note for note in report["notes"])


def test_alpha_beta_beside_open_spiel() -> None:
    pytest.importorskip("pyspiel", reason="OpenSpiel is not installed")
    report = solve.run(1, 1, ("alphabeta",), None, ignore)
    assert set(report["ratios"]) == {
        "tictactoe/solve start",
        "connect4/search depth 8",
        "connect4/search depth 8 with estimates",
    }
    assert all(ratio["open_spiel"] > 1 for ratio in report["ratios"].values())


def bench_file(path: Path, text: str) -> Any:
    path.write_text(text, encoding="utf-8")
    return zermelo("bench", "solve", "--part", "sets", "--repeat", "1", "--positions", str(path))


def test_positions_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "some.csv"
    path.write_text("set,moves,score\none,4455,18\ntwo,44556,-18\n", encoding="utf-8")
    sets = positions.read_positions(path, z.game("connect4"))
    assert [(position_set.name, position_set.scores) for position_set in sets] == [
        ("one", [18]),
        ("two", [-18]),
    ]
    report = answer("bench", "solve", "--part", "sets", "--repeat", "1", "--positions", str(path))
    assert isinstance(report, dict)
    assert {row["task"] for row in report["rows"]} == {"solve one", "solve two"}
    plain = tmp_path / "plain.txt"
    plain.write_text("4455\n\n4 4 5 5 6\n4,4,5\n", encoding="utf-8")
    (position_set,) = positions.read_positions(plain, z.game("connect4"))
    assert (position_set.name, len(position_set.positions), position_set.scores) == (
        "plain",
        3,
        None,
    )


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("moves,score\n4455,17\n", "our score is 18, but that of the file is 17"),
        ("4455\n9\n", "position 2: "),
        ("415263\n4455\n1212121\n", "position 3: the game is over"),
        ("moves,score\n4455,x\n", "position 1: "),
        ("", "holds no positions"),
    ],
)
def test_bad_files_are_one_line(tmp_path: Path, text: str, reason: str) -> None:
    done = bench_file(tmp_path / "some.csv", text)
    assert done.returncode == 2
    assert reason in done.stderr
    assert done.stderr.count("\n") == 1


def test_batches_are_compared_with_what_they_wrap(monkeypatch: pytest.MonkeyPatch) -> None:
    small = [m for m in shipped_models() if m.name in ("tictactoe-dqn", "squava-hybrid")]
    monkeypatch.setattr(evaluating, "shipped_models", lambda: small)
    report = suite.run(("solve", "evaluate"), None, 40, 1, ignore)
    rows = {(row["task"], row["system"]) for row in report["rows"]}
    assert {("solve many", system) for system in ("zermelo", "kernel", "loop")} <= rows
    assert ("evaluate squava-hybrid", "bare network") in rows
    assert set(report["ratios"]) == {
        "connect4/solve many",
        "tictactoe/evaluate tictactoe-dqn",
        "squava/evaluate squava-hybrid",
    }
    assert set(report["ratios"]["connect4/solve many"]) == {"kernel", "loop"}
    assert all(row["rate"] > 0 for row in report["rows"])


def test_environments(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pettingzoo", reason="PettingZoo is not installed")
    from zermelo.bench import envs

    monkeypatch.setattr(measure, "is_installed", lambda _: False)
    report = envs.run(0.001, 1, ["tictactoe"], ignore)
    rates = {row["task"]: row["rate"] for row in report["rows"]}
    assert rates.keys() >= {"vector against random", "vector self-play", "wrapped step"}
    assert min(rates.values()) > 0
    assert rates["vector against random"] > rates["gymnasium against random"]
    assert len(report["notes"]) == 2
