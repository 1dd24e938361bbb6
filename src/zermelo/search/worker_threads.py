"""Worker threads that share a list of tasks; Ctrl-C stops all of them.

Kernels release the GIL, so threads can search in parallel.
"""

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from contextlib import AbstractContextManager
from typing import TypeVar

from zermelo.core.errors import ZermeloError

Task = TypeVar("Task")
#: creates a thread's context manager, which yields the function to call with each of its tasks
Worker = Callable[[], AbstractContextManager[Callable[[Task], None]]]

_POLL_SECONDS = 0.05  # how often the calling thread calls `poll`
_MAX_THREADS = 256


def check_threads(threads: object) -> int:
    """Return a number of threads unchanged; raise ZermeloError if it is not valid."""
    is_number = isinstance(threads, int) and not isinstance(threads, bool)
    if not isinstance(threads, int) or not is_number or not 1 <= threads <= _MAX_THREADS:
        msg = f"threads is {threads!r}: it must be a whole number from 1 to {_MAX_THREADS}"
        raise ZermeloError(msg)
    return threads


def run_tasks(
    tasks: Sequence[Task],
    worker: Worker[Task],
    threads: int,
    stop: threading.Event,
    poll: Callable[[], None],
) -> None:
    """Run all tasks in `threads` threads; each thread takes the next task when it has finished one.

    The calling thread only waits, and calls `poll` now and then. When `stop` is set, no thread
    takes another task. An error in a thread, an error in `poll` or Ctrl-C sets `stop`, and is
    raised once all threads have ended.
    """
    pending, lock = iter(tasks), threading.Lock()

    def take_tasks() -> None:
        with worker() as run_task:
            while not stop.is_set():
                with lock:
                    task = next(pending, None)
                if task is None:
                    return
                run_task(task)

    with ThreadPoolExecutor(min(threads, max(1, len(tasks)))) as pool:
        try:
            running = {pool.submit(take_tasks) for _ in range(min(threads, len(tasks)))}
            while running:
                finished, running = wait(running, _POLL_SECONDS, FIRST_EXCEPTION)
                for future in finished:
                    future.result()
                poll()
        except BaseException:
            stop.set()
            raise
