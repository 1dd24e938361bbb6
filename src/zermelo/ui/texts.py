"""Analyses and moves as people read them, in commands and in the terminal."""

from collections.abc import Sequence
from typing import Any

from zermelo.core.phrases import word_for

_MAX_LINE = 10


def analysis_text(
    found: dict[str, Any], sides: tuple[str, str] | None = None, most: int | None = None
) -> str:
    """An analysis as a table: a line for every move, best first, with its reasons."""
    if not found["candidates"]:
        word = {"win": "won", "draw": "drawn", "loss": "lost"}[found["value"]]
        return f"The game is over, {word} for the side that would move."
    rows = [[row_text(c, sides), reasons_text(c)] for c in found["candidates"][:most]]
    verdict = {c["move"]: c for c in found.get("verdict", {}).get("candidates", ())}
    if verdict:  # beside a player's own thoughts, what exact search says
        for row, candidate in zip(rows, found["candidates"], strict=False):
            row.insert(1, "| " + row_text(verdict[candidate["move"]], sides)[7:])
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [
        "  ".join(f"{text:{width}}" for text, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]
    left = len(found["candidates"]) - len(rows)
    lines += [f"  and {left} more"] if left else []
    lines.append(effort_text(found))
    lines += [f"| search: {effort_text(found['verdict'])}"] if verdict else []
    return "\n".join(lines)


def effort_text(found: dict[str, Any]) -> str:
    """How sure it is, and what it took."""
    ahead = f", {found['depth']} plies ahead" if found["depth"] else ""
    note = "proven" if found["exact"] else f"estimate{ahead}"
    return f"{note}; {found['nodes']:,} positions, {found['seconds']:.2f} s, {found['source']}"


def row_text(candidate: dict[str, Any], sides: tuple[str, str] | None = None) -> str:
    """One move: its value in words, and how far away the end is."""
    mark = "*" if candidate["best"] else " "
    word = word_for(candidate["value"], candidate["estimate"], sides)
    if candidate.get("diff"):
        word += f" by {abs(candidate['diff'])}"
    elif candidate["plies"]:
        word += f" in {candidate['plies']}"
    elif candidate["value"] is None:
        word += f" {candidate['estimate']:+.2f}"
    if "visits" in candidate:
        word += f", {candidate['visits']:,} visits"
    if "parts" in candidate:
        word += " (" + ", ".join(f"{k} {v:+.2f}" for k, v in candidate["parts"].items()) + ")"
    return f"{mark} {candidate['move']:4} {word}"


def reasons_text(candidate: dict[str, Any]) -> str:
    """The reasons of a move, in one line; without any, the expected play."""
    if candidate["reasons"]:
        return "; ".join(reason["text"] for reason in candidate["reasons"])
    pv = candidate["pv"]
    return " ".join(pv[:_MAX_LINE]) + (" …" if len(pv) > _MAX_LINE else "")


def sides(symbols: str, players: tuple[str, str], mover: int) -> tuple[str, str]:
    """The side to move and the other one: human and AI where there is one of each."""
    names: tuple[str, ...] = tuple(symbols)
    if players.count("human") == 1:
        names = tuple("human" if spec == "human" else "AI" for spec in players)
    return names[mover], names[1 - mover]


def history_text(moves: Sequence[str], times: Sequence[float | None]) -> str:
    """Moves in numbered pairs, with the seconds they took where these are known."""
    if not moves:
        return "No moves yet."
    width = max(map(len, moves))
    lines = []
    for at in range(0, len(moves), 2):
        pair = "  ".join(f"{move:{width}}" for move in moves[at : at + 2]).rstrip()
        took = ", ".join(f"{s:.1f} s" for s in times[at : at + 2] if s is not None)
        lines.append(f"{at // 2 + 1:>3}. {pair:{2 * width + 2}}  {took}".rstrip())
    return "\n".join(lines)
