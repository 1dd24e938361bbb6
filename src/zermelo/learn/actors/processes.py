"""Actors as processes on this machine.

Each actor is a separate Python interpreter that reads requests as lines of JSON. Weights and
rollouts are exchanged as files, in shared memory if the system has a folder for it.
"""

import contextlib
import json
import os
import queue
import shutil
import subprocess
import sys
import tempfile
import threading
from collections import deque
from dataclasses import asdict
from pathlib import Path
from typing import IO, Any

from safetensors import SafetensorError
from safetensors.numpy import load_file, save_file

from zermelo.core.errors import ZermeloError
from zermelo.learn.actors.protocol import (
    RolloutFactory,
    RolloutRequest,
    factory_path,
    import_factory,
)
from zermelo.learn.config.recipe import Recipe
from zermelo.learn.config.recipes import from_dict
from zermelo.learn.networks.weights_file import Arrays

_SHARED_MEMORY = Path("/dev/shm")  # noqa: S108 - the usual place on Linux
_MAX_DEATHS = 3  # deaths per actor, without a rollout in between, after which the pool gives up
# Each actor uses one thread, so the number of actors sets the number of threads.
_ENVIRONMENT = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
# The code that an actor process runs. The multiprocessing module is not used, because it would run
# the caller's script again.
_BOOT = """
import signal, sys
signal.signal(signal.SIGINT, signal.SIG_IGN)
sys.path[:] = {path!r}
from zermelo.learn.actors.processes import run_actor
run_actor()
"""


def run_actor() -> None:
    """Run an actor: read the set-up from the first line of stdin, then answer requests.

    When stdin is closed, the actor deletes the folder that it shares with the trainer, because a
    trainer that was killed cannot do so.
    """
    import torch

    torch.set_num_threads(1)
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # output of other code goes to stderr, so that stdout has only answers
    setup = json.loads(sys.stdin.readline())
    play_rollout = import_factory(setup["factory"])(from_dict(setup["recipe"]))
    for line in sys.stdin:
        job = json.loads(line)
        try:
            fields = job["request"]
            request = RolloutRequest(
                tuple(fields["seed"]), fields["progress"], fields["actor_rank"]
            )
            save_file(play_rollout(load_file(job["weights"]), request), job["rollout"])
            answer = {"rollout": job["rollout"]}
        except ZermeloError as error:
            answer = {"error": str(error)}
        except (OSError, SafetensorError):
            if Path(setup["folder"]).is_dir():
                raise
            break  # the trainer is gone, and another actor has deleted the folder
        with contextlib.suppress(BrokenPipeError):
            out.write(json.dumps(answer) + "\n")
            out.flush()
    shutil.rmtree(setup["folder"], ignore_errors=True)


