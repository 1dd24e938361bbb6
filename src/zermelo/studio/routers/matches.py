"""Routes for matches: create, list, read, play, reply, undo and resign.

Each request reads the match from its row in the store and writes it back, so that nothing is lost
when the server stops. The store has a thread of its own. If another process has locked the store, a
request is refused after a short wait.
"""

import asyncio
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Annotated, TypeVar

from fastapi import APIRouter, Depends, HTTPException, Query, Request, Response

from zermelo.core.position import Position
from zermelo.matches.match import Match
from zermelo.players.registry import HUMAN
from zermelo.store.matches import MatchChanged, MatchRow, MatchStore, StoreLocked
from zermelo.studio.games import find_game
from zermelo.studio.limits import Client, RequestClient
from zermelo.studio.player_pool import Players
from zermelo.studio.requests import EmptyBody, MoveRequest, NewMatch, ReplyRequest, UndoRequest
from zermelo.studio.responses import (
    CreatedMatch,
    MatchSummary,
    MatchView,
    view_created_match,
    view_match,
)

_MAX_RECENT = 1000
MAX_WAIT = 0.2  #: seconds that a request waits for another process that writes to the store

Result = TypeVar("Result")

router = APIRouter(prefix="/api/v1/matches")
# Recently used positions by game and moves, so that a request need not replay a whole match. Only
# the store's thread uses them.
_recent: dict[tuple[str, str], Position] = {}


@dataclass(frozen=True)
class StoreSession:
    """One client's access to the store."""

    store: MatchStore
    players: Players
    client: Client

    def run(self, work: Callable[[MatchStore], Result]) -> "asyncio.Future[Result]":
        """Let the store's thread call `work`.

        Raise StoreLocked if another process has locked the store. Also raise it if an earlier call
        found the store locked while this one was queued: otherwise the waiting times would add up.
        """
        begin = time.monotonic()

        def work_unless_locked() -> Result:
            if self.store.locked_at > begin:
                raise StoreLocked
            return work(self.store)

        return self.players.store.submit(self.client, work_unless_locked)


async def _session_of(request: Request, players: Players, client: RequestClient) -> StoreSession:
    return StoreSession(request.app.state.store, players, client)


Store = Annotated[StoreSession, Depends(_session_of)]


@router.post("", status_code=201)
async def create_match(
    body: NewMatch, client: RequestClient, store: Store, players: Players
) -> CreatedMatch:
    """Create a match. Each player must be able to play the game.

    If the store is full, the oldest finished matches are deleted, and named in the response.
    """
    position = await players.loading.submit(
        client, lambda: find_game(body.game).position(moves=body.moves)
    )
    first, second = body.first.strip(), body.second.strip()
    for spec in {first, second} - {HUMAN}:
        await players.check(client, spec, position.game)
    row = MatchRow(secrets.token_urlsafe(9), position.game.spec, first, second)

    def work(matches: MatchStore) -> CreatedMatch:
        new, deleted = matches.add(_at_position(row, position))
        return view_created_match(new, position, deleted)

    return await store.run(work)


@router.get("", response_model=list[MatchSummary])
async def list_matches(
    store: Store, limit: Annotated[int, Query(ge=1, le=200)] = 20
) -> list[MatchRow]:
    """List the latest matches."""
    return await store.run(lambda matches: matches.latest(limit))


@router.get("/{key}")
async def read_match(key: str, store: Store) -> MatchView:
    """Return a match."""

    def work(matches: MatchStore) -> MatchView:
        row = _read_row(matches, key)
        return view_match(row, _position_of(row))

    return await store.run(work)


@router.post("/{key}/moves")
async def play_move(key: str, body: MoveRequest, store: Store) -> MatchView:
    """Play a move for the side to move."""

    def work(matches: MatchStore) -> MatchView:
        row = _read_row(matches, key)
        if body.ply is not None and body.ply != row.plies:
            msg = f"the match is at ply {row.plies}, not at {body.ply}: read it again"
            raise MatchChanged(msg)
        if row.resigned is not None:
            raise HTTPException(422, f"the game is over: {row.verdict}")
        return _play(matches, row, body.move)

    return await store.run(work)


