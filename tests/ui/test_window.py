"""The window on SDL's dummy driver: clicks and keys in, pixels and moves out."""

import dataclasses
import random
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pygame
import pytest
from click.testing import CliRunner

from support.examples import EXAMPLE_FILES, random_game
from support.piece_games import BOXES, BOXES_WIN, BREAKTHROUGH, BREAKTHROUGH_WIN, PROMOTION
from zermelo.cli import cli
from zermelo.core.player import Candidate
from zermelo.games import registry
from zermelo.matches import saves
from zermelo.matches.match import Match
from zermelo.ui.session import Session
from zermelo.ui.window import app as window
from zermelo.ui.window import board, drawing, layout, menu_items, theme
from zermelo.ui.window.app import App

EXAMPLES = [entry.example for entry in registry.entries()]
GAMES = [*EXAMPLES, "tictactoe", "connect4", "squava", "gomoku", "reversi", "gomoku:size=20"]
RENJU = "gomoku:size=9,renju=true"


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    monkeypatch.setenv("ZERMELO_HOME", str(tmp_path))
    return tmp_path


Start = Callable[..., App]


@pytest.fixture
def start() -> Iterator[Start]:
    """Return a function that creates an app; all sessions are closed at the end."""
    sessions = []

    def begin(
        spec: str, moves: str = "", first: str = "human", second: str = "human", **options: object
    ) -> App:
        sessions.append(Session(spec, first, second, moves=moves))
        return App(sessions[-1], **options)  # type: ignore[arg-type]

    yield begin
    for session in sessions:
        session.close()


def click(app: App, point: tuple[int, int]) -> None:
    app.handle(pygame.Event(pygame.MOUSEBUTTONDOWN, pos=point, button=1))
    app.update()


def press(app: App, name: str) -> None:
    """Click the control with this name or label."""
    control = next(c for c in app.screen.controls if name in (c.name, c.label) and c.enabled)
    click(app, control.rect.center)


def key(app: App, *keys: int) -> None:
    for code in keys:
        app.handle(pygame.Event(pygame.KEYDOWN, key=code))
    app.update()


def point_at(app: App, cell: int) -> None:
    app.handle(pygame.Event(pygame.MOUSEMOTION, pos=app.screen.layout.rect(cell).center))


def wait(app: App, ready: Callable[[App], bool], seconds: float = 60) -> None:
    end = time.monotonic() + seconds
    while not ready(app):
        assert time.monotonic() < end, app.view
        time.sleep(0.005)
        app.draw()


def pixel(app: App, cell: int, x: float, y: float) -> str:
    """Return the colour at a place in a cell, from 0, 0 (top left) to 1, 1."""
    app.draw()
    rect = app.screen.layout.rect(cell)
    at = rect.x + round(x * (rect.width - 1)), rect.y + round(y * (rect.height - 1))
    return "#{:02x}{:02x}{:02x}".format(*app.surface.get_at(at)[:3])


def moves(app: App) -> str:
    return " ".join(app.session.match.moves)


# All games.


@pytest.mark.parametrize("spec", dict.fromkeys([*GAMES, RENJU]))
def test_a_whole_game_by_clicks(start: Start, spec: str) -> None:
    app = start(spec)
    game, rng = app.view.game, random.Random(spec)
    assert game.grid is not None
    for ply in range(game.grid.size * 2):
        position = app.session.match.position
        if position.is_over:
            break
        move = rng.choice(position.legal)
        if move in ("pass", "swap"):
            press(app, f"move:{move}")
        elif game.column_labels[0] == "1":  # with gravity any cell of the column will do
            cell = game.grid.index(rng.randrange(game.grid.rows), int(move) - 1)
            click(app, app.screen.layout.rect(cell).center)
        else:
            click(app, app.screen.layout.rect(game.grid.parse(move)).center)
        assert app.session.match.moves[-1] == move
        if ply % 20 == 0:
            app.draw()
    app.draw()
    assert app.view.outcome is not None
    assert app.view.position.board is not None
    for cell, stone in enumerate(app.view.position.board):
        if not stone:  # no traces are left on empty cells
            assert pixel(app, cell, 0.5, 0.5) == theme.CELL


