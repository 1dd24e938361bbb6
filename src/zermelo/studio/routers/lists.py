"""Routes that list the games and the players."""

from typing import Annotated, Any

from fastapi import APIRouter
from pydantic import BaseModel, BeforeValidator, ConfigDict

from zermelo.games import registry as games
from zermelo.learn.models import files as model_files
from zermelo.players import registry as players
from zermelo.studio.games import offered_games, summary_of
from zermelo.studio.responses import to_picture

router = APIRouter(prefix="/api/v1")


class _Info(BaseModel):
    """A model that is read from the attributes of a registry entry."""

    model_config = ConfigDict(from_attributes=True)


class ParameterInfo(_Info):
    """A parameter of a game or player."""

    name: str
    kind: Annotated[str, BeforeValidator(lambda kind: kind.__name__)]
    default: Any
    note: str
    choices: list[str]


class GameInfo(_Info):
    """A game, with an example of its spec; only a user's own game has a picture, in SVG."""

    name: str
    summary: str
    example: str
    parameters: list[ParameterInfo]
    picture: str | None = None


class ModelInfo(BaseModel):
    """A model that comes with zermelo, and the spec of the player that uses it."""

    name: str
    game: str
    spec: str


class PlayerInfo(_Info):
    """A player; `models` is null for a player that needs no model."""

    name: str
    summary: str
    parameters: list[ParameterInfo]
    models: list[ModelInfo] | None = None


# These routes read files, so they are not async: FastAPI then runs them in its thread pool.


@router.get("/games", response_model_exclude_defaults=True)
def list_games() -> list[GameInfo]:
    """List the games; those that the user offers come last."""
    return [GameInfo.model_validate(entry) for entry in games.entries()] + [
        GameInfo(
            name=game.spec,
            summary=summary_of(game),
            example=game.spec,
            parameters=[],
            picture=to_picture(game.start().svg()),
        )
        for game in offered_games()
    ]


@router.get("/players")
def list_players() -> list[PlayerInfo]:
    """List the players, with the models of learned players; each model is for one game."""
    return [
        PlayerInfo.model_validate(entry).model_copy(update={"models": _models(entry)})
        for entry in players.list_players()
        if not entry.is_blocking
    ]


def _models(entry: players.PlayerEntry) -> list[ModelInfo] | None:
    """Return the shipped models of a player, or None if its first parameter is not a model."""
    if entry.model_parameter != entry.positional or not entry.model_parameter:
        return None
    return [
        ModelInfo(name=model.name, game=model.game, spec=model.player)
        for model in model_files.shipped_models()
        if model.kind == entry.name
    ]
