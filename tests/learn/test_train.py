"""Training by command and in Python: recipes, what they come to, and what is left in the folder."""

import json
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import zermelo as z
from support.commands import command
from support.learners import interrupted
from support.recipes import recipe
from zermelo.core.errors import BadSpec
from zermelo.learn.config import recipes
from zermelo.learn.config.recipes import BadRecipe
from zermelo.learn.dqn import supervised
from zermelo.learn.runs import model_card, training
from zermelo.learn.runs import run as runs
from zermelo.store.history import History


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ZERMELO_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


@pytest.fixture(scope="module")
def tabular(tmp_path_factory: pytest.TempPathFactory) -> runs.Run:
    folder = tmp_path_factory.mktemp("tabular")
    return z.train("tictactoe-tabular", folder / "run", seed=1)


# Recipes


@pytest.mark.parametrize("name", recipes.names())
def test_every_recipe_can_be_begun(name: str, tmp_path: Path) -> None:
    made = recipes.load(name)
    assert made.summary, "zermelo train lists it"
    assert recipes.load(name, short=True).learning.updates < made.learning.updates
    if name == "connect4-alphazero":  # whose first chunk takes a GPU
        made = recipes.load(name, short=True)
    _, trainer = training.prepare(made, tmp_path / "run")
    assert next(iter(trainer.steps())).update == 1


@pytest.mark.parametrize(
    ("old", "new", "part"),
    [
        ("game = ", 'kind = "magic"\ngame = ', "kind is 'magic': it can be dqn, tabular, superv"),
        ("game = ", 'kind = "supervised"\ngame = ', "says supervised in its name"),
        ("game = ", "gain = 1\ngame = ", "tiny has no 'gain'"),
        ("size = 300", "size = 30", "warm_up is 40: the replay holds up to 30"),
        ("batch = 16", "batch = 0", "batch is 0: it must be 1 or more"),
        ("batch = 16", "batch = true", "tiny.learning.batch is True: it must be int"),
        ("batch = 16", 'loss = "l1"', "loss is 'l1': it can be huber or mse"),
        ("games = 8", "games = 8, seats = [2]", "seats are [2]: each is 0 or 1"),
        ("checkpoint = 7", "checkpoint = 0", "checkpoint is 0"),
        ("hidden = [12]", "hidden = 12", "tiny.network.hidden is 12: it must be a list"),
        ("batch = 16", "phases = []", "phases need shares"),
        ("game = ", "game = [", "tiny is no recipe"),
    ],
)
def test_bad_recipes(old: str, new: str, part: str, tmp_path: Path) -> None:
    with pytest.raises(BadRecipe) as caught:
        recipes.load(str(recipe(tmp_path, (old, new))))
    assert part in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_table_has_one_phase(tmp_path: Path) -> None:
    path = recipe(
        tmp_path,
        ("game = ", 'kind = "tabular"\ngame = '),
        ("batch = 16", "phases = [{ share = 0.5 }, { share = 0.5 }]"),
    )
    with pytest.raises(BadRecipe, match="a table learns in one phase"):
        recipes.load(str(path))


def test_first_moves(tmp_path: Path) -> None:
    path = recipe(tmp_path, ("game = ", 'first_move = "centre"\ngame = '))
    run = training.train(str(path), tmp_path / "run", graded=False)
    assert z.player(run.player).choose(z.game("tictactoe").start()).move == "b2"
    path = recipe(tmp_path, ("game = ", 'first_move = "corner"\ngame = '))
    with pytest.raises(BadSpec, match="first_move is 'corner'"):
        training.prepare(str(path), tmp_path / "other")
    path = recipe(tmp_path, ('"tictactoe"', '"gomoku"'))
    with pytest.raises(BadSpec, match="up to 64 cells"):
        training.prepare(str(path), tmp_path / "large")


# What they come to


def test_a_table_learns_tictactoe(tabular: runs.Run) -> None:
    found = z.grade("tictactoe", tabular.player)
    assert (found.total.positions, found.total.mistakes) == (4520, 0)
    assert found.unbeatable


