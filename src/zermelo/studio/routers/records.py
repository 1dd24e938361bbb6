"""Routes for game records: formats, export and import."""

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict

from zermelo import records
from zermelo.core.errors import ZermeloError
from zermelo.core.game import Game
from zermelo.records import Record, RecordFormat
from zermelo.studio.games import find_game
from zermelo.studio.limits import RequestClient
from zermelo.studio.player_pool import Players
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
async def list_formats(
    client: RequestClient, players: Players, game: GameQuery
) -> list[RecordFormat]:
    """List the formats that can record a game."""

    def work() -> list[RecordFormat]:
        rules = find_game(game)
        return [form for form in records.FORMATS.values() if _can_write(form, rules)]

    return await players.boards.submit(client, work)


@router.post("/export")
async def export_record(body: ExportRequest, client: RequestClient, players: Players) -> RecordText:
    """Write a game as a record."""

    def work() -> RecordText:
        position = find_game(body.game).position(moves=body.moves)
        return RecordText(text=records.write(Record(position, position.outcome), body.format))

    return await players.boards.submit(client, work)


@router.post("/import")
async def import_record(
    body: ImportRequest, client: RequestClient, players: Players
) -> ImportedGame:
    """Read a game from a record."""

    def work() -> ImportedGame:
        game = find_game(body.game) if body.game else None
        position = records.read(body.text, body.format, game).position
        return ImportedGame(
            game=position.game.spec, moves=position.moves or [], position=view_position(position)
        )

    return await players.boards.submit(client, work)


def _can_write(record_format: RecordFormat, game: Game) -> bool:
    try:
        record_format.write(Record(game.start(), None))
    except ZermeloError:
        return False
    return True
