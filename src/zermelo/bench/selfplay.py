"""AlphaZero's search: simulations a second, beside pgx with mctx and beside the bare network.

On a GPU: a residual tower of 4x64, and nine full layers of 512, in half precision, Gumbel at the
root, every simulation one evaluation, on Connect Four after some random plies. The bare network on
batches of the same size is the ceiling. Wall time, after everything was compiled.

On a processor: the kernels with a network that costs nothing, and with the tower of a recipe; then
self-play. One core, CPU time.
"""

import itertools
from collections.abc import Callable, Sequence
from typing import Any

from zermelo.bench import measure
from zermelo.core.errors import BadSpec
from zermelo.core.game import WordGame
from zermelo.games import registry
from zermelo.learn.alphazero import throughput
from zermelo.learn.config import recipes
from zermelo.learn.config.network import DENSE, TOWER, NetworkConfig

SIMULATIONS = 32
SHAPES = {
    "a tower of 4x64": NetworkConfig(TOWER, (32, 64), (64,) * 4),
    "9 full layers of 512": NetworkConfig(DENSE, (512,) * 9),
}
GAME = "connect4"
BATCHES = (1_024, 8_192, 32_768)
RECIPES = ("tictactoe-alphazero", "gomoku6-alphazero")
_ROWS = 256  # games at once on a processor
_SECONDS = 2.0  # of a measurement
_ELSEWHERE = 3_400.0  # simulations/s of alpha-zero-general: Connect Four, free network, one core


def run(
    device: str, batches: Sequence[int], repeat: int, progress: Callable[[str], None]
) -> dict[str, Any]:
    """Measure here."""
    if device == "cuda":
        if not throughput.device_name():
            msg = "there is no CUDA device here that torch can use: leave --device out, or say cpu"
            raise BadSpec(msg)
        rows, notes = _on_gpu(batches, repeat, progress)
    else:
        measure.use_one_core()
        rows, notes = _on_cpu(repeat, progress)
    return measure.report("selfplay", rows, notes)


Rows = tuple[list[dict[str, Any]], list[str]]


def _on_gpu(batches: Sequence[int], repeat: int, progress: Callable[[str], None]) -> Rows:
    rows, notes = [], [throughput.device_name()]
    has_peer = all(map(measure.is_installed, ("jax", "pgx", "mctx")))
    if not has_peer:
        notes.append("jax, pgx or mctx is not installed: not measured")
    for batch, (name, shape) in itertools.product(batches, SHAPES.items()):
        task = f"{SIMULATIONS} simulations, {batch:,} games, {name}"
        progress(f"{task}: zermelo")
        bare, searched = throughput.on_device(
            _word_game(GAME), shape, batch, SIMULATIONS, repeat, "cuda"
        )
        rows.append(measure.row(GAME, task, "zermelo", searched, "simulations/s"))
        rows.append(measure.row(GAME, task, "the bare network", bare, "simulations/s"))
        if has_peer:
            from zermelo.bench import pgx_mctx

            progress(f"{task}: pgx and mctx")
            value = pgx_mctx.rate(batch, SIMULATIONS, shape, repeat)
            rows.append(measure.row(GAME, task, "pgx + mctx", value, "simulations/s"))
    return rows, notes


def _on_cpu(repeat: int, progress: Callable[[str], None]) -> Rows:
    rows = []
    free = f"{SIMULATIONS} simulations, a free network"
    game = _word_game(GAME)
    progress(f"{GAME}: a free network")
    steps = throughput.searches(game, None, _ROWS, SIMULATIONS)
    value = measure.rate(steps, _SECONDS, repeat)
    rows.append(measure.row(GAME, free, "zermelo", value, "simulations/s"))
    rows.append(measure.row(GAME, free, "alpha-zero-general", _ELSEWHERE, "simulations/s"))
    for name in RECIPES:
        recipe = recipes.load(name)
        game = _word_game(recipe.game)
        tower = f"a tower of {len(recipe.network.channels)}x{recipe.network.channels[0]}"
        progress(f"{game.spec}: {tower}")
        steps = throughput.searches(game, recipe, _ROWS, SIMULATIONS)
        value = measure.rate(steps, _SECONDS, repeat)
        task = f"{SIMULATIONS} simulations, {tower}"
        rows.append(measure.row(game.spec, task, "zermelo", value, "simulations/s"))
        progress(f"{game.spec}: self-play")
        value = measure.rate(throughput.chunks(game, recipe), _SECONDS, repeat)
        task = f"self-play, {tower}"
        rows.append(measure.row(game.spec, task, "zermelo", value, "positions/s"))
    return rows, ["alpha-zero-general: as measured elsewhere, on another processor"]


def _word_game(spec: str) -> WordGame:
    game = registry.game(spec)
    assert isinstance(game, WordGame)
    return game
