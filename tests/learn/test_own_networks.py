"""Networks and encoders of users: checked before training, then trained, saved, resumed, played."""

import contextlib
import json
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

import zermelo as z
from support.commands import command
from support.layouts import GRID, write_game
from support.learners import alphazero_recipe, dqn_recipe, have_same_weights, train_until
from support.paths import ROOT
from zermelo.core.errors import ZermeloError
from zermelo.learn.actors.protocol import RolloutRequest
from zermelo.learn.alphazero.rollouts import AlphaZeroRollouts
from zermelo.learn.alphazero.tensor_games import TensorGame
from zermelo.learn.alphazero.trainer import AlphaZeroTrainer
from zermelo.learn.batch.custom_encoder import CustomEncoder
from zermelo.learn.batch.encoders import Encoder
from zermelo.learn.batch.evaluation_sets import build_evaluation_set
from zermelo.learn.config import custom, recipes
from zermelo.learn.config.network import NetworkConfig
from zermelo.learn.config.recipe import Recipe
from zermelo.learn.config.validation import BadRecipe, check
from zermelo.learn.models import files as model_files
from zermelo.learn.models import packing
from zermelo.learn.networks import torch_arrays, weights_file
from zermelo.learn.networks.custom import build_custom_q_network
from zermelo.learn.networks.weights_file import BadWeights
from zermelo.learn.runs import training_loop
from zermelo.learn.runs.run_folder import BadRun
from zermelo.matches.saves import Save
from zermelo.players.registry import load_builtin_player

EXAMPLE = ROOT / "examples" / "own_network.py"
NETWORKS = """
import math
import numpy as np
import torch
from torch import nn

class Q(nn.Module):
    '''With all that must survive a checkpoint: batch norm, dropout, a scalar, lazy layers.'''

    def __init__(self, input_shape, num_actions):
        super().__init__()
        self.scale = nn.Parameter(torch.tensor(1.5))
        self.body = nn.Sequential(nn.Flatten(), nn.LazyLinear(12), nn.BatchNorm1d(12), nn.ReLU())
        self.head = nn.Sequential(nn.Dropout(0.2), nn.Linear(12, num_actions))

    def forward(self, x):
        return self.scale * self.head(self.body(x))

class PolicyValue(nn.Module):
    def __init__(self, input_shape, num_actions):
        super().__init__()
        size = math.prod(input_shape)
        self.body = nn.Sequential(nn.Linear(size, 8), nn.BatchNorm1d(8), nn.ReLU())
        self.policy, self.result = nn.Linear(8, num_actions), nn.Linear(8, 3)

    def forward(self, x):
        x = self.body(x.view(len(x), -1))
        return self.policy(x), self.result(x)

class Stones:
    shape = (18,)

    def __call__(self, states):
        cells = np.arange(9, dtype=np.uint64)
        return (states[:, :2, None] >> cells & np.uint64(1)).reshape(-1, 18).astype(np.float32)
"""


@pytest.fixture
def nets(tmp_path: Path) -> Path:
    path = tmp_path / "nets.py"
    path.write_text(NETWORKS)
    return path


@pytest.fixture(autouse=True)
def registered_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(custom, "_factories", {custom.NETWORK: {}, custom.ENCODER: {}})


def dqn(folder: Path, network: str, encoder: str = "planes") -> Recipe:
    recipe = dqn_recipe(folder, updates=40)
    keeping = replace(recipe.keeping, checkpoint=10, grade=20)
    return replace(recipe, network=NetworkConfig(network), encoder=encoder, keeping=keeping)


def alphazero(folder: Path, network: str, encoder: str = "cells") -> Recipe:
    recipe = alphazero_recipe(folder, ("updates = 36", "updates = 18"))
    return replace(recipe, network=NetworkConfig(network), encoder=encoder)


