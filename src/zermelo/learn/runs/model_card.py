"""Cards: what a run came to, for people and programs: grades, how to make it again, pictures."""

import json
import platform
from html import escape
from typing import Any

import numpy as np

from zermelo import __version__
from zermelo.arena.charts import STYLE, Axis, Mark, chart
from zermelo.core.files import write_atomically
from zermelo.grading.grade import Grade, grade
from zermelo.learn.models import model
from zermelo.learn.networks import weights_file
from zermelo.learn.runs import run as runs
from zermelo.learn.runs.run import CARD, Run

_CURVES = (
    ("mistakes", "mistake rate"), ("loss", "loss"), ("results", "results"), ("mean_q", "mean Q"),
)  # fmt: skip
_POINTS, _HEIGHT, _WIDTH = 60, 180, 820  # of a curve
_BOARDS, _CELL = 12, 26  # of the heat map
_COLOURS = """
svg{--text:#1b1f24;--back:#fff;--faint:#5b636d;--grid:#e3e6ea;--c0:#0b62c4;--c1:#b3261e;
--c2:#1a7f37;--c3:#8250df;--c4:#9a6700;--c5:#57606a;background:#fff}
svg .dot{r:2px;stroke:none}svg .line{opacity:1}
"""
_XML = 'xmlns="http://www.w3.org/2000/svg"'


def grades(run: Run) -> dict[str, Grade]:
    """The final weights against perfect play: as they are, and with wins and blocks by rule.

    A value is graded by the move that it likes best at once, and with its search; so is a policy.
    """
    if run.recipe.kind == "alphazero":
        return {
            "raw": grade(run.game, f"{run.player},sims=0"),
            "search": grade(run.game, run.player),
        }
    if run.recipe.kind == "value":
        return {
            "raw": grade(run.game, f"{run.player},depth=1"),
            "search": grade(run.game, run.player),
        }
    return {
        "raw": grade(run.game, run.player),
        "shell": grade(run.game, f"{run.player},shell=true"),
    }


def write(run: Run, graded: dict[str, Grade], device: str = "cpu") -> None:
    """The card and the pictures of a finished run."""
    card = _card(run, graded, device)
    log = runs.read_log(run.folder)
    texts = {
        CARD: json.dumps(card, indent=1),
        "card.md": _markdown(card),
        "curves.svg": curves(log),
        "start.svg": heat_map(log, run.game.grid.cols if run.game.grid else 0),
    }
    for name, text in texts.items():
        if text:
            write_atomically(run.folder / name, text, durable=True, mode=0o644)


def _card(run: Run, graded: dict[str, Grade], device: str) -> dict[str, Any]:
    import torch

    arrays, about = weights_file.read(run.folder / model.FINAL)
    asked = runs.read_asked(run.folder)
    return {
        "name": run.recipe.name,
        "summary": run.recipe.summary,
        "game": run.game.spec,
        "rules": about["rules"],
        "seed": run.seed,
        "updates": about["updates"],
        "parameters": sum(array.size for array in arrays.values() if array.dtype.kind == "f"),
        "seconds": round(run.memory.seconds, 1),
        "device": device,
        "versions": {
            "zermelo": __version__,
            "python": platform.python_version(),
            "numpy": np.__version__,
            "torch": torch.__version__,
        },
        "command": run.command,
        "changes": asked.get("changes", []),
        "grades": {name: found.to_json() | {"player": name} for name, found in graded.items()},
        "best_on_the_way": run.memory.best,
        "recipe": run.recipe.to_json(),
    }


def _markdown(card: dict[str, Any]) -> str:
    lines = [
        f"# {card['name']}, seed {card['seed']}",
        "",
        card["summary"] or f"A learned player of {card['game']}.",
        "",
        f"- game: {card['game']}, rules {card['rules']}",
        f"- budget: {card['updates']:,} updates, {card['seconds']:,} s on {card['device']}",
        f"- size: {card['parameters']:,} numbers were learned",
        "- versions: " + ", ".join(f"{k} {v}" for k, v in card["versions"].items()),
        f"- again: `{card['command']}`",
    ]
    lines += [
        f"- {c['name']} was changed from {c['was']} to {c['now']} after {c['update']:,} updates"
        for c in card["changes"]
    ]
    lines += ["", "The final weights against perfect play; none were chosen by their grade.", ""]
    lines += _grade_table(card["grades"])
    if card["best_on_the_way"] < 1:
        least = f"The least mistake rate on the way was {card['best_on_the_way']:.2%}"
        lines += ["", f"{least} (best.safetensors, for comparison only)."]
    recipe = json.dumps(card["recipe"], indent=1)
    return "\n".join([*lines, "", "## Recipe", "", "```json", recipe, "```", ""])


