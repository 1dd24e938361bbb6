"""Games that store boards by colour are solved correctly and never encoded with swapped sides."""

import importlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import zermelo as z
from support import layouts
from support.samples import WORDS
from zermelo.core.game import WordGame
from zermelo.envs import aec_env, gym_env
from zermelo.games.state_layout import is_mover_first
from zermelo.learn.batch.encoders import Encoder
from zermelo.learn.config import recipes


@pytest.fixture
def by_colour(tmp_path: Path) -> Any:
    return layouts.write_game(tmp_path, "by_colour", layouts.GRID)


@pytest.mark.parametrize("spec", WORDS)
def test_our_games_begin_with_the_stones_of_the_side_to_move(spec: str) -> None:
    game = z.game(spec)
    assert isinstance(game, WordGame)
    assert is_mover_first(game)


def test_a_game_stored_by_colour_is_solved_correctly(by_colour: Any) -> None:
    ours = z.game("tictactoe")
    for moves in ("", "b2 a1", "a1 b1 b2", "a1 b2 c3 b1"):
        mine = z.solve(by_colour.position(moves=moves))
        expected = z.solve(ours.position(moves=moves))
        assert (mine.value, mine.plies, mine.best) == (
            expected.value,
            expected.plies,
            expected.best,
        )


@pytest.mark.parametrize(
    ("module", "name", "recipe"),
    [
        ("zermelo.learn.dqn.trainer", "DQNTrainer", "tictactoe-dqn"),
        ("zermelo.learn.alphazero.trainer", "AlphaZeroTrainer", "tictactoe-alphazero"),
    ],
)
def test_training_refuses_a_game_stored_by_colour(
    by_colour: Any, module: str, name: str, recipe: str
) -> None:
    pytest.importorskip("torch", reason="torch is not installed: nothing can be trained")
    trainer = getattr(importlib.import_module(module), name)
    with pytest.raises(z.BadSpec, match="the first word of a state must hold the stones of the"):
        trainer(recipes.load(recipe), by_colour, seed=1)


def test_an_encoder_refuses_a_game_stored_by_colour(by_colour: Any) -> None:
    with pytest.raises(z.BadSpec, match="so play must swap them"):
        Encoder("planes", by_colour)


def test_environments_show_the_same_planes_for_either_layout(by_colour: Any) -> None:
    pytest.importorskip("pettingzoo", reason="PettingZoo is not installed: no environments")
    environments = aec_env("tictactoe"), aec_env(by_colour.spec)
    for env in environments:
        env.reset()
    for action in (4, 0, 8, 2):
        seen, expected = (env.last()[0] for env in reversed(environments))
        assert np.array_equal(seen["observation"], expected["observation"])
        assert np.array_equal(seen["action_mask"], expected["action_mask"])
        for env in environments:
            env.step(action)


def test_environments_do_not_swap_the_sides_of_a_game_stored_by_colour(by_colour: Any) -> None:
    pytest.importorskip("gymnasium", reason="gymnasium is not installed: no environments")
    with pytest.raises(z.BadSpec, match="whose sides cannot be swapped"):
        gym_env(by_colour.spec, planes=4)
    with pytest.raises(z.ZermeloError, match="cannot be swapped"):
        gym_env(by_colour.spec, shaping="threats")
