"""Layout: where the board, its cells and the panel are, for every size of the window."""

from dataclasses import dataclass

import pygame

from zermelo.core.notation import Grid

SIZE, LEAST = (980, 680), (720, 480)  #: at the start, and as small as it gets
_PAD = 16
_LABEL = 24  # for the coordinates
_PANEL = (285, 339)  # least and most
_LARGEST = 180  # a cell


@dataclass(frozen=True)
class Layout:
    """Rectangles that never overlap: the board with its labels left, the panel right."""

    area: pygame.Rect  #: all there is for the board
    panel: pygame.Rect
    grid: Grid | None
    cell: int  #: pixels a side
    board: pygame.Rect  #: the cells alone

    def rect(self, index: int) -> pygame.Rect:
        """Where a cell is."""
        assert self.grid is not None
        row, col = divmod(index, self.grid.cols)
        return pygame.Rect(
            self.board.x + col * self.cell, self.board.y + row * self.cell, self.cell, self.cell
        )

    def cell_at(self, point: tuple[int, int]) -> int | None:
        """The cell under a point."""
        if self.grid is None or not self.board.collidepoint(point):
            return None
        col = (point[0] - self.board.x) // self.cell
        row = (point[1] - self.board.y) // self.cell
        return self.grid.index(row, col)

    def column_label(self, col: int) -> pygame.Rect:
        """Above a column."""
        x = self.board.x + col * self.cell
        return pygame.Rect(x, self.board.y - _LABEL, self.cell, _LABEL)

    def row_label(self, row: int) -> pygame.Rect:
        """Left of a row."""
        y = self.board.y + row * self.cell
        return pygame.Rect(self.board.x - _LABEL - 2, y, _LABEL, self.cell)


def arrange(size: tuple[int, int], grid: Grid | None) -> Layout:
    """The layout for a window of this size; one that is too small is cut off, not squeezed."""
    wide, high = (max(pair) for pair in zip(size, LEAST, strict=True))
    panel_width = min(_PANEL[1], max(_PANEL[0], wide // 10 * 3))  # three buttons side by side
    panel = pygame.Rect(wide - panel_width - _PAD, _PAD, panel_width, high - 2 * _PAD)
    area = pygame.Rect(_PAD, _PAD, panel.x - 2 * _PAD, high - 2 * _PAD)
    if grid is None:
        return Layout(area, panel, None, 0, area.copy())
    room = (area.width - _LABEL) // grid.cols, (area.height - _LABEL) // grid.rows
    cell = min(*room, _LARGEST)
    cells = pygame.Rect(0, 0, cell * grid.cols, cell * grid.rows)
    cells.center = area.centerx + _LABEL // 2, area.centery + _LABEL // 2
    return Layout(area, panel, grid, cell, cells)
