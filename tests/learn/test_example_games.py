"""The games in examples/ are learned by DQN and AlphaZero; the learned players play."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

import zermelo as z
from support.learners import alphazero_recipe, dqn_recipe
from support.paths import ROOT
from zermelo.learn.runs import training_loop

NAMES = ("hex", "breakthrough", "dots_and_boxes", "nim")


def recipe_for(method: str, folder: Path) -> Any:
    if method == "alphazero":
        recipe = alphazero_recipe(folder)
        return replace(recipe, learning=replace(recipe.learning, updates=6))
    recipe = dqn_recipe(folder, updates=6)
    return replace(recipe, encoder="planes")


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("method", ["dqn", "alphazero"])
def test_examples_are_learned_played_and_graded(name: str, method: str, tmp_path: Path) -> None:
    torch.set_num_threads(1)  # as in every training
    path = str(ROOT / "examples" / f"{name}.py")
    recipe = recipe_for(method, tmp_path)
    run, trainer = training_loop.prepare_training(recipe, tmp_path / "run", game=path)
    training_loop.run_training(run, trainer, None)
    game, player = z.game(path), z.player(run.player)
    position = game.start()
    for _ in range(2):
        position = position.play(player.choose(position).move)
    if name == "nim":  # the others cannot be solved in a moment
        grade = z.grade(game, player)
        assert grade.total.positions > 100
        assert 0 < grade.total.mistakes < grade.total.positions  # after six updates
