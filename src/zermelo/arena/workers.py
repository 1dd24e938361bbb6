"""The pool: workers in processes of their own, watched, replaced when they die, and given games."""

import contextlib
import json
import os
import queue
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Generator, Iterable, Iterator
from typing import Any

from zermelo.arena.game import allowed, forfeited, overrun
from zermelo.arena.plan import Plan
from zermelo.arena.scoresheet import Doing, Note, Scoresheet
from zermelo.core.errors import ZermeloError
from zermelo.players import files as player_files
from zermelo.store.runs import GameRow

_TICK = 0.1  # seconds between two looks at the workers
_CHUNK = 0.5  # seconds of games that are handed out at once
_MAX_CHUNK = 5_000
_MARGIN = 0.25  # seconds in which a late worker may still confess by itself
_ORPHANED = 1.0  # seconds after which the end of a process is believed without end of file
_CLOSING = 2.0  # seconds in which a process ends that has closed its pipe
_WARMING = 300.0  # seconds for a first choice, compiling included
_WARMING_OWN = 20.0  # the same for a player from a file
_MAX_FAILURES = 3
_OUTSIDE = {-int(number) for number in (signal.SIGTERM, getattr(signal, "SIGKILL", 0)) if number}
# A fresh interpreter and no multiprocessing: that would run the caller's script a second time.
_BOOT = """
import os, signal, sys
signal.signal(signal.SIGINT, signal.SIG_IGN)
sheet = open(sys.argv[1], "r+b")
if os.name == "posix":
    os.unlink(sys.argv[1])  # both have it now: nothing is left behind, however this ends
sys.path[:] = {path!r}
from zermelo.arena.worker import main
main(sheet)
"""


def play(
    plan: Plan, numbers: Iterable[int], processes: int
) -> Generator[list[GameRow], None, None]:
    """The games of these numbers as they end, in no order; an empty list now and then meanwhile.

    Close the iterator to stop: the workers are gone when that returns.
    """
    pool = _Pool(plan, numbers, processes)
    try:
        yield from pool.games()
    finally:
        pool.close()


