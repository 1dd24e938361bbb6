"""AlphaZero: targets, self-play, loss, runs, the entry without a compiler, the player."""

import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import zermelo as z
from support.learners import alphazero as tiny
from support.learners import train_until, same
from zermelo.bench import measure, selfplay
from zermelo.core.errors import BadSpec
from zermelo.core.game import WordGame
from zermelo.core.player import Limit
from zermelo.core.symmetry import invert
from zermelo.learn.actors.protocol import RolloutRequest
from zermelo.learn.alphazero import learner as alphazero
from zermelo.learn.alphazero import throughput
from zermelo.learn.alphazero import trainer as zero
from zermelo.learn.alphazero.learner import Chunk, Learner, Replay
from zermelo.learn.alphazero.tensor_games import TensorGame
from zermelo.learn.batch import evaluation_sets
from zermelo.learn.batch.game_batch import GameBatch
from zermelo.learn.config import recipes
from zermelo.learn.config.network import DENSE, TOWER, NetworkConfig
from zermelo.learn.config.recipe import Recipe
from zermelo.learn.config.selfplay import POLICY_VALUE_ENCODERS, SelfPlayConfig
from zermelo.learn.config.validation import BadRecipe
from zermelo.learn.models.model import FINAL
from zermelo.learn.networks import torch_arrays, weights_file
from zermelo.learn.networks.numpy_inference import DenseForward, TowerForward, lines_of, with_lines
from zermelo.learn.networks.policy_value import folded, made
from zermelo.learn.networks.symmetry_average import in_images
from zermelo.learn.networks.tower import Tower
from zermelo.learn.networks.weights_file import BadWeights
from zermelo.learn.runs import training


def word_game(spec: str) -> WordGame:
    game = z.game(spec)
    assert isinstance(game, WordGame)
    return game


# Targets.


def test_targets_go_back_from_the_end_with_the_sign_of_each_ply() -> None:
    roots = torch.tensor([[0.1], [0.2], [0.3], [-0.4]])
    overs = torch.tensor([[False], [False], [True], [False]])
    worths = torch.tensor([[0.0], [0.0], [1.0], [0.0]])
    whole = alphazero.targets(roots, overs, worths, 1.0)
    assert whole.flatten().tolist() == [1.0, -1.0, 1.0, pytest.approx(-0.4)]
    mixed = alphazero.targets(roots, overs, worths, 0.75)
    second = -(0.25 * 0.3 + 0.75 * 1.0)
    first = -(0.25 * 0.2 + 0.75 * second)
    assert mixed.flatten().tolist() == pytest.approx([first, second, 1.0, -0.4])
    # Nothing but the search after it, which is what one step says.
    steps = alphazero.targets(roots, overs, worths, 0.0)
    assert steps.flatten().tolist() == pytest.approx([-0.2, -0.3, 1.0, -0.4])


def played(recipe: Recipe, *, seed: int = 1, by_tensors: bool = False) -> dict[str, Any]:
    game = word_game(recipe.game)
    torch.manual_seed(0)
    start = torch_arrays.net_arrays("", zero.net_for(recipe, game))
    return zero.ZeroRollouts(recipe, game, by_tensors=by_tensors)(
        start, RolloutRequest((7, seed), 0.0)
    )


@pytest.mark.parametrize("rule", ["gumbel", "puct"])
@pytest.mark.parametrize("by_tensors", [False, True])
def test_a_chunk(rule: str, tmp_path: Path, *, by_tensors: bool) -> None:
    recipe = tiny(tmp_path, ("updates = 3,", f'updates = 3, rule = "{rule}", curious = 0.2,'))
    chunk = played(recipe, by_tensors=by_tensors)
    game = word_game(recipe.game)
    assert len(chunk["words"]) == 8 * 6
    states = chunk["words"].view(np.uint64)
    legal = GameBatch(game).legal_masks(states)
    assert legal.any(1).all()  # no game of it is over
    assert np.allclose(chunk["policies"].astype(np.float32).sum(1), 1, atol=2e-3)
    assert not chunk["policies"][~legal].any()
    assert (np.abs(chunk["values"]) <= 1).all()
    assert len(chunk["results"]) > 0
    assert set(chunk["results"].tolist()) <= {-1, 0, 1}
    again, other = played(recipe, by_tensors=by_tensors), played(recipe, seed=2)
    assert all((chunk[name] == again[name]).all() for name in chunk)
    assert not (chunk["words"] == other["words"]).all()