def test_a_game_without_a_board_has_its_moves_as_buttons(start: Start, tmp_path: Path) -> None:
    file = tmp_path / "pile.py"
    file.write_text(
        "from zermelo import Game\n"
        "class Pile(Game):\n"
        "    num_actions = 3\n"
        "    def initial(self): return (7, 0)\n"
        "    def player(self, state): return state[1]\n"
        "    def actions(self, state): return list(range(min(3, state[0])))\n"
        "    def play(self, state, action): return (state[0] - action - 1, 1 - state[1])\n"
        "    def result(self, state): return state[0] == 0, -1 if state[0] == 0 else 0\n"
        "    def to_text(self, state, action): return f'take{action + 1}'\n"
    )
    app = start(str(file))
    for move in ("take3", "take3", "take1"):
        app.draw()
        press(app, f"move:{move}")
    assert app.view.verdict == "X wins"


def press_cell(app: App, cell: str) -> None:
    assert app.view.game.grid
    click(app, app.screen.layout.rect(app.view.game.grid.parse(cell)).center)


def test_a_piece_is_moved_by_two_clicks(start: Start) -> None:
    app = start(BREAKTHROUGH)
    for move in BREAKTHROUGH_WIN:
        press_cell(app, move[:2])
        app.draw()
        assert app.input.selected is not None
        press_cell(app, move[2:])
        app.draw()
        assert app.input.selected is None
    assert moves(app) == " ".join(BREAKTHROUGH_WIN)
    assert app.view.verdict == "X wins"


def test_pieces_targets_and_both_cells_of_the_last_move_are_marked(start: Start) -> None:
    """The cells are numbered row by row from a1: b3 is 13, a2 is 6, c2 is 8 and c4 is 20."""
    app = start(BREAKTHROUGH, "b5b4 c2c3 b4b3 c3c4")
    app.draw()
    piece, background = pixel(app, 13, 0.06, 0.5), pixel(app, 14, 0.06, 0.5)
    assert background == theme.CELL
    assert piece != background
    assert pixel(app, 8, 0.5, 0.5) == theme.CELL
    for cell in (14, 20):  # O moved from c3 to c4
        rect = app.screen.layout.rect(cell).inflate(-5, -5)
        assert app.surface.get_at(rect.topleft) != pygame.Color(theme.CELL)
    press_cell(app, "b3")
    app.draw()
    assert pixel(app, 8, 0.5, 0.5) == theme.ACCENT  # a dot, since c2 is empty
    assert pixel(app, 6, 0.5, 0.07) != theme.CELL  # a ring, since a2 can be captured
    assert pixel(app, 13, 0.06, 0.5) != piece
    point_at(app, 8)
    app.draw()
    assert pixel(app, 8, 0.3, 0.3) != theme.CELL  # the piece as it would stand there


def test_a_piece_is_moved_by_keys_and_escape_deselects_it(start: Start) -> None:
    app = start(BREAKTHROUGH)
    key(app, pygame.K_RIGHT, pygame.K_DOWN, pygame.K_DOWN, pygame.K_RETURN)
    assert app.input.selected == app.input.cursor == 26  # c5
    key(app, pygame.K_ESCAPE)
    assert app.input.selected is None
    key(app, pygame.K_RETURN, pygame.K_RETURN)
    assert app.input.selected is None
    key(app, pygame.K_RETURN, pygame.K_UP, pygame.K_RIGHT, pygame.K_RETURN)
    app.update()
    assert moves(app) == "c5d4"
    press_cell(app, "d2")
    key(app, pygame.K_u)  # the selection belongs to the position
    app.update()
    assert app.input.selected is None


