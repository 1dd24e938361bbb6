"""Warming: compile every kernel for the presets, and once for all other sizes."""

import importlib
from collections.abc import Callable

from zermelo.games import registry
from zermelo.kernels import compiled, registered

_MODULES = (
    "zermelo.search.count",
    "zermelo.search.playouts",
    "zermelo.search.kernel",
    "zermelo.search.boards",
)
#: one game each for what others of its kind share
_OTHER_SIZES = ("mnk:4x4x4", "reversi:6", "gomoku", "gomoku:renju=true")


def warm(progress: Callable[[str], None]) -> int:
    """Compile; returns how many kernels are ready."""
    for module in _MODULES:
        importlib.import_module(module)
    ready = 0
    for spec in registry.PRESETS + _OTHER_SIZES:
        game = registry.game(spec)
        for kernel in registered(game):
            progress(f"{kernel.__name__} for {spec}")
            compiled(kernel, game)
            ready += 1
    return ready
