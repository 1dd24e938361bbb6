"""The signature: move sequences of fixed lengths in fixed games, in one number."""

from typing import Any

from zermelo.games import registry
from zermelo.search.count import count

_DEPTHS = {
    "tictactoe": 9,
    "connect4": 8,
    "connect4:5x5": 8,
    "gomoku6": 5,
    "squava": 6,
    "squava:pie=true": 5,
    "mnk:4x5x3": 6,
    "gomoku:size=5,overline=exact": 6,
    "reversi": 8,
    "reversi:6": 9,
    "gomoku:size=9,renju=true": 2,
}


def run() -> dict[str, Any]:
    """The total, and what each game adds."""
    rows: list[dict[str, Any]] = []
    for spec, depth in _DEPTHS.items():
        total = sum(count(registry.game(spec), max_ply=depth).perft(depth))
        rows.append(
            {
                "game": spec,
                "task": f"perft {depth}",
                "system": "zermelo",
                "rate": total,
                "unit": "sequences",
            }
        )
    signature = sum(row["rate"] for row in rows)
    return {"suite": "signature", "signature": signature, "rows": rows, "ratios": {}}