def test_one_of_several_moves_with_the_same_cells_is_chosen(start: Start) -> None:
    app = start(PROMOTION, "step step step step")
    assert app.screen.menu is None
    for chosen in (False, True):
        press_cell(app, "a2")
        press_cell(app, "a1")
        app.draw()
        assert app.screen.menu
        assert [item.label for item in app.screen.menu.items] == ["q", "r"]
        if chosen:
            press(app, "pick:1")
        else:
            key(app, pygame.K_ESCAPE)
            assert app.screen.menu is None
    assert app.view.verdict == "O wins"
    waiting = start(PROMOTION)
    press(waiting, "move:wait")
    assert moves(waiting) == "wait"


def test_a_side_may_move_again_in_a_game_without_a_grid(start: Start) -> None:
    app = start(BOXES, size=layout.MIN_SIZE)
    for move in BOXES_WIN:
        app.draw()
        press(app, f"move:{move}")
    assert moves(app) == " ".join(BOXES_WIN)
    assert app.view.verdict == "O wins, 3 to 1"
    labels = [control.label for control in app.screen.controls if control.kind == "move"]
    assert labels[-4:] == ["X b2b3", "O a3b3", "O c2c3", "X b3c3"]


def test_the_drawing_of_a_game_without_a_grid_is_above_its_buttons(start: Start) -> None:
    app = start(BOXES)
    app.draw()
    assert "boxes.py" in [control.label for control in app.screen.controls]
    top = app.screen.move_buttons[0].rect.top
    assert app.screen.layout.area.bottom < top
    ink = pygame.Color(theme.INK)
    rows = [y for y in range(top) if any(app.surface.get_at((x, y)) == ink for x in range(600))]
    assert rows
    assert rows[-1] - rows[0] > 100  # larger than ordinary text


def test_the_values_of_pieces_and_then_of_their_moves_are_shown(start: Start) -> None:
    app = start(PROMOTION, "step step step step")
    app.session.set_analysis(True)
    wait(app, lambda app: bool(app.view.analysis and app.view.analysis.exact))
    app.draw()
    on_piece, on_target = pixel(app, 3, 0.9, 0.5), pixel(app, 0, 0.1, 0.1)
    assert on_target == theme.CELL
    press_cell(app, "a2")
    app.draw()
    assert pixel(app, 0, 0.1, 0.1) != theme.CELL
    assert pixel(app, 3, 0.9, 0.5) != on_piece


def test_no_controls_overlap_and_no_label_is_cut(start: Start) -> None:
    for spec in GAMES:
        app = start(spec, second="level:10", size=layout.MIN_SIZE)
        places, controls = app.screen.layout, app.screen.controls
        assert places.board.right < places.panel.left
        for i, one in enumerate(controls):
            assert places.panel.contains(one.rect)
            assert not any(one.rect.colliderect(other.rect) for other in controls[:i])
            if one.name != "menu:game":
                room = one.rect.width - (36 if one.kind == "menu" else 8)
                assert theme.fit(one.label, theme.BODY, room) == one.label


# Drawing.


def test_stones_the_last_move_and_the_winning_line(start: Start) -> None:
    app = start("tictactoe", "a1 b1 b2 c1")
    assert pixel(app, 0, 0.5, 0.5) == theme.MARKS[0]  # the centre of a cross
    assert pixel(app, 1, 0.5, 0.5) == theme.CELL  # and of a ring
    rect = app.screen.layout.rect(2)
    corner = 3 / rect.width  # the mark of the last move is just inside its cell
    assert pixel(app, 2, corner, 0.1) == theme.EDGE
    assert pixel(app, 1, corner, 0.1) == theme.CELL
    click(app, app.screen.layout.rect(8).center)
    for cell in range(9):
        won = cell in (0, 4, 8)
        assert pixel(app, cell, 0.5, 0.06) == (theme.WON if won else theme.CELL)


def test_discs_fall_and_the_mouse_shows_where(start: Start) -> None:
    app = start("connect4", "4")
    assert pixel(app, 38, 0.5, 0.5) == theme.LAST
    assert pixel(app, 38, 0.5, 0.2) == app.view.game.disc_colours[0]
    point_at(app, 3)  # the top of the column: the disc would land on the fifth row
    ghost = pixel(app, 31, 0.5, 0.5)
    assert ghost != theme.CELL
    assert pixel(app, 3, 0.5, 0.5) == theme.CELL
    click(app, app.screen.layout.rect(3).center)
    assert moves(app) == "4 4"
    assert pixel(app, 31, 0.5, 0.5) == theme.LAST


