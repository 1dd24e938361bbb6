"""Actors: rollouts that depend on nothing but the request, dead actors replaced, exact resuming."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from support.learners import (
    GAME,
    OURS,
    SMALL,
    alphazero_recipe,
    dqn_recipe,
    have_same_weights,
    hybrid_recipe,
)
from zermelo.cli import cli
from zermelo.core.errors import ZermeloError
from zermelo.learn.actors import processes
from zermelo.learn.actors.processes import ProcessActorPool
from zermelo.learn.actors.protocol import (
    InProcessActor,
    RolloutRequest,
    RolloutStream,
    factory_path,
    import_factory,
)
from zermelo.learn.config.recipe import Recipe
from zermelo.learn.hybrid import trainer as hybrid_trainer
from zermelo.learn.networks import weights_file
from zermelo.learn.networks.weights_file import Arrays
from zermelo.learn.runs import training_loop
from zermelo.learn.runs.rollouts import create_rollout_function


def create_requests(number: int) -> list[RolloutRequest]:
    return [RolloutRequest((7, index), index / 10, index % 2) for index in range(number)]


def initial_weights(recipe: Recipe) -> Arrays:
    return hybrid_trainer.build_value_network(recipe, GAME).export()


@contextmanager
def process_pool(recipe: Recipe, size: int) -> Iterator[ProcessActorPool]:
    pool = ProcessActorPool(create_rollout_function, recipe, size)
    try:
        yield pool
    finally:
        pool.close()


def test_actors_explore_to_different_degrees() -> None:
    assert RolloutRequest((0, 0), 0.0, 0.0).actor_epsilon(0.5) == 0.5
    assert RolloutRequest((0, 0), 0.0, 1.0).actor_epsilon(0.5) == 0.125


def test_a_factory_is_imported_by_its_name() -> None:
    path = factory_path(create_rollout_function)
    assert path == "zermelo.learn.runs.rollouts:create_rollout_function"
    assert import_factory(path) is create_rollout_function


def test_rollouts_do_not_depend_on_the_actor_that_plays_them() -> None:
    """Nor on the rollouts it played before, nor on actors killed in the meantime."""
    recipe = hybrid_recipe()
    weights = initial_weights(recipe)
    actor = InProcessActor(create_rollout_function(recipe))
    for request in create_requests(6):
        actor.submit(request, weights)
    expected = [actor.collect() for _ in range(6)]
    with process_pool(recipe, 2) as pool:
        for request in create_requests(6):
            pool.submit(request, weights)
        rollouts = [pool.collect()]
        folder = pool._folder
        os.kill(pool.pids[0], signal.SIGKILL)
        os.kill(pool.pids[1], signal.SIGKILL)
        rollouts += [pool.collect() for _ in range(5)]
        pids = pool.pids
    for one, other in zip(expected, rollouts, strict=True):
        assert one.keys() == other.keys()
        assert all((one[name] == other[name]).all() for name in one)
    assert len({rollout["states"].tobytes() for rollout in rollouts}) == 6, "no two are equal"
    assert not folder.exists(), "the shared memory is released"
    assert not any(Path(f"/proc/{pid}").exists() for pid in pids)


def test_cancelled_rollouts_are_never_collected() -> None:
    recipe = hybrid_recipe()
    weights = initial_weights(recipe)
    with process_pool(recipe, 1) as pool:
        for request in create_requests(3):
            pool.submit(request, weights)
        pool.collect()
        pool.cancel()
        later = RolloutRequest((7, 99), 0.0)
        pool.submit(later, weights)
        rollout = pool.collect()
        files_left = sorted(path.name for path in pool._folder.iterdir())
    expected = create_rollout_function(recipe)(weights, later)
    assert (rollout["states"] == expected["states"]).all()
    assert len(files_left) <= 1, files_left


def test_rollouts_are_played_with_the_weights_at_the_time_of_the_request() -> None:
    """So they lag behind by the number of pending requests."""
    submitted: list[tuple[int, int]] = []

    class RecordingPool:
        size, max_pending = 2, 3

        def submit(self, request: RolloutRequest, weights: Arrays) -> None:
            submitted.append((request.seed[1], int(weights["version"])))

        def collect(self) -> Arrays:
            return {}

        def cancel(self) -> None:
            submitted.append((-1, -1))

        def close(self) -> None:
            pass

    version = 0
    stream = RolloutStream(RecordingPool(), lambda: {"version": np.array(version)}, 1)
    for version in range(3):  # noqa: B007 - read by the stream
        stream.next(0.0)
    assert submitted == [(0, 0), (1, 0), (2, 0), (3, 1), (4, 2)]
    stream.restart()
    version = 9
    stream.next(0.5)
    assert submitted[5:] == [(-1, -1), (3, 9), (4, 9), (5, 9)], "nothing older is used any more"


def test_actors_that_die_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "_BOOT", "raise SystemExit(3) # {path}")
    with process_pool(hybrid_recipe(), 1) as pool:
        pool.submit(create_requests(1)[0], {"none": np.zeros(1)})
        with pytest.raises(ZermeloError, match=r"die as soon as they start \(exit code 3\)"):
            pool.collect()


def test_an_actor_whose_folder_is_gone_ends_quietly(tmp_path: Path) -> None:
    """As after the trainer was killed, if another actor has deleted the folder already."""
    folder = tmp_path / "gone"
    paths = {"weights": str(folder / "w"), "rollout": str(folder / "r")}
    job = {"request": asdict(create_requests(1)[0]), **paths}
    setup = {
        "factory": factory_path(create_rollout_function),
        "recipe": hybrid_recipe().to_dict(),
        "folder": str(folder),
    }
    text = "".join(json.dumps(line) + "\n" for line in (setup, job, job))
    boot = processes._BOOT.format(path=sys.path)
    done = subprocess.run(
        [sys.executable, "-c", boot], input=text, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_errors_of_actors_are_raised() -> None:
    recipe = hybrid_recipe()
    phases = (replace(recipe.learning.phases[0], opponent="level:99"),)
    recipe = replace(recipe, learning=replace(recipe.learning, phases=phases))
    with process_pool(recipe, 1) as pool:
        pool.submit(create_requests(1)[0], initial_weights(recipe))
        with pytest.raises(ZermeloError, match="level"):
            pool.collect()


@pytest.mark.parametrize("kind", ["hybrid", "dqn", "tabular", "alphazero"])
def test_a_run_with_actors_is_reproducible(kind: str, tmp_path: Path) -> None:
    """Uninterrupted; with an actor killed; and stopped in the middle and resumed."""
    half = replace(OURS.learning.phases[0], share=0.5)
    phases = replace(half, opponent="self"), replace(half, opponent="league")
    recipe = {
        "hybrid": hybrid_recipe,
        "dqn": lambda: dqn_recipe(tmp_path, "league", league=20, phases=phases),
        "tabular": lambda: replace(dqn_recipe(tmp_path), kind="tabular"),
        "alphazero": lambda: alphazero_recipe(tmp_path),
    }[kind]()
    training_loop.train(recipe, tmp_path / "whole", seed=3, actors=2, grade=False)
    stop_at = recipe.keeping.checkpoint + 2
    run, trainer = training_loop.prepare_training(recipe, tmp_path / "killed", seed=3, actors=2)
    owner: Any = trainer
    pool = owner.rollouts.pool if kind in ("hybrid", "alphazero") else owner.source.pool

    class Stop(Exception):
        pass

    def disturb(progress: training_loop.TrainingProgress) -> None:
        if progress.report.update == 2:
            os.kill(pool.pids[1], signal.SIGKILL)
        if progress.report.update == stop_at:
            raise Stop

    with pytest.raises(Stop):
        training_loop.run_training(run, trainer, disturb)
    resumed = training_loop.train(
        recipe, tmp_path / "killed", seed=3, actors=2, resume=True, grade=False
    )
    assert have_same_weights(tmp_path / "whole", resumed.folder)


def test_weights_depend_on_the_number_of_actors(tmp_path: Path) -> None:
    """So the check above can fail: with a different lag, the weights differ."""
    training_loop.train(hybrid_recipe(), tmp_path / "none", seed=3, grade=False)
    training_loop.train(hybrid_recipe(), tmp_path / "one", seed=3, actors=1, grade=False)
    assert not have_same_weights(tmp_path / "none", tmp_path / "one")


def test_the_trainer_killed(tmp_path: Path) -> None:
    """By SIGKILL, in its own process: its actors end, and the last checkpoint is intact."""
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
        folders = list(processes._SHARED_MEMORY.glob(f"zermelo-{process.pid}-*"))
        process.kill()
    assert len(actors) == 2
    deadline = time.monotonic() + 20
    while any(_is_alive(pid) for pid in actors):
        assert time.monotonic() < deadline, "an actor ends when its trainer is gone"
        time.sleep(0.05)
    assert folders
    assert not any(path.exists() for path in folders), "nothing is left in shared memory"
    update = int(weights_file.read_metadata(tmp_path / "run" / "checkpoint.safetensors")["updates"])
    assert update >= 70
    assert update % 70 == 0
    run, trainer = training_loop.prepare_training(
        str(path), tmp_path / "run", resume=True, actors=1
    )
    trainer.close()
    assert trainer.updates == update
    assert run.folder == tmp_path / "run"


def test_no_files_are_left_when_a_training_cannot_start(tmp_path: Path) -> None:
    recipe, pattern = dqn_recipe(tmp_path), f"zermelo-{os.getpid()}-*"
    before = list(processes._SHARED_MEMORY.glob(pattern))
    with pytest.raises(ZermeloError, match="unknown player"):
        training_loop.prepare_training(recipe, tmp_path / "run", actors=2, opponent="nobody")
    assert list(processes._SHARED_MEMORY.glob(pattern)) == before


def _children(pid: int) -> list[int]:
    done = subprocess.run(["pgrep", "-P", str(pid)], capture_output=True, text=True, check=False)
    return [int(line) for line in done.stdout.split()]


def _is_alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def test_supervised_training_plays_no_games(tmp_path: Path) -> None:
    arguments = ["train", "tictactoe-supervised", "--out", str(tmp_path / "run"), "--actors", "2"]
    with pytest.raises(ZermeloError, match="plays no games, so it needs no actors and no cluster"):
        cli(arguments, standalone_mode=False)
    assert not (tmp_path / "run").exists()
