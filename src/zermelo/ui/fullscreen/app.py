"""The full screen: keys and mouse in, Session, view out."""

import asyncio
import contextlib
import signal
import sys
from typing import Any, ClassVar

from textual import events
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, ScrollableContainer, Vertical, VerticalScroll
from textual.message import Message
from textual.widgets import Footer

from zermelo.games import registry
from zermelo.players import registry as roster
from zermelo.players.levels import MISTAKES
from zermelo.ui.fullscreen.board import Board
from zermelo.ui.fullscreen.dialogs import Choice, Help
from zermelo.ui.fullscreen.panels import Moves, Status, Thoughts
from zermelo.ui.session import Session

SWITCH = 0.001  #: seconds that a thinking thread may keep the interpreter from the keys
_LEVELS = (1, 3, 5, 7, 10)  # to choose from; the others can be typed
_TICK = 0.5  # seconds between two looks at the clock
_KEYS = """arrows or hjkl   move the cursor; the mouse does, too
Enter or click   play there
Esc              the player who thinks moves now
u r              undo, redo
[ ] PgUp PgDn    step through the moves; play there to branch off
Home End         the first position, the last
a                live analysis of the position shown
n                a new game
g o s            another game, another opponent, change seats
R                resign
t                dark or light
q                leave; the game is saved"""


class Changed(Message):
    """The session has changed, in whatever thread."""


class FullScreen(App[None]):
    """A session on the whole terminal."""

    TITLE = "Zermelo"
    ENABLE_COMMAND_PALETTE = False
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (64, "-wide")]  # noqa: RUF012 - Textual's own
    CSS = """
    #room { width: 1fr; height: 1fr; align: center middle; }
    #side { width: 40; height: 1fr; border-left: solid $panel; }
    Status { height: auto; padding: 0 1; }
    #thoughts, #moves {
        height: 1fr; padding: 0 1; border-top: solid $panel; scrollbar-gutter: stable;
    }
    #moves { max-height: 40%; }
    .-narrow #main { layout: vertical; }
    .-narrow #side { width: 100%; height: 50%; border-left: none; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("u", "session('undo')", "undo"),
        Binding("r", "session('redo')", "redo"),
        Binding("n", "session('restart')", "new"),
        Binding("g", "choose_game", "game"),
        Binding("o", "choose_opponent", "opponent"),
        Binding("s", "session('swap')", "seats"),
        Binding("a", "analyze", "analysis"),
        Binding("left_square_bracket,pageup", "step(-1)", "step", key_display="[ ]"),
        Binding("right_square_bracket,pagedown", "step(1)", show=False),
        Binding("home", "step(-10000)", show=False),
        Binding("end", "step(10000)", show=False),
        Binding("escape", "session('stop')", show=False),
        Binding("R,shift+r", "session('resign')", show=False),
        Binding("t", "turn_light", show=False),
        Binding("question_mark", "help", "help", key_display="?"),
        Binding("q,ctrl+c,ctrl+q", "quit", "quit", key_display="q"),
    ]

    def __init__(self, session: Session) -> None:
        super().__init__()
        self.session = session
        view = session.view()
        self._board, self._status, self._thoughts = Board(view), Status(), Thoughts()
        self._moves = Moves(view)
        self._room = ScrollableContainer(self._board, id="room", can_focus=False)
        self._is_told = self._is_leaving = False
        session.on_change = self._tell

    def _tell(self) -> None:
        """From any thread: one message for all changes until it is read."""
        if not self._is_told:
            self._is_told = True
            self.post_message(Changed())

    def compose(self) -> ComposeResult:
        """The board, and three panels beside it."""
        with Horizontal(id="main"):
            yield self._room
            with Vertical(id="side"):
                yield self._status
                yield VerticalScroll(self._thoughts, id="thoughts", can_focus=False)
                yield VerticalScroll(self._moves, id="moves", can_focus=False)
        yield Footer(compact=True)

    def on_mount(self) -> None:
        """Begin to look at the clock; a terminal that goes away ends it in order."""
        self._board.focus()
        self.set_interval(_TICK, self.on_board_pointed)
        self.on_changed()
        if not self.is_headless:
            loop = asyncio.get_running_loop()
            for name in ("SIGTERM", "SIGHUP"):
                # Windows has neither all of these signals nor loops that handle them.
                with contextlib.suppress(AttributeError, NotImplementedError, ValueError):
                    loop.add_signal_handler(getattr(signal, name), self.exit)

    async def on_event(self, event: events.Event) -> None:
        """Whatever is typed after leaving comes too late."""
        if not (self._is_leaving and isinstance(event, events.InputEvent)):
            await super().on_event(event)

    def exit(self, *args: Any, **options: Any) -> None:
        """Leave; whoever runs this keeps the game."""
        self._is_leaving = True
        super().exit(*args, **options)

    def on_changed(self) -> None:
        """Draw the session as it is now."""
        self._is_told = False
        view = self.session.view()
        self._board.show(view)
        self._status.show(view, self._board.here)
        self._thoughts.show(view)
        self._moves.show(view)

    def on_board_pointed(self) -> None:
        """The clock, and where the cursor stands."""
        self._status.show(self.session.view(), self._board.here)

    def on_resize(self) -> None:
        """Cells as large as there is room."""
        self.call_after_refresh(self._fit)

    def _fit(self) -> None:
        self._board.fit(self._room.size)

    def on_board_chosen(self, message: Board.Chosen) -> None:
        """A move, or leave for a player to go on."""
        if self.session.view().waiting:
            self.session.go()
        else:
            self.session.play(message.move)

    def on_moves_stepped(self, message: Moves.Stepped) -> None:
        """A line of the list."""
        self.session.step(message.ply)

    def action_session(self, name: str) -> None:
        """What the session does by itself."""
        getattr(self.session, name)()

    def action_analyze(self) -> None:
        """Live analysis on or off."""
        self.session.analyze(not self.session.view().watching)

    def action_step(self, plies: int) -> None:
        """Look at another ply."""
        self.session.step(self.session.view().ply + plies)

    def action_turn_light(self) -> None:
        """Dark or light."""
        light = self.theme == "textual-light"
        self.theme = "textual-dark" if light else "textual-light"

    def action_help(self) -> None:
        """What the keys do."""
        self.push_screen(Help(f"Moves: {self.session.view().game.move_forms}.\n\n{_KEYS}"))

    def action_choose_game(self) -> None:
        """Another game; this one is found again."""
        # An m,n,k game has no name without its sizes.
        options = [
            (e.example if e.name == "mnk" else e.name, e.summary) for e in registry.entries()
        ]
        self.push_screen(Choice("Which game?", options), self._take_game)

    def _take_game(self, spec: str | None) -> None:
        if spec:
            self.session.choose(game=spec)

    def action_choose_opponent(self) -> None:
        """Another opponent, in this game."""
        levels = [(f"level:{n}", f"errs in {MISTAKES[n]:.0%} of its chances") for n in _LEVELS]
        others = [(e.name, e.summary) for e in roster.entries() if e.name != "level"]
        self.push_screen(Choice("Against whom?", levels + others), self._take_opponent)

    def _take_opponent(self, spec: str | None) -> None:
        if spec:
            first, second = self.session.players
            is_first = second == roster.HUMAN and first != roster.HUMAN
            self.session.choose(**{"first" if is_first else "second": spec})


def run(session: Session) -> str:
    """Play until the human leaves; however that comes about, the game is kept. What to say."""
    sys.setswitchinterval(SWITCH)
    try:
        FullScreen(session).run()
    finally:
        session.on_change = None
        session.close()
    return session.view().message