KINDS = {
    "dqn": lambda folder, nets: dqn(folder, f"{nets}:Q"),
    "dqn, encoder": lambda folder, nets: dqn(folder, f"{nets}:Q", f"{nets}:Stones"),
    "supervised": lambda folder, nets: replace(
        dqn(folder, f"{nets}:Q"), kind="supervised", name="supervised"
    ),
    "alphazero": lambda folder, nets: alphazero(folder, f"{nets}:PolicyValue"),
    "alphazero, encoder": lambda folder, nets: alphazero(
        folder, f"{nets}:PolicyValue", f"{nets}:Stones"
    ),
}


@pytest.mark.parametrize("kind", KINDS)
def test_a_run_is_trained_resumed_and_played(kind: str, tmp_path: Path, nets: Path) -> None:
    recipe = KINDS[kind](tmp_path, nets)
    whole = training_loop.train(recipe, tmp_path / "whole", seed=5, grade=False)
    parts = tmp_path / "parts"
    train_until(recipe, parts, 13)
    training_loop.train(recipe, parts, seed=5, resume=True, grade=False)
    assert have_same_weights(whole.folder, parts)
    position = z.game("tictactoe").position(moves="b2 a1")
    analysis = z.player(whole.player).choose(position)
    assert analysis.move in position.legal
    manifest = json.loads((parts / "run.json").read_text())
    source = manifest["sources"]["network"]
    assert source["file"] == str(nets)
    assert len(source["sha256"]) == 64


def test_the_player_evaluates_as_the_trainer_does(tmp_path: Path, nets: Path) -> None:
    """In eval mode, with the averaged weights and their batch statistics."""
    position = z.game("tictactoe").position(moves="b2 a1")
    states = np.array([position.state], np.uint64)
    for recipe in (dqn(tmp_path, f"{nets}:Q"), alphazero(tmp_path, f"{nets}:PolicyValue")):
        run, trainer = training_loop.prepare_training(recipe, tmp_path / recipe.kind, seed=1)
        training_loop.run_training(run, trainer)
        option = ",sims=0" if recipe.kind == "alphazero" else ""
        analysis = z.player(run.player + option).choose(position)
        values = trainer.values(states)[0]
        estimates = {c.move: c.estimate for c in analysis.candidates}
        for action in position.actions:
            expected = float(np.clip(values[action], -0.99, 0.99))
            assert estimates[position.to_move_text(action)] == pytest.approx(expected, abs=1e-4)


def test_an_encoder_gives_the_search_the_states_of_its_leaves(tmp_path: Path, nets: Path) -> None:
    """The same numbers by the encoder and by the planes lead to the same games and weights."""
    planes = alphazero(tmp_path, f"{nets}:PolicyValue")
    planes = replace(planes, learning=replace(planes.learning, canonical=False))
    encoded = replace(planes, encoder=f"{nets}:Stones")
    runs = [
        training_loop.train(recipe, tmp_path / f"run{number}", seed=2, grade=False)
        for number, recipe in enumerate((planes, encoded))
    ]
    assert have_same_weights(runs[0].folder, runs[1].folder)


def test_the_check_changes_neither_the_network_nor_the_random_numbers(nets: Path) -> None:
    game = z.game("tictactoe")
    assert isinstance(game, z.WordGame)
    torch.manual_seed(3)
    net = build_custom_q_network(f"{nets}:Q", game, Encoder("planes", game))
    after = torch.rand(1)
    assert net.state_dict()["module.body.2.num_batches_tracked"] == 0
    torch.manual_seed(3)
    module = custom.load_factory(custom.NETWORK, f"{nets}:Q")((2, 3, 3), 9)
    module.eval()(torch.zeros(2, 2, 3, 3))  # for the lazy layer
    assert torch.equal(torch.rand(1), after)
    assert torch.equal(module.body[1].weight, net.state_dict()["module.body.1.weight"])


