"""Actors: the same function wherever it runs, dead ones replaced, and runs that resume exactly."""

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from support.learners import GAME, OURS, SMALL, alphazero, dqn, hybrid, same
from zermelo.cli import cli
from zermelo.core.errors import ZermeloError
from zermelo.learn.actors import processes
from zermelo.learn.actors.processes import Pool
from zermelo.learn.actors.protocol import Alone, Harvest, Order
from zermelo.learn.hybrid import trainer as value
from zermelo.learn.networks import weights_file
from zermelo.learn.runs import training
from zermelo.learn.runs.rollouts import rollouts_for


def orders(number: int) -> list[Order]:
    return [Order((7, at), at / 10, at % 2) for at in range(number)]


def test_curiosity_differs() -> None:
    assert Order((0, 0), 0.0, 0.0).curiosity(0.5) == 0.5
    assert Order((0, 0), 0.0, 1.0).curiosity(0.5) == 0.125


def test_chunks_do_not_depend_on_who_plays_them() -> None:
    """Also not on what they played before, nor on a death in between."""
    recipe = hybrid()
    known = value.network_for(recipe, GAME).exported()
    alone = Alone(rollouts_for(recipe))
    for order in orders(6):
        alone.give(order, known)
    wanted = [alone.take() for _ in range(6)]
    crew = Pool(recipe, 2)
    try:
        for order in orders(6):
            crew.give(order, known)
        found = [crew.take()]
        folder = crew._folder
        os.kill(crew.pids[0], signal.SIGKILL)
        os.kill(crew.pids[1], signal.SIGKILL)
        found += [crew.take() for _ in range(5)]
    finally:
        pids = crew.pids
        crew.close()
    for mine, its in zip(wanted, found, strict=True):
        assert mine.keys() == its.keys()
        assert all((mine[name] == its[name]).all() for name in mine)
    assert len({chunk["states"].tobytes() for chunk in found}) == 6, "no two are alike"
    assert not folder.exists(), "shared memory is given back"
    assert not any(Path(f"/proc/{pid}").exists() for pid in pids)


def test_what_was_dropped_never_comes() -> None:
    recipe = hybrid()
    known = value.network_for(recipe, GAME).exported()
    crew = Pool(recipe, 1)
    try:
        for order in orders(3):
            crew.give(order, known)
        crew.take()
        crew.drop()
        later = Order((7, 99), 0.0)
        crew.give(later, known)
        found = crew.take()
        left = sorted(path.name for path in crew._folder.iterdir())
    finally:
        crew.close()
    assert (found["states"] == rollouts_for(recipe)(known, later)["states"]).all()
    assert len(left) <= 1, left


def test_weights_are_those_of_the_order() -> None:
    """A harvest hands out weights as they are when it gives an order: so many chunks before."""
    given: list[tuple[int, int]] = []

    class Notes:
        size, ahead = 2, 3

        def give(self, order: Order, known: dict[str, Any]) -> None:
            given.append((order.seed[1], known["version"]))

        def take(self) -> dict[str, Any]:
            return {}

        def drop(self) -> None:
            given.append((-1, -1))

        def close(self) -> None:
            pass

    version = 0
    harvest = Harvest(Notes(), lambda: {"version": version}, 1)
    for version in range(3):  # noqa: B007 - read by the harvest
        harvest.next(0.0)
    assert given == [(0, 0), (1, 0), (2, 0), (3, 1), (4, 2)]
    harvest.restart()
    version = 9
    harvest.next(0.5)
    assert given[5:] == [(-1, -1), (3, 9), (4, 9), (5, 9)], "nothing older comes any more"


def test_an_actor_that_cannot_live(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "_BOOT", "raise SystemExit(3) # {path}")
    crew = Pool(hybrid(), 1)
    try:
        crew.give(orders(1)[0], {"none": np.zeros(1)})
        with pytest.raises(ZermeloError, match=r"die as soon as they begin \(exit code 3\)"):
            crew.take()
    finally:
        crew.close()


