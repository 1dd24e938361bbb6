"""The full screen: keys and mouse, snapshots, random input and a real terminal.

The snapshots are SVG files drawn by Textual; ZERMELO_UPDATE=1 updates them.
"""

import asyncio
import fcntl
import os
import pty
import random
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Self

import pytest

import zermelo as z
from support.examples import EXAMPLE_FILES, random_game
from support.piece_games import BOXES, BOXES_WIN, BREAKTHROUGH, BREAKTHROUGH_WIN, PROMOTION
from zermelo.core.player import Analysis, Limit, Player
from zermelo.core.position import Position
from zermelo.matches import saves
from zermelo.matches.match import Match
from zermelo.players.registry import load_player
from zermelo.search.explain import analysis
from zermelo.ui import texts
from zermelo.ui.session import Session

pytest.importorskip("textual")
from textual import events

from zermelo.ui.fullscreen.app import SWITCH_INTERVAL, FullScreen
from zermelo.ui.fullscreen.board import Board

SNAPSHOTS = Path(__file__).parent / "snapshots"


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ZERMELO_HOME", str(tmp_path))
    monkeypatch.delenv("NO_COLOR", raising=False)
    return tmp_path


class ScreenDriver:
    """A running app with its session, and methods to send keys and clicks.

    They go straight to the driver, as from a terminal, because Textual's own pilot waits until the
    processor is idle, which it never is while a player thinks.
    """

    def __init__(self, session: Session, size: tuple[int, int] = (100, 30)) -> None:
        self.session, self.app = session, FullScreen(session)
        self._running = self.app.run_test(size=size)

    async def __aenter__(self) -> Self:
        self.pilot = await self._running.__aenter__()
        await self.wait_until(self._is_laid_out)
        return self

    def _is_laid_out(self) -> bool:
        board = self.board
        return board._room.area > 0 and board.size.width == board.get_content_width(
            board.size, board.size
        )

    async def __aexit__(self, *error: object) -> None:
        self.session.on_change = None
        await self._running.__aexit__(*error)
        self.session.close()

    @property
    def board(self) -> Board:
        return self.app.screen_stack[0].query_one(Board)

    async def settle(self) -> None:
        for _ in range(4):  # from the driver to the app, to a widget, and back
            await asyncio.sleep(0.001)
            await self.pilot._wait_for_screen()
        for _ in range(20):  # until the layout is done, unless the app exits
            if not any(screen._layout_required for screen in self.app._screen_stack):
                break
            await asyncio.sleep(0.005)

    def send(self, event: events.Event) -> None:
        assert self.app._driver
        event.set_sender(self.app)
        self.app._driver.send_message(event)

    def key(self, key: str) -> None:
        names = {"[": "left_square_bracket", "]": "right_square_bracket", "?": "question_mark"}
        self.send(events.Key(names.get(key, key), key if len(key) == 1 else None))

    def mouse(self, kind: type[events.MouseEvent], x: int, y: int) -> None:
        self.send(kind(None, x, y, 0, 0, 1, False, False, False, x, y))  # noqa: FBT003

    async def press(self, *keys: str) -> None:
        for key in keys:
            self.key(key)
            await self.settle()

    def where(self, cell: str) -> tuple[int, int]:
        grid = self.board.view.game.grid
        assert grid
        region = self.board.region_of(grid.parse(cell))
        return (region.offset + self.board.region.offset + (1, 0))[:2]

    async def hover(self, x: int, y: int) -> None:
        self.mouse(events.MouseMove, x, y)
        await self.settle()

    async def click(self, x: int, y: int) -> None:
        for kind in (events.MouseMove, events.MouseDown, events.MouseUp):
            self.mouse(kind, x, y)
        await self.settle()

    async def wait_until(self, condition: Callable[[], object], seconds: float = 20.0) -> float:
        """Wait for a condition; return how many seconds it took."""
        begin = time.perf_counter()
        while not condition():
            assert time.perf_counter() < begin + seconds, "timed out"
            await asyncio.sleep(0.001)
        seconds_taken = time.perf_counter() - begin
        await self.settle()
        return seconds_taken

    @property
    def text(self) -> str:
        """The text on the screen."""
        texts = re.findall(r"<text [^>]*>([^<]*)</text>", self.app.export_screenshot())
        return " ".join(texts).replace("&#160;", " ")