def test_reversi_marks_legal_cells_and_enter_plays_a_forced_pass(start: Start) -> None:
    app = start("reversi")
    dots = {i for i in range(64) if pixel(app, i, 0.5, 0.5) == theme.EVEN}
    assert dots == {app.view.position.parse(move) for move in app.view.legal}
    match, rng = Match("reversi:4"), random.Random(1)
    while match.position.legal != ["pass"]:
        match = Match("reversi:4") if match.outcome else match
        match.play(rng.choice(match.position.legal))
    app = start("reversi:4", " ".join(match.moves))
    assert [c.label for c in app.screen.controls if c.name == "move:pass"] == ["Play pass"]
    key(app, pygame.K_RETURN)
    assert app.session.match.moves[-1] == "pass"


def test_renju_marks_forbidden_points(start: Start) -> None:
    app = start(RENJU, "e5 a1 e6 a3 d4 a5 c4 a7")  # e4 would be a double three
    assert app.view.position.forbidden == ["e4"]
    assert (
        pixel(app, app.view.game.parse_action(app.view.position.state, "e4"), 0.5, 0.5)
        != theme.CELL
    )


def test_a_proven_value_fills_the_cell_and_an_estimate_does_not(start: Start) -> None:
    app = start("tictactoe", "a1 b2 a2")
    key(app, pygame.K_a)
    wait(app, lambda app: bool(app.view.analysis and app.view.analysis.exact))
    assert app.view.analysis is not None
    draw = app.view.game.parse_action(app.view.position.state, "a3")
    loss = app.view.game.parse_action(app.view.position.state, "c3")
    assert pixel(app, draw, 0.1, 0.5) != pixel(app, loss, 0.1, 0.5) != theme.CELL
    assert drawing.analysis_text(app.view) == "draw (proven)"
    estimate = Candidate("c3", estimate=-0.4)
    app.view = dataclasses.replace(
        app.view, analysis=dataclasses.replace(app.view.analysis, candidates=(estimate,))
    )
    assert pixel(app, loss, 0.1, 0.5) == theme.CELL
    assert pixel(app, loss, 0.2, 0.5) != theme.CELL
    press(app, "Analyse")
    assert pixel(app, loss, 0.2, 0.5) == theme.CELL


def test_labels_of_cells() -> None:
    assert board.heat_labels(Candidate("a1", "win", plies=5, exact=True)) == ["win 3", "W3", "W"]
    assert board.heat_labels(Candidate("a1", "draw", exact=True))[0] == "draw"
    assert board.heat_labels(Candidate("a1", "loss", diff=-12, exact=True))[0] == "loss 12"
    assert board.heat_labels(Candidate("a1", estimate=-0.256)) == ["-0.26", "-"]


def test_text_is_cut_to_its_room() -> None:
    long = "a text that is much too long for the place it has"
    assert theme.width(theme.fit(long, theme.BODY, 90), theme.BODY) <= 90
    lines = theme.wrap(long, theme.BODY, 120, 2)
    assert len(lines) == 2
    assert lines[1].endswith("…")


def test_every_size(start: Start) -> None:
    app = start("gomoku:size=20", "a1 t20")
    for size in ((1600, 1000), (720, 480), (900, 1400), (3, 3)):
        app.handle(pygame.Event(pygame.WINDOWSIZECHANGED, x=size[0], y=size[1]))
        app.draw()
        assert app.surface.get_size() == size
        places = app.screen.layout
        assert places.board.right < places.panel.left
        assert places.cell >= 18
        assert places.cell_at(places.rect(399).center) == 399


# Input.


