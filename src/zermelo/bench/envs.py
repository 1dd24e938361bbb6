"""Compare our environments with those of PettingZoo and pgx.

PettingZoo's environments are measured with and without their wrappers. All replay the same random
games, which are generated beforehand. One task calls `last()`, which builds the observation, and
`step()` for each move; the other calls only `step()`.

The tasks called `vector` play 1,024 games at a time, with observations, masks and new games. A step
is the agent's action and a random reply, or in self-play one ply. The agents' actions are recorded
beforehand: choosing them is not measured. PettingZoo has no vector form; its raw environments play
one game after another.
"""

import importlib
import random
import warnings
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from zermelo.bench import measure
from zermelo.bench.measure import ProgressFunction
from zermelo.envs import aec_env, gym_env, vector_env
from zermelo.games import registry

GAMES = {"tictactoe": "tictactoe.tictactoe", "connect4": "connect_four.connect_four"}
_PGX = {"tictactoe": "tic_tac_toe", "connect4": "connect_four"}
_NUM_GAMES = 200
_NUM_ENVS, _NUM_STEPS = 1024, 64  # of the tasks called `vector`
_VECTOR_TASKS = {"vector against random": "random", "vector self-play": None}
_GYM_OPPONENTS = ("random", "greedy", "minimax:depth=2")


def run(
    seconds: float, repeat: int, names: Sequence[str], progress: ProgressFunction
) -> dict[str, Any]:
    """Measure our environments, and those of PettingZoo and pgx if they are installed."""
    measure.pin_to_one_core()
    rows, notes = [], []
    has_pettingzoo = measure.is_installed("pettingzoo") and measure.is_installed("pygame")
    if not has_pettingzoo:
        notes.append("PettingZoo is not measured: it or pygame is not installed")
    has_pgx = measure.is_installed("pgx")
    if not has_pgx:
        notes.append("pgx is not measured: it is not installed")
    for name in names:
        for task, system, steps in _tasks(name, has_pettingzoo=has_pettingzoo, has_pgx=has_pgx):
            progress(f"{name}, {task} with {system}")
            rates = [measure.measure_rate(step, seconds, repeat) for step in steps]
            rows.append(measure.create_row(name, task, system, max(rates)))
    return measure.create_report("envs", rows, notes)


def _tasks(
    name: str, *, has_pettingzoo: bool, has_pgx: bool
) -> Iterator[tuple[str, str, list[measure.StepFunction]]]:
    """Yield every task and system, with one or more functions of which the fastest counts."""
    games = _random_games(name)
    for kind in ("wrapped", "raw"):
        for task, observe in ((f"{kind} last+step", True), (f"{kind} step", False)):
            yield task, "zermelo", [_replay(aec_env(name, raw=kind == "raw"), games, observe)]
            if has_pettingzoo:
                yield task, "pettingzoo", [_replay(_peer_env(name, kind), games, observe)]
    for task, opponent in _VECTOR_TASKS.items():
        yield task, "zermelo", [_vector_steps(name, opponent)]
        if has_pettingzoo:
            yield task, "pettingzoo", [_replay_seat(_peer_env(name, "raw"), games, opponent)]
        if has_pgx:
            yield task, "pgx", _pgx_steps(name, opponent)
    for opponent in _GYM_OPPONENTS:
        yield f"gymnasium against {opponent}", "zermelo", [_gym_steps(name, opponent)]


def _random_games(name: str) -> list[list[int]]:
    """Return random games, each as a list of its actions."""
    game, rng = registry.game(name), random.Random(1)
    games: list[list[int]] = []
    for _ in range(_NUM_GAMES):
        position = game.start()
        while actions := position.actions:
            position = position.play_action(rng.choice(actions))
        games.append(list(position.history or ()))
    return games


def _peer_env(name: str, kind: str) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        module = importlib.import_module(f"pettingzoo.classic.{GAMES[name]}")
    return module.env() if kind == "wrapped" else module.raw_env()


