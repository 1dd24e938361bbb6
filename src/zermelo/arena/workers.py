"""The worker pool: processes that play games, watched by their parent and replaced if they die."""

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

from zermelo.arena.game import describe_timeout, forfeit_turn, max_seconds
from zermelo.arena.plan import Plan
from zermelo.arena.scoresheet import Activity, Scoresheet, Turn
from zermelo.core.errors import ZermeloError
from zermelo.players.files import is_player_file
from zermelo.store.runs import GameRow

_POLL = 0.1  # seconds between two checks of the workers
_CHUNK_SECONDS = 0.5  # seconds that the games sent in one message should take
_MAX_CHUNK = 5_000  # games
_MARGIN = 0.25  # extra seconds in which a late worker may itself report the forfeit
_ORPHANED = 1.0  # seconds after which a dead worker with an open pipe is abandoned
_CLOSING = 2.0  # seconds for a process to end after it has closed its pipe
_WARM_UP = 300.0  # seconds for the warm-up of a player, which includes compiling
_WARM_UP_FILE = 20.0  # seconds for the warm-up of a player from a file
_MAX_FAILURES = 3
_KILLED = {-int(number) for number in (signal.SIGTERM, getattr(signal, "SIGKILL", 0)) if number}
# Run in a fresh interpreter, because multiprocessing would run the caller's script a second time.
_BOOT = """
import os, signal, sys
signal.signal(signal.SIGINT, signal.SIG_IGN)
sheet = open(sys.argv[1], "r+b")
if os.name == "posix":
    os.unlink(sys.argv[1])  # both processes have opened it, so no file is ever left behind
sys.path[:] = {path!r}
from zermelo.arena.worker import main
main(sheet)
"""

_Message = dict[str, Any]
_Events = queue.SimpleQueue[tuple["_WorkerProcess", _Message | None]]  # None when a worker ends


def play_games(
    plan: Plan, numbers: Iterable[int], processes: int
) -> Generator[list[GameRow], None, None]:
    """Play the games with these numbers; yield lists of games as they end, in no special order.

    Some lists are empty. Closing the generator stops the games, and returns when all workers have
    ended.
    """
    pool = _WorkerPool(plan, numbers, processes)
    try:
        yield from pool.games()
    finally:
        pool.close()


