"""The panels beside the board: the status, the analysis of every move, and the moves so far."""

import textwrap

from rich.text import Text
from textual import events
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Static

from zermelo.core.phrases import count, escape_controls
from zermelo.ui import texts
from zermelo.ui.session import View
from zermelo.ui.texts import to_sentence

_MAX_ROWS = 40
_INDENT = " " * 7  # before the reasons, which stand below the values


class StatusPanel(Static):
    """Shows the players, whose turn it is, the clock and the last message."""

    _text = Text()

    def show(self, view: View, move_at_cursor: str, selected: str) -> None:
        """Show the status of a view, with the move at the cursor and the selected cell."""
        players = (
            f"{escape_controls(name)} ({symbol})"
            for name, symbol in zip(view.players, view.game.symbols, strict=True)
        )
        spec = escape_controls(view.game.spec)
        text = Text.assemble((spec, "bold"), "\n", " against ".join(players), "\n")
        text.append(f"{_turn_text(view)}\n", "bold")
        cursor = f", cursor at {move_at_cursor}" if view.legal and move_at_cursor else ""
        text.append(_clock_text(view) + cursor)
        if selected:
            text.append(f"\n{selected} selected: choose where it moves; Esc: deselect")
        if view.message:
            text.append(f"\n{view.message}")
        if text != self._text:  # the clock calls this twice a second
            self.update(text)
        self._text = text


def _turn_text(view: View) -> str:
    symbol = view.game.symbols[view.position.player]
    if view.outcome is not None:
        return to_sentence(view.verdict)
    if view.thinking:
        return f"{view.turn} is thinking; Esc: move now"
    if view.paused:
        return f"{view.turn} is paused; Enter: continue"
    if view.legal == ["pass"]:
        return f"{symbol} has no other move; Enter: pass"
    return f"{symbol}: your move" if view.ply == view.num_plies else view.verdict


def _clock_text(view: View) -> str:
    if view.ply < view.num_plies:
        return f"Position after move {view.ply} of {view.num_plies}; ]: next"
    if view.outcome is not None:
        return count(view.num_plies, "move")
    minutes, seconds = divmod(int(view.seconds), 60)
    return f"Move {view.num_plies + 1}: {minutes}:{seconds:02}"


class AnalysisPanel(Static):
    """Shows every move, best first, with its value in words and the reasons."""

    _shown: object = None

    def show(self, view: View) -> None:
        """Show the latest analysis of a view."""
        latest = view.analysis
        shown = view.analyzing, view.position, latest, view.players, self.size.width
        if shown == self._shown:
            return
        self._shown = shown
        if not view.analyzing:
            self.update(Text("a: analyse every move", "dim"))
        elif view.position.is_over:
            self.update(Text("The game is over.", "dim"))
        elif latest is None:
            self.update(Text("Analysing…", "dim"))
        else:
            fields = latest.to_dict(position=view.position)
            sides = texts.side_names(view.game.symbols, view.players, view.position.player)
            text = Text()
            text.append(f"{texts.effort_text(fields)}\n", "dim")
            for candidate in fields["candidates"][:_MAX_ROWS]:
                style = "bold" if candidate["best"] else ""
                text.append(f"{texts.candidate_text(candidate, sides)}\n", style)
                text.append(f"{self._indent(texts.reasons_text(candidate, sides))}\n", "dim")
            self.update(text)

    def _indent(self, text: str) -> str:
        width = max(20, self.size.width)
        return textwrap.fill(text, width, initial_indent=_INDENT, subsequent_indent=_INDENT)


class MovesPanel(Widget):
    """Lists the moves, one per line; a click shows the position after a move."""

    DEFAULT_CSS = "MovesPanel { width: 100%; height: auto; }"

    class PlyChosen(Message):
        """Posted when the human clicks a move, to show the position at this ply."""

        def __init__(self, ply: int) -> None:
            super().__init__()
            self.ply = ply

    def __init__(self, view: View) -> None:
        super().__init__()
        self.view = view
        self._shown: object = None

    def show(self, view: View) -> None:
        """List the moves of a view and scroll to the one that led to the position shown."""
        shown = view.ply, view.moves
        is_same, self._shown, self.view = shown == self._shown, shown, view
        if is_same:
            return
        self.refresh(layout=True)
        if isinstance(self.parent, Widget):
            parent, ply = self.parent, view.ply
            self.call_after_refresh(
                lambda: parent.scroll_to(y=ply - parent.size.height // 2, animate=False)
            )

    def render(self) -> Text:
        """Return the list; each line has the number, the side, the move and its seconds."""
        view = self.view
        text = Text(no_wrap=True)
        text.append("    start\n", "reverse" if view.ply == 0 else "")
        rows = zip(view.movers, view.moves, view.move_seconds, strict=True)
        for ply, (player, move, seconds) in enumerate(rows, 1):
            symbol = view.game.symbols[player]
            time = "" if seconds is None else f"{seconds:.1f} s"
            line = f"{ply:>3} {symbol} {move:5} {time:>7}\n"
            text.append(line, "reverse" if view.ply == ply else "")
        return text

    def on_click(self, event: events.Click) -> None:
        """Choose the position after the move whose line was clicked."""
        if event.y <= self.view.num_plies:
            self.post_message(self.PlyChosen(event.y))
