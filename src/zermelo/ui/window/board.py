"""The board as it is drawn: cells, coordinates, stones, and what is laid over them."""

from collections.abc import Iterable

import pygame

from zermelo.core.cells import MoveCells, filled_cells
from zermelo.core.player import Candidate
from zermelo.core.position import Position
from zermelo.ui.window import theme
from zermelo.ui.window.layout import Layout
from zermelo.ui.window.stones import stone

_GHOST = 90  # of 255: how solid a stone is that is not there yet
_LEAST = 16  # the smallest font
_TINY = 22  # pixels: smaller cells have no room for a letter
_LARGE = 10  # columns; on larger boards …
_WARMEST = 24  # … only the best so many moves are coloured: more would hide the stones
_EVEN = 0.05  # an estimate nearer to nothing is called even
_WIDEST = str.maketrans("123456789-", "000000000+")  # so that all estimates take one form
_LETTER = {"win": "W", "draw": "D", "loss": "L"}


def draw(
    surface: pygame.Surface,
    layout: Layout,
    position: Position,
    found: MoveCells,
    candidates: Iterable[Candidate],
    hover: int | None,
    cursor: int | None,
) -> None:
    """Everything left of the panel."""
    if layout.grid is None or position.board is None:
        _draw_text(surface, layout.area, position.game.draw(position.state))
        return
    _draw_cells(surface, layout, position)
    _draw_labels(surface, layout, position.game.column_labels)
    _draw_signs(surface, layout, position, found)
    heat = [
        (layout.rect(found.landing[candidate.move]), candidate)
        for candidate in list(candidates)[: _WARMEST if layout.grid.cols > _LARGE else None]
        if candidate.move in found.landing
    ]
    for rect, candidate in heat:
        _draw_heat(surface, rect, candidate)
    _draw_stones(surface, layout, position)
    if hover in found.move_at:
        _draw_ghost(surface, layout, position, found.move_at[hover])
    for rect, candidate in heat:
        _draw_words(surface, rect, candidate)
    if cursor is not None and cursor < layout.grid.size:
        pygame.draw.rect(surface, theme.ACCENT, layout.rect(cursor), 3, border_radius=4)


def _draw_cells(surface: pygame.Surface, layout: Layout, position: Position) -> None:
    """Squares with a line between them; the line of stones that decided is yellow."""
    board, cell = layout.board, layout.cell
    pygame.draw.rect(surface, theme.CELL, board)
    for index in position.winning_line or ():
        pygame.draw.rect(surface, theme.WON, layout.rect(index))
    for x in range(board.left, board.right + 1, cell):
        pygame.draw.line(surface, theme.GRID, (x, board.top), (x, board.bottom))
    for y in range(board.top, board.bottom + 1, cell):
        pygame.draw.line(surface, theme.GRID, (board.left, y), (board.right, y))


def _draw_labels(surface: pygame.Surface, layout: Layout, columns: tuple[str, ...]) -> None:
    size = theme.SMALL if layout.cell >= 24 else theme.SMALL - 3
    for col, label in enumerate(columns):
        theme.write(surface, label, size, theme.QUIET, layout.column_label(col), "center")
    for row in range(layout.grid.rows if layout.grid else 0):
        theme.write(surface, str(row + 1), size, theme.QUIET, layout.row_label(row), "center")


