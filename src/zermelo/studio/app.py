"""The studio's server: the HTTP of docs/studio.md. Each route is a door, a step and a view."""

import contextlib
import secrets
import sqlite3
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any

from fastapi import FastAPI, HTTPException, Query, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import FileResponse, JSONResponse, StreamingResponse
from fastapi.staticfiles import StaticFiles
from starlette.exceptions import HTTPException as PlainHTTPException

from zermelo import __version__, records
from zermelo.core.errors import ZermeloError
from zermelo.core.game import Game
from zermelo.core.player import Limit
from zermelo.core.position import Position
from zermelo.core.specs import Parameter
from zermelo.games import registry
from zermelo.games.lines.tactics import WordLineGame
from zermelo.learn.models import model as models
from zermelo.matches.match import Match
from zermelo.players import registry as roster
from zermelo.records import Record
from zermelo.search.explain import puzzles
from zermelo.search.explain.review import iter_review
from zermelo.store import Changed, Row, Store
from zermelo.studio import ai_move, schemas, views
from zermelo.studio.events import streamed
from zermelo.studio.limits import Door
from zermelo.studio.schemas import MAX_SECONDS, Problem
from zermelo.studio.thinking import ANALYST, Busy, Thinkers

_PAGE = Path(__file__).parent / "page"
_SECONDS = 10.0  # of an analysis
_STATELESS_SECONDS = 1.0
_PROBLEMS: dict[int | str, dict[str, Any]] = {
    code: {"model": Problem} for code in (403, 404, 409, 413, 415, 422, 429)
}
_EVENTS: dict[int | str, dict[str, Any]] = {
    200: {"description": "server-sent events", "content": {"text/event-stream": {}}}
}

GameQuery = Annotated[str, Query(min_length=1, max_length=200)]
MovesQuery = Annotated[str, Query(max_length=4000, description="separated by spaces or commas")]
SecondsQuery = Annotated[float, Query(gt=0, le=MAX_SECONDS, allow_inf_nan=False)]


