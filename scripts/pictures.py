"""Take screenshots of the studio for README and docs: python scripts/pictures.py [NAME …]."""

import contextlib
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

_OUT = Path(__file__).parent.parent / "docs" / "pictures"
_ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-sync"]
_DESKTOP, _PHONE = {"width": 1180, "height": 800}, {"width": 390, "height": 780}
_TALL = {"width": 1180, "height": 1260}  # tall enough for two tables


def main() -> None:
    """Start a studio and take the named screenshots, or all of them."""
    with contextlib.closing(socket.socket()) as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    url = f"http://127.0.0.1:{port}"
    _OUT.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as play:
        db = Path(folder) / "studio.db"
        command = [sys.executable, "-m", "zermelo", "studio", "--port", str(port), "--db", str(db)]
        server = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        browser = play.chromium.launch(executable_path=shutil.which("chromium"), args=_ARGUMENTS)
        try:
            _wait_for_server(url)
            for name in sys.argv[1:] or _PICTURES:
                take, size = _PICTURES[name]
                page = browser.new_page(viewport=size)
                take(page, url)
                _save(page, name)
                page.close()
        finally:
            browser.close()
            server.kill()


def _wait_for_server(url: str) -> None:
    for _ in range(200):
        with contextlib.suppress(OSError):
            urllib.request.urlopen(f"{url}/api/v1/games").close()  # noqa: S310 - our own server
            return
        time.sleep(0.1)


def _save(page: Page, name: str) -> None:
    page.mouse.move(0, 0)
    page.wait_for_timeout(600)
    page.screenshot(path=_OUT / f"{name}.png")


def _open_start_page(page: Page, url: str) -> None:
    page.goto(url)
    page.get_by_test_id("game-connect4").wait_for()


def _start_match(page: Page, url: str, game: str) -> None:
    page.goto("about:blank")
    page.goto(url)
    page.get_by_test_id(f"game-{game}").click()
    page.get_by_test_id("mode-friend").click()
    page.get_by_test_id("start").click()
    page.get_by_test_id("board").wait_for()


def _play(page: Page, *cells: str) -> None:
    for number, cell in enumerate(cells):
        page.get_by_test_id(f"cell-{cell}").click()
        page.get_by_test_id("moves").locator("li").nth(number).wait_for()


def _show_thinking(page: Page, url: str) -> None:
    _start_match(page, url, "squava")
    _play(page, "b2", "d4", "b4", "c2", "d1", "b1")
    page.get_by_test_id("thinking").click()
    page.get_by_text("proven").first.wait_for(timeout=30_000)
    page.wait_for_timeout(4000)


def _show_hybrid(page: Page, url: str) -> None:
    moves = ["a1", "e5", "c2", "a4"]
    match = {"game": "squava", "second": "hybrid:squava-hybrid", "moves": moves}
    key = page.request.post(f"{url}/api/v1/matches", data=match).json()["id"]
    page.goto(f"{url}/#match={key}")
    page.get_by_test_id("thinking").click()
    page.get_by_text("proven").first.wait_for(timeout=30_000)
    page.wait_for_timeout(4000)


def _show_review(page: Page, url: str) -> None:
    page.goto("about:blank")
    moves = "4,4,4,4,3,5,3,3,5,2,2,2,5,5,1,6,3"
    page.goto(f"{url}/#game=connect4&moves={moves}")
    page.get_by_test_id("judge").click()
    page.wait_for_timeout(14_000)
    page.locator("[data-testid^=mistake-]").first.wait_for(timeout=60_000)
    page.locator("li:has([data-testid^=mistake-])").last.locator("a, button").first.click()


def _show_puzzle(page: Page, url: str) -> None:
    page.goto("about:blank")
    page.goto(f"{url}/#puzzle=gomoku6&plies=5&seed=3")
    page.get_by_test_id("puzzle-hint").wait_for(timeout=30_000)
    page.get_by_test_id("puzzle-hint").click()


def _open_on_phone(page: Page, url: str) -> None:
    _start_match(page, url, "connect4")
    _play(page, "d6", "d5", "e6", "c6", "e5", "d4", "f6")
    page.get_by_test_id("hint").click()
    page.wait_for_timeout(4000)


_PICTURES = {
    "start": (_open_start_page, _DESKTOP),
    "thinking": (_show_thinking, _DESKTOP),
    "hybrid": (_show_hybrid, _TALL),
    "review": (_show_review, _DESKTOP),
    "puzzle": (_show_puzzle, _DESKTOP),
    "phone": (_open_on_phone, _PHONE),
}

if __name__ == "__main__":
    main()
