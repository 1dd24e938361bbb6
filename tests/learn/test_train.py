"""Training by command and in Python: recipes, what they learn, and the files of a run."""

import json
import shlex
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import zermelo as z
from support.commands import command
from support.learners import have_same_weights, train_until
from support.paths import ROOT
from support.recipes import write_recipe
from zermelo.core.errors import BadSpec
from zermelo.core.game.fingerprint import rules_fingerprint
from zermelo.learn.config import recipes
from zermelo.learn.config.validation import BadRecipe
from zermelo.learn.dqn.supervised import exact_labels
from zermelo.learn.runs import training_loop
from zermelo.learn.runs.charts import draw_heat_map, draw_learning_curves
from zermelo.learn.runs.log import read_log
from zermelo.learn.runs.run_folder import Run
from zermelo.store.history import History


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ZERMELO_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


@pytest.fixture(scope="module")
def tabular(tmp_path_factory: pytest.TempPathFactory) -> Run:
    folder = tmp_path_factory.mktemp("tabular")
    return z.train("tictactoe-tabular", folder / "run", seed=1)


# Recipes


@pytest.mark.parametrize("name", recipes.names())
def test_every_recipe_can_be_started(name: str, tmp_path: Path) -> None:
    loaded = recipes.load(name)
    assert loaded.summary, "zermelo train lists it"
    assert recipes.load(name, short=True).learning.updates < loaded.learning.updates
    if name == "connect4-alphazero":  # its first rollout takes a GPU
        loaded = recipes.load(name, short=True)
    _, trainer = training_loop.prepare_training(loaded, tmp_path / "run")
    assert next(iter(trainer.steps())).update == 1


@pytest.mark.parametrize(
    ("old", "new", "part"),
    [
        ("game = ", 'kind = "magic"\ngame = ', "kind is 'magic': it must be one of dqn, tabular"),
        ("game = ", 'kind = "supervised"\ngame = ', "must have 'supervised' in its name"),
        ("game = ", "gain = 1\ngame = ", "tiny has no key 'gain'"),
        ("size = 300", "size = 30", "warm_up is 40: it must be from 1 to replay.size (30)"),
        ("batch = 16", "batch = 0", "batch is 0: it must be 1 or more"),
        ("batch = 16", "batch = true", "tiny.learning.batch is True: it must be int"),
        ("batch = 16", 'loss = "l1"', "loss is 'l1': it must be huber or mse"),
        ("games = 8", "games = 8, seats = [2]", "seats is [2]: each seat must be 0 or 1"),
        ("checkpoint = 7", "checkpoint = 0", "checkpoint is 0"),
        ("hidden = [12]", "hidden = 12", "tiny.network.hidden is 12: it must be a list"),
        ("batch = 16", "phases = []", "there must be at least one phase"),
        ("game = ", "game = [", "tiny is not a recipe"),
    ],
)
def test_bad_recipes(old: str, new: str, part: str, tmp_path: Path) -> None:
    with pytest.raises(BadRecipe) as caught:
        recipes.load(str(write_recipe(tmp_path, (old, new))))
    assert part in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_table_has_one_phase(tmp_path: Path) -> None:
    path = write_recipe(
        tmp_path,
        ("game = ", 'kind = "tabular"\ngame = '),
        ("batch = 16", "phases = [{ share = 0.5 }, { share = 0.5 }]"),
    )
    with pytest.raises(BadRecipe, match="a table learns in one phase"):
        recipes.load(str(path))


def test_first_moves(tmp_path: Path) -> None:
    path = write_recipe(tmp_path, ("game = ", 'first_move = "centre"\ngame = '))
    run = training_loop.train(str(path), tmp_path / "run", grade=False)
    assert z.player(run.player).choose(z.game("tictactoe").start()).move == "b2"
    path = write_recipe(tmp_path, ("game = ", 'first_move = "corner"\ngame = '))
    with pytest.raises(BadSpec, match="first_move is 'corner'"):
        training_loop.prepare_training(str(path), tmp_path / "other")
    path = write_recipe(tmp_path, ('"tictactoe"', '"gomoku"'))
    with pytest.raises(BadSpec, match="at most 64 cells"):
        training_loop.prepare_training(str(path), tmp_path / "large")


# What is learned


