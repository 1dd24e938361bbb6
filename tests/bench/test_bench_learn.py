"""The benchmark of learning: its report, its examiner, and the observations of other libraries."""

import importlib.util
import json
import time
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

import zermelo as z
from zermelo.bench import measure
from zermelo.cli.bench import bench
from zermelo.grading.policy import PlayerPolicy

pytest.importorskip("torch", reason="torch is not installed")
from zermelo.bench import actors, learn, unbeatable


def ignore(_: str) -> None:
    pass


@pytest.fixture(autouse=True)
def all_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    """Do not pin the process, which runs other tests, too, to one core."""
    monkeypatch.setattr(measure, "pin_to_one_core", lambda: None)


@pytest.fixture(autouse=True)
def no_actors(monkeypatch: pytest.MonkeyPatch) -> None:
    """Measure no actors; the tests of the Squava benchmarks do."""
    monkeypatch.setattr(actors, "RECIPES", {})


def test_actors_come_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """They need all cores, and everything after them has only one."""
    calls: list[str] = []

    def measure_play(name: str, seconds: float, _progress: Any) -> dict[str, Any]:
        assert seconds > 1
        calls.append(name)
        return measure.create_row("tictactoe", f"{name}, play", "zermelo", 2.0, times=2)

    monkeypatch.setattr(measure, "pin_to_one_core", lambda: calls.append("one core"))
    monkeypatch.setattr(measure, "is_installed", lambda _peer: False)
    monkeypatch.setattr(actors, "RECIPES", {"one": 1, "another": 1})
    monkeypatch.setattr(actors, "measure_play", measure_play)
    monkeypatch.setattr(learn, "RECIPES", ())
    report = learn.run(0.05, 1, ignore)
    assert calls == ["one", "another", "one core"]
    tasks = [row["task"] for row in report["rows"]]
    assert tasks == ["one, play", "another, play", "unbeatable"]


def test_report() -> None:
    report = learn.run(0.2, 1, ignore, updates=10)
    assert report["suite"] == "learn"
    speeds = [(row["game"], row["task"], row["unit"]) for row in report["rows"][:4]]
    assert speeds == [
        (game, task, f"{task}/s")
        for game in ("tictactoe", "gomoku6")
        for task in ("updates", "positions")
    ]
    updates, positions = (row["rate"] for row in report["rows"][:2])
    assert positions == pytest.approx(updates * report["rows"][0]["games"], rel=0.01)
    rows = {row["system"]: row for row in report["rows"][4:]}
    assert next(iter(rows)) == "zermelo"
    for system in ("stable_baselines3", "open_spiel"):
        missing = [n for n in report["notes"] if n.startswith(system) and "not measured" in n]
        assert (system in rows) == (not missing)
    for system, row in rows.items():
        # No system is that fast: the rate of others is by their budget, and ours is 0.
        assert (row["task"], row["unit"], row["reached"]) == ("unbeatable", "1/s", 0)
        assert row["seconds"] == pytest.approx(0.2, abs=0.1)
        assert row["rate"] == pytest.approx(0 if system == "zermelo" else 1 / row["seconds"], 0.01)
        assert row["mistakes"] > 0
        for chances in row["vs_random"].values():
            assert sum(chances.values()) == pytest.approx(1)
        assert any(
            note.startswith(f"{system}: not unbeatable after 0.2") for note in report["notes"]
        )
    peers = set(rows) - {"zermelo"}
    assert report["ratios"] == ({"tictactoe/unbeatable": dict.fromkeys(peers, 0)} if peers else {})
    assert peers <= set(report["versions"])


