"""Actors on a Ray cluster: the same rollouts, the same run, and workers that are killed."""

import contextlib
import os
import signal
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from unittest.mock import MagicMock

import numpy as np
import pytest

from support.learners import dqn_recipe, have_same_weights
from zermelo.core.errors import ZermeloError
from zermelo.learn.actors.protocol import RolloutRequest
from zermelo.learn.actors.ray import LOCAL, RayActorPool
from zermelo.learn.dqn.trainer import DQNTrainer
from zermelo.learn.runs import training_loop
from zermelo.learn.runs.rollouts import create_rollout_function

ray = pytest.importorskip("ray", reason="Ray is not installed")
pytestmark = pytest.mark.filterwarnings("ignore")  # Ray's own


@pytest.fixture
def two_workers() -> Iterator[None]:
    """Stop the cluster after the test, whatever happens."""
    yield
    with contextlib.suppress(Exception):
        ray.shutdown()


def _kill_a_worker() -> int:
    """Kill a process that runs tasks, not the cluster itself."""
    pid = int(ray.get(ray.remote(lambda: os.getpid()).remote()))  # noqa: PLW0108 - Ray wants Python's
    os.kill(pid, signal.SIGKILL)
    return pid


# Ray takes a minute or more to start on a busy machine: `make proofs`.
@pytest.mark.proof
def test_a_run_on_two_workers_one_killed(two_workers: None, tmp_path: Path) -> None:
    """The weights are those of two actors on this machine, bit for bit."""
    recipe = dqn_recipe(tmp_path)
    training_loop.train(recipe, tmp_path / "processes", seed=3, actors=2, grade=False)
    killed: list[int] = []

    def disturb(progress: training_loop.TrainingProgress) -> None:
        if progress.report.update == 5:
            killed.append(_kill_a_worker())

    run, trainer = training_loop.prepare_training(
        recipe, tmp_path / "cluster", seed=3, actors=2, cluster=LOCAL
    )
    training_loop.run_training(run, trainer, disturb)
    assert killed
    assert have_same_weights(tmp_path / "processes", tmp_path / "cluster")
    assert not ray.is_initialized(), "a local cluster ends with its run"


@pytest.mark.proof
def test_errors_of_workers_are_raised(two_workers: None, tmp_path: Path) -> None:
    recipe = dqn_recipe(tmp_path)
    phases = (replace(recipe.learning.phases[0], opponent="level:99"),)
    trainer = training_loop.prepare_training(recipe, tmp_path / "weights", seed=1)[1]
    assert isinstance(trainer, DQNTrainer)
    pool = RayActorPool(create_rollout_function, dqn_recipe(tmp_path, phases=phases), LOCAL, 1)
    try:
        pool.submit(RolloutRequest((1, 1), 0.0), trainer._actor_weights())
        with pytest.raises(ZermeloError, match="level"):
            pool.collect()
    finally:
        pool.close()


def test_weights_are_sent_once_and_new_ones_always(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Even if Python gives the new weights the id of the old ones."""
    pushed_versions: list[int] = []
    fake_ray = MagicMock()
    fake_ray.put = lambda weights: pushed_versions.append(int(weights["version"]))
    monkeypatch.setattr("zermelo.learn.actors.ray._import_ray", lambda: fake_ray)
    pool = RayActorPool(create_rollout_function, dqn_recipe(tmp_path), LOCAL, 1)
    for version in range(20):
        weights = {"version": np.array(version)}
        pool.submit(RolloutRequest((0, 0), 0.0), weights)
        pool.submit(RolloutRequest((0, 1), 0.0), weights)
        del weights
    assert pushed_versions == list(range(20))


@pytest.mark.parametrize("address", ["nowhere", "host:port", ":1", "host:99999"])
def test_malformed_addresses(address: str) -> None:
    with pytest.raises(ZermeloError, match="it must be local, or HOST:PORT"):
        RayActorPool(create_rollout_function, None, address, 2)  # type: ignore[arg-type]


def test_no_cluster_at_the_address() -> None:
    with pytest.raises(ZermeloError, match=r"no Ray cluster answers at 127.0.0.1:1"):
        RayActorPool(create_rollout_function, None, "127.0.0.1:1", 2)  # type: ignore[arg-type]