def test_what_wins_at_once_is_learned_as_won(tmp_path: Path) -> None:
    """Games from random positions: whoever can win at once has a value of 1, and that move."""
    recipe = tiny(tmp_path, ("games = 8", "games = 64, starts = 1.0, start_plies = 6"))
    chunk = played(recipe)
    game = word_game("tictactoe")
    won = 0
    for words, policy, value in zip(
        chunk["words"].tolist(), chunk["policies"], chunk["values"], strict=True
    ):
        state = tuple(words)
        after = {a: game.result(game.play(state, a)) for a in game.actions(state)}
        winning = {action for action, result in after.items() if result == (True, -1)}
        if winning:
            won += 1
            assert value == 1
            assert set(np.flatnonzero(policy)) <= winning
    assert won >= 5


def test_capped_plies_are_played_and_not_learned(tmp_path: Path) -> None:
    recipe = tiny(tmp_path, ("updates = 3,", "updates = 3, capped = 0.5,"))
    assert len(played(recipe)["words"]) % 8 == 0
    assert 0 < len(played(recipe)["words"]) < 8 * 6


def test_simulations_grow() -> None:
    playing = SelfPlayConfig(simulations=(4, 8, 16))
    shares = [playing.simulations_at(done / 10) for done in range(11)]
    assert shares == [4] * 4 + [8] * 3 + [16] * 4


# The network and what it learns from.


@pytest.mark.parametrize("kind", [TOWER, DENSE])
@pytest.mark.parametrize("encoder", POLICY_VALUE_ENCODERS)
def test_three_ways_to_ask_a_network(encoder: str, kind: str) -> None:
    torch.manual_seed(3)
    game = word_game("tictactoe")
    lines = lines_of(game, encoder)
    shape = (
        NetworkConfig(TOWER, (4, 8), (8, 8)) if kind == TOWER else NetworkConfig(DENSE, (16,) * 5)
    )
    net = made(shape, game, encoder)
    for _ in range(3):  # so that there are means to be folded
        net(torch.randn(64, 2, 3, 3))
    net.eval()
    sides = np.random.default_rng(0).integers(0, 3, (20, 3, 3))
    planes = np.stack([sides == 1, sides == 2], 1).astype(np.float32)
    with torch.no_grad():
        logits, values = net.judge(torch.from_numpy(planes))
    arrays = net.export()
    known = TowerForward(arrays, 2, lines) if kind == TOWER else DenseForward(arrays, 5, lines)
    plain = known(planes)
    assert np.allclose(plain[0], logits.numpy(), atol=1e-5)
    assert np.allclose(plain[1], values.numpy(), atol=1e-5)
    quick = folded(net)(planes)  # in half precision, on most processors
    assert np.allclose(quick[0], logits.numpy(), atol=0.05)
    assert np.allclose(quick[1], values.numpy(), atol=0.05)


def test_lines_are_counted() -> None:
    """By hand: X on a1 and b2, O on c1; X alone has two on one diagonal, and one on three lines."""
    position = z.game("tictactoe").position(moves="a1 c1 b2")
    game = word_game("tictactoe")
    boards = [position.state[1], position.state[0]]  # X has moved, so it is not the mover
    planes = np.array([[[(b >> cell) & 1 for cell in range(9)] for b in boards]], np.float32)
    lines = lines_of(game, "lines")
    seen = with_lines(planes.reshape(1, 2, 3, 3), lines)[0].reshape(6, 9) * 4
    assert lines.shape == (8, 9)
    own_one, other_one, own_two, other_two = seen[2:]
    assert other_two.sum() == 0
    assert own_two.sum() == 3  # the diagonal, on each of its cells
    assert own_one.sum() == 9  # a column of the corner, a row and a column of the centre
    assert other_one.sum() == 3
    with pytest.raises(BadSpec, match="lines are counted in line games alone"):
        lines_of(word_game("reversi"), "lines")


