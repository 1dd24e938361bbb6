"""Learned players: files checked at the door, play without torch, only names by network."""

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
from support.recipes import recipe
from support.studio import Studio, assert_refused, serve
from zermelo.core.errors import BadSpec
from zermelo.learn.models import model
from zermelo.learn.models.model import Model
from zermelo.learn.networks import weights_file
from zermelo.learn.networks.weights_file import BadWeights
from zermelo.learn.runs import training
from zermelo.learn.runs.run import Run
from zermelo.players.registry import load_builtin_player
from zermelo.studio.app import create_app

GAME = z.game("tictactoe")


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    folder = tmp_path_factory.mktemp("run")
    return training.train(str(recipe(folder)), folder / "run", grade=False)


@pytest.fixture
def shipped(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder of shipped models with one in it."""
    (tmp_path / "shipped").mkdir()
    final = (run.folder / "final.safetensors").read_bytes()
    (tmp_path / "shipped" / "tiny.safetensors").write_bytes(final)
    monkeypatch.setattr(model.resources, "files", lambda _package: tmp_path)
    model._shipped.cache_clear()
    yield tmp_path / "shipped"
    model._shipped.cache_clear()


def test_a_run_plays(run: Run) -> None:
    position = GAME.start().play("a1")
    found = z.player(run.player).choose(position)
    assert found.move in position.legal
    assert sorted(c.move for c in found.candidates) == sorted(position.legal)
    assert found.candidates[0].best
    assert not found.exact
    for name in ("final", "best", "checkpoint"):
        player = z.player(f"dqn:{run.folder / name}.safetensors")
        assert player.choose(position).move in position.legal
    last = z.player(f"dqn:{run.folder}/checkpoint.safetensors").choose(position)
    assert last.candidates == found.candidates, "the last checkpoint holds the final weights, too"


def test_play_is_what_was_trained(run: Run, tmp_path: Path) -> None:
    """Without torch the numbers are those of the trainer."""
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
        made = str(recipe(tmp_path, *change, name=name))
        run, trainer = training.prepare_training(made, tmp_path / f"{name}-run")
        training.run_training(run, trainer)
        states = trainer.game_batch.sample_states(50, 9, 1)
        found = Model(str(run.folder), GAME).values(states)
        assert found == pytest.approx(trainer.values(states), abs=1e-5)


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
    arrays, about = weights_file.read(run.folder / "final.safetensors")
    path = tmp_path / "old.safetensors"
    weights_file.write(path, arrays, {**about, "rules": "0123"})
    with pytest.raises(BadWeights, match="when tictactoe had other rules: train it anew"):
        Model(str(path), GAME)
    for name, part in (
        ("nothing", "there is no model"),
        ("", "holds no finished run"),
    ):
        with pytest.raises(BadWeights, match=part):
            Model(str(tmp_path / name), GAME)


def test_files_are_checked_at_the_door(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "it.safetensors"
    arrays, about = weights_file.read(run.folder / "final.safetensors")
    shape = about["shape"]
    bad: list[tuple[dict[str, Any], dict[str, Any], str]] = [
        ({"actions.bias": np.zeros(1, np.float32)}, {}, "actions.bias is [1], but by the network"),
        ({"actions.bias": np.full(9, np.nan, np.float32)}, {}, "holds what is no number"),
        (
            {"extra": np.zeros(1, np.float32)},
            {},
            "extra is [1], but by the network's shape no part",
        ),
        ({}, {"format": 99}, "another kind or a later version"),
        ({}, {"shape": [1]}, "another kind or a later version"),
        ({}, {"shape": {**shape, "hidden": [13]}}, "full0.weight is [12, 9], but by"),
        ({}, {"shape": {**shape, "hidden": [12, 12]}}, "full1.weight is missing"),
        ({}, {"shape": {**shape, "hidden": "many"}}, "hidden of the network is 'many'"),
        ({}, {"shape": {**shape, "hidden": [-1]}}, "it must be a list of widths"),
        ({}, {"shape": {**shape, "channels": [10**9]}}, "conv0.weight is missing"),
        ({}, {"shape": {"kind": "table"}}, "not the states of a table"),
        ({}, {"encoder": ["cells"]}, "does not say how its states are encoded"),
        ({}, {"encoder": "magic"}, "encoder is 'magic'"),
        ({}, {"opening": [77]}, "its opening [77] cannot be played"),
        ({}, {"opening": {"a": 1}}, "cannot be played"),
    ]
    for changed, said, part in bad:
        weights_file.write(path, arrays | changed, about | said)
        with pytest.raises(z.ZermeloError) as caught:
            Model(str(path), GAME)
        assert part in str(caught.value)
        assert "\n" not in str(caught.value)
    whole = (run.folder / "final.safetensors").read_bytes()
    for data in (b"", b"{}", whole[:500], whole[:-4], b"\xff" * 64, b"\0" * 64):
        path.write_bytes(data)
        with pytest.raises(BadWeights, match="is damaged, or no file of weights"):
            Model(str(path), GAME)
    save_file({"a": np.zeros(3)}, path)
    with pytest.raises(BadWeights, match="not of ours"):
        Model(str(path), GAME)
    with path.open("wb") as file:
        file.truncate(model.MAX_BYTES + 1)
    with pytest.raises(BadWeights):
        Model(str(path), GAME)
    table = {"states": np.zeros((2, 3), np.uint64), "values": np.zeros((2, 8), np.float32)}
    weights_file.write(path, table, {**about, "shape": {"kind": "table"}})
    with pytest.raises(BadWeights, match="no table: states"):
        Model(str(path), GAME)


def test_play_needs_no_torch(run: Run) -> None:
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
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout


# Shipped models


def test_shipped_models(shipped: Path) -> None:
    assert model.shipped() == [model.Shipped("tiny", "tictactoe", "dqn")]
    (shipped / "damaged.safetensors").write_bytes(b"nonsense")
    assert model.shipped() == [model.Shipped("tiny", "tictactoe", "dqn")], (
        "a screen goes on without it"
    )
    named = z.player("dqn:tiny").choose(GAME.start()).move
    assert z.player("dqn").choose(GAME.start()).move == named, "that of the game"
    with pytest.raises(BadWeights, match="no model is shipped for connect4"):
        z.player("dqn").choose(z.game("connect4").start())


def test_none_shipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model.resources, "files", lambda _package: tmp_path)
    assert model.shipped_names() == []
    with pytest.raises(BadWeights, match="one that is shipped: none yet"):
        model.find("tictactoe-dqn")
    for studio in serve(create_app(tmp_path / "m.db")):
        found = {player["name"]: player["models"] for player in studio.get("players").json()}
        assert found["dqn"] == []
        assert found["random"] is None
        assert_refused(studio.post("matches", game="tictactoe", second="dqn:x"), 422, "none yet")


@pytest.fixture
def studio(shipped: Path, tmp_path: Path) -> Iterator[Studio]:
    yield from serve(create_app(tmp_path / "m.db"))


def test_the_studio_offers_them(studio: Studio) -> None:
    found = {player["name"]: player["models"] for player in studio.get("players").json()}
    assert found["dqn"] == [{"name": "tiny", "game": "tictactoe", "spec": "dqn:tiny"}]
    assert found["mcts"] is None
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


def test_names_only_from_the_network(studio: Studio, run: Run, tmp_path: Path) -> None:
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
        assert "names a model that comes with zermelo: " in str(caught.value)
        assert_refused(
            studio.post("matches", game="tictactoe", second=spec), 422, "comes with zermelo"
        )
        assert_refused(studio.get("analysis", game="tictactoe", player=spec), 422)
    for spec in ("mcts:evaluator=heuristic", "mcts:evaluator=dqn:tiny", "dqn:tiny", "dqn:run=tiny"):
        assert load_builtin_player(spec).choose(GAME.start()).move
    assert json.loads(studio.get("matches").text) == []
