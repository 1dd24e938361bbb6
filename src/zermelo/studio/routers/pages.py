"""Routes for the web page and for the API documentation."""

from pathlib import Path

from fastapi import APIRouter
from fastapi.responses import FileResponse
from fastapi.staticfiles import StaticFiles

_FOLDER = Path(__file__).parents[1] / "page"

router = APIRouter(include_in_schema=False)
files = StaticFiles(directory=_FOLDER)  #: to be mounted at /page


@router.get("/")
async def index() -> FileResponse:
    """Return the studio's web page."""
    return FileResponse(_FOLDER / "index.html")


@router.get("/api/docs")
async def docs() -> FileResponse:
    """Return the API documentation; FastAPI's own page loads a script from another site."""
    return FileResponse(_FOLDER / "docs.html")
