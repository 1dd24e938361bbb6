"""The worker pool: processes that play games, watched by their parent and replaced if they die."""

import os
import queue
import signal
import subprocess
import time
from collections import deque
from collections.abc import Generator, Iterable, Iterator

from zermelo.arena.game import describe_memory, describe_timeout, forfeit_turn, max_seconds
from zermelo.arena.plan import Plan
from zermelo.arena.processes.child import ChildProcess, Message, describe_exit
from zermelo.arena.processes.connection import ExitCode
from zermelo.arena.scoresheet import Activity, Scoresheet, Turn
from zermelo.core.errors import ZermeloError
from zermelo.core.position import Outcome
from zermelo.games.user_output import OutputRelay
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
_OUTCOMES = {outcome.value for outcome in Outcome}
# The child deletes the scoresheet's file once both processes have it open, so that none remains.
_OPEN_SHEET = """
sheet = open({path!r}, "r+b")
if os.name == "posix":
    os.unlink({path!r})
"""

_Events = queue.SimpleQueue[tuple["_WorkerProcess", Message | None]]  # None when a worker ends


def play_games(
    plan: Plan, numbers: Iterable[int], processes: int
) -> Generator[list[GameRow], None, None]:
    """Play the games with these numbers; yield lists of games as they end, in no particular order.

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


class _WorkerProcess(ChildProcess):
    """The parent's handle on a worker process."""

    def __init__(
        self, plan: Plan, no_warm_up: set[int], events: _Events, relay: OutputRelay
    ) -> None:
        self._sheet, self._path = Scoresheet.create()
        super().__init__(
            "zermelo.arena.worker_process",
            lambda message: events.put((self, message)),
            relay,
            prelude=_OPEN_SHEET.format(path=str(self._path)),
            argument="sheet",
        )
        self.games: list[int] = []  #: numbers of the games handed out and not yet returned
        self.first_game: int | None = None  #: number of the first game handed out
        self.chunk, self.sent_at = 1, 0.0  #: size of the last chunk, and when it was sent
        self.timed_out: Turn | None = None  #: the turn that took too long, if any
        self.num_returned = 0
        self.ended = 0.0  #: when the process was found to have ended
        self.send({"plan": plan.to_dict(), "no_warm_up": sorted(no_warm_up)})

    def assign(self, games: list[int]) -> None:
        """Send the numbers of games to play."""
        if self.first_game is None:
            self.first_game = games[0]
        self.games, self.sent_at = games, time.monotonic()
        self.send({"games": games})

    def turn(self) -> Turn:
        """Return the current turn, or the last one if the worker has died."""
        return self._sheet.read()

    def close(self) -> int:
        """Kill the process if it is running; return its exit code."""
        code = super().close()
        self._sheet.close()
        self._path.unlink(missing_ok=True)
        return code


