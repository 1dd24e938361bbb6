"""A report as one page that stands by itself: no scripts, nothing from elsewhere, two schemes."""

import json
from collections.abc import Mapping
from html import escape
from typing import Any

from zermelo import __version__
from zermelo.arena import charts
from zermelo.arena.charts import Axis, Mark
from zermelo.arena.tournament import Result

_MAX_NAME = 28  # letters in a chart
_STYLE = """
:root{color-scheme:light dark;--back:#fdfcf9;--text:#24221d;--faint:#6b665b;--grid:#e4dfd3;
--card:#f5f1e8;--c0:#1b6ca8;--c1:#b8500f;--c2:#2d7d46;--c3:#8a3fa0;--c4:#86590c;--c5:#4a5a6a}
@media (prefers-color-scheme:dark){:root{--back:#191817;--text:#ece8df;--faint:#a8a295;
--grid:#383530;--card:#242220;--c0:#6db3e8;--c1:#f0955a;--c2:#74c98c;--c3:#c991dc;--c4:#e0b45f;
--c5:#a3b5c6}}
body{font:16px/1.5 system-ui,sans-serif;background:var(--back);color:var(--text);margin:0 auto;
max-width:960px;padding:1.5rem}
h1{font-size:1.6rem;margin:0}h2{font-size:1.15rem;margin:2rem 0 .6rem}
p{margin:.4rem 0}.faint{color:var(--faint)}
.wide{overflow-x:auto}table{border-collapse:collapse;font-size:.9rem;font-variant-numeric:tabular-nums}
th,td{padding:.3rem .45rem;text-align:right;border-bottom:1px solid var(--grid);white-space:nowrap}
th{font-weight:600;color:var(--faint)}td.name,th.name{text-align:left;color:var(--text)}
td.self{background:var(--card)}tr:first-child td{border-top:0}
pre{background:var(--card);padding:.8rem 1rem;border-radius:6px;white-space:pre-wrap;
overflow-wrap:anywhere}svg{width:100%;height:auto;display:block}
"""


def to_html(result: Result, command: str, machine: Mapping[str, Any]) -> str:
    """The whole page; `command` is what would make it again."""
    title = f"{result.plan.game}: {' · '.join(result.plan.names)}"
    parts = [
        f"<h1>Arena: {escape(result.plan.game)}</h1>",
        f'<p class="faint">{escape(_summary(result))}</p>',
        _section("Results", _cross_table(result), "Wins, draws and losses of the row's player."),
        _section("Ratings", _rating_chart(result), _RATINGS),
        _section("Strength and time", _time_chart(result), _TIME),
        _section("Forfeits", _forfeits(result), ""),
        _section("To do it again", _again(result, command, machine), ""),
    ]
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        f"<title>{escape(title)}</title><style>{_STYLE}{charts.STYLE}</style></head>"
        f"<body>{''.join(parts)}</body></html>\n"
    )


_RATINGS = "Elo with 95% intervals; the mean of the players is 0."
_TIME = "Elo over the mean time of a move; players of one family are joined."


def _section(title: str, body: str, note: str) -> str:
    said = f'<p class="faint">{escape(note)}</p>' if note else ""
    return f"<section><h2>{escape(title)}</h2>{said}{body}</section>" if body else ""


def _summary(result: Result) -> str:
    plan, found = result.plan, result.standings
    parts = [f"{found.games:,} games" + ("" if result.finished else " so far")]
    if plan.num_opening_plies:
        parts.append(f"each opening of {plan.num_opening_plies} random plies from both sides")
    if plan.seconds is not None:
        parts.append(f"{plan.seconds:g} s a move")
    if found.repeated:
        parts.append(f"{found.repeated:,} repeated games, which are not rated")
    if result.sprt is not None:
        answer = result.sprt["accepted"] or "open"
        parts.append(
            f"sequential test of {result.sprt['elo0']:g} against {result.sprt['elo1']:g} Elo: "
            f"{answer}, log likelihood ratio {result.sprt['llr']:.2f}"
        )
    return "; ".join(parts)