@pytest.mark.parametrize("encoder", ["cells", "nets"])
def test_both_searches_evaluate_the_network_alike(tmp_path: Path, nets: Path, encoder: str) -> None:
    """The search by kernels, in play, and that by tensors, with which a GPU would play."""
    torch.set_num_threads(1)  # as in every training
    encoder = f"{nets}:Stones" if encoder == "nets" else encoder
    recipe = alphazero(tmp_path, f"{nets}:PolicyValue", encoder)
    game, weights = z.game("tictactoe"), None
    assert isinstance(game, z.WordGame)
    rollouts = []
    for use_tensors in (False, True):
        actor = AlphaZeroRollouts(recipe, game, use_tensors=use_tensors)
        weights = weights or torch_arrays.network_to_arrays("", actor.net)
        rollouts.append(actor(weights, RolloutRequest((1, 2), 0.5)))
    for name, array in rollouts[0].items():
        np.testing.assert_allclose(array, rollouts[1][name], atol=1e-3)
    trainer = AlphaZeroTrainer(recipe, game, seed=1)
    evaluation_set = build_evaluation_set(game)
    assert evaluation_set is not None
    assert 0 < trainer.grade(evaluation_set)["raw"] < 1


def test_actors_load_the_file(tmp_path: Path, nets: Path) -> None:
    recipe = replace(dqn(tmp_path, f"{nets}:Q"), learning=dqn_recipe(tmp_path, updates=12).learning)
    run = training_loop.train(recipe, tmp_path / "run", seed=1, actors=1, grade=False)
    assert z.player(run.player).choose(z.game("tictactoe").start()).move


def test_a_grade_and_an_exported_file(tmp_path: Path, nets: Path) -> None:
    run = z.train(dqn(tmp_path, f"{nets}:Q"), tmp_path / "run", seed=1)
    assert json.loads((run.folder / "card.json").read_text())["grades"]["raw"]["positions"] == 4520
    arrays, metadata = weights_file.read(run.folder / "final.safetensors")
    for bits in packing.BITS:
        path = tmp_path / f"packed{bits}.safetensors"
        weights_file.write(path, packing.pack_weights(arrays, bits), metadata)
        assert z.player(f"dqn:{path}").choose(z.game("tictactoe").start()).move


def test_registered_classes(tmp_path: Path) -> None:
    class Linear(nn.Module):
        def __init__(self, input_shape: tuple[int, ...], num_actions: int) -> None:
            super().__init__()
            self.layer = nn.Linear(input_shape[0], num_actions)

        def forward(self, x: torch.Tensor) -> Any:
            return self.layer(x)

    class Halves:
        def __init__(self, game: z.WordGame) -> None:
            self.shape = (game.num_actions,)

        def __call__(self, states: np.ndarray) -> np.ndarray:
            return np.full((len(states), *self.shape), 0.5, np.float32)

    z.register_network("linear", Linear)
    z.register_encoder("halves", Halves)
    recipe = dqn(tmp_path, "linear", "halves")
    run = training_loop.train(recipe, tmp_path / "run", seed=1, grade=False)
    arrays, metadata = weights_file.read(run.folder / "final.safetensors")
    assert set(arrays) == {"layer.weight", "layer.bias"}
    assert metadata["sources"]["encoder"]["name"] == "halves"
    assert z.player(run.player).choose(z.game("tictactoe").start()).move
    with pytest.raises(z.BadSpec, match="the network linear is registered in this process only"):
        training_loop.prepare_training(recipe, tmp_path / "actors", actors=1)
    custom._factories[custom.NETWORK].clear()  # as in another process
    with pytest.raises(BadWeights, match=r"no network 'linear' is registered: call zermelo\.reg"):
        z.player(run.player).choose(z.game("tictactoe").start())


@pytest.mark.parametrize("name", ["mlp", "tower", "a b", "x.py:Y"])
def test_names_that_cannot_be_registered(name: str) -> None:
    with pytest.raises(z.BadSpec, match=r"choose another name|is not a name for networks"):
        z.register_network(name, nn.Linear)
    with pytest.raises(z.BadSpec, match="must be a class or a function"):
        z.register_network("fine", 3)  # type: ignore[arg-type]
    with pytest.raises(z.BadSpec, match="one of zermelo's own encoders"):
        z.register_encoder("planes", CustomEncoder)


