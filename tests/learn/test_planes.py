"""Planes: the boards that networks see, for games that declare them and for unequal sides."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import zermelo as z
from support.layouts import FLAT_PLANES, GRID, PLANES, SYMMETRIES, write_game
from support.learners import alphazero_recipe, dqn_recipe
from zermelo.games.state_layout import check_planes
from zermelo.learn.alphazero.search_cpu import KernelSearch
from zermelo.learn.alphazero.tensor_games import TensorGame
from zermelo.learn.batch.encoders import Encoder
from zermelo.learn.batch.game_batch import GameBatch
from zermelo.learn.batch.inspect import inspect, to_text
from zermelo.learn.batch.planes import plane_symmetries, planes_fingerprint
from zermelo.learn.config.network import NetworkConfig
from zermelo.learn.networks.numpy_inference import encode_planes
from zermelo.learn.networks.weights_file import BadWeights
from zermelo.learn.runs import training_loop
from zermelo.learn.runs.training_loop import create_trainer

UNEQUAL = "\n    has_equal_sides = False\n"


def train(recipe: Any, game: Any, seed: int = 3) -> dict[str, np.ndarray]:
    torch.set_num_threads(1)  # as in every training
    trainer = create_trainer(recipe, game, seed)
    assert [report.update for report in trainer.steps()][-1] == recipe.learning.updates
    return trainer.export()[0]


def are_equal(one: dict[str, np.ndarray], other: dict[str, np.ndarray]) -> bool:
    return set(one) == set(other) and all(np.array_equal(one[name], other[name]) for name in one)


def test_dqn_learns_the_same_from_either_layout(tmp_path: Path) -> None:
    by_colour = write_game(tmp_path, "by_colour", GRID, PLANES)
    recipe = dqn_recipe(tmp_path, updates=60, canonical=False)
    weights = train(recipe, by_colour)
    assert are_equal(weights, train(recipe, z.game("tictactoe")))
    assert not are_equal(weights, train(recipe, by_colour, seed=4))


def test_alphazero_learns_the_same_from_either_layout(tmp_path: Path) -> None:
    """Compared with a game of the same tactics: built-in games see wins without a search."""
    by_colour = write_game(tmp_path, "by_colour", GRID, PLANES, SYMMETRIES)
    by_mover = write_game(tmp_path, "by_mover", GRID, SYMMETRIES, by_colour=False)
    recipe = alphazero_recipe(tmp_path)
    weights = train(recipe, by_colour)
    assert are_equal(weights, train(recipe, by_mover))
    assert not are_equal(weights, train(recipe, by_mover, seed=4))


def sampled(game: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return random states, and their boards as signs for the side to move."""
    states = GameBatch(game).sample_states(40, 9, 1)
    signs = 1 - 2 * states[:, -1].astype(int)
    boards = [game.board(tuple(int(word) for word in state)) for state in states]
    return states, np.array(boards) * signs[:, None]


@pytest.mark.parametrize("parts", [(GRID, PLANES), (GRID, PLANES, UNEQUAL), (FLAT_PLANES, UNEQUAL)])
def test_every_back_end_writes_the_same_planes(tmp_path: Path, parts: tuple[str, ...]) -> None:
    game = write_game(tmp_path, "game", *parts)
    states, boards = sampled(game)
    expected = [boards == 1, boards == -1]
    if FLAT_PLANES in parts:
        expected.append(boards == 0)
    if UNEQUAL in parts:
        side = states[:, -1:].astype(np.float32)
        expected.append(np.repeat(side, 9, 1))
    shape = (len(expected), 1, 9) if FLAT_PLANES in parts else (len(expected), 3, 3)
    planes = np.stack(expected, 1).reshape(-1, *shape).astype(np.float32)
    encoder = Encoder("planes", game)
    assert encoder.shape == shape
    assert len(encoder.names) == encoder.size
    assert np.array_equal(encoder(states), planes)
    assert np.array_equal(encode_planes(game, states), planes)
    words = torch.from_numpy(states.view(np.int64))
    assert np.array_equal(TensorGame(game).planes(tuple(words.unbind(1))).numpy(), planes)


def test_planes_may_mix_words_and_numbers(tmp_path: Path) -> None:
    """A plain number beside a word makes a number of another type in compiled code."""
    mixed = PLANES.replace("first, second), pick", "first, second) & 511, pick")
    assert mixed != PLANES
    game = write_game(
        tmp_path, "mixed", GRID, mixed.replace("second, first)", "second, first) + 0")
    )
    states, boards = sampled(game)
    planes = Encoder("planes", game)(states).reshape(-1, 2, 9)
    assert np.array_equal(planes[:, 0] - planes[:, 1], boards)
    assert np.array_equal(Encoder("cells", game)(states), boards)


def test_cells_of_unequal_sides_end_with_the_side_to_move(tmp_path: Path) -> None:
    game = write_game(tmp_path, "game", GRID, PLANES, UNEQUAL)
    states, boards = sampled(game)
    encoded = Encoder("cells", game)(states)
    assert np.array_equal(encoded[:, :9], boards)
    assert np.array_equal(encoded[:, 9], states[:, -1])
    assert Encoder("cells", game).names[-2:] == ["c3", "second player to move"]


