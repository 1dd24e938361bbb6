"""Analyses and moves as text, for commands, the terminal and the full screen."""

from collections.abc import Sequence
from typing import Any

from zermelo.core.errors import ZermeloError
from zermelo.core.phrases import count, count_moves, escape_controls, word_for

_MAX_LINE = 10  # maximum number of moves shown of a line of play
_SOURCES = {"table": "the tablebase", "book": "the opening book"}

Fields = dict[str, Any]  # the JSON object of an analysis or of a candidate move


def analysis_text(
    analysis: Fields, sides: tuple[str, str] | None = None, max_rows: int | None = None
) -> str:
    """Return an analysis as a table with a row for each move, best first.

    `sides` are the names of the side to move and of the other side. If the analysis comes with a
    verdict of exact search, the second column shows it.
    """
    candidates = analysis["candidates"]
    if not candidates:
        result = {"win": "the side to move has won", "loss": "the side to move has lost"}
        return f"The game is over: {result.get(analysis['value'], 'it is a draw')}."
    rows = [[candidate_text(c, sides), reasons_text(c)] for c in candidates[:max_rows]]
    exact = {c["move"]: c for c in analysis.get("verdict", {}).get("candidates", ())}
    if exact:
        for row, candidate in zip(rows, candidates, strict=False):
            row.insert(1, "| " + candidate_text(exact[candidate["move"]], sides)[7:])
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [
        "  ".join(f"{text:{width}}" for text, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]
    num_hidden = len(candidates) - len(rows)
    lines += [f"  and {count(num_hidden, 'more move')}"] if num_hidden else []
    lines.append(effort_text(analysis))
    lines += [f"| exact search: {effort_text(analysis['verdict'])}"] if exact else []
    return escape_controls("\n".join(lines), keep="\n")


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


def reasons_text(candidate: Fields) -> str:
    """Return the reasons for a move's value or, if there are none, the expected line of play."""
    if candidate["reasons"]:
        return "; ".join(reason["text"] for reason in candidate["reasons"])
    pv = candidate["pv"]
    return " ".join(pv[:_MAX_LINE]) + (" …" if len(pv) > _MAX_LINE else "")


def side_names(symbols: str, players: tuple[str, str], mover: int) -> tuple[str, str]:
    """Return names for the side to move and the other side.

    If just one side is human, the names are human and AI; otherwise they are the symbols.
    """
    names: tuple[str, ...] = tuple(symbols)
    if players.count("human") == 1:
        names = tuple("human" if spec == "human" else "AI" for spec in players)
    return names[mover], names[1 - mover]


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
