"""The application, which passes input to the session and draws its view."""

import time
from dataclasses import replace

import pygame

from zermelo.core.cells import moves_by_cell
from zermelo.ui.session import Session, View
from zermelo.ui.window import drawing, layout
from zermelo.ui.window.drawing import CHOICE, InputState, Screen
from zermelo.ui.window.menu_items import MenuItem

FRAMES_PER_SECOND = 60
_CLOCK_INTERVAL = 0.1  # seconds between two updates of a running clock
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
    """Shows a session in a window or, if `window` is None, on an off-screen surface."""

    def __init__(
        self,
        session: Session,
        size: tuple[int, int] = layout.SIZE,
        window: pygame.Window | None = None,
    ) -> None:
        self.session, self.window = session, window
        self.running = True
        self.input = InputState()
        self._is_stale = True  # set by any thread
        self._frame_key: tuple[object, ...] = ()
        self._last_update = 0.0
        self.surface = self._create_surface(size)
        # The last frame that was drawn, but without the pulsing bar.
        self._frame = pygame.Surface(self.surface.get_size())
        self.view: View = session.view()
        self._move_cells = moves_by_cell(self.view.position, self.view.legal)
        self.screen: Screen = self._arrange()
        session.on_change = self._mark_stale

    def _create_surface(self, size: tuple[int, int]) -> pygame.Surface:
        if self.window is not None:
            return self.window.get_surface()
        return pygame.Surface((max(1, size[0]), max(1, size[1])))

    def _mark_stale(self) -> None:
        self._is_stale = True

    def _arrange(self) -> Screen:
        return drawing.arrange(self.surface.get_size(), self.view, self._move_cells, self.input)

    def update(self) -> None:
        """Fetch the current view of the session if it has changed."""
        now = time.monotonic()
        is_clock_due = self.view.thinking and now - self._last_update > _CLOCK_INTERVAL
        if self._is_stale or is_clock_due:
            self._is_stale = False
            self._last_update = now
            before, self.view = self.view, self.session.view()
            if before.game != self.view.game:
                self.input = replace(self.input, cursor=None)
            if before.ply != self.view.ply:
                self.input = replace(self.input, scroll=None)
            if before.position is not self.view.position or before.legal != self.view.legal:
                self._move_cells = moves_by_cell(self.view.position, self.view.legal)
                self.input = replace(self.input, selected=None)
                if self.input.menu == CHOICE:
                    self._close_menu()
            self.screen = self._arrange()

    def draw(self) -> bool:
        """Draw a frame if anything has changed; return whether one was drawn."""
        self.update()
        key = (self.view, self.input, self.surface.get_size())
        has_changed = key != self._frame_key
        if not has_changed and not self.view.thinking:
            return False
        if has_changed:
            self._frame_key = key
            if self._frame.get_size() != self.surface.get_size():
                self._frame = pygame.Surface(self.surface.get_size())
            drawing.draw_frame(self._frame, self.view, self.screen, self.input)
            if self.window is not None:
                self.window.title = title(self.view)
        self.surface.blit(self._frame, (0, 0))
        if self.view.thinking and not self.screen.menu:
            drawing.draw_pulse(self.surface, self.screen.panel.card, time.monotonic())
        if self.window is not None:
            self.window.flip()
        return True

    # Input.

    def handle(self, event: pygame.Event) -> None:
        """Handle one event of mouse, keyboard or window."""
        self.update()
        if event.type in (pygame.QUIT, pygame.WINDOWCLOSE):
            self.running = False
        elif event.type == pygame.WINDOWSIZECHANGED:
            self.surface = self._create_surface((event.x, event.y))
        elif event.type == pygame.WINDOWEXPOSED:
            self._frame_key = ()
        elif event.type == pygame.MOUSEMOTION:
            self._move_mouse(event.pos)
        elif event.type == pygame.WINDOWLEAVE:
            self._move_mouse((-1, -1))
        elif event.type == pygame.MOUSEBUTTONDOWN and event.button == pygame.BUTTON_LEFT:
            self._click(event.pos)
        elif event.type == pygame.MOUSEWHEEL:
            self._scroll(event.y)
        elif event.type == pygame.KEYDOWN:
            self._press_key(event.key)
        self.screen = self._arrange()

    def _move_mouse(self, point: tuple[int, int]) -> None:
        self.input = replace(self.input, mouse=point)

    def _click(self, point: tuple[int, int]) -> None:
        self._move_mouse(point)
        control = self.screen.control_at(point)
        if control:
            self._activate(control.name)
        elif self.input.menu:
            self._close_menu()
        else:
            self._play_at(self.screen.layout.cell_at(point))

    def _play_at(self, cell: int | None) -> None:
        """Play the move at a cell, or select a piece; offer a choice if there are several moves."""
        click = self.screen.move_cells.click(cell, self.input.selected)
        self.input = replace(self.input, selected=click.selected)
        if len(click.moves) == 1:
            self.session.play(click.moves[0])
        elif click.moves:
            self.input = replace(self.input, choices=click.moves, choice_cell=cell)
            self._open_menu(CHOICE)

    def _scroll(self, steps: int) -> None:
        """Scroll the open menu or, if the mouse is over it, the move list."""
        if self.screen.menu:
            top = min(max(0, self.input.top - steps), self.screen.menu.max_top)
            self.input = replace(self.input, top=top)
        elif self.screen.panel.moves.collidepoint(self.input.mouse):
            self.input = replace(self.input, scroll=self.screen.panel.top - steps)

    def _press_key(self, key: int) -> None:
        if key == pygame.K_ESCAPE:
            self._escape()
        elif self.input.menu and (key in _ARROWS or key in _ENTER):
            self._press_menu_key(key)
        elif key in _ARROWS:
            self._move_cursor(*_ARROWS[key])
        elif key in _ENTER:
            self._play_at_cursor()
        elif key in (pygame.K_PAGEUP, pygame.K_PAGEDOWN, pygame.K_HOME, pygame.K_END):
            self._step(key)
        elif key in _KEYS:
            self._activate(_KEYS[key])

    def _escape(self) -> None:
        """Make the thinking player move now or, if none thinks, close the menu and deselect."""
        if self.view.thinking:
            self.session.stop()
        else:
            self._close_menu()
            self.input = replace(self.input, selected=None)

    def _step(self, key: int) -> None:
        ply, last = self.view.ply, self.view.num_plies
        plies = {pygame.K_PAGEUP: ply - 1, pygame.K_PAGEDOWN: ply + 1, pygame.K_HOME: 0}
        self.session.show_ply(min(last, max(0, plies.get(key, last))))

    def _move_cursor(self, down: int, right: int) -> None:
        """Move the cursor, wrapping at the edges; the first key press shows it in the centre."""
        grid = self.view.game.grid
        if grid is None:
            return
        cursor = self.input.cursor
        if cursor is None:
            cell = grid.index((grid.rows - 1) // 2, (grid.cols - 1) // 2)
        else:
            row, col = grid.row_col(cursor)
            cell = grid.index((row + down) % grid.rows, (col + right) % grid.cols)
        self.input = replace(self.input, cursor=cell)

    def _play_at_cursor(self) -> None:
        """Play the move at the cursor; if the only legal move has no cell, play that instead."""
        move_cells = self.screen.move_cells
        has_cells = move_cells.move_at or move_cells.targets
        if not has_cells and len(move_cells.extra) == 1:
            self.session.play(move_cells.extra[0])
        else:
            self._play_at(self.input.cursor)

    def _activate(self, name: str) -> None:
        """Perform the action with this name, which belongs to a control or a key."""
        session = self.session
        kind, _, value = name.partition(":")
        ply, new_pressed_at = self.view.num_plies, self.input.new_pressed_at
        self.input = replace(self.input, new_pressed_at=-1)
        if kind == "new" and ply not in (0, new_pressed_at) and self.view.outcome is None:
            # One accidental press must not end a game.
            self.input = replace(self.input, new_pressed_at=ply)
        elif kind == "menu":
            self._open_menu("" if value == self.input.menu else value)
        elif kind == "pick":
            self._pick_item(int(value))
        elif kind == "move":
            session.play(value)
        elif kind == "ply":
            session.show_ply(int(value))
        elif kind == "analyse":
            session.set_analysis(not self.view.analyzing)
        elif kind == "stop":
            (session.resume if self.view.paused else session.stop)()
        elif kind == "quit":
            self.running = False
        else:
            {
                "new": session.restart, "undo": session.undo, "redo": session.redo,
                "swap": session.swap,
            }[kind]()  # fmt: skip

    # Menus.

    def _open_menu(self, menu: str) -> None:
        self.input = replace(self.input, menu=menu, item=-1, top=0, new_pressed_at=-1)

    def _close_menu(self) -> None:
        self._open_menu("")

    def _items(self) -> list[MenuItem]:
        return drawing.list_menu_items(self.view, self.input)

    def _press_menu_key(self, key: int) -> None:
        items = self._items()
        if key in _ENTER:
            self._pick_item(self.input.item)
            return
        item = (max(self.input.item, 0 if key == pygame.K_UP else -1)) + _ARROWS[key][0]
        item %= len(items)
        num_visible = len(self.screen.menu.items) if self.screen.menu else 1
        top = min(max(self.input.top, item - num_visible + 1), item)
        self.input = replace(self.input, item=item, top=top)

    def _pick_item(self, item: int) -> None:
        """Choose an item of the open menu and close the menu."""
        items, menu = self._items(), self.input.menu
        self._close_menu()
        if menu == CHOICE and 0 <= item < len(items):
            self.session.play(items[item].value)
        elif 0 <= item < len(items):
            self.session.set_up(**{menu.split()[0]: items[item].value})


def title(view: View) -> str:
    """Return the title of the window."""
    state = f"{view.turn} is thinking" if view.thinking else view.verdict
    return f"{view.game.spec}: {state} - Zermelo"


def render(session: Session, size: tuple[int, int] = layout.SIZE) -> pygame.Surface:
    """Return a frame of the current state of a session, without opening a window."""
    app = App(session, size)
    app.draw()
    return app.surface


def run(session: Session) -> None:
    """Open the window and return when it is closed."""
    pygame.display.init()
    pygame.font.init()
    pygame.key.set_repeat(350, 60)
    try:
        window = pygame.Window(title(session.view()), layout.SIZE, resizable=True)
        window.minimum_size = layout.MIN_SIZE
        app = App(session, window=window)
        clock = pygame.time.Clock()
        while app.running:
            for event in pygame.event.get():
                app.handle(event)
            app.draw()
            clock.tick(FRAMES_PER_SECOND)
    finally:
        pygame.display.quit()
