"""The page in a real browser: games, review, puzzles, links, restarts and accessibility."""

import contextlib
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import zermelo as z
from support import browser as browsers
from support.browser import TIMEOUT, launch_browser, page_words, pick, playwright


def free_port() -> int:
    with contextlib.closing(socket.socket()) as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class Server:
    """A studio in its own process, which can be killed and restarted."""

    def __init__(self, folder: Path, **environment: str) -> None:
        self.environment = os.environ | environment
        self.port, self.db = free_port(), folder / "studio.db"
        self.url = f"http://127.0.0.1:{self.port}"
        self.process: subprocess.Popen[bytes] | None = None
        self.start()

    def start(self) -> None:
        command = [sys.executable, "-m", "zermelo", "studio", "--port", str(self.port)]
        self.process = subprocess.Popen(
            [*command, "--db", str(self.db)],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=self.environment,
        )
        for _ in range(300):
            with contextlib.suppress(OSError):
                urllib.request.urlopen(f"{self.url}/api/v1/games", timeout=1).close()  # noqa: S310
                return
            time.sleep(0.1)
        msg = "the studio does not answer"
        raise AssertionError(msg)

    def kill(self) -> None:
        assert self.process is not None
        os.kill(self.process.pid, signal.SIGKILL)
        self.process.wait()


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    for spec in ("tictactoe", "connect4", "squava", "gomoku6"):  # so that they are compiled
        z.analyze(z.game(spec).start(), z.Limit(seconds=0.05))
    server = Server(tmp_path_factory.mktemp("studio"))
    yield server
    server.kill()


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    yield from launch_browser()


@pytest.fixture
def page(browser: Any, server: Server) -> Iterator[Any]:
    with contextlib.closing(browser.new_context()) as context:
        yield open_page(context, server)


def open_page(context: Any, server: Server, hash_: str = "") -> Any:
    return browsers.open_page(context, f"{server.url}/{hash_}")


def begin(page: Any, game: str, mode: str = "friend") -> None:
    """Start a game: choose its card and the mode, then press the start button."""
    pick(page, f"game-{game}").click()
    pick(page, f"mode-{mode}").click()
    pick(page, "start").click()
    pick(page, "board").wait_for()


def press(page: Any, *cells: str) -> None:
    for number, cell in enumerate(cells):
        pick(page, f"cell-{cell}").click()
        moves = pick(page, "moves").locator("li")
        playwright.expect(moves.nth(number)).to_be_attached(timeout=TIMEOUT)


def test_a_whole_game_by_mouse(page: Any) -> None:
    """After three clicks the game runs; at its end the winning line and the verdict are shown."""
    begin(page, "tictactoe")
    press(page, "b2", "a1", "c1", "b1", "a3")
    playwright.expect(pick(page, "verdict")).to_contain_text("X wins", timeout=TIMEOUT)
    assert pick(page, "board").locator(".line, [data-line], .won").count() >= 3


def test_stones_land_where_the_server_says(page: Any) -> None:
    """The preview, the stone and the expected line all show the lowest free cell of a column."""
    begin(page, "connect4")
    for number, (pointer, cell) in enumerate((("d1", "d6"), ("d2", "d5"))):
        pick(page, f"cell-{pointer}").hover()
        playwright.expect(pick(page, f"cell-{cell}")).to_have_class(
            page_words(f"preview{number}"), timeout=TIMEOUT
        )
        pick(page, f"cell-{pointer}").click()
        playwright.expect(pick(page, f"cell-{cell}")).to_have_attribute(
            "aria-label", page_words(f", {'XO'[number]}"), timeout=TIMEOUT
        )
    pick(page, "thinking").click()
    pick(page, "line-4").hover()
    playwright.expect(pick(page, "cell-d4")).to_have_attribute(
        "aria-label", page_words("X expected, move 1"), timeout=TIMEOUT
    )


