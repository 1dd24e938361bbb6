"""Interruptible calls: Ctrl-C does not wait for native code that takes many seconds."""

import threading
from collections.abc import Callable

_running: set[threading.Event] = set()  # one for each call that has not returned


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
    done.wait()  # not join(): that takes a thread for finished when it is interrupted
    if errors:
        raise errors[0]


def is_running() -> bool:
    """Return whether a call that Ctrl-C interrupted has not ended yet."""
    return bool(_running)
