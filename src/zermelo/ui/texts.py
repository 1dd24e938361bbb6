"""Analyses and moves as text, for commands, the terminal and the full screen."""

import re
from collections.abc import Sequence
from typing import Any

from zermelo.core.errors import ZermeloError
from zermelo.core.phrases import YOU, count, count_moves, escape_controls, word_for
from zermelo.matches.match import Match
from zermelo.players.registry import HUMAN
from zermelo.ui.styles import PLAIN, Style

_MAX_LINE = 10  # maximum number of moves shown of a line of play
_MIN_REASONS = 24  # columns for the reasons; if there are fewer, the reasons have their own lines
_INDENT = " " * 7  # of reasons on lines of their own: the width of a star and a move
_SOURCES = {"table": "the tablebase", "book": "the opening book"}

Fields = dict[str, Any]  # the JSON object of an analysis or of a candidate move


def analysis_text(
    analysis: Fields,
    sides: tuple[str, str] | None = None,
    max_rows: int | None = None,
    style: Style = PLAIN,
) -> str:
    """Return an analysis as a table with a row for each move, best first.

    `sides` are the names of the side to move and of the other side. If the analysis comes with a
    verdict of exact search, the second column shows it. Control characters are escaped.
    """
    candidates = analysis["candidates"]
    if not candidates:
        result = {"win": "the side to move has won", "loss": "the side to move has lost"}
        return f"The game is over: {result.get(analysis['value'], 'it is a draw')}."
    shown = candidates[:max_rows]
    rows = [[candidate_text(c, sides), reasons_text(c, sides)] for c in shown]
    exact = {c["move"]: c for c in analysis.get("verdict", {}).get("candidates", ())}
    if exact:
        for row, candidate in zip(rows, shown, strict=True):
            row.insert(1, "| " + candidate_text(exact[candidate["move"]], sides)[7:])
    lines = _rows_text(rows, [_value_for_reader(c["value"], sides) for c in shown], style)
    num_hidden = len(candidates) - len(rows)
    lines += [f"  and {count(num_hidden, 'more move')}"] if num_hidden else []
    lines.append(escape_controls(effort_text(analysis)))
    if exact:
        lines.append(escape_controls(f"| exact search: {effort_text(analysis['verdict'])}"))
    return "\n".join(lines)


def _value_for_reader(value: str | None, sides: tuple[str, str] | None) -> str | None:
    """Return the value of a move for the human, if that is the other side, or for the mover."""
    is_opponent = sides is not None and sides[1] == YOU
    return {"win": "loss", "loss": "win"}.get(value or "", value) if is_opponent else value


def _rows_text(rows: list[list[str]], values: list[str | None], style: Style) -> list[str]:
    """Return the rows of a table whose last column is wrapped at the width of the terminal.

    The first cell of a row has the colour of the row's value.
    """
    rows = [[escape_controls(cell) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)][:-1]
    indent = sum(widths) + 2 * len(widths)
    is_narrow = style.width is not None and style.width - indent < _MIN_REASONS
    lines = []
    for row, value in zip(rows, values, strict=True):
        cells = [f"{cell:{width}}" for cell, width in zip(row, widths, strict=False)]
        head = f"{'  '.join(cells)}  "
        if is_narrow:  # the reasons have lines of their own
            text = style.wrap(f"{_INDENT}{row[-1]}", len(_INDENT)) if row[-1] else ""
            text = f"{head.rstrip()}\n{text}"
        else:
            text = style.wrap(f"{head}{row[-1]}", indent)
        cell = row[0].rstrip()
        lines.append(style.paint(cell, value) + text[len(cell) :].rstrip())
    return lines


def effort_text(analysis: Fields) -> str:
    """Return how certain an analysis is, and the nodes and time it took."""
    source = _SOURCES.get(analysis["source"], analysis["source"])
    certainty = f"{'proven' if analysis['exact'] else 'estimate'} by {source}"
    if analysis["depth"] and not analysis["exact"]:
        certainty += f" at depth {analysis['depth']}"
    return f"{certainty}; {count(analysis['nodes'], 'node')}, {analysis['seconds']:.2f} s"


