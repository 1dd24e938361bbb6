"""AlphaZero: targets, self-play, learning, runs, `python -m zermelo.learn`, the player."""

import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import zermelo as z
from support.learners import alphazero_recipe, have_same_weights, train_until
from zermelo.bench import measure, selfplay
from zermelo.core.errors import BadSpec
from zermelo.core.game import WordGame
from zermelo.core.player import Limit
from zermelo.core.symmetry import invert
from zermelo.learn.actors.protocol import RolloutRequest
from zermelo.learn.alphazero import rollouts, throughput
from zermelo.learn.alphazero.learner import AlphaZeroLearner, PositionReplay
from zermelo.learn.alphazero.rollouts import AlphaZeroRollouts
from zermelo.learn.alphazero.selfplay import TrainingPositions, compute_value_targets
from zermelo.learn.alphazero.tensor_games import TensorGame
from zermelo.learn.batch import evaluation_sets
from zermelo.learn.batch.game_batch import GameBatch
from zermelo.learn.config import recipes
from zermelo.learn.config.network import DENSE, TOWER, NetworkConfig
from zermelo.learn.config.recipe import Recipe
from zermelo.learn.config.reports import TrainingDiverged
from zermelo.learn.config.selfplay import POLICY_VALUE_ENCODERS, SelfPlayConfig
from zermelo.learn.config.validation import BadRecipe
from zermelo.learn.models.files import FINAL
from zermelo.learn.networks import torch_arrays, weights_file
from zermelo.learn.networks.evaluation import average_over_symmetries
from zermelo.learn.networks.numpy_inference import (
    NumpyFullyConnected,
    NumpyTower,
    add_line_planes,
    line_matrix,
)
from zermelo.learn.networks.policy_value import build_network, fuse_network
from zermelo.learn.networks.tower import Tower
from zermelo.learn.networks.weights_file import BadWeights
from zermelo.learn.runs import training_loop


def word_game(spec: str) -> WordGame:
    game = z.game(spec)
    assert isinstance(game, WordGame)
    return game


# Targets.


def test_value_targets_alternate_signs_back_from_the_end() -> None:
    search_values = torch.tensor([[0.1], [0.2], [0.3], [-0.4]])
    signs = torch.full((4, 1), -1)
    ends = torch.tensor([[False], [False], [True], [False]])
    end_values = torch.tensor([[0.0], [0.0], [1.0], [0.0]])
    results = compute_value_targets(search_values, signs, ends, end_values, 1.0)
    assert results.flatten().tolist() == [1.0, -1.0, 1.0, pytest.approx(-0.4)]
    mixed = compute_value_targets(search_values, signs, ends, end_values, 0.75)
    second = -(0.25 * 0.3 + 0.75 * 1.0)
    first = -(0.25 * 0.2 + 0.75 * second)
    assert mixed.flatten().tolist() == pytest.approx([first, second, 1.0, -0.4])
    # With lambda 0 the target is the negated search value of the next ply.
    one_step = compute_value_targets(search_values, signs, ends, end_values, 0.0)
    assert one_step.flatten().tolist() == pytest.approx([-0.2, -0.3, 1.0, -0.4])
    signs[0] = 1  # an extra turn after the first move
    after_extra_turn = compute_value_targets(search_values, signs, ends, end_values, 1.0)
    assert after_extra_turn.flatten().tolist()[:3] == [-1.0, -1.0, 1.0]


def play_rollout(recipe: Recipe, *, seed: int = 1, use_tensors: bool = False) -> dict[str, Any]:
    game = word_game(recipe.game)
    torch.manual_seed(0)
    net = build_network(recipe.network, game, recipe.encoder)
    weights = torch_arrays.network_to_arrays("", net)
    rollout = AlphaZeroRollouts(recipe, game, use_tensors=use_tensors)
    return rollout(weights, RolloutRequest((7, seed), 0.0))