@pytest.mark.parametrize("spec", ["connect4:5x4", "mnk:4x4x3"])
def test_the_mean_over_images_is_the_same_for_each_of_them(spec: str) -> None:
    game = word_game(spec)
    assert game.grid is not None
    shape, number = NetworkConfig(TOWER, (4, 8), (8,)), len(game.symmetries())
    torch.manual_seed(0)
    tower = Tower(shape, (game.grid.rows, game.grid.cols), game.num_actions).eval()
    rng = np.random.default_rng(0)
    planes = rng.integers(0, 2, (3, 2, game.grid.rows, game.grid.cols)).astype(np.float32)
    net = TowerForward(tower.export(), 1)
    logits, values = in_images(net, game, number)(planes)
    with torch.no_grad():
        again = in_images(tower.judge, game, number)(torch.from_numpy(planes))
    np.testing.assert_allclose(again[0].numpy(), logits, atol=1e-5)
    np.testing.assert_allclose(again[1].numpy(), values, atol=1e-5)
    for turn in game.symmetries()[1:]:
        moved = planes.reshape(3, 2, -1)[:, :, invert(turn.cells)].reshape(planes.shape)
        assert not np.allclose(net(moved)[1], net(planes)[1])
        its_logits, its_values = in_images(net, game, number)(moved)
        np.testing.assert_allclose(its_logits[:, list(turn.actions)], logits, atol=1e-5)
        np.testing.assert_allclose(its_values, values, atol=1e-5)


@pytest.mark.parametrize("spec", ["connect4", "squava", "reversi:6"])
def test_boards_and_policies_turn_together(spec: str) -> None:
    """As the game's own symmetries move states and actions."""
    game = word_game(spec)
    rules, game_batch = TensorGame(game), GameBatch(game)
    states = game_batch.sample_states(40, 12, 5)
    policies = torch.rand(40, game.num_actions)
    words = torch.from_numpy(states.view(np.int64))
    planes = rules.planes(tuple(words.unbind(1)))
    for turn in range(rules.num_symmetries):
        turns = torch.full((40,), turn)
        moved, permuted = rules.turned(planes, policies, turns)
        images = torch.from_numpy(game_batch.transform(states, turns.numpy()).view(np.int64))
        assert (moved == rules.planes(tuple(images.unbind(1)))).all()
        assert (permuted[:, game_batch.action_maps[turn]] == policies).all()


def learner(**asked: Any) -> tuple[Learner, Replay]:
    torch.manual_seed(1)
    rules = TensorGame(word_game("tictactoe"))
    replay = Replay(rules, 64)
    net = Tower(NetworkConfig(TOWER, (4, 8), (8,)), (3, 3), 9)
    return Learner(net, rules, replay, batch=16, **asked), replay


def test_learning_lowers_both_losses_and_the_average_follows() -> None:
    taught, replay = learner(average=0.9)
    states = GameBatch(word_game("tictactoe")).sample_states(64, 5, 1)
    policies = torch.zeros(64, 9)
    policies[:, 4] = 1
    replay.add(Chunk(torch.from_numpy(states.view(np.int64)), policies, torch.ones(64)))
    rng = torch.Generator().manual_seed(1)
    before = {name: t.clone() for name, t in taught.average.state_dict().items()}
    losses = [
        taught.learn(places, torch.zeros(16, dtype=torch.int64), 1e-2).tolist()
        for places in replay.sample(60, 16, rng)
    ]
    assert losses[-1][0] < 0.2 * losses[0][0]
    assert losses[-1][1] < 0.2 * losses[0][1]
    after = taught.average.state_dict()
    assert not torch.equal(before["policy.weight"], after["policy.weight"])


def test_replay_forgets_the_oldest() -> None:
    rules = TensorGame(word_game("tictactoe"))
    replay = Replay(rules, 10)
    for number in range(3):
        words = torch.full((4, 3), number)
        replay.add(Chunk(words, torch.zeros(4, 9), torch.full((4,), float(number))))
    assert replay.used == 10
    assert sorted(replay.rows.values.tolist()) == [0.0] * 2 + [1.0] * 4 + [2.0] * 4


def test_a_loss_that_is_no_number_stops_the_run(tmp_path: Path) -> None:
    recipe = tiny(tmp_path, ("batch = 16", "batch = 16, rate = { begin = 1e30, end = 1e30 }"))
    with pytest.raises(zero.Diverged, match="the loss is no number any more"):
        training.train(recipe, tmp_path / "run", grade=False)


# Runs.


def test_resumed_is_the_same_to_the_bit(tmp_path: Path) -> None:
    recipe = tiny(tmp_path)
    training.train(recipe, tmp_path / "whole", seed=5, grade=False)
    train_until(recipe, tmp_path / "cut", 16)
    train_until(recipe, tmp_path / "cut", 28, resume=True)
    training.train(recipe, tmp_path / "cut", seed=5, resume=True, grade=False)
    assert same(tmp_path / "whole", tmp_path / "cut")


