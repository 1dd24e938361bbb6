"""Charts as inline SVG. Colours and fonts are CSS variables of the page; see `STYLE`."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape

NUM_COLOURS = 6  #: number of CSS classes for colours, c0 to c5
STYLE = """
svg text{font:13px system-ui,sans-serif;fill:var(--text);stroke:var(--back);stroke-width:3px;
paint-order:stroke}
svg .tick{fill:var(--faint);font-size:12px}svg .grid{stroke:var(--grid)}
svg .bar{stroke-width:2}svg .line{fill:none;stroke-width:2;opacity:.6}
.c0{--c:var(--c0)}.c1{--c:var(--c1)}.c2{--c:var(--c2)}.c3{--c:var(--c3)}.c4{--c:var(--c4)}
.c5{--c:var(--c5)}
svg .bar,svg .line{stroke:var(--c)}svg .label{fill:var(--c)}
svg .dot{fill:var(--c);stroke:var(--back);stroke-width:1.5}
"""
_WIDTH, _TOP, _BOTTOM = 820, 14, 44
_LETTER_WIDTH = 7.6  # pixels, roughly
_LABEL_HEIGHT = 15

_ToPixels = Callable[[float, float], tuple[float, float]]  # axis values (x, y) → pixels


@dataclass(frozen=True)
class Mark:
    """A point with a label, a colour and, optionally, an interval along one axis."""

    x: float
    y: float
    label: str
    colour: int = 0
    x_range: tuple[float, float] | None = None
    y_range: tuple[float, float] | None = None

    @property
    def css_class(self) -> str:
        """The CSS class for the colour of this mark."""
        return f"c{self.colour % NUM_COLOURS}"


@dataclass(frozen=True)
class Axis:
    """An axis: its range of values and its labelled ticks."""

    low: float
    high: float
    ticks: tuple[tuple[float, str], ...]
    title: str = ""
    log: bool = False

    @classmethod
    def linear(cls, values: Sequence[float], title: str) -> "Axis":
        """Return a linear axis with round ticks that contains these values."""
        low, high = min(values), max(values)
        step = _round_step((high - low or 1) / 5)
        first, last = math.floor(low / step), math.ceil(high / step)
        ticks = tuple((n * step, f"{n * step:g}") for n in range(first, max(last, first + 1) + 1))
        return cls(ticks[0][0], ticks[-1][0], ticks, title)

    @classmethod
    def seconds(cls, values: Sequence[float], title: str) -> "Axis":
        """Return a logarithmic axis of seconds with ticks at powers of ten."""
        first, last = (math.log10(f(values)) for f in (min, max))
        low, high = math.floor(first - 0.05), math.ceil(last + 0.05)
        every = max(1, (high - low) // 7)
        ticks = tuple((10.0**n, _seconds_text(n)) for n in range(low, high + 1, every))
        return cls(10.0**low, 10.0**high, ticks, title, log=True)

    @classmethod
    def names(cls, names: Sequence[str]) -> "Axis":
        """Return a vertical axis with these names at the values 0, -1, -2, …, top to bottom."""
        ticks = tuple((-float(index), name) for index, name in enumerate(names))
        return cls(0.5 - len(names), 0.5, ticks)

    def position(self, value: float) -> float:
        """Return the position of a value on the axis, from 0 (low end) to 1 (high end)."""
        if self.log:
            return math.log(value / self.low) / math.log(self.high / self.low)
        return (value - self.low) / (self.high - self.low)


def draw_chart(title: str, x: Axis, y: Axis, marks: Sequence[Mark], height: int) -> str:
    """Return an SVG element with marks between two axes.

    Marks of the same colour that have a y range are connected by a line.
    """
    left = 16 + max(len(text) for _, text in y.ticks) * _LETTER_WIDTH + (20 if y.title else 0)
    right = 16 + max(len(mark.label) for mark in marks) * _LETTER_WIDTH
    plot_width, plot_height = _WIDTH - left - right, height - _TOP - _BOTTOM

    def to_pixels(mark_x: float, mark_y: float) -> tuple[float, float]:
        return (
            left + x.position(mark_x) * plot_width,
            _TOP + (1 - y.position(mark_y)) * plot_height,
        )

    parts = _draw_x_axis(x, [to_pixels(v, y.low)[0] for v, _ in x.ticks], plot_height)
    parts += _draw_y_axis(y, [to_pixels(x.low, v)[1] for v, _ in y.ticks], left, plot_width)
    parts.append(
        f'<text class="tick" text-anchor="middle" x="{left + plot_width / 2:.1f}" '
        f'y="{height - 6}">{escape(x.title)}</text>'
    )
    if y.title:
        middle = _TOP + plot_height / 2
        parts.append(
            f'<text class="tick" text-anchor="middle" x="14" y="{middle:.1f}" '
            f'transform="rotate(-90 14 {middle:.1f})">{escape(y.title)}</text>'
        )
    parts += _draw_lines(marks, to_pixels)
    parts += [_draw_mark(mark, to_pixels) for mark in marks]
    parts += _draw_labels(marks, to_pixels)
    return (
        f'<svg viewBox="0 0 {_WIDTH} {height}" role="img" aria-label="{escape(title)}">'
        f"<title>{escape(title)}</title>{''.join(parts)}</svg>"
    )


def _draw_x_axis(axis: Axis, pixels: list[float], plot_height: int) -> list[str]:
    return [
        f'<line class="grid" x1="{x:.1f}" x2="{x:.1f}" y1="{_TOP}" y2="{_TOP + plot_height}"/>'
        f'<text class="tick" text-anchor="middle" x="{x:.1f}" y="{_TOP + plot_height + 17}">'
        f"{escape(text)}</text>"
        for x, (_, text) in zip(pixels, axis.ticks, strict=True)
    ]


def _draw_y_axis(axis: Axis, pixels: list[float], left: float, plot_width: float) -> list[str]:
    css_class = "tick" if axis.title else "name"
    return [
        f'<line class="grid" x1="{left:.1f}" x2="{left + plot_width:.1f}" y1="{y:.1f}" '
        f'y2="{y:.1f}"/><text class="{css_class}" text-anchor="end" x="{left - 8:.1f}" '
        f'y="{y + 4:.1f}">{escape(text)}</text>'
        for y, (_, text) in zip(pixels, axis.ticks, strict=True)
    ]


def _draw_lines(marks: Sequence[Mark], to_pixels: _ToPixels) -> list[str]:
    lines = []
    for colour in sorted({mark.colour for mark in marks}):
        family = sorted((m for m in marks if m.colour == colour and m.y_range), key=lambda m: m.x)
        if len(family) > 1:
            points = " ".join("{:.1f},{:.1f}".format(*to_pixels(m.x, m.y)) for m in family)
            lines.append(f'<polyline class="line {family[0].css_class}" points="{points}"/>')
    return lines


def _draw_mark(mark: Mark, to_pixels: _ToPixels) -> str:
    left, right = mark.x_range or (mark.x, mark.x)
    bottom, top = mark.y_range or (mark.y, mark.y)
    (x1, y1), (x2, y2), (x, y) = (
        to_pixels(left, bottom), to_pixels(right, top), to_pixels(mark.x, mark.y)
    )  # fmt: skip
    return (
        f'<g class="{mark.css_class}"><line class="bar" x1="{x1:.1f}" y1="{y1:.1f}" '
        f'x2="{x2:.1f}" y2="{y2:.1f}"/><circle class="dot" cx="{x:.1f}" cy="{y:.1f}" r="5"/></g>'
    )


def _draw_labels(marks: Sequence[Mark], to_pixels: _ToPixels) -> list[str]:
    places = [
        (*to_pixels(mark.x_range[1] if mark.x_range else mark.x, mark.y), mark) for mark in marks
    ]
    return [
        f'<text class="label {mark.css_class}" x="{x + 10:.1f}" y="{y + 4:.1f}">'
        f"{escape(mark.label)}</text>"
        for x, y, mark in _separate(places)
    ]


def _separate(places: list[tuple[float, float, Mark]]) -> list[tuple[float, float, Mark]]:
    """Return the places of the marks' labels, moved down until no two labels overlap."""
    placed: list[tuple[float, float, Mark]] = []
    for x, top, mark in sorted(places, key=lambda place: place[1]):
        y = top
        for other_x, other_y, other in placed:
            overlaps = x < other_x + len(other.label) * _LETTER_WIDTH + 10
            overlaps = overlaps and other_x < x + len(mark.label) * _LETTER_WIDTH + 10
            if overlaps and abs(y - other_y) < _LABEL_HEIGHT:
                y = other_y + _LABEL_HEIGHT
        placed.append((x, y, mark))
    return placed


def _round_step(least: float) -> float:
    power = 10.0 ** math.floor(math.log10(least))
    return next(n * power for n in (1, 2, 5, 10) if n * power >= least * 0.8)


def _seconds_text(power: int) -> str:
    """Return 10**power seconds as text, such as 10 µs for -5."""
    if power >= 0:
        return f"{10**power} s"
    return f"{10 ** (power % 3)} {('ms', 'µs', 'ns')[(-power - 1) // 3]}" if power >= -9 else "0"
