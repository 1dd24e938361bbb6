"""Dialogs in front of the board: a choice from a list, and the help."""

import textwrap
from collections.abc import Sequence
from typing import ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical, VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Input, OptionList, Static

_CSS = """
{name} {{ align: center middle; }}
{name} > .dialog {{
    width: 72; max-width: 95%; height: auto; max-height: 90%;
    border: round $primary; background: $surface; padding: 0 1;
}}
"""


class ChoiceDialog(ModalScreen[str]):
    """Asks the human to choose from a list or type a text; returns "" if cancelled."""

    CSS = _CSS.format(name="ChoiceDialog") + (
        "OptionList { height: auto; max-height: 14; border: none; }"
    )
    BINDINGS: ClassVar[list[BindingType]] = [
        ("escape", "close", "back"),
        ("down", "app.focus_next", "list"),
    ]

    def __init__(self, title: str, options: Sequence[tuple[str, str]]) -> None:
        super().__init__()
        self._title, self._options = title, options

    def compose(self) -> ComposeResult:
        """Yield an input line and the list of choices."""
        with Vertical(classes="dialog") as dialog:
            dialog.border_title = self._title
            line = Input(placeholder="Type a name, or choose one below", max_length=200)
            line.cursor_blink = False
            yield line
            yield OptionList(
                *(
                    Text(f"{name:12} {textwrap.shorten(summary, 50, placeholder=' …')}")
                    for name, summary in self._options
                )
            )

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Return the text that was typed."""
        self._answer(event.value.strip())

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Return the name that was chosen."""
        self._answer(self._options[event.option_index][0])

    def action_close(self) -> None:
        """Close the dialog without a choice."""
        self._answer("")

    def _answer(self, spec: str) -> None:
        if self.is_current:  # two clicks may arrive before the first has closed the dialog
            self.dismiss(spec)


class HelpDialog(ModalScreen[None]):
    """Shows which keys do what."""

    CSS = _CSS.format(name="HelpDialog")
    BINDINGS: ClassVar[list[BindingType]] = [("escape,q,question_mark,enter", "close", "back")]

    def __init__(self, text: str) -> None:
        super().__init__()
        self._text = text

    def compose(self) -> ComposeResult:
        """Yield the help text."""
        with VerticalScroll(classes="dialog") as dialog:
            dialog.border_title = "Keys"
            yield Static(self._text, markup=False)

    def on_click(self) -> None:
        """Close the dialog."""
        self.action_close()

    def action_close(self) -> None:
        """Return to the board."""
        if self.is_current:
            self.dismiss()
