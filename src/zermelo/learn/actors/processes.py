"""Actors: a crew of processes on this machine.

Each is an interpreter of its own, told by lines of JSON what to do. Weights and chunks do not pass
through the pipes: they are files in shared memory, where the system has a folder for that.
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
from zermelo.learn.actors.protocol import Arrays, Order
from zermelo.learn.config.recipes import Recipe, from_json
from zermelo.learn.runs.rollouts import rollouts_for

_SHARED = Path("/dev/shm")  # noqa: S108 - memory that all processes see, where there is such
_MAX_DEATHS = 3  # in a row: then it is no accident
# One thread each: there are as many actors as there should be threads.
_ENVIRONMENT = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
# A fresh interpreter and no multiprocessing: that would run the caller's script a second time.
_BOOT = """
import signal, sys
signal.signal(signal.SIGINT, signal.SIG_IGN)
sys.path[:] = {path!r}
from zermelo.learn.pool import work
work()
"""


def work() -> None:
    """An actor: the recipe first, then an order a line, until there are no more.

    That is when the learner has gone, perhaps by force: so nothing of its is left in memory.
    """
    import torch

    torch.set_num_threads(1)
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # whatever prints must not disturb the answers
    first = json.loads(sys.stdin.readline())
    rollouts = rollouts_for(from_json(first["recipe"]))
    for line in sys.stdin:
        said = json.loads(line)
        try:
            order = Order(
                tuple(said["order"]["seed"]), said["order"]["done"], said["order"]["place"]
            )
            chunk = rollouts(load_file(said["weights"]), order)
            save_file(chunk, said["chunk"])
            answer = {"done": said["chunk"]}
        except ZermeloError as error:
            answer = {"error": str(error)}
        except (OSError, SafetensorError):
            if Path(first["folder"]).is_dir():
                raise
            break  # another actor has tidied up: the learner has gone
        with contextlib.suppress(BrokenPipeError):
            out.write(json.dumps(answer) + "\n")
            out.flush()
    shutil.rmtree(first["folder"], ignore_errors=True)


class _Actor:
    """The learner's side of an actor."""

    def __init__(self, recipe: Recipe, folder: Path, events: "queue.SimpleQueue[Any]") -> None:
        self.process = subprocess.Popen(  # noqa: S603 - this interpreter, our own module
            [sys.executable, "-c", _BOOT.format(path=sys.path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=os.environ | _ENVIRONMENT,
            text=True,
        )
        self.job: int | None = None  #: the number of the order it is at
        self.send({"recipe": recipe.to_json(), "folder": str(folder)})
        assert self.process.stdout is not None
        self._listener = threading.Thread(
            target=self._listen, args=(self.process.stdout, events), daemon=True
        )
        self._listener.start()

    def _listen(self, lines: IO[str], events: "queue.SimpleQueue[Any]") -> None:
        with lines, contextlib.suppress(ValueError):  # cut short by death
            for line in lines:
                events.put((self, json.loads(line)))
        events.put((self, None))

    def send(self, what: Any) -> None:
        """One that died hears nothing, and its end is reported elsewhere."""
        assert self.process.stdin is not None
        with contextlib.suppress(OSError):
            self.process.stdin.write(json.dumps(what) + "\n")
            self.process.stdin.flush()

    def close(self) -> None:
        """End it if it has not ended."""
        self.process.kill()
        self.process.wait()
        assert self.process.stdin is not None
        with contextlib.suppress(OSError):
            self.process.stdin.close()
        self._listener.join(1.0)


class Pool:
    """So many actors; one that dies is replaced, and its order given again."""

    def __init__(self, recipe: Recipe, size: int) -> None:
        self.size, self.ahead = size, size + 1  # one in hand, so that nobody waits
        self._recipe = recipe
        shared = str(_SHARED) if os.access(_SHARED, os.W_OK) else None
        self._folder = Path(tempfile.mkdtemp(prefix=f"zermelo-{os.getpid()}-", dir=shared))
        self._events: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._orders: dict[int, dict[str, Any]] = {}  # given and not yet taken
        self._waiting: deque[int] = deque()  # of these, those that nobody is at
        self._chunks: dict[int, Path] = {}
        self._next = self._wanted = 0
        self._deaths = 0
        self._weights: dict[int, Path] = {}  # by the order they came with
        self._actors: list[_Actor] = []

    @property
    def pids(self) -> list[int]:
        """Of the actors."""
        return [actor.process.pid for actor in self._actors]

    def give(self, order: Order, weights: Arrays) -> None:
        """To whoever is free, or becomes free."""
        number = self._next
        self._next += 1
        path = self._folder / f"weights-{number}"
        save_file(weights, path)
        self._weights[number] = path
        self._orders[number] = {
            "order": asdict(order),
            "weights": str(path),
            "chunk": str(self._folder / f"chunk-{number}"),
        }
        self._waiting.append(number)
        while len(self._actors) < self.size:
            self._actors.append(_Actor(self._recipe, self._folder, self._events))
        self._hand_out()

    def _hand_out(self) -> None:
        for actor in self._actors:
            if actor.job is None and self._waiting:
                actor.job = self._waiting.popleft()
                actor.send(self._orders[actor.job])

    def take(self) -> Arrays:
        """The oldest chunk, as soon as it is there."""
        while self._wanted not in self._chunks:
            self._hear(*self._events.get())
        path = self._chunks.pop(self._wanted)
        chunk = {name: array.copy() for name, array in load_file(path).items()}
        path.unlink()
        self._forget(self._wanted)
        self._wanted += 1
        return chunk

    def _hear(self, actor: _Actor, said: dict[str, Any] | None) -> None:
        if actor not in self._actors:
            return
        job, actor.job = actor.job, None
        if said is None:
            self._replace(actor, job)
        elif "error" in said:
            raise ZermeloError(said["error"])
        elif job in self._orders:
            self._deaths = 0
            self._chunks[job] = Path(said["done"])
        elif job is not None:  # it is not wanted any more
            Path(said["done"]).unlink(missing_ok=True)
        self._hand_out()

    def _replace(self, actor: _Actor, job: int | None) -> None:
        self._deaths += 1
        code = actor.process.wait()
        actor.close()
        if self._deaths >= _MAX_DEATHS * self.size:
            msg = f"actors die as soon as they begin (exit code {code}): see what they say above"
            raise ZermeloError(msg)
        if job in self._orders:
            assert job is not None
            self._waiting.appendleft(job)
        self._actors[self._actors.index(actor)] = _Actor(self._recipe, self._folder, self._events)

    def _forget(self, number: int) -> None:
        del self._orders[number]
        self._weights.pop(number).unlink(missing_ok=True)

    def drop(self) -> None:
        """What is under way will be thrown away when it arrives."""
        for number in list(self._orders):
            self._forget(number)
        for path in self._chunks.values():
            path.unlink(missing_ok=True)
        self._chunks.clear()
        self._waiting.clear()
        self._wanted = self._next

    def close(self) -> None:
        """Nobody is left, and nothing in shared memory."""
        while self._actors:
            self._actors.pop().close()
        shutil.rmtree(self._folder, ignore_errors=True)
