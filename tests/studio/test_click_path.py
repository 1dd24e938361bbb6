"""How long the path of a click is: the source files that a move and the reply to it pass."""

import asyncio
import sys
import threading
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

import zermelo
from support.studio import call
from zermelo.studio.app import create_app

SOURCE = f"{Path(zermelo.__file__).parent}/"
MAX_FILES = 14


@pytest.mark.parametrize(("game", "move"), [("tictactoe", "a1"), ("connect4", "4")])
def test_a_click_passes_few_files_and_one_search(tmp_path: Path, game: str, move: str) -> None:
    """docs/design.md describes this path and must follow its changes."""
    files: dict[str, None] = {}
    searches: list[str] = []
    is_recording = False

    def profile(frame: FrameType, event: str, _: Any) -> None:
        if is_recording and event == "call" and frame.f_code.co_filename.startswith(SOURCE):
            files[frame.f_code.co_filename.removeprefix(SOURCE)] = None
            if frame.f_code.co_qualname.endswith(("Player.think", "Solver.evaluate_moves")):
                searches.append(frame.f_code.co_qualname)

    async def play(app: Any, *, record: bool) -> None:
        nonlocal is_recording
        match = await call(app, "/api/v1/matches", {"game": game, "second": "level:5"})
        where = f"/api/v1/matches/{match['id']}"
        is_recording = record
        await call(app, f"{where}/moves", {"move": move, "ply": 0})
        reply = await call(app, f"{where}/reply", {})
        is_recording = False
        assert len(reply["moves"]) == 2

    async def play_twice() -> None:
        app = create_app(tmp_path / "m.db")
        await play(app, record=False)  # loads the player, and fills the caches
        await play(app, record=True)
        app.state.players.close()
        app.state.store.close()

    before = sys.getprofile()
    threading.setprofile(profile)
    sys.setprofile(profile)
    try:
        asyncio.run(play_twice())
    finally:
        sys.setprofile(before)
        threading.setprofile(before)
    assert len(files) <= MAX_FILES, list(files)
    assert searches.count("Solver.evaluate_moves") == 1, searches