def test_a_rate_that_is_held_rules_a_resumed_optimiser() -> None:
    """On a GPU an update is recorded once, with the tensor that the rate is put into."""
    net, rate = torch.nn.Linear(2, 1), torch.zeros(())
    optimiser = torch.optim.AdamW(net.parameters(), lr=rate, fused=True, weight_decay=0.0)

    def step() -> None:
        net(torch.ones(1, 2)).sum().backward()
        optimiser.step()

    step()
    torch_arrays.load_arrays(
        torch_arrays.to_arrays({"net.": net}, optimiser), {"net.": net}, optimiser
    )
    before = net.weight.detach().clone()
    rate.fill_(0.1)
    step()
    assert not torch.equal(net.weight, before)


_TOWER = 'kind = "tower", channels = [8, 8], hidden = [4, 8]'  # in the recipe of the tests


def test_recipes_that_cannot_be_followed(tmp_path: Path) -> None:
    for old, new, problem in (
        ("updates = 36", "updates = 37", "must be multiples of 3"),
        ('kind = "alphazero"', 'kind = "dqn"', "tower does not go with kind dqn"),
        ("simulations = [4, 8]", "simulations = []", "numbers above 0"),
        ("plies = 6", 'plies = 6, rule = "uct"', "it can be gumbel or puct"),
        ("channels = [8, 8]", "channels = [8, 4]", "of one width"),
        (_TOWER, 'kind = "dense", hidden = [8, 8]', "as often as 1 and some pairs"),
        (_TOWER, 'kind = "dense", hidden = [8, 8, 4]', "one width"),
    ):
        with pytest.raises(BadRecipe, match=problem):
            tiny(tmp_path, (old, new))


@pytest.mark.parametrize("name", ["tictactoe", "connect4", "gomoku6"])
def test_shipped_recipes_in_short(name: str, tmp_path: Path) -> None:
    run = training.train(f"{name}-alphazero", tmp_path / "run", short=True, grade=False)
    found = z.player(run.player).choose(z.game(name).start())
    assert found.source == "alphazero"


_BARE = """
import sys
for name in ("numba", "llvmlite", "click", "rich", "onnx", "onnxruntime", "tensorboard"):
    sys.modules[name] = None
from zermelo.learn import zero
made = zero.ZeroRollouts.__init__
zero.ZeroRollouts.__init__ = lambda *a, **k: made(*a, **k, by_tensors=True)
import runpy
runpy.run_module("zermelo.learn", run_name="__main__")
"""


def test_the_entry_needs_no_compiler_and_no_command_line_library(tmp_path: Path) -> None:
    tiny(tmp_path)
    command = [sys.executable, "-c", _BARE, str(tmp_path / "tiny-zero.toml"), "--device", "cpu"]
    out = ["--out", str(tmp_path / "run")]
    done = subprocess.run([*command, *out], capture_output=True, text=True, check=True)
    assert "36 updates in" in done.stdout
    assert "all: 4,520 positions, mistakes of the policy" in done.stdout
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
        assert "there is no CUDA device here" in absent.stderr
        assert len(absent.stderr.splitlines()) == 1


def test_too_little_memory_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_given: Any) -> None:
        raise torch.OutOfMemoryError

    monkeypatch.setattr(alphazero, "play", full)
    with pytest.raises(z.ZermeloError, match="--device cpu needs no GPU"):
        training.train(tiny(tmp_path), tmp_path / "run", grade=False)


def test_label_files(tmp_path: Path) -> None:
    game = word_game("connect4")
    names = [name for name, _exam in evaluation_sets.load_evaluation_sets(game, [])]
    assert names == ["easy", "medium", "hard"]
    from zermelo.grading import position_sets

    shipped = Path(position_sets.__file__).parent / "shipped" / "connect4-hard.txt"
    ((name, exam),) = evaluation_sets.load_evaluation_sets(game, [shipped])
    assert (name, len(exam.states)) == ("connect4-hard", 200)


# The player.


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("zero")
    training.train(tiny(folder), folder / "run", seed=1, grade=False)
    return folder / "run"


