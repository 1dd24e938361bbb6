"""Errors as HTTP responses: `{"detail": "what is wrong, and what would be right"}`."""

import sqlite3
from collections.abc import Callable
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from zermelo.core.errors import ZermeloError
from zermelo.search.explain.puzzles import NoPuzzle
from zermelo.store.matches import MatchChanged, StoreFull
from zermelo.studio.player_pool import Busy
from zermelo.studio.requests import describe_first_error


def add_error_handlers(app: FastAPI) -> None:
    """Add handlers that turn exceptions of Zermelo and FastAPI into HTTP responses."""
    app.add_exception_handler(ZermeloError, _respond_with(422))
    app.add_exception_handler(MatchChanged, _respond_with(409))
    app.add_exception_handler(StoreFull, _respond_with(507))
    app.add_exception_handler(Busy, _respond_with(429))
    app.add_exception_handler(NoPuzzle, _respond_with(404))
    app.exception_handler(sqlite3.Error)(_store_error)
    app.exception_handler(HTTPException)(_http_error)
    app.exception_handler(RequestValidationError)(_validation_error)


def _respond_with(status: int) -> Callable[[Request, Any], JSONResponse]:
    return lambda _, error: JSONResponse({"detail": str(error)}, status)


async def _store_error(_: Request, error: sqlite3.Error) -> JSONResponse:
    detail = f"the match store is not available: {error}"
    return JSONResponse({"detail": detail}, 503, {"retry-after": "1"})


async def _http_error(_: Request, error: HTTPException) -> JSONResponse:
    if error.status_code == 400:  # FastAPI's status for a body that it cannot parse
        return JSONResponse({"detail": "the body is not valid JSON"}, 422)
    return JSONResponse({"detail": error.detail}, error.status_code, error.headers)


async def _validation_error(_: Request, error: RequestValidationError) -> JSONResponse:
    return JSONResponse({"detail": describe_first_error(error.errors())}, 422)