# What is wrong is said before training starts.

BAD_Q = {
    "return self.layer(x)[:, :7]": (
        "Bad returns a float32 tensor [2, 7] for 2 states in eval mode: a Q network must return "
        "a float32 tensor [2, 9], a value for each action"
    ),
    "return self.layer(x), x": "returns (a float32 tensor [2, 9], a float32 tensor [2, 9]) for",
    "return self.layer(x).double()": "returns a float64 tensor [2, 9] for 2 states in eval mode",
    "return self.layer(x).numpy": "returns builtin_function_or_method for 2 states in eval mode",
    "return self.layer(x) if not self.training else self.layer(x)[:1]": (
        "returns a float32 tensor [1, 9] for 2 states in train mode"
    ),
    "return self.layer(x).detach()": "cannot be trained: its output does not depend on its param",
    "return self.layer(x) / 0": "returns NaN or infinity in eval mode",
    "return self.layer(x[:, :5])": "line 10: RuntimeError: mat1 and mat2 shapes cannot be mult",
    "raise SystemExit": "line 10: SystemExit",
}
BAD_CLASSES = {
    "def Bad(input_shape, num_actions): return 3": "Bad returns int: a network must be a torch.nn.",
    "def Bad(): pass": "Bad must accept (input_shape, num_actions), here ((9,), 9): too many pos",
    "def Bad(a, b): return torch.nn.Identity()": "Bad has no parameters to train",
    "def Bad(a, b): return torch.nn.Linear(9, 9).bfloat16()": "RuntimeError",
    "class Good: pass": "defines no class Bad: its classes are Good",
    "1 / 0": "line 2: ZeroDivisionError: division by zero",
}


def refusal(recipe: Recipe, folder: Path) -> str:
    with pytest.raises(ZermeloError) as caught:
        training_loop.prepare_training(recipe, folder / "run")
    text = str(caught.value)
    assert "\n" not in text
    assert not (folder / "run").exists(), "no run has been created"
    return text


@pytest.mark.parametrize("body", BAD_Q)
def test_a_wrong_q_network_is_refused(body: str, tmp_path: Path) -> None:
    (tmp_path / "bad.py").write_text(f"""
import torch

class Bad(torch.nn.Module):
    def __init__(self, input_shape, num_actions):
        super().__init__()
        self.layer = torch.nn.Linear(9, num_actions)

    def forward(self, x):
        {body}
""")
    recipe = dqn(tmp_path, f"{tmp_path / 'bad.py'}:Bad", "cells")
    assert BAD_Q[body] in refusal(recipe, tmp_path)


@pytest.mark.parametrize("source", BAD_CLASSES)
def test_a_wrong_file_is_refused(source: str, tmp_path: Path) -> None:
    (tmp_path / "bad.py").write_text(f"import torch\n{source}\n")
    recipe = dqn(tmp_path, f"{tmp_path / 'bad.py'}:Bad", "cells")
    assert BAD_CLASSES[source] in refusal(recipe, tmp_path)


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    text = refusal(dqn(tmp_path, "no/such/net.py:Net"), tmp_path)
    assert text == "cannot read the network in no/such/net.py: No such file or directory"