def _grade_table(found: dict[str, Any]) -> list[str]:
    if not found:
        return ["They were not graded."]
    rows = [
        "| | positions | mistakes | slow wins | unbeatable | wins as first / second vs random |",
        "|---|---|---|---|---|---|",
    ]
    names = {
        "raw": "the network alone",
        "shell": "with wins and blocks by rule",
        "search": "with its search",
    }
    for name, one in found.items():
        sure = {True: "yes", False: "no", None: "not known"}[one["unbeatable"]]
        rate = "" if one["mistake_rate"] is None else f" ({one['mistake_rate']:.2%})"
        chances = one["vs_random"]
        won = " / ".join(f"{chances[s]['win']:.2%}" for s in ("first", "second")) if chances else ""
        rows.append(
            f"| {names.get(name, name)} | {one['positions']:,} | {one['mistakes']:,}{rate} | "
            f"{one['slow_wins']:,} | {sure} | {won or 'not known'} |"
        )
    return rows


def curves(log: list[dict[str, Any]]) -> str:
    """A log as curves, one below the other; nothing where there is nothing to see."""
    parts: list[str] = []
    for colour, (key, title) in enumerate(_CURVES):
        points = [(line["update"], line[key]) for line in log if line.get(key) is not None]
        points = _thinned(points, _POINTS)
        if len(points) > 1:
            marks = [Mark(x, y, "", colour, y_range=(y, y)) for x, y in points]
            updates, values = zip(*points, strict=True)
            drawn = chart(title, Axis.of(updates, ""), Axis.of(values, title), marks, _HEIGHT)
            place = f'<svg y="{len(parts) * _HEIGHT}" width="{_WIDTH}" height="{_HEIGHT}" '
            parts.append(drawn.replace("<svg ", place, 1))
    height = len(parts) * _HEIGHT
    head = f'<svg {_XML} viewBox="0 0 {_WIDTH} {height}" role="img">'
    about = f"<title>Learning curves, by updates</title><style>{STYLE}{_COLOURS}</style>"
    return f"{head}{about}{''.join(parts)}</svg>\n" if parts else ""


def heat_map(log: list[dict[str, Any]], cols: int) -> str:
    """The Q of every first move over time: a small board for some updates, red bad, blue good."""
    lines = _thinned([line for line in log if line.get("start")], _BOARDS)
    if not lines or not cols:
        return ""
    rows = len(lines[0]["start"]) // cols
    wide, high = (cols + 1) * _CELL, (rows + 2) * _CELL
    boards = "".join(
        f'<g transform="translate({number * wide},0)">{_board(line, cols)}</g>'
        for number, line in enumerate(lines)
    )
    return (
        f'<svg {_XML} viewBox="0 0 {wide * len(lines)} {high}" role="img">'
        "<title>Q of the first moves, by updates</title>"
        "<style>text{font:9px system-ui,sans-serif;text-anchor:middle}</style>"
        f"{boards}</svg>\n"
    )


def _board(line: dict[str, Any], cols: int) -> str:
    cells = []
    for cell, q in enumerate(line["start"]):
        x, y = (cell % cols) * _CELL, (cell // cols + 1) * _CELL
        pale = round(255 * (1 - min(1.0, abs(q))))
        red, blue = (pale, 255) if q > 0 else (255, pale)
        cells.append(
            f'<rect x="{x}" y="{y}" width="{_CELL}" height="{_CELL}" stroke="#999" '
            f'fill="rgb({red},{pale},{blue})"/>'
            f'<text x="{x + _CELL / 2:g}" y="{y + _CELL / 2 + 3:g}">{q:.2f}</text>'
        )
    label = escape(f"{line['update']:,}")
    return f'<text x="{cols * _CELL / 2:g}" y="{_CELL - 8}">{label}</text>{"".join(cells)}'


def _thinned(rows: list[Any], most: int) -> list[Any]:
    """So many of them at most, evenly spread, the last one among them."""
    if len(rows) <= most:
        return rows
    places = np.linspace(0, len(rows) - 1, most).round().astype(int)
    return [rows[place] for place in places]