def create_app(  # noqa: PLR0915 - a route each
    db: Path, host: str = "127.0.0.1", max_seconds: float = MAX_SECONDS
) -> FastAPI:
    """The application over one store; nothing in it thinks for longer than `max_seconds`."""
    store, thinkers = Store(db), Thinkers(max_seconds)

    @contextlib.asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        yield
        thinkers.close()
        store.close()

    app = FastAPI(
        title="Zermelo studio",
        version=__version__,
        lifespan=lifespan,
        docs_url=None,  # FastAPI's own page loads its script from elsewhere
        redoc_url=None,
        openapi_url="/api/openapi.json",
        responses=_PROBLEMS,
    )
    app.state.thinkers = thinkers
    app.add_middleware(Door, host=host)
    _answer_errors(app)

    @app.get("/", include_in_schema=False)
    async def page() -> FileResponse:
        return FileResponse(_PAGE / "index.html")

    @app.get("/api/docs", include_in_schema=False)
    async def docs() -> FileResponse:
        return FileResponse(_PAGE / "docs.html")

    app.mount("/page", StaticFiles(directory=_PAGE), name="page")

    @app.get("/api/v1/games")
    async def games() -> list[dict[str, Any]]:
        """What can be played."""
        return [
            {
                "name": entry.name,
                "summary": entry.summary,
                "example": entry.example,
                "parameters": _parameters(entry.parameters),
            }
            for entry in registry.entries()
        ]

    @app.get("/api/v1/players")
    async def players() -> list[dict[str, Any]]:
        """Who plays; a learned player's models are each for one game."""
        return [
            {
                "name": entry.name,
                "summary": entry.summary,
                "parameters": _parameters(entry.parameters),
                "models": _models(entry),
            }
            for entry in roster.entries()
            if not entry.alone
        ]

    @app.post("/api/v1/matches", status_code=201)
    async def new_match(body: schemas.NewMatch) -> dict[str, Any]:
        """Begin a match."""
        for spec in (body.first, body.second):
            _check_player(spec)
        match = Match(_game(body.game), body.moves)
        for spec in (body.first, body.second):
            _check_model(spec, match.game)
        key, first, second = secrets.token_urlsafe(9), body.first.strip(), body.second.strip()
        row = Row(key, match.game.spec, first, second)
        row = store.add(_with(row, match))
        return views.match_view(row, match)

    @app.get("/api/v1/matches")
    async def matches(limit: Annotated[int, Query(ge=1, le=200)] = 20) -> list[dict[str, Any]]:
        """The latest matches."""
        return [views.row_view(row) for row in store.latest(limit)]

    @app.get("/api/v1/matches/{key}")
    async def match_by_key(key: str) -> dict[str, Any]:
        """A match."""
        row, match = _load(store, key)
        return views.match_view(row, match)

    @app.post("/api/v1/matches/{key}/moves")
    async def play(key: str, body: schemas.Played) -> dict[str, Any]:
        """A move of the side to move."""
        row, match = _load(store, key)
        if body.ply is not None and body.ply != row.plies:
            msg = f"the match is at ply {row.plies}, not at {body.ply}: read it again"
            raise Changed(msg)
        match.play(body.move)
        return views.match_view(store.put(row, _with(row, match)), match)

    @app.post("/api/v1/matches/{key}/reply")
    async def reply(key: str, body: schemas.Reply, response: Response) -> dict[str, Any]:
        """The computer's move."""
        row, match = _load(store, key)
        if match.outcome is not None:
            raise HTTPException(409, f"the game is over: {match.verdict}")
        spec = (row.first, row.second)[match.position.player]
        if spec == roster.HUMAN:
            raise HTTPException(409, "it is a human's turn")
        answer = await thinkers.choose(spec, match.position, body.seconds)
        think, cpu = answer.seconds * 1000, answer.cpu * 1000
        response.headers["server-timing"] = f"think;dur={think:.2f}, cpu;dur={cpu:.2f}"
        match.play(answer.found.move)
        return views.match_view(store.put(row, _with(row, match)), match)

    @app.post("/api/v1/matches/{key}/undo")
    async def undo(key: str, body: schemas.Undo) -> dict[str, Any]:
        """Take moves back."""
        row, match = _load(store, key)
        match.undo(body.plies)
        return views.match_view(store.put(row, _with(row, match)), match)

    @app.post("/api/v1/matches/{key}/resign")
    async def resign(key: str, body: schemas.Nothing) -> dict[str, Any]:
        """Give up for the side to move."""
        del body
        row, match = _load(store, key)
        if match.outcome is not None:
            raise HTTPException(409, f"the game is over: {match.verdict}")
        match.resign()
        return views.match_view(store.put(row, _with(row, match)), match)

    @app.post("/api/v1/position")
    async def position_of(body: schemas.Asked) -> dict[str, Any]:
        """A position, without storing it."""
        game = _game(body.game)
        return views.position_view(game.position(body.board, moves=body.moves))

    @app.get("/api/v1/analysis", response_class=StreamingResponse, responses=_EVENTS)
    async def analysis(
        game: GameQuery,
        moves: MovesQuery = "",
        player: Annotated[str, Query(max_length=200)] = "",
        seconds: SecondsQuery = _SECONDS,
    ) -> StreamingResponse:
        """Every legal move, deeper and deeper, as server-sent events.

        Without a player it is the exact analyst's. A `hybrid` player's candidates carry `parts`:
        what network, heuristic and blend say of the position right after the move, for the side
        to move; not those that end the game.
        """
        position = _game(game).position(moves=moves)
        if position.is_over:
            raise HTTPException(422, f"there is nothing to analyse: {position.verdict}")
        spec = player or ANALYST
        if player:
            _check_player(player, human=False)

        def thoughts(limit: Limit) -> Iterator[dict[str, Any]]:
            with thinkers.player(spec, position.game.spec) as thinker:
                for found in thinker.think(position, limit):
                    yield views.analysis_view(position, found)

        return await streamed(thinkers.stream(thoughts, Limit(seconds, every=True)), "analysis")

    @app.get("/api/v1/review", response_class=StreamingResponse, responses=_EVENTS)
    async def review_of(
        game: GameQuery, moves: MovesQuery = "", seconds: SecondsQuery = _SECONDS
    ) -> StreamingResponse:
        """A whole game, move by move, as server-sent events."""
        positions = _positions(_game(game), moves)

        def thoughts(limit: Limit) -> Iterator[dict[str, Any]]:
            with thinkers.player(ANALYST, positions[0].game.spec) as analyst:
                for move in iter_review(positions, limit, analyst=analyst):
                    yield move.to_json()

        return await streamed(thinkers.stream(thoughts, Limit(seconds)), "ply")

    @app.get("/api/v1/puzzle")
    async def puzzle(
        game: GameQuery,
        plies: Annotated[int, Query(ge=3, le=9)] = 3,
        seed: Annotated[int, Query(ge=0, le=10**9)] = 1,
    ) -> dict[str, Any]:
        """A win in so many plies, by one first move only."""
        rules = _game(game)
        found = await thinkers.run(lambda: puzzles.puzzle(rules, plies, seed, seconds=max_seconds))
        return found.to_json() | {"position": views.position_view(found.position)}

    @app.get("/api/v1/formats")
    async def formats(game: GameQuery) -> list[dict[str, str]]:
        """The record formats that hold a game."""
        return [
            {"name": form.name, "summary": form.summary}
            for form in records.FORMATS.values()
            if _can_write(_game(game), form)
        ]

    @app.post("/api/v1/export")
    async def export(body: schemas.Export) -> dict[str, str]:
        """A game as a record."""
        position = _game(body.game).position(moves=body.moves)
        return {"text": records.write(Record(position, position.outcome), body.format)}

    @app.post("/api/v1/import")
    async def import_record(body: schemas.Import) -> dict[str, Any]:
        """The game in a record."""
        record = records.read(body.text, body.format, _game(body.game) if body.game else None)
        position = record.position
        return {
            "game": position.game.spec,
            "moves": position.moves,
            "position": views.position_view(position),
        }

    @app.post("/api/ai-move")
    async def stateless_move(body: schemas.AiMove) -> dict[str, Any]:
        """The best action on a board of tic-tac-toe."""
        position = ai_move.parse(body.board, body.player, body.board_size, body.win_length)
        answer = await thinkers.choose(ANALYST, position, _STATELESS_SECONDS, every=True)
        return ai_move.answer(position, answer.found, show_thinking=body.show_thinking)

    return app