def run(scenario: Callable[[], Awaitable[None]]) -> None:
    async def whole() -> None:
        await scenario()

    asyncio.run(whole())


class Slow(Player):
    """Thinks until it is stopped."""

    name = "slow"

    def think(self, position: Position, limit: Limit) -> Iterator[Analysis]:
        yield Analysis(position.legal[0])
        assert limit.stop
        limit.stop.wait()
        yield Analysis(position.legal[0])


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "zermelo.ui.thinking.load_player",
        lambda spec: Slow() if spec == "slow" else load_player(spec),
    )


def test_keys_move_the_cursor_and_play() -> None:
    async def scenario() -> None:
        async with ScreenDriver(Session("tictactoe", second="human")) as screen:
            assert screen.board.cursor == 4
            await screen.press("up", "left", "enter")
            await screen.press("j", "l", "enter")
            await screen.press("k", "h", "down", "right", "right", "right", "space")
            assert screen.session.view().moves == ("a1", "b2", "c2")
            await screen.press("enter")
            assert "the cell is taken" in screen.session.view().message
            await screen.press("u", "u", "r")
            assert screen.session.view().moves == ("a1", "b2")

    run(scenario)


def test_the_mouse_moves_the_cursor_and_plays() -> None:
    async def scenario() -> None:
        async with ScreenDriver(Session("tictactoe", second="human")) as screen:
            await screen.hover(*screen.where("c3"))
            assert screen.board.cursor == 8
            assert screen.session.view().num_plies == 0
            await screen.click(*screen.where("a2"))
            assert screen.session.view().moves == ("a2",)
            await screen.click(*screen.where("a2"))
            assert "the cell is taken" in screen.session.view().message
            moves = screen.app.query_one("MovesPanel").region
            await screen.click(moves.x + 2, moves.y)
            assert screen.session.view().ply == 0

    run(scenario)


def test_with_gravity_any_cell_plays_its_column() -> None:
    async def scenario() -> None:
        async with ScreenDriver(Session("connect4", second="human")) as screen:
            await screen.click(*screen.where("c2"))
            await screen.click(*screen.where("c6"))
            assert screen.session.view().moves == ("3", "3")

    run(scenario)


def test_moves_without_a_cell_are_below_the_board() -> None:
    async def scenario() -> None:
        async with ScreenDriver(Session("squava:pie=true", second="human")) as screen:
            await screen.press("enter", "down", "down", "down", "enter")
            assert screen.session.view().moves == ("c3", "swap")
        passing = ["c4", "b4", "a1", "d2", "d4", "d3", "a2", "c1", "a4", "a3", "b1"]
        async with ScreenDriver(Session("reversi:4", second="human", moves=passing)) as screen:
            assert "has no other move; Enter: pass" in screen.text
            await screen.press("up", "enter")
            assert screen.session.view().moves[-1] == "pass"

    run(scenario)


TAKE = """
num_actions = 3
def initial(): return (5, 0)
def player(state): return state[1]
def actions(state): return [a for a in range(3) if a < state[0]]
def play(state, action): return (state[0] - action - 1, 1 - state[1])
def result(state): return (state[0] == 0, -1 if state[0] == 0 else 0)
def to_text(state, action): return f"take{action + 1}"
def draw(state): return f"{state[0]} matches\\n" + "| " * state[0]
"""


def test_a_game_without_a_board_is_a_list_of_moves(tmp_path: Path) -> None:
    (tmp_path / "matches.py").write_text(TAKE)

    async def scenario() -> None:
        async with ScreenDriver(Session(str(tmp_path / "matches.py"), second="human")) as screen:
            await screen.press("down", "up", "up", "down", "enter")
            await screen.press("down", "down", "down", "enter", "enter", "up", "enter")
            assert screen.session.view().moves == ("take2", "take3")
            assert "O wins" in screen.text

    run(scenario)


