"""Actors: what a second one is worth, and how much of a training step the replay takes.

Play: the same orders, so the same games, by one actor and by two, with weights that do not change;
all are ready before the clock starts. Learning: updates of a training for which they play. Both by
the wall clock, since several processes work. The replay: CPU time of a training that plays for
itself.
"""

import math
import os
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from zermelo.bench import measure
from zermelo.core.game import WordGame
from zermelo.games import registry
from zermelo.games.lines.tactics import WordLineGame
from zermelo.learn.actors.processes import Pool
from zermelo.learn.actors.protocol import Arrays, Order
from zermelo.learn.config import recipes
from zermelo.learn.config.recipes import Recipe
from zermelo.learn.dqn.trainer import NET, Deep, learner_for
from zermelo.learn.hybrid.trainer import Value, network_for
from zermelo.learn.runs import training
from zermelo.learn.runs.run import Trainer

#: Who is measured, by so many updates: some ten seconds or more, where learning is not that fast.
RECIPES = {"squava-hybrid": 200, "tictactoe-dqn": 4000, "gomoku6-dueling": 300}
STORED = ("squava-hybrid", "tictactoe-dqn")  #: whose replay is measured
TIMES_ONE = 1.6  #: that two actors should be, at least
REPLAY_SHARE = 0.2  #: of a step that the replay should take, at most
_LEAST_CHUNKS = 8  # with fewer, one actor might wait for the other's last for long
_NEVER = 1 << 40  # updates: nothing begins anew on the way
_HALF_WAY = 0.5

Row = dict[str, Any]
Say = Callable[[str], None]


def rows(seconds: float, notes: list[str], progress: Say) -> list[Row]:
    """Play, about `seconds` of it by one actor; then learning; then the replay's share."""
    found = []
    for name in RECIPES:
        row = played(name, seconds, progress)
        found.append(row)
        holds = "holds" if row["times"] >= TIMES_ONE else "MISSED"
        notes.append(
            f"{name}: 2 actors play {row['times']:.2f} times as much as one on {os.cpu_count()} "
            f"cores (at least {TIMES_ONE}: {holds}; published, 4 threads: 2.8 to 3.2)"
        )
    found += [learned(name, updates, progress) for name, updates in RECIPES.items()]
    for name in STORED:
        row = stored(name, RECIPES[name], progress)
        found.append(row)
        holds = "holds" if row["rate"] <= 100 * REPLAY_SHARE else "MISSED"
        notes.append(
            f"{name}: storing and sampling take {row['rate']:.1f}% of a training step without the "
            f"games, {row['with_games']:.1f}% with them (at most {100 * REPLAY_SHARE:g}%: {holds})"
        )
    return found


def played(name: str, seconds: float, progress: Say) -> Row:
    """Transitions a second by two actors, beside one's."""
    recipe = recipes.load(name)
    weights = _weights(recipe)
    chunks, rates = 0, []
    for size in (1, 2):
        progress(f"{name}: play by {_crew(size)}")
        crew = Pool(recipe, size)
        try:
            _play(crew, weights, size)  # everybody loads and compiles
            if not chunks:
                spent, _ = _play(crew, weights, 1)
                chunks = max(_LEAST_CHUNKS, 2 * math.ceil(seconds / spent / 2))
            spent, transitions = _play(crew, weights, chunks)
        finally:
            crew.close()
        rates.append(transitions / spent)
    one, two = rates
    return measure.row(
        recipe.game,
        f"{name}, play by 2 actors",
        "zermelo",
        two,
        "transitions/s",
        one=one,
        times=two / one,
        chunks=chunks,
    )


def _play(crew: Pool, weights: Arrays, chunks: int) -> tuple[float, int]:
    """(wall seconds, transitions) of so many chunks, the same ones each time."""
    begin = time.perf_counter()
    for number in range(chunks):
        crew.give(Order((0, number), _HALF_WAY), weights)
    transitions = sum(len(crew.take()["actions"]) for _ in range(chunks))
    return time.perf_counter() - begin, transitions


def _weights(recipe: Recipe) -> Arrays:
    """Of a network that has not learned, as actors take them."""
    game = registry.game(recipe.game)
    if recipe.kind == "value":
        assert isinstance(game, WordLineGame)
        return network_for(recipe, game).exported()
    assert isinstance(game, WordGame)
    state = learner_for(recipe, game, "cpu").net.state_dict()
    return {NET + name: tensor.detach().numpy() for name, tensor in state.items()}


def learned(name: str, updates: int, progress: Say) -> Row:
    """Updates a second with two actors that play for the learner, beside those with one."""
    recipe, warm, updates = _short(name, updates)
    spent = []
    for size in (1, 2):
        progress(f"{name}: {updates} updates with {_crew(size)}")
        trainer, begin = trainer_for(recipe, actors=size), 0.0
        try:
            for report in trainer.steps():
                if report.update == warm:
                    begin = time.perf_counter()
            spent.append(time.perf_counter() - begin)
        finally:
            trainer.close()
    one, two = spent
    return measure.row(
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


def stored(name: str, updates: int, progress: Say) -> Row:
    """The percentage of a training step that goes into storing and sampling transitions."""
    recipe, warm, updates = _short(name, updates)
    progress(f"{name}: {updates} updates, and the replay's share")
    trainer = trainer_for(recipe)
    assert isinstance(trainer, Value | Deep)
    storing = _Watch(trainer.replay, "add", "draw")
    games = trainer.harvest if isinstance(trainer, Value) else trainer.acting
    playing = _Watch(games, "next" if isinstance(trainer, Value) else "step")
    begin = 0.0
    for report in trainer.steps():
        if report.update == warm:
            storing.seconds = playing.seconds = 0.0
            begin = time.process_time()
    whole = time.process_time() - begin
    return measure.row(
        recipe.game,
        f"{name}, storing and sampling",
        "zermelo",
        100 * storing.seconds / (whole - playing.seconds),
        "% of a step without games",
        with_games=100 * storing.seconds / whole,
        ms=1000 * storing.seconds / updates,
        updates=updates,
    )


class _Watch:
    """The CPU seconds that some methods of a thing take, from now on."""

    def __init__(self, thing: Any, *methods: str) -> None:
        self.seconds = 0.0
        for name in methods:
            vars(thing)[name] = self._timed(getattr(thing, name))

    def _timed(self, method: Callable[..., Any]) -> Callable[..., Any]:
        def timed(*given: Any) -> Any:
            begin = time.process_time()
            found = method(*given)
            self.seconds += time.process_time() - begin
            return found

        return timed


def _short(name: str, updates: int) -> tuple[Recipe, int, int]:
    """(a recipe in small, its updates that only warm up, those that count after them).

    Where a chunk of games comes before some updates, whole chunks count.
    """
    recipe = recipes.load(name)
    burst = recipe.acting.games // recipe.searching.games if recipe.kind == "value" else 1
    warm, updates = (burst * math.ceil(n / burst) for n in (updates / 10, updates))
    learning = replace(recipe.learning, updates=warm + updates)
    keeping = replace(recipe.keeping, checkpoint=_NEVER, grade=_NEVER)
    return replace(recipe, learning=learning, keeping=keeping), warm, updates


def trainer_for(recipe: Recipe, *, seed: int = 0, actors: int = 0) -> Trainer:
    """Who learns by a recipe, for measuring: nothing of the run is kept."""
    with tempfile.TemporaryDirectory() as folder:
        return training.prepare(recipe, folder, seed=seed, actors=actors)[1]


def _crew(size: int) -> str:
    return f"{size} actor{'s' * (size > 1)}"
