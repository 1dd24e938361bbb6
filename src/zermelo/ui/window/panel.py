"""The panel beside the board: which controls it has and where they are; `drawing` draws them."""

from dataclasses import dataclass, field

import pygame

from zermelo.ui.session import View
from zermelo.ui.window import menu_items, theme
from zermelo.ui.window.menu_items import MenuItem

ROW, LINE = 32, 23  #: heights in pixels of a button and of a line of the move list
_GAP = 6
_CARD = 104  # height of the card, which shows whose turn it is and the analysis
_CAPTION = 62  # width of the caption before a menu
_STRENGTH = 84
_NUMBER = 36  # width of the number before a pair of moves
_NOTICE = 2 * 20
_ITEM = 28
_ITEM_PADDING = 64  # around and between the texts of an item
_EDGE = 8


@dataclass(frozen=True)
class Control:
    """An element that can be clicked; its name identifies the action."""

    name: str
    rect: pygame.Rect
    label: str
    kind: str = "button"  #: button, menu, move or item
    enabled: bool = True
    on: bool = False
    note: str = ""


@dataclass(frozen=True)
class Panel:
    """Where the card, the move list and the controls of the panel are."""

    card: pygame.Rect
    moves: pygame.Rect  #: the move list; its height is a whole number of lines
    top: int  #: first visible line of the move list
    notice: pygame.Rect
    controls: list[Control] = field(default_factory=list)


@dataclass(frozen=True)
class Menu:
    """An open menu, in front of everything else."""

    rect: pygame.Rect
    items: list[Control]
    max_top: int  #: highest possible index of the first visible item