def test_a_table_learns_tictactoe(tabular: Run) -> None:
    grade = z.grade("tictactoe", tabular.player)
    assert (grade.total.positions, grade.total.mistakes) == (4520, 0)
    assert grade.unbeatable


def test_labels_are_exact() -> None:
    game = z.game("tictactoe")
    assert isinstance(game, z.WordGame)
    labels = exact_labels(game)
    assert len(labels.actions) == 16167, "moves of all states"
    assert not labels.discounts.any()
    board = {  # X to move wins immediately with c1, and with nothing else
        game.to_text(game.initial(), int(action)): float(value)
        for state, action, value in zip(labels.states, labels.actions, labels.returns, strict=True)
        if np.array_equal(state, game.position("XX./OO./... X").state)
    }
    assert board["c1"] == 1.0
    assert board["a3"] == -1.0
    with pytest.raises(BadSpec, match="too many states"):
        exact_labels(z.game("connect4"))  # type: ignore[arg-type]


def test_the_best_response_to_an_opponent(tmp_path: Path) -> None:
    """Against random play, a table finds the moves that win most: 191 of 192 as first player."""
    run = z.train("tictactoe-tabular", tmp_path / "run", opponent="random", grade=False)
    assert run.recipe.acting.response
    grade = z.grade("tictactoe", run.player)
    assert grade.vs_random is not None
    assert float(grade.vs_random[0].win) > 0.97
    assert float(grade.vs_random[1].win) > 0.85
    assert run.command == "zermelo train tictactoe-tabular --seed 0 --opponent random"
    run, _ = training_loop.prepare_training("tictactoe-dqn", opponent="minimax:2", seed=3)
    assert run.folder.name == "tictactoe-dqn-against-minimax-2-3"
    assert not run.recipe.learning.canonical, "the opponent may treat symmetric states differently"
    with pytest.raises(BadSpec, match="unknown player"):
        training_loop.prepare_training("tictactoe-dqn", tmp_path / "x", opponent="nobody")


# The files of a run


def test_the_card(tabular: Run) -> None:
    card = json.loads((tabular.folder / "card.json").read_text())
    assert card["command"] == "zermelo train tictactoe-tabular --seed 1"
    assert card["grades"]["raw"]["mistakes"] == card["grades"]["shell"]["mistakes"] == 0
    assert card["grades"]["raw"]["unbeatable"] is True
    assert card["recipe"]["kind"] == "tabular"
    assert card["updates"] == card["recipe"]["learning"]["updates"]
    assert set(card["versions"]) == {"zermelo", "python", "numpy", "torch"}
    text = (tabular.folder / "card.md").read_text()
    assert "| the network alone | 4,520 | 0 (0.00%) |" in text
    assert str(tabular.folder) not in text
    assert str(tabular.folder) not in json.dumps(card)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"seed": 4, "short": True}, ["--short"]),
        ({"actors": 1}, ["--actors", "1"]),
        ({"opponent": "lookahead:2"}, ["--opponent", "lookahead:2"]),
    ],
)
def test_the_command_on_the_card_reproduces_the_run(
    options: dict[str, Any], words: list[str], tmp_path: Path
) -> None:
    folder = tmp_path / "my recipes"
    folder.mkdir()
    path = str(write_recipe(folder, ("grade = 6 }", "grade = 6 }\n[short.learning]\nupdates = 12")))
    run = training_loop.train(path, tmp_path / "run", **options, grade=False)
    card = json.loads((run.folder / "card.json").read_text())
    assert f"`{card['command']}`" in (run.folder / "card.md").read_text()
    program, *arguments = shlex.split(card["command"])
    assert program == "zermelo"
    assert arguments == ["train", path, "--seed", str(options.get("seed", 0)), *words]
    code, _, err = command(*arguments, "--out", str(tmp_path / "again"))
    assert code == 0, err
    assert have_same_weights(run.folder, tmp_path / "again")


def test_a_recipe_learns_a_game_in_a_file(tmp_path: Path) -> None:
    """The run records the file and the fingerprint of its rules, and its player plays it."""
    game, recipe = str(ROOT / "examples" / "domineering.py"), str(write_recipe(tmp_path))
    z.train(recipe, tmp_path / "run", game=game, grade=False)
    manifest = json.loads((tmp_path / "run" / "run.json").read_text())
    assert manifest["recipe"]["game"] == game
    assert manifest["rules"] == rules_fingerprint(z.game(game))
    card = json.loads((tmp_path / "run" / "card.json").read_text())
    assert shlex.split(card["command"])[-2:] == ["--game", game]
    start = z.game(game).start()
    assert z.player(f"dqn:{tmp_path / 'run'}").choose(start).move in start.legal


