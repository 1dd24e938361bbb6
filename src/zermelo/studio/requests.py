"""The bodies of requests: every field is bounded, and unknown fields are refused."""

from typing import Annotated, Any

from fastapi import Query
from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from zermelo.core.notation import quote_text

MAX_SECONDS = 60.0
MAX_MOVES = 500

GameSpec = Annotated[str, Field(min_length=1, max_length=200, examples=["connect4"])]
PlayerSpec = Annotated[str, Field(min_length=1, max_length=200, examples=["level:3"])]
Move = Annotated[str, Field(min_length=1, max_length=40, examples=["4"])]
Moves = Annotated[list[Move], Field(max_length=MAX_MOVES)]
Seconds = Annotated[float, Field(gt=0, le=MAX_SECONDS, allow_inf_nan=False)]
Stone = Annotated[int, Field(ge=-1, le=1)]

GameQuery = Annotated[str, Query(min_length=1, max_length=200)]
MovesQuery = Annotated[str, Query(max_length=4000, description="separated by spaces or commas")]
SecondsQuery = Annotated[float, Query(gt=0, le=MAX_SECONDS, allow_inf_nan=False)]


def _check_side(side: int) -> int:
    if side not in (1, -1):
        msg = "a player must be 1 (X) or -1 (O)"
        raise ValueError(msg)
    return side


# This is not a Literal, because a Literal would also accept True and 1.0.
Side = Annotated[int, AfterValidator(_check_side), Field(json_schema_extra={"enum": [1, -1]})]


class RequestBody(BaseModel):
    """The body of a request."""

    model_config = ConfigDict(extra="forbid", strict=True)


class NewMatch(RequestBody):
    """A game and its two players."""

    game: GameSpec
    first: PlayerSpec = "human"
    second: PlayerSpec = "level:3"
    moves: Moves = []


class MoveRequest(RequestBody):
    """A move for the side to move; `ply` is the number of moves played before it."""

    move: Move
    ply: Annotated[int, Field(ge=0, le=MAX_MOVES)] | None = None


class ReplyRequest(RequestBody):
    """The number of seconds that the computer may think."""

    seconds: Seconds | None = None


class UndoRequest(RequestBody):
    """The number of plies to take back."""

    plies: Annotated[int, Field(ge=1, le=MAX_MOVES)] = 1


class EmptyBody(RequestBody):
    """A body without fields."""


class PositionRequest(RequestBody):
    """A position, given by moves or by a board."""

    game: GameSpec
    moves: Moves | None = None
    board: Annotated[str, Field(max_length=1000)] | None = None


class ExportRequest(RequestBody):
    """A game to write as a record."""

    game: GameSpec
    moves: Moves
    format: Annotated[str, Field(max_length=20)]


class ImportRequest(RequestBody):
    """A record to read."""

    text: Annotated[str, Field(max_length=50_000)]
    format: Annotated[str, Field(max_length=20)]
    game: GameSpec | None = None


class AiMoveRequest(RequestBody):
    """A tic-tac-toe board of any size; X is 1 and moves first, O is -1."""

    board: Annotated[list[Stone], Field(min_length=9, max_length=400)]
    player: Side
    board_size: Annotated[int, Field(ge=3, le=20)]
    win_length: Annotated[int, Field(ge=3, le=20)] | None = None
    show_thinking: bool = False


def describe_first_error(errors: Any) -> str:
    """Return the first validation error as one line that names the field."""
    error = errors[0]
    where = " ".join(_name(part) for part in error["loc"] if part not in ("body", "query", "path"))
    return f"{where or 'the body'}: {error['msg'][:1].lower()}{error['msg'][1:]}"


def _name(part: Any) -> str:
    """Return a field name as it is if it looks like one; quote anything else that a client sent."""
    text = str(part)
    is_plain = isinstance(part, int) or (text.isidentifier() and len(text) <= 40)
    return text if is_plain else quote_text(text)