def test_a_q_network_is_no_policy_value_network(tmp_path: Path, nets: Path) -> None:
    text = refusal(alphazero(tmp_path, f"{nets}:Q"), tmp_path)
    assert (
        "Q returns a float32 tensor [2, 9] for 2 states in eval mode: a policy-value network must "
        "return (a float32 tensor [2, 9], a float32 tensor [2, 3]): logits of actions, and logits "
        "of win, draw and loss"
    ) in text


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            "float32)",
            "float64)",
            "returns a float64 array [2, 18] for 2 states: it must return a f",
        ),
        ("(18,)", "(17,)", "a float32 array [2, 18] for 2 states: it must return a float32 array"),
        ("(18,)", "18", "shape is 18: it must be a tuple of sizes"),
        ("__call__", "encode", "cannot be called: an encoder needs __call__(self, states)"),
        ("return (", "return np.nan * (", "returns NaN or infinity: all numbers must be finite"),
        ("cells =", "states[:] = 0; cells =", "changes the states that it is given"),
        ("cells =", "cells = 1 / 0 #", "line 34: ZeroDivisionError: division by zero"),
    ],
)
def test_a_wrong_encoder_is_refused(old: str, new: str, message: str, tmp_path: Path) -> None:
    head, _, tail = NETWORKS.partition("class Stones")
    path = tmp_path / "bad.py"
    path.write_text(head + "class Stones" + tail.replace(old, new))
    assert message in refusal(dqn(tmp_path, f"{path}:Q", f"{path}:Stones"), tmp_path)


def test_recipes_are_checked(tmp_path: Path, nets: Path) -> None:
    def problem(recipe: Recipe) -> str:
        with pytest.raises(BadRecipe) as caught:
            check(recipe)
        return str(caught.value)

    own = alphazero(tmp_path, f"{nets}:PolicyValue")
    encoded = replace(own, encoder=f"{nets}:Stones")
    images = replace(encoded, selfplay=replace(encoded.selfplay, images=8))
    assert "selfplay.images must be 1 with an encoder of your own" in problem(images)
    tower = replace(encoded, network=recipes.load("tictactoe-alphazero").network)
    assert "an encoder of your own needs a network of your own" in problem(tower)
    assert "encoder is 'lines', but a network of your own sees" in problem(
        replace(own, encoder="lines")
    )
    tabular = replace(dqn(tmp_path, f"{nets}:Q"), kind="tabular")
    assert "a table has no network" in problem(tabular)
    value = replace(recipes.load("squava-hybrid"), network=NetworkConfig(f"{nets}:Q"))
    assert "a recipe of kind value cannot use a network of kind" in problem(value)
    path = tmp_path / "own.toml"
    path.write_text(f'game = "tictactoe"\n[network]\nkind = "{nets}:Q"\nhidden = [3]\n')
    with pytest.raises(BadRecipe, match=r"own: network\.hidden is \[3\], but .* leave hidden out"):
        recipes.load(str(path))
    path.write_text('game = "tictactoe"\n[network]\nkind = "nets.py"\n')
    with pytest.raises(BadRecipe, match=r"unknown network: kind 'nets\.py'.* FILE\.py:CLASS or"):
        recipes.load(str(path))


def test_an_encoder_on_a_gpu_is_refused(tmp_path: Path, nets: Path) -> None:
    game = z.game("tictactoe")
    with pytest.raises(z.BadSpec, match="Stones runs only on the CPU, but a search on a GPU"):
        TensorGame(game, "cuda", CustomEncoder(f"{nets}:Stones", game))  # type: ignore[arg-type]


def test_an_encoder_may_take_any_layout(tmp_path: Path, nets: Path) -> None:
    """Its author decides what a game stored by colour looks like."""
    game = write_game(tmp_path, "by_colour", GRID)
    recipe = replace(dqn(tmp_path, f"{nets}:Q", f"{nets}:Stones"), game=game.spec)
    run = training_loop.train(recipe, tmp_path / "run", seed=1, grade=False)
    assert z.player(run.player).choose(game.start()).move


# Code that is missing or has changed.


@contextlib.contextmanager
def refused(path: Path, message: str) -> Iterator[None]:
    with pytest.raises((BadWeights, BadRun, z.BadSpec), match=message) as caught:
        yield
    assert str(path) in str(caught.value)


