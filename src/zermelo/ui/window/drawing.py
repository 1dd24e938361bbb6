"""Arranging and drawing a frame: the board, the panel and the menus."""

from dataclasses import dataclass, replace

import pygame

from zermelo.core.cells import MoveCells
from zermelo.core.phrases import YOU, count, count_moves, word_for
from zermelo.core.player import Analysis
from zermelo.ui.session import View
from zermelo.ui.texts import side_names
from zermelo.ui.window import board, layout, menu_items, panel, theme
from zermelo.ui.window.layout import Layout
from zermelo.ui.window.menu_items import SEATS, MenuItem
from zermelo.ui.window.panel import Control, Menu, Panel
from zermelo.ui.window.stones import draw_stone

CHOICE = "choice"  #: the menu from which a move is chosen if several moves have the same cells
_CAPTIONS = {"game": "Game", "first": "1st", "second": "2nd"}
_KEYS = "Keys: arrows, Enter, u~undo, r~redo, n~new, s~swap, a~analyse, Esc~stop, q~quit"
_HEAT = "Full cells are proven, small patches are estimates. A~frame marks the best move."
_BUTTON_GAP = 12  # pixels between the drawing of a game without a board and its buttons
_STONE = 30  # size in pixels of the stone on the card


@dataclass(frozen=True)
class InputState:
    """The state of mouse, cursor and menus, which is not part of the game."""

    mouse: tuple[int, int] = (-1, -1)
    cursor: int | None = None  #: the cell selected with the arrow keys
    selected: int | None = None  #: the cell of the piece that is selected to move
    choices: tuple[str, ...] = ()  #: the moves that the menu CHOICE offers
    choice_cell: int | None = None  #: the cell beside which the menu CHOICE opens
    menu: str = ""  #: the open menu
    item: int = -1  #: the item of the menu selected with the arrow keys
    top: int = 0  #: the first visible item of the menu
    scroll: int | None = None  #: first visible line of the move list; None to follow the game
    new_pressed_at: int = -1  #: ply at which New was pressed once; a second press confirms it


@dataclass(frozen=True)
class Screen:
    """Everything that can be seen or clicked, with its position in the window."""

    layout: Layout
    panel: Panel
    menu: Menu | None
    move_cells: MoveCells
    move_buttons: list[Control]  #: one per move, in a game without a board

    @property
    def controls(self) -> list[Control]:
        """The controls that can be clicked; an open menu blocks all others."""
        return self.menu.items if self.menu else [*self.panel.controls, *self.move_buttons]

    def control_at(self, point: tuple[int, int]) -> Control | None:
        """Return the enabled control under a point."""
        controls = (c for c in self.controls if c.enabled and c.rect.collidepoint(point))
        return next(controls, None)


def arrange(size: tuple[int, int], view: View, move_cells: MoveCells, state: InputState) -> Screen:
    """Return where everything is in a window of this size."""
    whole = layout.arrange(size, view.game.grid)
    side = panel.arrange(
        whole.panel,
        view,
        move_cells.extra,
        state.scroll,
        confirm_new=state.new_pressed_at == view.num_plies,
    )
    window = pygame.Rect(0, 0, *map(max, zip(size, layout.MIN_SIZE, strict=True)))
    menu = _open_menu(window, view, state, whole, side) if state.menu else None
    buttons = [] if view.game.grid else _move_buttons(whole.area, move_cells.extra)
    if buttons:  # the drawing of the position is above them
        height = buttons[0].rect.top - whole.area.top - _BUTTON_GAP
        area = pygame.Rect(whole.area.topleft, (whole.area.width, height))
        whole = replace(whole, area=area)
    return Screen(whole, side, menu, move_cells, buttons)


def _open_menu(
    window: pygame.Rect, view: View, state: InputState, whole: Layout, side: Panel
) -> Menu:
    """Return the open menu, below the control or beside the cell that opened it."""
    items = list_menu_items(view, state)
    if state.menu == CHOICE and state.choice_cell is not None:
        return panel.open_menu(whole.rect(state.choice_cell), window, items, "", state.top)
    name = state.menu.split()[0]
    current = view.game.spec if name == "game" else view.players[SEATS.index(name)]
    openers = [c.rect for c in side.controls if c.name == f"menu:{state.menu}"]
    opener = openers[0] if openers else side.card
    return panel.open_menu(opener, window, items, current, state.top)


def list_menu_items(view: View, state: InputState) -> list[MenuItem]:
    """Return the items of the open menu."""
    if state.menu == CHOICE:
        return [MenuItem(move, move) for move in state.choices]
    return menu_items.list_items(state.menu, view.game.spec, view.players)