def test_options_that_choose_the_machine_are_part_of_the_command() -> None:
    on_gpu = training_loop._command(
        "a.toml", seed=1, short=False, device="cuda", cluster="host:6379"
    )
    assert on_gpu == "zermelo train a.toml --seed 1 --device cuda --cluster host:6379"


def test_a_recipe_from_python_has_no_command(tmp_path: Path) -> None:
    run = training_loop.train(
        recipes.load(str(write_recipe(tmp_path))), tmp_path / "run", grade=False
    )
    assert json.loads((run.folder / "card.json").read_text())["command"] is None
    assert "- trained in Python with the recipe below" in (run.folder / "card.md").read_text()


def test_the_charts(tabular: Run) -> None:
    texts = {name: (tabular.folder / name).read_text() for name in ("curves.svg", "start.svg")}
    for text in texts.values():
        assert ET.fromstring(text).tag == "{http://www.w3.org/2000/svg}svg"  # noqa: S314 - our own
        assert len(text) < 100_000
        assert "nan" not in text
    for title in ("mistake rate", "loss", "results", "mean Q"):
        assert title in texts["curves.svg"]
    assert texts["start.svg"].count("<rect") == 9 * 12
    assert draw_learning_curves([]) == draw_heat_map([], 3) == ""


def test_the_log(tabular: Run) -> None:
    log = read_log(tabular.folder)
    assert [line["update"] for line in log] == list(range(100, 3001, 100))
    assert set(log[0]) == {
        "update", "loss", "epsilon", "rate", "results", "wins", "most_wins", "mean_q", "mistakes",
        "start",
    }  # fmt: skip
    assert log[-1]["mistakes"] == 0 < log[0]["mistakes"]
    assert log[-1]["start"] == pytest.approx([0.0] * 9), "tic-tac-toe is a draw"
    most = [line["most_wins"] for line in log]
    assert most == sorted(most)


def test_tensorboard(tabular: Run, tmp_path: Path) -> None:
    loading = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    events = loading.EventAccumulator(str(tabular.folder / "tensorboard"))
    events.Reload()
    names = {"loss", "epsilon", "rate", "results", "mistakes", "mean_q"}
    assert names <= set(events.Tags()["scalars"])
    log = read_log(tabular.folder)
    assert [(e.step, e.value) for e in events.Scalars("mistakes")] == [
        (line["update"], pytest.approx(line["mistakes"])) for line in log
    ]
    path = str(write_recipe(tmp_path))
    train_until(path, tmp_path / "run", 20)  # lines at 6, 12 and 18, the checkpoint at 14
    training_loop.train(path, tmp_path / "run", seed=5, resume=True, grade=False)
    events = loading.EventAccumulator(str(tmp_path / "run" / "tensorboard"))
    events.Reload()
    assert [e.step for e in events.Scalars("loss")] == [6, 12, 18, 24, 30, 36]


