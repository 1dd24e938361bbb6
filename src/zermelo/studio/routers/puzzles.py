"""The route for puzzles."""

from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import BaseModel

from zermelo.search.explain.puzzles import puzzle
from zermelo.studio.games import find_game
from zermelo.studio.player_pool import Players
from zermelo.studio.requests import GameQuery
from zermelo.studio.responses import PositionView, view_position

router = APIRouter(prefix="/api/v1")


class PuzzleView(BaseModel):
    """A position in which exactly one move wins, and the win takes `plies` plies."""

    game: str
    moves: list[str]
    to_move: int
    plies: int
    seed: int
    position: PositionView


@router.get("/puzzle")
async def create_puzzle(
    players: Players,
    game: GameQuery,
    plies: Annotated[int, Query(ge=3, le=9)] = 3,
    seed: Annotated[int, Query(ge=0, le=10**9)] = 1,
) -> PuzzleView:
    """Return a position in which exactly one move wins, and the win takes `plies` plies."""
    rules, seconds = find_game(game), players.max_seconds
    new = await players.background.submit(lambda: puzzle(rules, plies, seed, seconds=seconds))
    return PuzzleView(**new.to_json(), position=view_position(new.position))
