"""A real browser for tests of the page: Debian's chromium, driven by Playwright.

A test module that imports this module is skipped if either is missing.
"""

import re
import shutil
from collections.abc import Iterator
from typing import Any

import pytest

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
if CHROMIUM is None:
    pytest.skip("no chromium here: apt-get install chromium", allow_module_level=True)
playwright = pytest.importorskip("playwright.sync_api")

TIMEOUT = 30_000  # ms: the machine may be busy
_ARGUMENTS = [
    "--no-sandbox", "--disable-gpu", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--no-first-run",
]  # fmt: skip


def launch_browser() -> Iterator[Any]:
    """Yield a browser, and close it afterwards."""
    with playwright.sync_playwright() as play:
        browser = play.chromium.launch(executable_path=CHROMIUM, args=_ARGUMENTS)
        yield browser
        browser.close()


def open_page(context: Any, url: str) -> Any:
    """Open a page; an error in its scripts fails the test."""
    page = context.new_page()
    page.set_default_timeout(TIMEOUT)
    page.on("pageerror", lambda error: (_ for _ in ()).throw(AssertionError(str(error))))
    page.goto(url)
    return page


def pick(page: Any, testid: str) -> Any:
    return page.get_by_test_id(testid)


def page_words(*words: str) -> Any:
    return re.compile("|".join(words), re.IGNORECASE)
