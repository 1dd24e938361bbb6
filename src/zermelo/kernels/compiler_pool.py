"""The compiler pool: worker processes that compile kernels for this process.

numba holds the interpreter lock while it compiles. A server that compiled in one of its threads
would stop responding for seconds, and could use only one core. The processes of a pool store the
machine code in the cache, from which this process then loads it.
"""

import contextlib
import heapq
import itertools
import os
import signal
import threading
import time
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from zermelo.kernels import cache

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

#: priorities of a kernel: a caller waits for it, it is probably needed soon, perhaps needed later
URGENT, SOON, LATER = range(3)
_SECONDS_PER_FUNCTION = 0.08  # time to compile a kernel, for each function in it
_MAX_ESTIMATE = 0.95  # highest share reported for a compilation that is still running
_LOW_PRIORITY = 5  # niceness of the processes of a background pool


@dataclass(eq=False)
class Compilation:
    """A kernel to compile: the text of its module, and the constants that the module needs."""

    text: str
    constants: tuple[Any, ...]
    kernel: str  #: the name of the kernel
    games: set[str]  #: the specs of the games that need it: different sizes may share a kernel
    is_urgent: bool = False  #: whether a caller waits for it
    begin: float | None = None  #: when it began, on the monotonic clock
    done: "Future[None]" = field(default_factory=Future)

    @property
    def expected_seconds(self) -> float:
        """Roughly how long the compilation takes on one core."""
        return _SECONDS_PER_FUNCTION * self.text.count("\n@helper")

    @property
    def elapsed_share(self) -> float:
        """The estimated share of the compilation that is done, from 0 to 1, by elapsed time."""
        if self.done.done():
            return 1.0
        if self.begin is None:
            return 0.0
        return min(_MAX_ESTIMATE, (time.monotonic() - self.begin) / self.expected_seconds)


class CompilerPool:
    """Compiles kernels in processes that are started when needed and ended when idle."""

    def __init__(self, num_processes: int | None = None, *, in_background: bool = False) -> None:
        self._max_processes = num_processes or available_cores()
        self._in_background = in_background
        self._lock = threading.Lock()
        self._compilations: dict[str, Compilation] = {}  # by module name, including finished ones
        self._waiting: list[tuple[int, int, Compilation]] = []  # a heap by priority
        self._numbers = itertools.count()
        self._num_threads = 0
        self._processes: set[Any] = set()
        self._is_closed = False

    def submit(self, compilation: Compilation, priority: int = URGENT) -> Compilation:
        """Queue a compilation; return it, or the one submitted earlier for the same module."""
        name = cache.module_name(compilation.text)
        with self._lock:
            new, compilation = compilation, self._compilations.setdefault(name, compilation)
            compilation.games |= new.games
            compilation.is_urgent |= priority == URGENT
            if compilation is new and cache.is_compiled(compilation.text):
                compilation.done.set_result(None)
            if not compilation.done.done() and compilation.begin is None:
                heapq.heappush(self._waiting, (priority, next(self._numbers), compilation))
                self._start_thread()
        return compilation

    def compilations(self) -> list[Compilation]:
        """Return all compilations so far: waiting, running and done."""
        with self._lock:
            return list(self._compilations.values())

    def close(self) -> None:
        """Kill all processes and cancel unfinished compilations."""
        with self._lock:
            self._is_closed = True
            self._waiting.clear()
            processes = list(self._processes)
            abandoned = [c for c in self._compilations.values() if not c.done.done()]
        for process in processes:
            process.kill()
        for compilation in abandoned:
            compilation.done.cancel()

    def _start_thread(self) -> None:
        """Start a thread that runs one more process, up to the limit; the caller holds the lock."""
        if self._num_threads < self._max_processes and not self._is_closed:
            self._num_threads += 1
            threading.Thread(target=self._work, name="zermelo-compiler", daemon=True).start()

    def _work(self) -> None:
        """Send one compilation after the other to a process, until none is waiting."""
        import multiprocessing

        context = multiprocessing.get_context("spawn")
        connection, other_end = context.Pipe()
        process = context.Process(target=_serve, args=(other_end, self._in_background), daemon=True)
        process.start()
        other_end.close()
        with self._lock:
            self._processes.add(process)
        try:
            while (compilation := self._next()) is not None:
                self._compile(compilation, connection)
        finally:
            connection.close()  # which ends the process
            with self._lock:
                self._processes.discard(process)

    def _next(self) -> Compilation | None:
        """Return the most urgent compilation; if there is none, return None to end the thread."""
        with self._lock:
            while self._waiting and not self._is_closed:
                *_, compilation = heapq.heappop(self._waiting)
                # A compilation that has become more urgent is in the heap twice.
                if compilation.begin is None:
                    compilation.begin = time.monotonic()
                    return compilation
            self._num_threads -= 1
            return None

    def _compile(self, compilation: Compilation, connection: "Connection") -> None:
        """Compile in the worker process; on failure, the caller compiles and gets the error."""
        with contextlib.suppress(OSError, EOFError):  # the process was killed
            connection.send((compilation.text, compilation.constants))
            connection.recv()
        with contextlib.suppress(Exception):  # cancelled by `close`
            compilation.done.set_result(None)


def available_cores() -> int:
    """Return the number of cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _serve(connection: "Connection", in_background: bool) -> None:
    """Compile the modules that the parent process sends, until it closes the connection."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent process handles Ctrl-C
    if in_background and hasattr(os, "nice"):
        os.nice(_LOW_PRIORITY)
    with contextlib.suppress(EOFError, OSError):
        while True:
            text, constants = connection.recv()
            with contextlib.suppress(Exception):  # reported by the process that needs the kernel
                cache.load(text).bind(constants)
            connection.send(None)