def test_a_piece_is_moved_by_two_clicks() -> None:
    async def scenario() -> None:
        async with ScreenDriver(Session(BREAKTHROUGH, second="human")) as screen:
            for move in BREAKTHROUGH_WIN:
                await screen.click(*screen.where(move[:2]))
                assert f"{move[:2]} selected: choose where it moves" in screen.text
                assert "&gt;" in screen.text
                await screen.click(*screen.where(move[2:]))
            assert screen.session.view().moves == BREAKTHROUGH_WIN
            assert "X wins" in screen.text

    run(scenario)


def test_a_piece_is_moved_by_keys_and_escape_deselects_it() -> None:
    async def scenario() -> None:
        moves = ["b5b4", "f2f3", "b4b3", "f3f4"]
        async with ScreenDriver(Session(BREAKTHROUGH, second="human", moves=moves)) as screen:
            board = screen.board
            await screen.press("up", "left", "left", "enter")  # from d4 to b3
            assert board.selected == 13
            assert "+O+" in screen.text  # a2 can be captured
            await screen.press("escape")
            assert board.selected is None
            await screen.press("enter", "enter")  # a second choice of the same piece deselects it
            assert board.selected is None
            await screen.press("enter", "down", "enter")  # an empty cell that b3 cannot reach
            assert board.selected is None
            assert screen.session.view().moves == tuple(moves)
            await screen.press("up", "enter", "up", "left", "enter")
            assert screen.session.view().moves[-1] == "b3a2"
            assert "(X)" in screen.text
            assert "(.)" in screen.text
            await screen.click(*screen.where("f4"))
            assert board.selected == 23
            await screen.press("u")
            assert board.selected is None  # the selection belongs to the position

    run(scenario)


def test_one_of_several_moves_with_the_same_cells_is_chosen() -> None:
    async def scenario() -> None:
        async with ScreenDriver(Session(PROMOTION, second="human", moves=["step"] * 4)) as screen:
            await screen.click(*screen.where("a2"))
            await screen.click(*screen.where("a1"))
            assert "Choose a move" in screen.text
            await screen.press("escape")
            assert screen.session.view().num_plies == 4
            await screen.click(*screen.where("a2"))
            await screen.click(*screen.where("a1"))
            await screen.press("down", "down", "enter")
            assert screen.session.view().moves[-1] == "r"
            assert "O wins" in screen.text

    run(scenario)


def test_many_moves_without_cells_are_in_columns_and_a_side_moves_again() -> None:
    async def scenario() -> None:
        async with ScreenDriver(Session(BOXES, second="human"), (80, 24)) as screen:
            board = screen.board
            assert "[ a1b1 ] [ a1a2 ]" in " ".join(screen.text.split())
            for move in BOXES_WIN:
                spot = board.num_cells + board.move_cells.extra.index(move)
                region = board.region_of(spot)
                point = region.offset + board.region.offset + (2, 0)
                await screen.click(*point)
            assert screen.session.view().moves == BOXES_WIN
            assert "O wins, 3 to 1" in screen.text
            assert "10 O a3b3" in screen.text
            assert "11 O c2c3" in screen.text

    run(scenario)


def test_arrows_move_through_columns_of_moves() -> None:
    async def scenario() -> None:
        async with ScreenDriver(Session(BOXES, second="human"), (80, 24)) as screen:
            cols = screen.board._extra_cols
            assert cols > 1
            await screen.press("down", "right", "enter")
            first = z.game(BOXES).start().legal[cols + 1]
            assert screen.session.view().moves == (first,)

    run(scenario)


def test_stepping_and_branching_off() -> None:
    async def scenario() -> None:
        moves = ["b2", "a1", "c1", "b1"]
        async with ScreenDriver(Session("tictactoe", second="human", moves=moves)) as screen:
            await screen.press("[", "pageup")
            assert screen.session.view().ply == 2
            assert "after move 2 of 4" in screen.text
            await screen.press("]", "pagedown", "]", "home")
            assert screen.session.view().ply == 0
            await screen.press("end", "[", "[", "down", "right", "enter")
            assert screen.session.view().moves == ("b2", "a1", "c3")

    run(scenario)