def usable_cores() -> int:
    """How many processes run at once here."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


Event = tuple["_Worker", dict[str, Any] | None]  # what a worker says; None at its end


class _Worker:
    """The parent's side of a worker."""

    def __init__(self, plan: Plan, cold: set[int], events: "queue.SimpleQueue[Event]") -> None:
        self._sheet, self._path = Scoresheet.create()
        self.process = subprocess.Popen(  # noqa: S603 - this interpreter, our own module
            [sys.executable, "-c", _BOOT.format(path=sys.path), str(self._path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        self.games: list[int] = []  #: handed out and not yet answered
        self.chunk, self.sent = 1, 0.0
        self.judged: Note | None = None  #: the turn for which it was killed
        self.answers = 0
        self.gone = 0.0  # when the process was seen to have ended
        self.send({"plan": plan.to_json(), "cold": sorted(cold)})
        self._listener = threading.Thread(target=self._listen, args=(events,), daemon=True)
        self._listener.start()

    def _listen(self, events: "queue.SimpleQueue[Event]") -> None:
        assert self.process.stdout is not None
        with self.process.stdout as lines, contextlib.suppress(ValueError):  # cut short by death
            for line in lines:
                events.put((self, json.loads(line)))
        events.put((self, None))

    def send(self, what: dict[str, Any]) -> None:
        """A command; one that died hears nothing, and its end is reported elsewhere."""
        assert self.process.stdin is not None
        try:
            self.process.stdin.write(json.dumps(what).encode() + b"\n")
            self.process.stdin.flush()
        except OSError:
            return

    def give(self, games: list[int]) -> None:
        """Games to play."""
        self.games, self.sent = games, time.monotonic()
        self.send({"games": games})

    def note(self) -> Note:
        """What it is at, or was when it died."""
        return self._sheet.read()

    def close(self) -> int:
        """End it if it has not ended; its exit code."""
        self.process.kill()
        code = self.process.wait()
        assert self.process.stdin is not None
        with contextlib.suppress(OSError):  # there may be something left to send
            self.process.stdin.close()
        self._listener.join(_ORPHANED)
        self._sheet.close()
        self._path.unlink(missing_ok=True)
        return code


class _Pool:
    def __init__(self, plan: Plan, numbers: Iterable[int], processes: int) -> None:
        self._plan, self._processes = plan, processes
        self._left = deque(sorted(numbers))
        self._events: queue.SimpleQueue[Event] = queue.SimpleQueue()
        self._workers: list[_Worker] = []
        self._cold: set[int] = set()  # players that do not survive a warm-up
        self._excused: set[int] = set()  # games whose worker was killed from outside once
        self._failures = 0

    def games(self) -> Iterator[list[GameRow]]:
        """All games."""
        watched = time.monotonic()
        while self._left or any(worker.games for worker in self._workers):
            self._staff()
            rows: list[GameRow] = []
            for worker, said in self._heard():
                rows += self._ended(worker) if said is None else self._answered(worker, said)
            yield rows
            if time.monotonic() - watched > _TICK:
                self._watch()
                watched = time.monotonic()

    def close(self) -> None:
        """No worker is left."""
        while self._workers:
            self._dismiss(self._workers[-1])

    def _staff(self) -> None:
        """As many workers as there is work for."""
        while len(self._workers) < min(self._processes, len(self._left)):
            self._workers.append(_Worker(self._plan, self._cold, self._events))

    def _heard(self) -> Iterator[Event]:
        """What workers have said since the last time, or say soon."""
        try:
            yield self._events.get(timeout=_TICK)
            while True:
                yield self._events.get_nowait()
        except queue.Empty:
            return

    def _answered(self, worker: _Worker, said: dict[str, Any]) -> list[GameRow]:
        if worker not in self._workers:
            return []
        if "error" in said:
            raise ZermeloError(said["error"])
        rows = [GameRow(*fields) for fields in said.get("games", ())]
        if rows:
            self._failures = 0
            worker.answers += len(rows)
            worker.games = worker.games[len(rows) :]  # they come in the order they were given
        if said.get("idle"):
            self._feed(worker)
        return rows

    def _feed(self, worker: _Worker) -> None:
        """Games for about half a second; few at the end, so that all end together."""
        if worker.sent:
            pace = worker.chunk / max(time.monotonic() - worker.sent, 1e-6)
            worker.chunk = int(min(_MAX_CHUNK, 4 * worker.chunk, pace * _CHUNK))
        share = len(self._left) // (2 * self._processes)
        worker.chunk = max(1, min(worker.chunk, share))
        games = [self._left.popleft() for _ in range(min(worker.chunk, len(self._left)))]
        if games:
            worker.give(games)
        else:
            self._dismiss(worker)

    def _watch(self) -> None:
        """Kill whoever takes too long."""
        now = time.monotonic()
        for worker in self._workers:
            note = worker.note()
            if worker.process.poll() is not None:
                # A process of the player's own may keep the pipe open after the worker's end.
                worker.gone = worker.gone or now
                if now - worker.gone > _ORPHANED:
                    self._events.put((worker, None))
            elif note.doing and now - note.began > self._patience(note) + _MARGIN:
                worker.judged = note
                worker.process.kill()

    def _patience(self, note: Note) -> float:
        if note.doing is Doing.PLAYING:
            return allowed(self._plan)
        own = player_files.is_file(self._plan.players[note.seat])
        return _WARMING_OWN if own else _WARMING

    def _ended(self, worker: _Worker) -> list[GameRow]:
        """A worker has died: whoever was on the move loses, the other games are played again."""
        if worker not in self._workers:
            return []
        note, games = worker.note(), worker.games
        try:
            code = worker.process.wait(_CLOSING)
        except subprocess.TimeoutExpired:
            # A player has closed what is not its own, and goes on: that ends here.
            worker.process.kill()
            code = worker.process.wait()
            self._excused.add(note.number)
        self._dismiss(worker)
        lost: list[GameRow] = []
        if note.doing is Doing.WARMING:
            self._cold.add(note.seat)
        elif note.doing is Doing.PLAYING and note.number in games:
            lost = self._blamed(worker, note, code)
        elif not worker.answers:
            self._failures += 1
            if self._failures >= _MAX_FAILURES:
                msg = f"the processes that play end by themselves: {_how(code)}"
                raise ZermeloError(msg)
        again = set(games) - {row.number for row in lost}
        self._left = deque(sorted({*self._left, *again})) if again else self._left
        return lost

    def _blamed(self, worker: _Worker, note: Note, code: int) -> list[GameRow]:
        if worker.judged is not None:
            if worker.judged.began != note.began:
                return []  # it had just moved: the game is played again
            spent = time.monotonic() - note.began
            return [forfeited(self._plan, note, overrun(self._plan, spent))]
        if code in _OUTSIDE and note.number not in self._excused:
            self._excused.add(note.number)  # nobody's fault, unless it happens again
            return []
        return [forfeited(self._plan, note, f"its process died: {_how(code)}")]

    def _dismiss(self, worker: _Worker) -> None:
        self._workers.remove(worker)
        worker.close()


def _how(code: int) -> str:
    if code >= 0:
        return f"exit code {code}"
    try:
        return signal.Signals(-code).name
    except ValueError:
        return f"signal {-code}"
