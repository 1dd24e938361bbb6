"""Tables of windows: all runs of `win` cells on a large board, and the runs through each cell.

Cells are indices into the padded board of `BoardLineGame`.
"""

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from zermelo.games.geometry import list_windows
from zermelo.games.lines.large import BoardLineGame

if TYPE_CHECKING:
    from numpy.typing import NDArray

# Columns of `cell_info`; from FIRST_WINDOW on, they hold the windows through the cell.
ACTION, CENTRALITY, NUM_WINDOWS, FIRST_WINDOW = range(4)


class WindowTables(NamedTuple):
    """Constant tables of one game, all int32."""

    windows: "NDArray[Any]"  #: [window, position in the window]: a cell
    cell_info: "NDArray[Any]"  #: [cell, column]
    entry_cells: "NDArray[Any]"  #: [action]: the action is legal as long as this cell is empty


def build_tables(game: BoardLineGame) -> WindowTables:
    """Build the tables of a game."""
    windows = [
        [game.padded_index(first + step * offset) for offset in range(game.win)]
        for first, step in list_windows(game.grid, game.win)
    ]
    padded_size = game.stride * (game.rows + 2)
    cell_info: NDArray[Any] = np.zeros((padded_size, FIRST_WINDOW + 4 * game.win), np.int32)
    for index in range(game.cells):
        row, col = divmod(index, game.cols)
        distance = abs(2 * row - game.rows + 1) + abs(2 * col - game.cols + 1)
        cell = game.padded_index(index)
        cell_info[cell, ACTION] = col if game.gravity else index
        cell_info[cell, CENTRALITY] = (game.rows + game.cols - distance) // 2
    for window, cells in enumerate(windows):
        for cell in cells:
            cell_info[cell, FIRST_WINDOW + cell_info[cell, NUM_WINDOWS]] = window
            cell_info[cell, NUM_WINDOWS] += 1
    entry_cells = [game.padded_index(action) for action in range(game.num_actions)]
    return WindowTables(
        np.array(windows, np.int32).reshape(-1, game.win),
        cell_info,
        np.array(entry_cells, np.int32),
    )