def test_changing_the_game_and_the_opponent() -> None:
    async def scenario() -> None:
        async with ScreenDriver(Session("tictactoe", second="human")) as screen:
            await screen.press("enter", "g", *"mnk:4x4x3", "enter")
            assert screen.session.view().game.spec == "mnk:4x4x3"
            await screen.press("o")
            assert "level:10" in screen.text
            await screen.press(*"random:seed=1", "enter")
            assert screen.session.players == ("human", "random:seed=1")
            await screen.press("s")
            await screen.wait_until(lambda: screen.session.view().num_plies == 1)
            await screen.press("o", *"human", "enter")
            assert screen.session.players == ("human", "human")
            await screen.press("g", *"chess", "enter")
            assert "Unknown game" in screen.session.view().message
            await screen.press("o", "escape", "g", "down", "enter")  # the first item of the list
            assert screen.session.view().game.spec == "tictactoe"
            assert screen.session.view().moves == ("b2",)
            await screen.press("n")
            assert screen.session.view().moves == ()
            await screen.press("r")
            assert screen.session.view().moves == ("b2",)
            await screen.press("R")
            assert "resigned" in screen.text

    run(scenario)


def test_letters_typed_into_a_dialog_are_not_commands() -> None:
    async def scenario() -> None:
        async with ScreenDriver(Session("tictactoe", second="human", moves=["b2"])) as screen:
            await screen.press("g", *"qunrsa", "escape", "?", "u", "q")
            assert screen.session.view().moves == ("b2",)
            assert not screen.app._exit

    run(scenario)


def test_live_analysis_is_shown() -> None:
    async def scenario() -> None:
        moves = ["a1", "a2", "b1", "b2"]
        async with ScreenDriver(Session("tictactoe", second="human", moves=moves)) as screen:
            assert "wins immediately" not in screen.text
            await screen.press("a")
            await screen.wait_until(lambda: screen.session.view().analysis)
            assert "wins immediately" in screen.text
            await screen.press("a")
            assert "wins immediately" not in screen.text

    run(scenario)