@pytest.mark.parametrize("rule", ["gumbel", "puct"])
@pytest.mark.parametrize("use_tensors", [False, True])
def test_a_rollout(rule: str, tmp_path: Path, *, use_tensors: bool) -> None:
    recipe = alphazero_recipe(
        tmp_path, ("updates = 3,", f'updates = 3, rule = "{rule}", curious = 0.2,')
    )
    rollout = play_rollout(recipe, use_tensors=use_tensors)
    game = word_game(recipe.game)
    assert len(rollout["words"]) == 8 * 6
    states = rollout["words"].view(np.uint64)
    legal = GameBatch(game).legal_masks(states)
    assert legal.any(1).all()  # of games that are not over
    assert np.allclose(rollout["policies"].astype(np.float32).sum(1), 1, atol=2e-3)
    assert not rollout["policies"][~legal].any()
    assert (np.abs(rollout["values"]) <= 1).all()
    assert len(rollout["results"]) > 0
    assert set(rollout["results"].tolist()) <= {-1, 0, 1}
    again, other = play_rollout(recipe, use_tensors=use_tensors), play_rollout(recipe, seed=2)
    assert all((rollout[name] == again[name]).all() for name in rollout)
    assert not (rollout["words"] == other["words"]).all()


def test_immediate_wins_have_exact_targets(tmp_path: Path) -> None:
    """In games from random positions: an immediate win has the value 1, and only winning moves."""
    recipe = alphazero_recipe(tmp_path, ("games = 8", "games = 64, starts = 1.0, start_plies = 6"))
    rollout = play_rollout(recipe)
    game = word_game("tictactoe")
    num_wins = 0
    for words, policy, value in zip(
        rollout["words"].tolist(), rollout["policies"], rollout["values"], strict=True
    ):
        state = tuple(words)
        after = {a: game.result(game.play(state, a)) for a in game.actions(state)}
        winning = {action for action, result in after.items() if result == (True, -1)}
        if winning:
            num_wins += 1
            assert value == 1
            assert set(np.flatnonzero(policy)) <= winning
    assert num_wins >= 5


def test_capped_plies_are_not_learned(tmp_path: Path) -> None:
    recipe = alphazero_recipe(tmp_path, ("updates = 3,", "updates = 3, capped = 0.5,"))
    assert len(play_rollout(recipe)["words"]) % 8 == 0
    assert 0 < len(play_rollout(recipe)["words"]) < 8 * 6


def test_simulations_grow() -> None:
    config = SelfPlayConfig(simulations=(4, 8, 16))
    simulations = [config.simulations_at(tenths / 10) for tenths in range(11)]
    assert simulations == [4] * 4 + [8] * 3 + [16] * 4


# Networks and learning.


@pytest.mark.parametrize("kind", [TOWER, DENSE])
@pytest.mark.parametrize("encoder", POLICY_VALUE_ENCODERS)
def test_torch_numpy_and_fused_networks_agree(encoder: str, kind: str) -> None:
    torch.manual_seed(3)
    game = word_game("tictactoe")
    lines = line_matrix(game, encoder)
    tower, dense = NetworkConfig(TOWER, (4, 8), (8, 8)), NetworkConfig(DENSE, (16,) * 5)
    net = build_network(tower if kind == TOWER else dense, game, encoder)
    for _ in range(3):  # so that batch norm has statistics to fuse
        net(torch.randn(64, 2, 3, 3))
    net.eval()
    sides = np.random.default_rng(0).integers(0, 3, (20, 3, 3))
    planes = np.stack([sides == 1, sides == 2], 1).astype(np.float32)
    with torch.no_grad():
        logits, values = net.evaluate(torch.from_numpy(planes))
    arrays = net.export()
    numpy_net = (
        NumpyTower(arrays, 2, lines) if kind == TOWER else NumpyFullyConnected(arrays, 5, lines)
    )
    plain = numpy_net(planes)
    assert np.allclose(plain[0], logits.numpy(), atol=1e-5)
    assert np.allclose(plain[1], values.numpy(), atol=1e-5)
    fused = fuse_network(net)(planes)  # in half precision on most CPUs
    assert np.allclose(fused[0], logits.numpy(), atol=0.05)
    assert np.allclose(fused[1], values.numpy(), atol=0.05)


