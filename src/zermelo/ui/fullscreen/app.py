"""The application, which passes input to the session and shows its view in the widgets."""

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
from zermelo.players.levels import MISTAKES
from zermelo.players.registry import HUMAN, list_players
from zermelo.ui.fullscreen.board import Board
from zermelo.ui.fullscreen.dialogs import ChoiceDialog, HelpDialog
from zermelo.ui.fullscreen.panels import AnalysisPanel, MovesPanel, StatusPanel
from zermelo.ui.session import Session, View

SWITCH_INTERVAL = 0.001  #: seconds that a thinking thread may delay the handling of a key
_LEVELS = (1, 3, 5, 7, 10)  # levels that the dialog offers; any other level can be typed
_TICK = 0.5  # seconds between two updates of the clock
_KEYS = """arrows or hjkl   move the cursor; the mouse moves it too
Enter or click   play at the cursor, or select a piece and then where it moves
Esc              make the thinking player move now; deselect a piece
u r              undo, redo
[ ] PgUp PgDn    step through the moves; play there to branch off
Home End         show the first or the last position
a                switch live analysis on or off
n                start a new game
g o s            change the game, change the opponent, swap seats
R                resign
t                switch between dark and light
q                save the game and quit"""


class SessionChanged(Message):
    """Posted when the session has changed, from whichever thread changed it."""


