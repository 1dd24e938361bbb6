"""The compiler: turns a kernel into native code for a game, or runs it as plain Python."""

import functools
import threading
import typing

from zermelo.core.errors import KernelError
from zermelo.kernels import cache
from zermelo.kernels.generator import ModuleGenerator
from zermelo.kernels.registry import Kernel, Rules

_LOCK = threading.RLock()  # held while a kernel is generated, loaded or compiled
_compilations: set[threading.Event] = set()  # running ones that the main thread began


def compile_kernel(function: Kernel, rules: Rules) -> Kernel:
    """Return a kernel compiled for a game or its hooks; the result takes no game parameter.

    With the environment variable ZERMELO_JIT=0, the result runs the Python function itself. Raise
    KernelError if the rules do not compile.

    A compilation cannot be interrupted. After Ctrl-C the main thread gets its KeyboardInterrupt at
    once, and the compilation is completed in another thread.
    """
    if not cache.is_enabled():
        return functools.partial(function, rules)
    return _compile_once(function, rules)


def is_compiling() -> bool:
    """Return whether a compilation that the main thread began is still running."""
    return bool(_compilations)


@functools.lru_cache(maxsize=256)
def _compile_once(function: Kernel, rules: Rules) -> Kernel:
    if threading.current_thread() is not threading.main_thread():
        return _compile(function, rules)
    results: list[Kernel] = []
    errors: list[BaseException] = []
    done = threading.Event()

    def run() -> None:
        try:
            results.append(_compile(function, rules))
        except BaseException as error:  # noqa: BLE001 - raised again in the main thread
            errors.append(error)
        _compilations.discard(done)
        done.set()

    # Python handles Ctrl-C in the main thread, which must not be inside LLVM then, for that can
    # take many seconds. Nor must it be inside numba, some of whose objects do not survive that.
    _compilations.add(done)
    threading.Thread(target=run, name="zermelo-compiler").start()
    done.wait()  # not join(): that takes a thread for finished when it is interrupted
    if errors:
        raise errors[0]
    return results[0]


def _compile(function: Kernel, rules: Rules) -> Kernel:
    with _LOCK:
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
