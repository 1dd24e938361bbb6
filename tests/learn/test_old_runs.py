"""Runs that an earlier version started and did not finish can still be listed and resumed.

A folder of `old_runs` is a run of that version that was killed, with its recipe, and the final
weights that the same version reached without interruption.
"""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from zermelo.learn.networks import weights_file
from zermelo.learn.runs import listing, training_loop
from zermelo.learn.runs.log import read_log

OLD_RUNS = Path(__file__).parent / "old_runs"
SEED = 5
TOLERANCE = 2e-5  # of weights: other processors round differently


@pytest.fixture(params=sorted(path.name for path in OLD_RUNS.iterdir()))
def old_run(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    folder = tmp_path / str(request.param)
    shutil.copytree(OLD_RUNS / folder.name, folder)
    return folder


def test_an_old_run_is_listed(old_run: Path) -> None:
    (summary,) = listing.list_runs(old_run)
    recipe = json.loads((old_run / "run.json").read_text())["recipe"]
    assert (summary.name, summary.recipe, summary.game) == (old_run.name, old_run.name, "tictactoe")
    assert (summary.seed, summary.state) == (SEED, "unfinished")
    assert 0 < summary.update < summary.updates == recipe["learning"]["updates"]


def test_an_old_run_is_resumed_and_finished(old_run: Path) -> None:
    """With the weights that the earlier version would have ended with."""
    update, lines = listing.summarize_run(old_run).update, read_log(old_run)
    recipe = str(old_run / f"{old_run.name}.toml")
    actors = 1 if "actors" in old_run.name else 0
    run, trainer = training_loop.prepare_training(
        recipe, old_run, seed=SEED, resume=True, actors=actors
    )
    assert trainer.updates == update
    (warning,) = run.warnings
    assert "checkpoint.safetensors has no checksum" in warning
    training_loop.run_training(run, trainer)
    assert weights_file.has_digests(old_run / "checkpoint.safetensors"), "it is written anew"
    assert listing.summarize_run(old_run).state == "finished"
    arrays, metadata = weights_file.read(old_run / "final.safetensors")
    expected, expected_metadata = weights_file.read(old_run / "expected.safetensors")
    assert metadata == expected_metadata
    assert set(arrays) == set(expected)
    for name, array in arrays.items():
        np.testing.assert_allclose(array, expected[name], atol=TOLERANCE)
    log = read_log(old_run)
    assert log[-1].keys() == lines[-1].keys()
    assert log[-1]["update"] == run.recipe.learning.updates
