"""The observer of compilations, which tells the user that a command is compiling kernels.

This module imports nothing, so a command can set the observer before it knows whether a kernel will
have to be compiled.
"""

import contextlib
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from zermelo.kernels.compiler_pool import Compilation

Observer = Callable[["Compilation"], AbstractContextManager[object]]

_observer: Observer = contextlib.nullcontext


def set_observer(observer: Observer) -> None:
    """Compile each kernel in this process inside the context manager that `observer` returns."""
    global _observer  # noqa: PLW0603 - one for the whole process, as is the terminal
    _observer = observer


def observe(compilation: "Compilation") -> AbstractContextManager[object]:
    """Return the observer's context manager for one compilation."""
    return _observer(compilation)