def test_line_planes() -> None:
    """X on a1 and b2, O on c1: X has two stones on one diagonal, and one on three lines."""
    position = z.game("tictactoe").position(moves="a1 c1 b2")
    game = word_game("tictactoe")
    boards = [position.state[1], position.state[0]]  # X has moved, so it is not the mover
    planes = np.array([[[(b >> cell) & 1 for cell in range(9)] for b in boards]], np.float32)
    lines = line_matrix(game, "lines")
    result = add_line_planes(planes.reshape(1, 2, 3, 3), lines)[0].reshape(6, 9) * 4
    assert lines.shape == (8, 9)
    own_one, other_one, own_two, other_two = result[2:]
    assert other_two.sum() == 0
    assert own_two.sum() == 3  # the diagonal, on each of its cells
    assert own_one.sum() == 9  # a column of the corner, a row and a column of the centre
    assert other_one.sum() == 3
    with pytest.raises(BadSpec, match="the encoder lines is for line games"):
        line_matrix(word_game("reversi"), "lines")


@pytest.mark.parametrize("spec", ["connect4:5x4", "mnk:4x4x3"])
def test_the_average_over_symmetries_is_invariant(spec: str) -> None:
    game = word_game(spec)
    assert game.grid is not None
    config, number = NetworkConfig(TOWER, (4, 8), (8,)), len(game.symmetries())
    torch.manual_seed(0)
    tower = Tower(config, (game.grid.rows, game.grid.cols), game.num_actions).eval()
    rng = np.random.default_rng(0)
    planes = rng.integers(0, 2, (3, 2, game.grid.rows, game.grid.cols)).astype(np.float32)
    net = NumpyTower(tower.export(), 1)
    logits, values = average_over_symmetries(net, game, number)(planes)
    with torch.no_grad():
        again = average_over_symmetries(tower.evaluate, game, number)(torch.from_numpy(planes))
    np.testing.assert_allclose(again[0].numpy(), logits, atol=1e-5)
    np.testing.assert_allclose(again[1].numpy(), values, atol=1e-5)
    for symmetry in game.symmetries()[1:]:
        image = planes.reshape(3, 2, -1)[:, :, invert(symmetry.cells)].reshape(planes.shape)
        assert not np.allclose(net(image)[1], net(planes)[1])
        image_logits, image_values = average_over_symmetries(net, game, number)(image)
        np.testing.assert_allclose(image_logits[:, list(symmetry.actions)], logits, atol=1e-5)
        np.testing.assert_allclose(image_values, values, atol=1e-5)


@pytest.mark.parametrize("spec", ["connect4", "squava", "reversi:6"])
def test_boards_and_policies_are_transformed_together(spec: str) -> None:
    """Tensors are transformed like states and actions by `GameBatch`."""
    game = word_game(spec)
    rules, game_batch = TensorGame(game), GameBatch(game)
    states = game_batch.sample_states(40, 12, 5)
    policies = torch.rand(40, game.num_actions)
    words = torch.from_numpy(states.view(np.int64))
    planes = rules.planes(tuple(words.unbind(1)))
    for symmetry in range(rules.num_symmetries):
        symmetries = torch.full((40,), symmetry)
        image_planes, image_policies = rules.transform(planes, policies, symmetries)
        images = torch.from_numpy(game_batch.transform(states, symmetries.numpy()).view(np.int64))
        assert (image_planes == rules.planes(tuple(images.unbind(1)))).all()
        assert (image_policies[:, game_batch.action_maps[symmetry]] == policies).all()


def build_learner(**options: Any) -> tuple[AlphaZeroLearner, PositionReplay]:
    torch.manual_seed(1)
    rules = TensorGame(word_game("tictactoe"))
    replay = PositionReplay(rules, 64)
    net = Tower(NetworkConfig(TOWER, (4, 8), (8,)), (3, 3), 9)
    return AlphaZeroLearner(net, rules, replay, batch=16, **options), replay


