"""Measure the speed-up from a second actor, and the share of a training step that replay takes.

- **Play**: one actor and then two play the same rollouts with fixed weights; all actors are ready
  before the clock starts.
- **Learning**: a training run makes updates while one actor, and then two, play its games.
- **Replay**: the CPU time of storing and sampling transitions in a training run without actors.

Play and learning are measured in wall-clock time, because they use several processes.
"""

import math
import os
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from zermelo.bench import measure
from zermelo.bench.measure import ProgressFunction, Row
from zermelo.core.game import WordGame
from zermelo.games import registry
from zermelo.games.lines.small import WordLineGame
from zermelo.learn.actors.processes import ProcessActorPool
from zermelo.learn.actors.protocol import RolloutRequest
from zermelo.learn.config import recipes
from zermelo.learn.config.recipe import Recipe
from zermelo.learn.dqn.trainer import DQNTrainer, initial_actor_weights
from zermelo.learn.hybrid.trainer import HybridTrainer, build_value_network
from zermelo.learn.networks.weights_file import Arrays
from zermelo.learn.runs import training_loop
from zermelo.learn.runs.rollouts import create_rollout_function
from zermelo.learn.runs.trainer_interface import Trainer

#: recipes and their numbers of measured updates; most of the measurements take ten seconds or more
RECIPES = {"squava-hybrid": 200, "tictactoe-dqn": 4000, "gomoku6-dueling": 300}
REPLAY_RECIPES = ("squava-hybrid", "tictactoe-dqn")  #: recipes whose replay is measured
MIN_SPEEDUP = 1.6  #: expected speed-up with two actors
MAX_REPLAY_SHARE = 0.2  #: expected maximum share of a training step that replay takes
_MIN_ROLLOUTS = 8  # with fewer rollouts, one actor might wait long for the other's last one
_NEVER = 1 << 40  # interval in updates: no checkpoint or grading during a measurement
_PROGRESS = 0.5  # rollouts are played as in the middle of a training run


def measure_actors(seconds: float, notes: list[str], progress: ProgressFunction) -> list[Row]:
    """Measure play, learning and replay; play by one actor is measured for about `seconds`."""
    rows = []
    for name in RECIPES:
        row = measure_play(name, seconds, progress)
        rows.append(row)
        verdict = "holds" if row["times"] >= MIN_SPEEDUP else "MISSED"
        notes.append(
            f"{name}: 2 actors play {row['times']:.2f} times as fast as one on {os.cpu_count()} "
            f"cores (target {MIN_SPEEDUP} or more: {verdict}; published for 4 threads: 2.8 to 3.2)"
        )
    rows += [measure_learning(name, updates, progress) for name, updates in RECIPES.items()]
    for name in REPLAY_RECIPES:
        row = measure_replay(name, RECIPES[name], progress)
        rows.append(row)
        verdict = "holds" if row["rate"] <= 100 * MAX_REPLAY_SHARE else "MISSED"
        notes.append(
            f"{name}: storing and sampling take {row['rate']:.1f}% of a training step without "
            f"self-play, {row['with_games']:.1f}% with self-play "
            f"(target {100 * MAX_REPLAY_SHARE:g}% or less: {verdict})"
        )
    return rows


def measure_play(name: str, seconds: float, progress: ProgressFunction) -> Row:
    """Measure the transitions per second of one actor and of two."""
    recipe = recipes.load(name)
    weights = _initial_weights(recipe)
    num_rollouts, rates = 0, []
    for size in (1, 2):
        progress(f"{name}: play by {_count_actors(size)}")
        pool = ProcessActorPool(create_rollout_function, recipe, size)
        try:
            _play(pool, weights, size)  # lets every actor load its modules and compile
            if not num_rollouts:
                elapsed, _ = _play(pool, weights, 1)
                num_rollouts = max(_MIN_ROLLOUTS, 2 * math.ceil(seconds / elapsed / 2))
            elapsed, transitions = _play(pool, weights, num_rollouts)
        finally:
            pool.close()
        rates.append(transitions / elapsed)
    one, two = rates
    return measure.create_row(
        recipe.game,
        f"{name}, play by 2 actors",
        "zermelo",
        two,
        "transitions/s",
        one=one,
        times=two / one,
        chunks=num_rollouts,
    )


