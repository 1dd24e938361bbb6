"""Learned players: checks of model files, play without torch, shipped models over HTTP."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import save_file

import zermelo as z
from support.recipes import write_recipe
from support.studio import Studio, assert_refused, serve
from zermelo.core.errors import BadSpec
from zermelo.learn.models import files as model_files
from zermelo.learn.models.q_model import QModel
from zermelo.learn.networks import weights_file
from zermelo.learn.networks.weights_file import BadWeights
from zermelo.learn.runs import training_loop
from zermelo.learn.runs.run_folder import Run
from zermelo.players.registry import load_builtin_player
from zermelo.studio.app import create_app

GAME = z.game("tictactoe")


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    folder = tmp_path_factory.mktemp("run")
    return training_loop.train(str(write_recipe(folder)), folder / "run", grade=False)


@pytest.fixture
def shipped(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Replace the folder of shipped models by one with a single model."""
    (tmp_path / "shipped").mkdir()
    final = (run.folder / "final.safetensors").read_bytes()
    (tmp_path / "shipped" / "tiny.safetensors").write_bytes(final)
    monkeypatch.setattr(model_files.resources, "files", lambda _package: tmp_path)
    model_files._shipped_model.cache_clear()
    yield tmp_path / "shipped"
    model_files._shipped_model.cache_clear()


def test_a_run_plays(run: Run) -> None:
    position = GAME.start().play("a1")
    choice = z.player(run.player).choose(position)
    assert choice.move in position.legal
    assert sorted(c.move for c in choice.candidates) == sorted(position.legal)
    assert choice.candidates[0].best
    assert not choice.exact
    for name in ("final", "best", "checkpoint"):
        player = z.player(f"dqn:{run.folder / name}.safetensors")
        assert player.choose(position).move in position.legal
    last = z.player(f"dqn:{run.folder}/checkpoint.safetensors").choose(position)
    assert last.candidates == choice.candidates, "the last checkpoint holds the final weights"


def test_q_values_equal_those_of_the_trainer(run: Run, tmp_path: Path) -> None:
    """Inference in numpy and in torch agree."""
    assert isinstance(GAME, z.WordGame)
    changes = {
        "mlp": [],
        "tanh": [("hidden = [12]", 'hidden = [9, 5], activation = "tanh"')],
        "cnn": [
            ("game = ", 'encoder = "threats"\ngame = '),
            ("hidden = [12]", 'kind = "cnn", channels = [4, 3], hidden = [6], dueling = true'),
            ("dueling = true", 'dueling = true, activation = "leaky"'),
        ],
        "noisy": [
            ("hidden = [12]", "hidden = [], noisy = true"),
            ("batch", "canonical=false,batch"),
        ],
        "tabular": [("game = ", 'kind = "tabular"\ngame = ')],
    }
    for name, change in changes.items():
        recipe = str(write_recipe(tmp_path, *change, name=name))
        run, trainer = training_loop.prepare_training(recipe, tmp_path / f"{name}-run")
        training_loop.run_training(run, trainer)
        states = trainer.game_batch.sample_states(50, 9, 1)
        q = QModel(str(run.folder), GAME).values(states)
        assert q == pytest.approx(trainer.values(states), abs=1e-5)


def test_a_shell_wins_and_blocks(run: Run) -> None:
    player = z.player(f"{run.player},shell=true")
    assert player.name == f"{run.player},shell=true"
    for board, move in (("XX./OO./... X", "c1"), ("OO./X.X/X.. O", "c1"), ("X.O/.X./... O", "c3")):
        assert player.choose(GAME.position(board)).move == move


def test_an_evaluator_for_search(run: Run) -> None:
    player = z.player(f"mcts:sims=200,evaluator=dqn:{run.folder},seed=1")
    assert player.choose(GAME.position("XX./OO./... X")).move == "c1"
    with pytest.raises(BadWeights, match="trained for tictactoe, not for connect4"):
        player.choose(z.game("connect4").start())


