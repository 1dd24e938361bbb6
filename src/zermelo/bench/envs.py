"""Compare our environments with PettingZoo's, both with and without their wrappers.

All environments replay the same random games, which are generated beforehand. One task calls
`last()`, which builds the observation, and `step()` for each move; the other calls only `step()`.
"""

import importlib
import random
import warnings
from collections.abc import Callable, Sequence
from typing import Any

from zermelo.bench import measure
from zermelo.bench.measure import ProgressFunction
from zermelo.envs import aec_env
from zermelo.games import registry

GAMES = {"tictactoe": "tictactoe.tictactoe", "connect4": "connect_four.connect_four"}
_NUM_GAMES = 200


def run(
    seconds: float, repeat: int, names: Sequence[str], progress: ProgressFunction
) -> dict[str, Any]:
    """Measure our environments, and PettingZoo's if its classic games and pygame are installed."""
    measure.pin_to_one_core()
    rows, notes = [], []
    has_peer = measure.is_installed("pettingzoo") and measure.is_installed("pygame")
    if not has_peer:
        notes.append("PettingZoo is not measured: it or pygame is not installed")
    for name in names:
        games = _random_games(name)
        for kind in ("wrapped", "raw"):
            for task, observe in ((f"{kind} last+step", True), (f"{kind} step", False)):
                progress(f"{name}, {task}")
                factories = {"zermelo": lambda: aec_env(name, raw=kind == "raw")}  # noqa: B023
                if has_peer:
                    factories["pettingzoo"] = _peer_factory(name, kind)
                for system, create in factories.items():
                    steps = _replay(create(), games, observe=observe)
                    rows.append(
                        measure.create_row(
                            name, task, system, measure.measure_rate(steps, seconds, repeat)
                        )
                    )
    return measure.create_report("envs", rows, notes)


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


def _peer_factory(name: str, kind: str) -> Callable[[], Any]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        module = importlib.import_module(f"pettingzoo.classic.{GAMES[name]}")
    factory: Callable[[], Any] = module.env if kind == "wrapped" else module.raw_env
    return factory


def _replay(env: Any, games: list[list[int]], *, observe: bool) -> measure.StepFunction:
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