@pytest.mark.parametrize("kind", ["dqn", "alphazero", "dqn, encoder"])
def test_changed_code_is_refused(kind: str, tmp_path: Path, nets: Path) -> None:
    recipe, out = KINDS[kind](tmp_path, nets), tmp_path / "run"
    training_loop.train(recipe, out, seed=5, grade=False)
    unfinished = tmp_path / "unfinished"
    train_until(recipe, unfinished, 13)
    player, start = f"{recipe.kind}:{out}", z.game("tictactoe").start()
    nets.write_text(NETWORKS + "\n# A comment.\n")
    changed = r"different code: the \w+ .* has changed: the SHA-256 of its source was \w{16}…"
    with refused(nets, changed):
        z.player(player).choose(start)
    with refused(nets, changed):
        training_loop.prepare_training(recipe, unfinished, seed=5, resume=True)
    nets.unlink()
    with refused(nets, "needs the code of its .*: cannot read the .* No such file"):
        z.player(player).choose(start)
    with refused(nets, "cannot read the network in"):
        training_loop.prepare_training(recipe, unfinished, seed=5, resume=True)
    nets.write_text(NETWORKS)
    assert z.player(player).choose(start).move


def test_weights_that_do_not_fit_the_module_are_refused(tmp_path: Path, nets: Path) -> None:
    run = training_loop.train(dqn(tmp_path, f"{nets}:Q"), tmp_path / "run", seed=1, grade=False)
    arrays, metadata = weights_file.read(run.folder / "final.safetensors")
    arrays["head.1.bias"] = np.zeros(8, np.float32)
    weights_file.write(tmp_path / "other.safetensors", arrays, metadata)
    with pytest.raises(BadWeights, match=r"head\.1\.bias is \[8\], but this network expects \[9\]"):
        z.player(f"dqn:{tmp_path / 'other.safetensors'}").choose(z.game("tictactoe").start())


# Code runs only if a person names the run.


def test_code_is_not_run_for_requests_recipes_and_saved_games(tmp_path: Path, nets: Path) -> None:
    run = training_loop.train(dqn(tmp_path, f"{nets}:Q"), tmp_path / "run", seed=1, grade=False)
    nets.write_text(f"open({str(tmp_path / 'was-run')!r}, 'w')\n{NETWORKS}")
    for spec in (run.player, f"mcts:evaluator={run.player}"):
        with pytest.raises(z.BadSpec, match="must name a model that comes with zermelo"):
            load_builtin_player(spec)
    save = Save("tictactoe", "human", run.player, ())
    assert save.file_specs == [run.player]
    assert Save("tictactoe", "human", "dqn:tictactoe-dqn", ()).file_specs == []
    recipes.from_dict(run.recipe.to_dict())
    assert not (tmp_path / "was-run").exists()


def test_no_shipped_model_needs_code() -> None:
    for name in model_files.shipped_model_names():
        metadata = weights_file.read_metadata(model_files.find_model_file(name))
        assert custom.SOURCES not in metadata


# The example of the guide.


def test_the_example_trains_at_the_command_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "examples"
    folder.mkdir()
    for suffix in (".py", ".toml"):
        shutil.copy(EXAMPLE.with_suffix(suffix), folder)
    text = (folder / "own_network.toml").read_text()
    assert "updates = 200\n" in text
    (folder / "own_network.toml").write_text(text.replace("updates = 200\n", "updates = 20\n"))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ZERMELO_HOME", str(tmp_path / "home"))
    code, out, error = command(
        "train", "examples/own_network.toml", "--short", "--seed", "1", "--out", "run", "--json"
    )
    assert code == 0, error
    assert json.loads(out)["player"] == "dqn:run"
    assert command("choose", "tictactoe", "dqn:run")[0] == 0


def test_the_example_of_alphazero_trains(tmp_path: Path) -> None:
    recipe = alphazero(tmp_path, f"{EXAMPLE}:ColumnNetwork")
    run = training_loop.train(recipe, tmp_path / "run", seed=1, grade=False)
    assert z.player(run.player).choose(z.game("tictactoe").start()).move