def _move_buttons(area: pygame.Rect, moves: tuple[str, ...]) -> list[Control]:
    """Return a button for each move of a game without a board, in rows at the bottom."""
    if not moves:
        return []
    width = max(theme.width(move, theme.BODY) for move in moves) + 24
    cols = max(1, area.width // (width + 6))
    top = area.bottom - (len(moves) + cols - 1) // cols * 38
    return [
        Control(
            f"move:{move}",
            pygame.Rect(area.x + i % cols * (width + 6), top + i // cols * 38, width, 32),
            move,
        )
        for i, move in enumerate(moves)
    ]


def draw_frame(surface: pygame.Surface, view: View, screen: Screen, state: InputState) -> None:
    """Draw everything except the pulsing bar."""
    surface.fill(theme.GROUND)
    hover = None if screen.menu else screen.layout.cell_at(state.mouse)
    candidates = view.analysis.candidates if view.analysis and view.analyzing else ()
    marks = board.Marks(hover, state.cursor, state.selected)
    board.draw_board(surface, screen.layout, view.position, screen.move_cells, candidates, marks)
    _draw_card(surface, screen.panel.card, view)
    _draw_captions(surface, screen.panel, view)
    hovered = None if screen.menu else screen.control_at(state.mouse)
    for control in (*screen.panel.controls, *screen.move_buttons):
        _draw_control(surface, control, hover=control is hovered)
    _draw_move_list(surface, screen.panel, view)
    notice = view.message or (_HEAT if candidates else _KEYS).replace("~", "\u00a0")
    for i, line in enumerate(theme.wrap(notice, theme.SMALL, screen.panel.notice.width, 2)):
        place = screen.panel.notice.move(0, i * 20)
        place.height = 20
        theme.write(surface, line, theme.SMALL, theme.QUIET, place)
    if screen.menu:
        _draw_menu(surface, screen.menu, state)


def _draw_card(surface: pygame.Surface, card: pygame.Rect, view: View) -> None:
    """Draw whose turn it is or who won, the status and the analysis."""
    pygame.draw.rect(surface, theme.SURFACE, card, border_radius=10)
    pygame.draw.rect(surface, theme.LINE, card, 1, border_radius=10)
    side = view.outcome.winner if view.outcome else view.to_move
    inside = card.inflate(-24, -16)
    head = pygame.Rect(inside.x, inside.y, inside.width, 36)
    if side is not None:
        surface.blit(draw_stone(view.game, side, _STONE), (head.x - 2, head.y + 3))
        head = pygame.Rect(head.x + 36, head.y, head.width - 36, 36)
    verdict = f"{view.verdict[:1].upper()}{view.verdict[1:]}"
    if theme.width(verdict, theme.TITLE) <= head.width:
        theme.write(surface, verdict, theme.TITLE, theme.INK, head)
    else:
        for i, line in enumerate(theme.wrap(verdict, theme.BODY, head.width, 2)):
            place = pygame.Rect(head.x, head.y + i * 18, head.width, 18)
            theme.write(surface, line, theme.BODY, theme.INK, place)
    for i, line in enumerate((status_text(view), analysis_text(view))):
        place = pygame.Rect(inside.x, inside.y + 39 + i * 21, inside.width, 20)
        theme.write(surface, line, theme.SMALL, theme.QUIET, place)


def status_text(view: View) -> str:
    """Return one line that says whose turn it is."""
    if view.ply != view.num_plies:
        return f"Position after move {view.ply} of {view.num_plies}"
    if view.thinking:
        return f"{view.turn} is thinking: {view.seconds:.1f} s"
    if view.paused:
        return f"{view.turn} is paused: press Continue"
    if view.turn == "you":
        return "Your turn"
    return f"Game over after {count(view.num_plies, 'move')}"


def analysis_text(view: View) -> str:
    """Return one line with the value of the position and its certainty."""
    if not view.analyzing or view.position.is_over:
        return ""
    if view.analysis is None:
        return "Analysing…"
    return f"{_value_text(view, view.analysis)} ({_certainty_text(view.analysis)})"


def _value_text(view: View, analysis: Analysis) -> str:
    sides = side_names(view.game.symbols, view.players, view.position.player)
    word = word_for(analysis.value, analysis.estimate, sides)
    if analysis.value is None:
        verb = "are" if sides[0] == YOU else "is"
        return f"{sides[0]} {verb} {word}" if word != "balanced" else word
    if analysis.diff:
        return f"{word} by {abs(analysis.diff)}"
    is_decided = analysis.plies and analysis.value != "draw"
    return f"{word} in {count_moves(analysis.plies or 0)}" if is_decided else word


def _certainty_text(analysis: Analysis) -> str:
    if analysis.exact:
        return "proven"
    return f"estimate, depth {analysis.depth}" if analysis.depth else "estimate"


def _draw_captions(surface: pygame.Surface, side: Panel, view: View) -> None:
    """Draw the caption to the left of each menu."""
    for control in side.controls:
        name = control.name.removeprefix("menu:")
        if name not in ("game", *SEATS):
            continue
        place = pygame.Rect(side.card.x, control.rect.y, control.rect.x - side.card.x - 4, 32)
        if name in SEATS:
            stone = draw_stone(view.game, SEATS.index(name), 22)
            surface.blit(stone, stone.get_rect(midleft=place.midleft))
            place = pygame.Rect(place.x + 27, place.y, place.width - 27, place.height)
        theme.write(surface, _CAPTIONS[name], theme.SMALL, theme.QUIET, place)


def _draw_control(surface: pygame.Surface, control: Control, *, hover: bool) -> None:
    rect = control.rect
    if control.kind == "move":
        if control.on or hover:
            fill = theme.WON if control.on else theme.SUNK
            pygame.draw.rect(surface, fill, rect.inflate(-4, -2), border_radius=4)
        theme.write(surface, control.label, theme.BODY, theme.INK, rect.inflate(-16, 0))
        return
    fill = theme.ACCENT if control.on else theme.SUNK if hover else theme.SURFACE
    ink = theme.ON_ACCENT if control.on else theme.INK if control.enabled else theme.EVEN
    edge = theme.EDGE if control.enabled else theme.LINE
    pygame.draw.rect(surface, fill, rect, border_radius=7)
    pygame.draw.rect(surface, edge, rect, 1, border_radius=7)
    if control.kind == "menu":
        inside = rect.inflate(-20, 0)
        x, y = inside.right - 5, rect.centery
        pygame.draw.polygon(surface, theme.QUIET, [(x - 5, y - 2), (x + 5, y - 2), (x, y + 4)])
        inside.width -= 16
        theme.write(surface, control.label, theme.BODY, ink, inside)
        return
    theme.write(surface, control.label, theme.BODY, ink, rect.inflate(-8, 0), "center")


def _draw_move_list(surface: pygame.Surface, side: Panel, view: View) -> None:
    """Draw the title of the move list and the number of each line.

    This is the number of the pair of moves; if the sides do not alternate, that of the first move.
    """
    title = pygame.Rect(side.card.x, side.moves.y - 32, 130, 26)
    theme.write(surface, "Moves", theme.BODY, theme.INK, title)
    num_lines = side.moves.height // panel.LINE
    for i in range(min(num_lines, (view.num_plies + 1) // 2 - side.top)):
        place = pygame.Rect(side.moves.x, side.moves.y + i * panel.LINE, 32, panel.LINE)
        number = side.top + i + 1 if view.game.is_alternating else 2 * (side.top + i) + 1
        theme.write(surface, f"{number}.", theme.SMALL, theme.QUIET, place, "midright")


def _draw_menu(surface: pygame.Surface, menu: Menu, state: InputState) -> None:
    shadow = pygame.Surface(menu.rect.size, pygame.SRCALPHA)
    pygame.draw.rect(shadow, (0, 0, 0, 28), shadow.get_rect(), border_radius=8)
    surface.blit(shadow, menu.rect.move(2, 4))
    pygame.draw.rect(surface, theme.SURFACE, menu.rect, border_radius=8)
    pygame.draw.rect(surface, theme.EDGE, menu.rect, 1, border_radius=8)
    for item in menu.items:
        if item.name == f"pick:{state.item}" or item.rect.collidepoint(state.mouse):
            pygame.draw.rect(surface, theme.SUNK, item.rect, border_radius=5)
        inside = item.rect.inflate(-16, 0)
        colour = theme.ACCENT if item.on else theme.INK
        label = theme.write(surface, item.label, theme.BODY, colour, inside)
        inside.x, inside.width = label.right + 16, inside.right - label.right - 16
        if item.note and inside.width > 40:
            theme.write(surface, item.note, theme.SMALL, theme.QUIET, inside, "midright")


def draw_pulse(surface: pygame.Surface, card: pygame.Rect, seconds: float) -> None:
    """Draw the pulsing bar, which moves to and fro while a player thinks."""
    track = pygame.Rect(card.x + 12, card.bottom - 9, card.width - 24, 3)
    pygame.draw.rect(surface, theme.SUNK, track, border_radius=2)
    phase = abs(seconds % 2 - 1)
    bar = pygame.Rect(track.x, track.y, track.width // 4, track.height)
    bar.x += round(phase * (track.width - bar.width))
    pygame.draw.rect(surface, theme.ACCENT, bar, border_radius=2)