def _cross_table(result: Result) -> str:
    found = result.standings
    names = found.ranked()
    head = "".join(f"<th>{n}</th>" for n in range(1, len(names) + 1))
    ends = "".join(f"<th>{text}</th>" for text in ("Elo", "95%", "a move"))
    rows = [f'<tr><th></th><th class="name">player</th>{ends}{head}</tr>']
    for number, name in enumerate(names, 1):
        cells = "".join(
            '<td class="self"></td>' if name == other else f"<td>{_tally(found, name, other)}</td>"
            for other in names
        )
        rating, pace = found.ratings[name], found.pace_text(name)
        rows.append(
            f'<tr><td>{number}</td><td class="name">{escape(name)}</td>'
            f"<td>{rating.rating:+.0f}</td><td>{rating.low:+.0f} … {rating.high:+.0f}</td>"
            f"<td>{pace}</td>{cells}</tr>"
        )
    return _table(rows)


def _table(rows: list[str]) -> str:
    """Wide ones scroll, by the keyboard too."""
    return f'<div class="wide" tabindex="0"><table>{"".join(rows)}</table></div>'


def _tally(found: Any, name: str, other: str) -> str:
    tally = found.meeting(name, other)
    return f"{tally.wins}&thinsp;&ndash;&thinsp;{tally.draws}&thinsp;&ndash;&thinsp;{tally.losses}"


def _families(result: Result) -> dict[str, int]:
    """A colour for the name before the colon."""
    kinds = dict.fromkeys(name.partition(":")[0] for name in result.plan.names)
    return {kind: number for number, kind in enumerate(kinds)}


def _short(name: str) -> str:
    """The end of a long name, such as a file's."""
    return name if len(name) <= _MAX_NAME else f"…{name[1 - _MAX_NAME :]}"


def _rating_chart(result: Result) -> str:
    found, colours = result.standings, _families(result)
    names = found.ranked()
    marks = [
        Mark(
            rating.rating,
            -at,
            f"{rating.rating:+.0f}",
            colours[name.partition(":")[0]],
            x_range=(rating.low, rating.high),
        )
        for at, (name, rating) in enumerate((name, found.ratings[name]) for name in names)
    ]
    ends = [end for rating in found.ratings.values() for end in (rating.low, rating.high)]
    x, y = Axis.of(ends, "Elo"), Axis.of_names([_short(name) for name in names])
    return charts.chart("ratings with intervals", x, y, marks, 70 + 34 * len(names))


def _time_chart(result: Result) -> str:
    found, colours = result.standings, _families(result)
    marks = [
        Mark(
            pace,
            rating.rating,
            _short(name),
            colours[name.partition(":")[0]],
            y_range=(rating.low, rating.high),
        )
        for name, rating in found.ratings.items()
        if (pace := found.pace(name))
    ]
    if not marks:
        return ""
    ends = [end for mark in marks if mark.y_range for end in mark.y_range]
    x = Axis.of_log([mark.x for mark in marks], "mean time of a move")
    return charts.chart("rating over time a move", x, Axis.of(ends, "Elo"), marks, 420)


def _forfeits(result: Result) -> str:
    rows = [
        f'<tr><td class="name">{escape(player)}</td><td class="name">{escape(reason)}</td>'
        f"<td>{games:,}</td></tr>"
        for (player, reason), games in result.standings.forfeits.most_common()
    ]
    head = '<tr><th class="name">player</th><th class="name">reason</th><th>games</th></tr>'
    return _table([head, *rows]) if rows else ""


def _again(result: Result, command: str, machine: Mapping[str, Any]) -> str:
    where = " · ".join(f"{key} {value}" for key, value in machine.items())
    settings = json.dumps(result.plan.to_json(), indent=2)
    return (
        f"<pre>{escape(command)}</pre><p>Zermelo {escape(__version__)}, seed {result.plan.seed}; "
        f"{escape(where)}</p><details><summary>All settings</summary>"
        f"<pre>{escape(settings)}</pre></details>"
    )
