"""The board: cells as large as the terminal allows, a cursor that keys and the mouse move."""

from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Region, Size
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from zermelo.core.cells import MoveCells, moves_by_cell
from zermelo.core.game import Game
from zermelo.ui.session import View

_CELLS = ((7, 3), (5, 2), (4, 1), (3, 1))  # columns and lines of a cell, the largest that fits


class Board(Widget, can_focus=True):
    """A position, and the cursor: a cell, or after the cells a move that belongs to none."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {
        f"board--{name}"
        for name in ("label", "even", "odd", "free", "first", "second", "line", "last", "cursor")
    }
    DEFAULT_CSS = """
    Board { width: auto; height: auto; }
    Board > .board--label { color: $foreground; text-style: dim; }
    Board > .board--even { background: $surface; }
    Board > .board--odd { background: $panel; }
    Board > .board--free { color: $foreground; text-style: dim; }
    Board > .board--first { color: $text-primary; text-style: bold; }
    Board > .board--second { color: $text-warning; text-style: bold; }
    Board > .board--line { background: $success-muted; text-style: bold; }
    Board > .board--last { text-style: bold; }
    Board > .board--cursor { text-style: reverse; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "go(-1, 0)", show=False),
        Binding("down,j", "go(1, 0)", show=False),
        Binding("left,h", "go(0, -1)", show=False),
        Binding("right,l", "go(0, 1)", show=False),
        Binding("enter,space", "choose", show=False),
    ]

    class Chosen(Message):
        """The human wants this move."""

        def __init__(self, move: str) -> None:
            super().__init__()
            self.move = move

    class Pointed(Message):
        """The cursor stands elsewhere."""

    def __init__(self, view: View) -> None:
        super().__init__()
        self.cursor = 0
        self._game: Game | None = None
        self._room = Size(0, 0)
        self._cell = _CELLS[-1]
        self._styles: dict[str, Style] = {}
        self.show(view)

    def show(self, view: View) -> None:
        """Draw this view."""
        is_fresh, self._game = view.game != self._game, view.game
        self.view = view
        position = view.position
        self.move_cells: MoveCells = moves_by_cell(position, view.legal)
        self._stones = position.board or ()
        self._line, self._forbidden = set(position.winning_line or ()), set(position.forbidden)
        self._last = position.last_cell
        grid = view.game.grid if view.position.board is not None else None
        self.rows, self.cols = (grid.rows, grid.cols) if grid else (0, 0)
        self.picture = [] if grid else view.game.draw(view.position.state).splitlines()
        if is_fresh:
            self.cursor = self.rows // 2 * self.cols + self.cols // 2
            self.fit(self._room)
        last = self.size_in_cells + len(self.move_cells.extra) - 1
        self.cursor = max(0, min(self.cursor, last))
        height = self.get_content_height(self.size, self.size, 0)
        self.refresh(layout=height != self.size.height)

    def fit(self, room: Size) -> None:
        """Cells as large as this room allows."""
        self._room = room
        width, height = room.width - self._margin, room.height - 3
        fitting = (c for c in _CELLS if c[0] * self.cols <= width and c[1] * self.rows <= height)
        self._cell = next(fitting, _CELLS[-1])
        self.refresh(layout=True)

    @property
    def size_in_cells(self) -> int:
        """How many cells there are; 0 for a game without a board."""
        return self.rows * self.cols

    @property
    def _margin(self) -> int:
        return len(str(self.rows)) + 1 if self.rows else 0

    @property
    def _top(self) -> int:
        """The first line under the board."""
        return 1 + self.rows * self._cell[1] if self.rows else len(self.picture)

    def get_content_width(self, container: Size, viewport: Size) -> int:
        """As wide as the cells, or what stands below them."""
        del container, viewport
        widths = [self._margin + self.cols * self._cell[0], *map(len, self.picture)]
        return max(widths + [len(move) + 4 for move in self.move_cells.extra])

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """Lines of the board, and one for every other move."""
        del container, viewport, width
        extra = len(self.move_cells.extra)
        return self._top + (extra + 1 if extra else 0)

    # The cursor.

    def region_of(self, spot: int) -> Region:
        """Where a cell or another move is drawn."""
        width, height = self._cell
        if spot >= self.size_in_cells:
            return Region(0, self._top + 1 + spot - self.size_in_cells, width, 1)
        row, col = divmod(spot, self.cols)
        return Region(self._margin + col * width, 1 + row * height, width, height)

    def spot_at(self, x: int, y: int) -> int | None:
        """The cell or other move under a point."""
        extra = y - self._top - 1
        if extra >= 0:
            return self.size_in_cells + extra if extra < len(self.move_cells.extra) else None
        col, row = (x - self._margin) // self._cell[0], (y - 1) // self._cell[1]
        is_cell = x >= self._margin and y >= 1 and col < self.cols and row < self.rows
        return row * self.cols + col if is_cell else None

    def action_go(self, down: int, right: int) -> None:
        """Move the cursor."""
        size, extra = self.size_in_cells, len(self.move_cells.extra)
        if self.cursor >= size:
            spot = self.cursor + down + right
            spot = max(spot, size - self.cols // 2 - 1 if size else 0)  # back onto the board
            spot = min(spot, size + extra - 1)
        else:
            row, col = divmod(self.cursor, self.cols)
            row, col = max(0, row + down), max(0, min(col + right, self.cols - 1))
            spot = min(row, self.rows - 1) * self.cols + col
            spot = size if row == self.rows and extra else spot
        self._point(max(0, spot))
        if isinstance(self.parent, Widget):
            here = self.region_of(self.cursor).translate(self.virtual_region.offset)
            self.parent.scroll_to_region(here, animate=False)

    def _point(self, spot: int) -> None:
        if spot != self.cursor:
            before = self._lit
            self.cursor = spot
            self.refresh(*map(self.region_of, before | self._lit))
            self.post_message(self.Pointed())

    @property
    def here(self) -> str:
        """The move under the cursor: on a large board its letters may be out of sight."""
        return self._text(self.cursor)

    @property
    def _lit(self) -> set[int]:
        """What the cursor changes: where it stands, and where a stone would land."""
        lands = self.move_cells.landing.get(self.move_cells.move_at.get(self.cursor, ""))
        return {self.cursor} if lands is None else {self.cursor, lands}

    def action_choose(self) -> None:
        """Play what the cursor stands on; a forced pass from anywhere."""
        legal, extra = self.view.legal, self.move_cells.extra
        is_forced = len(legal) == 1 and legal[0] in extra
        self.post_message(self.Chosen(legal[0] if is_forced else self._text(self.cursor)))

    def _text(self, spot: int) -> str:
        """What a person would type there: what is wrong with it, the match says."""
        if spot >= self.size_in_cells:
            return next(iter(self.move_cells.extra[spot - self.size_in_cells :]), "")
        if spot in self.move_cells.move_at:
            return self.move_cells.move_at[spot]
        game = self.view.game
        by_cell = game.num_actions >= self.size_in_cells
        return game.to_text(spot) if by_cell else game.column_labels[spot % self.cols]

    def on_mouse_move(self, event: events.MouseMove) -> None:
        """The cursor follows the mouse."""
        spot = self.spot_at(event.x, event.y)
        if spot is not None:
            self._point(spot)

    def on_click(self, event: events.Click) -> None:
        """A click plays."""
        spot = self.spot_at(event.x, event.y)
        if spot is not None:
            self._point(spot)
            self.action_choose()

    # Drawing.

    def notify_style_update(self) -> None:
        """Colours have changed."""
        super().notify_style_update()
        self._styles = {}

    def _style(self, name: str) -> Style:
        if name not in self._styles:
            self._styles[name] = self.get_component_rich_style(f"board--{name}", partial=True)
        return self._styles[name]

    def render_line(self, y: int) -> Strip:
        """A line of the board, of its letters, or another move below it."""
        if self.rows and y < self._top:
            return Strip(self._draw_line(y))
        if y < self._top:
            return Strip([Segment(self.picture[y], self.rich_style)])
        extra = y - self._top - 1
        if not 0 <= extra < len(self.move_cells.extra):
            return Strip.blank(self.size.width, self.rich_style)
        here = self.cursor == self.size_in_cells + extra
        style = self.rich_style + self._style("cursor" if here else "first")
        return Strip([Segment(f"[ {self.move_cells.extra[extra]} ]", style)])

    def _draw_line(self, y: int) -> list[Segment]:
        width, height = self._cell
        if y == 0:
            labels = "".join(f"{label:^{width}}" for label in self.view.game.column_labels)
            return [Segment(" " * self._margin + labels, self.rich_style + self._style("label"))]
        row, line = divmod(y - 1, height)
        is_middle = line == (height - 1) // 2
        label = str(row + 1) if is_middle else ""
        style = self.rich_style + self._style("label")
        drawn = [Segment(f"{label:>{self._margin - 1}} ", style)]
        for col in range(self.cols):
            shown, style = self._draw_cell(row * self.cols + col)
            drawn.append(Segment(f"{shown if is_middle else '':^{width}}", style))
        return drawn

    def _draw_cell(self, cell: int) -> tuple[str, Style]:
        """What a cell shows, and how: colour never says what brackets do not."""
        position, found = self.view.position, self.move_cells
        stone = self._stones[cell]
        row, col = divmod(cell, self.cols)
        style = self._style("odd" if (row + col) % 2 else "even")
        if stone:
            shown = position.game.symbols[stone < 0]
            style += self._style("second" if stone < 0 else "first")
            if cell in self._line:
                shown, style = f"[{shown}]", style + self._style("line")
            elif cell == self._last:
                shown, style = f"({shown})", style + self._style("last")
        else:
            chosen = found.move_at.get(self.cursor, "")
            is_ghost = found.landing.get(chosen) == cell
            shown = position.game.symbols[position.player] if is_ghost else self._mark(cell)
            style += self._style("free")
        return shown, style + self._style("cursor") if cell == self.cursor else style

    def _mark(self, cell: int) -> str:
        """An empty cell: where only some are legal they have a sign, as have forbidden points."""
        move = self.move_cells.move_at.get(cell)
        if move is not None and move in self._forbidden:
            return "!"
        some = len(self.move_cells.move_at) < self._stones.count(0)
        return "+" if move is not None and some else "."
