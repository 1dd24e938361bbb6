"""What requests look like: every field bounded, nothing unknown."""

from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from zermelo.core.notation import shown

MAX_SECONDS = 60.0
MAX_MOVES = 500

Spec = Annotated[str, Field(min_length=1, max_length=200, examples=["connect4"])]
PlayerSpec = Annotated[str, Field(min_length=1, max_length=200, examples=["level:3"])]
Move = Annotated[str, Field(min_length=1, max_length=20, examples=["4"])]
Moves = Annotated[list[Move], Field(max_length=MAX_MOVES)]
Seconds = Annotated[float, Field(gt=0, le=MAX_SECONDS, allow_inf_nan=False)]
Stone = Annotated[int, Field(ge=-1, le=1)]


def _side(player: int) -> int:
    if player not in (1, -1):
        msg = "a player is 1 (X) or -1 (O)"
        raise ValueError(msg)
    return player


# No Literal: True and 1.0 are equal to 1, but no players.
Side = Annotated[int, AfterValidator(_side), Field(json_schema_extra={"enum": [1, -1]})]


class Body(BaseModel):
    """A request's body."""

    model_config = ConfigDict(extra="forbid", strict=True)


class NewMatch(Body):
    """A game and who plays it."""

    game: Spec
    first: PlayerSpec = "human"
    second: PlayerSpec = "level:3"
    moves: Moves = []


class Played(Body):
    """A move of the side to move; `ply` is the number of moves before it."""

    move: Move
    ply: Annotated[int, Field(ge=0, le=MAX_MOVES)] | None = None


class Reply(Body):
    """How long the computer may think."""

    seconds: Seconds | None = None


class Undo(Body):
    """How far back."""

    plies: Annotated[int, Field(ge=1, le=MAX_MOVES)] = 1


class Nothing(Body):
    """No fields."""


class Asked(Body):
    """A position, by moves or by a board."""

    game: Spec
    moves: Moves | None = None
    board: Annotated[str, Field(max_length=1000)] | None = None


class Export(Body):
    """A game to write down."""

    game: Spec
    moves: Moves
    format: Annotated[str, Field(max_length=20)]


class Import(Body):
    """A record to read."""

    text: Annotated[str, Field(max_length=50_000)]
    format: Annotated[str, Field(max_length=20)]
    game: Spec | None = None


class AiMove(Body):
    """Tic-tac-toe of any size; X is 1 and moves first."""

    board: Annotated[list[Stone], Field(min_length=9, max_length=400)]
    player: Side
    board_size: Annotated[int, Field(ge=3, le=20)]
    win_length: Annotated[int, Field(ge=3, le=20)] | None = None
    show_thinking: bool = False


class Problem(BaseModel):
    """What is wrong, and what would be right."""

    detail: str


def first_problem(errors: Any) -> str:
    """The first thing that a validation found, in one line."""
    error = errors[0]
    where = " ".join(_part(part) for part in error["loc"] if part not in ("body", "query", "path"))
    return f"{where or 'the body'}: {error['msg'][:1].lower()}{error['msg'][1:]}"


def _part(part: Any) -> str:
    """Ours as they are, whatever else a client calls a field as a quotation."""
    text = str(part)
    plain = isinstance(part, int) or (text.isidentifier() and len(text) <= 40)
    return text if plain else shown(text)
