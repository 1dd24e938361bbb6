"""Charts as SVG that stands inside a page: colours and fonts are the page's (see `STYLE`)."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

COLOURS = 6  #: classes c0 to c5
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
_LETTER = 7.6  # pixels of a letter, about
_LABEL_HEIGHT = 15


@dataclass(frozen=True)
class Mark:
    """A point with an interval in one direction, a label and a colour."""

    x: float
    y: float
    label: str
    colour: int = 0
    x_range: tuple[float, float] | None = None
    y_range: tuple[float, float] | None = None


@dataclass(frozen=True)
class Axis:
    """Values from low to high, with texts at some of them."""

    low: float
    high: float
    ticks: tuple[tuple[float, str], ...]
    title: str = ""
    log: bool = False

    @classmethod
    def of(cls, values: Sequence[float], title: str) -> "Axis":
        """A linear axis with round ticks that holds these values."""
        low, high = min(values), max(values)
        step = _round_step((high - low or 1) / 5)
        first, last = math.floor(low / step), math.ceil(high / step)
        ticks = tuple((n * step, f"{n * step:g}") for n in range(first, max(last, first + 1) + 1))
        return cls(ticks[0][0], ticks[-1][0], ticks, title)

    @classmethod
    def of_log(cls, values: Sequence[float], title: str) -> "Axis":
        """A logarithmic axis with a tick at each power of ten."""
        first, last = (math.log10(f(values)) for f in (min, max))
        low, high = math.floor(first - 0.05), math.ceil(last + 0.05)
        every = max(1, (high - low) // 7)
        ticks = tuple((10.0**n, _seconds(n)) for n in range(low, high + 1, every))
        return cls(10.0**low, 10.0**high, ticks, title, log=True)

    @classmethod
    def of_names(cls, names: Sequence[str]) -> "Axis":
        """A name at each of 0, -1, -2, …, from the top down."""
        ticks = tuple((-float(at), name) for at, name in enumerate(names))
        return cls(0.5 - len(names), 0.5, ticks)

    def share(self, value: float) -> float:
        """Where a value stands: 0 at the low end, 1 at the high one."""
        if self.log:
            return math.log(value / self.low) / math.log(self.high / self.low)
        return (value - self.low) / (self.high - self.low)


def chart(title: str, x: Axis, y: Axis, marks: Sequence[Mark], height: int) -> str:
    """Marks between two axes; those with one colour and a y range are joined by a line."""
    left = 16 + max(len(text) for _, text in y.ticks) * _LETTER + (20 if y.title else 0)
    right = 16 + max(len(mark.label) for mark in marks) * _LETTER
    wide, high = _WIDTH - left - right, height - _TOP - _BOTTOM

    def at(mark_x: float, mark_y: float) -> tuple[float, float]:
        return left + x.share(mark_x) * wide, _TOP + (1 - y.share(mark_y)) * high

    parts = [
        f'<line class="grid" x1="{at(v, y.low)[0]:.1f}" x2="{at(v, y.low)[0]:.1f}" y1="{_TOP}" '
        f'y2="{_TOP + high}"/><text class="tick" text-anchor="middle" '
        f'x="{at(v, y.low)[0]:.1f}" y="{_TOP + high + 17}">{escape(text)}</text>'
        for v, text in x.ticks
    ]
    parts += [
        f'<line class="grid" x1="{left:.1f}" x2="{left + wide:.1f}" y1="{at(x.low, v)[1]:.1f}" '
        f'y2="{at(x.low, v)[1]:.1f}"/><text {_tick_class(y)} text-anchor="end" '
        f'x="{left - 8:.1f}" y="{at(x.low, v)[1] + 4:.1f}">{escape(text)}</text>'
        for v, text in y.ticks
    ]
    parts.append(
        f'<text class="tick" text-anchor="middle" x="{left + wide / 2:.1f}" y="{height - 6}">'
        f"{escape(x.title)}</text>"
    )
    if y.title:
        middle = _TOP + high / 2
        parts.append(
            f'<text class="tick" text-anchor="middle" x="14" y="{middle:.1f}" '
            f'transform="rotate(-90 14 {middle:.1f})">{escape(y.title)}</text>'
        )
    for colour in sorted({mark.colour for mark in marks}):
        family = sorted((m for m in marks if m.colour == colour and m.y_range), key=lambda m: m.x)
        if len(family) > 1:
            line = " ".join("{:.1f},{:.1f}".format(*at(m.x, m.y)) for m in family)
            parts.append(f'<polyline class="line c{colour % COLOURS}" points="{line}"/>')
    for mark in marks:
        low, up = mark.x_range or (mark.x, mark.x)
        below, above = mark.y_range or (mark.y, mark.y)
        (x1, y1), (x2, y2), (cx, cy) = at(low, below), at(up, above), at(mark.x, mark.y)
        parts.append(
            f'<g class="c{mark.colour % COLOURS}"><line class="bar" x1="{x1:.1f}" y1="{y1:.1f}" '
            f'x2="{x2:.1f}" y2="{y2:.1f}"/><circle class="dot" cx="{cx:.1f}" cy="{cy:.1f}" r="5"/>'
            "</g>"
        )
    places = [(*at(mark.x_range[1] if mark.x_range else mark.x, mark.y), mark) for mark in marks]
    parts += [
        f'<text class="label c{mark.colour % COLOURS}" x="{px + 10:.1f}" y="{py + 4:.1f}">'
        f"{escape(mark.label)}</text>"
        for px, py, mark in _apart(places)
    ]
    return (
        f'<svg viewBox="0 0 {_WIDTH} {height}" role="img" aria-label="{escape(title)}">'
        f"<title>{escape(title)}</title>{''.join(parts)}</svg>"
    )


def _apart(places: list[tuple[float, float, Mark]]) -> list[tuple[float, float, Mark]]:
    """Labels moved down until none covers another."""
    done: list[tuple[float, float, Mark]] = []
    for x, first, mark in sorted(places, key=lambda place: place[1]):
        y = first
        for other_x, other_y, other in done:
            beside = x < other_x + len(other.label) * _LETTER + 10
            beside = beside and other_x < x + len(mark.label) * _LETTER + 10
            if beside and abs(y - other_y) < _LABEL_HEIGHT:
                y = other_y + _LABEL_HEIGHT
        done.append((x, y, mark))
    return done


def _tick_class(axis: Axis) -> str:
    return 'class="tick"' if axis.title else 'class="name"'


def _round_step(least: float) -> float:
    power = 10.0 ** math.floor(math.log10(least))
    return next(n * power for n in (1, 2, 5, 10) if n * power >= least * 0.8)


def _seconds(power: int) -> str:
    if power >= 0:
        return f"{10**power} s"
    return f"{10 ** (power % 3)} {('ms', 'µs', 'ns')[(-power - 1) // 3]}" if power >= -9 else "0"