def test_missing_libraries_are_noted(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(examiner: unbeatable.Examiner, seed: int) -> None:
        msg = "No module named 'tree'"
        raise ModuleNotFoundError(msg)

    monkeypatch.setattr(measure, "is_installed", lambda peer: peer == "open_spiel")
    monkeypatch.setattr(learn, "RECIPES", ())
    monkeypatch.setattr(unbeatable, "_train_open_spiel", fail)
    report = learn.run(0.05, 1, ignore)
    assert [row["system"] for row in report["rows"]] == ["zermelo"]
    assert "stable_baselines3 is not measured: it is not installed" in report["notes"]
    reason = "its DQN cannot be imported: No module named 'tree'"
    assert f"open_spiel is not measured: {reason}" in report["notes"]


def test_ratio_of_a_library_that_misses_the_goal(monkeypatch: pytest.MonkeyPatch) -> None:
    outcomes = {"zermelo": (2.0, True), "stable_baselines3": (30.0, False), "open_spiel": (9, True)}

    def train_all_seeds(system: str, *_: Any) -> list[unbeatable.TrainingOutcome]:
        seconds, is_unbeatable = outcomes[system]
        examiner = unbeatable.Examiner("tictactoe", 1)
        vs_random = examiner.grade(np.zeros((4520, 9))).vs_random
        return [unbeatable.TrainingOutcome(seconds, is_unbeatable, 5, vs_random)] * 3

    monkeypatch.setattr(measure, "is_installed", lambda _peer: True)
    monkeypatch.setattr(learn, "RECIPES", ())
    monkeypatch.setattr(unbeatable, "_train_all_seeds", train_all_seeds)
    monkeypatch.setattr(measure, "_PEERS", ())
    report = learn.run(30, 3, ignore)
    assert report["ratios"]["tictactoe/unbeatable"] == pytest.approx(
        {"stable_baselines3": 15, "open_spiel": 4.5}, rel=0.01
    )
    (note,) = [note for note in report["notes"] if "not unbeatable" in note]
    assert note.startswith("stable_baselines3: not unbeatable after 30 s: mistakes in 5 positions")
    assert note.endswith("ratio uses its whole budget: zermelo is at least 15 times as fast")


@pytest.mark.parametrize("spec", ["random", "lookahead:2", "perfect"])
def test_the_examiner_grades_as_zermelo_grade_does(spec: str) -> None:
    game = z.game("tictactoe")
    examiner, policy = unbeatable.Examiner("tictactoe", 1), PlayerPolicy(game, spec)
    values = np.zeros((len(examiner.states), 9))
    for row, state in enumerate(examiner.states):
        values[row, policy[tuple(map(int, state))]] = 1
    outcome, expected = examiner.grade(values), z.grade(game, spec)
    assert outcome.is_unbeatable == expected.unbeatable
    assert outcome.mistakes == expected.total.mistakes
    assert outcome.vs_random == expected.vs_random


def test_the_clock_stops_during_grading() -> None:
    examiner = unbeatable.Examiner("tictactoe", 10)
    examiner.begin()

    def slow_values() -> Any:
        end = time.process_time() + 0.3
        while time.process_time() < end:
            pass
        return np.zeros((len(examiner.states), 9))

    assert not examiner.is_done(slow_values)
    assert not examiner.is_done(slow_values)
    assert examiner.outcome is not None
    assert examiner.seconds < 0.2


def test_open_spiel_observes_the_same_states() -> None:
    pytest.importorskip("pyspiel", reason="OpenSpiel is not installed")
    examiner = unbeatable.Examiner("tictactoe", 1)
    planes = np.array(unbeatable._open_spiel_observations(examiner)).reshape(-1, 3, 9)
    boards = np.array([examiner.game.board(tuple(map(int, s))) for s in examiner.states])
    for plane, stone in zip(range(3), (0, -1, 1), strict=True):
        assert (planes[:, plane] == (boards == stone)).all()


@pytest.mark.skipif(
    importlib.util.find_spec("stable_baselines3") is None, reason="it is not installed"
)
def test_versions_of_peers() -> None:
    assert measure.create_report("learn", [], [])["versions"]["stable_baselines3"]


def test_command(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []

    def run(budget: float, seeds: int, progress: Any) -> dict[str, Any]:
        calls.append((budget, seeds))
        return measure.create_report("learn", [], [])

    monkeypatch.setattr(learn, "run", run)
    done = CliRunner().invoke(bench, ["learn", "--budget", "2", "--seeds", "1", "--json"])
    assert (done.exit_code, calls) == (0, [(2.0, 1)])
    assert json.loads(done.stdout)["suite"] == "learn"