@pytest.fixture
def switch_interval() -> Iterator[None]:
    """Switch between threads as often as the command does."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(SWITCH_INTERVAL)
    yield
    sys.setswitchinterval(before)


def test_thinking_does_not_block_keys_and_escape_ends_it(switch_interval: None) -> None:
    """Both take less than a tenth of a second during a search of 10 s and live analysis."""
    moved, stopped = [], []
    # Compile first: nothing can interrupt that.
    position = z.game("connect4").position(moves="4")
    z.player("mcts:sims=10").choose(position)
    z.analyze(position, Limit(seconds=0.1))

    async def scenario() -> None:
        session = Session("connect4", second="mcts:seconds=10", moves=["4"])
        async with ScreenDriver(session) as screen:
            session.set_analysis(on=True)
            await asyncio.sleep(0.7)
            assert session.view().thinking
            cursor = screen.board.cursor
            screen.key("right")
            moved.append(await screen.wait_until(lambda: screen.board.cursor != cursor))
            screen.key("escape")
            stopped.append(await screen.wait_until(lambda: session.view().num_plies == 2))

    for _ in range(3):
        run(scenario)
        if moved[-1] < 0.1 and stopped[-1] < 0.1:
            break
    assert min(moved) < 0.1
    assert min(stopped) < 0.1


# Snapshots.


def normalize(svg: str) -> str:
    """Return a picture without what differs from run to run: generated names, and fonts."""
    svg = re.sub(r"terminal-\d+", "terminal", svg)
    svg = re.sub(r"@font-face \{.*?\}\s*", "", svg, flags=re.DOTALL)
    return "\n".join(line.strip() for line in svg.splitlines() if line.strip()) + "\n"


PICTURES: dict[str, tuple[str, str, str, tuple[int, int], list[str]]] = {
    # game, second player, moves, size of the terminal, keys
    "start": ("tictactoe", "human", "", (80, 24), []),
    "won": ("tictactoe", "human", "b2 a1 c1 b1 a3", (80, 24), ["left"]),
    "analysis": ("connect4", "human", "4 4 3 3 2 2", (100, 30), ["a"]),
    "light": ("squava:pie=true", "human", "b2", (80, 24), ["t", "down", "down", "down"]),
    "marks": ("reversi", "human", "d3 c3", (100, 30), ["up"]),
    "pass": ("reversi:4", "human", "c4 b4 a1 d2 d4 d3 a2 c1 a4 a3 b1", (80, 24), []),
    "scrolled": ("gomoku:size=20", "human", "a1 t20", (72, 18), ["down"] * 9 + ["right"] * 9),
    "narrow": ("connect4", "human", "4 4 3", (48, 24), ["right"]),
    "earlier": ("tictactoe", "human", "b2 a1 c1", (80, 24), ["[", "["]),
    "thinking": ("tictactoe", "slow", "b2", (80, 24), ["a1"]),
    "help": ("tictactoe", "human", "", (80, 24), ["?"]),
    "games": ("tictactoe", "human", "", (80, 24), ["g", "down", "down"]),
    "plain": ("renju", "human", "e4 a9 e6 c9 d5 i9 f5 i7", (80, 24), ["right"] * 2),
}


@pytest.mark.parametrize("name", PICTURES)
def test_snapshots(name: str, monkeypatch: pytest.MonkeyPatch, slow: None) -> None:
    game, second, moves, size, keys = PICTURES[name]
    game = "gomoku:size=9,renju=true" if game == "renju" else game
    if name == "plain":
        monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setattr(Match, "seconds", 0.0)
    monkeypatch.setattr(texts, "effort_text", lambda _: "proven")

    async def scenario() -> None:
        async with ScreenDriver(Session(game, second=second, moves=moves.split()), size) as screen:
            await screen.press(*keys)
            if "a" in keys:
                assert screen.session.live_analysis.thread
                await screen.wait_until(screen.session.live_analysis.thread.done.is_set)
            await screen.settle()
            await asyncio.sleep(0.05)
            shown = normalize(screen.app.export_screenshot())
        path = SNAPSHOTS / f"fullscreen-{name}.svg"
        if os.environ.get("ZERMELO_UPDATE"):
            path.write_text(shown)
        assert shown == path.read_text(), f"{name} has changed: see ZERMELO_UPDATE"

    run(scenario)


# Random input.

KEYS = (
    ["up", "down", "left", "right", "enter", "space", "tab", "shift+tab", "escape", "backspace"]
    + ["home", "end", "pageup", "pagedown", "delete", "f1", "ctrl+a", "ctrl+p", "ctrl+z", "ctrl+l"]
    + list("hjklurngosa?[]tR") * 2
    + list("x4:=,.é²中")
)


def test_two_thousand_random_events_lose_no_game(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whenever the app exits, the game in progress can be resumed."""
    monkeypatch.setattr(analysis, "SECONDS", 0.3)  # this tests the events, not the search
    limit = Limit(seconds=0.2)
    rng = random.Random(7)
    events_left, exits = 2000, 0

    def resume() -> Session:
        try:
            save = saves.read()
        except z.ZermeloError:
            return Session("tictactoe", second="random:seed=1", limit=limit)
        return Session(save.game, save.first, save.second, moves=save.moves, limit=limit)

    def send_event(screen: ScreenDriver) -> None:
        x, y = rng.randrange(72), rng.randrange(20)
        if rng.random() < 0.004:
            screen.key(rng.choice(["q", "ctrl+c", "ctrl+q"]))
        elif rng.random() < 0.6:
            screen.key(rng.choice(KEYS))
        elif rng.random() < 0.4:
            screen.mouse(events.MouseMove, x, y)
        elif rng.random() < 0.2:
            screen.mouse(rng.choice([events.MouseScrollDown, events.MouseScrollUp]), x, y)
        else:
            screen.mouse(events.MouseDown, x, y)
            screen.mouse(events.MouseUp, x, y)

    async def scenario() -> None:
        nonlocal events_left, exits
        session = resume()
        async with ScreenDriver(session, (72, 20)) as screen:
            while events_left and not screen.app._exit:
                for _ in range(min(10, events_left)):
                    send_event(screen)
                    events_left -= 1
                await asyncio.sleep(0.001)
                await screen.pilot._wait_for_screen()
                view = session.view()
                assert view.game.position(moves=view.moves).moves == list(view.moves)
                assert view.position.moves == list(view.moves[: view.ply])
            await asyncio.sleep(0.05)  # the last events are still on their way
            await screen.settle()
            assert screen.app._exception is None
        view = session.view()
        if view.outcome is None and view.moves:
            exits += 1
            assert saves.read() == saves.Save(view.game.spec, *view.players, view.moves)
            again = resume()
            assert again.view().moves[: view.num_plies] == view.moves
            again.close()

    while events_left:
        run(scenario)
    assert exits


