"""Drawing: a frame from what is shown and what is pointed at; the panel and the menus."""

from dataclasses import dataclass

import pygame

from zermelo.core.cells import MoveCells
from zermelo.core.phrases import word_for
from zermelo.core.player import Analysis
from zermelo.ui.session import View
from zermelo.ui.window import board, choices, layout, panel, theme
from zermelo.ui.window.layout import Layout
from zermelo.ui.window.panel import Control, Menu, Panel
from zermelo.ui.window.stones import stone

_SEATS = ("first", "second")
_HEADS = {"game": "Game", "first": "1st", "second": "2nd"}
_KEYS = "Keys: arrows, Enter, u~undo, r~redo, n~new, s~swap, a~analyse, Esc~stop, q~quit"
_HEAT = "Full cells are proven, small ones estimates. A~frame marks the best."
_MARK = 30


@dataclass(frozen=True)
class Pointing:
    """What the user points at; none of it is part of the game."""

    point: tuple[int, int] = (-1, -1)  #: the mouse
    cursor: int | None = None  #: a cell, by the arrow keys
    menu: str = ""  #: the one that is open
    item: int = -1  #: in it, by the arrow keys
    top: int = 0  #: the first item that is seen
    scroll: int | None = None  #: the first line of the move list, None to follow the game
    asked: int = -1  #: the ply at which New was pressed: there it must be pressed again


@dataclass(frozen=True)
class Screen:
    """Everything that can be seen or clicked, with its place."""

    layout: Layout
    panel: Panel
    menu: Menu | None
    move_cells: MoveCells
    moves: list[Control]  #: of a game without a board

    @property
    def controls(self) -> list[Control]:
        """What a click can reach: an open menu hides the rest."""
        return self.menu.items if self.menu else [*self.panel.controls, *self.moves]

    def control_at(self, point: tuple[int, int]) -> Control | None:
        """What is under a point and can be clicked."""
        found = (c for c in self.controls if c.enabled and c.rect.collidepoint(point))
        return next(found, None)


def arrange(size: tuple[int, int], view: View, found: MoveCells, pointing: Pointing) -> Screen:
    """Where everything is, for a window of this size."""
    places = layout.arrange(size, view.game.grid)
    side = panel.arrange(
        places.panel, view, found.extra, pointing.scroll, asked=pointing.asked == view.plies
    )
    menu = None
    if pointing.menu:
        items = choices.choices(pointing.menu, view.game.spec, view.players)
        name = pointing.menu.split()[0]
        now = view.game.spec if name == "game" else view.players[_SEATS.index(name)]
        openers = [c.rect for c in side.controls if c.name == f"menu:{pointing.menu}"]
        whole = pygame.Rect(0, 0, *map(max, zip(size, layout.LEAST, strict=True)))
        opener = openers[0] if openers else side.card
        menu = panel.open_menu(opener, whole, items, now, pointing.top)
    moves = [] if view.game.grid else _move_buttons(places.area, found.extra)
    return Screen(places, side, menu, found, moves)


