"""Matches: created, read, played, taken back and resigned. Each request loads its match anew."""

import secrets
from dataclasses import replace
from typing import Annotated

from fastapi import APIRouter, Depends, HTTPException, Query, Request, Response

from zermelo.matches.match import Match
from zermelo.players.registry import HUMAN
from zermelo.store.matches import MatchChanged, MatchRow, MatchStore
from zermelo.studio.games import find_game
from zermelo.studio.player_pool import Players
from zermelo.studio.requests import EmptyBody, MoveRequest, NewMatch, ReplyRequest, UndoRequest
from zermelo.studio.responses import MatchSummary, MatchView, summarise_match, view_match

router = APIRouter(prefix="/api/v1/matches")


async def _store_of(request: Request) -> MatchStore:
    store: MatchStore = request.app.state.store
    return store


Store = Annotated[MatchStore, Depends(_store_of)]


@router.post("", status_code=201)
async def create_match(body: NewMatch, store: Store, players: Players) -> MatchView:
    """Create a match. Each player must be able to play the game."""
    match = Match(find_game(body.game), body.moves)
    first, second = body.first.strip(), body.second.strip()
    for spec in {first, second} - {HUMAN}:
        await players.check(spec, match.game)
    row = MatchRow(secrets.token_urlsafe(9), match.game.spec, first, second)
    return view_match(store.add(_update_row(row, match)), match)


@router.get("")
async def list_matches(
    store: Store, limit: Annotated[int, Query(ge=1, le=200)] = 20
) -> list[MatchSummary]:
    """List the latest matches."""
    return [summarise_match(row) for row in store.latest(limit)]


@router.get("/{key}")
async def read_match(key: str, store: Store) -> MatchView:
    """Return a match."""
    return view_match(*_load(store, key))


@router.post("/{key}/moves")
async def play_move(key: str, body: MoveRequest, store: Store) -> MatchView:
    """Play a move for the side to move."""
    row, match = _load(store, key)
    if body.ply is not None and body.ply != row.plies:
        msg = f"the match is at ply {row.plies}, not at {body.ply}: read it again"
        raise MatchChanged(msg)
    match.play(body.move)
    return _save(store, row, match)


@router.post("/{key}/reply")
async def reply(
    key: str, body: ReplyRequest, response: Response, store: Store, players: Players
) -> MatchView:
    """Let the computer move."""
    row, match = _load_running(store, key)
    spec = (row.first, row.second)[match.position.player]
    if spec == HUMAN:
        raise HTTPException(409, "it is a human's turn")
    choice = await players.choose(spec, match.position, body.seconds)
    wall, cpu = choice.seconds * 1000, choice.cpu_seconds * 1000
    response.headers["server-timing"] = f"think;dur={wall:.2f}, cpu;dur={cpu:.2f}"
    match.play(choice.analysis.move)
    return _save(store, row, match)


@router.post("/{key}/undo")
async def undo(key: str, body: UndoRequest, store: Store) -> MatchView:
    """Take moves back."""
    row, match = _load(store, key)
    match.undo(body.plies)
    return _save(store, row, match)


@router.post("/{key}/resign")
async def resign(key: str, body: EmptyBody, store: Store) -> MatchView:
    """Resign for the side to move."""
    del body
    row, match = _load_running(store, key)
    match.resign()
    return _save(store, row, match)


def _load(store: MatchStore, key: str) -> tuple[MatchRow, Match]:
    row = store.get(key)
    if row is None:
        raise HTTPException(404, "there is no such match")
    match = Match(find_game(row.game), row.moves.split())
    match.resigned = row.resigned
    return row, match


def _load_running(store: MatchStore, key: str) -> tuple[MatchRow, Match]:
    row, match = _load(store, key)
    if match.outcome is not None:
        raise HTTPException(409, f"the game is over: {match.verdict}")
    return row, match


def _save(store: MatchStore, row: MatchRow, match: Match) -> MatchView:
    return view_match(store.update(row, _update_row(row, match)), match)


def _update_row(row: MatchRow, match: Match) -> MatchRow:
    """Return the row of a match in its present state."""
    return replace(
        row,
        moves=" ".join(match.moves),
        plies=len(match.moves),
        resigned=match.resigned,
        verdict=match.verdict,
        over=int(match.outcome is not None),
    )