def _answer_errors(app: FastAPI) -> None:
    """Errors in words."""

    def problem(status: int) -> Callable[[Request, Any], JSONResponse]:
        return lambda _, error: JSONResponse({"detail": str(error)}, status)

    app.add_exception_handler(ZermeloError, problem(422))
    app.add_exception_handler(Changed, problem(409))
    app.add_exception_handler(Busy, problem(429))
    app.add_exception_handler(puzzles.NoPuzzle, problem(404))

    @app.exception_handler(sqlite3.Error)
    async def lost(_: Request, error: sqlite3.Error) -> JSONResponse:
        detail = f"the store of matches does not answer: {error}"
        return JSONResponse({"detail": detail}, 503, {"retry-after": "1"})

    @app.exception_handler(PlainHTTPException)
    async def refused(_: Request, error: PlainHTTPException) -> JSONResponse:
        if error.status_code == 400:  # the framework's word for a body that it cannot read
            return JSONResponse({"detail": "the body: no JSON that can be read"}, 422)
        return JSONResponse({"detail": error.detail}, error.status_code, error.headers)

    @app.exception_handler(RequestValidationError)
    async def invalid(_: Request, error: RequestValidationError) -> JSONResponse:
        return JSONResponse({"detail": schemas.first_problem(error.errors())}, 422)


def _parameters(parameters: tuple[Parameter, ...]) -> list[dict[str, Any]]:
    return [
        {
            "name": p.name,
            "kind": p.kind.__name__,
            "default": p.default,
            "note": p.note,
            "choices": list(p.choices),
        }
        for p in parameters
    ]


def _models(entry: roster.Entry) -> list[dict[str, str]] | None:
    """The models that come with zermelo, of a player who needs one: those that it can play."""
    if entry.opens != entry.plain or not entry.opens:
        return None
    return [
        {"name": model.name, "game": model.game, "spec": model.player}
        for model in models.shipped()
        if model.kind == entry.name
    ]


@lru_cache(maxsize=256)
def _game(spec: str) -> Game:
    """By name only: a file is code, and nothing that arrives here may run it.

    The rules of a preset under another name, such as `mnk:3x3x3`, are the preset: compiling them
    once more would take seconds.
    """
    game = registry.named_game(spec)
    if isinstance(game, WordLineGame) and game.specialised:
        return next(
            preset
            for preset in map(registry.named_game, registry.PRESETS)
            if isinstance(preset, WordLineGame) and _rules(preset) == _rules(game)
        )
    return game


def _rules(game: WordLineGame) -> tuple[Any, ...]:
    grid = game.grid
    return (grid.rows, grid.cols, game.win, game.lose, game.gravity, game.overline)


def _check_player(spec: str, *, human: bool = True) -> None:
    if not human and spec.strip() == roster.HUMAN:
        raise HTTPException(422, "a human's thoughts cannot be read")
    _known_player(spec)


@lru_cache(maxsize=256)
def _known_player(spec: str) -> None:
    """By name only, as with games."""
    if spec.strip() != roster.HUMAN:
        roster.named_player(spec)


def _check_model(spec: str, game: Game) -> None:
    """That a learned player has learned this game: said before the match, not in its middle."""
    if spec.strip() != roster.HUMAN:
        roster.named_player(spec).fit(game)


def _load(store: Store, key: str) -> tuple[Row, Match]:
    row = store.get(key)
    if row is None:
        raise HTTPException(404, "there is no such match")
    match = Match(_game(row.game), row.moves.split())
    match.resigned = row.resigned
    return row, match


def _with(row: Row, match: Match) -> Row:
    """A row that holds the match as it stands."""
    return replace(
        row,
        moves=" ".join(match.moves),
        plies=len(match.moves),
        resigned=match.resigned,
        verdict=match.verdict,
        over=int(match.outcome is not None),
    )


def _positions(game: Game, moves: str) -> list[Position]:
    positions = [game.start()]
    for move in game.split(moves):
        positions.append(positions[-1].play(move))
    return positions


def _can_write(game: Game, form: records.Format) -> bool:
    try:
        form.write(Record(game.start(), None))
    except ZermeloError:
        return False
    return True