def _move_buttons(area: pygame.Rect, moves: tuple[str, ...]) -> list[Control]:
    """The moves of a game without a board, in rows from the bottom of its area."""
    if not moves:
        return []
    wide = max(theme.width(move, theme.BODY) for move in moves) + 24
    many = max(1, area.width // (wide + 6))
    top = area.bottom - (len(moves) + many - 1) // many * 38
    return [
        Control(
            f"move:{move}",
            pygame.Rect(area.x + i % many * (wide + 6), top + i // many * 38, wide, 32),
            move,
        )
        for i, move in enumerate(moves)
    ]


def draw(surface: pygame.Surface, view: View, screen: Screen, pointing: Pointing) -> None:
    """A whole frame."""
    surface.fill(theme.GROUND)
    hover = None if screen.menu else screen.layout.cell_at(pointing.point)
    shown = view.analysis.candidates if view.analysis and view.watching else ()
    board.draw(
        surface, screen.layout, view.position, screen.move_cells, shown, hover, pointing.cursor
    )
    _draw_card(surface, screen.panel.card, view)
    _draw_heads(surface, screen.panel, view)
    under = None if screen.menu else screen.control_at(pointing.point)
    for control in (*screen.panel.controls, *screen.moves):
        _draw_control(surface, control, hover=control is under)
    _draw_list(surface, screen.panel, view)
    notice = view.message or (_HEAT if shown else _KEYS).replace("~", "\u00a0")
    for i, line in enumerate(theme.wrap(notice, theme.SMALL, screen.panel.notice.width, 2)):
        place = screen.panel.notice.move(0, i * 20)
        place.height = 20
        theme.write(surface, line, theme.SMALL, theme.QUIET, place)
    if screen.menu:
        _draw_menu(surface, screen.menu, pointing)


def _draw_card(surface: pygame.Surface, card: pygame.Rect, view: View) -> None:
    """Who moves or who won, who thinks, and what is thought."""
    pygame.draw.rect(surface, theme.SURFACE, card, border_radius=10)
    pygame.draw.rect(surface, theme.LINE, card, 1, border_radius=10)
    mover = (view.position.player + view.plies - view.ply) % 2  # where the game stands
    side = view.outcome.winner if view.outcome else mover
    inside = card.inflate(-24, -16)
    head = pygame.Rect(inside.x, inside.y, inside.width, 36)
    if side is not None:
        surface.blit(stone(view.game, side, _MARK), (head.x - 2, head.y + 3))
        head = pygame.Rect(head.x + 36, head.y, head.width - 36, 36)
    verdict = f"{view.verdict[:1].upper()}{view.verdict[1:]}"
    if theme.width(verdict, theme.TITLE) <= head.width:
        theme.write(surface, verdict, theme.TITLE, theme.INK, head)
    else:
        for i, line in enumerate(theme.wrap(verdict, theme.BODY, head.width, 2)):
            place = pygame.Rect(head.x, head.y + i * 18, head.width, 18)
            theme.write(surface, line, theme.BODY, theme.INK, place)
    for i, line in enumerate((status(view), thought(view))):
        place = pygame.Rect(inside.x, inside.y + 39 + i * 21, inside.width, 20)
        theme.write(surface, line, theme.SMALL, theme.QUIET, place)


def status(view: View) -> str:
    """Whose turn it is and what goes on, in a line."""
    if view.ply != view.plies:
        return f"Shown: after move {view.ply} of {view.plies}"
    if view.thinking:
        return f"{view.turn} thinks: {view.seconds:.1f} s"
    if view.waiting:
        return f"{view.turn} waits: press Go"
    if view.turn == "you":
        return "Your turn"
    return f"Over after {view.plies} move{'' if view.plies == 1 else 's'}"


def thought(view: View) -> str:
    """The analysis in a line, and how sure it is."""
    if not view.watching or view.position.is_over:
        return ""
    found = view.analysis
    if found is None:
        return "Analysis begins"
    return f"{_words(view, found)} ({_certainty(found)})"


def _words(view: View, found: Analysis) -> str:
    mover = view.position.player
    names = view.game.symbols[mover], view.game.symbols[1 - mover]
    word = word_for(found.value, found.estimate, names)
    if found.diff:
        return f"{word} by {abs(found.diff)}"
    if found.value is None:
        return f"{names[0]} {word}"
    return f"{word} in {found.plies}" if found.plies and found.value != "draw" else word


def _certainty(found: Analysis) -> str:
    if found.exact:
        return "proven"
    return f"estimate, {found.depth} plies" if found.depth else "estimate"


def _draw_heads(surface: pygame.Surface, side: Panel, view: View) -> None:
    """What each menu chooses, before it."""
    for control in side.controls:
        name = control.name.removeprefix("menu:")
        if name not in ("game", *_SEATS):
            continue
        place = pygame.Rect(side.card.x, control.rect.y, control.rect.x - side.card.x - 4, 32)
        if name in _SEATS:
            mark = stone(view.game, _SEATS.index(name), 22)
            surface.blit(mark, mark.get_rect(midleft=place.midleft))
            place = pygame.Rect(place.x + 27, place.y, place.width - 27, place.height)
        theme.write(surface, _HEADS[name], theme.SMALL, theme.QUIET, place)


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


def _draw_list(surface: pygame.Surface, side: Panel, view: View) -> None:
    """The numbers before the moves, and what the list is."""
    head = pygame.Rect(side.card.x, side.moves.y - 32, 130, 26)
    theme.write(surface, "Moves", theme.BODY, theme.INK, head)
    lines = side.moves.height // panel.LINE
    for i in range(min(lines, (view.plies + 1) // 2 - side.top)):
        place = pygame.Rect(side.moves.x, side.moves.y + i * panel.LINE, 32, panel.LINE)
        theme.write(surface, f"{side.top + i + 1}.", theme.SMALL, theme.QUIET, place, "midright")


def _draw_menu(surface: pygame.Surface, menu: Menu, pointing: Pointing) -> None:
    shadow = pygame.Surface(menu.rect.size, pygame.SRCALPHA)
    pygame.draw.rect(shadow, (0, 0, 0, 28), shadow.get_rect(), border_radius=8)
    surface.blit(shadow, menu.rect.move(2, 4))
    pygame.draw.rect(surface, theme.SURFACE, menu.rect, border_radius=8)
    pygame.draw.rect(surface, theme.EDGE, menu.rect, 1, border_radius=8)
    for item in menu.items:
        if item.name == f"pick:{pointing.item}" or item.rect.collidepoint(pointing.point):
            pygame.draw.rect(surface, theme.SUNK, item.rect, border_radius=5)
        inside = item.rect.inflate(-16, 0)
        colour = theme.ACCENT if item.on else theme.INK
        label = theme.write(surface, item.label, theme.BODY, colour, inside)
        inside.x, inside.width = label.right + 16, inside.right - label.right - 16
        if item.note and inside.width > 40:
            theme.write(surface, item.note, theme.SMALL, theme.QUIET, inside, "midright")


def draw_pulse(surface: pygame.Surface, card: pygame.Rect, seconds: float) -> None:
    """A bar that wanders while a player thinks: the sign that the window lives."""
    track = pygame.Rect(card.x + 12, card.bottom - 9, card.width - 24, 3)
    pygame.draw.rect(surface, theme.SUNK, track, border_radius=2)
    along = abs(seconds % 2 - 1)
    part = pygame.Rect(track.x, track.y, track.width // 4, track.height)
    part.x += round(along * (track.width - part.width))
    pygame.draw.rect(surface, theme.ACCENT, part, border_radius=2)
