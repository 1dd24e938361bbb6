"""Only one process at a time trains a run, and a dead process is no obstacle."""

import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from support.commands import command
from support.learners import train_until
from support.recipes import write_recipe
from zermelo.learn.runs import listing, lock, training_loop
from zermelo.learn.runs.lock import LOCK, RunLock, RunLocked
from zermelo.learn.runs.run_folder import BadRun

HERE = f"process {os.getpid()} on {socket.gethostname()}"
DEAD = 2**22 + 1  # above the largest number of a process


@pytest.fixture(params=["flock", "unsupported", "missing"])
def system(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Locks by `flock`, on a file system that does not support it, and without it."""
    if request.param == "missing":
        monkeypatch.setattr(lock, "fcntl", None)
    elif request.param == "unsupported":

        def fail(*_: Any) -> None:
            raise OSError(lock.errno.ENOLCK, "No locks available")

        monkeypatch.setattr(lock.fcntl, "flock", fail)
    return str(request.param)


def test_a_folder_is_locked_once(system: str, tmp_path: Path) -> None:
    held = RunLock(tmp_path)
    assert (tmp_path / LOCK).read_text().split() == [str(os.getpid()), socket.gethostname()]
    with pytest.raises(RunLocked, match=HERE) as caught:
        RunLock(tmp_path)
    assert str(tmp_path) in str(caught.value)
    assert "\n" not in str(caught.value)
    held.release()
    held.release()
    assert list(tmp_path.iterdir()) == [], system
    again = RunLock(tmp_path)
    del again  # an unused run does not keep its folder locked
    RunLock(tmp_path).release()


@pytest.mark.usefixtures("system")
def test_the_file_of_a_dead_process_is_no_obstacle(tmp_path: Path) -> None:
    (tmp_path / LOCK).write_text(f"{DEAD} {socket.gethostname()}\n")
    RunLock(tmp_path).release()


def test_without_flock_a_process_of_another_host_counts_as_alive(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lock, "fcntl", None)
    (tmp_path / LOCK).write_text(f"{DEAD} elsewhere\n")
    with pytest.raises(RunLocked, match=f"process {DEAD} on elsewhere .*delete .*run.lock"):
        RunLock(tmp_path)


def test_a_second_trainer_is_refused_and_changes_nothing(tmp_path: Path) -> None:
    path, out = str(write_recipe(tmp_path)), tmp_path / "run"
    run, trainer = training_loop.prepare_training(path, out, seed=5)
    before = {file.name: file.read_bytes() for file in out.iterdir()}
    for resume in (False, True):
        with pytest.raises(RunLocked, match=HERE):
            training_loop.prepare_training(path, out, seed=5, resume=resume)
    assert {file.name: file.read_bytes() for file in out.iterdir()} == before
    training_loop.run_training(run, trainer)
    assert not (out / LOCK).exists()
    assert listing.summarize_run(out).state == "finished"


def test_a_refused_or_failed_run_is_not_locked(tmp_path: Path) -> None:
    path, out = str(write_recipe(tmp_path)), tmp_path / "run"
    train_until(path, out, 8)
    for options in ({"seed": 5}, {"seed": 6, "resume": True}):
        with pytest.raises(BadRun):
            training_loop.prepare_training(path, out, **options)  # type: ignore[arg-type]
    training_loop.train(path, out, seed=5, resume=True, grade=False)


def test_beside_a_live_run_and_after_its_death(tmp_path: Path) -> None:
    path = str(write_recipe(tmp_path, ("updates = 36", "updates = 1000000")))
    out = tmp_path / "run"
    arguments = ["train", path, "--out", str(out)]
    environment = {**os.environ, "ZERMELO_HOME": str(tmp_path / "home")}
    with subprocess.Popen([sys.executable, "-m", "zermelo", *arguments], env=environment) as live:
        try:
            deadline = time.monotonic() + 100
            while not (out / "checkpoint.safetensors").exists() and time.monotonic() < deadline:
                time.sleep(0.02)
            code, _, err = command(*arguments, "--resume")
        finally:
            live.send_signal(signal.SIGKILL)
    assert code == 2
    assert err.count("\n") == 1
    assert f"process {live.pid} on {socket.gethostname()} is training the run in {out}" in err
    assert (out / LOCK).exists(), "the process could not delete it"
    run, trainer = training_loop.prepare_training(path, out, resume=True)
    assert trainer.updates == listing.summarize_run(out).update > 0
    run.release()
    trainer.close()
