"""The board widget, with cells as large as the terminal allows and a cursor."""

from collections.abc import Collection
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

_MAX_LIST = 8  # moves without a cell that are listed below each other; more are in columns
_CELL_SIZES = ((7, 3), (5, 2), (4, 1), (3, 1))  # columns and lines; the largest that fits is used


class Board(Widget, can_focus=True):
    """A position with a cursor.

    A spot is where the cursor can be: a cell or, below the board, a move without a cell. Spots are
    numbered, cells first. In a game whose pieces move, the first choice selects a piece, and the
    second one moves it.
    """

    COMPONENT_CLASSES: ClassVar[set[str]] = {
        f"board--{name}"
        for name in (
            *("label", "even", "odd", "free", "first", "second", "line", "last", "cursor"),
            *("piece", "selected", "target"),
        )
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
    Board > .board--piece { text-style: bold underline; }
    Board > .board--selected { background: $primary-muted; text-style: bold; }
    Board > .board--target { background: $primary-muted; }
    Board > .board--cursor { text-style: reverse; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "move_cursor(-1, 0)", show=False),
        Binding("down,j", "move_cursor(1, 0)", show=False),
        Binding("left,h", "move_cursor(0, -1)", show=False),
        Binding("right,l", "move_cursor(0, 1)", show=False),
        Binding("enter,space", "choose_move", show=False),
    ]

    class MoveChosen(Message):
        """Posted when the human chooses a move, which may be illegal.

        There are several moves if they have the same cells, as when a piece is promoted.
        """

        def __init__(self, *moves: str) -> None:
            super().__init__()
            self.moves = moves

    class CursorMoved(Message):
        """Posted when the cursor has moved to another spot."""

    def __init__(self, view: View) -> None:
        super().__init__()
        self.cursor = 0
        self.selected: int | None = None  #: the cell of the piece that is selected to move
        self._has_pieces = False  # whether pieces move in this game
        self.view = view
        self._game: Game | None = None
        self._room = Size(0, 0)
        self._cell_size = _CELL_SIZES[-1]
        self._styles: dict[str, Style] = {}
        self.show(view)

    def show(self, view: View) -> None:
        """Show the position of this view on the board."""
        is_new_game, self._game = view.game != self._game, view.game
        position = view.position
        if position is not self.view.position or view.legal != self.view.legal:
            self.selected = None
        self.view = view
        self.move_cells: MoveCells = moves_by_cell(position, view.legal)
        self._has_pieces = bool(self.move_cells.sources) or (self._has_pieces and not is_new_game)
        self._stones = position.board or ()
        self._line, self._forbidden = set(position.winning_line or ()), set(position.forbidden)
        self._last = position.last_cells
        grid = view.game.grid if position.board is not None else None
        self.rows, self.cols = (grid.rows, grid.cols) if grid else (0, 0)
        self._drawing = [] if grid else view.game.draw(position.state).splitlines()
        if is_new_game:
            self.cursor = self.rows // 2 * self.cols + self.cols // 2
            self.fit(self._room)
        last = self.num_cells + len(self.move_cells.extra) - 1
        self.cursor = max(0, min(self.cursor, last))
        height = self.get_content_height(self.size, self.size, 0)
        self.refresh(layout=height != self.size.height)

    def fit(self, room: Size) -> None:
        """Choose the largest cell size with which the board fits into `room`."""
        self._room = room
        width, height = room.width - self._margin, room.height - 3
        fitting = (
            s for s in _CELL_SIZES if s[0] * self.cols <= width and s[1] * self.rows <= height
        )
        self._cell_size = next(fitting, _CELL_SIZES[-1])
        self.refresh(layout=True)

    @property
    def num_cells(self) -> int:
        """The number of cells; 0 for a game without a board."""
        return self.rows * self.cols

    @property
    def _margin(self) -> int:
        """The width of the row labels."""
        return len(str(self.rows)) + 1 if self.rows else 0

    @property
    def _bottom(self) -> int:
        """The number of the first line below the board."""
        return 1 + self.rows * self._cell_size[1] if self.rows else len(self._drawing)

    def get_content_width(self, container: Size, viewport: Size) -> int:
        """Return the width of the board or of the moves below it, whichever is larger."""
        del container, viewport
        widths = [self._margin + self.cols * self._cell_size[0], *map(len, self._drawing)]
        return max(widths + [self._extra_width * self._extra_cols] * bool(self.move_cells.extra))

    @property
    def _extra_width(self) -> int:
        """The width of the moves without a cell, which stand below the board."""
        widths = (len(move) + 4 for move in self.move_cells.extra)
        return max(widths, default=4) + (len(self.move_cells.extra) > _MAX_LIST)

    @property
    def _extra_cols(self) -> int:
        """The number of moves without a cell in a line: one, unless there are many."""
        num = len(self.move_cells.extra)
        fitting = max(1, self._room.width // self._extra_width)
        return 1 if num <= _MAX_LIST else min(fitting, -(-num // 2))

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """Return the total number of lines of the board and the moves below it."""
        del container, viewport, width
        num_lines = -(-len(self.move_cells.extra) // self._extra_cols)
        return self._bottom + (num_lines + 1 if num_lines else 0)

    # The cursor.

    def region_of(self, spot: int) -> Region:
        """Return the region in which a spot is drawn."""
        width, height = self._cell_size
        if spot >= self.num_cells:
            row, col = divmod(spot - self.num_cells, self._extra_cols)
            return Region(col * self._extra_width, self._bottom + 1 + row, self._extra_width, 1)
        row, col = divmod(spot, self.cols)
        return Region(self._margin + col * width, 1 + row * height, width, height)

    def spot_at(self, x: int, y: int) -> int | None:
        """Return the spot at a point, or None if there is none."""
        line, col = y - self._bottom - 1, x // self._extra_width
        if line >= 0:
            extra = line * self._extra_cols + col
            is_move = col < self._extra_cols and extra < len(self.move_cells.extra)
            return self.num_cells + extra if is_move else None
        col, row = (x - self._margin) // self._cell_size[0], (y - 1) // self._cell_size[1]
        is_cell = x >= self._margin and y >= 1 and col < self.cols and row < self.rows
        return row * self.cols + col if is_cell else None

    def action_move_cursor(self, down: int, right: int) -> None:
        """Move the cursor by some rows and columns, and scroll to it."""
        size, extra = self.num_cells, len(self.move_cells.extra)
        if self.cursor >= size:
            spot = self.cursor + down * self._extra_cols + right
            spot = max(spot, size - self.cols // 2 - 1 if size else 0)  # to the bottom row of cells
            spot = min(spot, size + extra - 1)
        else:
            row, col = divmod(self.cursor, self.cols)
            row, col = max(0, row + down), max(0, min(col + right, self.cols - 1))
            spot = min(row, self.rows - 1) * self.cols + col
            spot = size if row == self.rows and extra else spot
        self._set_cursor(max(0, spot))
        if isinstance(self.parent, Widget):
            region = self.region_of(self.cursor).translate(self.virtual_region.offset)
            self.parent.scroll_to_region(region, animate=False)

    def _set_cursor(self, spot: int) -> None:
        if spot != self.cursor:
            before = self._highlighted
            self.cursor = spot
            self.refresh(*map(self.region_of, before | self._highlighted))
            self.post_message(self.CursorMoved())

    @property
    def move_at_cursor(self) -> str:
        """The move at the cursor."""
        return self._move_at(self.cursor)

    @property
    def _highlighted(self) -> set[int]:
        """The spots that the cursor marks: its own, and the cell where a stone would land."""
        return {self.cursor, *self._landing_cells}

    @property
    def _landing_cells(self) -> set[int]:
        """The cell where the move at the cursor would put a stone or piece."""
        moves = self.move_cells.click(self.cursor, self.selected).moves
        return {self.move_cells.landing[move] for move in moves}

    def action_choose_move(self) -> None:
        """Choose the move at the cursor, or select the piece there.

        A forced pass is chosen wherever the cursor is.
        """
        legal, extra = self.view.legal, self.move_cells.extra
        is_forced = len(legal) == 1 and legal[0] in extra
        if legal and self._has_pieces and self.cursor < self.num_cells and not is_forced:
            click = self.move_cells.click(self.cursor, self.selected)
            self.select(click.selected)
            if click.moves:
                self.post_message(self.MoveChosen(*click.moves))
        else:
            self.post_message(self.MoveChosen(legal[0] if is_forced else self.move_at_cursor))

    def select(self, cell: int | None) -> None:
        """Select the piece on a cell; None deselects."""
        if cell != self.selected:
            self.selected = cell
            self.refresh()
            self.post_message(self.CursorMoved())

    @property
    def selected_name(self) -> str:
        """The name of the selected cell, or ""."""
        grid = self.view.game.grid
        return "" if self.selected is None or grid is None else grid.text(self.selected)

    def _move_at(self, spot: int) -> str:
        """Return the move that belongs to a spot, even if it is illegal."""
        if spot >= self.num_cells:
            return next(iter(self.move_cells.extra[spot - self.num_cells :]), "")
        if spot in self.move_cells.move_at:
            return self.move_cells.move_at[spot]
        game = self.view.game
        if self._has_pieces and game.grid:
            return game.grid.text(spot)
        has_cell_moves = game.num_actions >= self.num_cells
        return (
            game.to_text(self.view.position.state, spot)
            if has_cell_moves
            else game.column_labels[spot % self.cols]
        )

    def on_mouse_move(self, event: events.MouseMove) -> None:
        """Move the cursor to the mouse."""
        spot = self.spot_at(event.x, event.y)
        if spot is not None:
            self._set_cursor(spot)

    def on_click(self, event: events.Click) -> None:
        """Choose the move that was clicked."""
        spot = self.spot_at(event.x, event.y)
        if spot is not None:
            self._set_cursor(spot)
            self.action_choose_move()

    # Drawing.

    def notify_style_update(self) -> None:
        """Drop the cached styles when the colours change."""
        super().notify_style_update()
        self._styles = {}

    def _style(self, name: str) -> Style:
        if name not in self._styles:
            self._styles[name] = self.get_component_rich_style(f"board--{name}", partial=True)
        return self._styles[name]

    def render_line(self, y: int) -> Strip:
        """Return line `y` of the board or of the moves below it."""
        if self.rows and y < self._bottom:
            return Strip(self._draw_line(y))
        if y < self._bottom:
            return Strip([Segment(self._drawing[y], self.rich_style)])
        begin = (y - self._bottom - 1) * self._extra_cols
        moves = self.move_cells.extra[begin : begin + self._extra_cols] if begin >= 0 else ()
        if not moves:
            return Strip.blank(self.size.width, self.rich_style)
        segments = []
        for extra, move in enumerate(moves, begin):
            has_cursor = self.cursor == self.num_cells + extra
            style = self.rich_style + self._style("cursor" if has_cursor else "first")
            segments.append(Segment(f"[ {move} ]", style))
            if self._extra_cols > 1:
                gap = " " * (self._extra_width - len(move) - 4)
                segments.append(Segment(gap, self.rich_style))
        return Strip(segments)

    def _draw_line(self, y: int) -> list[Segment]:
        width, height = self._cell_size
        if y == 0:
            labels = "".join(f"{label:^{width}}" for label in self.view.game.column_labels)
            return [Segment(" " * self._margin + labels, self.rich_style + self._style("label"))]
        row, line = divmod(y - 1, height)
        is_middle = line == (height - 1) // 2
        label = str(row + 1) if is_middle else ""
        style = self.rich_style + self._style("label")
        segments = [Segment(f"{label:>{self._margin - 1}} ", style)]
        for col in range(self.cols):
            text, style = self._draw_cell(row * self.cols + col)
            segments.append(Segment(f"{text if is_middle else '':^{width}}", style))
        return segments

    def _draw_cell(self, cell: int) -> tuple[str, Style]:
        """Return the text and style of a cell; the text can be understood without the colours."""
        position, stone = self.view.position, self._stones[cell]
        row, col = divmod(cell, self.cols)
        style = self._style("odd" if (row + col) % 2 else "even")
        if stone:
            text = position.game.symbols[stone < 0]
            style += self._style("second" if stone < 0 else "first")
            text, style = self._mark_stone(cell, text, style)
        else:
            is_landing = cell in self._landing_cells
            text = position.game.symbols[position.player] if is_landing else self._mark(cell)
            style += self._style("free")
            if cell in self._last[:-1]:  # a piece has just left this cell
                text, style = f"({text})", style + self._style("last")
            if cell in self._targets:
                style += self._style("target")
        return text, style + self._style("cursor") if cell == self.cursor else style

    def _mark_stone(self, cell: int, text: str, style: Style) -> tuple[str, Style]:
        """Return the text and style of a stone with the marks of its cell."""
        if cell == self.selected:
            return f">{text}<", style + self._style("selected")
        if cell in self._targets:
            return f"+{text}+", style + self._style("target")
        if cell in self._line:
            return f"[{text}]", style + self._style("line")
        if cell in self._last[-1:]:
            return f"({text})", style + self._style("last")
        if self.selected is None and cell in self.move_cells.targets:
            return text, style + self._style("piece")
        return text, style

    @property
    def _targets(self) -> Collection[int]:
        """The cells to which the selected piece can move."""
        return () if self.selected is None else self.move_cells.targets.get(self.selected, ())

    def _mark(self, cell: int) -> str:
        """Return ! for a forbidden cell, + for a legal one if others are illegal, else a dot."""
        if cell in self._targets:
            return "+"
        move = self.move_cells.move_at.get(cell)
        if move is not None and move in self._forbidden:
            return "!"
        are_some_illegal = len(self.move_cells.move_at) < self._stones.count(0)
        return "+" if move is not None and are_some_illegal else "."