class _ActorProcess:
    """An actor process, with methods to send messages to it and to end it."""

    def __init__(self, setup: dict[str, Any], events: "queue.SimpleQueue[Any]") -> None:
        self.process = subprocess.Popen(  # noqa: S603 - this interpreter, our own module
            [sys.executable, "-c", _BOOT.format(path=sys.path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=os.environ | _ENVIRONMENT,
            text=True,
        )
        self.job: int | None = None  #: number of the request that the actor is working on
        self.send(setup)
        assert self.process.stdout is not None
        self._listener = threading.Thread(
            target=self._listen, args=(self.process.stdout, events), daemon=True
        )
        self._listener.start()

    def _listen(self, lines: IO[str], events: "queue.SimpleQueue[Any]") -> None:
        with lines, contextlib.suppress(ValueError):  # the actor died in the middle of a line
            for line in lines:
                events.put((self, json.loads(line)))
        events.put((self, None))

    def send(self, message: dict[str, Any]) -> None:
        """Send a message as a line of JSON; if the process is dead, the listener reports it."""
        assert self.process.stdin is not None
        with contextlib.suppress(OSError):
            self.process.stdin.write(json.dumps(message) + "\n")
            self.process.stdin.flush()

    def close(self) -> None:
        """Kill the process if it is still running, and wait until it has ended."""
        self.process.kill()
        self.process.wait()
        assert self.process.stdin is not None
        with contextlib.suppress(OSError):
            self.process.stdin.close()
        self._listener.join(1.0)


class ProcessActorPool:
    """A pool of actor processes, which start at the first request.

    An actor that dies is replaced, and its request is repeated.
    """

    def __init__(self, factory: RolloutFactory, recipe: Recipe, size: int) -> None:
        self.size, self.max_pending = size, size + 1  # one request in reserve, so no actor is idle
        shared = str(_SHARED_MEMORY) if os.access(_SHARED_MEMORY, os.W_OK) else None
        self._folder = Path(tempfile.mkdtemp(prefix=f"zermelo-{os.getpid()}-", dir=shared))
        self._setup = {
            "factory": factory_path(factory),
            "recipe": recipe.to_dict(),
            "folder": str(self._folder),
        }
        self._events: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._jobs: dict[int, dict[str, Any]] = {}  # requests not yet collected, by number
        self._unassigned: deque[int] = deque()  # numbers of the jobs that wait for an actor
        self._rollouts: dict[int, Path] = {}  # files of finished rollouts, by job number
        self._next_number = self._next_to_collect = 0
        self._deaths = 0
        self._actors: list[_ActorProcess] = []

    @property
    def pids(self) -> list[int]:
        """The process ids of the actors."""
        return [actor.process.pid for actor in self._actors]

    def submit(self, request: RolloutRequest, weights: Arrays) -> None:
        """Pass the request to an idle actor, or queue it until an actor is idle."""
        number = self._next_number
        self._next_number += 1
        weights_path = self._folder / f"weights-{number}"
        save_file(weights, weights_path)
        self._jobs[number] = {
            "request": asdict(request),
            "weights": str(weights_path),
            "rollout": str(self._folder / f"rollout-{number}"),
        }
        self._unassigned.append(number)
        while len(self._actors) < self.size:
            self._actors.append(self._start_actor())
        self._assign_jobs()

    def _start_actor(self) -> _ActorProcess:
        return _ActorProcess(self._setup, self._events)

    def _assign_jobs(self) -> None:
        for actor in self._actors:
            if actor.job is None and self._unassigned:
                actor.job = self._unassigned.popleft()
                actor.send(self._jobs[actor.job])

    def collect(self) -> Arrays:
        """Return the rollout of the oldest request, waiting for it if necessary.

        Raise ZermeloError if a rollout fails, or if the actors keep dying.
        """
        while self._next_to_collect not in self._rollouts:
            self._handle_event(*self._events.get())
        path = self._rollouts.pop(self._next_to_collect)
        rollout = {name: array.copy() for name, array in load_file(path).items()}
        path.unlink()
        self._discard_job(self._next_to_collect)
        self._next_to_collect += 1
        return rollout

    def _handle_event(self, actor: _ActorProcess, answer: dict[str, Any] | None) -> None:
        """Handle an actor's answer, or its death if `answer` is None."""
        if actor not in self._actors:
            return
        job, actor.job = actor.job, None
        if answer is None:
            self._replace(actor, job)
        elif "error" in answer:
            raise ZermeloError(answer["error"])
        elif job in self._jobs:
            self._deaths = 0
            self._rollouts[job] = Path(answer["rollout"])
        elif job is not None:  # the job was cancelled in the meantime
            Path(answer["rollout"]).unlink(missing_ok=True)
        self._assign_jobs()

    def _replace(self, actor: _ActorProcess, job: int | None) -> None:
        self._deaths += 1
        code = actor.process.wait()
        actor.close()
        if self._deaths >= _MAX_DEATHS * self.size:
            msg = f"the actors die as soon as they start (exit code {code}): see their output above"
            raise ZermeloError(msg)
        if job is not None and job in self._jobs:
            self._unassigned.appendleft(job)
        self._actors[self._actors.index(actor)] = self._start_actor()

    def _discard_job(self, number: int) -> None:
        Path(self._jobs.pop(number)["weights"]).unlink(missing_ok=True)

    def cancel(self) -> None:
        """Discard all pending requests; rollouts in progress are deleted when they finish."""
        for number in list(self._jobs):
            self._discard_job(number)
        for path in self._rollouts.values():
            path.unlink(missing_ok=True)
        self._rollouts.clear()
        self._unassigned.clear()
        self._next_to_collect = self._next_number

    def close(self) -> None:
        """Stop all actors, and delete their files in shared memory."""
        while self._actors:
            self._actors.pop().close()
        shutil.rmtree(self._folder, ignore_errors=True)