def test_wrong_game_or_rules(run: Run, tmp_path: Path) -> None:
    with pytest.raises(BadWeights, match="was trained for tictactoe, not for mnk:4x4x3"):
        z.player(run.player).choose(z.game("mnk:4x4x3").start())
    arrays, metadata = weights_file.read(run.folder / "final.safetensors")
    path = tmp_path / "old.safetensors"
    weights_file.write(path, arrays, {**metadata, "rules": "0123"})
    with pytest.raises(BadWeights, match="with other rules of tictactoe: train it again"):
        QModel(str(path), GAME)
    for name, part in (
        ("nothing", "there is no model"),
        ("", "has not finished"),
    ):
        with pytest.raises(BadWeights, match=part):
            QModel(str(tmp_path / name), GAME)


def test_damaged_and_unfitting_files_are_refused(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "it.safetensors"
    arrays, metadata = weights_file.read(run.folder / "final.safetensors")
    shape = metadata["shape"]
    bad: list[tuple[dict[str, Any], dict[str, Any], str]] = [
        (
            {"actions.bias": np.zeros(1, np.float32)},
            {},
            "actions.bias is [1], but this network expects",
        ),
        ({"actions.bias": np.full(9, np.nan, np.float32)}, {}, "contains NaN"),
        (
            {"extra": np.zeros(1, np.float32)},
            {},
            "extra is [1], but this network expects no such array",
        ),
        ({}, {"format": 99}, "another kind, or was written by a later version"),
        ({}, {"shape": [1]}, "another kind, or was written by a later version"),
        (
            {},
            {"shape": {**shape, "hidden": [13]}},
            "full0.weight is [12, 9], but this network expects [13, 9]",
        ),
        ({}, {"shape": {**shape, "hidden": [12, 12]}}, "full1.weight is missing"),
        ({}, {"shape": {**shape, "hidden": "many"}}, "the network's hidden is 'many'"),
        ({}, {"shape": {**shape, "hidden": [-1]}}, "it must be a list of layer widths"),
        ({}, {"shape": {**shape, "channels": [10**9]}}, "conv0.weight is missing"),
        ({}, {"shape": {"kind": "table"}}, "not the states and values of a table"),
        ({}, {"encoder": ["cells"]}, "does not name its encoder"),
        ({}, {"encoder": "magic"}, "encoder is 'magic'"),
        ({}, {"opening": [77]}, "the opening [77] cannot be played"),
        ({}, {"opening": {"a": 1}}, "cannot be played"),
    ]
    for changed, changed_metadata, part in bad:
        weights_file.write(path, arrays | changed, metadata | changed_metadata)
        with pytest.raises(z.ZermeloError) as caught:
            QModel(str(path), GAME)
        assert part in str(caught.value)
        assert "\n" not in str(caught.value)
    content = (run.folder / "final.safetensors").read_bytes()
    for data in (b"", b"{}", content[:500], content[:-4], b"\xff" * 64, b"\0" * 64):
        path.write_bytes(data)
        with pytest.raises(BadWeights, match="is damaged or not a weights file"):
            QModel(str(path), GAME)
    save_file({"a": np.zeros(3)}, path)
    with pytest.raises(BadWeights, match="not those of a zermelo model"):
        QModel(str(path), GAME)
    with path.open("wb") as file:
        file.truncate(model_files.MAX_BYTES + 1)
    with pytest.raises(BadWeights):
        QModel(str(path), GAME)
    table = {"states": np.zeros((2, 3), np.uint64), "values": np.zeros((2, 8), np.float32)}
    weights_file.write(path, table, {**metadata, "shape": {"kind": "table"}})
    with pytest.raises(BadWeights, match="not a Q table: states"):
        QModel(str(path), GAME)


def test_play_does_not_need_torch(run: Run) -> None:
    code = (
        "import sys\nsys.modules['torch'] = None\nimport zermelo as z\n"
        f"player = z.player('dqn:{run.folder}')\n"
        f"search = z.player('mcts:sims=50,evaluator=dqn:{run.folder}')\n"
        "position = z.game('tictactoe').start()\n"
        "while not position.is_over:\n"
        "    position = position.play(player.choose(position).move)\n"
        "    if not position.is_over:\n"
        "        position = position.play(search.choose(position).move)\n"
        "print(position.verdict)"
    )
    process = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )
    assert process.returncode == 0, process.stderr
    assert process.stdout