def _play(pool: ProcessActorPool, weights: Arrays, num_rollouts: int) -> tuple[float, int]:
    """Play the first `num_rollouts` rollouts; return (wall-clock time, transitions)."""
    begin = time.perf_counter()
    for number in range(num_rollouts):
        pool.submit(RolloutRequest((0, number), _PROGRESS), weights)
    transitions = sum(len(pool.collect()["actions"]) for _ in range(num_rollouts))
    return time.perf_counter() - begin, transitions


def _initial_weights(recipe: Recipe) -> Arrays:
    """Return the weights of an untrained network, in the form that actors expect."""
    game = registry.game(recipe.game)
    if recipe.kind == "value":
        assert isinstance(game, WordLineGame)
        return build_value_network(recipe, game).export()
    assert isinstance(game, WordGame)
    return initial_actor_weights(recipe, game)


def measure_learning(name: str, updates: int, progress: ProgressFunction) -> Row:
    """Measure the updates per second of a training run with one actor and with two."""
    recipe, warm_up, updates = _shorten(name, updates)
    seconds = []
    for size in (1, 2):
        progress(f"{name}: {updates} updates with {_count_actors(size)}")
        trainer, begin = create_trainer(recipe, actors=size), 0.0
        try:
            for report in trainer.steps():
                if report.update == warm_up:
                    begin = time.perf_counter()
            seconds.append(time.perf_counter() - begin)
        finally:
            trainer.close()
    one, two = seconds
    return measure.create_row(
        recipe.game,
        f"{name}, learning with 2 actors",
        "zermelo",
        updates / two,
        "updates/s",
        one=updates / one,
        times=one / two,
        seconds=two,
        updates=updates,
    )


def measure_replay(name: str, updates: int, progress: ProgressFunction) -> Row:
    """Measure the percentage of a training step that storing and sampling transitions take."""
    recipe, warm_up, updates = _shorten(name, updates)
    progress(f"{name}: {updates} updates, and the share of the replay")
    trainer = create_trainer(recipe)
    assert isinstance(trainer, HybridTrainer | DQNTrainer)
    replay_time = _MethodTimer(trainer.replay, "add", "sample")
    play_time = (
        _MethodTimer(trainer.rollouts, "next")
        if isinstance(trainer, HybridTrainer)
        else _MethodTimer(trainer.source, "step")
    )
    begin = 0.0
    for report in trainer.steps():
        if report.update == warm_up:
            replay_time.seconds = play_time.seconds = 0.0
            begin = time.process_time()
    total = time.process_time() - begin
    return measure.create_row(
        recipe.game,
        f"{name}, storing and sampling",
        "zermelo",
        100 * replay_time.seconds / (total - play_time.seconds),
        "% of a step without games",
        with_games=100 * replay_time.seconds / total,
        ms=1000 * replay_time.seconds / updates,
        updates=updates,
    )


class _MethodTimer:
    """Adds up the CPU time that the given methods of an object take."""

    def __init__(self, owner: object, *methods: str) -> None:
        self.seconds = 0.0
        for name in methods:
            vars(owner)[name] = self._timed(getattr(owner, name))

    def _timed(self, method: Callable[..., Any]) -> Callable[..., Any]:
        def timed(*arguments: Any) -> Any:
            begin = time.process_time()
            result = method(*arguments)
            self.seconds += time.process_time() - begin
            return result

        return timed


def _shorten(name: str, updates: int) -> tuple[Recipe, int, int]:
    """Return (recipe with fewer updates, number of warm-up updates, number of measured updates).

    If several updates follow each rollout, both numbers are rounded up to whole rollouts.
    """
    recipe = recipes.load(name)
    burst = recipe.acting.games // recipe.searching.games if recipe.kind == "value" else 1
    warm_up, updates = (burst * math.ceil(n / burst) for n in (updates / 10, updates))
    learning = replace(recipe.learning, updates=warm_up + updates)
    keeping = replace(recipe.keeping, checkpoint=_NEVER, grade=_NEVER)
    return replace(recipe, learning=learning, keeping=keeping), warm_up, updates


def create_trainer(recipe: Recipe, *, seed: int = 0, actors: int = 0) -> Trainer:
    """Return a trainer to measure; its run folder is temporary and is deleted before returning."""
    with tempfile.TemporaryDirectory() as folder:
        return training_loop.prepare_training(recipe, folder, seed=seed, actors=actors)[1]


def _count_actors(number: int) -> str:
    return f"{number} actor{'s' * (number > 1)}"
