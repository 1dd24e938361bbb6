"""The bodies of responses, and the functions that build them from positions, matches and analyses.

The rules, such as legal moves and where a stone falls, come from the game and `core.cells`.
"""

from functools import lru_cache
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from zermelo.core.cells import line_cells, moves_by_cell
from zermelo.core.notation import Grid
from zermelo.core.phrases import describe_value
from zermelo.core.player import Analysis
from zermelo.core.position import Outcome, Position
from zermelo.players.registry import HUMAN
from zermelo.store.matches import MatchRow

OutcomeName = Literal["first", "second", "draw"]


class Problem(BaseModel):
    """What is wrong with a request, and what would be right."""

    detail: str


class CellView(BaseModel):
    """A cell of the board: its name, and the move that a click on it plays."""

    name: str
    move: str | None


class PositionView(BaseModel):
    """Everything that a client needs to draw a position and to play a move in it."""

    game: str
    moves: list[str]
    ply: int
    to_move: int
    rows: int
    cols: int
    board: list[int]
    symbols: str
    discs: bool
    gravity: bool
    columns: list[str]
    cells: list[CellView]
    legal: list[str]
    landing: dict[str, int]
    extra: list[str]
    last_cell: int | None
    winning_line: list[int]
    over: bool
    outcome: OutcomeName | None
    verdict: str


class MatchView(PositionView):
    """A match: its current position and its players."""

    id: str
    first: str
    second: str
    human_to_move: bool
    resigned: int | None
    updated: float


class CreatedMatch(MatchView):
    """A new match, and the ids of the matches that were deleted to make room for it."""

    deleted: list[str]


class MatchSummary(BaseModel):
    """A match as an entry in a list."""

    model_config = ConfigDict(from_attributes=True)  # the attributes of a MatchRow

    id: str
    game: str
    first: str
    second: str
    plies: int
    verdict: str
    over: bool
    updated: float


def view_position(position: Position) -> PositionView:
    """Return a position in the form that clients get."""
    return PositionView(**_position_fields(position))


def view_match(row: MatchRow, position: Position) -> MatchView:
    """Return a match in the form that clients get; its row says whether and how it ended."""
    return MatchView(**_match_fields(row, position))


def view_created_match(row: MatchRow, position: Position, deleted: list[str]) -> CreatedMatch:
    """Return a new match in the form that clients get."""
    return CreatedMatch(**_match_fields(row, position), deleted=deleted)


def analysis_event(position: Position, analysis: Analysis) -> dict[str, Any]:
    """Return the JSON of `zermelo analyze`, plus values in words and the cells of lines of play."""
    record = analysis.to_dict(position=position)
    for part in (record, *record["candidates"]):
        part["words"] = describe_value(
            part["value"], part["estimate"], part["plies"], part.get("diff")
        )
        part["pv_cells"] = line_cells(position, part["pv"])
    return record


def _match_fields(row: MatchRow, position: Position) -> dict[str, Any]:
    fields = _position_fields(position) | {"over": bool(row.over), "verdict": row.verdict}
    if row.resigned is not None:
        fields["outcome"] = Outcome.from_value(-1, row.resigned).value
    return fields | {
        "id": row.id,
        "first": row.first,
        "second": row.second,
        "human_to_move": not row.over and (row.first, row.second)[position.player] == HUMAN,
        "resigned": row.resigned,
        "updated": row.updated,
    }


def _position_fields(position: Position) -> dict[str, Any]:
    game, board, moves = position.game, position.board or (), position.moves or []
    grid, outcome = game.grid, position.outcome
    cells = moves_by_cell(position)
    names = _cell_names(grid) if grid else ()
    return {
        "game": game.spec,
        "moves": moves,
        "ply": len(moves),
        "to_move": position.player,
        "rows": grid.rows if grid else 0,
        "cols": grid.cols if grid else 0,
        "board": board,
        "symbols": game.symbols,
        "discs": game.has_discs,
        "gravity": game.gravity,
        "columns": game.column_labels,
        "cells": [
            # A click on a stone plays no move, even if its column has an empty cell.
            {"name": name, "move": None if stone else cells.move_at.get(cell)}
            for cell, (name, stone) in enumerate(zip(names, board, strict=True))
        ],
        "legal": position.legal,
        "landing": cells.landing,
        "extra": cells.extra,
        "last_cell": position.last_cell,
        "winning_line": position.winning_line or (),
        "over": outcome is not None,
        "outcome": outcome.value if outcome else None,
        "verdict": position.verdict,
    }


@lru_cache(maxsize=64)
def _cell_names(grid: Grid) -> tuple[str, ...]:
    return tuple(map(grid.text, range(grid.size)))