def test_the_player(run: Path) -> None:
    game = z.game("tictactoe")
    player = z.player(f"alphazero:{run},sims=32")
    found = player.choose(game.position(moves="a1 b1 a2 b2"), Limit(all_moves=True))
    assert (found.move, found.value, found.exact) == ("a3", "win", True)
    assert len(found.candidates) == 5
    block = player.choose(game.position(moves="a1 b2 a2"))
    assert block.move == "a3"
    assert sum(c.visits or 0 for c in player.choose(game.start()).candidates) == 32
    raw = z.player(f"alphazero:{run},sims=0").choose(game.start())
    assert (raw.nodes, raw.exact, raw.candidates[0].visits) == (1, False, None)
    assert z.player(f"alphazero:{run}").name == f"alphazero:{run}"


def test_the_player_obeys_its_limit(run: Path) -> None:
    player = z.player(f"alphazero:{run},sims=4096")
    player.choose(z.game("tictactoe").start(), Limit(nodes=3))
    found = player.choose(z.game("tictactoe").start(), Limit(nodes=40))
    assert sum(c.visits or 0 for c in found.candidates) <= 41


def test_what_does_not_play(run: Path, tmp_path: Path) -> None:
    with pytest.raises(BadSpec, match="sims is 5000"):
        z.player(f"alphazero:{run},sims=5000")
    with pytest.raises(BadWeights, match="plays as alphazero:"):
        z.player(f"dqn:{run}").choose(z.game("tictactoe").start())
    arrays, said = weights_file.read(run / FINAL)
    for change, problem in (
        ({"channels": [8, 4]}, "blocks of one width"),
        ({"channels": "8"}, "must be a list of widths"),
        ({"simulations": 10**9}, "simulations is 1000000000"),
        ({"images": None}, "images is None"),
        ({"hidden": [4, 9]}, "by the network's shape"),
    ):
        path = tmp_path / "bad.safetensors"
        weights_file.write(path, arrays, said | {"shape": said["shape"] | change})
        with pytest.raises(BadWeights, match=problem):
            z.player(f"alphazero:{path}").choose(z.game("tictactoe").start())


def test_full_layers_play_and_are_checked(tmp_path: Path) -> None:
    recipe = tiny(tmp_path, (_TOWER, 'kind = "dense", hidden = [8, 8, 8]'))
    training.train(recipe, tmp_path / "run", seed=1, grade=False)
    start = z.game("tictactoe").start()
    assert z.player(f"alphazero:{tmp_path / 'run'},sims=8").choose(start).source == "alphazero"
    arrays, said = weights_file.read(tmp_path / "run" / FINAL)
    for change, problem in (
        ({"hidden": [8, 8]}, "one and some pairs"),
        ({"hidden": [8] * 5}, "full3"),
        ({"hidden": [8, 8, 9000]}, "must be a list of widths"),
        ({"channels": [8]}, "channels of the network is"),
    ):
        path = tmp_path / "bad.safetensors"
        weights_file.write(path, arrays, said | {"shape": said["shape"] | change})
        with pytest.raises(BadWeights, match=problem):
            z.player(f"alphazero:{path}").choose(start)


def test_a_mean_over_a_pass_and_a_swap() -> None:
    """Games with more actions than cells play, too."""
    for spec in ("reversi:4", "squava:pie=true"):
        game = word_game(spec)
        recipe = replace(recipes.load("tictactoe-alphazero", short=True), game=spec)
        chunk = played(replace(recipe, selfplay=replace(recipe.selfplay, games=4, plies=4)))
        assert chunk["policies"].shape[1] == game.num_actions


# How fast it is.


def test_the_benchmark_in_small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(selfplay, "RECIPES", ("tictactoe-alphazero",))
    monkeypatch.setattr(selfplay, "GAME", "tictactoe")
    monkeypatch.setattr(selfplay, "_SECONDS", 0.01)
    monkeypatch.setattr(measure, "pin_to_one_core", lambda: None)
    found = selfplay.run("cpu", (), 1, lambda _text: None)
    assert [row["unit"] for row in found["rows"]] == [*["simulations/s"] * 3, "positions/s"]
    assert all(row["rate"] > 0 for row in found["rows"])
    bare, searched = throughput.on_device(
        word_game("tictactoe"), NetworkConfig(TOWER, (2, 4), (4,)), 8, 4, 1, "cpu"
    )
    assert bare > 0
    assert searched > 0


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU here")
def test_a_benchmark_without_its_device() -> None:
    with pytest.raises(BadSpec, match="there is no CUDA device here"):
        selfplay.run("cuda", (), 1, lambda _text: None)