def test_an_actor_whose_folder_has_gone_ends_quietly(tmp_path: Path) -> None:
    """As after the learner was killed, and another actor was quicker to tidy up."""
    folder = tmp_path / "gone"
    paths = {"weights": str(folder / "w"), "chunk": str(folder / "c")}
    order = {"order": asdict(orders(1)[0]), **paths}
    lines = [{"recipe": hybrid().to_json(), "folder": str(folder)}, order, order]
    boot = processes._BOOT.format(path=sys.path)
    given = "".join(json.dumps(line) + "\n" for line in lines)
    done = subprocess.run(
        [sys.executable, "-c", boot], input=given, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_errors_of_actors_are_told() -> None:
    recipe = hybrid()
    phases = (replace(recipe.learning.phases[0], opponent="level:99"),)
    recipe = replace(recipe, learning=replace(recipe.learning, phases=phases))
    known = value.network_for(recipe, GAME).exported()
    crew = Pool(recipe, 1)
    try:
        crew.give(orders(1)[0], known)
        with pytest.raises(ZermeloError, match="level"):
            crew.take()
    finally:
        crew.close()


@pytest.mark.parametrize("kind", ["hybrid", "dqn", "tabular", "alphazero"])
def test_a_run_with_actors_is_the_same_each_time(kind: str, tmp_path: Path) -> None:
    """Uninterrupted; with an actor killed; and stopped in the middle and resumed."""
    by_itself = replace(OURS.learning.phases[0], share=0.5)
    phases = replace(by_itself, opponent="self"), replace(by_itself, opponent="league")
    recipe = {
        "hybrid": hybrid,
        "dqn": lambda: dqn(tmp_path, "league", league=20, phases=phases),
        "tabular": lambda: replace(dqn(tmp_path), kind="tabular"),
        "alphazero": lambda: alphazero(tmp_path),
    }[kind]()
    training.train(recipe, tmp_path / "whole", seed=3, actors=2, graded=False)
    stop_at = recipe.keeping.checkpoint + 2
    run, trainer = training.prepare(recipe, tmp_path / "killed", seed=3, actors=2)
    owner: Any = trainer
    crew = owner.harvest.crew if kind in ("hybrid", "alphazero") else owner.acting._crew

    class Stop(Exception):
        pass

    def disturb(now: training.Progress) -> None:
        if now.report.update == 2:
            os.kill(crew.pids[1], signal.SIGKILL)
        if now.report.update == stop_at:
            raise Stop

    with pytest.raises(Stop):
        training.follow(run, trainer, disturb)
    resumed = training.train(
        recipe, tmp_path / "killed", seed=3, actors=2, resume=True, graded=False
    )
    assert same(tmp_path / "whole", resumed.folder)


def test_alone_is_not_with_actors(tmp_path: Path) -> None:
    """The check above can fail: other weights come out where chunks come otherwise."""
    training.train(hybrid(), tmp_path / "alone", seed=3, graded=False)
    training.train(hybrid(), tmp_path / "other", seed=3, actors=1, graded=False)
    assert not same(tmp_path / "alone", tmp_path / "other")


def test_the_learner_killed(tmp_path: Path) -> None:
    """With -9, in a process of its own: its actors end, and it loses a checkpoint at most."""
    path = tmp_path / "slow.toml"
    path.write_text(SMALL.replace("updates = 150", "updates = 30000"))
    command = [sys.executable, "-m", "zermelo", "train", str(path), "--out", str(tmp_path / "run")]
    command += ["--actors", "2"]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as process:
        deadline = time.monotonic() + 120
        while not (tmp_path / "run" / "checkpoint.safetensors").exists():
            assert time.monotonic() < deadline
            assert process.poll() is None, process.stderr.read() if process.stderr else ""
            time.sleep(0.05)
        actors = _children(process.pid)
        left = list(processes._SHARED.glob(f"zermelo-{process.pid}-*"))
        process.kill()
    assert len(actors) == 2
    deadline = time.monotonic() + 20
    while any(_is_alive(pid) for pid in actors):
        assert time.monotonic() < deadline, "an actor whose learner is gone goes, too"
        time.sleep(0.05)
    assert left
    assert not any(path.exists() for path in left), "nor is anything left in shared memory"
    update = int(weights_file.read_about(tmp_path / "run" / "checkpoint.safetensors")["updates"])
    assert update >= 70
    assert update % 70 == 0
    run, trainer = training.prepare(str(path), tmp_path / "run", resume=True, actors=1)
    trainer.close()
    assert trainer.updates == update
    assert run.folder == tmp_path / "run"


def _children(pid: int) -> list[int]:
    found = subprocess.run(["pgrep", "-P", str(pid)], capture_output=True, text=True, check=False)
    return [int(line) for line in found.stdout.split()]


def _is_alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def test_supervised_plays_no_games(tmp_path: Path) -> None:
    asked = ["train", "tictactoe-supervised", "--out", str(tmp_path / "run"), "--actors", "2"]
    with pytest.raises(ZermeloError, match="plays no games: leave --actors and --cluster out"):
        cli(asked, standalone_mode=False)
    assert not (tmp_path / "run").exists()
