"""The compiler: turns a kernel into native code for a game, or runs it as plain Python."""

import functools
import threading
import typing

from zermelo.core.errors import KernelError
from zermelo.kernels import cache
from zermelo.kernels.generator import ModuleGenerator
from zermelo.kernels.registry import Kernel, Rules

_LOCK = threading.RLock()


def compile_kernel(function: Kernel, rules: Rules) -> Kernel:
    """Return a kernel compiled for a game or its hooks; the result takes no game parameter.

    With the environment variable ZERMELO_JIT=0, the result runs the Python function itself. Raise
    KernelError if the rules do not compile.
    """
    if not cache.is_enabled():
        return functools.partial(function, rules)
    with _LOCK:
        return _compile_once(function, rules)


@functools.lru_cache(maxsize=256)
def _compile_once(function: Kernel, rules: Rules) -> Kernel:
    text, constants = ModuleGenerator(function, rules).generate()
    module = cache.load(text)
    try:
        return typing.cast("Kernel", module.bind(constants))
    except Exception as error:
        if not type(error).__module__.startswith("numba."):
            raise
        raise KernelError(_explain(function, rules, str(error))) from error


def _explain(function: Kernel, rules: Rules, error: str) -> str:
    """Return an error with only those lines of numba's message that help a game's author."""
    lines = [line.strip() for line in error.splitlines() if line.strip()]
    noise = ("Failed in", "During", "-", "There are")
    useful = [line for line in lines if not line.startswith(noise)]
    return (
        f"{rules.spec}: the rules do not compile for {function.__name__}: {' '.join(useful[:2])} "
        "(combining a word and a plain number gives no word: write self.one or word(1))"
    )


def generate_source(function: Kernel, rules: Rules) -> str:
    """Return the source of the module generated for a kernel, for inspection."""
    return ModuleGenerator(function, rules).generate()[0]