def test_labels_are_exact() -> None:
    game = z.game("tictactoe")
    assert isinstance(game, z.WordGame)
    labels = supervised.labels(game)
    assert len(labels.actions) == 16167, "moves of all states"
    assert not labels.factors.any()
    board = {  # X to move wins at once by c1, and nothing else does
        game.to_text(int(action)): float(value)
        for state, action, value in zip(labels.states, labels.actions, labels.returns, strict=True)
        if np.array_equal(state, game.position("XX./OO./... X").state)
    }
    assert board["c1"] == 1.0
    assert board["a3"] == -1.0
    with pytest.raises(BadSpec, match="too many states"):
        supervised.labels(z.game("connect4"))  # type: ignore[arg-type]


def test_the_best_answer_to_an_opponent(tmp_path: Path) -> None:
    """Against one who plays random moves a table finds what wins most: 191 of 192 as first."""
    run = z.train("tictactoe-tabular", tmp_path / "run", opponent="random", graded=False)
    assert run.recipe.acting.response
    found = z.grade("tictactoe", run.player)
    assert found.vs_random is not None
    assert float(found.vs_random[0].win) > 0.97
    assert float(found.vs_random[1].win) > 0.85
    assert run.command == "zermelo train tictactoe-tabular --seed 0 --opponent random"
    run, _ = training.prepare("tictactoe-dqn", opponent="minimax:2", seed=3)
    assert run.folder.name == "tictactoe-dqn-against-minimax-2-3"
    assert not run.recipe.learning.canonical, "it may answer symmetric states in different ways"
    with pytest.raises(BadSpec, match="unknown player"):
        training.prepare("tictactoe-dqn", tmp_path / "x", opponent="nobody")


# What is left in the folder


def test_the_card(tabular: runs.Run) -> None:
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


def test_the_pictures(tabular: runs.Run) -> None:
    texts = {name: (tabular.folder / name).read_text() for name in ("curves.svg", "start.svg")}
    for text in texts.values():
        assert ET.fromstring(text).tag == "{http://www.w3.org/2000/svg}svg"  # noqa: S314 - our own
        assert len(text) < 100_000
        assert "nan" not in text
    for title in ("mistake rate", "loss", "results", "mean Q"):
        assert title in texts["curves.svg"]
    assert texts["start.svg"].count("<rect") == 9 * 12
    assert model_card.curves([]) == model_card.heat_map([], 3) == ""


def test_the_log(tabular: runs.Run) -> None:
    log = runs.read_log(tabular.folder)
    assert [line["update"] for line in log] == list(range(100, 3001, 100))
    assert set(log[0]) == {
        "update", "loss", "epsilon", "rate", "results", "wins", "most_wins", "mean_q", "mistakes",
        "start",
    }  # fmt: skip
    assert log[-1]["mistakes"] == 0 < log[0]["mistakes"]
    assert log[-1]["start"] == pytest.approx([0.0] * 9), "tic-tac-toe is a draw"
    most = [line["most_wins"] for line in log]
    assert most == sorted(most)


def test_tensorboard(tabular: runs.Run, tmp_path: Path) -> None:
    loading = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    found = loading.EventAccumulator(str(tabular.folder / "tensorboard"))
    found.Reload()
    names = {"loss", "epsilon", "rate", "results", "mistakes", "mean_q"}
    assert names <= set(found.Tags()["scalars"])
    log = runs.read_log(tabular.folder)
    assert [(e.step, e.value) for e in found.Scalars("mistakes")] == [
        (line["update"], pytest.approx(line["mistakes"])) for line in log
    ]
    path = str(recipe(tmp_path))
    interrupted(path, tmp_path / "run", 20)  # lines at 6, 12 and 18, the checkpoint at 14
    training.train(path, tmp_path / "run", seed=5, resume=True, graded=False)
    found = loading.EventAccumulator(str(tmp_path / "run" / "tensorboard"))
    found.Reload()
    assert [e.step for e in found.Scalars("loss")] == [6, 12, 18, 24, 30, 36]


