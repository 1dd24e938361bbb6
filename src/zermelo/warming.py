"""Warming: compile every kernel for the presets, and once for all other sizes."""

import importlib
import os
from collections.abc import Callable

from zermelo.games import registry
from zermelo.kernels import compiled, registered

_MODULES = (
    "zermelo.search.count",
    "zermelo.search.playouts",
    "zermelo.search.kernel",
    "zermelo.search.boards",
    "zermelo.search.tree_kernel",
)
#: one game each for what others of its kind share
_OTHER_SIZES = ("gomoku:renju=true", "mnk:4x4x4", "gomoku", "reversi:6")


def warm(progress: Callable[[str], None]) -> int:
    """Compile, a game on each core; returns how many kernels are ready."""
    import multiprocessing
    from concurrent.futures import ProcessPoolExecutor, as_completed

    specs = _OTHER_SIZES + registry.PRESETS  # what takes long comes first
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    progress(f"{len(specs)} kinds of games")
    ready = 0
    # A process of its own for each core: numba compiles one kernel at a time.
    spawning = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(cores, mp_context=spawning) as pool:
        done = {pool.submit(warm_one, spec): spec for spec in specs}
        for number, job in enumerate(as_completed(done), 1):
            ready += job.result()
            progress(f"{done[job]} is ready, {number} of {len(specs)}")
    return ready


def warm_one(spec: str) -> int:
    """Compile for one game; returns how many kernels are ready."""
    for module in _MODULES:
        importlib.import_module(module)
    game = registry.game(spec)
    kernels = registered(game)
    for kernel in kernels:
        compiled(kernel, game)
    return len(kernels)