def test_undo_redo_and_new_by_clicks_and_keys(start: Start) -> None:
    app = start("tictactoe", "a1 b2 c3")
    press(app, "undo")
    assert moves(app) == "a1 b2"
    key(app, pygame.K_u)
    assert moves(app) == "a1"
    press(app, "redo")
    key(app, pygame.K_r)
    assert moves(app) == "a1 b2 c3"
    press(app, "new")
    assert moves(app) == "a1 b2 c3"  # a running game ends only at the second press
    press(app, "Sure?")
    assert moves(app) == ""
    for _ in range(3):
        key(app, pygame.K_r)
    assert moves(app) == "a1 b2 c3"
    key(app, pygame.K_n, pygame.K_n)
    assert moves(app) == ""
    key(app, pygame.K_u)
    assert app.view.message == "There is no move to take back."
    app.draw()


def test_arrows_and_enter(start: Start) -> None:
    app = start("tictactoe")
    key(app, pygame.K_RIGHT)
    assert pixel(app, 4, 0.0, 0.5) == theme.ACCENT
    key(app, pygame.K_RETURN, pygame.K_DOWN, pygame.K_RIGHT, pygame.K_SPACE, pygame.K_RETURN)
    assert moves(app) == "b2 c3"


def test_steps_through_the_moves(start: Start) -> None:
    app = start("gomoku", " ".join(f"{c}{r}" for r in range(1, 8) for c in "acegikm"))
    assert app.screen.panel.top > 0  # the end of the list is visible
    press(app, "|<")
    assert app.view.ply == 0
    assert not app.view.legal
    press(app, "ply:7")
    assert app.view.position.moves == app.session.match.moves[:7]
    key(app, pygame.K_PAGEDOWN, pygame.K_PAGEDOWN, pygame.K_PAGEUP)
    assert app.view.ply == 8
    click(app, app.screen.layout.rect(200).center)  # an earlier ply is shown
    assert app.view.num_plies == 49
    key(app, pygame.K_END)
    assert app.view.ply == 49
    app.handle(pygame.Event(pygame.MOUSEMOTION, pos=app.screen.panel.moves.center))
    app.handle(pygame.Event(pygame.MOUSEWHEEL, y=100))
    assert app.screen.panel.top == 0


def test_menus_by_clicks_and_keys(start: Start) -> None:
    app = start("tictactoe", "b2")
    press(app, "menu:second")
    press(app, "level")
    assert app.session.players == ("human", "level")
    wait(app, lambda app: app.view.num_plies == 2)
    press(app, "menu:second strength")
    press(app, "10")
    assert app.session.players == ("human", "level:10")
    press(app, "swap")
    assert app.session.players == ("level:10", "human")
    wait(app, lambda app: app.view.num_plies == 3)
    key(app, pygame.K_g)
    app.draw()
    listed = [item.label for item in app.screen.controls]
    key(app, *[pygame.K_DOWN] * (listed.index("connect4") + 1), pygame.K_RETURN)
    assert app.view.game.spec == "connect4"
    wait(app, lambda app: app.view.num_plies == 1)
    press(app, "menu:game")
    press(app, "tictactoe")
    assert app.view.num_plies == 3  # the unfinished game
    key(app, pygame.K_1)
    assert app.input.menu == "first"
    click(app, (1, 1))  # a click beside a menu only closes it
    assert app.input.menu == ""
    key(app, pygame.K_2, pygame.K_ESCAPE)
    assert app.input.menu == ""
    key(app, pygame.K_2, pygame.K_RETURN)  # no item is selected yet
    assert app.session.players == ("level:10", "human")


def test_menus_list_all_games_and_strengths() -> None:
    listed = [item.value for item in menu_items.list_items("game", "mnk:4x4x3", ("human", "human"))]
    assert listed[0] == "mnk:4x4x3"
    assert {spec.partition(":")[0] for spec in listed} == {e.name for e in registry.entries()}
    for spec in listed:
        registry.game(spec)
    pairs = {"level": "5", "alphabeta": "1 s", "mcts": "1000", "lookahead:2": "2 plies"}
    for spec, shown in pairs.items():
        assert menu_items.strength_label(spec) == shown
        assert shown in [item.label for item in menu_items.strength_items(spec)]
    assert menu_items.strength_label("human") == ""
    other = menu_items.strength_items("mcts:sims=50,c=2.0")[0].value
    assert other == "mcts:100,c=2.0"