def test_learning_lowers_both_losses_and_the_average_follows() -> None:
    learner, replay = build_learner(average=0.9)
    states = GameBatch(word_game("tictactoe")).sample_states(64, 5, 1)
    policies = torch.zeros(64, 9)
    policies[:, 4] = 1
    replay.add(TrainingPositions(torch.from_numpy(states.view(np.int64)), policies, torch.ones(64)))
    rng = torch.Generator().manual_seed(1)
    before = {name: t.clone() for name, t in learner.average_net.state_dict().items()}
    losses = [
        learner.update(indices, torch.zeros(16, dtype=torch.int64), 1e-2).tolist()
        for indices in replay.sample(60, 16, rng)
    ]
    assert losses[-1][0] < 0.2 * losses[0][0]
    assert losses[-1][1] < 0.2 * losses[0][1]
    after = learner.average_net.state_dict()
    assert not torch.equal(before["policy.weight"], after["policy.weight"])


def test_replay_overwrites_the_oldest() -> None:
    rules = TensorGame(word_game("tictactoe"))
    replay = PositionReplay(rules, 10)
    for number in range(3):
        words = torch.full((4, 3), number)
        replay.add(TrainingPositions(words, torch.zeros(4, 9), torch.full((4,), float(number))))
    assert replay.used == 10
    assert sorted(replay.rows.values.tolist()) == [0.0] * 2 + [1.0] * 4 + [2.0] * 4


def test_a_loss_that_is_not_finite_stops_the_run(tmp_path: Path) -> None:
    recipe = alphazero_recipe(
        tmp_path, ("batch = 16", "batch = 16, rate = { begin = 1e30, end = 1e30 }")
    )
    with pytest.raises(TrainingDiverged, match="the loss is not finite"):
        training_loop.train(recipe, tmp_path / "run", grade=False)


# Runs.


def test_a_resumed_run_is_identical(tmp_path: Path) -> None:
    recipe = alphazero_recipe(tmp_path)
    training_loop.train(recipe, tmp_path / "whole", seed=5, grade=False)
    train_until(recipe, tmp_path / "cut", 16)
    train_until(recipe, tmp_path / "cut", 28, resume=True)
    training_loop.train(recipe, tmp_path / "cut", seed=5, resume=True, grade=False)
    assert have_same_weights(tmp_path / "whole", tmp_path / "cut")


def test_a_resumed_optimiser_keeps_the_tensor_of_its_rate() -> None:
    """On a GPU an update is captured once, with the tensor that holds the rate."""
    net, rate = torch.nn.Linear(2, 1), torch.zeros(())
    optimiser = torch.optim.AdamW(net.parameters(), lr=rate, fused=True, weight_decay=0.0)

    def step() -> None:
        net(torch.ones(1, 2)).sum().backward()
        optimiser.step()

    step()
    torch_arrays.load_training_state(
        torch_arrays.training_state_to_arrays({"net.": net}, optimiser), {"net.": net}, optimiser
    )
    before = net.weight.detach().clone()
    rate.fill_(0.1)
    step()
    assert not torch.equal(net.weight, before)


_TOWER = 'kind = "tower", channels = [8, 8], hidden = [4, 8]'  # in the recipe of these tests


def test_bad_recipes_are_refused(tmp_path: Path) -> None:
    for old, new, problem in (
        ("updates = 36", "updates = 37", "must be multiples of 3"),
        ('kind = "alphazero"', 'kind = "dqn"', "cannot use a network of kind tower"),
        ("simulations = [4, 8]", "simulations = []", "list of numbers above 0"),
        ("plies = 6", 'plies = 6, rule = "uct"', "it must be gumbel or puct"),
        ("channels = [8, 8]", "channels = [8, 4]", "must be equally wide"),
        (_TOWER, 'kind = "dense", hidden = [8, 8]', "their number must be odd"),
        (_TOWER, 'kind = "dense", hidden = [8, 8, 4]', "have the same width"),
    ):
        with pytest.raises(BadRecipe, match=problem):
            alphazero_recipe(tmp_path, (old, new))


