"""Random play: steps per second of our kernel, of OpenSpiel's Python API and of pgx.

The task is the same for all: play uniformly random legal moves from the start to the end of a game,
on one core. Zermelo plays in a kernel; OpenSpiel's states are driven from Python, as is usual; pgx
plays batches. PettingZoo's environments are measured in `envs`.
"""

import importlib
import random
from collections.abc import Callable, Sequence
from typing import Any

from zermelo.bench import measure
from zermelo.bench.measure import ProgressFunction, Row
from zermelo.games import registry
from zermelo.search.playouts import run_playouts

GAMES = ("tictactoe", "connect4", "gomoku6", "gomoku", "reversi")
_OPEN_SPIEL = {
    "tictactoe": "tic_tac_toe",
    "connect4": "connect_four",
    "gomoku6": "gomoku(size=6,connect=4)",
    "gomoku": "gomoku(size=15,connect=5)",
    "reversi": "othello",
}
_PGX = {"tictactoe": "tic_tac_toe", "connect4": "connect_four", "reversi": "othello"}
_PGX_BATCHES = (1024, 4096, 16384)


def run(
    seconds: float, repeat: int, names: Sequence[str], progress: ProgressFunction
) -> dict[str, Any]:
    """Measure random play with Zermelo and with each other library that is installed."""
    measure.pin_to_one_core()
    rows: list[Row] = []
    notes = []
    for system, package, step_functions in _SYSTEMS:
        if package and not measure.is_installed(package):
            notes.append(f"{system} is not measured: it is not installed")
            continue
        for name in names:
            progress(f"{name} with {system}")
            rates = [measure.measure_rate(steps, seconds, repeat) for steps in step_functions(name)]
            if rates:
                rows.append(measure.create_row(name, "playouts", system, max(rates)))
    return measure.create_report("playouts", rows, notes)


def _zermelo_steps(name: str) -> list[measure.StepFunction]:
    game = registry.game(name)
    return [lambda count: run_playouts(game, 100 * count).moves]


def _open_spiel_steps(name: str) -> list[measure.StepFunction]:
    if name not in _OPEN_SPIEL:
        return []
    game = importlib.import_module("pyspiel").load_game(_OPEN_SPIEL[name])
    rng = random.Random(1)

    def steps(count: int) -> int:
        taken = 0
        for _ in range(count):
            state = game.new_initial_state()
            while not state.is_terminal():
                actions = state.legal_actions()
                state.apply_action(actions[int(rng.random() * len(actions))])
                taken += 1
        return taken

    return [steps]


def _pgx_steps(name: str) -> list[measure.StepFunction]:
    """Return a function for each batch size that plays steps with pgx; finished games restart."""
    if name not in _PGX:
        return []
    jax, pgx = importlib.import_module("jax"), importlib.import_module("pgx")
    env = pgx.make(_PGX[name])
    auto_reset_step = importlib.import_module("pgx.experimental.wrappers").auto_reset(
        env.step, env.init
    )
    num_steps = 64

    def step_batch(state: Any, key: Any) -> Any:
        action_key, step_key = jax.random.split(key)
        logits = jax.numpy.log(state.legal_action_mask.astype(jax.numpy.float32))
        action = jax.random.categorical(action_key, logits, axis=-1)
        keys = jax.random.split(step_key, len(action))
        return jax.vmap(auto_reset_step)(state, action, keys), None

    def play_steps(state: Any, key: Any) -> Any:
        return jax.lax.scan(step_batch, state, jax.random.split(key, num_steps))[0]

    def create_steps(batch: int) -> measure.StepFunction:
        start = jax.jit(jax.vmap(env.init))(jax.random.split(jax.random.PRNGKey(0), batch))
        play = jax.jit(play_steps)

        def steps(count: int) -> int:
            state = start
            for number in range(count):
                state = play(state, jax.random.PRNGKey(number))
            state.rewards.block_until_ready()
            return count * batch * num_steps

        return steps

    return [create_steps(batch) for batch in _PGX_BATCHES]


_SYSTEMS: tuple[tuple[str, str, Callable[[str], list[measure.StepFunction]]], ...] = (
    ("zermelo", "", _zermelo_steps),
    ("open_spiel", "open_spiel", _open_spiel_steps),
    ("pgx", "pgx", _pgx_steps),
)
