"""Analyses as people read them, in commands and in the terminal."""

from typing import Any

from zermelo.wording import word_for

_MAX_LINE = 10


def analysis_text(
    found: dict[str, Any], sides: tuple[str, str] | None = None, most: int | None = None
) -> str:
    """An analysis as a table: a line for every move, best first, with its reasons."""
    if not found["candidates"]:
        word = {"win": "won", "draw": "drawn", "loss": "lost"}[found["value"]]
        return f"The game is over, {word} for the side that would move."
    rows = [(row_text(c, sides), reasons_text(c)) for c in found["candidates"][:most]]
    width = max(len(head) for head, _ in rows)
    lines = [f"{head:{width}}  {why}".rstrip() for head, why in rows]
    left = len(found["candidates"]) - len(rows)
    lines += [f"  and {left} more"] if left else []
    return "\n".join([*lines, effort_text(found)])


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
    return f"{mark} {candidate['move']:4} {word}"


def reasons_text(candidate: dict[str, Any]) -> str:
    """The reasons of a move, in one line; without any, the expected play."""
    if candidate["reasons"]:
        return "; ".join(reason["text"] for reason in candidate["reasons"])
    pv = candidate["pv"]
    return " ".join(pv[:_MAX_LINE]) + (" …" if len(pv) > _MAX_LINE else "")