def candidate_text(candidate: Fields, sides: tuple[str, str] | None = None) -> str:
    """Return a move with its value in words; a star marks the best moves."""
    star = "*" if candidate["best"] else " "
    text = word_for(candidate["value"], candidate["estimate"], sides)
    if margin_of(candidate):
        text += f" by {abs(margin_of(candidate))}"
    elif candidate["plies"]:
        text += f" in {count_moves(candidate['plies'])}"
    elif candidate["value"] is None:
        text += f" {candidate['estimate']:+.2f}"
    if "visits" in candidate:
        text += f", {count(candidate['visits'], 'visit')}"
    if "parts" in candidate:
        text += " (" + ", ".join(f"{k} {v:+.2f}" for k, v in candidate["parts"].items()) + ")"
    return f"{star} {candidate['move']:4} {text}"


def margin_of(fields: Fields) -> int:
    """Return the margin by which a proven position is won or lost, or 0 if there is none.

    The field `score` is a margin only in games with scores, in which the length of a win is not
    known.
    """
    score = fields.get("score") if fields["value"] and fields["plies"] is None else None
    return fields.get("diff") or score or 0


def reasons_text(candidate: Fields, sides: tuple[str, str] | None = None) -> str:
    """Return the reasons for a move's value or, if there are none, the expected line of play."""
    if candidate["reasons"]:
        return "; ".join(reason_text(reason, sides) for reason in candidate["reasons"])
    pv = candidate["pv"]
    return " ".join(pv[:_MAX_LINE]) + (" …" if len(pv) > _MAX_LINE else "")


def reason_text(reason: Fields, sides: tuple[str, str] | None = None) -> str:
    """Return the text of a reason; if the opponent of the side to move is "you", it says so.

    >>> reason_text({"text": "X then wins immediately with b3"}, ("AI", "you"))
    'you then win immediately with b3'
    """
    text: str = reason["text"]
    if sides is None or sides[1] != YOU:
        return text
    text = re.sub(r"^\S+ then wins\b", f"{YOU} then win", text)
    return re.sub(r"^forces \S+ to pass$", f"forces {YOU} to pass", text)


def side_names(symbols: str, players: tuple[str, str], mover: int) -> tuple[str, str]:
    """Return names for the side to move and the other side.

    If just one side is human, the names are "you" and "AI"; otherwise they are the symbols.
    """
    names: tuple[str, ...] = tuple(symbols)
    if players.count(HUMAN) == 1:
        names = tuple(YOU if spec == HUMAN else "AI" for spec in players)
    return names[mover], names[1 - mover]


def verdict_text(match: Match, players: tuple[str, str]) -> str:
    """Return who has won; if just one side is human, whether that is you.

    >>> verdict_text(Match("tictactoe", "b2 a1 c1 b1 a3"), ("human", "level:3"))
    'you win'
    >>> verdict_text(Match("tictactoe", "b2 a1 c1 b1 a3"), ("level:3", "human"))
    'you lose'
    >>> verdict_text(Match("tictactoe", "b2 a1 c1 b1 a3"), ("human", "human"))
    'X wins'
    """
    winner = match.outcome.winner if match.outcome else None
    if winner is None or players.count(HUMAN) != 1:
        return match.verdict
    human, symbols = players.index(HUMAN), match.game.symbols
    result = f"{YOU} {'win' if winner == human else 'lose'}"
    text = match.verdict.replace(f"{symbols[winner]} wins", result, 1)
    return text.replace(f": {symbols[human]} ", f": {YOU} ", 1)


def history_text(
    moves: Sequence[str], seconds: Sequence[float | None], sides: Sequence[str] = ()
) -> str:
    """Return the moves in numbered pairs, with the time of each move if it is known.

    If `sides` names the side of each move, because a side may move several times in succession,
    each move has a line of its own.
    """
    if not moves:
        return "No moves yet."
    width = max(map(len, moves))
    if sides:
        rows = enumerate(zip(sides, moves, seconds, strict=True), 1)
        return "\n".join(
            f"{ply:>3}. {side} {move:{width}}  {'' if s is None else f'{s:.1f} s'}".rstrip()
            for ply, (side, move, s) in rows
        )
    lines = []
    for ply in range(0, len(moves), 2):
        pair = "  ".join(f"{move:{width}}" for move in moves[ply : ply + 2]).rstrip()
        times = ", ".join(f"{s:.1f} s" for s in seconds[ply : ply + 2] if s is not None)
        lines.append(f"{ply // 2 + 1:>3}. {pair:{2 * width + 2}}  {times}".rstrip())
    return "\n".join(lines)


def to_sentence(error: ZermeloError | str) -> str:
    """Return an error or a verdict as a sentence with a capital letter and a full stop."""
    text = escape_controls(str(error))
    return f"{text[:1].upper()}{text[1:].rstrip('.')}."
