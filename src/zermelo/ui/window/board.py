"""Drawing of the board: cells, coordinates, stones, and the analysis laid over them."""

from collections.abc import Iterable
from typing import NamedTuple

import pygame

from zermelo.core.cells import MoveCells, filled_cells
from zermelo.core.player import Candidate
from zermelo.core.position import Position
from zermelo.ui.window import theme
from zermelo.ui.window.layout import Layout
from zermelo.ui.window.stones import draw_stone

_GHOST_ALPHA = 90  # opacity (0 to 255) of the stone that a click would place
_MIN_FONT = 16
_TINY = 22  # pixels: cells below this size have no room for a letter
_LARGE = 10  # columns; a board with more is large
_MAX_HEAT = 24  # number of best moves coloured on a large board; more would hide the stones
_EVEN = 0.05  # estimates closer to 0 count as even
_WIDEST = str.maketrans("123456789-", "000000000+")  # so that all estimates get the same font size
_MIN_LETTER, _MAX_LETTER = (
    8,
    24,
)  # pixels: width of a letter in a drawing
_LETTER = {"win": "W", "draw": "D", "loss": "L"}


class Marks(NamedTuple):
    """The cells that the human points at."""

    hover: int | None = None  #: the cell under the mouse
    cursor: int | None = None  #: the cell selected with the arrow keys
    selected: int | None = None  #: the cell of the piece that is selected to move


def draw_board(
    surface: pygame.Surface,
    layout: Layout,
    position: Position,
    move_cells: MoveCells,
    candidates: Iterable[Candidate],
    marks: Marks,
) -> None:
    """Draw everything to the left of the panel."""
    if layout.grid is None or position.board is None:
        _draw_text(surface, layout.area, position.game.draw(position.state))
        return
    _draw_cells(surface, layout, position)
    _draw_labels(surface, layout, position.game.column_labels)
    _draw_pieces_to_move(surface, layout, move_cells, marks.selected)
    _draw_legal_moves(surface, layout, position, move_cells)
    heat: dict[int, Candidate] = {}
    for candidate in list(candidates)[: _MAX_HEAT if layout.grid.cols > _LARGE else None]:
        cell = move_cells.cell_of(candidate.move, marks.selected)
        if cell is not None:
            heat.setdefault(cell, candidate)  # the best move of a piece comes first
    for cell, candidate in heat.items():
        _draw_heat(surface, layout.rect(cell), candidate)
    _draw_stones(surface, layout, position)
    _draw_targets(surface, layout, position, move_cells, marks.selected)
    moves = move_cells.click(marks.hover, marks.selected).moves
    if moves:
        _draw_ghost(surface, layout, position, moves[0])
    targets = move_cells.targets.get(-1 if marks.selected is None else marks.selected, ())
    for cell, candidate in heat.items():
        is_low = bool(position.board[cell]) or cell in targets
        _draw_heat_label(surface, layout.rect(cell), candidate, is_low=is_low)
    for cell, width in ((marks.selected, 4), (marks.cursor, 3)):
        if cell is not None and cell < layout.grid.size:
            pygame.draw.rect(surface, theme.ACCENT, layout.rect(cell), width, border_radius=4)


def _draw_pieces_to_move(
    surface: pygame.Surface, layout: Layout, move_cells: MoveCells, selected: int | None
) -> None:
    """Tint the cells of the pieces that can move and, more strongly, of the selected one."""
    for cell in move_cells.targets:
        tint = theme.mix(theme.CELL, theme.ACCENT, 0.3 if cell == selected else 0.1)
        pygame.draw.rect(surface, tint, layout.rect(cell).inflate(-1, -1).move(1, 1))


