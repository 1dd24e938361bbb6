"""Runs: killed and resumed bit for bit, or refused with a message about what differs."""

import dataclasses
import json
import os
import random
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import save_file

from support.commands import command
from support.learners import train_until
from support.recipes import write_recipe
from zermelo.learn.config import recipes
from zermelo.learn.config.recipe import Recipe
from zermelo.learn.networks import weights_file
from zermelo.learn.networks.weights_file import BadWeights
from zermelo.learn.runs import listing, training_loop
from zermelo.learn.runs import run_folder as run_module
from zermelo.learn.runs.log import append_line, read_log
from zermelo.learn.runs.run_folder import BadRun

TOLERANCE = 2e-5  # of weights: other processors round differently
GOLDEN = Path(__file__).parent / "golden_run.json"
VARIANTS: dict[str, list[tuple[str, str]]] = {
    "plain": [],
    "prioritised": [("size = 300", "size = 300, alpha = 0.6")],
    "n-step": [("games = 8", "games = 8, steps = 3, gamma = 0.9, sampled = 0.5")],
    "noisy-dueling": [("hidden = [12]", "hidden = [12], noisy = true, dueling = true")],
    "dropout-cnn": [
        ('game = "tictactoe"', 'game = "tictactoe"\nencoder = "planes"'),
        ("hidden = [12]", 'kind = "cnn", channels = [4], hidden = [12], dropout = 0.3'),
    ],
    "league": [
        ("updates = 36", 'updates = 36, league = 5, phases = [{ opponent = "league" }]'),
    ],
    "response": [
        ("games = 8", "games = 8, response = true, seats = [1]"),
        ("updates = 36", 'updates = 36, phases = [{ opponent = "random" }]'),
    ],
    "curriculum": [
        (
            "updates = 36",
            'updates = 36, phases = [{ share = 0.4, opponent = "greedy" }, { share = 0.6 }]',
        ),
    ],
    "tabular": [('game = "tictactoe"', 'game = "tictactoe"\nkind = "tabular"')],
    "supervised": [('game = "tictactoe"', 'game = "tictactoe"\nkind = "supervised"')],
}


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_resumed_run_is_the_same_bit_for_bit(variant: str, tmp_path: Path) -> None:
    path = str(write_recipe(tmp_path, *VARIANTS[variant], name=f"tiny-{variant}"))
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    training_loop.train(path, whole, seed=5, grade=False)
    train_until(path, parts, 3)  # before the first checkpoint
    train_until(path, parts, 19, resume=True)
    train_until(path, parts, 21, resume=True)  # just after one is written
    training_loop.train(path, parts, seed=5, resume=True, grade=False)
    for name in ("final.safetensors", "best.safetensors"):
        assert (whole / name).read_bytes() == (parts / name).read_bytes()
    assert read_log(whole) == read_log(parts)
    assert [line["update"] for line in read_log(parts)] == [6, 12, 18, 24, 30, 36]
    lines = (parts / "log.jsonl").read_text().count("\n")
    assert lines > 6, "repeated updates are merged on reading"


def test_killed_at_any_moment(tmp_path: Path) -> None:
    """By SIGKILL, twice, at a random time, in a process of its own."""
    changes = [("updates = 36", "updates = 600"), ("games = 8", "games = 8, steps = 2")]
    path = str(write_recipe(tmp_path, *changes))
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    rng = random.Random(os.getpid())
    command = [sys.executable, "-m", "zermelo", "train", path, "--seed", "5", "--out", str(killed)]
    environment = {**os.environ, "ZERMELO_HOME": str(tmp_path / "home")}
    checkpoint, before = killed / "checkpoint.safetensors", 0
    for number in range(2):
        with subprocess.Popen(
            [*command, *["--resume"] * number], stderr=subprocess.PIPE, env=environment
        ) as process:
            while not checkpoint.exists() or checkpoint.stat().st_mtime_ns == before:
                assert process.poll() is None, process.stderr.read()  # type: ignore[union-attr]
                time.sleep(0.005)
            time.sleep(rng.random() / 3)
            process.kill()
        before = checkpoint.stat().st_mtime_ns
        assert 0 < listing.summarize_run(killed).update < 600
        assert listing.summarize_run(killed).state == "unfinished"
    training_loop.train(path, killed, seed=5, resume=True, grade=False)
    assert listing.summarize_run(killed).state == "finished"
    training_loop.train(path, whole, seed=5, grade=False)
    assert (whole / "final.safetensors").read_bytes() == (killed / "final.safetensors").read_bytes()
    assert read_log(whole) == read_log(killed)