# On a terminal.


class Terminal:
    """The command on a pseudo-terminal."""

    def __init__(self, *arguments: str, **environment: str) -> None:
        self.master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
        self.process = subprocess.Popen(
            [sys.executable, "-m", "zermelo", "play", *arguments],
            stdin=slave,
            stdout=slave,
            stderr=slave,
            start_new_session=True,
            env=os.environ | {"TERM": "xterm-256color", **environment},
        )
        os.close(slave)
        self.seen = ""

    def type(self, keys: str) -> None:
        os.write(self.master, keys.encode())

    def read_to(self, part: str, seconds: float = 20.0) -> None:
        end = time.perf_counter() + seconds
        while part not in self.seen:
            assert time.perf_counter() < end, self.seen[-2000:]
            if not self._read():
                break
        assert part in self.seen

    def _read(self) -> bool:
        if select.select([self.master], [], [], 0.2)[0]:
            try:
                self.seen += os.read(self.master, 65536).decode(errors="replace")
            except OSError:
                return False
        return True

    def end(self) -> int:
        while self.process.poll() is None:
            self._read()
        while select.select([self.master], [], [], 0)[0] and self._read():
            pass
        os.close(self.master)
        return self.process.returncode


def test_quitting_saves_and_resume_continues(home: Path) -> None:
    first = Terminal("tictactoe", "--second", "human", "--full-screen")
    first.read_to("your move")
    first.type("\r")
    first.read_to("O: your move")
    first.type("qq\x1b[Au")  # more keys than needed
    assert first.end() == 0
    assert "Game saved. Continue it with: zermelo play --resume" in first.seen
    assert "Traceback" not in first.seen
    assert saves.read().moves == ("b2",)
    second = Terminal("--resume", "--full-screen")
    second.read_to("O: your move")
    second.type("\x1b[A\r")
    second.read_to("X: your move")
    second.process.send_signal(signal.SIGTERM)
    second.end()
    assert saves.read().moves == ("b2", "b1")
    third = Terminal("--resume", "--full-screen")
    third.read_to("X: your move")
    third.type("\x1b[B\r")
    third.read_to("O: your move")
    third.process.send_signal(signal.SIGHUP)
    third.end()
    assert saves.read().moves == ("b2", "b1", "b3")


@pytest.mark.parametrize("spec", EXAMPLE_FILES)
def test_a_whole_game_of_each_example(spec: str) -> None:
    moves, end = random_game(spec)

    async def scenario() -> None:
        async with ScreenDriver(Session(spec, second="human")) as screen:
            board = screen.board
            for move, cells in moves:
                for cell in cells or [board.num_cells + board.move_cells.extra.index(move)]:
                    region = board.region_of(cell)
                    await screen.click(*(region.offset + board.region.offset + (2, 0)))
            assert screen.session.view().moves == tuple(move for move, _ in moves)
            assert end.verdict in screen.text

    run(scenario)
