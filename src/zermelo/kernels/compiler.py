"""The compiler: turns a kernel into native code for a game, or runs it as plain Python."""

import functools
import threading
import time
import typing

from zermelo.core.bitboard import WORD_BITS
from zermelo.core.errors import KernelError
from zermelo.kernels import cache
from zermelo.kernels.compiler_pool import SOON, Compilation, CompilerPool
from zermelo.kernels.error_messages import explain_error
from zermelo.kernels.observer import observe
from zermelo.kernels.registry import Kernel, Rules
from zermelo.kernels.source.generator import ModuleGenerator

_MAX_UNCOMPILED_CELLS = 9  # tic-tac-toe: plain Python solves it in 0.04 s
_LOCK = threading.RLock()  # held while a kernel is generated, loaded or compiled
_pool: CompilerPool | None = None


def use_pool(pool: CompilerPool | None) -> None:
    """Compile kernels in this pool from now on, or in this process if `pool` is None."""
    global _pool  # noqa: PLW0603 - one for the whole process, as are the kernels
    _pool = pool


def compile_kernel(function: Kernel, rules: Rules) -> Kernel:
    """Return a kernel compiled for a game or its hooks; the result takes no game parameter.

    With the environment variable ZERMELO_JIT=0, the result runs the Python function itself. Raise
    KernelError if the rules do not compile.
    """
    if not cache.is_enabled() or _runs_uncompiled(function, rules):
        return functools.partial(function, rules)
    return _compile_once(function, rules)


def _runs_uncompiled(function: Kernel, rules: Rules) -> bool:
    """Return whether to run a kernel as Python: for tiny games, until a pool has compiled it."""
    if _pool is None or getattr(rules, "cells", WORD_BITS) > _MAX_UNCOMPILED_CELLS:
        return False
    compilation = _pool.submit(plan_compilation(function, rules), SOON)
    return not compilation.done.done()


@functools.lru_cache(maxsize=256)
def _compile_once(function: Kernel, rules: Rules) -> Kernel:
    compilation = plan_compilation(function, rules)
    if cache.is_compiled(compilation.text):
        return _load(compilation, function, rules)
    if _pool is not None:
        _pool.submit(compilation).done.result()
        return _load(compilation, function, rules)
    with observe(compilation):
        compilation.begin = time.monotonic()
        return _load(compilation, function, rules)


def plan_compilation(function: Kernel, rules: Rules) -> Compilation:
    """Generate the module of a kernel and return it as a compilation that has not begun."""
    with _LOCK:
        text, constants = ModuleGenerator(function, rules).generate()
    return Compilation(text, constants, function.__name__, {rules.spec})


def _load(compilation: Compilation, function: Kernel, rules: Rules) -> Kernel:
    """Load machine code from the cache, or else compile it in this thread."""
    with _LOCK:
        module = cache.load(compilation.text)
        try:
            return typing.cast("Kernel", module.bind(compilation.constants))
        except Exception as error:
            if not type(error).__module__.startswith("numba."):
                raise
            raise KernelError(_explain(function, rules, str(error))) from error


def _explain(function: Kernel, rules: Rules, error: str) -> str:
    """Return numba's error in one line, with the line of the author's file that caused it."""
    generator = ModuleGenerator(function, rules)
    lines = generator.original_lines(generator.generate()[0])
    problem = f"the rules do not compile for {function.__name__}"
    return explain_error(error, lines, rules.spec, problem)


def generate_source(function: Kernel, rules: Rules) -> str:
    """Return the source of the module generated for a kernel, for inspection."""
    return ModuleGenerator(function, rules).generate()[0]
