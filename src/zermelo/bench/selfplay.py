"""Measure the simulations per second of our AlphaZero search, and of mctx's search with pgx.

On a GPU, the networks are a residual tower of 4x64 and nine fully connected layers of 512, in half
precision. The search uses Gumbel selection at the root and one evaluation per simulation, in
Connect Four positions after a few random plies. The network alone is also measured, on batches of
the same size: its rate is an upper bound on the rate of the search. Wall-clock time is measured,
after all compilation.

On a CPU, the search kernels are measured with a zero-cost network and with the tower of a recipe;
then self-play is measured. The times are CPU time on one core.
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
NETWORKS = {
    "a tower of 4x64": NetworkConfig(TOWER, (32, 64), (64,) * 4),
    "9 fully connected layers of 512": NetworkConfig(DENSE, (512,) * 9),
}
GAME = "connect4"
BATCHES = (1_024, 8_192, 32_768)
RECIPES = ("tictactoe-alphazero", "gomoku6-alphazero")
_NUM_GAMES = 256  # number of games that are searched together on a CPU
_SECONDS = 2.0  # approximate duration of a measurement
# Simulations/s of alpha-zero-general on another CPU: Connect Four, zero-cost network, one core.
_ALPHA_ZERO_GENERAL = 3_400.0


def run(
    device: str, batches: Sequence[int], repeat: int, progress: Callable[[str], None]
) -> dict[str, Any]:
    """Measure searches on the device, and return a report."""
    if device == "cuda":
        if not throughput.gpu_name():
            msg = "torch finds no CUDA device: omit --device, or use --device cpu"
            raise BadSpec(msg)
        rows, notes = _measure_gpu(batches, repeat, progress)
    else:
        measure.pin_to_one_core()
        rows, notes = _measure_cpu(repeat, progress)
    return measure.create_report("selfplay", rows, notes)


Rows = tuple[list[dict[str, Any]], list[str]]


def _measure_gpu(batches: Sequence[int], repeat: int, progress: Callable[[str], None]) -> Rows:
    rows, notes = [], [throughput.gpu_name()]
    has_peer = all(map(measure.is_installed, ("jax", "pgx", "mctx")))
    if not has_peer:
        notes.append("pgx + mctx is not measured: jax, pgx or mctx is not installed")
    for batch, (name, config) in itertools.product(batches, NETWORKS.items()):
        task = f"{SIMULATIONS} simulations, {batch:,} games, {name}"
        progress(f"{task}: zermelo")
        evaluations, searches = throughput.measure_tensor_search(
            _word_game(GAME), config, batch, SIMULATIONS, repeat, "cuda"
        )
        rows.append(measure.create_row(GAME, task, "zermelo", searches, "simulations/s"))
        row = measure.create_row(GAME, task, "the network alone", evaluations, "simulations/s")
        rows.append(row)
        if has_peer:
            from zermelo.bench import pgx_mctx

            progress(f"{task}: pgx and mctx")
            value = pgx_mctx.measure_rate(batch, SIMULATIONS, config, repeat)
            rows.append(measure.create_row(GAME, task, "pgx + mctx", value, "simulations/s"))
    return rows, notes


def _measure_cpu(repeat: int, progress: Callable[[str], None]) -> Rows:
    rows = []
    free = f"{SIMULATIONS} simulations, a free network"
    game = _word_game(GAME)
    progress(f"{GAME}: a free network")
    searches = throughput.prepare_kernel_searches(game, None, _NUM_GAMES, SIMULATIONS)
    value = measure.measure_rate(searches, _SECONDS, repeat)
    rows.append(measure.create_row(GAME, free, "zermelo", value, "simulations/s"))
    rows.append(
        measure.create_row(GAME, free, "alpha-zero-general", _ALPHA_ZERO_GENERAL, "simulations/s")
    )
    for name in RECIPES:
        recipe = recipes.load(name)
        game = _word_game(recipe.game)
        tower = f"a tower of {len(recipe.network.channels)}x{recipe.network.channels[0]}"
        progress(f"{game.spec}: {tower}")
        searches = throughput.prepare_kernel_searches(game, recipe, _NUM_GAMES, SIMULATIONS)
        value = measure.measure_rate(searches, _SECONDS, repeat)
        task = f"{SIMULATIONS} simulations, {tower}"
        rows.append(measure.create_row(game.spec, task, "zermelo", value, "simulations/s"))
        progress(f"{game.spec}: self-play")
        rollouts = throughput.prepare_rollouts(game, recipe)
        value = measure.measure_rate(rollouts, _SECONDS, repeat)
        task = f"self-play, {tower}"
        rows.append(measure.create_row(game.spec, task, "zermelo", value, "positions/s"))
    return rows, ["alpha-zero-general: measured on another CPU"]


def _word_game(spec: str) -> WordGame:
    game = registry.game(spec)
    assert isinstance(game, WordGame)
    return game
