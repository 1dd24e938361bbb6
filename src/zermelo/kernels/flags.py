"""The flags all kernels are compiled with, and how a generated module becomes callable."""

import functools
import os
from collections.abc import Callable
from typing import Any

import numba
from numba import njit

#: ZERMELO_BOUNDS=1 turns an index outside an array into an error: for tests.
BOUNDS = os.environ.get("ZERMELO_BOUNDS", "0") == "1"
_COMMON = {"nogil": True, "error_model": "numpy", "boundscheck": BOUNDS}
_BARE = _COMMON | {"_nrt": False}


def helper(function: Callable[..., Any], flags: dict[str, Any] = _COMMON) -> Any:
    """A function that only kernels call: copied into them, and without wrappers for Python.

    The wrappers would triple the time that the solver takes to compile.
    """
    return njit(forceinline=True, no_cpython_wrapper=True, no_cfunc_wrapper=True, **flags)(function)


def entry(
    kernel: Any,
    constants: Any,
    signature: str,
    flags: dict[str, Any] = _COMMON,
    *,
    frozen: bool,
) -> Callable[..., Any]:
    """What the module offers: constants → the kernel, called without the game.

    `kernel` is compiled for one signature and then closed, so that a call with other types is
    an error and not another compilation.
    """
    dispatcher = njit(cache=True, **flags)(kernel.py_func)
    types = numba.core.sigutils.normalize_signature(f"({signature},)")[0]

    def bind(values: tuple[Any, ...]) -> Any:
        if frozen:
            return _closed(dispatcher, types)
        game = constants(*values)
        return functools.partial(_closed(dispatcher, (numba.typeof(game), *types)), game)

    return bind


def _closed(dispatcher: Any, types: tuple[Any, ...]) -> Any:
    dispatcher.disable_compile(False)  # noqa: FBT003 - numba's own spelling
    dispatcher.compile(types)
    dispatcher.disable_compile()
    return dispatcher


# For kernels that make no arrays: not to count who uses those they are given saves a fifth.
bare_helper = functools.partial(helper, flags=_BARE)
bare_entry = functools.partial(entry, flags=_BARE)
