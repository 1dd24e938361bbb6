"""Precompilation: compile the common kernels ahead of time, to avoid delays on first use.

Each preset game has a compilation of its own; all other sizes of a family of games share one.
"""

import contextlib
import importlib
import os
import selectors
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence

from zermelo.core.game import Game, SolverHooks, WordGame
from zermelo.games import registry
from zermelo.kernels import compile_kernel, list_common_kernels
from zermelo.learn.models import files as model_files
from zermelo.players.registry import load_player

# The modules that define common kernels.
_MODULES = (
    "zermelo.search.count",
    "zermelo.search.playouts",
    "zermelo.search.negamax.kernel",
    "zermelo.search.large.alphabeta_kernel",
    "zermelo.search.large.threat_kernel",
    "zermelo.search.mcts.kernel",
)
# One game for each group of sizes that share a compilation; the slowest first.
_OTHER_SIZES = ("gomoku:renju=true", "mnk:4x4x4", "gomoku", "reversi:6")


def compile_all(progress: Callable[[str], None], games: Sequence[str] = ()) -> int:
    """Compile the kernels for these games or all built-in games; return the number of kernels.

    There is one worker process for each core, since numba compiles one kernel at a time. A worker
    compiles one game after the other, and ends after its current game if this process dies.
    """
    for game in games:
        registry.game(game)  # raises BadSpec before any process is started
    specs = tuple(games) or _OTHER_SIZES + registry.PRESETS
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    progress(f"{len(specs)} kinds of games")
    waiting, num_kernels = list(specs), 0
    with contextlib.ExitStack() as stack:
        workers = [stack.enter_context(_start_worker()) for _ in range(min(cores or 1, len(specs)))]
        for worker in workers:
            _send_next(worker, waiting)
        for number, (worker, line) in enumerate(_read_lines(workers), 1):
            _send_next(worker, waiting)
            spec, _, kernels = line.rpartition(" ")
            num_kernels += int(kernels)
            progress(f"{spec} is ready, {number} of {len(specs)}")
    for worker in workers:
        if worker.returncode:
            raise subprocess.CalledProcessError(worker.returncode, worker.args)
    return num_kernels


def _start_worker() -> subprocess.Popen[bytes]:
    return subprocess.Popen(  # noqa: S603 - this module
        [sys.executable, "-m", __name__],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        bufsize=0,
    )


def _send_next(worker: subprocess.Popen[bytes], waiting: list[str]) -> None:
    """Send the next waiting game to a worker; close the worker's input if none is waiting."""
    assert worker.stdin is not None
    if waiting:
        with contextlib.suppress(BrokenPipeError):  # the exit code of the worker shows the failure
            worker.stdin.write(f"{waiting.pop(0)}\n".encode())
    else:
        worker.stdin.close()


def _read_lines(
    workers: list[subprocess.Popen[bytes]],
) -> Iterator[tuple[subprocess.Popen[bytes], str]]:
    """Yield each worker with every line that it prints, until all workers have ended."""
    with selectors.DefaultSelector() as selector:
        for worker in workers:
            assert worker.stdout is not None
            selector.register(worker.stdout, selectors.EVENT_READ, worker)
        while selector.get_map():
            for key, _events in selector.select():
                line = key.data.stdout.readline()
                if line:
                    yield key.data, line.decode().strip()
                else:
                    selector.unregister(key.fileobj)


def compile_for(spec: str) -> int:
    """Compile the kernels for one game in this process; return their number."""
    for module in _MODULES:
        importlib.import_module(module)
    game = registry.game(spec)
    subjects: list[Game | SolverHooks] = [game]
    if isinstance(game, WordGame):
        subjects.append(game.hooks)
    kernels = [(kernel, rules) for rules in subjects for kernel in list_common_kernels(rules)]
    for kernel, rules in kernels:
        compile_kernel(kernel, rules)
    for model in model_files.shipped_models():
        if model.game == spec:
            load_player(model.player).choose(game.start())
    return len(kernels)


if __name__ == "__main__":
    for _line in sys.stdin:
        print(_line.strip(), compile_for(_line.strip()), flush=True)  # noqa: T201 - to `compile_all`