@pytest.mark.parametrize("name", ["tictactoe", "connect4", "gomoku6"])
def test_shipped_recipes_in_their_short_form(name: str, tmp_path: Path) -> None:
    run = training_loop.train(f"{name}-alphazero", tmp_path / "run", short=True, grade=False)
    choice = z.player(run.player).choose(z.game(name).start())
    assert choice.source == "alphazero"


_MINIMAL_ENTRY = """
import sys
for name in ("numba", "llvmlite", "click", "rich", "onnx", "onnxruntime", "tensorboard"):
    sys.modules[name] = None
from zermelo.learn.alphazero import rollouts
init = rollouts.AlphaZeroRollouts.__init__
rollouts.AlphaZeroRollouts.__init__ = lambda *a, **k: init(*a, **k, use_tensors=True)
import runpy
runpy.run_module("zermelo.learn", run_name="__main__")
"""


def test_the_entry_needs_neither_a_compiler_nor_click(tmp_path: Path) -> None:
    alphazero_recipe(tmp_path)
    command = [
        sys.executable,
        "-c",
        _MINIMAL_ENTRY,
        str(tmp_path / "tiny-zero.toml"),
        "--device",
        "cpu",
    ]
    out = ["--out", str(tmp_path / "run")]
    process = subprocess.run([*command, *out], capture_output=True, text=True, check=True)
    assert "36 updates in" in process.stdout
    assert "all: 4,520 positions, mistake rate " in process.stdout
    assert (tmp_path / "run" / "marks.json").is_file()
    again = subprocess.run([*command, *out], capture_output=True, text=True, check=False)
    assert again.returncode == 1
    assert "holds a run already" in again.stderr
    if not torch.cuda.is_available():
        absent = subprocess.run(
            [*command[:-1], "cuda", "--out", str(tmp_path / "gpu")],
            capture_output=True,
            text=True,
            check=False,
        )
        assert absent.returncode == 1
        assert "torch finds no CUDA device" in absent.stderr
        assert len(absent.stderr.splitlines()) == 1