class _WorkerPool:
    def __init__(self, plan: Plan, numbers: Iterable[int], processes: int) -> None:
        self._plan, self._processes = plan, processes
        self._pending = deque(sorted(numbers))
        # Games whose process died, possibly through no fault of their players.
        # Each is played again as the first game of a new process.
        self._replays: deque[int] = deque()
        self._relay = OutputRelay()
        self._events: _Events = queue.SimpleQueue()
        self._workers: list[_WorkerProcess] = []
        self._no_warm_up: set[int] = set()  # players whose warm-up has killed a worker
        self._excused: set[int] = set()  # games in which a worker was killed from outside
        self._num_failures = 0

    def games(self) -> Iterator[list[GameRow]]:
        """Yield all games as they end."""
        last_check = time.monotonic()
        while self._pending or self._replays or any(worker.games for worker in self._workers):
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
        num_games = len(self._pending) + len(self._replays)
        while len(self._workers) < min(self._processes, num_games):
            worker = _WorkerProcess(self._plan, self._no_warm_up, self._events, self._relay)
            self._workers.append(worker)

    def _take_events(self) -> Iterator[tuple[_WorkerProcess, Message | None]]:
        """Yield the events since the last call; wait briefly for the first one."""
        try:
            yield self._events.get(timeout=_POLL)
            while True:
                yield self._events.get_nowait()
        except queue.Empty:
            return

    def _handle_message(self, worker: _WorkerProcess, message: Message) -> list[GameRow]:
        if "error" in message:
            raise ZermeloError(str(message["error"]))
        rows = self._read_rows(worker, message.get("games", ()))
        if rows is None:  # a player has written to the connection
            worker.kill()
            return self._handle_end(worker, ExitCode.CLOSED_CONNECTION)
        if rows:
            self._num_failures = 0
            worker.num_returned += len(rows)
            worker.games = worker.games[len(rows) :]
        if message.get("idle"):
            self._assign_games(worker)
        return rows

    def _read_rows(self, worker: _WorkerProcess, games: object) -> list[GameRow] | None:
        """Return the games in a message, or None if they are not the next ones assigned."""
        try:
            rows = [GameRow(*fields) for fields in games]  # type: ignore[attr-defined]
            for number, row in zip(worker.games, rows, strict=False):
                first, second = self._plan.fixture(number).seats
                names = self._plan.names[first], self._plan.names[second]
                if (row.number, row.first, row.second) != (number, *names):
                    return None
            is_valid = len(rows) <= len(worker.games) and all(r.outcome in _OUTCOMES for r in rows)
        except TypeError:
            return None
        return rows if is_valid else None

    def _assign_games(self, worker: _WorkerProcess) -> None:
        """Assign games for half a second, or fewer near the end so that workers finish together."""
        if worker.first_game is None and self._replays:
            worker.assign([self._replays.popleft()])
            return
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
                worker.kill()

    def _time_limit(self, turn: Turn) -> float:
        if turn.activity is Activity.PLAYING:
            return max_seconds(self._plan)
        return _WARM_UP_FILE if self._plan.is_file[turn.seat] else _WARM_UP

    def _handle_end(self, worker: _WorkerProcess, code: int | None = None) -> list[GameRow]:
        """Handle a worker's end: return the forfeited game, if any; reschedule the rest.

        `code` is the exit code, if it is known already.
        """
        turn, games = worker.turn(), worker.games
        if code is None:
            try:
                code = worker.process.wait(_CLOSING)
            except subprocess.TimeoutExpired:  # the process is running, but its pipe is closed
                code = ExitCode.CLOSED_CONNECTION
        self._close_worker(worker)
        forfeited: list[GameRow] = []
        if turn.activity is Activity.COMPILING:
            self._no_warm_up.add(turn.seat)
        elif turn.activity is Activity.PLAYING and turn.number in games:
            forfeited = self._handle_death(worker, turn, code)
        elif not worker.num_returned:
            self._num_failures += 1
            if self._num_failures >= _MAX_FAILURES:
                msg = f"worker processes fail before their first game: {describe_exit(code)}"
                raise ZermeloError(msg)
        again = set(games) - {row.number for row in forfeited} - set(self._replays)
        self._pending = deque(sorted({*self._pending, *again})) if again else self._pending
        return forfeited

    def _handle_death(self, worker: _WorkerProcess, turn: Turn, code: int) -> list[GameRow]:
        """Return the forfeited game, or an empty list if the game is to be played again.

        In the first game of a process, its death is the fault of the player whose turn it was. In
        a later game, it may be due to threads or memory that another player has left behind.
        """
        if worker.timed_out is not None:
            if worker.timed_out.started != turn.started:
                return []  # the player moved just before the worker was killed
            spent = time.monotonic() - turn.started
            return [forfeit_turn(self._plan, turn, describe_timeout(self._plan, spent))]
        is_first = turn.number == worker.first_game
        if not is_first or (code in _KILLED and turn.number not in self._excused):
            if is_first:
                self._excused.add(turn.number)  # killed from outside, unless it happens again
            self._replays.append(turn.number)
            return []
        if code == ExitCode.OUT_OF_MEMORY:
            return [forfeit_turn(self._plan, turn, describe_memory(self._plan))]
        return [forfeit_turn(self._plan, turn, f"its process died: {describe_exit(code)}")]

    def _close_worker(self, worker: _WorkerProcess) -> None:
        self._workers.remove(worker)
        worker.close()
