"""The page with games of the user: pieces that move, extra turns, and no grid."""

import contextlib
from collections.abc import Iterator
from typing import Any

import pytest

import zermelo as z
from support.browser import TIMEOUT, launch_browser, open_page, page_words, pick, playwright
from support.examples import EXAMPLE_FILES, random_game
from support.piece_games import BOXES, BOXES_WIN, BREAKTHROUGH, BREAKTHROUGH_WIN, PROMOTION
from support.studio import Studio, serve
from support.user_games import MATCHES
from zermelo.studio.app import create_app

expect = playwright.expect


@pytest.fixture(scope="module")
def studio(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Studio]:
    folder = tmp_path_factory.mktemp("studio")
    (folder / "matches.py").write_text(MATCHES)
    files = [BREAKTHROUGH, BOXES, PROMOTION, *EXAMPLE_FILES, str(folder / "matches.py")]
    yield from serve(create_app(folder / "studio.db", games=map(z.game, files)))


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    yield from launch_browser()


@pytest.fixture
def page(browser: Any, studio: Studio) -> Iterator[Any]:
    with contextlib.closing(browser.new_context()) as context:
        yield open_page(context, studio.url)


def show_match(page: Any, studio: Studio, **match: Any) -> None:
    page.goto(f"{studio.url}/#match={studio.create(**match)['id']}")
    expect(pick(page, "board")).to_be_visible(timeout=TIMEOUT)


def moves(page: Any) -> Any:
    return pick(page, "moves").locator("li")


def live(page: Any) -> Any:
    return pick(page, "live")


def test_breakthrough_by_clicks(page: Any) -> None:
    """From its card to the end: the first click selects a piece, the second one moves it."""
    pick(page, f"game-{BREAKTHROUGH}").click()
    pick(page, "mode-friend").click()
    pick(page, "start").click()
    for number, move in enumerate(BREAKTHROUGH_WIN, 1):
        piece, target = pick(page, f"cell-{move[:2]}"), pick(page, f"cell-{move[2:]}")
        expect(piece).to_have_attribute("aria-label", page_words("can move"), timeout=TIMEOUT)
        piece.click()
        expect(piece).to_have_class(page_words(r"\bselected\b"))
        expect(target).to_have_attribute("aria-label", page_words("can move here"))
        target.click()
        expect(moves(page)).to_have_count(number, timeout=TIMEOUT)
        expect(target).to_have_class(page_words(r"\blast\b"), timeout=TIMEOUT)
        expect(piece).to_have_class(page_words(r"\bleft\b"))
    expect(pick(page, "verdict")).to_contain_text("X wins", timeout=TIMEOUT)
    expect(moves(page).last).to_have_text("7. X a2b1")


@pytest.mark.parametrize("spec", EXAMPLE_FILES)
def test_a_whole_game_of_each_example(page: Any, studio: Studio, spec: str) -> None:
    played, end = random_game(spec, seed=3)
    names = z.game(spec).grid
    show_match(page, studio, game=spec)
    for number, (move, cells) in enumerate(played, 1):
        for cell in cells:
            assert names is not None
            pick(page, f"cell-{names.text(cell)}").click()
        if not cells:
            pick(page, f"extra-{move}").click()
        expect(moves(page)).to_have_count(number, timeout=TIMEOUT)
    expect(pick(page, "verdict")).to_contain_text(end.verdict, timeout=TIMEOUT)


def test_a_piece_is_deselected_by_a_second_click_and_by_escape(page: Any, studio: Studio) -> None:
    show_match(page, studio, game=BREAKTHROUGH)
    piece, selected = pick(page, "cell-b5"), page_words(r"\bselected\b")
    piece.click()
    expect(live(page)).to_contain_text("b5 selected. It can move to a4, b4, c4.")
    expect(page.locator(".cell.target")).to_have_count(3)
    piece.click()
    expect(piece).not_to_have_class(selected)
    piece.click()
    page.keyboard.press("Escape")
    expect(piece).not_to_have_class(selected)
    expect(live(page)).to_contain_text("Nothing selected.")
    piece.click()
    pick(page, "cell-a1").click(force=True)  # neither a target nor a piece that can move
    expect(piece).not_to_have_class(selected)
    piece.click()
    pick(page, "cell-d5").click()  # another piece
    expect(pick(page, "cell-d5")).to_have_class(selected)
    expect(moves(page)).to_have_count(0)


def test_a_piece_is_moved_by_keys(page: Any, studio: Studio) -> None:
    show_match(page, studio, game=BREAKTHROUGH)
    pick(page, "cell-c5").focus()
    for key in ("Enter", "ArrowUp", "ArrowRight", "Enter"):
        page.keyboard.press(key)
    expect(moves(page)).to_have_text(["1. X c5d4"], timeout=TIMEOUT)


