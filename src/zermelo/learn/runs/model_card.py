"""The model card of a finished run, as JSON and Markdown: grades, and how to repeat the run."""

import json
import platform
from typing import Any

import numpy as np

from zermelo import __version__
from zermelo.core.files import write_atomically
from zermelo.grading.grade import Grade, grade
from zermelo.learn.models import files as model_files
from zermelo.learn.networks import weights_file
from zermelo.learn.runs.charts import draw_heat_map, draw_learning_curves
from zermelo.learn.runs.log import read_log
from zermelo.learn.runs.run_folder import CARD, Run, read_manifest

_GRADE_LABELS = {
    "raw": "the network alone",
    "shell": "with wins and blocks by rule",
    "search": "with its search",
}


def grade_run(run: Run) -> dict[str, Grade]:
    """Grade the final weights against perfect play: alone ("raw"), and with rules or a search.

    The second grade of a Q function is with rules that override it ("shell"). The second grade of a
    value or policy network is with the search that uses it ("search").
    """
    kinds = {
        "alphazero": {"raw": ",sims=0", "search": ""},
        "value": {"raw": ",depth=1", "search": ""},
    }
    options = kinds.get(run.recipe.kind, {"raw": "", "shell": ",shell=true"})
    return {name: grade(run.game, f"{run.player}{option}") for name, option in options.items()}


def write_card(run: Run, grades: dict[str, Grade], device: str = "cpu") -> None:
    """Write the model card and the charts of a finished run."""
    card = _create_card(run, grades, device)
    log = read_log(run.folder)
    files = {
        CARD: json.dumps(card, indent=1),
        "card.md": _to_markdown(card),
        "curves.svg": draw_learning_curves(log),
        "start.svg": draw_heat_map(log, run.game.grid.cols if run.game.grid else 0),
    }
    for name, text in files.items():
        if text:
            write_atomically(run.folder / name, text, durable=True, mode=0o644)


def _create_card(run: Run, grades: dict[str, Grade], device: str) -> dict[str, Any]:
    import torch

    arrays, metadata = weights_file.read(run.folder / model_files.FINAL)
    return {
        "name": run.recipe.name,
        "summary": run.recipe.summary,
        "game": run.game.spec,
        "rules": metadata["rules"],
        "seed": run.seed,
        "updates": metadata["updates"],
        "parameters": sum(array.size for array in arrays.values() if array.dtype.kind == "f"),
        "seconds": round(run.statistics.seconds, 1),
        "device": device,
        "versions": {
            "zermelo": __version__,
            "python": platform.python_version(),
            "numpy": np.__version__,
            "torch": torch.__version__,
        },
        "command": run.command,
        "changes": read_manifest(run.folder).get("changes", []),
        "grades": {name: result.to_dict() | {"player": name} for name, result in grades.items()},
        "best_on_the_way": run.statistics.best_mistake_rate,
        "recipe": run.recipe.to_dict(),
    }


def _to_markdown(card: dict[str, Any]) -> str:
    command = card["command"]
    lines = [
        f"# {card['name']}, seed {card['seed']}",
        "",
        card["summary"] or f"A learned player of {card['game']}.",
        "",
        f"- game: {card['game']}, rules {card['rules']}",
        f"- budget: {card['updates']:,} updates, {card['seconds']:,} s on {card['device']}",
        f"- size: {card['parameters']:,} learned parameters",
        "- versions: " + ", ".join(f"{k} {v}" for k, v in card["versions"].items()),
        f"- to reproduce: `{command}`" if command else "- trained in Python with the recipe below",
    ]
    lines += [
        f"- {c['name']} was changed from {c['was']} to {c['now']} after {c['update']:,} updates"
        for c in card["changes"]
    ]
    lines += ["", "Grades of the final weights (the last ones, not the best):", ""]
    lines += _grade_table(card["grades"])
    if card["best_on_the_way"] < 1:
        best = f"The lowest mistake rate during the training was {card['best_on_the_way']:.2%}"
        lines += ["", f"{best} (best.safetensors, for comparison only)."]
    recipe = json.dumps(card["recipe"], indent=1)
    return "\n".join([*lines, "", "## Recipe", "", "```json", recipe, "```", ""])


def _grade_table(grades: dict[str, Any]) -> list[str]:
    if not grades:
        return ["The final weights were not graded."]
    rows = [
        "| | positions | mistakes | slow wins | unbeatable | wins as first / second vs random |",
        "|---|---|---|---|---|---|",
    ]
    for name, result in grades.items():
        unbeatable = {True: "yes", False: "no", None: "not known"}[result["unbeatable"]]
        rate = "" if result["mistake_rate"] is None else f" ({result['mistake_rate']:.2%})"
        vs_random = result["vs_random"] or {}
        wins = " / ".join(f"{outcomes['win']:.2%}" for outcomes in vs_random.values())
        rows.append(
            f"| {_GRADE_LABELS.get(name, name)} | {result['positions']:,} | "
            f"{result['mistakes']:,}{rate} | {result['slow_wins']:,} | {unbeatable} | "
            f"{wins or 'not known'} |"
        )
    return rows
