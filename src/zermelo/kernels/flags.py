"""Numba's flags for kernels, and the decorators that generated modules use to compile them."""

import functools
import os
from collections.abc import Callable
from typing import Any

import numba
from numba import njit

from zermelo.kernels.helper_pipeline import HelperCompiler, UnoptimisedHelperCompiler
from zermelo.kernels.interruptible import call_interruptibly
from zermelo.kernels.machine_code import MachineCodeCache

#: With ZERMELO_BOUNDS=1, an array index out of bounds raises an error in kernels; for tests.
BOUNDS = os.environ.get("ZERMELO_BOUNDS", "0") == "1"
_COMMON = {"nogil": True, "error_model": "numpy", "boundscheck": BOUNDS}
_BARE = _COMMON | {"_nrt": False}


def helper(
    function: Callable[..., Any],
    flags: dict[str, Any] = _COMMON,
    compiler: type[HelperCompiler] = HelperCompiler,
) -> Any:
    """Compile a function that only kernels call: inline it, without wrappers for Python callers.

    The wrappers would triple the compile time of the solver.
    """
    return njit(
        forceinline=True,
        no_cpython_wrapper=True,
        no_cfunc_wrapper=True,
        pipeline_class=compiler,
        **flags,
    )(function)


def entry(
    kernel: Any, constants: Any, signature: str, flags: dict[str, Any] = _COMMON
) -> Callable[..., Any]:
    """Return a function `bind(values)` that compiles a kernel and binds a game's constants to it.

    `constants` is the class of the tuple in which the kernel receives the constants, or None if
    they are globals of its module.

    The kernel is compiled for one signature only: a call with other types is an error and does not
    compile it again.
    """
    dispatcher = njit(**flags)(kernel.py_func)
    cache = MachineCodeCache(kernel.py_func)
    dispatcher._cache = cache  # noqa: SLF001 - as enable_caching() does
    types = numba.core.sigutils.normalize_signature(f"({signature},)")[0]

    def bind(values: tuple[Any, ...]) -> Any:
        if constants is None:
            return _compile_once(dispatcher, cache, types)
        game = constants(*values)
        compiled = _compile_once(dispatcher, cache, (numba.typeof(game), *types))
        return functools.partial(compiled, game)

    return bind


def _compile_once(dispatcher: Any, cache: MachineCodeCache, types: tuple[Any, ...]) -> Any:
    def compile_or_load() -> None:
        dispatcher.disable_compile(False)  # noqa: FBT003 - the API of numba
        dispatcher.compile(types)
        dispatcher.disable_compile()

    if cache.has(types, dispatcher.targetctx):
        compile_or_load()
    else:  # LLVM takes seconds, and Ctrl-C in the middle would leave numba in a broken state
        call_interruptibly(compile_or_load)
    return dispatcher


# For kernels that create no arrays: without reference counting they are a fifth faster.
bare_helper = functools.partial(helper, flags=_BARE, compiler=UnoptimisedHelperCompiler)
bare_entry = functools.partial(entry, flags=_BARE)
