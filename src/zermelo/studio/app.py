"""The studio's server: an application with the routes of docs/studio.md and a match store."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Iterable
from pathlib import Path

from fastapi import FastAPI

from zermelo import __version__
from zermelo.core.game import Game
from zermelo.store.matches import MatchStore
from zermelo.studio.errors import add_error_handlers
from zermelo.studio.games import offer_games
from zermelo.studio.limits import RequestLimits
from zermelo.studio.player_pool import IDLE_SECONDS, PlayerPool
from zermelo.studio.requests import MAX_SECONDS
from zermelo.studio.responses import Problem
from zermelo.studio.routers import (
    ai_move,
    analysis,
    lists,
    matches,
    pages,
    preparation,
    puzzles,
    records,
)

_ERRORS = (403, 404, 409, 413, 415, 422, 429, 503, 507)


def create_app(
    db: Path,
    host: str = "127.0.0.1",
    max_seconds: float = MAX_SECONDS,
    games: Iterable[Game] = (),
) -> FastAPI:
    """Build the application, whose searches take at most `max_seconds` each.

    It accepts requests for local host names and `host`, or for any name if `host` is 0.0.0.0 or ::.
    It offers `games`, the user's own, in addition to all others.
    """
    offer_games(games)
    app = FastAPI(
        title="Zermelo studio",
        version=__version__,
        lifespan=_run,
        docs_url=None,
        redoc_url=None,
        openapi_url="/api/openapi.json",
        responses={
            code: {"model": Problem} for code in (403, 404, 409, 413, 415, 422, 429, 503, 507)
        },
    )
    app.state.store, app.state.players = MatchStore(db), PlayerPool(max_seconds)
    app.state.store.limit_wait(matches.MAX_WAIT)
    app.add_middleware(RequestLimits, host=host)
    add_error_handlers(app)
    for topic in (pages, lists, preparation, matches, analysis, puzzles, records, ai_move):
        app.include_router(topic.router)
    app.mount("/page", pages.files, name="page")
    return app


@contextlib.asynccontextmanager
async def _run(app: FastAPI) -> AsyncIterator[None]:
    """Free the memory of idle players from time to time, and close everything at the end."""

    async def discard_idle_players() -> None:
        while True:
            await asyncio.sleep(IDLE_SECONDS / 4)
            app.state.players.discard_idle()

    task = asyncio.create_task(discard_idle_players())
    yield
    task.cancel()
    app.state.players.close()
    app.state.store.close()
