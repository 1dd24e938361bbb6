"""Recipes that train in seconds, and helpers to interrupt runs and to compare their weights."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import zermelo as z
from zermelo.games.lines.small import WordLineGame
from zermelo.learn.config import recipes
from zermelo.learn.config.recipe import Recipe
from zermelo.learn.models.files import FINAL
from zermelo.learn.networks import weights_file
from zermelo.learn.runs import training_loop

_SQUAVA = z.game("squava")
assert isinstance(_SQUAVA, WordLineGame)
GAME: WordLineGame = _SQUAVA
OURS, PUBLISHED = recipes.load("squava-hybrid"), recipes.load("squava-hybrid-published")


def shrink(recipe: Recipe, **changes: Any) -> Recipe:
    """Return the recipe with few updates and games, and the same network: nothing is recompiled."""
    learning = replace(recipe.learning, updates=12, batch=16, warm_up=16, **changes)
    keeping = replace(recipe.keeping, checkpoint=5, grade=6)
    acting = replace(recipe.acting, games=3)
    replay = replace(recipe.replay, size=2000)
    searching = replace(recipe.searching, depth=1)
    return replace(
        recipe,
        learning=learning,
        keeping=keeping,
        acting=acting,
        replay=replay,
        searching=searching,
    )


SMALL = """
game = "tictactoe"
network = { hidden = [12] }
acting = { games = 8 }
replay = { size = 3000 }
learning = { updates = 150, batch = 16, warm_up = 40 }
keeping = { checkpoint = 70, grade = 75 }
"""


def dqn_recipe(folder: Path, name: str = "small", **learning: Any) -> Recipe:
    path = folder / f"{name}.toml"
    path.write_text(SMALL)
    recipe = recipes.load(str(path))
    return replace(recipe, learning=replace(recipe.learning, **learning))


def hybrid_recipe() -> Recipe:
    return replace(shrink(OURS), name="tiny-hybrid")


TINY_ALPHAZERO = """
game = "tictactoe"
kind = "alphazero"
network = { kind = "tower", channels = [8, 8], hidden = [4, 8] }
selfplay = { games = 8, plies = 6, simulations = [4, 8], updates = 3, play_simulations = 16 }
replay = { size = 300 }
learning = { updates = 36, batch = 16, warm_up = 40 }
keeping = { checkpoint = 6, grade = 6 }
"""


def alphazero_recipe(folder: Path, *changes: tuple[str, str]) -> Recipe:
    path, text = folder / "tiny-zero.toml", TINY_ALPHAZERO
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    path.write_text(text)
    return recipes.load(str(path))


def have_same_weights(one: Path, other: Path) -> bool:
    """Return whether the final weights of two runs are equal bit for bit."""
    arrays, other_arrays = (weights_file.read(folder / FINAL)[0] for folder in (one, other))
    assert set(arrays) == set(other_arrays)
    return all((arrays[name] == other_arrays[name]).all() for name in arrays)


class Stop(Exception):
    """Ends a training in the middle."""


def train_until(recipe: str | Recipe, out: Path, update: int, **options: Any) -> None:
    """Train with seed 5 and stop after this update, without a final checkpoint."""

    def stop(progress: training_loop.TrainingProgress) -> None:
        if progress.report.update == update:
            raise Stop

    run, trainer = training_loop.prepare_training(recipe, out, seed=5, **options)
    with pytest.raises(Stop):
        training_loop.run_training(run, trainer, stop)
