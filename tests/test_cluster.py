"""A crew on a Ray cluster: the same chunks, the same run, and workers that are killed."""

import contextlib
import os
import signal
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from test_actors import dqn, same

from zermelo.errors import ZermeloError
from zermelo.learn import cluster, training
from zermelo.learn.cluster import Cluster

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
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        for folder in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                title = (folder / "cmdline").read_bytes()
                if title.startswith(b"ray::") and b"play" in title:
                    os.kill(int(folder.name), signal.SIGKILL)
                    return int(folder.name)
        time.sleep(0.02)
    raise AssertionError("no worker was seen at work")


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


def test_errors_of_workers_are_told(two_workers: None, tmp_path: Path) -> None:
    phases = (replace(dqn(tmp_path).learning.phases[0], opponent="level:99"),)
    crew: Any = Cluster(dqn(tmp_path, phases=phases), cluster.LOCAL, 1)
    try:
        from zermelo.learn.crews import Order
        from zermelo.learn.deep import Deep  # noqa: F401 - what the worker loads

        run, trainer = training.prepare(dqn(tmp_path), tmp_path / "weights", seed=1)
        crew.give(Order((1, 1), 0.0), trainer._weights())  # type: ignore[attr-defined]
        with pytest.raises(ZermeloError, match="level"):
            crew.take()
    finally:
        crew.close()


def test_no_cluster_there() -> None:
    with pytest.raises(ZermeloError, match=r"no Ray cluster answers at 127.0.0.1:1"):
        Cluster(None, "127.0.0.1:1", 2)  # type: ignore[arg-type]