@router.post("/{key}/reply")
async def reply(
    key: str,
    body: ReplyRequest,
    response: Response,
    client: RequestClient,
    store: Store,
    players: Players,
) -> MatchView:
    """Let the computer player choose and play a move. It stops if the client disconnects."""
    row, position, spec = await store.run(lambda matches: _read_turn(matches, key))
    async with players.take_turn(key) as has_waited:
        if has_waited and await store.run(lambda matches: matches.get(key)) != row:
            raise MatchChanged
        choice = await players.choose(client, spec, position, body.seconds)
        wall, cpu = choice.seconds * 1000, choice.cpu_seconds * 1000
        response.headers["server-timing"] = f"think;dur={wall:.2f}, cpu;dur={cpu:.2f}"
        return await store.run(lambda matches: _play(matches, row, choice.analysis.move))


@router.post("/{key}/undo")
async def undo(key: str, body: UndoRequest, store: Store) -> MatchView:
    """Take back moves, and the resignation if there is one."""

    def work(matches: MatchStore) -> MatchView:
        row = _read_row(matches, key)
        moves = row.moves.split()
        position = find_game(row.game).position(moves=moves[: max(0, len(moves) - body.plies)])
        return _move_to(matches, row, position)

    return await store.run(work)


@router.post("/{key}/resign")
async def resign(key: str, body: EmptyBody, store: Store) -> MatchView:
    """Resign for the side to move."""
    del body

    def work(matches: MatchStore) -> MatchView:
        row = _read_running_row(matches, key)
        match = Match(find_game(row.game), row.moves)
        match.resign()
        after = replace(row, resigned=match.resigned, verdict=match.verdict, over=1)
        return view_match(matches.update(row, after), match.position)

    return await store.run(work)


def _read_row(store: MatchStore, key: str) -> MatchRow:
    row = store.get(key)
    if row is None:
        raise HTTPException(404, "there is no such match")
    return row


def _read_running_row(store: MatchStore, key: str) -> MatchRow:
    row = _read_row(store, key)
    if row.over:
        raise HTTPException(409, f"the game is over: {row.verdict}")
    return row


def _read_turn(store: MatchStore, key: str) -> tuple[MatchRow, Position, str]:
    """Return a match, its position and the spec of the computer player that is to move."""
    row = _read_running_row(store, key)
    position = _position_of(row)
    spec = (row.first, row.second)[position.player]
    if spec == HUMAN:
        raise HTTPException(409, "it is a human's turn")
    return row, position, spec


def _play(store: MatchStore, row: MatchRow, move: str) -> MatchView:
    return _move_to(store, row, _position_of(row).play(move))


def _move_to(store: MatchStore, row: MatchRow, position: Position) -> MatchView:
    row = store.update(row, _at_position(row, position))
    return view_match(row, _store_recent(row, position))


def _position_of(row: MatchRow) -> Position:
    """Return the current position of a match, from `_recent` or by playing its moves."""
    position = _recent.pop((row.game, row.moves), None)
    return _store_recent(row, position or find_game(row.game).position(moves=row.moves))


def _store_recent(row: MatchRow, position: Position) -> Position:
    _recent[row.game, row.moves] = position
    if len(_recent) > _MAX_RECENT:
        del _recent[next(iter(_recent))]
    return position


def _at_position(row: MatchRow, position: Position) -> MatchRow:
    """Return the row of a match with a new current position, after a move or an undo."""
    moves = position.moves or []
    return replace(
        row,
        moves=" ".join(moves),
        plies=len(moves),
        resigned=None,
        verdict=position.verdict,
        over=int(position.is_over),
    )
