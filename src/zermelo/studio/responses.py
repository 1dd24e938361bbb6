"""Views: a position and a match as the page, or any other client, gets them. No rules in here."""

from functools import lru_cache
from typing import Any

from zermelo.core.notation import Grid
from zermelo.core.phrases import describe_value
from zermelo.core.player import Analysis
from zermelo.core.position import Position
from zermelo.matches.match import Match
from zermelo.players.registry import HUMAN
from zermelo.search.explain import analysis
from zermelo.store import Row


def position_view(position: Position, *, verdict: str = "") -> dict[str, Any]:
    """Everything that is needed to draw a position and to move in it."""
    game, legal = position.game, position.legal
    grid = game.grid
    cells = _cells(position)
    clickable = {cell["move"] for cell in cells}
    outcome = position.outcome
    return {
        "game": game.spec,
        "moves": position.moves or [],
        "ply": len(position.moves or ()),
        "to_move": position.player,
        "rows": grid.rows if grid else 0,
        "cols": grid.cols if grid else 0,
        "board": list(position.board or ()),
        "symbols": game.symbols,
        "discs": game.discs,
        "columns": list(game.column_labels),
        "cells": cells,
        "legal": legal,
        "extra": [move for move in legal if move not in clickable],
        "last_cell": position.last_cell,
        "winning_line": list(position.winning_line or ()),
        "over": outcome is not None,
        "outcome": outcome.value if outcome else None,
        "verdict": verdict or position.verdict,
    }


def _cells(position: Position) -> list[dict[str, str | None]]:
    """For every cell its name, and what a click on it plays."""
    game = position.game
    if game.grid is None:
        return []
    moves: list[str | None] = [None] * game.grid.size
    falls = getattr(game, "gravity", False)
    board = position.board or ()
    for action in position.actions:
        if falls:
            for cell in range(action, game.grid.size, game.grid.cols):
                if not board[cell]:
                    moves[cell] = game.to_text(action)
        else:
            cell_of = game.last_cell(game.play(position.state, action), action)
            if cell_of is not None:
                moves[cell_of] = game.to_text(action)
    names = _names(game.grid)
    return [{"name": name, "move": move} for name, move in zip(names, moves, strict=True)]


@lru_cache(maxsize=64)
def _names(grid: Grid) -> tuple[str, ...]:
    return tuple(map(grid.text, range(grid.size)))


def match_view(row: Row, match: Match) -> dict[str, Any]:
    """A match: its position, and who plays."""
    view = position_view(match.position, verdict=match.verdict)
    outcome = match.outcome
    players = row.first, row.second
    return view | {
        "id": row.id,
        "first": row.first,
        "second": row.second,
        "over": outcome is not None,
        "outcome": outcome.value if outcome else None,
        "human_to_move": outcome is None and players[match.position.player] == HUMAN,
        "resigned": row.resigned,
        "updated": row.updated,
    }


def row_view(row: Row) -> dict[str, Any]:
    """A match in a list."""
    return {
        "id": row.id,
        "game": row.game,
        "first": row.first,
        "second": row.second,
        "plies": row.plies,
        "verdict": row.verdict,
        "over": bool(row.over),
        "updated": row.updated,
    }


def analysis_view(position: Position, found: Analysis) -> dict[str, Any]:
    """What `zermelo analyze` prints, a hybrid's `parts` included, with words."""
    view = analysis.to_json(position, found, position.game.spec)
    for part in (view, *view["candidates"]):
        part["words"] = describe_value(
            part["value"], part["estimate"], part["plies"], part.get("diff")
        )
    return view