def test_thinking_stops_within_a_tenth_of_a_second(start: Start) -> None:
    app = start("gomoku", "h8", second="alphabeta:0.1")
    wait(app, lambda app: app.view.num_plies == 2)  # now everything is compiled
    times = []
    for _ in range(3):
        app = start("gomoku", "h8", second="alphabeta:10")
        time.sleep(0.5)
        app.update()
        assert app.view.thinking
        begin = time.perf_counter()
        key(app, pygame.K_ESCAPE)
        wait(app, lambda app: not app.view.thinking)
        times.append(time.perf_counter() - begin)
        assert app.view.num_plies == 2  # the best move so far
    assert min(times) < 0.1, times


def test_frames_are_drawn_only_while_a_player_thinks(start: Start) -> None:
    app = start("connect4", first="alphabeta:5")
    clock, times = pygame.time.Clock(), []
    for _ in range(30):
        begin = time.perf_counter()
        assert app.draw()  # the pulse moves
        times.append(time.perf_counter() - begin)
        clock.tick(window.FRAMES_PER_SECOND)
    assert sorted(times)[20] < 1 / window.FRAMES_PER_SECOND
    assert app.view.seconds > 0.2  # the clock is running
    app.session.set_up(first="human")
    app.draw()
    assert not app.draw()  # nothing has changed


KEYS = [
    pygame.K_u, pygame.K_r, pygame.K_n, pygame.K_s, pygame.K_a, pygame.K_g, pygame.K_1, pygame.K_2,
    pygame.K_q, pygame.K_x, pygame.K_F5, pygame.K_TAB, pygame.K_RETURN, pygame.K_ESCAPE,
    pygame.K_UP, pygame.K_DOWN, pygame.K_LEFT, pygame.K_RIGHT,
    pygame.K_HOME, pygame.K_END, pygame.K_PAGEUP, pygame.K_PAGEDOWN,
]  # fmt: skip


def random_event(app: App, rng: random.Random) -> pygame.Event:
    wide, high = app.surface.get_size()
    point = rng.randrange(-5, wide + 5), rng.randrange(-5, high + 5)
    kind = rng.random()
    if kind < 0.15 and app.screen.move_cells.move_at:  # otherwise games would hardly advance
        point = app.screen.layout.rect(rng.choice(list(app.screen.move_cells.move_at))).center
    if kind < 0.35:
        return pygame.Event(pygame.MOUSEBUTTONDOWN, pos=point, button=rng.choice((1, 1, 1, 2, 3)))
    if kind < 0.5:
        return pygame.Event(pygame.MOUSEMOTION, pos=point)
    if kind < 0.55:
        return pygame.Event(pygame.MOUSEWHEEL, y=rng.randrange(-3, 4))
    if kind < 0.57:
        size = rng.randrange(1, 1500), rng.randrange(1, 1000)
        return pygame.Event(pygame.WINDOWSIZECHANGED, x=size[0], y=size[1])
    if kind < 0.6:
        others = (pygame.KEYUP, pygame.WINDOWLEAVE, pygame.WINDOWEXPOSED, pygame.USEREVENT)
        return pygame.Event(rng.choice(others))
    return pygame.Event(pygame.KEYDOWN, key=rng.choice(KEYS))


