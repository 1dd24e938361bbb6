"""Environments: ours beside PettingZoo's own, wrapped against wrapped and raw against raw.

The same games are replayed in all of them, drawn beforehand; a step is `last()`, which makes the
observation, and `step()`, or `step()` alone.
"""

import importlib
import random
import warnings
from collections.abc import Callable, Sequence
from typing import Any

from zermelo.bench import measure
from zermelo.envs import aec_env
from zermelo.games import registry

GAMES = {"tictactoe": "tictactoe.tictactoe", "connect4": "connect_four.connect_four"}
_NUM_GAMES = 200


def run(
    seconds: float, repeat: int, names: Sequence[str], progress: Callable[[str], None]
) -> dict[str, Any]:
    """Measure; PettingZoo's classic games need pygame, too."""
    measure.use_one_core()
    rows, notes = [], []
    theirs = measure.is_installed("pettingzoo") and measure.is_installed("pygame")
    if not theirs:
        notes.append("PettingZoo and pygame are not both installed: not measured")
    for name in names:
        lines = _lines(name)
        for kind in ("wrapped", "raw"):
            for task, looking in ((f"{kind} last+step", True), (f"{kind} step", False)):
                progress(f"{name}, {task}")
                makers = {"zermelo": lambda: aec_env(name, raw=kind == "raw")}  # noqa: B023
                if theirs:
                    makers["pettingzoo"] = _peer(name, kind)
                for system, make in makers.items():
                    steps = _replay(make(), lines, looking=looking)
                    rows.append(
                        measure.row(name, task, system, measure.rate(steps, seconds, repeat))
                    )
    return measure.report("envs", rows, notes)


def _lines(name: str) -> list[list[int]]:
    game, rng = registry.game(name), random.Random(1)
    lines: list[list[int]] = []
    for _ in range(_NUM_GAMES):
        position = game.start()
        while actions := position.actions:
            position = position.play_action(rng.choice(actions))
        lines.append(list(position.history or ()))
    return lines


def _peer(name: str, kind: str) -> Callable[[], Any]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        module = importlib.import_module(f"pettingzoo.classic.{GAMES[name]}")
    maker: Callable[[], Any] = module.env if kind == "wrapped" else module.raw_env
    return maker


def _replay(env: Any, lines: list[list[int]], *, looking: bool) -> measure.Steps:
    def steps(count: int) -> int:
        taken = 0
        for number in range(count):
            env.reset()
            line = lines[number % len(lines)]
            if looking:
                for action in line:
                    env.last()
                    env.step(action)
            else:
                for action in line:
                    env.step(action)
            taken += len(line)
        return taken

    return steps