def test_a_game_against_the_computer(page: Any) -> None:
    pick(page, "game-tictactoe").click()
    pick(page, "start").click()
    pick(page, "board").wait_for()
    for _ in range(5):
        verdict = pick(page, "verdict")
        playwright.expect(verdict).not_to_contain_text("thinking", timeout=TIMEOUT)
        if "Your move" not in verdict.inner_text():
            break
        free = page.locator("[data-testid^=cell-][aria-label*=empty]")
        count = pick(page, "moves").locator("li").count()
        free.first.click()
        playwright.expect(pick(page, "moves").locator("li").nth(count)).to_be_attached()
        playwright.expect(verdict).to_contain_text(
            page_words("Your move", "You win", "You lose", "draw"), timeout=TIMEOUT
        )
    playwright.expect(pick(page, "verdict")).to_contain_text(
        page_words("You win", "You lose", "draw"), timeout=TIMEOUT
    )


def test_a_whole_game_by_keyboard(page: Any) -> None:
    """Arrow keys and Enter are enough to play; u takes a move back."""
    begin(page, "tictactoe")
    pick(page, "cell-a1").focus()
    keys = page.keyboard
    moves = pick(page, "moves").locator("li")
    for count, walk in enumerate(
        (["Enter"], ["ArrowDown", "Enter"], ["ArrowUp", "ArrowRight", "Enter"]), 1
    ):
        for key in walk:
            keys.press(key)
        playwright.expect(moves).to_have_count(count, timeout=TIMEOUT)
    keys.press("u")
    playwright.expect(moves).to_have_count(2, timeout=TIMEOUT)
    keys.press("Enter")
    playwright.expect(moves).to_have_count(3, timeout=TIMEOUT)
    for count, walk in enumerate((["ArrowDown", "Enter"], ["ArrowUp", "ArrowRight", "Enter"]), 4):
        for key in walk:
            keys.press(key)
        playwright.expect(moves).to_have_count(count, timeout=TIMEOUT)
    playwright.expect(pick(page, "verdict")).to_contain_text("X wins", timeout=TIMEOUT)
    assert pick(page, "cell-c1").get_attribute("role") == "gridcell"
    assert "X" in (pick(page, "cell-c1").get_attribute("aria-label") or "")


def test_undo(page: Any) -> None:
    begin(page, "tictactoe")
    press(page, "b2", "a1")
    pick(page, "undo").click()
    playwright.expect(pick(page, "moves").locator("li")).to_have_count(1, timeout=TIMEOUT)
    assert "empty" in (pick(page, "cell-a1").get_attribute("aria-label") or "")


def test_the_analysis_is_hidden_until_it_is_switched_on(page: Any) -> None:
    begin(page, "tictactoe")
    press(page, "a1", "b1")
    assert not pick(page, "thinking-panel").is_visible()
    pick(page, "thinking").click()
    playwright.expect(pick(page, "certainty")).to_contain_text(
        page_words("proven"), timeout=TIMEOUT
    )
    playwright.expect(pick(page, "candidates").locator("tr").first).to_contain_text("wins")
    pick(page, "thinking").click()
    playwright.expect(pick(page, "thinking-panel")).to_be_hidden()


HYBRID = "hybrid:squava-hybrid"


def test_a_player_by_tree_search_is_described_and_plays(page: Any) -> None:
    spec = "alphazero:connect4-alphazero"
    pick(page, "game-connect4").click()
    playwright.expect(pick(page, "opponent").locator(f'option[value="{spec}"]')).to_have_text(
        ["Learned: connect4-alphazero, tree search with a learned policy and value"],
        timeout=TIMEOUT,
    )
    pick(page, "opponent").select_option(spec)
    pick(page, "start").click()
    page.locator("[data-testid^=cell-][aria-label*=empty]").nth(3).click()
    playwright.expect(pick(page, "moves").locator("li")).to_have_count(2, timeout=TIMEOUT)


