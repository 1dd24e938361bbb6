"""Beside the board: how the game stands, what every move leads to, and the moves so far."""

import textwrap

from rich.text import Text
from textual import events
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Static

from zermelo.search.explain import analysis
from zermelo.ui import texts
from zermelo.ui.session import View

_MAX_ROWS = 40
_INDENT = " " * 7  # under the outcomes


class Status(Static):
    """Who plays, whose turn it is, the clock, and the last notice."""

    _text = Text()

    def show(self, view: View, here: str) -> None:
        """Say how it stands, and what move is pointed at."""
        sides = (
            f"{who} ({symbol})" for who, symbol in zip(view.players, view.game.symbols, strict=True)
        )
        text = Text.assemble((view.game.spec, "bold"), "\n", " against ".join(sides), "\n")
        text.append(f"{_stand(view)}\n", "bold")
        text.append(_clock(view) + (f", at {here}" if view.legal and here else ""))
        if view.message:
            text.append(f"\n{view.message}")
        if text != self._text:  # it is asked twice a second
            self.update(text)
        self._text = text


def _stand(view: View) -> str:
    symbol = view.game.symbols[view.position.player]
    if view.outcome is not None:
        return f"{view.verdict[0].upper()}{view.verdict[1:]}."
    if view.thinking:
        return f"{view.turn} is thinking; Esc: move now"
    if view.waiting:
        return f"{view.turn} waits; Enter: go on"
    if view.legal == ["pass"]:
        return f"{symbol}: nothing to play; Enter: pass"
    return f"{symbol}: your move" if view.ply == view.plies else f"{view.verdict}"


def _clock(view: View) -> str:
    if view.ply < view.plies:
        return f"Shown: after move {view.ply} of {view.plies}. ] goes on."
    if view.outcome is not None:
        return f"{view.plies} moves"
    minutes, seconds = divmod(int(view.seconds), 60)
    return f"Move {view.plies + 1}: {minutes}:{seconds:02}"


class Thoughts(Static):
    """Every move, best first: its outcome in words, and why."""

    _shown: object = None

    def show(self, view: View) -> None:
        """Say what is known by now."""
        found = view.analysis
        shown = view.watching, view.position, found, view.players, self.size.width
        if shown == self._shown:
            return
        self._shown = shown
        if not view.watching:
            self.update(Text("a: what every move leads to", "dim"))
        elif view.position.is_over:
            self.update(Text("The game is over.", "dim"))
        elif found is None:
            self.update(Text("Looking…", "dim"))
        else:
            table = analysis.to_json(view.position, found, view.game.spec)
            sides = texts.sides(view.game.symbols, view.players, view.position.player)
            text = Text()
            text.append(f"{texts.effort_text(table)}\n", "dim")
            for candidate in table["candidates"][:_MAX_ROWS]:
                style = "bold" if candidate["best"] else ""
                text.append(f"{texts.row_text(candidate, sides)}\n", style)
                text.append(f"{self._indented(texts.reasons_text(candidate))}\n", "dim")
            self.update(text)

    def _indented(self, text: str) -> str:
        width = max(20, self.size.width)
        return textwrap.fill(text, width, initial_indent=_INDENT, subsequent_indent=_INDENT)


class Moves(Widget):
    """The moves, a line each; a click shows the position after it."""

    DEFAULT_CSS = "Moves { width: 100%; height: auto; }"

    class Stepped(Message):
        """The human wants to see this ply."""

        def __init__(self, ply: int) -> None:
            super().__init__()
            self.ply = ply

    def __init__(self, view: View) -> None:
        super().__init__()
        self.view = view
        self._shown: object = None

    def show(self, view: View) -> None:
        """List these."""
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
        """Number, side, move, seconds."""
        view = self.view
        text = Text(no_wrap=True)
        text.append("    start\n", "reverse" if view.ply == 0 else "")
        first = view.game.start().player
        for ply, (move, took) in enumerate(zip(view.moves, view.times, strict=True), 1):
            symbol = view.game.symbols[(first + ply - 1) % 2]
            clock = "" if took is None else f"{took:.1f} s"
            line = f"{ply:>3} {symbol} {move:5} {clock:>7}\n"
            text.append(line, "reverse" if view.ply == ply else "")
        return text

    def on_click(self, event: events.Click) -> None:
        """A click on a line."""
        if event.y <= self.view.plies:
            self.post_message(self.Stepped(event.y))
