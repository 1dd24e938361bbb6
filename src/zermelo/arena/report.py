"""The report of a tournament: a self-contained HTML page for light and dark colour schemes."""

import json
from collections.abc import Mapping
from html import escape
from typing import Any

from zermelo import __version__
from zermelo.arena import charts
from zermelo.arena.charts import Axis, Mark
from zermelo.arena.standings import Standings
from zermelo.arena.tournament import Result
from zermelo.core.phrases import count

_MAX_NAME = 28  # longest name in a chart, in characters
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
    """Return the whole page; `command` is the command line that reproduces the tournament."""
    title = f"{result.plan.game}: {' · '.join(result.plan.names)}"
    parts = [
        f"<h1>Arena: {escape(result.plan.game)}</h1>",
        f'<p class="faint">{escape(_summarize(result))}</p>',
        _section("Results", _cross_table(result), "Wins, draws and losses of the row's player."),
        _section("Ratings", _rating_chart(result), _RATINGS),
        _section("Strength and time", _time_chart(result), _TIME),
        _section("Forfeits", _forfeit_table(result), ""),
        _section("How to reproduce these results", _reproduction(result, command, machine), ""),
    ]
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        f"<title>{escape(title)}</title><style>{_STYLE}{charts.STYLE}</style></head>"
        f"<body>{''.join(parts)}</body></html>\n"
    )


_RATINGS = "Elo with 95% intervals; the mean of all players is 0."
_TIME = "Elo against the mean time per move; a line connects players of the same kind."


def _section(title: str, body: str, note: str) -> str:
    """Return a section, or an empty string if it has no body."""
    paragraph = f'<p class="faint">{escape(note)}</p>' if note else ""
    return f"<section><h2>{escape(title)}</h2>{paragraph}{body}</section>" if body else ""


def _summarize(result: Result) -> str:
    plan, standings = result.plan, result.standings
    parts = [count(standings.games, "game") + ("" if result.finished else " so far")]
    if plan.num_opening_plies:
        moves = count(plan.num_opening_plies, "random move")
        parts.append(f"openings of {moves}, each played from both sides")
    if plan.seconds is not None:
        parts.append(f"{plan.seconds:g} s per move")
    if standings.repeated:
        parts.append(f"{count(standings.repeated, 'repeated game')} not rated")
    if result.sprt is not None:
        decision = result.sprt["accepted"] or "undecided"
        parts.append(
            f"sequential test of {result.sprt['elo0']:g} against {result.sprt['elo1']:g} Elo: "
            f"{decision}, log likelihood ratio {result.sprt['llr']:.2f}"
        )
    return "; ".join(parts)


def _cross_table(result: Result) -> str:
    standings = result.standings
    names = standings.ranking()
    numbers = "".join(f"<th>{n}</th>" for n in range(1, len(names) + 1))
    columns = "".join(f"<th>{text}</th>" for text in ("Elo", "95%", "time/move"))
    rows = [f'<tr><th></th><th class="name">player</th>{columns}{numbers}</tr>']
    for number, name in enumerate(names, 1):
        cells = "".join(
            '<td class="self"></td>'
            if name == other
            else f"<td>{_score_text(standings, name, other)}</td>"
            for other in names
        )
        rating, time = standings.ratings[name], standings.time_text(name)
        rows.append(
            f'<tr><td>{number}</td><td class="name">{escape(name)}</td>'
            f"<td>{rating.rating:+.0f}</td><td>{rating.low:+.0f} … {rating.high:+.0f}</td>"
            f"<td>{time}</td>{cells}</tr>"
        )
    return _table(rows)


def _table(rows: list[str]) -> str:
    """Return a table that scrolls, also with the keyboard, if it is too wide."""
    return f'<div class="wide" tabindex="0"><table>{"".join(rows)}</table></div>'


def _score_text(standings: Standings, name: str, other: str) -> str:
    score = standings.head_to_head(name, other)
    return f"{score.wins}&thinsp;&ndash;&thinsp;{score.draws}&thinsp;&ndash;&thinsp;{score.losses}"


def _colours(result: Result) -> dict[str, int]:
    """Return a colour for each player; players with the same name before the colon share one."""
    kinds = list(dict.fromkeys(name.partition(":")[0] for name in result.plan.names))
    return {name: kinds.index(name.partition(":")[0]) for name in result.plan.names}


def _shorten(name: str) -> str:
    """Shorten a long name, such as a path, to its end."""
    return name if len(name) <= _MAX_NAME else f"…{name[1 - _MAX_NAME :]}"


def _rating_chart(result: Result) -> str:
    standings, colours = result.standings, _colours(result)
    names = standings.ranking()
    marks = []
    for index, name in enumerate(names):
        rating = standings.ratings[name]
        label, interval = f"{rating.rating:+.0f}", (rating.low, rating.high)
        marks.append(Mark(rating.rating, -index, label, colours[name], x_range=interval))
    bounds = [bound for rating in standings.ratings.values() for bound in (rating.low, rating.high)]
    x, y = Axis.linear(bounds, "Elo"), Axis.names([_shorten(name) for name in names])
    return charts.draw_chart("ratings with intervals", x, y, marks, 70 + 34 * len(names))


def _time_chart(result: Result) -> str:
    standings, colours = result.standings, _colours(result)
    marks = []
    for name, rating in standings.ratings.items():
        seconds, interval = standings.seconds_per_move(name), (rating.low, rating.high)
        if seconds:
            mark = Mark(seconds, rating.rating, _shorten(name), colours[name], y_range=interval)
            marks.append(mark)
    if not marks:
        return ""
    bounds = [bound for mark in marks if mark.y_range for bound in mark.y_range]
    x = Axis.seconds([mark.x for mark in marks], "mean time per move")
    y = Axis.linear(bounds, "Elo")
    return charts.draw_chart("rating against time per move", x, y, marks, 420)


def _forfeit_table(result: Result) -> str:
    rows = [
        f'<tr><td class="name">{escape(player)}</td><td class="name">{escape(reason)}</td>'
        f"<td>{games:,}</td></tr>"
        for (player, reason), games in result.standings.forfeits.most_common()
    ]
    head = '<tr><th class="name">player</th><th class="name">reason</th><th>games</th></tr>'
    return _table([head, *rows]) if rows else ""


def _reproduction(result: Result, command: str, machine: Mapping[str, Any]) -> str:
    machine_text = " · ".join(f"{key} {value}" for key, value in machine.items())
    settings = json.dumps(result.plan.to_dict(), indent=2)
    return (
        f"<pre>{escape(command)}</pre><p>Zermelo {escape(__version__)}, seed {result.plan.seed}; "
        f"{escape(machine_text)}</p><details><summary>All settings</summary>"
        f"<pre>{escape(settings)}</pre></details>"
    )