def _draw_targets(
    surface: pygame.Surface,
    layout: Layout,
    position: Position,
    move_cells: MoveCells,
    selected: int | None,
) -> None:
    """Draw a dot on each empty cell to which the selected piece can move, and a ring on others."""
    for cell in move_cells.targets.get(-1 if selected is None else selected, ()):
        centre, size = layout.rect(cell).center, layout.cell
        if position.board and position.board[cell]:
            pygame.draw.aacircle(surface, theme.ACCENT, centre, size * 9 // 20, max(2, size // 20))
        else:
            pygame.draw.aacircle(surface, theme.ACCENT, centre, max(3, size // 9))


def _draw_cells(surface: pygame.Surface, layout: Layout, position: Position) -> None:
    """Draw the grid, with the cells of the winning line in yellow."""
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


def _draw_legal_moves(
    surface: pygame.Surface, layout: Layout, position: Position, move_cells: MoveCells
) -> None:
    """Draw crosses on forbidden cells and, if some empty cells are illegal, dots on legal cells."""
    num_empty = (position.board or ()).count(0)
    if len(move_cells.move_at) < num_empty:
        for index in move_cells.move_at:
            centre = layout.rect(index).center
            pygame.draw.aacircle(surface, theme.EVEN, centre, max(2, layout.cell // 11))
    margin = -layout.cell * 3 // 5
    for move in position.forbidden:
        box = layout.rect(move_cells.landing[move]).inflate(margin, margin)
        pygame.draw.aaline(surface, theme.BAD, box.topleft, box.bottomright)
        pygame.draw.aaline(surface, theme.BAD, box.bottomleft, box.topright)


def _draw_stones(surface: pygame.Surface, layout: Layout, position: Position) -> None:
    game, last, last_cells = position.game, position.last_cell, position.last_cells
    for index, colour in enumerate(position.board or ()):
        rect = layout.rect(index)
        if not colour:
            if index in last_cells[:-1]:  # a piece has just left this cell
                _draw_corners(surface, rect, theme.EDGE)
            continue
        surface.blit(draw_stone(game, 0 if colour > 0 else 1, layout.cell), rect)
        if index == last and game.has_discs:
            pygame.draw.aacircle(surface, "white", rect.center, max(3, layout.cell // 8 + 1))
            pygame.draw.aacircle(surface, theme.LAST, rect.center, max(2, layout.cell // 8))
        elif index == last:
            _draw_corners(surface, rect, theme.EDGE)


def _draw_corners(surface: pygame.Surface, rect: pygame.Rect, colour: str) -> None:
    """Draw a mark in each corner of a cell, to show that the last move was played there."""
    is_tiny = rect.width < _TINY
    box = rect.inflate(-2, -2) if is_tiny else rect.inflate(-5, -5)
    arm = max(3, rect.width // 5)
    for x, dx in ((box.left, arm), (box.right, -arm)):
        for y, dy in ((box.top, arm), (box.bottom, -arm)):
            points = [(x + dx, y), (x, y), (x, y + dy)]
            pygame.draw.lines(surface, colour, closed=False, points=points, width=2 - is_tiny)


def _draw_ghost(surface: pygame.Surface, layout: Layout, position: Position, move: str) -> None:
    """Draw a pale stone in each cell where this move would place one."""
    ghost = draw_stone(position.game, position.player, layout.cell, _GHOST_ALPHA)
    for index in filled_cells(position, move):
        surface.blit(ghost, layout.rect(index))


def _draw_heat(surface: pygame.Surface, cell: pygame.Rect, candidate: Candidate) -> None:
    """Colour a cell by its move's value: the whole cell if it is proven, a patch if estimated."""
    value = candidate.expected_value
    hue = theme.GOOD if value > _EVEN else theme.BAD if value < -_EVEN else theme.EVEN
    nearness = 1 - min(candidate.plies or 0, 24) / 40
    tint = theme.mix(theme.CELL, hue, 0.2 + 0.35 * abs(value) * nearness)
    inside = cell.inflate(-1, -1).move(1, 1)
    if candidate.exact:
        pygame.draw.rect(surface, tint, inside)
    else:
        patch = inside.inflate(-cell.width // 4, -cell.height // 4)
        pygame.draw.rect(surface, tint, patch, border_radius=cell.width // 6)
    if candidate.best:
        frame = cell.inflate(-6, -6)
        pygame.draw.rect(surface, theme.ACCENT, frame, max(2, cell.width // 30), border_radius=4)


def _draw_heat_label(
    surface: pygame.Surface, cell: pygame.Rect, candidate: Candidate, *, is_low: bool
) -> None:
    """Write the value of a move on its cell; if `is_low`, at the bottom, below a stone or dot."""
    if cell.width < _TINY:
        return
    place = pygame.Rect(cell.x, cell.bottom - cell.height * 3 // 10, cell.width, cell.height // 4)
    size = max(_MIN_FONT, min(28, cell.width * (3 if is_low else 4) // 10))
    room = cell.width - 8 if candidate.exact else cell.width * 3 // 4 - 4
    for label in heat_labels(candidate):
        widest = label.translate(_WIDEST)
        for font_size in (size, size * 4 // 5, size * 2 // 3):
            if font_size >= _MIN_FONT and theme.width(widest, font_size) <= room:
                theme.write(
                    surface, label, font_size, theme.INK, place if is_low else cell, "center"
                )
                return


def heat_labels(candidate: Candidate) -> list[str]:
    """Return the possible labels of a cell, longest first: "win 3", "W3", "W", or "+0.25", "+".

    In "win 3", 3 is the number of moves that the winner still needs or, in Reversi, the difference
    in discs.
    """
    value = candidate.value
    if value is not None:
        moves = ((candidate.plies or 0) + 1) // 2
        number = str(abs(candidate.diff or moves) or "")
        return [f"{value} {number}".strip(), f"{_LETTER[value]}{number}", _LETTER[value]]
    estimate = candidate.estimate or 0.0
    sign = "+" if estimate > _EVEN else "-" if estimate < -_EVEN else "="
    return [f"{estimate:+.2f}", sign]


def _draw_text(surface: pygame.Surface, area: pygame.Rect, text: str) -> None:
    """Draw the position of a game without a board as monospaced text, as large as fits."""
    lines = text.splitlines() or [""]
    num_cols = max(map(len, lines)) or 1
    step = min(area.width // num_cols, area.height * 11 // (len(lines) * 20), _MAX_LETTER)
    width, height = max(_MIN_LETTER, step), max(_MIN_LETTER, step) * 20 // 11
    block = pygame.Rect(0, 0, num_cols * width, len(lines) * height)
    block.center = area.center
    block.topleft = max(block.x, area.x), max(block.y, area.y)
    for row, line in enumerate(lines):
        for col, letter in enumerate(line):
            box = pygame.Rect(block.x + col * width, block.y + row * height, width, height)
            if letter == "-":  # strokes are drawn over the whole width, so that they join
                pygame.draw.line(surface, theme.INK, box.midleft, box.midright, 2)
            elif letter == "|":
                pygame.draw.line(surface, theme.INK, box.midtop, box.midbottom, 2)
            else:
                theme.write(surface, letter, height * 9 // 10, theme.INK, box, "center")