def usable_cores() -> int:
    """Return the number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class _WorkerProcess:
    """The parent's handle on a worker process."""

    def __init__(self, plan: Plan, no_warm_up: set[int], events: _Events) -> None:
        self._sheet, self._path = Scoresheet.create()
        self.process = subprocess.Popen(  # noqa: S603 - this interpreter, our own module
            [sys.executable, "-c", _BOOT.format(path=sys.path), str(self._path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        self.games: list[int] = []  #: numbers of the games handed out and not yet returned
        self.chunk, self.sent_at = 1, 0.0  #: size of the last chunk, and when it was sent
        self.timed_out: Turn | None = None  #: the turn that took too long, if any
        self.num_returned = 0
        self.ended = 0.0  #: when the process was found to have ended
        self.send({"plan": plan.to_json(), "no_warm_up": sorted(no_warm_up)})
        self._listener = threading.Thread(target=self._listen, args=(events,), daemon=True)
        self._listener.start()

    def _listen(self, events: _Events) -> None:
        assert self.process.stdout is not None
        with self.process.stdout as lines, contextlib.suppress(ValueError):  # a truncated line
            for line in lines:
                events.put((self, json.loads(line)))
        events.put((self, None))

    def send(self, message: _Message) -> None:
        """Send a command. If the worker has died, do nothing: its end is reported as an event."""
        assert self.process.stdin is not None
        try:
            self.process.stdin.write(json.dumps(message).encode() + b"\n")
            self.process.stdin.flush()
        except OSError:
            return

    def assign(self, games: list[int]) -> None:
        """Send the numbers of games to play."""
        self.games, self.sent_at = games, time.monotonic()
        self.send({"games": games})

    def turn(self) -> Turn:
        """Return the current turn, or the last one if the worker has died."""
        return self._sheet.read()

    def close(self) -> int:
        """Kill the process if it is running; return its exit code."""
        self.process.kill()
        code = self.process.wait()
        assert self.process.stdin is not None
        with contextlib.suppress(OSError):  # unsent data
            self.process.stdin.close()
        self._listener.join(_ORPHANED)
        self._sheet.close()
        self._path.unlink(missing_ok=True)
        return code


class _WorkerPool:
    def __init__(self, plan: Plan, numbers: Iterable[int], processes: int) -> None:
        self._plan, self._processes = plan, processes
        self._pending = deque(sorted(numbers))
        self._events: _Events = queue.SimpleQueue()
        self._workers: list[_WorkerProcess] = []
        self._no_warm_up: set[int] = set()  # players whose warm-up has killed a worker
        self._excused: set[int] = set()  # games whose worker was killed from outside once
        self._num_failures = 0

    def games(self) -> Iterator[list[GameRow]]:
        """Yield all games as they end."""
        last_check = time.monotonic()
        while self._pending or any(worker.games for worker in self._workers):
            self._start_workers()
            rows: list[GameRow] = []
            for worker, message in self._take_events():
                if worker in self._workers:
                    rows += (
                        self._handle_end(worker)
                        if message is None
                        else self._handle_message(worker, message)
                    )
            yield rows
            if time.monotonic() - last_check > _POLL:
                self._kill_late_workers()
                last_check = time.monotonic()

    def close(self) -> None:
        """End all workers."""
        while self._workers:
            self._close_worker(self._workers[-1])

    def _start_workers(self) -> None:
        while len(self._workers) < min(self._processes, len(self._pending)):
            self._workers.append(_WorkerProcess(self._plan, self._no_warm_up, self._events))

    def _take_events(self) -> Iterator[tuple[_WorkerProcess, _Message | None]]:
        """Yield the events since the last call; wait briefly for the first one."""
        try:
            yield self._events.get(timeout=_POLL)
            while True:
                yield self._events.get_nowait()
        except queue.Empty:
            return

    def _handle_message(self, worker: _WorkerProcess, message: _Message) -> list[GameRow]:
        if "error" in message:
            raise ZermeloError(message["error"])
        rows = [GameRow(*fields) for fields in message.get("games", ())]
        if rows:
            self._num_failures = 0
            worker.num_returned += len(rows)
            worker.games = worker.games[len(rows) :]  # games return in the order of assignment
        if message.get("idle"):
            self._assign_games(worker)
        return rows

    def _assign_games(self, worker: _WorkerProcess) -> None:
        """Assign half a second of games; near the end fewer, so that workers finish together."""
        if worker.sent_at:
            rate = worker.chunk / max(time.monotonic() - worker.sent_at, 1e-6)
            worker.chunk = int(min(_MAX_CHUNK, 4 * worker.chunk, rate * _CHUNK_SECONDS))
        share = len(self._pending) // (2 * self._processes)
        worker.chunk = max(1, min(worker.chunk, share))
        games = [self._pending.popleft() for _ in range(min(worker.chunk, len(self._pending)))]
        if games:
            worker.assign(games)
        else:
            self._close_worker(worker)

    def _kill_late_workers(self) -> None:
        now = time.monotonic()
        for worker in self._workers:
            turn = worker.turn()
            if worker.process.poll() is not None:
                # A child process of the player may keep the pipe open after the worker's end.
                worker.ended = worker.ended or now
                if now - worker.ended > _ORPHANED:
                    self._events.put((worker, None))
            elif turn.activity and now - turn.started > self._time_limit(turn) + _MARGIN:
                worker.timed_out = turn
                worker.process.kill()

    def _time_limit(self, turn: Turn) -> float:
        if turn.activity is Activity.PLAYING:
            return max_seconds(self._plan)
        is_file = is_player_file(self._plan.players[turn.seat])
        return _WARM_UP_FILE if is_file else _WARM_UP

    def _handle_end(self, worker: _WorkerProcess) -> list[GameRow]:
        """Return the game that is forfeited by the worker's end, if any; reschedule the others."""
        turn, games = worker.turn(), worker.games
        try:
            code = worker.process.wait(_CLOSING)
        except subprocess.TimeoutExpired:
            # A player has closed the worker's pipe, but the process is still running.
            worker.process.kill()
            code = worker.process.wait()
            self._excused.add(turn.number)
        self._close_worker(worker)
        forfeited: list[GameRow] = []
        if turn.activity is Activity.COMPILING:
            self._no_warm_up.add(turn.seat)
        elif turn.activity is Activity.PLAYING and turn.number in games:
            forfeited = self._handle_death(worker, turn, code)
        elif not worker.num_returned:
            self._num_failures += 1
            if self._num_failures >= _MAX_FAILURES:
                msg = f"worker processes fail before their first game: {_describe_exit(code)}"
                raise ZermeloError(msg)
        again = set(games) - {row.number for row in forfeited}
        self._pending = deque(sorted({*self._pending, *again})) if again else self._pending
        return forfeited

    def _handle_death(self, worker: _WorkerProcess, turn: Turn, code: int) -> list[GameRow]:
        """Return the forfeited game, or an empty list if the game is to be played again."""
        if worker.timed_out is not None:
            if worker.timed_out.started != turn.started:
                return []  # the player had just moved
            spent = time.monotonic() - turn.started
            return [forfeit_turn(self._plan, turn, describe_timeout(self._plan, spent))]
        if code in _KILLED and turn.number not in self._excused:
            self._excused.add(turn.number)  # not the player's fault, unless it happens again
            return []
        return [forfeit_turn(self._plan, turn, f"its process died: {_describe_exit(code)}")]

    def _close_worker(self, worker: _WorkerProcess) -> None:
        self._workers.remove(worker)
        worker.close()


def _describe_exit(code: int) -> str:
    if code >= 0:
        return f"exit code {code}"
    try:
        return signal.Signals(-code).name
    except ValueError:
        return f"signal {-code}"