def test_the_values_of_pieces_and_of_their_moves(page: Any, studio: Studio) -> None:
    show_match(page, studio, game=PROMOTION, moves=["step"] * 4)
    pick(page, "thinking").click()
    piece, target = pick(page, "cell-a2"), pick(page, "cell-a1")
    expect(piece).to_have_class(page_words(r"\bheat\b"), timeout=TIMEOUT)
    expect(target).not_to_have_class(page_words(r"\bheat\b"))
    piece.click()
    expect(target).to_have_class(page_words(r"\bheat\b"))
    expect(piece).not_to_have_class(page_words(r"\bheat\b"))
    pick(page, "hint").click()
    expect(piece).to_have_class(page_words(r"\bring\b"), timeout=TIMEOUT)
    expect(target).to_have_class(page_words(r"\bring\b"))


def test_one_of_several_moves_with_the_same_cells_is_chosen(page: Any, studio: Studio) -> None:
    show_match(page, studio, game=PROMOTION, moves=["step"] * 4)
    for answer in ("choice-none", "choice-r"):
        pick(page, "cell-a2").click()
        pick(page, "cell-a1").click()
        expect(pick(page, "choice")).to_be_visible()
        expect(pick(page, "choice-q")).to_be_focused()
        pick(page, answer).click()
        expect(pick(page, "choice")).to_be_hidden()
    expect(pick(page, "verdict")).to_contain_text("O wins", timeout=TIMEOUT)


def test_a_game_without_a_grid_by_buttons(page: Any, studio: Studio) -> None:
    """The picture is an image, in which no script can run; a side that completes a box goes on."""
    show_match(page, studio, game=BOXES)
    for number, move in enumerate(BOXES_WIN, 1):
        pick(page, f"extra-{move}").click()
        expect(moves(page)).to_have_count(number, timeout=TIMEOUT)
        if number == 4:
            expect(pick(page, "verdict")).to_have_text("O to move again", timeout=TIMEOUT)
            expect(live(page)).to_contain_text("The same side moves again.")
    expect(moves(page).nth(3)).to_have_text("4. O a2b2")
    expect(moves(page).nth(4)).to_have_text("5. O b1c1")
    expect(pick(page, "verdict")).to_contain_text("O wins, 3 to 1", timeout=TIMEOUT)
    image = pick(page, "board").locator("img")
    assert image.get_attribute("src").startswith("data:image/svg+xml,")
    assert image.evaluate("image => image.naturalWidth") > 0
    assert "+---+---+" in image.get_attribute("alt")


def test_extra_turns_of_the_human_and_of_the_computer(page: Any, studio: Studio) -> None:
    """X completes a box and moves again; undo returns to the last choice of the human."""
    show_match(
        page, studio, game=BOXES, second="random:seed=1", moves=["a1b1", "a1a2", "a3b3", "b1b2"]
    )
    pick(page, "extra-a2b2").click()
    expect(pick(page, "verdict")).to_have_text("Your move again", timeout=TIMEOUT)
    expect(moves(page)).to_have_count(5)
    expect(moves(page).last).to_have_text("5. You (X) a2b2")
    for _ in range(7):
        verdict = pick(page, "verdict")
        expect(verdict).to_contain_text(
            page_words("Your move", "You win", "You lose", "draw"), timeout=TIMEOUT
        )
        if "Your move" not in verdict.inner_text():
            break
        count = moves(page).count()
        page.locator("[data-testid^=extra-]").first.click()
        expect(moves(page).nth(count)).to_be_attached(timeout=TIMEOUT)
    expect(pick(page, "verdict")).to_contain_text(page_words(" to ", "draw"), timeout=TIMEOUT)
    texts = moves(page).all_inner_texts()
    last_choice = max(ply for ply, text in enumerate(texts) if "You (X)" in text)
    pick(page, "undo").click()
    expect(moves(page)).to_have_count(last_choice, timeout=TIMEOUT)
    expect(pick(page, "verdict")).to_contain_text("Your move", timeout=TIMEOUT)


def test_a_game_that_has_only_a_text_drawing(page: Any, studio: Studio) -> None:
    matches = next(game["name"] for game in studio.get("games").json() if "matches" in game["name"])
    show_match(page, studio, game=matches)
    expect(pick(page, "board").locator("pre")).to_have_text("(21, 0)")
    pick(page, "extra-3").focus()
    page.keyboard.press("Enter")
    expect(pick(page, "board").locator("pre")).to_have_text("(18, 1)", timeout=TIMEOUT)
    expect(pick(page, "extra-1")).to_be_focused()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("game", [BREAKTHROUGH, BOXES], ids=["breakthrough", "boxes"])
def test_own_games_are_accessible(browser: Any, studio: Studio, game: str, scheme: str) -> None:
    """Checked by axe in both themes; and the page is not wider than a phone."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    size = {"width": 360, "height": 740}
    with contextlib.closing(browser.new_context(color_scheme=scheme, viewport=size)) as context:
        page = open_page(context, studio.url)
        pick(page, "start").wait_for()
        assert page.evaluate("document.documentElement.scrollWidth") <= 360
        show_match(page, studio, game=game)
        if game == BREAKTHROUGH:
            pick(page, "cell-b5").click()
        page.wait_for_timeout(300)
        assert page.evaluate("document.documentElement.scrollWidth") <= 360
        report = axe.run(page)
        assert report.violations_count == 0, report.generate_report()