@pytest.mark.parametrize("spec", ["connect4", "reversi"])
def test_two_thousand_random_events(
    start: Start, spec: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    quick = [menu_items.MenuItem(game, game) for game in ("connect4", "reversi", "squava:pie=true")]
    monkeypatch.setattr(menu_items, "_game_items", lambda: quick)
    names = ("human", "random", "greedy", "level:3", "alphabeta:30", "nobody", "human")
    some = [menu_items.MenuItem(name, name) for name in names]
    monkeypatch.setattr(menu_items, "_player_items", lambda _now: some)
    app, rng = start(spec, second="level:3"), random.Random(spec)
    app.session.play(app.view.legal[0])
    wait(app, lambda app: app.view.num_plies == 2)  # now everything is compiled
    longest = 0
    for number in range(2000):
        match = app.session.match
        before, running = tuple(match.moves), match.outcome is None and app.input.new_pressed_at < 0
        app.handle(random_event(app, rng))
        if number % 10 == 0:
            app.draw()
            time.sleep(0.002)  # gives the other threads time
        after = tuple(app.session.match.moves)
        shared = min(len(before), len(after))
        # Moves are added or taken back, but never replaced, except by another or a new game.
        same = app.session.match is match and running
        assert not same or before[:shared] == after[:shared]
        longest = max(longest, len(after))
    assert longest > 8
    app.handle(pygame.Event(pygame.QUIT))
    assert not app.running
    app.session.close()
    match = app.session.match
    again = Match(match.game, match.moves)  # all moves are legal
    assert again.position == match.position
    if match.moves and match.outcome is None:
        save = saves.read()
        assert (save.game, save.moves) == (match.game.spec, tuple(match.moves))
        assert start(save.game, " ".join(save.moves)).view.num_plies == len(match.moves)


# The command.


def run(monkeypatch: pytest.MonkeyPatch, args: list[str], cells: list[int]) -> tuple[str, App]:
    """Run `zermelo window` with one click per frame; return its output and the app."""
    apps: list[App] = []
    left = list(cells)

    def events() -> list[pygame.Event]:
        app = apps[-1]
        if app.view.thinking:
            return []
        if not left:
            return [pygame.Event(pygame.QUIT)]
        point = app.screen.layout.rect(left.pop(0)).center
        return [pygame.Event(pygame.MOUSEBUTTONDOWN, pos=point, button=1)]

    def make(*given: object, **options: object) -> App:
        apps.append(App(*given, **options))  # type: ignore[arg-type]
        return apps[-1]

    with monkeypatch.context() as patch:
        patch.setattr(window, "App", make)
        patch.setattr(pygame.event, "get", events)
        interval = sys.getswitchinterval()
        done = CliRunner().invoke(cli, ["window", *args], catch_exceptions=False)
        sys.setswitchinterval(interval)
    return done.output, apps[-1]


def test_quitting_saves_and_resume_continues(monkeypatch: pytest.MonkeyPatch) -> None:
    args = ["squava", "--second", "random:seed=1", "--seconds", "1"]
    text, app = run(monkeypatch, args, [0])
    assert text == "Game saved. Continue it with: zermelo window --resume\n"
    assert app.session.match.moves[0] == "a1"
    before = app.session.match.moves
    free = app.session.match.position.board.index(0)  # type: ignore[union-attr]
    text, app = run(monkeypatch, ["--resume"], [free])
    assert app.session.players == ("human", "random:seed=1")
    assert app.session.match.moves[: len(before)] == before
    assert len(app.session.match.moves) > len(before)
    text, app = run(monkeypatch, [], [])
    assert text == ""  # without moves there is nothing to save
    text, app = run(monkeypatch, ["--resume", "--second", "human"], [])
    assert app.session.players == ("human", "human")
    assert app.session.match.moves[: len(before)] == before


def test_without_pygame_one_line_says_what_to_install() -> None:
    code = (
        "import sys; sys.modules['pygame'] = None; sys.argv = ['zermelo', 'window', 'tictactoe']\n"
        "from zermelo.cli import main; main()"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr == "zermelo: the window needs pygame-ce: pip install 'zermelo[window]'\n"


def test_without_a_screen_one_line_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SDL_VIDEODRIVER", "nosuch")
    code = "import sys; sys.argv = ['zermelo', 'window']\nfrom zermelo.cli import main; main()"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr.startswith("zermelo: cannot open a window: ")
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("spec", EXAMPLE_FILES)
def test_a_whole_game_of_each_example(start: Start, spec: str) -> None:
    app = start(spec)
    played, end = random_game(spec)
    for move, cells in played:
        app.draw()
        for cell in cells:
            click(app, app.screen.layout.rect(cell).center)
        if not cells:
            press(app, f"move:{move}")
    assert moves(app) == " ".join(move for move, _ in played)
    assert app.view.verdict == end.verdict
