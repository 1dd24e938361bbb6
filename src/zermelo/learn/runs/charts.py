"""SVG charts of a run's log: learning curves, and the Q values of the first moves over time."""

from collections.abc import Sequence
from html import escape
from typing import TypeVar

import numpy as np

from zermelo.arena.charts import STYLE, Axis, Mark, draw_chart
from zermelo.learn.runs.log import LogLine

_CURVES = (
    ("mistakes", "mistake rate"), ("loss", "loss"), ("results", "results"), ("mean_q", "mean Q"),
)  # fmt: skip
_MAX_POINTS, _HEIGHT, _WIDTH = 60, 180, 820  # maximum number of points, and size of a curve
_MAX_BOARDS, _CELL = 12, 26  # maximum number of boards in the heat map, size of a cell
_COLOURS = """
svg{--text:#1b1f24;--back:#fff;--faint:#5b636d;--grid:#e3e6ea;--c0:#0b62c4;--c1:#b3261e;
--c2:#1a7f37;--c3:#8250df;--c4:#9a6700;--c5:#57606a;background:#fff}
svg .dot{r:2px;stroke:none}svg .line{opacity:1}
"""
_XML = 'xmlns="http://www.w3.org/2000/svg"'
T = TypeVar("T")


def draw_learning_curves(log: list[LogLine]) -> str:
    """Return an SVG with the learning curves one below the other; "" if none has two points."""
    curves: list[str] = []
    for colour, (key, title) in enumerate(_CURVES):
        points = [(line["update"], line[key]) for line in log if line.get(key) is not None]
        points = _thin_out(points, _MAX_POINTS)
        if len(points) > 1:
            marks = [Mark(x, y, "", colour, y_range=(y, y)) for x, y in points]
            updates, values = zip(*points, strict=True)
            curve = draw_chart(
                title, Axis.linear(updates, ""), Axis.linear(values, title), marks, _HEIGHT
            )
            frame = f'<svg y="{len(curves) * _HEIGHT}" width="{_WIDTH}" height="{_HEIGHT}" '
            curves.append(curve.replace("<svg ", frame, 1))
    height = len(curves) * _HEIGHT
    head = f'<svg {_XML} viewBox="0 0 {_WIDTH} {height}" role="img">'
    title = f"<title>Learning curves, by updates</title><style>{STYLE}{_COLOURS}</style>"
    return f"{head}{title}{''.join(curves)}</svg>\n" if curves else ""


def draw_heat_map(log: list[LogLine], cols: int) -> str:
    """Return an SVG of the Q values of the first moves; "" if the log contains none.

    Boards from left to right show the Q values in the course of the training. Losing moves are red,
    and winning moves are blue. `cols` is the width of the board.
    """
    complete = [line for line in log if line.get("start") and None not in line["start"]]
    lines = _thin_out(complete, _MAX_BOARDS)
    if not lines or not cols:
        return ""
    rows = len(lines[0]["start"]) // cols
    width, height = (cols + 1) * _CELL, (rows + 2) * _CELL
    boards = "".join(
        f'<g transform="translate({number * width},0)">{_draw_board(line, cols)}</g>'
        for number, line in enumerate(lines)
    )
    return (
        f'<svg {_XML} viewBox="0 0 {width * len(lines)} {height}" role="img">'
        "<title>Q of the first moves, by updates</title>"
        "<style>text{font:9px system-ui,sans-serif;text-anchor:middle}</style>"
        f"{boards}</svg>\n"
    )


def _draw_board(line: LogLine, cols: int) -> str:
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


def _thin_out(items: Sequence[T], max_number: int) -> list[T]:
    """Return at most `max_number` evenly spaced items, including the first and the last."""
    if len(items) <= max_number:
        return list(items)
    indices = np.linspace(0, len(items) - 1, max_number).round().astype(int)
    return [items[index] for index in indices]