def arrange(
    area: pygame.Rect, view: View, extra: tuple[str, ...], scroll: int | None, *, confirm_new: bool
) -> Panel:
    """Return the panel of a view.

    `extra` are the legal moves that have no cell. `scroll` is the first line of the move list to
    show, or None to follow the game. If `confirm_new`, the button New asks for a second press.
    """
    card = pygame.Rect(area.x, area.y, area.width, _CARD)
    y = card.bottom + _GAP + 2
    controls = []
    for menu in ("game", *menu_items.SEATS):
        controls += _menu_openers(menu, pygame.Rect(area.x, y, area.width, ROW), view)
        y += ROW + _GAP
    for names in (("new", "undo", "redo"), ("swap", "analyse", "stop")):
        row = pygame.Rect(area.x, y + 2, area.width, ROW)
        controls += _buttons(names, row, view, confirm_new=confirm_new)
        y += ROW + _GAP
    if extra and view.game.grid is not None:
        row = pygame.Rect(area.x, y + 2, area.width, ROW)
        controls += _place_in_row([(f"move:{m}", f"Play {m}", True, True) for m in extra], row)
        y += ROW + _GAP
    steps = pygame.Rect(area.right - 4 * ROW, y + 6, 4 * ROW, 26)
    controls += _step_buttons(steps, view)
    notice = pygame.Rect(area.x, area.bottom - _NOTICE, area.width, _NOTICE)
    y = steps.bottom + _GAP
    num_lines = max(1, (notice.top - 8 - y) // LINE)
    moves = pygame.Rect(area.x, y, area.width, num_lines * LINE)
    top = _top_line(view, num_lines, scroll)
    controls += _move_controls(moves, view, top, num_lines)
    return Panel(card, moves, top, notice, controls)


def _menu_openers(menu: str, row: pygame.Rect, view: View) -> list[Control]:
    """Return the control that opens a menu.

    For a player with a strength, also return the control that opens the strength menu.
    """
    rect = pygame.Rect(row.x + _CAPTION, row.y, row.width - _CAPTION, row.height)
    if menu == "game":
        return [Control("menu:game", rect, menu_items.game_name(view.game.spec), "menu")]
    spec = view.players[menu_items.SEATS.index(menu)]
    strength = menu_items.strength_label(spec)
    name = Control(f"menu:{menu}", rect, menu_items.player_name(spec), "menu")
    if not strength:
        return [name]
    rect.width -= _STRENGTH + _GAP
    side = pygame.Rect(rect.right + _GAP, row.y, _STRENGTH, row.height)
    return [name, Control(f"menu:{menu} strength", side, strength, "menu")]


def _buttons(
    names: tuple[str, ...], row: pygame.Rect, view: View, *, confirm_new: bool
) -> list[Control]:
    states = {
        "new": ("Sure?" if confirm_new else "New", True, confirm_new),
        "undo": ("Undo", view.num_plies > 0, False),
        "redo": ("Redo", view.num_redoable > 0, False),
        "swap": ("Swap seats", True, False),
        "analyse": ("Analyse", True, view.analyzing),
        "stop": ("Continue" if view.paused else "Stop", view.thinking or view.paused, False),
    }
    return _place_in_row([(name, *states[name]) for name in names], row)


def _place_in_row(buttons: list[tuple[str, str, bool, bool]], row: pygame.Rect) -> list[Control]:
    """Return a control for each button (name, label, enabled, on), side by side, equally wide."""
    number = len(buttons)
    width = (row.width - (number - 1) * _GAP) // number
    return [
        Control(
            name, pygame.Rect(row.x + i * (width + _GAP), row.y, width, row.height), label,
            enabled=enabled, on=on,
        )
        for i, (name, label, enabled, on) in enumerate(buttons)
    ]  # fmt: skip


def _step_buttons(area: pygame.Rect, view: View) -> list[Control]:
    """Return the buttons that show the first, previous, next and last position."""
    width = area.width // 4
    last = view.num_plies
    plies = (("|<", 0), ("<", max(0, view.ply - 1)), (">", min(last, view.ply + 1)), (">|", last))
    return [
        Control(
            f"ply:{ply}", pygame.Rect(area.x + i * width + 2, area.y, width - 2, area.height),
            label, enabled=ply != view.ply,
        )
        for i, (label, ply) in enumerate(plies)
    ]  # fmt: skip


def _top_line(view: View, num_lines: int, scroll: int | None) -> int:
    """Return the first visible line of the move list."""
    last = max(0, (view.num_plies + 1) // 2 - num_lines)
    if scroll is not None:
        return min(max(0, scroll), last)
    current = max(0, view.ply - 1) // 2
    return min(last, max(0, current - num_lines // 2))


def _move_controls(area: pygame.Rect, view: View, top: int, num_lines: int) -> list[Control]:
    """Return a control for each visible move, which shows the position after it; two per line."""
    width = (area.width - _NUMBER) // 2
    return [
        Control(
            f"ply:{ply + 1}",
            pygame.Rect(
                area.x + _NUMBER + ply % 2 * width, area.y + (ply // 2 - top) * LINE, width, LINE
            ),
            _move_label(view, ply),
            "move",
            on=ply + 1 == view.ply,
        )
        for ply in range(top * 2, min(view.num_plies, (top + num_lines) * 2))
    ]


def _move_label(view: View, ply: int) -> str:
    """Return a move, with its side if the sides do not alternate."""
    side = "" if view.game.is_alternating else f"{view.game.symbols[view.movers[ply]]} "
    return side + view.moves[ply]


def open_menu(
    opener: pygame.Rect, screen: pygame.Rect, items: list[MenuItem], current: str, top: int
) -> Menu:
    """Return a menu below the control that opens it, with as many items from `top` on as fit."""
    text_width = max(
        theme.width(item.label, theme.BODY) + theme.width(item.note, theme.SMALL) for item in items
    )
    width = min(max(opener.width, text_width + _ITEM_PADDING), screen.width - 2 * _EDGE)
    num_visible = min(len(items), (screen.height - 2 * _EDGE - 8) // _ITEM)
    max_top = len(items) - num_visible
    top = min(max(0, top), max_top)
    rect = pygame.Rect(0, 0, width, num_visible * _ITEM + 8)
    rect.topright = opener.right, opener.bottom + 2
    rect.clamp_ip(screen.inflate(-2 * _EDGE, -2 * _EDGE))
    controls = [
        Control(
            f"pick:{top + i}", pygame.Rect(rect.x + 4, rect.y + 4 + i * _ITEM, width - 8, _ITEM),
            item.label, "item", on=item.value == current, note=item.note,
        )
        for i, item in enumerate(items[top : top + num_visible])
    ]  # fmt: skip
    return Menu(rect, controls, max_top)
