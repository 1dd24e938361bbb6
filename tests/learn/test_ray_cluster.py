"""A crew on a Ray cluster: the same chunks, the same run, and workers that are killed."""

import contextlib
import os
import signal
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from support.learners import dqn, same
from zermelo.core.errors import ZermeloError
from zermelo.learn.actors import ray as cluster
from zermelo.learn.actors.protocol import Order
from zermelo.learn.actors.ray import Cluster
from zermelo.learn.dqn.trainer import Deep
from zermelo.learn.runs import training

ray = pytest.importorskip("ray", reason="Ray is not installed")
pytestmark = pytest.mark.filterwarnings("ignore")  # Ray's own


@pytest.fixture
def two_workers() -> Iterator[None]:
    """Whatever happens, no cluster is left."""
    yield
    with contextlib.suppress(Exception):
        ray.shutdown()


def _kill_a_worker() -> int:
    """With -9: a process that plays, not the cluster itself."""
    pid = int(ray.get(ray.remote(lambda: os.getpid()).remote()))  # noqa: PLW0108 - Ray wants Python's
    os.kill(pid, signal.SIGKILL)
    return pid


# Ray takes a minute or more to start on a busy machine: `make proofs`.
@pytest.mark.proof
def test_a_run_on_two_workers_one_killed(two_workers: None, tmp_path: Path) -> None:
    """The weights are those of two actors on this machine, to the bit."""
    recipe = dqn(tmp_path)
    training.train(recipe, tmp_path / "pool", seed=3, actors=2, graded=False)
    killed: list[int] = []

    def disturb(now: training.Progress) -> None:
        if now.report.update == 5:
            killed.append(_kill_a_worker())

    run, trainer = training.prepare(
        recipe, tmp_path / "cluster", seed=3, actors=2, cluster=cluster.LOCAL
    )
    training.follow(run, trainer, disturb)
    assert killed
    assert same(tmp_path / "pool", tmp_path / "cluster")
    assert not ray.is_initialized(), "a local cluster ends with its run"


@pytest.mark.proof
def test_errors_of_workers_are_told(two_workers: None, tmp_path: Path) -> None:
    asked = dqn(tmp_path)
    phases = (replace(asked.learning.phases[0], opponent="level:99"),)
    trainer = training.prepare(asked, tmp_path / "weights", seed=1)[1]
    assert isinstance(trainer, Deep)
    crew = Cluster(dqn(tmp_path, phases=phases), cluster.LOCAL, 1)
    try:
        crew.give(Order((1, 1), 0.0), trainer._weights())
        with pytest.raises(ZermeloError, match="level"):
            crew.take()
    finally:
        crew.close()


@pytest.mark.parametrize("address", ["nowhere", "host:port", ":1", "host:99999"])
def test_addresses_that_are_none(address: str) -> None:
    with pytest.raises(ZermeloError, match="it can be local, or HOST:PORT"):
        Cluster(None, address, 2)  # type: ignore[arg-type]


def test_no_cluster_there() -> None:
    with pytest.raises(ZermeloError, match=r"no Ray cluster answers at 127.0.0.1:1"):
        Cluster(None, "127.0.0.1:1", 2)  # type: ignore[arg-type]
