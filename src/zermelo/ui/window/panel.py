"""The panel: what can be clicked beside the board, and where. No pixels in here."""

from dataclasses import dataclass, field

import pygame

from zermelo.ui.session import View
from zermelo.ui.window import choices, theme
from zermelo.ui.window.choices import Choice

ROW, LINE = 32, 23  #: pixels: a button, a line of the move list
_GAP = 6
_CARD = 104  # who moves, and what is thought
_HEAD = 62  # before a menu: what it chooses
_STRENGTH = 84
_NUMBER = 36  # before a pair of moves
_NOTICE = 2 * 20
_ITEM = 28
_BESIDE = 64  # around and between the texts of an item
_EDGE = 8


@dataclass(frozen=True)
class Control:
    """Something to click; its name says what that does."""

    name: str
    rect: pygame.Rect
    label: str
    kind: str = "button"  #: or menu, move, item
    enabled: bool = True
    on: bool = False
    note: str = ""


@dataclass(frozen=True)
class Panel:
    """Where everything in the panel is."""

    card: pygame.Rect
    moves: pygame.Rect  #: the list, with room for whole lines only
    top: int  #: the first line of the list that is seen
    notice: pygame.Rect
    controls: list[Control] = field(default_factory=list)


@dataclass(frozen=True)
class Menu:
    """An open menu over everything else."""

    rect: pygame.Rect
    items: list[Control]
    most: int  #: the highest first item that still fills the menu


def arrange(
    area: pygame.Rect, view: View, extra: tuple[str, ...], scroll: int | None, *, asked: bool
) -> Panel:
    """The panel of a view.

    `extra`: moves without a cell. `scroll`: the first line of the move list, None to follow the
    game. `asked`: whether New waits to be pressed again.
    """
    card = pygame.Rect(area.x, area.y, area.width, _CARD)
    y = card.bottom + _GAP + 2
    controls = []
    for menu in ("game", "first", "second"):
        controls += _choosers(menu, pygame.Rect(area.x, y, area.width, ROW), view)
        y += ROW + _GAP
    for names in (("new", "undo", "redo"), ("swap", "analyse", "stop")):
        row = pygame.Rect(area.x, y + 2, area.width, ROW)
        controls += _buttons(names, row, view, asked=asked)
        y += ROW + _GAP
    if extra and view.game.grid is not None:
        row = pygame.Rect(area.x, y + 2, area.width, ROW)
        controls += _in_row([(f"move:{m}", f"Play {m}", True, True) for m in extra], row)
        y += ROW + _GAP
    steps = pygame.Rect(area.right - 4 * ROW, y + 6, 4 * ROW, 26)
    controls += _steps(steps, view)
    notice = pygame.Rect(area.x, area.bottom - _NOTICE, area.width, _NOTICE)
    y = steps.bottom + _GAP
    lines = max(1, (notice.top - 8 - y) // LINE)
    moves = pygame.Rect(area.x, y, area.width, lines * LINE)
    top = _top(view, lines, scroll)
    controls += _moves(moves, view, top, lines)
    return Panel(card, moves, top, notice, controls)


def _choosers(menu: str, row: pygame.Rect, view: View) -> list[Control]:
    """A menu with what it chooses before it; a player's strength behind it."""
    rect = pygame.Rect(row.x + _HEAD, row.y, row.width - _HEAD, row.height)
    if menu == "game":
        return [Control("menu:game", rect, view.game.spec, "menu")]
    spec = view.players[("first", "second").index(menu)]
    strength = choices.strength(spec)
    name = Control(f"menu:{menu}", rect, choices.player_name(spec), "menu")
    if not strength:
        return [name]
    rect.width -= _STRENGTH + _GAP
    side = pygame.Rect(rect.right + _GAP, row.y, _STRENGTH, row.height)
    return [name, Control(f"menu:{menu} strength", side, strength, "menu")]


def _buttons(names: tuple[str, ...], row: pygame.Rect, view: View, *, asked: bool) -> list[Control]:
    states = {
        "new": ("Sure?" if asked else "New", True, asked),
        "undo": ("Undo", view.plies > 0, False),
        "redo": ("Redo", view.redoable > 0, False),
        "swap": ("Swap seats", True, False),
        "analyse": ("Analyse", True, view.watching),
        "stop": ("Go" if view.waiting else "Stop", view.thinking or view.waiting, False),
    }
    return _in_row([(name, *states[name]) for name in names], row)


def _in_row(buttons: list[tuple[str, str, bool, bool]], row: pygame.Rect) -> list[Control]:
    """Buttons of one width side by side."""
    number = len(buttons)
    wide = (row.width - (number - 1) * _GAP) // number
    return [
        Control(
            name, pygame.Rect(row.x + i * (wide + _GAP), row.y, wide, row.height), label,
            enabled=enabled, on=on,
        )
        for i, (name, label, enabled, on) in enumerate(buttons)
    ]  # fmt: skip


def _steps(area: pygame.Rect, view: View) -> list[Control]:
    """To the start, back, forth, to where the game stands."""
    wide = area.width // 4
    last = view.plies
    plies = (("|<", 0), ("<", max(0, view.ply - 1)), (">", min(last, view.ply + 1)), (">|", last))
    return [
        Control(
            f"ply:{ply}", pygame.Rect(area.x + i * wide + 2, area.y, wide - 2, area.height),
            label, enabled=ply != view.ply,
        )
        for i, (label, ply) in enumerate(plies)
    ]  # fmt: skip


def _top(view: View, lines: int, scroll: int | None) -> int:
    last = max(0, (view.plies + 1) // 2 - lines)
    if scroll is not None:
        return min(max(0, scroll), last)
    shown = max(0, view.ply - 1) // 2
    return min(last, max(0, shown - lines // 2))


def _moves(area: pygame.Rect, view: View, top: int, lines: int) -> list[Control]:
    """Two moves a line; a click shows the position after one."""
    wide = (area.width - _NUMBER) // 2
    return [
        Control(
            f"ply:{ply + 1}",
            pygame.Rect(
                area.x + _NUMBER + ply % 2 * wide, area.y + (ply // 2 - top) * LINE, wide, LINE
            ),
            view.moves[ply],
            "move",
            on=ply + 1 == view.ply,
        )
        for ply in range(top * 2, min(view.plies, (top + lines) * 2))
    ]


def open_menu(
    opener: pygame.Rect, screen: pygame.Rect, items: list[Choice], now: str, top: int
) -> Menu:
    """The items of a menu under what opened it, as many as fit, from item `top` on."""
    wanted = max(
        theme.width(item.label, theme.BODY) + theme.width(item.note, theme.SMALL) for item in items
    )
    wide = min(max(opener.width, wanted + _BESIDE), screen.width - 2 * _EDGE)
    shown = min(len(items), (screen.height - 2 * _EDGE - 8) // _ITEM)
    most = len(items) - shown
    top = min(max(0, top), most)
    rect = pygame.Rect(0, 0, wide, shown * _ITEM + 8)
    rect.topright = opener.right, opener.bottom + 2
    rect.clamp_ip(screen.inflate(-2 * _EDGE, -2 * _EDGE))
    controls = [
        Control(
            f"pick:{top + i}", pygame.Rect(rect.x + 4, rect.y + 4 + i * _ITEM, wide - 8, _ITEM),
            item.label, "item", on=item.value == now, note=item.note,
        )
        for i, item in enumerate(items[top : top + shown])
    ]  # fmt: skip
    return Menu(rect, controls, most)
