"""Precompilation: compile the common kernels ahead of time, to avoid delays on first use.

Each preset game has compiled kernels of its own; all other board sizes in a family of games share
one set of kernels.
"""

import importlib
import threading
import time
from collections.abc import Sequence

from zermelo.core.game import Game, SolverHooks, WordGame
from zermelo.games import registry
from zermelo.kernels import compiler
from zermelo.kernels.compiler_pool import LATER, SOON, Compilation, CompilerPool
from zermelo.kernels.registry import list_common_kernels
from zermelo.learn.models import files as model_files
from zermelo.players.registry import load_player
from zermelo.search.limits import ProgressCallback

# The modules that define common kernels. The kernels of the first modules are compiled first.
_MODULES = (
    "zermelo.search.negamax.kernel",
    "zermelo.search.large.alphabeta_kernel",
    "zermelo.search.large.threat_kernel",
    "zermelo.search.mcts.kernel",
    "zermelo.search.playouts",
    "zermelo.search.count",
)
# One game for each group of board sizes that share compiled kernels.
_OTHER_SIZES = ("gomoku", "mnk:4x4x4", "reversi:6", "gomoku:renju=true")
_INTERVAL = 0.2  # seconds between two progress reports


def compile_all(progress: ProgressCallback, games: Sequence[str] = ()) -> int:
    """Compile the kernels for these games, or for all built-in games; return the number of kernels.

    All cores are used: the kernels are compiled in a pool of processes.
    """
    specs = tuple(games) or registry.PRESETS + _OTHER_SIZES
    rules = [registry.game(spec) for spec in specs]  # raises BadSpec before any process is started
    pool = CompilerPool()
    compiler.use_pool(pool)
    try:
        threads = [
            threading.Thread(target=_play_one_move, args=(model.player, game), daemon=True)
            for model in model_files.shipped_models()
            for game in rules
            if model.game == game.spec
        ]
        for thread in threads:
            thread.start()
        for game in rules:
            submit_kernels(pool, game, LATER)
        share = 0.0
        while share < 1 or any(thread.is_alive() for thread in threads):
            time.sleep(_INTERVAL)
            compilations = pool.compilations()
            num_done = sum(c.done.done() for c in compilations)
            share = elapsed_share(compilations)
            progress(f"{num_done} of {len(compilations)} kernels", share)
        return len(pool.compilations())
    finally:
        compiler.use_pool(None)
        pool.close()


def submit_kernels(pool: CompilerPool, game: Game, priority: int = SOON) -> list[Compilation]:
    """Submit the common kernels for a game to a compiler pool; return the compilations."""
    for module in _MODULES:
        importlib.import_module(module)
    subjects: list[Game | SolverHooks] = [game]
    if isinstance(game, WordGame):
        subjects.append(game.hooks)
    kernels = [(kernel, rules) for rules in subjects for kernel in list_common_kernels(rules)]
    order = {module: number for number, module in enumerate(_MODULES)}
    kernels.sort(key=lambda pair: order.get(pair[0].__module__, len(order)))
    return [
        pool.submit(compiler.plan_compilation(kernel, rules), priority) for kernel, rules in kernels
    ]


def submit_all_kernels(pool: CompilerPool) -> None:
    """Submit the common kernels for all built-in games to a compiler pool, with low priority.

    The kernels are submitted game by game, in the order of `_MODULES`.
    """
    for spec in registry.PRESETS + _OTHER_SIZES:
        submit_kernels(pool, registry.game(spec), LATER)


def elapsed_share(compilations: Sequence[Compilation]) -> float:
    """Return the completed share of the expected compilation time, from 0 to 1."""
    total = sum(c.expected_seconds for c in compilations)
    return sum(c.expected_seconds * c.elapsed_share for c in compilations) / total if total else 1.0


def _play_one_move(player: str, game: Game) -> None:
    load_player(player).choose(game.start())