def _draw_signs(
    surface: pygame.Surface, layout: Layout, position: Position, found: MoveCells
) -> None:
    """Dots on legal cells where not every free one is; a cross where a move loses by rule."""
    free = (position.board or ()).count(0)
    if len(found.move_at) < free:
        for index in found.move_at:
            middle = layout.rect(index).center
            pygame.draw.aacircle(surface, theme.EVEN, middle, max(2, layout.cell // 11))
    for move in position.forbidden:
        box = layout.rect(found.landing[move]).inflate(-layout.cell * 3 // 5, -layout.cell * 3 // 5)
        pygame.draw.aaline(surface, theme.BAD, box.topleft, box.bottomright)
        pygame.draw.aaline(surface, theme.BAD, box.bottomleft, box.topright)


def _draw_stones(surface: pygame.Surface, layout: Layout, position: Position) -> None:
    game, last = position.game, position.last_cell
    for index, colour in enumerate(position.board or ()):
        if not colour:
            continue
        rect = layout.rect(index)
        surface.blit(stone(game, 0 if colour > 0 else 1, layout.cell), rect)
        if index == last and game.has_discs:
            pygame.draw.aacircle(surface, "white", rect.center, max(3, layout.cell // 8 + 1))
            pygame.draw.aacircle(surface, theme.LAST, rect.center, max(2, layout.cell // 8))
        elif index == last:
            corners(surface, rect, theme.EDGE)


def corners(surface: pygame.Surface, rect: pygame.Rect, colour: str) -> None:
    """Four corners inside a cell: the mark of the last move."""
    small = rect.width < _TINY
    box = rect.inflate(-2, -2) if small else rect.inflate(-5, -5)
    arm = max(3, rect.width // 5)
    for x, dx in ((box.left, arm), (box.right, -arm)):
        for y, dy in ((box.top, arm), (box.bottom, -arm)):
            points = [(x + dx, y), (x, y), (x, y + dy)]
            pygame.draw.lines(surface, colour, closed=False, points=points, width=2 - small)


def _draw_ghost(surface: pygame.Surface, layout: Layout, position: Position, move: str) -> None:
    """Where the stone would go."""
    ghost = stone(position.game, position.player, layout.cell, _GHOST)
    for index in filled_cells(position, move):
        surface.blit(ghost, layout.rect(index))


def _draw_heat(surface: pygame.Surface, cell: pygame.Rect, candidate: Candidate) -> None:
    """A move's value: what is proven fills the cell, an estimate stays small and pale."""
    worth = candidate.expected_value
    hue = theme.GOOD if worth > _EVEN else theme.BAD if worth < -_EVEN else theme.EVEN
    near = 1 - min(candidate.plies or 0, 24) / 40
    tint = theme.mix(theme.CELL, hue, 0.2 + 0.35 * abs(worth) * near)
    inside = cell.inflate(-1, -1).move(1, 1)
    if candidate.exact:
        pygame.draw.rect(surface, tint, inside)
    else:
        patch = inside.inflate(-cell.width // 4, -cell.height // 4)
        pygame.draw.rect(surface, tint, patch, border_radius=cell.width // 6)
    if candidate.best:
        ring = cell.inflate(-6, -6)
        pygame.draw.rect(surface, theme.ACCENT, ring, max(2, cell.width // 30), border_radius=4)


def _draw_words(surface: pygame.Surface, cell: pygame.Rect, candidate: Candidate) -> None:
    if cell.width < _TINY:
        return
    size = max(_LEAST, min(28, cell.width * 2 // 5))
    room = cell.width - 8 if candidate.exact else cell.width * 3 // 4 - 4
    for words in heat_words(candidate):
        widest = words.translate(_WIDEST)
        for fitting in (size, size * 4 // 5, size * 2 // 3):
            if fitting >= _LEAST and theme.width(widest, fitting) <= room:
                theme.write(surface, words, fitting, theme.INK, cell, "center")
                return


def heat_words(candidate: Candidate) -> list[str]:
    """What stands in a cell, the longest form first: "win 5", "W5", "W" or "+0.25", "+"."""
    value = candidate.value
    if value is not None:
        far = str(abs(candidate.diff or candidate.plies or 0) or "")
        return [f"{value} {far}".strip(), f"{_LETTER[value]}{far}", _LETTER[value]]
    number = candidate.estimate or 0.0
    brief = "+" if number > _EVEN else "-" if number < -_EVEN else "="
    return [f"{number:+.2f}", brief]


def _draw_text(surface: pygame.Surface, area: pygame.Rect, text: str) -> None:
    """A game without a board, letter under letter."""
    lines = text.splitlines()
    step = theme.width("W", theme.BODY) + 2
    for row, line in enumerate(lines):
        for col, letter in enumerate(line):
            box = pygame.Rect(area.x + 8 + col * step, area.y + 8 + row * 24, step, 24)
            theme.write(surface, letter, theme.BODY, theme.INK, box, "center")
