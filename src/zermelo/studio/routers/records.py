"""Routes for game records: formats, export and import."""

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict

from zermelo import records
from zermelo.core.errors import ZermeloError
from zermelo.core.game import Game
from zermelo.records import Record, RecordFormat
from zermelo.studio.games import find_game
from zermelo.studio.requests import ExportRequest, GameQuery, ImportRequest
from zermelo.studio.responses import PositionView, view_position

router = APIRouter(prefix="/api/v1")


class FormatInfo(BaseModel):
    """A format of game records."""

    model_config = ConfigDict(from_attributes=True)  # the attributes of a RecordFormat

    name: str
    summary: str


class RecordText(BaseModel):
    """The text of a game record."""

    text: str


class ImportedGame(BaseModel):
    """A game read from a record, with its last position."""

    game: str
    moves: list[str]
    position: PositionView


@router.get("/formats", response_model=list[FormatInfo])
async def list_formats(game: GameQuery) -> list[RecordFormat]:
    """List the formats that can record a game."""
    rules = find_game(game)
    return [form for form in records.FORMATS.values() if _can_write(form, rules)]


@router.post("/export")
async def export_record(body: ExportRequest) -> RecordText:
    """Write a game as a record."""
    position = find_game(body.game).position(moves=body.moves)
    return RecordText(text=records.write(Record(position, position.outcome), body.format))


@router.post("/import")
async def import_record(body: ImportRequest) -> ImportedGame:
    """Read a game from a record."""
    game = find_game(body.game) if body.game else None
    position = records.read(body.text, body.format, game).position
    return ImportedGame(
        game=position.game.spec, moves=position.moves or [], position=view_position(position)
    )


def _can_write(record_format: RecordFormat, game: Game) -> bool:
    try:
        record_format.write(Record(game.start(), None))
    except ZermeloError:
        return False
    return True
