"""The web page, and the page that shows the OpenAPI document."""

from pathlib import Path

from fastapi import APIRouter
from fastapi.responses import FileResponse
from fastapi.staticfiles import StaticFiles

_FOLDER = Path(__file__).parents[1] / "page"

router = APIRouter(include_in_schema=False)
files = StaticFiles(directory=_FOLDER)  #: to be mounted at /page


@router.get("/")
async def index() -> FileResponse:
    """Return the page."""
    return FileResponse(_FOLDER / "index.html")


@router.get("/api/docs")
async def docs() -> FileResponse:
    """Return the documentation of the API; FastAPI's own loads a script from another site."""
    return FileResponse(_FOLDER / "docs.html")
