"""Interruptible calls: Ctrl-C takes effect at once, even while native code runs for seconds."""

import threading
from collections.abc import Callable

_running: set[threading.Event] = set()  # one event for each function that has not returned


def call_interruptibly(function: Callable[[], None]) -> None:
    """Call a function; in the main thread, Ctrl-C raises KeyboardInterrupt at once.

    The function then continues to its end in another thread, and the process waits for it when it
    exits.
    """
    if threading.current_thread() is not threading.main_thread():
        function()  # only the main thread receives Ctrl-C
        return
    errors: list[BaseException] = []
    done = threading.Event()

    def run() -> None:
        try:
            function()
        except BaseException as error:  # noqa: BLE001 - raised again in the main thread
            errors.append(error)
        _running.discard(done)
        done.set()

    _running.add(done)
    threading.Thread(target=run, name="zermelo-interruptible").start()
    done.wait()  # not join(), which marks the thread as finished if Ctrl-C interrupts it
    if errors:
        raise errors[0]


def is_running() -> bool:
    """Return whether a function is still running, perhaps after Ctrl-C interrupted its caller."""
    return bool(_running)