def _replay(env: Any, games: list[list[int]], observe: bool) -> measure.StepFunction:
    def steps(count: int) -> int:
        taken = 0
        for number in range(count):
            env.reset()
            actions = games[number % len(games)]
            if observe:
                for action in actions:
                    env.last()
                    env.step(action)
            else:
                for action in actions:
                    env.step(action)
            taken += len(actions)
        return taken

    return steps


def _replay_seat(env: Any, games: list[list[int]], opponent: str | None) -> measure.StepFunction:
    """Replay games as the first player sees them: it observes, acts, and the opponent replies."""
    plies = 1 if opponent is None else 2  # of a step

    def steps(count: int) -> int:
        taken = 0
        for number in range(count):
            env.reset()
            actions = games[number % len(games)]
            for ply, action in enumerate(actions):
                if ply % plies == 0:
                    env.last()
                    taken += 1
                env.step(action)
        return taken

    return steps


def _vector_steps(name: str, opponent: str | None) -> measure.StepFunction:
    envs = vector_env(name, _NUM_ENVS, opponent=opponent, autoreset="SameStep")
    rng = np.random.default_rng(1)
    _, info = envs.reset(seed=1)
    recorded = []
    for _ in range(_NUM_STEPS):
        masks = info["action_mask"]
        recorded.append((rng.random(masks.shape) * masks).argmax(1))
        info = envs.step(recorded[-1])[4]

    def steps(count: int) -> int:
        for _ in range(count):
            envs.reset(seed=1)
            for actions in recorded:
                envs.step(actions)
        return count * _NUM_STEPS * _NUM_ENVS

    return steps


def _gym_steps(name: str, opponent: str) -> measure.StepFunction:
    env, rng = gym_env(name, opponent=opponent), random.Random(1)

    def steps(count: int) -> int:
        taken = 0
        for number in range(count):
            _, info = env.reset(seed=number)
            ended = False
            while not ended:
                actions = info["action_mask"].nonzero()[0]
                action = actions[int(rng.random() * len(actions))]
                _, _, ended, _, info = env.step(action)
                taken += 1
        return taken

    return steps


def _pgx_steps(name: str, opponent: str | None) -> list[measure.StepFunction]:
    """Return functions that play batches with pgx: step by step, and many steps in one call."""
    jax, pgx = importlib.import_module("jax"), importlib.import_module("pgx")
    wrappers = importlib.import_module("pgx.experimental.wrappers")
    env = pgx.make(_PGX[name])

    def sample_action(mask: Any, key: Any) -> Any:
        # Faster than jax.random.categorical, which needs a random number for each action.
        chosen = jax.random.uniform(key) * mask.sum()
        return (mask.cumsum() > chosen).argmax()

    def play_step(state: Any, action: Any, key: Any) -> Any:
        state = env.step(state, action)
        if opponent is None:
            return state
        after = env.step(state, sample_action(state.legal_action_mask, key))
        return after.replace(rewards=state.rewards + after.rewards)

    step = jax.vmap(wrappers.auto_reset(play_step, env.init))
    batch_keys = jax.vmap(lambda key: jax.random.split(key, _NUM_ENVS))
    keys = batch_keys(jax.random.split(jax.random.PRNGKey(1), _NUM_STEPS))
    start = jax.jit(jax.vmap(env.init))(keys[0])

    def record(state: Any, step_keys: Any) -> Any:
        actions = jax.vmap(sample_action)(state.legal_action_mask, step_keys)
        return step(state, actions, step_keys), actions

    recorded = jax.jit(lambda state: jax.lax.scan(record, state, keys)[1])(start)
    one_step = jax.jit(step)
    all_steps = jax.jit(
        lambda state: jax.lax.scan(lambda s, x: (step(s, *x), None), state, (recorded, keys))[0]
    )
    by_step = list(zip(recorded, keys, strict=True))

    def play_by_step(count: int) -> int:
        for _ in range(count):
            state = start
            for actions, step_keys in by_step:
                state = one_step(state, actions, step_keys)
        jax.block_until_ready(state)
        return count * _NUM_STEPS * _NUM_ENVS

    def play_at_once(count: int) -> int:
        for _ in range(count):
            state = all_steps(start)
        jax.block_until_ready(state)
        return count * _NUM_STEPS * _NUM_ENVS

    return [play_by_step, play_at_once]
