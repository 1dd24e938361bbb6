"""Lists of the games and of the players."""

from typing import Any

from fastapi import APIRouter
from pydantic import BaseModel

from zermelo.core.specs import Parameter
from zermelo.games import registry as games
from zermelo.learn.models import model as models
from zermelo.players import registry as players

router = APIRouter(prefix="/api/v1")


class ParameterInfo(BaseModel):
    """A parameter of a game or player."""

    name: str
    kind: str
    default: Any
    note: str
    choices: list[str]


class GameInfo(BaseModel):
    """A game by name, with an example of its spec."""

    name: str
    summary: str
    example: str
    parameters: list[ParameterInfo]


class ModelInfo(BaseModel):
    """A model that comes with zermelo, and the spec of the player that uses it."""

    name: str
    game: str
    spec: str


class PlayerInfo(BaseModel):
    """A player by name; `models` is null for a player that needs none."""

    name: str
    summary: str
    parameters: list[ParameterInfo]
    models: list[ModelInfo] | None


# Plain functions run in FastAPI's thread pool: the models are read from files.


@router.get("/games")
def list_games() -> list[GameInfo]:
    """List the games."""
    return [
        GameInfo(
            name=entry.name,
            summary=entry.summary,
            example=entry.example,
            parameters=_parameters(entry.parameters),
        )
        for entry in games.entries()
    ]


@router.get("/players")
def list_players() -> list[PlayerInfo]:
    """List the players, with the models of learned players; each model is for one game."""
    return [
        PlayerInfo(
            name=entry.name,
            summary=entry.summary,
            parameters=_parameters(entry.parameters),
            models=_models(entry),
        )
        for entry in players.list_players()
        if not entry.is_blocking
    ]


def _parameters(parameters: tuple[Parameter, ...]) -> list[ParameterInfo]:
    return [
        ParameterInfo(
            name=parameter.name,
            kind=parameter.kind.__name__,
            default=parameter.default,
            note=parameter.note,
            choices=list(parameter.choices),
        )
        for parameter in parameters
    ]


def _models(entry: players.PlayerEntry) -> list[ModelInfo] | None:
    """Return the shipped models of a player whose first parameter names a model, else None."""
    if entry.model_parameter != entry.positional or not entry.model_parameter:
        return None
    return [
        ModelInfo(name=model.name, game=model.game, spec=model.player)
        for model in models.shipped()
        if model.kind == entry.name
    ]