def test_without_tensorboard(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", None)
    run = training.train(str(recipe(tmp_path)), tmp_path / "run", graded=False)
    assert not (run.folder / "tensorboard").exists()


# Commands


def answer(*arguments: str) -> Any:
    code, out, err = command(*arguments, "--json")
    assert code == 0, err
    return json.loads(out)


def test_commands(tmp_path: Path, home: Path) -> None:
    path = str(recipe(tmp_path))
    assert "no runs yet" in command("runs")[1]
    made = answer("train", path, "--seed", "4")
    folder = home / "runs" / "tiny-4"
    assert made["folder"] == str(folder)
    assert made["player"] == f"dqn:{folder}"
    assert (made["state"], made["update"], made["updates"]) == ("finished", 36, 36)
    assert made["grades"]["raw"]["positions"] == 4520
    assert [run["name"] for run in answer("runs")["runs"]] == ["tiny-4"]
    shown = answer("runs", "show", "tiny-4")
    assert len(shown["log"]) == 6
    out, err = command("runs", "show", "tiny-4")[1:]
    assert "finished, 36 updates" in out, err
    assert "4,520 positions" in out
    with History(home / "studio.db") as store:
        (noted,) = store.runs(None, None, 10)
        assert (noted.kind, noted.game, noted.state) == ("train", "tictactoe", "finished")
        assert noted.settings["player"] == made["player"]
        assert noted.result is not None
        assert noted.result["raw"]["mistakes"] == made["grades"]["raw"]["mistakes"]
    for name, *more in (["it.json"], ["it.safetensors"], ["small.safetensors", "--bits", "8"]):
        assert command("runs", "export", "tiny-4", "--out", str(tmp_path / name), *more)[0] == 0
    sizes = []
    for name in ("it.safetensors", "small.safetensors"):
        assert z.player(f"dqn:{tmp_path / name}").choose(z.game("tictactoe").start()).move
        sizes.append((tmp_path / name).stat().st_size)
    assert sizes[1] < sizes[0]
    assert json.loads((tmp_path / "it.json").read_text())["asked"]["seed"] == 4


def test_a_run_elsewhere_is_found_by_its_name(tmp_path: Path) -> None:
    out = tmp_path / "far" / "away"
    assert command("train", str(recipe(tmp_path)), "--out", str(out))[0] == 0
    assert [run["folder"] for run in answer("runs")["runs"]] == [str(out)]
    assert answer("runs", "show", "away")["seed"] == 0


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (["train", "nono"], "there is no recipe 'nono': "),
        (["train", "no.toml"], "cannot read the recipe no.toml"),
        (["train", "tictactoe-dqn", "--resume"], "holds no run"),
        (["train", "tictactoe-dqn", "--opponent", "nobody"], "unknown player 'nobody'"),
        (["train", "tictactoe-dqn", "--device", "tpu"], "'tpu'"),
        (["runs", "show"], "show which run?"),
        (["runs", "show", "nono"], "there is no run 'nono'"),
        (["runs", "list", "this"], "list takes nothing more"),
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
    assert "there is no CUDA device here" in err
    assert err.count("\n") == 1


def test_no_torch_is_one_line() -> None:
    """Training says what is missing, and help needs neither torch nor numpy."""
    code = (
        "import sys\nsys.modules['torch'] = None\nfrom zermelo.cli import main\n"
        "sys.argv = ['zermelo', 'train', 'tictactoe-dqn']\nmain()"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr == "zermelo: training needs torch: pip install 'zermelo[learn]'\n"
    code = (
        "import sys\nfor name in ('torch', 'numpy', 'safetensors'): sys.modules[name] = None\n"
        "from zermelo.cli import main\nsys.argv = ['zermelo', 'train', '--help']\nmain()"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "--resume" in done.stdout


def test_ctrl_c_says_how_to_go_on(
    tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = training.follow

    def stopped(run: Any, trainer: Any, progress: Any) -> None:
        def stop(now: training.Progress) -> None:
            if now.report.update == 20:
                raise KeyboardInterrupt

        real(run, trainer, stop)

    path = str(recipe(tmp_path))
    monkeypatch.setattr(training, "follow", stopped)
    code, _, err = command("train", path)
    assert code == 130
    assert f"go on with: zermelo train {path} --resume" in err
    assert "at update 14 of 36" in command("runs")[1]
    with History(home / "studio.db") as store:
        assert [run.state for run in store.runs(None, None, 10)] == ["stopped"]
    monkeypatch.undo()
    monkeypatch.setenv("ZERMELO_HOME", str(home))
    assert command("train", path, "--resume")[0] == 0
    with History(home / "studio.db") as store:
        assert [run.state for run in store.runs(None, None, 10)] == ["finished"]
