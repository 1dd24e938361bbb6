"""Routes for positions, analyses and reviews; the last two send streams of events."""

from collections.abc import Iterator
from typing import Annotated, Any

from fastapi import APIRouter, HTTPException, Query
from fastapi.responses import StreamingResponse

from zermelo.core.cells import trace_line
from zermelo.core.player import Limit
from zermelo.matches.match import Match
from zermelo.players.registry import HUMAN
from zermelo.search.explain.review import iter_review
from zermelo.studio.event_stream import stream_events
from zermelo.studio.games import find_game
from zermelo.studio.limits import RequestClient
from zermelo.studio.player_pool import ANALYST, Players
from zermelo.studio.requests import GameQuery, MovesQuery, PositionRequest, SecondsQuery
from zermelo.studio.responses import PositionView, analysis_event, view_position

_SECONDS = 10.0
_EVENTS: dict[int | str, dict[str, Any]] = {
    200: {"description": "server-sent events", "content": {"text/event-stream": {}}}
}

router = APIRouter(prefix="/api/v1")


@router.post("/position")
async def read_position(
    body: PositionRequest, client: RequestClient, players: Players
) -> PositionView:
    """Return a position without storing it."""

    def work() -> PositionView:
        return view_position(find_game(body.game).position(body.board, moves=body.moves))

    return await players.boards.submit(client, work)


@router.get("/analysis", response_class=StreamingResponse, responses=_EVENTS)
async def analyse(
    client: RequestClient,
    players: Players,
    game: GameQuery,
    moves: MovesQuery = "",
    player: Annotated[str, Query(max_length=200)] = "",
    seconds: SecondsQuery = _SECONDS,
) -> StreamingResponse:
    """Analyse every legal move with increasing depth, as server-sent events.

    Without `player`, the exact analyst is used. The candidates of a `hybrid` player have `parts`:
    the values of network, heuristic and blend directly after the move, for the side to move. A
    move that ends the game has no `parts`.
    """
    position = await players.boards.submit(client, lambda: find_game(game).position(moves=moves))
    if position.is_over:
        raise HTTPException(422, f"there is nothing to analyse: {position.verdict}")
    if player.strip() == HUMAN:
        raise HTTPException(422, "a human player cannot analyse: name a computer player")
    if player:
        await players.check(client, player, position.game)

    def generate(limit: Limit) -> Iterator[dict[str, Any]]:
        with players.borrow(player or ANALYST, position.game.spec) as analyst:
            for analysis in analyst.think(position, limit):
                yield analysis_event(position, analysis)

    limit = Limit(seconds, all_moves=True)
    return await stream_events(players, client, "analysis", generate, limit)


@router.get("/review", response_class=StreamingResponse, responses=_EVENTS)
async def review(
    client: RequestClient,
    players: Players,
    game: GameQuery,
    moves: MovesQuery = "",
    seconds: SecondsQuery = _SECONDS,
) -> StreamingResponse:
    """Review a game move by move, as server-sent events."""
    match = await players.boards.submit(client, lambda: Match(find_game(game), moves))

    def generate(limit: Limit) -> Iterator[dict[str, Any]]:
        with players.borrow(ANALYST, match.game.spec) as analyst:
            for move in iter_review(match, limit, analyst=analyst):
                event = move.to_dict()
                if event["better"]:
                    before, line = match.position_at(move.ply - 1), [event["better"]["move"]]
                    better = trace_line(before, line)[0]
                    event["better"] |= {"cell": better.filled, "cells": better.cells}
                yield event

    return await stream_events(players, client, "ply", generate, Limit(seconds))
