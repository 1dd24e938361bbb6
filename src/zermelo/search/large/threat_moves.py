"""Move generation for the threat search: the attacker's moves and the defender's answers.

`windows` and `cell_info` are those of `WindowTables`. `window_counts` [window] holds the number of
attacking stones plus DEFENDER times the number of defending stones. `ranks` [cell] is all zeros
between calls and is used to mark cells. Moves are written to row `ply` of `moves`.
"""

from typing import Any

from zermelo.core.bitboard import mix, word
from zermelo.games.lines.large import FORBIDDEN, FREE, BoardLineGame
from zermelo.search.large.windows import FIRST_WINDOW, NUM_WINDOWS

DEFENDER = 64  # the weight of a defending stone in `window_counts`
NO_CELL = -1


def update_counts(
    cell: Any, is_attacker: Any, step: Any, cell_info: Any, window_counts: Any, hash_key: Any
) -> None:
    """Update the counts and the hash key for a stone that is placed (step 1) or removed (-1)."""
    change = step if is_attacker else step * DEFENDER
    for i in range(cell_info[cell, NUM_WINDOWS]):
        window_counts[cell_info[cell, FIRST_WINDOW + i]] += change
    hash_key[0] ^= mix(word(2 * cell + (1 if is_attacker else 2)))


def winning_cell(game: BoardLineGame, window: Any, stone: Any, board: Any, windows: Any) -> Any:
    """Return the only empty cell of a window, or NO_CELL if a stone there does not win."""
    cell = windows[window, 0]
    for j in range(windows.shape[1]):
        if board[windows[window, j]] == FREE:
            cell = windows[window, j]
    board[cell] = stone
    wins = game.is_in_winning_line(board, cell)
    board[cell] = FREE
    return cell if wins else NO_CELL


def list_attacks(
    game: BoardLineGame,
    ply: Any,
    attacker: Any,
    min_stones: Any,
    board: Any,
    moves: Any,
    windows: Any,
    window_counts: Any,
    ranks: Any,
) -> Any:
    """List the attacker's moves and return (cell, count).

    `cell` is a cell that wins immediately, or NO_CELL; `count` is the number of moves. The moves
    are the empty cells of windows with no defending stones and at least `min_stones` attacking
    stones, fullest windows first. If the defender threatens to win on one cell, only the move that
    blocks it is listed. If the defender threatens to win on two or more cells, no move blocks them
    all and nothing is listed.
    """
    length = windows.shape[1]
    # 1. Look for an immediate win of the attacker or of the defender.
    block, is_lost = NO_CELL, False
    for window in range(len(window_counts)):
        stones = window_counts[window]
        if stones not in (length - 1, (length - 1) * DEFENDER):
            continue
        is_own = stones == length - 1
        stone = 1 + (attacker if is_own else 1 - attacker)
        cell = winning_cell(game, window, stone, board, windows)
        if cell == NO_CELL:
            continue
        if is_own:
            return cell, 0
        is_lost = is_lost or block not in (NO_CELL, cell)
        block = cell
    if block != NO_CELL:
        moves[ply, 0] = block
        return NO_CELL, 0 if is_lost else 1
    # 2. List the empty cells by rank.
    num_moves = 0
    for window in range(len(window_counts)):
        if not min_stones <= window_counts[window] < length:
            continue
        weight = 1 if window_counts[window] == min_stones else 16
        for j in range(length):
            cell = windows[window, j]
            if board[cell] != FREE:
                continue
            if ranks[cell] == 0:
                moves[ply, num_moves] = cell
                num_moves += 1
            ranks[cell] += weight
    sort_by_rank(ply, num_moves, moves, ranks)
    return NO_CELL, num_moves


def sort_by_rank(ply: Any, num_moves: Any, moves: Any, ranks: Any) -> None:
    """Sort the moves by rank, highest first, and reset the ranks to zero."""
    for i in range(1, num_moves):
        cell, index = moves[ply, i], i
        while index > 0 and ranks[moves[ply, index - 1]] < ranks[cell]:
            moves[ply, index] = moves[ply, index - 1]
            index -= 1
        moves[ply, index] = cell
    for i in range(num_moves):
        ranks[moves[ply, i]] = 0


def winning_cells(
    game: BoardLineGame, last: Any, board: Any, windows: Any, cell_info: Any, window_counts: Any
) -> Any:
    """Return up to two cells where the attacker can complete a line through its last stone.

    If there are fewer than two such cells, the rest of the result is NO_CELL.
    """
    first = NO_CELL
    for i in range(cell_info[last, NUM_WINDOWS]):
        window = cell_info[last, FIRST_WINDOW + i]
        if window_counts[window] != windows.shape[1] - 1:
            continue
        cell = winning_cell(game, window, board[last], board, windows)
        if cell != NO_CELL and first not in (NO_CELL, cell):
            return first, cell
        if cell != NO_CELL:
            first = cell
    return first, NO_CELL


def is_allowed(game: BoardLineGame, cell: Any, stone: Any, board: Any) -> Any:
    """Return whether a stone on an empty cell is allowed, that is, does not lose by rule.

    The stone must not win on that cell.
    """
    board[cell] = stone
    status = game.forbidden_status(board, cell)
    board[cell] = FREE
    return status != FORBIDDEN


def find_allowed(game: BoardLineGame, stone: Any, board: Any) -> Any:
    """Return the first empty cell where a stone does not lose by rule, or NO_CELL."""
    for cell in range(len(board)):
        if board[cell] == FREE and is_allowed(game, cell, stone, board):
            return cell
    return NO_CELL


def list_empty(ply: Any, board: Any, moves: Any) -> Any:
    """List all empty cells; return their number."""
    num_moves = 0
    for cell in range(len(board)):
        if board[cell] == FREE:
            moves[ply, num_moves] = cell
            num_moves += 1
    return num_moves


def list_defences(
    ply: Any,
    size: Any,
    board: Any,
    moves: Any,
    lines: Any,
    windows: Any,
    cell_info: Any,
    window_counts: Any,
    ranks: Any,
    hash_key: Any,
) -> Any:
    """List all moves that could stop the line in row `ply + 1` of `lines`; return their number.

    The line has `size` moves and begins with a move of the attacker. `threat_kernel` explains why
    no other move could stop it.
    """
    length = windows.shape[1]
    for i in range(size):
        cell = lines[ply + 1, i]
        moves[ply, i] = cell
        ranks[cell] = 1
        if i % 2 == 1:
            update_counts(cell, False, 1, cell_info, window_counts, hash_key)  # noqa: FBT003 - a kernel
    num_moves = size
    for window in range(len(window_counts)):
        if window_counts[window] < (length - 2) * DEFENDER or window_counts[window] % DEFENDER > 0:
            continue
        for j in range(length):
            cell = windows[window, j]
            if board[cell] == FREE and ranks[cell] == 0:
                moves[ply, num_moves] = cell
                ranks[cell] = 1
                num_moves += 1
    for i in range(1, size, 2):
        update_counts(lines[ply + 1, i], False, -1, cell_info, window_counts, hash_key)  # noqa: FBT003
    for i in range(num_moves):
        ranks[moves[ply, i]] = 0
    return num_moves
