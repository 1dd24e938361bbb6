"""The benchmark of learning: its report, its examiner, and that peers see the same states."""

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
from zermelo.bench import actors, learn


def quietly(_: str) -> None:
    pass


@pytest.fixture(autouse=True)
def all_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    """The tests that follow in this process keep theirs."""
    monkeypatch.setattr(measure, "pin_to_one_core", lambda: None)


@pytest.fixture(autouse=True)
def no_actors(monkeypatch: pytest.MonkeyPatch) -> None:
    """What they do is tested beside the hybrid."""
    monkeypatch.setattr(actors, "RECIPES", {})


def test_actors_come_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """They need all cores, and all that follows has one."""
    done: list[str] = []

    def played(name: str, seconds: float, _progress: Any) -> dict[str, Any]:
        assert seconds > 1
        done.append(name)
        return measure.create_row("tictactoe", f"{name}, play", "zermelo", 2.0, "transitions/s", times=2)

    monkeypatch.setattr(measure, "pin_to_one_core", lambda: done.append("one core"))
    monkeypatch.setattr(measure, "is_installed", lambda _peer: False)
    monkeypatch.setattr(actors, "RECIPES", {"one": 1, "another": 1})
    monkeypatch.setattr(actors, "measure_play", played)
    monkeypatch.setattr(learn, "RECIPES", ())
    found = learn.run(0.05, 1, quietly)
    assert done == ["one", "another", "one core"]
    tasks = [row["task"] for row in found["rows"]]
    assert tasks == ["one, play", "another, play", "unbeatable"]


def test_report() -> None:
    found = learn.run(0.2, 1, quietly, updates=10)
    assert found["suite"] == "learn"
    speeds = [(row["game"], row["task"], row["unit"]) for row in found["rows"][:4]]
    assert speeds == [
        (game, task, f"{task}/s")
        for game in ("tictactoe", "gomoku6")
        for task in ("updates", "positions")
    ]
    updates, positions = (row["rate"] for row in found["rows"][:2])
    assert positions == pytest.approx(updates * found["rows"][0]["games"], rel=0.01)
    learned = {row["system"]: row for row in found["rows"][4:]}
    assert next(iter(learned)) == "zermelo"
    for system in ("stable_baselines3", "open_spiel"):
        missing = [n for n in found["notes"] if n.startswith(system) and "not measured" in n]
        assert (system in learned) == (not missing)
    for system, row in learned.items():
        # No system is that fast: a peer gets its budget, ours gets nothing.
        assert (row["task"], row["unit"], row["reached"]) == ("unbeatable", "1/s", 0)
        assert row["seconds"] == pytest.approx(0.2, abs=0.1)
        assert row["rate"] == pytest.approx(0 if system == "zermelo" else 1 / row["seconds"], 0.01)
        assert row["mistakes"] > 0
        for chances in row["vs_random"].values():
            assert sum(chances.values()) == pytest.approx(1)
        assert any(note.startswith(f"{system}: not reached in 0.2") for note in found["notes"])
    peers = set(learned) - {"zermelo"}
    assert found["ratios"] == ({"tictactoe/unbeatable": dict.fromkeys(peers, 0)} if peers else {})
    assert peers <= set(found["versions"])


def test_what_is_missing_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(examiner: learn.Examiner, seed: int) -> None:
        msg = "No module named 'tree'"
        raise ModuleNotFoundError(msg)

    monkeypatch.setattr(measure, "is_installed", lambda peer: peer == "open_spiel")
    monkeypatch.setattr(learn, "RECIPES", ())
    monkeypatch.setattr(learn, "_open_spiel", fails)
    found = learn.run(0.05, 1, quietly)
    assert [row["system"] for row in found["rows"]] == ["zermelo"]
    assert "stable_baselines3 is not installed: not measured" in found["notes"]
    assert "open_spiel cannot learn here, not measured: No module named 'tree'" in found["notes"]


def test_ratio_of_a_peer_that_does_not_get_there(monkeypatch: pytest.MonkeyPatch) -> None:
    outcomes = {"zermelo": (2.0, True), "stable_baselines3": (30.0, False), "open_spiel": (9, True)}

    def given(system: str, *_: Any) -> list[learn.Outcome]:
        seconds, reached = outcomes[system]
        even = learn.Examiner("tictactoe", 1).graded(np.zeros((4520, 9))).vs_random
        return [learn.Outcome(seconds, reached, 5, even)] * 3

    monkeypatch.setattr(measure, "is_installed", lambda _peer: True)
    monkeypatch.setattr(learn, "RECIPES", ())
    monkeypatch.setattr(learn, "_outcomes", given)
    monkeypatch.setattr(measure, "_PEERS", ())
    found = learn.run(30, 3, quietly)
    assert found["ratios"]["tictactoe/unbeatable"] == pytest.approx(
        {"stable_baselines3": 15, "open_spiel": 4.5}, rel=0.01
    )
    (note,) = [note for note in found["notes"] if "not reached" in note]
    assert note.startswith("stable_baselines3: not reached in 30 s; it errs in 5 positions")
    assert note.endswith("the ratio is with its budget: ours is at least 15 times as fast")


@pytest.mark.parametrize("spec", ["random", "lookahead:2", "perfect"])
def test_grades_as_zermelo_grade_does(spec: str) -> None:
    game = z.game("tictactoe")
    examiner, choices = learn.Examiner("tictactoe", 1), PlayerPolicy(game, spec)
    values = np.zeros((len(examiner.states), 9))
    for row, state in enumerate(examiner.states):
        values[row, choices[tuple(map(int, state))]] = 1
    found, expected = examiner.graded(values), z.grade(game, spec)
    assert found.reached == expected.unbeatable
    assert found.mistakes == expected.total.mistakes
    assert found.vs_random == expected.vs_random


def test_the_clock_stands_while_it_grades() -> None:
    examiner = learn.Examiner("tictactoe", 10)
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


def test_open_spiel_shows_the_same_states() -> None:
    pytest.importorskip("pyspiel", reason="OpenSpiel is not installed")
    examiner = learn.Examiner("tictactoe", 1)
    shown = np.array(learn._observations(examiner)).reshape(-1, 3, 9)
    boards = np.array([examiner.game.board(tuple(map(int, s))) for s in examiner.states])
    for plane, stone in zip(range(3), (0, -1, 1), strict=True):
        assert (shown[:, plane] == (boards == stone)).all()


@pytest.mark.skipif(
    importlib.util.find_spec("stable_baselines3") is None, reason="it is not installed"
)
def test_versions_of_peers() -> None:
    assert measure.create_report("learn", [], [])["versions"]["stable_baselines3"]


def test_command(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def run(budget: float, seeds: int, progress: Any) -> dict[str, Any]:
        asked.append((budget, seeds))
        return measure.create_report("learn", [], [])

    monkeypatch.setattr(learn, "run", run)
    done = CliRunner().invoke(bench, ["learn", "--budget", "2", "--seeds", "1", "--json"])
    assert (done.exit_code, asked) == (0, [(2.0, 1)])
    assert json.loads(done.stdout)["suite"] == "learn"
