"""A training whose numbers become NaN or infinite stops, with nothing marked as finished."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import pytest
import torch

from support.commands import command
from support.learners import alphazero_recipe, dqn_recipe, hybrid_recipe
from support.recipes import write_recipe
from zermelo.learn.config import recipes
from zermelo.learn.config.recipe import Recipe
from zermelo.learn.config.reports import TrainingDiverged
from zermelo.learn.config.schedules import LinearSchedule
from zermelo.learn.runs import listing, training_loop
from zermelo.learn.runs.charts import draw_heat_map, draw_learning_curves
from zermelo.learn.runs.log import LOG, append_line, read_log
from zermelo.store.history import History


def refuse(token: str) -> NoReturn:
    raise AssertionError(token)


def with_rate(recipe: Recipe, rate: float) -> Recipe:
    return replace(recipe, learning=replace(recipe.learning, rate=LinearSchedule(rate, rate)))


def diverging_recipe(kind: str, folder: Path) -> Recipe:
    if kind == "tabular":
        changes = [('game = "tictactoe"', 'game = "tictactoe"\nkind = "tabular"')]
        recipe = recipes.load(str(write_recipe(folder, *changes)))
    elif kind == "supervised":
        changes = [('game = "tictactoe"', 'game = "tictactoe"\nkind = "supervised"')]
        path = write_recipe(folder, *changes, name="tiny-supervised")
        recipe = recipes.load(str(path))
    elif kind == "hybrid":
        recipe = hybrid_recipe()
    elif kind == "alphazero":
        recipe = alphazero_recipe(folder)
    else:
        recipe = dqn_recipe(folder)
    return with_rate(recipe, 1e30)


@pytest.mark.parametrize("kind", ["dqn", "hybrid", "alphazero", "tabular", "supervised"])
def test_a_loss_that_is_not_finite_stops_the_run(kind: str, tmp_path: Path) -> None:
    recipe, out = diverging_recipe(kind, tmp_path), tmp_path / "run"
    with pytest.raises(TrainingDiverged, match=r"not finite; try a lower learning\.rate") as caught:
        training_loop.train(recipe, out, grade=False)
    assert "\n" not in str(caught.value)
    assert listing.summarize_run(out).state == "unfinished"
    if (out / LOG).exists():
        for line in (out / LOG).read_text().splitlines():
            json.loads(line, parse_constant=refuse)


@pytest.mark.parametrize("update", [6, 7, 36])  # graded, with a checkpoint, the last
def test_weights_that_are_not_finite_stop_the_run(
    update: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Even if the loss, which was computed before the update, is finite."""
    run, trainer = training_loop.prepare_training(
        str(write_recipe(tmp_path)), tmp_path / "run", seed=5
    )
    steps = trainer.steps

    def spoil() -> Any:
        for report in steps():
            if report.update == update:
                with torch.no_grad():
                    trainer.learner.average_net.actions.weight[0, 0] = torch.nan  # type: ignore[attr-defined]
            yield report

    monkeypatch.setattr(trainer, "steps", spoil)
    with pytest.raises(TrainingDiverged, match="not finite"):
        training_loop.run_training(run, trainer)
    summary = listing.summarize_run(run.folder)
    assert summary.state == "unfinished"
    assert summary.update < update, "no checkpoint holds such weights"
    assert all(np.isfinite(line["mean_q"]) for line in read_log(run.folder))


def test_the_command_says_so_in_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ZERMELO_HOME", str(tmp_path / "home"))
    change = ("batch = 16", "batch = 16, rate = { begin = 1e30, end = 1e30 }")
    path, out = write_recipe(tmp_path, change), str(tmp_path / "run")
    code, stdout, err = command("train", str(path), "--out", out, "--json")
    assert (code, stdout) == (2, "")
    assert err.count("\n") == 1
    assert "tiny: the loss is not finite; try a lower learning.rate" in err
    with History(tmp_path / "home" / "studio.db") as history:
        (run,) = history.runs(None, None, 9)
    assert (run.state, run.result) == ("stopped", None)


def test_the_log_of_an_earlier_version_may_contain_nan(tmp_path: Path) -> None:
    """It was not JSON; what is read from it can be written as JSON and drawn."""
    append_line(tmp_path, {"update": 1, "loss": 0.5, "start": [0.0] * 9})
    with (tmp_path / LOG).open("a") as file:
        file.write('{"update": 2, "loss": NaN, "start": [NaN, 0, 0, 0, 0, 0, 0, 0, 0]}\n')
        file.write('{"update": 3, "loss": -Infinity, "start": [0, 0, 0, 0, 0, 0, 0, 0, 0]}\n')
    append_line(tmp_path, {"update": 4, "loss": 0.25, "start": [0.0] * 9})
    log = read_log(tmp_path)
    assert [line["loss"] for line in log] == [0.5, None, None, 0.25]
    assert "nan" not in draw_learning_curves(log).lower()
    assert "nan" not in draw_heat_map(log, 3).lower()
    with pytest.raises(ValueError, match="JSON"):
        append_line(tmp_path, {"update": 5, "loss": float("nan")})
