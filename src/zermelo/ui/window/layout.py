"""The layout: where the board, its cells and the panel are in a window of any size."""

from dataclasses import dataclass

import pygame

from zermelo.core.notation import Grid

SIZE, MIN_SIZE = (980, 680), (720, 480)  #: initial and minimum size of the window
_PADDING = 16
_LABEL = 24  # pixels for the coordinates
_PANEL_WIDTH = (285, 339)  # minimum and maximum
_MAX_CELL = 180


@dataclass(frozen=True)
class Layout:
    """The areas of the window: the board and its labels on the left, the panel on the right."""

    area: pygame.Rect  #: space for the board and its labels
    panel: pygame.Rect
    grid: Grid | None
    cell: int  #: width of a cell in pixels
    board: pygame.Rect  #: the cells without their labels

    def rect(self, index: int) -> pygame.Rect:
        """Return the rectangle of a cell."""
        assert self.grid is not None
        row, col = divmod(index, self.grid.cols)
        return pygame.Rect(
            self.board.x + col * self.cell, self.board.y + row * self.cell, self.cell, self.cell
        )

    def cell_at(self, point: tuple[int, int]) -> int | None:
        """Return the cell at a point, or None if there is none."""
        if self.grid is None or not self.board.collidepoint(point):
            return None
        col = (point[0] - self.board.x) // self.cell
        row = (point[1] - self.board.y) // self.cell
        return self.grid.index(row, col)

    def column_label(self, col: int) -> pygame.Rect:
        """Return the rectangle above a column, for its label."""
        x = self.board.x + col * self.cell
        return pygame.Rect(x, self.board.y - _LABEL, self.cell, _LABEL)

    def row_label(self, row: int) -> pygame.Rect:
        """Return the rectangle to the left of a row, for its label."""
        y = self.board.y + row * self.cell
        return pygame.Rect(self.board.x - _LABEL - 2, y, _LABEL, self.cell)


def arrange(size: tuple[int, int], grid: Grid | None) -> Layout:
    """Return the layout for a window of this size; one below MIN_SIZE shows only part of it."""
    width, height = (max(pair) for pair in zip(size, MIN_SIZE, strict=True))
    panel_width = min(_PANEL_WIDTH[1], max(_PANEL_WIDTH[0], width // 10 * 3))
    panel = pygame.Rect(
        width - panel_width - _PADDING, _PADDING, panel_width, height - 2 * _PADDING
    )
    area = pygame.Rect(_PADDING, _PADDING, panel.x - 2 * _PADDING, height - 2 * _PADDING)
    if grid is None:
        return Layout(area, panel, None, 0, area.copy())
    room = (area.width - _LABEL) // grid.cols, (area.height - _LABEL) // grid.rows
    cell = min(*room, _MAX_CELL)
    cells = pygame.Rect(0, 0, cell * grid.cols, cell * grid.rows)
    cells.center = area.centerx + _LABEL // 2, area.centery + _LABEL // 2
    return Layout(area, panel, grid, cell, cells)