# Shipped models


def test_shipped_models(shipped: Path) -> None:
    assert model_files.shipped_models() == [model_files.ShippedModel("tiny", "tictactoe", "dqn")]
    (shipped / "damaged.safetensors").write_bytes(b"nonsense")
    assert model_files.shipped_models() == [model_files.ShippedModel("tiny", "tictactoe", "dqn")], (
        "a damaged model is left out"
    )
    named = z.player("dqn:tiny").choose(GAME.start()).move
    assert z.player("dqn").choose(GAME.start()).move == named, "the model for the game"
    with pytest.raises(BadWeights, match="no model is shipped for connect4"):
        z.player("dqn").choose(z.game("connect4").start())


def test_without_shipped_models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model_files.resources, "files", lambda _package: tmp_path)
    assert model_files.shipped_model_names() == []
    with pytest.raises(BadWeights, match="name of a shipped model: none"):
        model_files.find_model_file("tictactoe-dqn")
    for studio in serve(create_app(tmp_path / "m.db")):
        models = {player["name"]: player["models"] for player in studio.get("players").json()}
        assert models["dqn"] == []
        assert models["random"] is None
        assert_refused(studio.post("matches", game="tictactoe", second="dqn:x"), 422, "none yet")


@pytest.fixture
def studio(shipped: Path, tmp_path: Path) -> Iterator[Studio]:
    yield from serve(create_app(tmp_path / "m.db"))


def test_the_studio_offers_shipped_models(studio: Studio) -> None:
    models = {player["name"]: player["models"] for player in studio.get("players").json()}
    assert models["dqn"] == [{"name": "tiny", "game": "tictactoe", "spec": "dqn:tiny"}]
    assert models["mcts"] is None
    match = studio.create(first="dqn:tiny", second="mcts:sims=50,evaluator=dqn:tiny")
    for ply in (1, 2):
        answer = studio.post(f"matches/{match['id']}/reply")
        assert answer.status_code == 200, answer.text
        assert len(answer.json()["moves"]) == ply
    assert_refused(
        studio.post("matches", game="connect4", second="dqn:tiny"), 422, "not for connect4"
    )
    assert_refused(
        studio.post("matches", game="tictactoe:size=4", first="dqn:tiny"), 422, "not for tict"
    )
    assert_refused(
        studio.post("matches", game="connect4", second="dqn"), 422, "no model is shipped"
    )


def test_the_studio_accepts_names_of_models_only(studio: Studio, run: Run, tmp_path: Path) -> None:
    """A path is refused however it is written, and whether or not a file is there."""
    folder = run.folder
    (tmp_path / "tiny").mkdir()
    paths = (
        f"dqn:{folder}",
        f"dqn:{folder}/final.safetensors",
        f"dqn:run={folder}",
        f"dqn: {folder} ",
        f"dqn:{folder},shell=true",
        f"dqn:{folder}:tiny",
        "dqn:/etc/passwd",
        "dqn:../shipped/tiny",
        "dqn:./tiny",
        "dqn:tiny.safetensors",
        "dqn:heuristic",
        "dqn:dqn:tiny",
        f"mcts:evaluator=dqn:{folder}",
        f"mcts:sims=20,evaluator=dqn:{folder}:tiny",
        "mcts:evaluator=dqn:/etc/passwd",
        "mcts:evaluator=dqn:./tiny",
        "mcts:evaluator=heuristic:dqn:tiny",
        f"mcts:evaluator={folder}:tiny",
    )
    for spec in paths:
        with pytest.raises(BadSpec) as caught:
            load_builtin_player(spec)
        assert "must name a model that comes with zermelo: " in str(caught.value)
        assert_refused(
            studio.post("matches", game="tictactoe", second=spec), 422, "comes with zermelo"
        )
        assert_refused(studio.get("analysis", game="tictactoe", player=spec), 422)
    for spec in ("mcts:evaluator=heuristic", "mcts:evaluator=dqn:tiny", "dqn:tiny", "dqn:run=tiny"):
        assert load_builtin_player(spec).choose(GAME.start()).move
    assert json.loads(studio.get("matches").text) == []