def test_out_of_memory_is_explained(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def run_out_of_memory(*_arguments: Any) -> None:
        raise torch.OutOfMemoryError

    monkeypatch.setattr(rollouts, "play_rollout", run_out_of_memory)
    with pytest.raises(z.ZermeloError, match="or the device cpu"):
        training_loop.train(alphazero_recipe(tmp_path), tmp_path / "run", grade=False)


def test_evaluation_sets_from_files(tmp_path: Path) -> None:
    game = word_game("connect4")
    names = [name for name, _set in evaluation_sets.load_evaluation_sets(game, [])]
    assert names == ["easy", "medium", "hard"]
    from zermelo.grading import position_sets

    shipped = Path(position_sets.__file__).parent / "shipped" / "connect4-hard.txt"
    ((name, evaluation_set),) = evaluation_sets.load_evaluation_sets(game, [shipped])
    assert (name, len(evaluation_set.states)) == ("connect4-hard", 200)


# The player.


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("zero")
    training_loop.train(alphazero_recipe(folder), folder / "run", seed=1, grade=False)
    return folder / "run"


def test_the_player(run: Path) -> None:
    game = z.game("tictactoe")
    player = z.player(f"alphazero:{run},sims=32")
    choice = player.choose(game.position(moves="a1 b1 a2 b2"), Limit(all_moves=True))
    assert (choice.move, choice.value, choice.exact) == ("a3", "win", True)
    assert len(choice.candidates) == 5
    block = player.choose(game.position(moves="a1 b2 a2"))
    assert block.move == "a3"
    assert sum(c.visits or 0 for c in player.choose(game.start()).candidates) == 32
    raw = z.player(f"alphazero:{run},sims=0").choose(game.start())
    assert (raw.nodes, raw.exact, raw.candidates[0].visits) == (1, False, None)
    assert z.player(f"alphazero:{run}").name == f"alphazero:{run}"


def test_the_player_respects_its_limit(run: Path) -> None:
    player = z.player(f"alphazero:{run},sims=4096")
    player.choose(z.game("tictactoe").start(), Limit(nodes=3))
    choice = player.choose(z.game("tictactoe").start(), Limit(nodes=40))
    assert sum(c.visits or 0 for c in choice.candidates) <= 41


def test_unfitting_files_are_refused(run: Path, tmp_path: Path) -> None:
    with pytest.raises(BadSpec, match="sims is 5000"):
        z.player(f"alphazero:{run},sims=5000")
    with pytest.raises(BadWeights, match="plays as alphazero:"):
        z.player(f"dqn:{run}").choose(z.game("tictactoe").start())
    arrays, metadata = weights_file.read(run / FINAL)
    for change, problem in (
        ({"channels": [8, 4]}, "must have the same width"),
        ({"channels": "8"}, "must be a list of layer widths"),
        ({"simulations": 10**9}, "simulations is 1000000000"),
        ({"images": None}, "images is None"),
        ({"hidden": [4, 9]}, "but this network expects"),
    ):
        path = tmp_path / "bad.safetensors"
        shape = metadata["shape"] | change
        weights_file.write(path, arrays, metadata | {"shape": shape})
        with pytest.raises(BadWeights, match=problem):
            z.player(f"alphazero:{path}").choose(z.game("tictactoe").start())


def test_fully_connected_networks_play_and_are_checked(tmp_path: Path) -> None:
    recipe = alphazero_recipe(tmp_path, (_TOWER, 'kind = "dense", hidden = [8, 8, 8]'))
    training_loop.train(recipe, tmp_path / "run", seed=1, grade=False)
    start = z.game("tictactoe").start()
    assert z.player(f"alphazero:{tmp_path / 'run'},sims=8").choose(start).source == "alphazero"
    arrays, metadata = weights_file.read(tmp_path / "run" / FINAL)
    for change, problem in (
        ({"hidden": [8, 8]}, "their number must be odd"),
        ({"hidden": [8] * 5}, "full3"),
        ({"hidden": [8, 8, 9000]}, "must be a list of layer widths"),
        ({"channels": [8]}, "the network's channels is"),
    ):
        path = tmp_path / "bad.safetensors"
        shape = metadata["shape"] | change
        weights_file.write(path, arrays, metadata | {"shape": shape})
        with pytest.raises(BadWeights, match=problem):
            z.player(f"alphazero:{path}").choose(start)


def test_games_with_more_actions_than_cells() -> None:
    """Passes and swaps are actions without a cell."""
    for spec in ("reversi:4", "squava:pie=true"):
        game = word_game(spec)
        recipe = replace(recipes.load("tictactoe-alphazero", short=True), game=spec)
        rollout = play_rollout(replace(recipe, selfplay=replace(recipe.selfplay, games=4, plies=4)))
        assert rollout["policies"].shape[1] == game.num_actions


# Benchmarks.


def test_a_short_benchmark(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(selfplay, "RECIPES", ("tictactoe-alphazero",))
    monkeypatch.setattr(selfplay, "GAME", "tictactoe")
    monkeypatch.setattr(selfplay, "_SECONDS", 0.01)
    monkeypatch.setattr(measure, "pin_to_one_core", lambda: None)
    report = selfplay.run("cpu", (), 1, lambda _text: None)
    assert [row["unit"] for row in report["rows"]] == [*["simulations/s"] * 3, "positions/s"]
    assert all(row["rate"] > 0 for row in report["rows"])
    rates = throughput.measure_tensor_search(
        word_game("tictactoe"), NetworkConfig(TOWER, (2, 4), (4,)), 8, 4, 1, "cpu"
    )
    assert min(rates) > 0


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU here")
def test_a_benchmark_without_its_device() -> None:
    with pytest.raises(BadSpec, match="torch finds no CUDA device"):
        selfplay.run("cuda", (), 1, lambda _text: None)
