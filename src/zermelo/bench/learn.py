"""Measure the speed of training and actors, and the time to learn unbeatable tic-tac-toe."""

import statistics
import time
from dataclasses import replace
from typing import Any

from zermelo.bench import actors, measure, unbeatable
from zermelo.bench.measure import ProgressFunction, Row
from zermelo.learn.config import recipes
from zermelo.learn.dqn.selfplay import SelfPlay
from zermelo.learn.dqn.trainer import DQNTrainer

RECIPES = ("tictactoe-dqn", "gomoku6-dueling")  #: recipes whose speed is measured
_UPDATES = 400  # measured updates, after a tenth as many for warm-up
_SECONDS = 5.0  # approximate duration of the play with one actor


def run(
    budget: float, seeds: int, progress: ProgressFunction, updates: int = _UPDATES
) -> dict[str, Any]:
    """Measure Zermelo and the installed libraries, with `budget` CPU seconds per training run."""
    # Actors are measured first because they need all cores; later, this process may use only one.
    rows = [actors.measure_play(name, _SECONDS, progress) for name in actors.RECIPES]
    measure.pin_to_one_core()
    for name in RECIPES:  # comes before other libraries: it limits torch to one thread
        progress(f"{name}: {updates} updates")
        rows += _measure_speed(name, updates, seeds)
    more_rows, notes = unbeatable.measure_unbeatable(budget, seeds, progress)
    return measure.create_report("learn", rows + more_rows, notes)


def _measure_speed(name: str, updates: int, seeds: int) -> list[Row]:
    """Measure how many updates and positions per second the whole training loop processes.

    The recipe's schedules are compressed into the measured updates, so that the share of random
    moves is realistic.
    """
    recipe = recipes.load(name)
    learning, games, warm_up = recipe.learning, recipe.acting.games, max(1, updates // 10)
    recipe = replace(recipe, learning=replace(learning, updates=warm_up + updates))
    rates = []
    for seed in range(seeds):
        trainer = actors.create_trainer(recipe, seed=seed)
        assert isinstance(trainer, DQNTrainer)
        self_play = trainer.source
        assert isinstance(self_play, SelfPlay)
        plies = begin = 0.0
        for report in trainer.steps():
            if report.update == warm_up:
                plies, begin = self_play.plies, time.process_time()
        elapsed = time.process_time() - begin
        rates.append((updates / elapsed, (self_play.plies - plies) * games / elapsed))
    medians = [statistics.median(column) for column in zip(*rates, strict=True)]
    return [
        measure.create_row(
            recipe.game, task, "zermelo", rate, f"{task}/s", batch=learning.batch, games=games
        )
        for task, rate in zip(("updates", "positions"), medians, strict=True)
    ]