@pytest.fixture
def stopped(tmp_path: Path) -> tuple[Path, Path]:
    path, out = write_recipe(tmp_path), tmp_path / "run"
    train_until(str(path), out, 20)
    return path, out


def refusal(path: Path, out: Path, **options: Any) -> str:
    with pytest.raises((BadRun, BadWeights)) as caught:
        training_loop.prepare_training(str(path), out, **{"seed": 5, "resume": True} | options)
    text = str(caught.value)
    assert "\n" not in text
    return text


def test_the_refusal_names_what_differs(stopped: tuple[Path, Path], tmp_path: Path) -> None:
    path, out = stopped
    assert "another seed: 5, and now it is 6" in refusal(path, out, seed=6)
    assert "holds a run already" in refusal(path, out, resume=False)
    assert "does not contain a training run" in refusal(path, tmp_path / "nothing")
    other = write_recipe(tmp_path, ("hidden = [12]", "hidden = [13]"))
    assert "another network.hidden: [12], and now it is [13]" in refusal(other, out)
    other = write_recipe(tmp_path, ("batch = 16", "batch = 8"))
    assert "another learning.batch: 16, and now it is 8" in refusal(other, out)
    assert "another learning.phases" in refusal(write_recipe(tmp_path), out, opponent="random")
    manifest = json.loads((out / "run.json").read_text())
    (out / "run.json").write_text(json.dumps({**manifest, "rules": "0123"}))
    assert "another rules: '0123'" in refusal(write_recipe(tmp_path), out)


def test_a_new_summary_does_not_keep_a_run_from_resuming(
    stopped: tuple[Path, Path], tmp_path: Path
) -> None:
    _, out = stopped
    other = write_recipe(tmp_path, ("game =", 'summary = "in other words"\ngame ='))
    run, trainer = training_loop.prepare_training(str(other), out, seed=5, resume=True)
    trainer.close()
    assert run.recipe.summary == "in other words"