def test_the_side_to_move_reaches_alphazeros_search(tmp_path: Path) -> None:
    """Two states with the same boards, seen by either side, get different inputs in the kernel."""
    game = write_game(tmp_path, "game", GRID, UNEQUAL, by_colour=False)
    seen: list[np.ndarray] = []

    def network(planes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        seen.append(planes.copy())
        return np.zeros((len(planes), 9), np.float32), np.zeros(len(planes), np.float32)

    KernelSearch(game, network, 2, 4)(np.array([(1, 2, 0), (1, 2, 1)], np.uint64))
    first, second = seen[0]
    assert first.shape == (3, 3, 3)
    assert np.array_equal(first[:2], second[:2])
    assert (first[2].tolist(), second[2].tolist()) == ([[0] * 3] * 3, [[1] * 3] * 3)


def test_a_game_without_a_grid_needs_fully_connected_layers(tmp_path: Path) -> None:
    game = write_game(tmp_path, "flat", FLAT_PLANES)
    recipe = replace(dqn_recipe(tmp_path, updates=20), encoder="planes")
    assert train(recipe, game)["full0.weight"].shape == (12, 27)
    cnn = replace(recipe, network=NetworkConfig("cnn", (12,), (4,)))
    with pytest.raises(z.BadSpec, match=r"kind is 'cnn', but .* has no grid for conv.*: use 'mlp'"):
        create_trainer(cnn, game, 1)
    tower = alphazero_recipe(tmp_path)
    with pytest.raises(z.BadSpec, match=r"'tower', but .* has no grid for conv.*: use 'dense'"):
        create_trainer(tower, game, 1)
    dense = replace(tower, network=NetworkConfig("dense", (8, 8, 8)))
    assert train(dense, game)["full0.weight"].shape == (8, 27)
    with pytest.raises(z.BadSpec, match=r"cells needs two planes, but .* has 3: use the enc"):
        Encoder("cells", game)


def test_convolutions_need_planes(tmp_path: Path) -> None:
    recipe = replace(dqn_recipe(tmp_path), network=NetworkConfig("cnn", (12,), (4,)))
    with pytest.raises(z.BadSpec, match=r"'cnn', which needs planes .* encoder is 'cells'"):
        create_trainer(recipe, z.game("tictactoe"), 1)  # type: ignore[arg-type]


def test_inspect_shows_declared_planes(tmp_path: Path) -> None:
    game = write_game(tmp_path, "flat", FLAT_PLANES, UNEQUAL)
    result = inspect(game.position(moves="a1 b2 c3"), "flat")
    assert "planes: 4 planes of 1x9" in to_text(result)
    assert "second player to move" in to_text(result)
    assert "two planes" in result["left_out"]["cells"]


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("num_planes", 3, "it must be a tuple of num_planes words, 3"),
        ("plane_shape", (2, 4), "each must be a word of plane_shape, 2x4"),
        ("plane_shape", (9, 9), r"plane_shape is \(9, 9\): it must be \(rows, columns\) with at"),
        ("plane_shape", 9, "plane_shape is 9: it must be"),
    ],
)
def test_a_wrong_declaration_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, value: Any, message: str
) -> None:
    """Also in a game that was not loaded from a file, and so was not tried out before."""
    game = write_game(tmp_path, "game", PLANES, "    plane_shape = (3, 3)\n")
    monkeypatch.setattr(type(game), name, value)
    with pytest.raises(z.BadSpec, match=message):
        check_planes(game)


def test_symmetries_that_do_not_permute_the_planes_are_not_used(tmp_path: Path) -> None:
    fits = write_game(tmp_path, "fits", GRID, PLANES, SYMMETRIES)
    assert len(plane_symmetries(fits)) == 8
    shifted = PLANES.replace("return pick", "second = (second >> 1) & self.full; return pick")
    assert plane_symmetries(write_game(tmp_path, "shifted", GRID, shifted, SYMMETRIES)) == ()
    assert plane_symmetries(write_game(tmp_path, "small", FLAT_PLANES, SYMMETRIES)) != ()


def test_a_model_of_other_planes_is_refused(tmp_path: Path) -> None:
    game = write_game(tmp_path, "game", GRID, PLANES)
    recipe = replace(dqn_recipe(tmp_path, updates=20), game=game.spec)
    run = training_loop.train(recipe, tmp_path / "run", grade=False)
    assert z.player(run.player).choose(game.start()).move
    swapped = PLANES.replace("player == 0", "player == 1")
    other = write_game(tmp_path, "game", GRID, swapped)
    assert planes_fingerprint(other) != planes_fingerprint(game)
    with pytest.raises(BadWeights, match="was trained with other planes of"):
        z.player(run.player).choose(other.start())
    assert planes_fingerprint(z.game("reversi")) is None  # type: ignore[arg-type]