def test_the_analysis_of_a_hybrid(page: Any) -> None:
    """It shows its choice first, the parts of each value, and the exact verdict."""
    pick(page, "game-squava").click()
    label = pick(page, "opponent").locator(f'option[value="{HYBRID}"]')
    playwright.expect(label).to_have_text(  # once
        ["Learned: squava-hybrid, search with a learned value"], timeout=TIMEOUT
    )
    pick(page, "opponent").select_option(HYBRID)
    pick(page, "start").click()
    pick(page, "cell-b2").click()
    playwright.expect(pick(page, "moves").locator("li")).to_have_count(2, timeout=TIMEOUT)
    assert not pick(page, "hybrid").is_visible()
    for _ in range(2):
        pick(page, "thinking").click()
        rows = pick(page, "hybrid-moves").locator("tr:not(.apart)")
        playwright.expect(rows).to_have_count(5, timeout=TIMEOUT)
        pick(page, "hybrid-all").click()
        playwright.expect(rows).to_have_count(23, timeout=TIMEOUT)
        playwright.expect(pick(page, "hybrid-moves")).not_to_contain_text("…", timeout=TIMEOUT)
        playwright.expect(pick(page, "hybrid-choice")).to_contain_text(
            page_words(r"would play \w\d: .* plies ahead"), timeout=TIMEOUT
        )
        texts = pick(page, "hybrid-moves").evaluate(
            "body => [...body.querySelectorAll('tr:not(.apart)')].map((row) => row.innerText)"
        )
        for row in texts:  # the verdict may still be an estimate
            assert page_words(r"(\s[+\u2212][01]\.\d\d){3}\s.*\s(proven|estimate)$").search(row), (
                row
            )
        assert page_words(r"^\w\d★\s*, its choice").match(texts[0]), texts[0]
        playwright.expect(pick(page, "hybrid-moves").get_by_text("★")).to_have_count(1)
        page.reload()
    pick(page, "home").click()
    begin(page, "squava")
    pick(page, "thinking").click()
    playwright.expect(pick(page, "candidates").locator("tr").first).to_be_visible(timeout=TIMEOUT)
    assert not pick(page, "hybrid").is_visible(), "there is no hybrid in this game"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_mistakes_of_a_hybrid_are_described(browser: Any, server: Server, scheme: str) -> None:
    """On a phone, with a fixed analysis, so that a better model does not change the test."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    position = z.game("squava").position(moves="d4 b1 b4 d2 e3 c4 b2 a4")
    best = z.analyze(position)
    won, lost = (next(c for c in best.candidates if c.value == v) for v in ("win", "loss"))
    ends = next(m for m in position.legal if position.play(m).is_over)
    parts = {"network": 0.25, "heuristic": -0.5, "blend": 0.1}
    candidates = [(lost.move, 0.4, parts), (won.move, -0.2, parts), (ends, -0.9, None)]
    none = {"value": None, "plies": None, "exact": False, "reasons": [], "pv": [], "words": "so"}
    record = none | {"depth": 4, "candidates": [
        none | {"move": move, "estimate": estimate, "best": estimate > 0}
        | ({"parts": parts} if parts else {}) for move, estimate, parts in candidates
    ]}  # fmt: skip
    body = f"event: analysis\ndata: {json.dumps(record)}\n\nevent: done\ndata: {{}}\n\n"
    match = json.dumps({"game": "squava", "second": HYBRID, "moves": position.moves}).encode()
    request = urllib.request.Request(  # noqa: S310 - our own server
        f"{server.url}/api/v1/matches", match, {"content-type": "application/json"}
    )
    with urllib.request.urlopen(request) as response:  # noqa: S310
        key = json.load(response)["id"]
    size = {"width": 360, "height": 740}
    with contextlib.closing(browser.new_context(color_scheme=scheme, viewport=size)) as context:
        context.route(
            "**/api/v1/analysis?*player=*",
            lambda route: route.fulfill(body=body, content_type="text/event-stream"),
        )
        page = open_page(context, server, f"#match={key}")
        pick(page, "thinking").click()
        rows = pick(page, "hybrid-moves").locator("tr")
        expected = (lost.move, "Liked, but proven lost", won.move, "Disliked, but proven won", ends)
        playwright.expect(rows).to_contain_text(expected, timeout=TIMEOUT)
        playwright.expect(rows.first).to_contain_text(
            page_words(r"\+0\.40\+0\.25\u22120\.50\+0\.10loss \d+ proven")
        )
        playwright.expect(rows.last).to_contain_text(
            page_words(r"\u22120\.90ends the game\w+ \d+ proven")
        )
        page.wait_for_timeout(500)
        assert page.evaluate("document.documentElement.scrollWidth") <= 360
        report = axe.run(page)
        assert report.violations_count == 0, report.generate_report()


@pytest.mark.parametrize(("game", "certainty"), [("connect4", "proven"), ("gomoku", "estimate")])
def test_the_first_candidates_come_soon(
    page: Any, server: Server, game: str, certainty: str
) -> None:
    """The book knows every move of Connect Four; those of Gomoku are estimates, and called so."""
    begin(page, game)
    durations = []
    for _ in range(3):
        begin_time = time.perf_counter()
        request = urllib.request.urlopen(  # noqa: S310 - our own server
            f"{server.url}/api/v1/analysis?game={game}&seconds=1", timeout=60
        )
        assert request.readline() == b"event: analysis\n"
        durations.append(time.perf_counter() - begin_time)
        request.close()
    assert min(durations) < 0.3
    pick(page, "thinking").click()
    playwright.expect(pick(page, "certainty")).to_contain_text(
        page_words(certainty), timeout=TIMEOUT
    )


def test_review_marks_a_mistake_and_what_was_better(browser: Any, server: Server) -> None:
    with contextlib.closing(browser.new_context()) as context:
        page = open_page(context, server, "#game=tictactoe&moves=a1,b1,b2,c3,a3")
        playwright.expect(pick(page, "board")).to_be_visible(timeout=TIMEOUT)
        button = pick(page, "judge")
        if button.count() and button.is_visible():
            button.click()
        playwright.expect(pick(page, "mistake-2")).to_be_attached(timeout=TIMEOUT)
        pick(page, "move-2").click()
        playwright.expect(pick(page, "comment")).to_contain_text(
            page_words("better"), timeout=TIMEOUT
        )
        assert pick(page, "graph").is_visible()


def test_a_position_by_link(browser: Any, server: Server) -> None:
    with contextlib.closing(browser.new_context()) as context:
        page = open_page(context, server, "#game=connect4&moves=4,4,5")
        playwright.expect(pick(page, "board")).to_be_visible(timeout=TIMEOUT)
        assert "X" in (pick(page, "cell-e6").get_attribute("aria-label") or "")
        bad = open_page(context, server, "#game=connect4&moves=9")
        playwright.expect(pick(bad, "error").first).to_contain_text("not a column", timeout=TIMEOUT)


def test_a_puzzle_is_solved(browser: Any, server: Server) -> None:
    """The only winning move is accepted, and another one is not."""
    with contextlib.closing(browser.new_context()) as context:
        page = open_page(context, server, "#puzzle=gomoku6&plies=3&seed=1")
        playwright.expect(pick(page, "board")).to_be_visible(timeout=TIMEOUT)
        with urllib.request.urlopen(  # noqa: S310 - our own server
            f"{server.url}/api/v1/puzzle?game=gomoku6&plies=3&seed=1", timeout=20
        ) as response:
            puzzle = json.load(response)
        position = z.game("gomoku6").position(moves=puzzle["moves"])
        solution = z.solve(position)
        assert (solution.plies, len(solution.best)) == (3, 1)
        wrong = next(m for m in position.legal if m not in solution.best)
        pick(page, f"cell-{wrong}").click()
        playwright.expect(pick(page, "puzzle-note")).not_to_be_empty(timeout=TIMEOUT)
        again = pick(page, "puzzle-again")
        if again.count() and again.is_visible():
            again.click()
        pick(page, f"cell-{solution.best[0]}").click()
        playwright.expect(pick(page, f"cell-{solution.best[0]}")).not_to_have_attribute(
            "aria-label", page_words("empty"), timeout=TIMEOUT
        )
        assert pick(page, "puzzle-next").count() == 1


def test_a_game_survives_a_reload_and_a_killed_server(browser: Any, tmp_path: Path) -> None:
    own = Server(tmp_path)
    try:
        with contextlib.closing(browser.new_context()) as context:
            page = open_page(context, own)
            begin(page, "tictactoe")
            press(page, "b2", "a1")
            page.reload()
            playwright.expect(pick(page, "moves").locator("li")).to_have_count(2, timeout=TIMEOUT)
            own.kill()
            own.start()
            page.reload()
            playwright.expect(pick(page, "moves").locator("li")).to_have_count(2, timeout=TIMEOUT)
            pick(page, "cell-c1").click()
            playwright.expect(pick(page, "moves").locator("li")).to_have_count(3, timeout=TIMEOUT)
    finally:
        own.kill()


def test_a_bar_shows_what_play_waits_for(browser: Any, tmp_path: Path) -> None:
    """With nothing compiled, Play waits with a bar, and a second press makes no second match."""
    own = Server(tmp_path, ZERMELO_CACHE=str(tmp_path / "cache"))
    try:
        with contextlib.closing(browser.new_context()) as context:
            page = open_page(context, own)
            pick(page, "game-connect4").click()
            pick(page, "start").dblclick()
            playwright.expect(pick(page, "start")).to_be_disabled()
            bar = pick(page, "preparation")
            playwright.expect(bar).to_have_text(
                re.compile(r"Preparing Connect Four, \d+ %, about \d+ s"), timeout=TIMEOUT
            )
            pick(page, "board").wait_for(timeout=4 * TIMEOUT)
            playwright.expect(bar).to_be_hidden()
            with urllib.request.urlopen(f"{own.url}/api/v1/matches") as answer:  # noqa: S310
                assert len(json.load(answer)) == 1
    finally:
        own.kill()


def test_two_games_at_once(browser: Any, server: Server) -> None:
    with contextlib.closing(browser.new_context()) as context:
        one, two = open_page(context, server), open_page(context, server)
        begin(one, "tictactoe")
        begin(two, "squava")
        press(one, "a1")
        press(two, "b2", "c3")
        playwright.expect(pick(one, "moves").locator("li")).to_have_count(1)
        playwright.expect(pick(two, "moves").locator("li")).to_have_count(2)
        assert one.url != two.url


VIEWS = {
    "start": "",
    "play": "#game=squava&moves=a1,b2",
    "review": "#game=tictactoe&moves=a1,b1,b2,c3,a3",
    "puzzle": "#puzzle=squava&plies=3&seed=1",
}


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("view", VIEWS)
def test_every_view_is_accessible(browser: Any, server: Server, view: str, scheme: str) -> None:
    """Checked by axe in both themes; and no view is wider than a phone."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    size = {"width": 360, "height": 740}
    with contextlib.closing(browser.new_context(color_scheme=scheme, viewport=size)) as context:
        page = open_page(context, server, VIEWS[view])
        page.locator("main *").first.wait_for()
        page.wait_for_timeout(700)
        assert page.evaluate("document.documentElement.scrollWidth") <= 360
        report = axe.run(page)
        assert report.violations_count == 0, report.generate_report()


def test_a_game_is_accessible(page: Any) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    begin(page, "tictactoe")
    press(page, "a1", "b1")
    pick(page, "thinking").click()
    playwright.expect(pick(page, "candidates").locator("tr").first).to_be_visible(timeout=TIMEOUT)
    page.wait_for_timeout(500)
    report = axe.run(page)
    assert report.violations_count == 0, report.generate_report()


def test_the_first_view_is_small(browser: Any, server: Server) -> None:
    with contextlib.closing(browser.new_context()) as context:
        page = context.new_page()
        sizes: list[int] = []
        page.on("response", lambda response: sizes.append(len(response.body())))
        page.goto(server.url, wait_until="networkidle")
        assert 10_000 < sum(sizes) < 300_000