def test_without_tensorboard(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", None)
    run = training_loop.train(str(write_recipe(tmp_path)), tmp_path / "run", grade=False)
    assert not (run.folder / "tensorboard").exists()


# Commands


def answer(*arguments: str) -> Any:
    code, out, err = command(*arguments, "--json")
    assert code == 0, err
    return json.loads(out)


def test_commands(tmp_path: Path, home: Path) -> None:
    path = str(write_recipe(tmp_path))
    assert "no runs yet" in command("runs")[1]
    trained = answer("train", path, "--seed", "4")
    folder = home / "runs" / "tiny-4"
    assert trained["folder"] == str(folder)
    assert trained["player"] == f"dqn:{folder}"
    assert (trained["state"], trained["update"], trained["updates"]) == ("finished", 36, 36)
    assert trained["grades"]["raw"]["positions"] == 4520
    assert [run["name"] for run in answer("runs")["runs"]] == ["tiny-4"]
    shown = answer("runs", "show", "tiny-4")
    assert len(shown["log"]) == 6
    out, err = command("runs", "show", "tiny-4")[1:]
    assert "finished, 36 updates" in out, err
    assert "4,520 positions" in out
    with History(home / "studio.db") as store:
        (stored,) = store.runs(None, None, 10)
        assert (stored.kind, stored.game, stored.state) == ("train", "tictactoe", "finished")
        assert stored.settings["player"] == trained["player"]
        assert stored.result is not None
        assert stored.result["raw"]["mistakes"] == trained["grades"]["raw"]["mistakes"]
    for name, *more in (["it.json"], ["it.safetensors"], ["small.safetensors", "--bits", "8"]):
        assert command("runs", "export", "tiny-4", "--out", str(tmp_path / name), *more)[0] == 0
    sizes = []
    for name in ("it.safetensors", "small.safetensors"):
        assert z.player(f"dqn:{tmp_path / name}").choose(z.game("tictactoe").start()).move
        sizes.append((tmp_path / name).stat().st_size)
    assert sizes[1] < sizes[0]
    assert json.loads((tmp_path / "it.json").read_text())["asked"]["seed"] == 4


def test_a_run_in_another_folder_is_found_by_its_name(tmp_path: Path) -> None:
    out = tmp_path / "far" / "away"
    assert command("train", str(write_recipe(tmp_path)), "--out", str(out))[0] == 0
    assert [run["folder"] for run in answer("runs")["runs"]] == [str(out)]
    assert answer("runs", "show", "away")["seed"] == 0


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (["train", "nono"], "there is no recipe 'nono': "),
        (["train", "no.toml"], "cannot read the recipe no.toml"),
        (["train", "tictactoe-dqn", "--resume"], "does not contain a training run"),
        (["train", "tictactoe-dqn", "--opponent", "nobody"], "unknown player 'nobody'"),
        (["train", "tictactoe-dqn", "--device", "tpu"], "'tpu'"),
        (["runs", "show"], "name the run to show"),
        (["runs", "show", "nono"], "there is no run 'nono'"),
        (["runs", "list", "this"], "`list` takes neither NAME nor --out"),
        (["runs", "export", "nono", "--out", "x.json"], "there is no run 'nono'"),
    ],
)
def test_bad_arguments(arguments: list[str], part: str) -> None:
    code, out, err = command(*arguments)
    assert (code, out) == (2, "")
    assert part in err
    assert err.count("\n") == 1


def test_no_cuda_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    code, _, err = command("train", "tictactoe-dqn", "--device", "cuda")
    assert code == 2
    assert "finds no CUDA device" in err
    assert err.count("\n") == 1


def test_no_torch_is_one_line() -> None:
    """Training says what is missing; the help text needs neither torch nor numpy."""
    code = (
        "import sys\nsys.modules['torch'] = None\nfrom zermelo.cli import main\n"
        "sys.argv = ['zermelo', 'train', 'tictactoe-dqn']\nmain()"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr == "zermelo: this command needs torch: pip install 'zermelo[learn]'\n"
    code = (
        "import sys\nfor name in ('torch', 'numpy', 'safetensors'): sys.modules[name] = None\n"
        "from zermelo.cli import main\nsys.argv = ['zermelo', 'train', '--help']\nmain()"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "--resume" in done.stdout


def test_ctrl_c_says_how_to_resume(
    tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_training = training_loop.run_training

    def interrupted_training(run: Any, trainer: Any, _progress: Any) -> None:
        def stop(progress: training_loop.TrainingProgress) -> None:
            if progress.report.update == 20:
                raise KeyboardInterrupt

        run_training(run, trainer, stop)

    path = str(write_recipe(tmp_path))
    monkeypatch.setattr(training_loop, "run_training", interrupted_training)
    code, _, err = command("train", path)
    assert code == 130
    assert f"continue with: zermelo train {path} --resume" in err
    assert "at update 14 of 36" in command("runs")[1]
    with History(home / "studio.db") as store:
        assert [run.state for run in store.runs(None, None, 10)] == ["stopped"]
    monkeypatch.undo()
    monkeypatch.setenv("ZERMELO_HOME", str(home))
    assert command("train", path, "--resume")[0] == 0
    with History(home / "studio.db") as store:
        assert [run.state for run in store.runs(None, None, 10)] == ["finished"]
