"""The app: events go to the session, frames come from its view."""

import time
from dataclasses import replace

import pygame

from zermelo.core.cells import moves_by_cell
from zermelo.ui.session import Session, View
from zermelo.ui.window import choices, drawing, layout
from zermelo.ui.window.drawing import Pointing, Screen

FRAMES = 60  #: a second
_TENTH = 0.1  # seconds between looks at a clock that runs
_ARROWS = {
    pygame.K_LEFT: (0, -1),
    pygame.K_RIGHT: (0, 1),
    pygame.K_UP: (-1, 0),
    pygame.K_DOWN: (1, 0),
}
_ENTER = (pygame.K_RETURN, pygame.K_KP_ENTER, pygame.K_SPACE)
_KEYS = {
    pygame.K_u: "undo",
    pygame.K_r: "redo",
    pygame.K_n: "new",
    pygame.K_s: "swap",
    pygame.K_a: "analyse",
    pygame.K_g: "menu:game",
    pygame.K_1: "menu:first",
    pygame.K_2: "menu:second",
    pygame.K_q: "quit",
}


class App:
    """A session on a surface: the window's, or where there is none one of its own."""

    def __init__(
        self,
        session: Session,
        size: tuple[int, int] = layout.SIZE,
        window: pygame.Window | None = None,
    ) -> None:
        self.session, self.window = session, window
        self.running = True
        self.pointing = Pointing()
        self._changed = True  # set by any thread
        self._drawn: tuple[object, ...] = ()
        self._looked = 0.0
        self.surface = self._surface(size)
        self._base = pygame.Surface(self.surface.get_size())  # the last frame, without the pulse
        self.view: View = session.view()
        self._move_cells = moves_by_cell(self.view.position, self.view.legal)
        self.screen: Screen = self._arrange()
        session.on_change = self._change

    def _surface(self, size: tuple[int, int]) -> pygame.Surface:
        if self.window is not None:
            return self.window.get_surface()
        return pygame.Surface((max(1, size[0]), max(1, size[1])))

    def _change(self) -> None:
        self._changed = True

    def _arrange(self) -> Screen:
        return drawing.arrange(self.surface.get_size(), self.view, self._move_cells, self.pointing)

    def look(self) -> None:
        """Take in what the session has become."""
        now = time.monotonic()
        runs = self.view.thinking and now - self._looked > _TENTH
        if self._changed or runs:
            self._changed = False
            self._looked = now
            before, self.view = self.view, self.session.view()
            if before.game != self.view.game:
                self.pointing = replace(self.pointing, cursor=None)
            if before.ply != self.view.ply:
                self.pointing = replace(self.pointing, scroll=None)
            if before.position is not self.view.position or before.legal != self.view.legal:
                self._move_cells = moves_by_cell(self.view.position, self.view.legal)
            self.screen = self._arrange()

    def frame(self) -> bool:
        """Draw what has changed; whether anything had."""
        self.look()
        key = (self.view, self.pointing, self.surface.get_size())
        stale = key != self._drawn
        if not stale and not self.view.thinking:
            return False
        if stale:
            self._drawn = key
            if self._base.get_size() != self.surface.get_size():
                self._base = pygame.Surface(self.surface.get_size())
            drawing.draw(self._base, self.view, self.screen, self.pointing)
            if self.window is not None:
                self.window.title = title(self.view)
        self.surface.blit(self._base, (0, 0))
        if self.view.thinking and not self.screen.menu:
            drawing.draw_pulse(self.surface, self.screen.panel.card, time.monotonic())
        if self.window is not None:
            self.window.flip()
        return True

    # Input.

    def handle(self, event: pygame.Event) -> None:
        """One event; nothing that it says can be wrong."""
        self.look()
        if event.type in (pygame.QUIT, pygame.WINDOWCLOSE):
            self.running = False
        elif event.type == pygame.WINDOWSIZECHANGED:
            self.surface = self._surface((event.x, event.y))
        elif event.type == pygame.WINDOWEXPOSED:
            self._drawn = ()
        elif event.type == pygame.MOUSEMOTION:
            self._point(event.pos)
        elif event.type == pygame.WINDOWLEAVE:
            self._point((-1, -1))
        elif event.type == pygame.MOUSEBUTTONDOWN and event.button == pygame.BUTTON_LEFT:
            self._click(event.pos)
        elif event.type == pygame.MOUSEWHEEL:
            self._wheel(event.y)
        elif event.type == pygame.KEYDOWN:
            self._key(event.key)
        self.screen = self._arrange()

    def _point(self, point: tuple[int, int]) -> None:
        self.pointing = replace(self.pointing, point=point)

    def _click(self, point: tuple[int, int]) -> None:
        self._point(point)
        control = self.screen.control_at(point)
        if control:
            self._press(control.name)
        elif self.pointing.menu:
            self._close_menu()
        else:
            self._play_at(self.screen.layout.cell_at(point))

    def _play_at(self, cell: int | None) -> None:
        if cell in self.screen.move_cells.move_at:
            self.session.play(self.screen.move_cells.move_at[cell])

    def _wheel(self, steps: int) -> None:
        """Scrolls the open menu, else the move list."""
        if self.screen.menu:
            top = min(max(0, self.pointing.top - steps), self.screen.menu.most)
            self.pointing = replace(self.pointing, top=top)
        elif self.screen.panel.moves.collidepoint(self.pointing.point):
            self.pointing = replace(self.pointing, scroll=self.screen.panel.top - steps)

    def _key(self, key: int) -> None:
        if key == pygame.K_ESCAPE:
            self._escape()
        elif self.pointing.menu and (key in _ARROWS or key in _ENTER):
            self._key_in_menu(key)
        elif key in _ARROWS:
            self._move_cursor(*_ARROWS[key])
        elif key in _ENTER:
            self._enter()
        elif key in (pygame.K_PAGEUP, pygame.K_PAGEDOWN, pygame.K_HOME, pygame.K_END):
            self._step(key)
        elif key in _KEYS:
            self._press(_KEYS[key])

    def _escape(self) -> None:
        """Stops a think, else closes a menu."""
        if self.view.thinking:
            self.session.stop()
        else:
            self._close_menu()

    def _step(self, key: int) -> None:
        ply, last = self.view.ply, self.view.plies
        plies = {pygame.K_PAGEUP: ply - 1, pygame.K_PAGEDOWN: ply + 1, pygame.K_HOME: 0}
        self.session.step(min(last, max(0, plies.get(key, last))))

    def _move_cursor(self, down: int, right: int) -> None:
        grid = self.view.game.grid
        if grid is None:
            return
        now = self.pointing.cursor
        if now is None:
            cell = grid.index((grid.rows - 1) // 2, (grid.cols - 1) // 2)
        else:
            row, col = grid.row_col(now)
            cell = grid.index((row + down) % grid.rows, (col + right) % grid.cols)
        self.pointing = replace(self.pointing, cursor=cell)

    def _enter(self) -> None:
        """Plays at the cursor; a forced move that has no cell needs none."""
        found = self.screen.move_cells
        if not found.move_at and len(found.extra) == 1:
            self.session.play(found.extra[0])
        else:
            self._play_at(self.pointing.cursor)

    def _press(self, name: str) -> None:
        """What a control or a key stands for."""
        session = self.session
        kind, _, value = name.partition(":")
        plies, asked = self.view.plies, self.pointing.asked
        self.pointing = replace(self.pointing, asked=-1)
        if kind == "new" and plies not in (0, asked) and self.view.outcome is None:
            self.pointing = replace(self.pointing, asked=plies)  # one slip loses no game
        elif kind == "menu":
            self._open_menu("" if value == self.pointing.menu else value)
        elif kind == "pick":
            self._pick(int(value))
        elif kind == "move":
            session.play(value)
        elif kind == "ply":
            session.step(int(value))
        elif kind == "analyse":
            session.analyze(not self.view.watching)
        elif kind == "stop":
            (session.go if self.view.waiting else session.stop)()
        elif kind == "quit":
            self.running = False
        else:
            {
                "new": session.restart, "undo": session.undo, "redo": session.redo,
                "swap": session.swap,
            }[kind]()  # fmt: skip

    # Menus.

    def _open_menu(self, menu: str) -> None:
        self.pointing = replace(self.pointing, menu=menu, item=-1, top=0, asked=-1)

    def _close_menu(self) -> None:
        self._open_menu("")

    def _items(self) -> list[choices.Choice]:
        view = self.view
        return choices.choices(self.pointing.menu, view.game.spec, view.players)

    def _key_in_menu(self, key: int) -> None:
        items = self._items()
        if key in _ENTER:
            self._pick(self.pointing.item)
            return
        item = (max(self.pointing.item, 0 if key == pygame.K_UP else -1)) + _ARROWS[key][0]
        item %= len(items)
        shown = len(self.screen.menu.items) if self.screen.menu else 1
        top = min(max(self.pointing.top, item - shown + 1), item)
        self.pointing = replace(self.pointing, item=item, top=top)

    def _pick(self, item: int) -> None:
        """An item of the open menu, and the menu closes."""
        items, menu = self._items(), self.pointing.menu
        self._close_menu()
        if not 0 <= item < len(items):
            return
        value = items[item].value
        self.session.choose(**{menu.split()[0]: value})


def title(view: View) -> str:
    """What the window is called."""
    state = f"{view.turn} thinks" if view.thinking else view.verdict
    return f"{view.game.spec}: {state} - Zermelo"


def render(session: Session, size: tuple[int, int] = layout.SIZE) -> pygame.Surface:
    """A frame of a session as it stands, without a window."""
    app = App(session, size)
    app.frame()
    return app.surface


def run(session: Session) -> None:
    """Open the window and stay until it is closed."""
    pygame.display.init()
    pygame.font.init()
    pygame.key.set_repeat(350, 60)
    try:
        window = pygame.Window(title(session.view()), layout.SIZE, resizable=True)
        window.minimum_size = layout.LEAST
        app = App(session, window=window)
        clock = pygame.time.Clock()
        while app.running:
            for event in pygame.event.get():
                app.handle(event)
            app.frame()
            clock.tick(FRAMES)
    finally:
        pygame.display.quit()
