"""The bodies of responses, and the functions that build them from positions, matches and analyses.

The rules, such as legal moves and where a stone falls, come from the game and `core.cells`: clients
need not know them.
"""

from functools import lru_cache
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from zermelo.core.cells import moves_by_cell, trace_line
from zermelo.core.drawing import is_svg
from zermelo.core.notation import Grid
from zermelo.core.phrases import describe_value
from zermelo.core.player import Analysis
from zermelo.core.position import Outcome, Position
from zermelo.players.registry import HUMAN
from zermelo.store.matches import MatchRow

_MAX_DRAWING, _MAX_PICTURE = 20_000, 200_000  # characters
_NAMESPACE = 'xmlns="http://www.w3.org/2000/svg"'

OutcomeName = Literal["first", "second", "draw"]


class Problem(BaseModel):
    """What is wrong with a request, and what would be right."""

    detail: str


class CellView(BaseModel):
    """A cell of the board: its name, and the move that a click on it plays."""

    name: str
    move: str | None


class PositionView(BaseModel):
    """Everything that a client needs to draw a position and to play a move in it.

    `targets` has, for the cell of each piece that can move, the cells that it can move to, with the
    moves that lead there; there are several if, for example, the piece is promoted.
    """

    game: str
    moves: list[str]
    movers: list[int]
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
    targets: dict[int, dict[int, list[str]]]
    sources: dict[str, int]
    landing: dict[str, int]
    extra: list[str]
    last_cell: int | None
    last_cells: list[int]
    drawing: str | None
    picture: str | None
    winning_line: list[int]
    over: bool
    outcome: OutcomeName | None
    score: int | None
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
    has_scores = position.game.has_scores
    for part in (record, *record["candidates"]):
        part["margin"] = part.get("diff", part.get("score") if has_scores else None)
        part["words"] = describe_value(
            part["value"], part["estimate"], part["plies"], part["margin"]
        )
        line = trace_line(position, part["pv"])
        part["pv_cells"] = [move.filled for move in line]
        part["pv_line"] = [{"player": move.player, "cells": move.cells} for move in line]
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
    drawing, picture = (None, None) if grid else _draw(position)
    return {
        "game": game.spec,
        "moves": moves,
        "movers": position.movers or [],
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
            # With gravity, a click on a stone plays no move, even if its column has an empty cell.
            {
                "name": name,
                "move": None if stone and game.gravity else cells.move_at.get(cell),
            }
            for cell, (name, stone) in enumerate(zip(names, board, strict=True))
        ],
        "legal": position.legal,
        "targets": cells.targets,
        "sources": cells.sources,
        "landing": cells.landing,
        "extra": cells.extra,
        "last_cell": position.last_cell,
        "last_cells": position.last_cells,
        "drawing": drawing,
        "picture": picture,
        "winning_line": position.winning_line or (),
        "over": outcome is not None,
        "outcome": outcome.value if outcome else None,
        "score": int(game.score(position.state)) if outcome and game.has_scores else None,
        "verdict": position.verdict,
    }


def _draw(position: Position) -> tuple[str, str | None]:
    """Return the drawing of a game without a grid, and its SVG picture if it has a valid one."""
    game, state = position.game, position.state
    return game.draw(state)[:_MAX_DRAWING], to_picture(game.draw_svg(state))


def to_picture(svg: str | None) -> str | None:
    """Return an SVG element as browsers accept it for an image; None if it is not valid."""
    if svg is None or len(svg) > _MAX_PICTURE or not is_svg(svg):
        return None
    return svg if _NAMESPACE in svg else svg.replace("<svg", f"<svg {_NAMESPACE}", 1)


@lru_cache(maxsize=64)
def _cell_names(grid: Grid) -> tuple[str, ...]:
    return tuple(map(grid.text, range(grid.size)))
