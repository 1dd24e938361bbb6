"""Games that store boards by colour are solved correctly and never encoded with swapped sides."""

import importlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import zermelo as z
from support.samples import WORDS
from zermelo.core.game import WordGame
from zermelo.envs import aec_env, gym_env
from zermelo.games.state_layout import is_mover_first
from zermelo.learn.batch.encoders import Encoder
from zermelo.learn.config import recipes

# Three in a row on 3x3. A state is (X's stones, O's stones, player to move).
BY_COLOUR = """
from zermelo import Word, WordGame
from zermelo.core.bitboard import pick
from zermelo.core.notation import Grid

class ByColour(WordGame):
    grid = Grid(3, 3)
    num_actions = 9
    is_layered = True
    full: Word = 0o777
    none: Word = 0
    one: Word = 1
    line_masks: tuple[Word, ...] = (0o7, 0o70, 0o700, 0o111, 0o222, 0o444, 0o421, 0o124)

    def initial(self):
        return (0, 0, 0)

    def legal(self, state):
        return self.full ^ (state[0] | state[1])

    def play(self, state, action):
        first, second, player = state
        stone = self.one << action
        return (
            pick(player == 0, first | stone, first),
            pick(player == 0, second, second | stone),
            player ^ self.one,
        )

    def result(self, state):
        first, second, player = state
        last = pick(player == 0, second, first)
        won = False
        for line in self.line_masks:
            won = won | (last & line == line)
        over = won | (first | second == self.full)
        return over, -1 * won

    def to_text(self, state, action):
        return self.grid.text(action)

    def board(self, state):
        return tuple((state[0] >> i & 1) - (state[1] >> i & 1) for i in range(9))
"""


@pytest.fixture
def by_colour(tmp_path: Path) -> Any:
    path = tmp_path / "by_colour.py"
    path.write_text(BY_COLOUR)
    return z.game(str(path))


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
