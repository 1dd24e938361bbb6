"""Run users' Python files: load them, limit their running time, report their errors in one line.

A user's file is code and runs with all of the user's permissions. It is therefore loaded only if a
person names it, on the command line or in Python, never because a network request or record does.
"""

import contextlib
import hashlib
import importlib.util
import inspect
import signal
import sys
import threading
import traceback
from collections.abc import Iterator
from pathlib import Path
from types import FrameType, ModuleType
from typing import Any

from zermelo.core.errors import BadSpec, ZermeloError
from zermelo.core.phrases import escape_controls

_MAX_SECONDS = 20.0
_MAX_TEXT = 2000  # characters of an exception's text

_loaded_files: set[str] = set()


class _TimeUp(BaseException):
    """Raised when time is up; a BaseException, so that user code does not catch it by accident."""


def load_module(path: Path) -> ModuleType:
    """Run a file and return it as a module; raise BadSpec if it is not a Python file."""
    name = f"zermelo_file_{hashlib.sha256(str(path.resolve()).encode()).hexdigest()[:12]}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        msg = f"{path} is not a Python file"
        raise BadSpec(msg)
    module = importlib.util.module_from_spec(spec)
    _loaded_files.update((str(path), str(path.resolve())))
    sys.modules[name] = module  # pickle and inspect look for it there
    spec.loader.exec_module(module)
    return module


def add_source_of(value: Any) -> None:
    """Let `locate_error` also report errors in the file that defines this class or function."""
    with contextlib.suppress(TypeError, OSError):  # defined at a prompt, not in a file
        _loaded_files.add(str(inspect.getsourcefile(inspect.unwrap(value)) or ""))


def classes_in(module: ModuleType, base: type) -> list[Any]:
    """Return the subclasses of `base` that a module defines itself, in order of definition."""
    return [
        value
        for value in vars(module).values()
        if isinstance(value, type)
        and issubclass(value, base)
        and value.__module__ == module.__name__
    ]


def describe_error(error: BaseException) -> str:
    """Return the type and the text of an exception in one printable line.

    The text comes from the exception's own `__str__`, which may itself raise an error.
    """
    name = type(error).__name__
    try:
        text = f"{name}: {error}"[:_MAX_TEXT]
    except BaseException:  # noqa: BLE001
        text = name
    return escape_controls(" ".join(text.split())).removesuffix(":")


def locate_error(error: BaseException) -> str | None:
    """Return where in a user's file an error arose, in one line; None if it arose elsewhere."""
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        if frame.filename in _loaded_files:
            return f"{frame.filename}, line {frame.lineno}: {describe_error(error)}"
    return None


@contextlib.contextmanager
def guard(spec: str) -> Iterator[None]:
    """Turn every failure of user code in the `with` block into a BadSpec of one line.

    Failures include `sys.exit` and, on the main thread of a Unix process, code that never returns.
    """
    try:
        with _time_limit():
            yield
    except (BadSpec, KeyboardInterrupt):
        raise
    except _TimeUp:
        msg = f"{spec} did not finish within {_MAX_SECONDS:.0f} seconds: it may loop forever"
        raise BadSpec(msg) from None
    except BaseException as error:  # noqa: BLE001 - user code may even call sys.exit
        where = locate_error(error) or f"{spec}: {describe_error(error)}"
        raise BadSpec(where) from None


@contextlib.contextmanager
def forbid_exit(spec: str) -> Iterator[None]:
    """Turn a call of `sys.exit` in the `with` block into a ZermeloError.

    Otherwise, a player that ends the process would make the command exit without output.
    """
    try:
        yield
    except SystemExit as error:
        msg = f"{spec} called sys.exit({error.code!r})"
        raise ZermeloError(msg) from None


@contextlib.contextmanager
def _time_limit() -> Iterator[None]:
    """Raise _TimeUp in a `with` block that takes too long; only on Unix and the main thread."""
    if threading.current_thread() is not threading.main_thread() or not hasattr(signal, "SIGALRM"):
        yield
        return

    def interrupt(_number: int, _frame: FrameType | None) -> None:
        raise _TimeUp

    previous = signal.signal(signal.SIGALRM, interrupt)
    # The timer repeats, in case user code swallows the exception.
    signal.setitimer(signal.ITIMER_REAL, _MAX_SECONDS, 0.1)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous)
