"""Warming: compile every kernel for the presets, and once for all other sizes."""

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

_MODULES = (
    "zermelo.search.count",
    "zermelo.search.playouts",
    "zermelo.search.negamax.kernel",
    "zermelo.search.large.alphabeta_kernel",
    "zermelo.search.large.threat_kernel",
    "zermelo.search.mcts.kernel",
)
#: one game each for what others of its kind share
_OTHER_SIZES = ("gomoku:renju=true", "mnk:4x4x4", "gomoku", "reversi:6")


def warm(progress: Callable[[str], None], games: Sequence[str] = ()) -> int:
    """Compile for these games or all kinds, a game on each core; returns how many kernels.

    A process of its own for each core, since numba compiles one kernel at a time. It is handed a
    game after the other, and ends with the one it is at when nobody is left to hand it more.
    """
    for game in games:
        registry.game(game)  # or an error that says what is wrong
    specs = tuple(games) or _OTHER_SIZES + registry.PRESETS  # what takes long comes first
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    cores = min(cores or 1, len(specs))
    progress(f"{len(specs)} kinds of games")
    with contextlib.ExitStack() as stack:
        working = [
            stack.enter_context(
                subprocess.Popen(  # noqa: S603 - this very module
                    [sys.executable, "-m", __name__],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    bufsize=0,
                )
            )
            for _ in range(cores)
        ]
        left = list(specs)
        for process in working:
            _hand(process, left)
        ready = 0
        for number, (process, line) in enumerate(_lines(working), 1):
            _hand(process, left)
            spec, _, kernels = line.rpartition(" ")
            ready += int(kernels)
            progress(f"{spec} is ready, {number} of {len(specs)}")
    for process in working:
        if process.returncode:
            raise subprocess.CalledProcessError(process.returncode, process.args)
    return ready


def _hand(process: subprocess.Popen[bytes], left: list[str]) -> None:
    """The next game, or that there is none."""
    assert process.stdin is not None
    if left:
        with contextlib.suppress(BrokenPipeError):  # its exit code will tell
            process.stdin.write(f"{left.pop(0)}\n".encode())
    else:
        process.stdin.close()


def _lines(
    working: list[subprocess.Popen[bytes]],
) -> Iterator[tuple[subprocess.Popen[bytes], str]]:
    """What they print, line by line, as it comes."""
    with selectors.DefaultSelector() as selector:
        for process in working:
            assert process.stdout is not None
            selector.register(process.stdout, selectors.EVENT_READ, process)
        while selector.get_map():
            for key, _events in selector.select():
                line = key.data.stdout.readline()
                if line:
                    yield key.data, line.decode().strip()
                else:
                    selector.unregister(key.fileobj)


def warm_one(spec: str) -> int:
    """Compile for one game; returns how many kernels are ready."""
    for module in _MODULES:
        importlib.import_module(module)
    game = registry.game(spec)
    subjects: list[Game | SolverHooks] = (
        [game, game.hooks] if isinstance(game, WordGame) else [game]
    )
    kernels = [(kernel, rules) for rules in subjects for kernel in list_common_kernels(rules)]
    for kernel, rules in kernels:
        compile_kernel(kernel, rules)
    for model in model_files.shipped_models():
        if model.game == spec:
            load_player(model.player).choose(game.start())
    return len(kernels)


if __name__ == "__main__":
    for _line in sys.stdin:
        print(_line.strip(), warm_one(_line.strip()), flush=True)  # noqa: T201 - to its starter
