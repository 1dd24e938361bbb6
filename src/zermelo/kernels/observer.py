"""The observer of compilations, which shows the user why a command takes longer than usual.

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
    """Call `observer` for each kernel that this process compiles; compile in its context."""
    global _observer  # noqa: PLW0603 - one for the whole process, as is the terminal
    _observer = observer


def observe(compilation: "Compilation") -> AbstractContextManager[object]:
    """Return the context in which to compile a kernel."""
    return _observer(compilation)
