"""Prove the published values of solved games again; report the nodes and time of each proof."""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from zermelo.bench import measure
from zermelo.core.errors import ZermeloError
from zermelo.core.game import WordGame
from zermelo.core.position import Position
from zermelo.games import registry
from zermelo.search.limits import SearchClock
from zermelo.search.solver.solver import Solver, SolverSettings

#: m,n,k-games: (value for the first player, number of plies to the end or None if not published)
_MNK: dict[str, tuple[int, int | None]] = {
    "3x3x3": (0, None),
    "4x3x3": (1, 7),
    "4x4x3": (1, 5),
    "5x3x3": (1, 7),
    "4x4x4": (0, None),
    "5x4x4": (0, None),
    "6x4x4": (0, None),
    "7x4x4": (0, None),
    "5x5x4": (0, None),
    "6x5x4": (1, 11),
    "7x5x4": (1, 11),
    "6x6x4": (1, 11),
    "7x6x4": (1, None),
    "7x7x4": (1, None),
    "5x5x5": (0, None),
}
_CONNECT_FOUR = {
    "4x4": 0, "4x5": 0, "4x6": -1, "5x4": 0, "5x5": 0, "5x6": 0, "6x4": 0, "6x5": 0, "6x6": -1,
}  # fmt: skip
_SQUAVA = {"a1": 1, "b1": 1, "b2": 1, "c1": -1, "c2": -1, "c3": -1}
_WORDS = {1: "first player wins", 0: "draw", -1: "second player wins"}
_TABLE_BITS = 24


class Contradiction(ZermeloError):
    """Raised when a proven value differs from the published one."""


@dataclass(frozen=True)
class ProvenValue:
    """A proven value and the cost of its proof. The field names are the keys of the JSON output."""

    game: str
    position: str
    value: str
    plies: int | None
    diff: int | None
    nodes: int
    seconds: float


def published_values() -> Iterator[tuple[str, str, int, int | None]]:
    """Yield (game, moves, value for the first player, plies in the whole game or None)."""
    for size, (value, plies) in _MNK.items():
        yield f"mnk:{size}", "", value, plies
    for size, value in _CONNECT_FOUR.items():
        yield f"connect4:{size}", "", value, None
    yield "reversi:4", "", -1, None
    for opening, value in _SQUAVA.items():
        yield "squava", opening, value, None


def run(progress: Callable[[str], None]) -> list[ProvenValue]:
    """Prove all published values on one core; raise Contradiction if a proven value differs."""
    measure.pin_to_one_core()
    rows = []
    for spec, moves, value, plies in published_values():
        progress(f"{spec} {moves}".strip())
        position = registry.game(spec).position(moves=moves)
        row = prove(position)
        if row.value != _WORDS[value] or plies not in (None, row.plies):
            msg = (
                f"{spec} {moves}: proven {row.value} in {row.plies} plies, "
                f"but published {_WORDS[value]} in {plies} plies"
            )
            raise Contradiction(msg)
        rows.append(row)
    return rows


def prove(position: Position) -> ProvenValue:
    """Solve a position with an empty transposition table; compilation is not timed."""
    game = position.game
    assert isinstance(game, WordGame)
    solver = Solver(game, SolverSettings(table_bits=_TABLE_BITS))
    clock, begin = SearchClock(), time.process_time()
    score = solver.score(position.state, clock)
    seconds = time.process_time() - begin
    sign = ((score > 0) - (score < 0)) * (1 if position.player == 0 else -1)
    plies_played = len(position.moves or ())
    has_plies = game.hooks.ply_cost and score
    return ProvenValue(
        game.spec,
        " ".join(position.moves or ()),
        _WORDS[sign],
        plies_played + game.hooks.win_score - abs(score) if has_plies else None,
        None if game.hooks.ply_cost else score,
        clock.nodes,
        seconds,
    )


def to_markdown(rows: list[ProvenValue]) -> str:
    """Return the text of the page docs/solved-games.md."""
    machine = measure.describe_machine()
    lines = [
        "# Solved games",
        "",
        "Written by `make proofs` (`zermelo bench solved --write docs/solved-games.md`). Every",
        "value is proven again, with an empty table and no book, on one core, and compared with",
        "the published one. Plies are counted from the empty board to the end of the game, where",
        "the winner plays as fast and the loser as slowly as possible. Seconds are CPU time",
        "without compilation.",
        "",
        f"Machine: {machine['cpu']}, Python {machine['python']}.",
        "",
        "| game | after | value | plies | positions | seconds |",
        "|---|---|---|---|---|---|",
    ]
    lines += [
        f"| {row.game} | {row.position} | {_describe_value(row)} | {row.plies or ''} "
        f"| {row.nodes:,} | {row.seconds:.2f} |"
        for row in rows
    ]
    lines += [
        "",
        "Sources of the published values: m,n,k games, Uiterwijk and van den Herik, The advantage",
        "of the initiative (2000), and van den Herik, Uiterwijk and van Rijswijck, Games solved",
        "(2002); Connect Four by size, John Tromp's table; Squava's openings and Reversi 4x4, by",
        "brute force. Connect Four sizes are rows x columns.",
        "",
    ]
    return "\n".join(lines)


def _describe_value(row: ProvenValue) -> str:
    return row.value if row.diff is None else f"{row.value} ({row.diff:+d} discs for the first)"


def to_dict(rows: list[ProvenValue]) -> dict[str, Any]:
    """Return the proven values as an object for the JSON output."""
    return {"suite": "solved", "rows": [vars(row) for row in rows], "ratios": {}}