class FullScreen(App[None]):
    """The Textual application that shows a session on the whole terminal."""

    TITLE = "Zermelo"
    ENABLE_COMMAND_PALETTE = False
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (64, "-wide")]  # noqa: RUF012 - Textual's own
    CSS = """
    #room { width: 1fr; height: 1fr; align: center middle; }
    #side { width: 40; height: 1fr; border-left: solid $panel; }
    StatusPanel { height: auto; padding: 0 1; }
    #analysis, #moves {
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
        Binding("s", "session('swap')", "swap"),
        Binding("a", "toggle_analysis", "analysis"),
        Binding("left_square_bracket,pageup", "step(-1)", "step", key_display="[ ]"),
        Binding("right_square_bracket,pagedown", "step(1)", show=False),
        Binding("home", "step(-10000)", show=False),
        Binding("end", "step(10000)", show=False),
        Binding("escape", "stop", show=False),
        Binding("R,shift+r", "session('resign')", show=False),
        Binding("t", "toggle_theme", show=False),
        Binding("question_mark", "help", "help", key_display="?"),
        Binding("q,ctrl+c,ctrl+q", "quit", "quit", key_display="q"),
    ]

    def __init__(self, session: Session) -> None:
        super().__init__()
        self.session = session
        view = session.view()
        self._board, self._status, self._analysis = Board(view), StatusPanel(), AnalysisPanel()
        self._moves = MovesPanel(view)
        self._room = ScrollableContainer(self._board, id="room", can_focus=False)
        self._is_notified = self._is_leaving = False
        session.on_change = self._notify

    def _notify(self) -> None:
        """Post SessionChanged unless one is still unhandled. May be called from any thread."""
        if not self._is_notified:
            self._is_notified = True
            self.post_message(SessionChanged())

    def compose(self) -> ComposeResult:
        """Yield the board, the three panels beside it and the footer."""
        with Horizontal(id="main"):
            yield self._room
            with Vertical(id="side"):
                yield self._status
                yield VerticalScroll(self._analysis, id="analysis", can_focus=False)
                yield VerticalScroll(self._moves, id="moves", can_focus=False)
        yield Footer(compact=True)

    def on_mount(self) -> None:
        """Start the clock, and install signal handlers that exit cleanly."""
        self._board.focus()
        self.set_interval(_TICK, self.on_board_cursor_moved)
        self.on_session_changed()
        if not self.is_headless:
            loop = asyncio.get_running_loop()
            for name in ("SIGTERM", "SIGHUP"):
                # Windows lacks some of these signals, and its event loops cannot handle them.
                with contextlib.suppress(AttributeError, NotImplementedError, ValueError):
                    loop.add_signal_handler(getattr(signal, name), self.exit)

    async def on_event(self, event: events.Event) -> None:
        """Ignore input that arrives after the app is told to exit."""
        if not (self._is_leaving and isinstance(event, events.InputEvent)):
            await super().on_event(event)

    def exit(self, *args: Any, **options: Any) -> None:
        """Exit; `run` saves the game."""
        self._is_leaving = True
        super().exit(*args, **options)

    def on_session_changed(self) -> None:
        """Show the current view in all widgets."""
        self._is_notified = False
        view = self.session.view()
        self._board.show(view)
        self._show_status(view)
        self._analysis.show(view)
        self._moves.show(view)

    def on_board_cursor_moved(self) -> None:
        """Update the status panel, which shows the clock and the move at the cursor."""
        self._show_status(self.session.view())

    def _show_status(self, view: View) -> None:
        self._status.show(view, self._board.move_at_cursor, self._board.selected_name)

    def on_resize(self) -> None:
        """Adapt the size of the cells to the new size of the terminal."""
        self.call_after_refresh(self._fit)

    def _fit(self) -> None:
        self._board.fit(self._room.size)

    def on_board_move_chosen(self, message: Board.MoveChosen) -> None:
        """Play the chosen move; if a player is paused, let it continue instead.

        If there are several moves, ask which one.
        """
        if self.session.view().paused:
            self.session.resume()
        elif len(message.moves) == 1:
            self.session.play(message.moves[0])
        else:
            options = [(move, "") for move in message.moves]
            self.push_screen(ChoiceDialog("Choose a move", options), self._play)

    def _play(self, move: str | None) -> None:
        if move:
            self.session.play(move)

    def action_stop(self) -> None:
        """Make the thinking player move now; if none thinks, deselect the selected piece."""
        if self.session.view().thinking:
            self.session.stop()
        else:
            self._board.select(None)

    def on_moves_panel_ply_chosen(self, message: MovesPanel.PlyChosen) -> None:
        """Show the position after the move that was clicked."""
        self.session.show_ply(message.ply)

    def action_session(self, name: str) -> None:
        """Call the method of the session with this name."""
        getattr(self.session, name)()

    def action_toggle_analysis(self) -> None:
        """Switch live analysis on or off."""
        self.session.set_analysis(not self.session.view().analyzing)

    def action_step(self, plies: int) -> None:
        """Show the position that is `plies` moves later or, if negative, earlier."""
        self.session.show_ply(self.session.view().ply + plies)

    def action_toggle_theme(self) -> None:
        """Switch between the dark and the light theme."""
        is_light = self.theme == "textual-light"
        self.theme = "textual-dark" if is_light else "textual-light"

    def action_help(self) -> None:
        """Show the keys."""
        self.push_screen(HelpDialog(f"Moves: {self.session.view().game.move_forms}.\n\n{_KEYS}"))

    def action_choose_game(self) -> None:
        """Ask for another game."""
        # The name mnk alone is not a game, because it needs sizes.
        options = [
            (e.example if e.name == "mnk" else e.name, e.summary) for e in registry.entries()
        ]
        self.push_screen(ChoiceDialog("Choose a game", options), self._set_game)

    def _set_game(self, spec: str | None) -> None:
        if spec:
            self.session.set_up(game=spec)

    def action_choose_opponent(self) -> None:
        """Ask for another opponent."""
        levels = [(f"level:{n}", _describe_level(n)) for n in _LEVELS]
        others = [(e.name, e.summary) for e in list_players() if e.name != "level"]
        self.push_screen(ChoiceDialog("Choose an opponent", levels + others), self._set_opponent)

    def _set_opponent(self, spec: str | None) -> None:
        if spec:
            first, second = self.session.players
            is_first = second == HUMAN and first != HUMAN
            self.session.set_up(**{"first" if is_first else "second": spec})


def _describe_level(level: int) -> str:
    rate = MISTAKES[level]
    return f"makes a mistake {rate:.0%} of the time" if rate else "makes no mistakes"


def run(session: Session) -> str:
    """Run the full screen until the human quits; save the game and return the last message."""
    sys.setswitchinterval(SWITCH_INTERVAL)
    try:
        FullScreen(session).run()
    finally:
        session.on_change = None
        session.close()
    return session.view().message
