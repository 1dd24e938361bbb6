"""The windows of a large board as tables: what the kernels that count stones walk over."""

from typing import Any

import numpy as np

from zermelo.games.geometry import list_windows
from zermelo.games.lines.large import BoardLineGame


def geometry(game: BoardLineGame) -> tuple[Any, Any, Any]:
    """The windows, those through each place, and the gate of each action; see `board_kernel`."""
    lines = [
        [game.padded_index(first + step * place) for place in range(game.win)]
        for first, step in list_windows(game.grid, game.win)
    ]
    through = np.zeros((game.stride * (game.rows + 2), 3 + 4 * game.win), np.int32)
    for cell in range(game.cells):
        row, col = divmod(cell, game.cols)
        away = abs(2 * row - game.rows + 1) + abs(2 * col - game.cols + 1)
        through[game.padded_index(cell), 0] = col if game.gravity else cell
        through[game.padded_index(cell), 1] = (game.rows + game.cols - away) // 2
    for window, places in enumerate(lines):
        for place in places:
            through[place, 3 + through[place, 2]] = window
            through[place, 2] += 1
    gates = [game.padded_index(action) for action in range(game.num_actions)]
    table = np.array(lines, np.int32).reshape(-1, game.win)
    return table, through, np.array(gates, np.int32)
