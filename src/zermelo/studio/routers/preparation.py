"""A route that reports which games clients wait for while kernels are compiled."""

from fastapi import APIRouter
from pydantic import BaseModel

from zermelo.precompile import elapsed_share
from zermelo.studio.player_pool import Players

router = APIRouter(prefix="/api/v1")


class PreparationView(BaseModel):
    """The progress of the games that clients wait for; if `games` is empty, nobody has to wait."""

    games: list[str]
    share: float  #: from 0 to 1
    seconds_left: float  #: an estimate


@router.get("/preparation")
async def read_preparation(players: Players) -> PreparationView:
    """Return the progress of compiling the kernels that clients wait for."""
    urgent = players.preparation.urgent()
    games = sorted({min(compilation.games, key=len) for compilation in urgent})
    seconds = max(((1 - c.elapsed_share) * c.expected_seconds for c in urgent), default=0.0)
    return PreparationView(games=games, share=elapsed_share(urgent), seconds_left=seconds)
