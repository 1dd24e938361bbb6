"""Benchmarks: their reports, the positions they draw, and that all systems answer alike."""

from pathlib import Path
from typing import Any

import pytest

import zermelo as z
from support.commands import answer, zermelo
from zermelo.bench import measure, positions, signature, solve
from zermelo.core.game import WordGame
from zermelo.core.player import Limit
from zermelo.search.limits import SearchClock, SearchStopped
from zermelo.search.negamax import runner as runners
from zermelo.search.negamax.runner import Runner
from zermelo.search.solver.solver import Settings, Solver

SIGNATURE = 412879
PERFT = 186371285


def word_game(spec: str) -> WordGame:
    game = z.game(spec)
    assert isinstance(game, WordGame)
    return game


def quietly(_: str) -> None:
    pass


@pytest.fixture(autouse=True)
def all_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    """The tests that follow in this process keep theirs."""
    monkeypatch.setattr(measure, "pin_to_one_core", lambda: None)


def test_signature() -> None:
    """Changes only with rules or search; then these numbers change in the same commit."""
    found = answer("bench", "signature")
    assert isinstance(found, dict)
    assert (found["signature"], found["perft"]) == (SIGNATURE, PERFT)
    again = signature.searches()
    assert again == [row for row in found["rows"] if row["unit"] == "nodes"]
    assert sum(row["rate"] for row in again) == SIGNATURE


@pytest.mark.parametrize(
    ("spec", "stones", "number"),
    [("connect4", (20, 30), 30), ("squava", (12, 14), 5), ("reversi:4", (2, 5), 5)],
)
def test_scores_of_many_states_in_one_call(spec: str, stones: tuple[int, int], number: int) -> None:
    """As the solver finds them one by one, with the same work as one that knows nothing."""
    game = word_game(spec)
    states = [p.state for p in positions.sample_positions(game, stones, number)]
    runner, clock = Runner(game.hooks, table_bits=16), SearchClock()
    together = runner.scores(states, clock)
    solver, nodes = Solver(game, Settings(table_bits=16, deepening=False)), 0
    for state, score in zip(states, together, strict=True):
        solver.forget()
        assert score == solver.score(state)
        solver.forget()
        alone = SearchClock()
        solver.bounds(state, -game.hooks.win_score, game.hooks.win_score, alone)
        nodes += alone.nodes
    assert clock.nodes == nodes
    assert runner.scores([], SearchClock()) == []


def test_scores_when_generations_run_out_and_when_stopped() -> None:
    game = word_game("connect4")
    states = positions.sample_connect_four("middle", 8).states
    runner = Runner(game.hooks, table_bits=16)
    once = runner.scores(states, SearchClock())
    with pytest.raises(SearchStopped):
        runner.scores(states, SearchClock(Limit(nodes=3000)))
    runner.control[runners.k.GENERATION] = (1 << 16) - 5
    assert runner.scores(states, SearchClock()) == once
    assert runner.control[runners.k.GENERATION] == len(states)


def test_drawn_positions_are_what_they_are_called() -> None:
    game = word_game("connect4")
    solver = Solver(game)
    for name, (low, high) in positions.STONE_RANGES.items():
        some = positions.sample_connect_four(name, 15)
        assert some.positions == positions.sample_connect_four(name, 15).positions
        assert len(set(some.states)) == 15
        for number, position in enumerate(some.positions):
            assert low <= len(some.line(number)) <= high
            assert not position.is_over
            children = [position.play_action(action) for action in position.actions]
            assert not any(child.outcome and child.outcome.winner is not None for child in children)
            if name == "begin-easy":
                assert game.hooks.win_score - abs(solver.score(position.state)) <= 14


def test_report() -> None:
    found = solve.run(3, 1, ("sets", "switches"), None, quietly, max_nodes=30_000)
    assert found["suite"] == "solve"
    for row in found["rows"]:
        assert {"game", "task", "system", "rate", "unit", "ms", "nodes"} <= set(row)
    sets = [f"connect4/solve {name}" for name in positions.STONE_RANGES]
    if measure.is_installed("bitbully"):
        assert list(found["ratios"]) == sets
        assert all(set(ratio) == {"bitbully"} for ratio in found["ratios"].values())
    stopped = [row for row in found["rows"] if row.get("stopped")]
    assert stopped
    assert all(row["rate"] == 0 and row["nodes"] >= 30_000 for row in stopped)
    assert len(stopped) == sum("stopped" in note for note in found["notes"])


def test_alpha_beta_beside_open_spiel() -> None:
    pytest.importorskip("pyspiel", reason="OpenSpiel is not installed")
    found = solve.run(1, 1, ("alphabeta",), None, quietly)
    assert set(found["ratios"]) == {
        "tictactoe/solve start",
        "connect4/search depth 8",
        "connect4/search depth 8 with estimates",
    }
    assert all(ratio["open_spiel"] > 1 for ratio in found["ratios"].values())


def bench_file(path: Path, text: str) -> Any:
    path.write_text(text, encoding="utf-8")
    return zermelo("bench", "solve", "--part", "sets", "--repeat", "1", "--positions", str(path))


def test_positions_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "some.csv"
    path.write_text("set,moves,score\none,4455,18\ntwo,44556,-18\n", encoding="utf-8")
    sets = positions.read_positions(path, z.game("connect4"))
    assert [(some.name, some.scores) for some in sets] == [("one", [18]), ("two", [-18])]
    found = answer("bench", "solve", "--part", "sets", "--repeat", "1", "--positions", str(path))
    assert isinstance(found, dict)
    assert {row["task"] for row in found["rows"]} == {"solve one", "solve two"}
    plain = tmp_path / "plain.txt"
    plain.write_text("4455\n\n4 4 5 5 6\n4,4,5\n", encoding="utf-8")
    (some,) = positions.read_positions(plain, z.game("connect4"))
    assert (some.name, len(some.positions), some.scores) == ("plain", 3, None)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("moves,score\n4455,17\n", "18 by us, 17 by the file"),
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