def test_a_checkpoint_that_is_damaged_or_of_another_run(
    stopped: tuple[Path, Path], tmp_path: Path
) -> None:
    path, out = stopped
    checkpoint = out / "checkpoint.safetensors"
    data = checkpoint.read_bytes()
    for size in (0, 7, 100, len(data) // 2, len(data) - 1):
        checkpoint.write_bytes(data[:size])
        assert "is damaged or not a weights file" in refusal(path, out)
    save_file({"a": np.zeros(3)}, checkpoint)
    assert "holds weights, but not those of a zermelo model" in refusal(path, out)
    other = tmp_path / "other"
    run, trainer = training_loop.prepare_training(str(path), other, seed=6)
    run.save_checkpoint(trainer)
    checkpoint.write_bytes((other / "checkpoint.safetensors").read_bytes())
    assert "another seed: 6, and now it is 5" in refusal(path, out)
    checkpoint.write_bytes(data)
    arrays, metadata = weights_file.read(checkpoint)
    weights_file.write(
        checkpoint, arrays | {"net.actions.bias": np.zeros((2, 2), np.float32)}, metadata
    )
    assert "net.actions.bias is float32 [2, 2]: it must be float32 [9]" in refusal(path, out)
    weights_file.write(checkpoint, arrays | {"replay.actions": np.zeros(5, np.int64)}, metadata)
    assert "does not fit this run" in refusal(path, out)
    del arrays["torch"]
    weights_file.write(checkpoint, arrays, metadata)
    assert "torch is missing" in refusal(path, out)


def test_the_command_refuses_in_one_line(stopped: tuple[Path, Path]) -> None:
    path, out = stopped
    (out / "checkpoint.safetensors").write_bytes(b"")
    code, _, err = command("train", str(path), "--out", str(out), "--seed", "5", "--resume")
    assert code == 2
    assert err.count("\n") == 1
    assert "checkpoint.safetensors is damaged" in err


def test_a_changed_learning_rate_is_a_warning(stopped: tuple[Path, Path], tmp_path: Path) -> None:
    _, out = stopped
    changed = write_recipe(
        tmp_path, ("batch = 16", "batch = 16, rate = { begin = 1e-4, end = 1e-5 }")
    )
    run, trainer = training_loop.prepare_training(str(changed), out, seed=5, resume=True)
    assert run.warnings == [
        "learning.rate.begin was 0.001 and is 0.0001 now",
    ]
    training_loop.run_training(run, trainer)
    again, _ = training_loop.prepare_training(str(changed), out, seed=5, resume=True)
    assert not again.warnings, "the change is recorded, so there is one warning only"
    assert run_module.read_manifest(out)["changes"] == [
        {"update": 14, "name": "learning.rate.begin", "was": 0.001, "now": 0.0001}
    ]


def test_log_lines_cut_off_or_repeated(tmp_path: Path) -> None:
    append_line(tmp_path, {"update": 2, "loss": 1.0})
    append_line(tmp_path, {"update": 4, "loss": 2.0})
    with (tmp_path / "log.jsonl").open("a") as file:
        file.write('{"update": 6, "lo')
    append_line(tmp_path, {"update": 4, "loss": 3.0})
    with (tmp_path / "log.jsonl").open("ab") as file:
        file.write(b"\xff\n[1]\nnull\n")
    append_line(tmp_path, {"update": 6, "loss": 4.0})
    assert [(line["update"], line["loss"]) for line in read_log(tmp_path)] == [
        (2, 1.0),
        (4, 3.0),
        (6, 4.0),
    ]
    assert read_log(tmp_path / "nothing") == []


def test_a_finished_run_resumed_stays_as_it_is(tmp_path: Path) -> None:
    path = str(write_recipe(tmp_path))
    run = training_loop.train(path, tmp_path / "run", seed=5, grade=False)
    final = (run.folder / "final.safetensors").read_bytes()
    log = (run.folder / "log.jsonl").read_bytes()
    training_loop.train(path, tmp_path / "run", seed=5, resume=True, grade=False)
    assert (run.folder / "final.safetensors").read_bytes() == final
    assert (run.folder / "log.jsonl").read_bytes() == log


def test_nothing_is_unpickled() -> None:
    folder = Path(run_module.__file__).parent
    for path in folder.glob("*.py"):
        text = path.read_text()
        assert "pickle" not in text
        assert "torch.load" not in text
        assert "np.load(" not in text


def train_and_digest(recipe: Recipe, folder: Path) -> dict[str, Any]:
    """Train, and return a few numbers that depend on all weights."""
    run = training_loop.train(recipe, folder, seed=7, grade=False)
    arrays, _ = weights_file.read(run.folder / "final.safetensors")
    norms = {name: float(np.linalg.norm(array)) for name, array in sorted(arrays.items())}
    return {"norms": norms, "log": read_log(run.folder)[-1]}


def test_golden_run(tmp_path: Path) -> None:
    """A tiny run gives the same numbers as ever; ZERMELO_UPDATE=1 writes the file anew."""
    path = write_recipe(
        tmp_path,
        ("hidden = [12]", "hidden = [12], dueling = true"),
        ("games = 8", "games = 8, steps = 2, gamma = 0.95, sampled = 0.3"),
    )
    digest = train_and_digest(recipes.load(str(path)), tmp_path / "run")
    if os.environ.get("ZERMELO_UPDATE"):
        GOLDEN.write_text(json.dumps(digest, indent=1) + "\n")
    golden = json.loads(GOLDEN.read_text())
    assert digest["norms"] == pytest.approx(golden["norms"], abs=TOLERANCE)
    assert digest["log"].pop("start") == pytest.approx(golden["log"].pop("start"), abs=1e-3)
    assert digest["log"] == pytest.approx(golden["log"], abs=1e-3)


def test_the_golden_run_detects_changes(tmp_path: Path) -> None:
    """Its tolerance is not so large that a changed detail would pass."""
    original = recipes.load(str(write_recipe(tmp_path)))
    one = train_and_digest(original, tmp_path / "one")
    acting = dataclasses.replace(original.acting, gamma=0.99)
    other = train_and_digest(dataclasses.replace(original, acting=acting), tmp_path / "other")
    assert one["norms"] != pytest.approx(other["norms"], abs=TOLERANCE)


def test_runs_are_listed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ZERMELO_HOME", str(tmp_path / "home"))
    assert listing.list_runs() == []
    path = str(write_recipe(tmp_path))
    run = training_loop.train(path, seed=2, grade=False)
    assert run.folder == tmp_path / "home" / "runs" / "tiny-2"
    train_until(path, tmp_path / "elsewhere", 20)
    (listing.runs_folder() / "broken").mkdir()
    (listing.runs_folder() / "broken" / "run.json").write_text("[]")
    summaries = listing.list_runs(tmp_path / "elsewhere", tmp_path / "gone")
    assert [(s.name, s.seed, s.state, s.update, s.updates) for s in summaries] == [
        ("tiny-2", 2, "finished", 36, 36),
        ("elsewhere", 5, "unfinished", 14, 36),
    ]
    assert listing.find_run("tiny-2") == run.folder
    assert listing.find_run(str(tmp_path / "elsewhere")) == tmp_path / "elsewhere"
    with pytest.raises(BadRun, match="there is no run 'nono'"):
        listing.find_run("nono")
