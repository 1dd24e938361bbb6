"""The route for puzzles."""

from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import BaseModel

from zermelo.search.explain.puzzles import puzzle
from zermelo.studio.games import find_game
from zermelo.studio.limits import RequestClient
from zermelo.studio.player_pool import Players, StopEvent
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
    client: RequestClient,
    players: Players,
    game: GameQuery,
    plies: Annotated[int, Query(ge=3, le=9)] = 3,
    seed: Annotated[int, Query(ge=0, le=10**9)] = 1,
) -> PuzzleView:
    """Return a position in which exactly one move wins, and the win takes `plies` plies."""
    stop = StopEvent(players.closing)

    def work() -> PuzzleView:
        new = puzzle(find_game(game), plies, seed, seconds=players.max_seconds, stop=stop)
        return PuzzleView(**new.to_dict(), position=view_position(new.position))

    return await players.background.submit(client, work, stop)
