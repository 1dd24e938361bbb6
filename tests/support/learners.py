"""What the tests of learning share: recipes that take seconds, and how to compare what came."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import zermelo as z
from zermelo.games.lines.small import WordLineGame
from zermelo.learn.config import recipes
from zermelo.learn.config.recipe import Recipe
from zermelo.learn.models.model import FINAL
from zermelo.learn.networks import weights_file
from zermelo.learn.runs import training

_SQUAVA = z.game("squava")
assert isinstance(_SQUAVA, WordLineGame)
GAME: WordLineGame = _SQUAVA
OURS, PUBLISHED = recipes.load("squava-hybrid"), recipes.load("squava-hybrid-published")


def tiny(recipe: Recipe, **changes: Any) -> Recipe:
    """The same network, so that nothing is compiled anew, but a minute's worth of nothing."""
    learning = replace(recipe.learning, updates=12, batch=16, warm_up=16, **changes)
    keeping = replace(recipe.keeping, checkpoint=5, grade=6)
    acting = replace(recipe.acting, games=3)
    small = replace(recipe.replay, size=2000)
    searching = replace(recipe.searching, depth=1)
    return replace(
        recipe, learning=learning, keeping=keeping, acting=acting, replay=small, searching=searching
    )


SMALL = """
game = "tictactoe"
network = { hidden = [12] }
acting = { games = 8 }
replay = { size = 3000 }
learning = { updates = 150, batch = 16, warm_up = 40 }
keeping = { checkpoint = 70, grade = 75 }
"""


def dqn(folder: Path, name: str = "small", **learning: Any) -> Recipe:
    path = folder / f"{name}.toml"
    path.write_text(SMALL)
    found = recipes.load(str(path))
    return replace(found, learning=replace(found.learning, **learning))


def hybrid() -> Recipe:
    return replace(tiny(OURS), name="tiny-hybrid")


ZERO = """
game = "tictactoe"
kind = "alphazero"
network = { kind = "tower", channels = [8, 8], hidden = [4, 8] }
selfplay = { games = 8, plies = 6, simulations = [4, 8], updates = 3, play_simulations = 16 }
replay = { size = 300 }
learning = { updates = 36, batch = 16, warm_up = 40 }
keeping = { checkpoint = 6, grade = 6 }
"""


def alphazero(folder: Path, *changes: tuple[str, str]) -> Recipe:
    path, text = folder / "tiny-zero.toml", ZERO
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    path.write_text(text)
    return recipes.load(str(path))


def arrays(folder: Path) -> dict[str, Any]:
    return weights_file.read(folder / FINAL)[0]


def same(one: Path, other: Path) -> bool:
    mine, its = arrays(one), arrays(other)
    assert set(mine) == set(its)
    return all((mine[name] == its[name]).all() for name in mine)


class Stop(Exception):
    """Whatever ends a process in the middle of a run."""


def interrupted(recipe: str | Recipe, out: Path, after: int, **asked: Any) -> None:
    """A run that ends after so many updates, wherever its last checkpoint is."""

    def stop(now: training.TrainingProgress) -> None:
        if now.report.update == after:
            raise Stop

    run, trainer = training.prepare_training(recipe, out, seed=5, **asked)
    with pytest.raises(Stop):
        training.run_training(run, trainer, stop)
