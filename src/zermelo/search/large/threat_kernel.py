"""The threat search kernel, which finds forced wins on boards above 64 cells.

The **attacker** moves first. A **four** is a move after which the attacker could win immediately; a
**quiet threat** is a move after which the attacker would win by fours if the defender passed. (The
terms are those of five in a row; the search is the same for any length.) A state is won for the
attacker

- if the attacker can win immediately,
- by a four, if the defender cannot win immediately and either there are two cells to block, or the
  block loses by rule (a forbidden point, or a line of `lose` stones), or the state after the
  block is also won,
- by a quiet threat, if the state after every defence is also won.

Only some defences need to be searched. A four can only be answered by the block, since no other
stone changes a run through an empty cell. After a quiet threat there is a line of fours that wins
if the defender passes. A stone that is not on a cell of that line, and does not help the defender
to make a four before the line ends, leaves every step of the line intact. So the defences are the
cells of the line, and the empty cells of all windows without attacking stones that lack at most two
stones once the defender has made all blocks of the line. If a step depends on a forbidden point,
which distant stones may change, every legal move is a defence.

Every win that is found is thus proven. If no win is found, nothing is proven: the search is
bounded, quiet threats are tried on promising cells only, and failures are stored by hash,
so one state may be mistaken for another.
"""

from typing import Any

from zermelo.core.bitboard import mix, word
from zermelo.games.lines.large import ALLOWED, FIRST, FORBIDDEN, FREE, SECOND, BoardLineGame
from zermelo.kernels.registry import kernel
from zermelo.search.large.threat_moves import (
    NO_CELL,
    find_allowed,
    is_allowed,
    list_attacks,
    list_defences,
    list_empty,
    update_counts,
    winning_cells,
)

# Columns of `frames`, with one row for each state on the stack. LAST_CELL: cell of the last move.
KIND, LIMIT, NODE_LIMIT, LAST_CELL, STAGE, NEXT, NUM_MOVES = range(7)
LENGTH, PLIES, DEPENDS_ON_FOUL = range(7, 10)
NUM_COLUMNS = 10
# frames[KIND]: if the attacker is to move, FOURS (it may only make fours) or THREATS (all threats);
# if the defender is to move, BLOCK (after a four) or DEFENCE (after any threat).
FOURS, THREATS, BLOCK, DEFENCE = range(4)
TO_DEFENDER = 2  # the kind of an attacker's state plus this is the kind of the next state
# frames[STAGE]: not entered yet, waiting for a search by fours only, trying the listed moves.
NEW, TESTING_FOURS, TRYING_MOVES = range(3)
# The result of a state: unknown so far, a win of the attacker, or no win; or a child was pushed.
UNDECIDED, WIN, NO_WIN, CHILD_PUSHED = range(4)
# Indices into `control`. MAX_SUB_*: limits of a search by fours within another search.
PLY, NODES, BUDGET, ATTACKER, EMPTY_CELLS, IS_WIN, IS_INITIALISED = range(7)
MAX_SUB_FOURS, MAX_SUB_NODES, GENERATION = range(7, 10)
NUM_CONTROLS = 10
NO_NODE_LIMIT = 1 << 60


@kernel(
    "uint8[::1], int64[::1], int64[:,::1], int32[:,::1], int32[:,::1], int32[:,::1], "
    "int32[:,::1], int32[::1], int32[::1], uint64[:,::1], uint64[::1]"
)
def search_threats(
    game: BoardLineGame,
    board: Any,  # the padded board, restored when the search is over
    control: Any,
    frames: Any,  # [ply, column]; the first row holds the state to search
    moves: Any,  # [ply, move]: cells to try
    lines: Any,  # [ply, move]: the winning line, which has frames[ply, LENGTH] cells
    windows: Any,  # this and the next three arrays: see `threat_moves`
    cell_info: Any,
    window_counts: Any,
    ranks: Any,
    failure_table: Any,  # [slot, (key, generation and limit)]: states searched without a win
    hash_key: Any,  # [1]: the hash of the stones
) -> Any:
    """Search the state in frames[0]; return whether the search has finished.

    If the node budget is spent first, return False: call again with a larger budget to continue.
    """
    ply = control[PLY]
    if control[IS_INITIALISED] == 0:
        for cell in range(len(board)):
            if board[cell] in (1, 2):
                is_attacker = board[cell] - 1 == control[ATTACKER]
                update_counts(cell, is_attacker, 1, cell_info, window_counts, hash_key)
        control[IS_INITIALISED] = 1
    while True:
        # 1. Enter a state, or try its next move.
        if frames[ply, STAGE] == NEW:
            if control[NODES] >= control[BUDGET]:
                control[PLY] = ply
                return False
            result = enter_state(
                game, ply, board, control, frames, moves, lines, windows, cell_info,
                window_counts, ranks, failure_table, hash_key,
            )  # fmt: skip
        else:
            result = try_next_move(
                ply, board, control, frames, moves, cell_info, window_counts, hash_key
            )
        if result == CHILD_PUSHED:
            ply += 1
        # 2. Pass the result down the stack as long as it decides a state.
        while result in (WIN, NO_WIN):
            if result == NO_WIN and frames[ply, KIND] < TO_DEFENDER:
                store_failure(ply, control, frames, failure_table, hash_key)
            if ply == 0:
                control[IS_WIN] = result == WIN
                return True
            ply -= 1
            result = handle_result(
                ply, result, board, control, frames, moves, lines, windows, cell_info,
                window_counts, ranks, hash_key,
            )  # fmt: skip


def place_stone(
    cell: Any,
    is_attacker: Any,
    step: Any,
    board: Any,
    control: Any,
    cell_info: Any,
    window_counts: Any,
    hash_key: Any,
) -> None:
    """Place a stone on a cell (step 1) or remove it (step -1)."""
    stone = 1 + (control[ATTACKER] if is_attacker else 1 - control[ATTACKER])
    board[cell] = stone if step == 1 else FREE
    control[EMPTY_CELLS] -= step
    update_counts(cell, is_attacker, step, cell_info, window_counts, hash_key)


def push_state(
    ply: Any, kind: Any, limit: Any, node_limit: Any, last_cell: Any, frames: Any
) -> Any:
    """Push a state onto the stack, into row `ply + 1`; return CHILD_PUSHED."""
    frames[ply + 1, KIND] = kind
    frames[ply + 1, LIMIT] = limit
    frames[ply + 1, NODE_LIMIT] = node_limit
    frames[ply + 1, LAST_CELL] = last_cell
    frames[ply + 1, STAGE] = NEW
    return CHILD_PUSHED


def push_fours_test(ply: Any, last_cell: Any, control: Any, frames: Any) -> Any:
    """Push the state of the board onto the stack, for a short search by fours only."""
    node_limit = control[NODES] + control[MAX_SUB_NODES]
    return push_state(ply, FOURS, control[MAX_SUB_FOURS], node_limit, last_cell, frames)


def table_slot(ply: Any, frames: Any, failure_table: Any, hash_key: Any) -> Any:
    """Return (slot, key): the slot of a state in the failure table, and the key of the state."""
    state_key = hash_key[0] ^ mix(word(1000 + frames[ply, KIND]))
    return word(state_key) % word(len(failure_table)), state_key


def store_failure(ply: Any, control: Any, frames: Any, failure_table: Any, hash_key: Any) -> None:
    """Store that a state's search found no win, unless that search reached the node limit."""
    if control[NODES] <= frames[ply, NODE_LIMIT]:
        slot, state_key = table_slot(ply, frames, failure_table, hash_key)
        failure_table[slot, 0] = state_key
        failure_table[slot, 1] = word(control[GENERATION] * 1024 + frames[ply, LIMIT])


def is_hopeless(ply: Any, control: Any, frames: Any, failure_table: Any, hash_key: Any) -> Any:
    """Return whether the limits allow no further move or a search at least as deep has failed."""
    if (frames[ply, KIND] == FOURS and frames[ply, LIMIT] == 0) or ply + 4 >= len(frames):
        return True
    slot, state_key = table_slot(ply, frames, failure_table, hash_key)
    stored, minimum = failure_table[slot, 1], word(control[GENERATION] * 1024 + frames[ply, LIMIT])
    return failure_table[slot, 0] == state_key and minimum <= stored < word(
        (control[GENERATION] + 1) * 1024
    )


def enter_state(
    game: BoardLineGame,
    ply: Any,
    board: Any,
    control: Any,
    frames: Any,
    moves: Any,
    lines: Any,
    windows: Any,
    cell_info: Any,
    window_counts: Any,
    ranks: Any,
    failure_table: Any,
    hash_key: Any,
) -> Any:
    """Check whether the last stone is forbidden, list the moves to try and return the result."""
    frames[ply, STAGE] = TRYING_MOVES
    frames[ply, NEXT] = 0
    frames[ply, NUM_MOVES] = 0
    frames[ply, LENGTH] = 0
    frames[ply, PLIES] = 1
    kind, last_cell = frames[ply, KIND], frames[ply, LAST_CELL]
    status = ALLOWED if last_cell == NO_CELL else game.forbidden_status(board, last_cell)
    frames[ply, DEPENDS_ON_FOUL] = status != ALLOWED
    if kind >= TO_DEFENDER:
        if status == FORBIDDEN or control[EMPTY_CELLS] == 0:
            return NO_WIN
        result = list_block(
            game, ply, board, frames, moves, lines, windows, cell_info, window_counts
        )
    elif status == FORBIDDEN:
        return WIN
    elif is_hopeless(ply, control, frames, failure_table, hash_key):
        return NO_WIN
    else:
        control[NODES] += 1
        result = list_attacker_moves(
            game, ply, board, control, frames, moves, lines, windows, window_counts, ranks
        )
    # Search by fours in two cases: before the attacker tries quiet threats; and after a move that
    # is not a four, to find out whether it is a quiet threat.
    if result == UNDECIDED and (
        kind == THREATS or (kind == DEFENCE and frames[ply, NUM_MOVES] == 0)
    ):
        frames[ply, STAGE] = TESTING_FOURS
        return push_fours_test(ply, NO_CELL, control, frames)
    return result


def list_attacker_moves(
    game: BoardLineGame,
    ply: Any,
    board: Any,
    control: Any,
    frames: Any,
    moves: Any,
    lines: Any,
    windows: Any,
    window_counts: Any,
    ranks: Any,
) -> Any:
    """List the attacker's moves; return WIN if one wins immediately, NO_WIN if there are none."""
    length = windows.shape[1]
    min_stones = length - 2 if frames[ply, KIND] == FOURS else max(1, length - 3)
    cell, num_moves = list_attacks(
        game, ply, control[ATTACKER], min_stones, board, moves, windows, window_counts, ranks
    )
    frames[ply, NUM_MOVES] = num_moves
    if cell != NO_CELL:
        lines[ply, 0] = cell
        frames[ply, LENGTH] = 1
        return WIN
    return UNDECIDED if num_moves > 0 else NO_WIN


def list_block(
    game: BoardLineGame,
    ply: Any,
    board: Any,
    frames: Any,
    moves: Any,
    lines: Any,
    windows: Any,
    cell_info: Any,
    window_counts: Any,
) -> Any:
    """List the block if the attacker has one winning cell that the defender can block.

    Return WIN if there is no defence: the attacker has two winning cells, or the block loses by
    rule. The line is then a move that does not lose by rule, if there is one, and the win.
    """
    last_cell = frames[ply, LAST_CELL]
    block, other = winning_cells(game, last_cell, board, windows, cell_info, window_counts)
    if block == NO_CELL:
        return NO_WIN if frames[ply, KIND] == BLOCK else UNDECIDED
    defender = FIRST + SECOND - board[last_cell]
    can_block = is_allowed(game, block, defender, board)
    if can_block and other == NO_CELL:
        moves[ply, 0] = block
        frames[ply, NUM_MOVES] = 1
        return UNDECIDED
    if other == NO_CELL:
        frames[ply, DEPENDS_ON_FOUL] = 1
    reply = block if can_block else find_allowed(game, defender, board)
    lines[ply, 0] = block if reply == NO_CELL else reply
    lines[ply, 1] = other if reply == block else block
    # If every move loses by rule, the game ends before the attacker wins.
    frames[ply, LENGTH] = 1 if reply == NO_CELL else 2
    frames[ply, PLIES] = frames[ply, LENGTH]
    return WIN


def try_next_move(
    ply: Any,
    board: Any,
    control: Any,
    frames: Any,
    moves: Any,
    cell_info: Any,
    window_counts: Any,
    hash_key: Any,
) -> Any:
    """Play the next listed move; if none is left, return NO_WIN for the attacker, else WIN."""
    kind, index = frames[ply, KIND], frames[ply, NEXT]
    is_attacker = kind < TO_DEFENDER
    if index == frames[ply, NUM_MOVES]:
        return NO_WIN if is_attacker else WIN
    if is_attacker and control[NODES] > frames[ply, NODE_LIMIT]:
        return NO_WIN
    cell = moves[ply, index]
    frames[ply, NEXT] = index + 1
    place_stone(cell, is_attacker, 1, board, control, cell_info, window_counts, hash_key)
    limit, node_limit = frames[ply, LIMIT], frames[ply, NODE_LIMIT]
    if is_attacker:
        return push_state(ply, kind + TO_DEFENDER, limit - 1, node_limit, cell, frames)
    if kind == DEFENCE and limit == 0:  # the attacker may make no more quiet threats
        return push_fours_test(ply, cell, control, frames)
    return push_state(ply, kind - TO_DEFENDER, limit, node_limit, cell, frames)


def handle_result(
    ply: Any,
    result: Any,
    board: Any,
    control: Any,
    frames: Any,
    moves: Any,
    lines: Any,
    windows: Any,
    cell_info: Any,
    window_counts: Any,
    ranks: Any,
    hash_key: Any,
) -> Any:
    """Return the result of a state, given the result of the state above it on the stack."""
    is_attacker = frames[ply, KIND] < TO_DEFENDER
    # 1. The result comes from a search by fours, from this state or after a pass of the defender.
    if frames[ply, STAGE] == TESTING_FOURS:
        frames[ply, STAGE] = TRYING_MOVES
        if result == NO_WIN:
            return UNDECIDED if is_attacker else NO_WIN
        if is_attacker:
            copy_line(ply, 0, frames, lines)
            return WIN
        frames[ply, PLIES] = 1 + frames[ply + 1, PLIES]
        frames[ply, NUM_MOVES] = (
            list_empty(ply, board, moves)
            if frames[ply + 1, DEPENDS_ON_FOUL]
            else list_defences(
                ply,
                frames[ply + 1, LENGTH],
                board,
                moves,
                lines,
                windows,
                cell_info,
                window_counts,
                ranks,
                hash_key,
            )
        )
        return UNDECIDED
    # 2. The result comes from a move. The attacker needs a move that wins, the defender a move that
    #    holds. Of the defender's losing moves, keep the line of the one that lasts longest.
    last_cell = frames[ply + 1, LAST_CELL]
    place_stone(last_cell, is_attacker, -1, board, control, cell_info, window_counts, hash_key)
    if result == NO_WIN:
        return UNDECIDED if is_attacker else NO_WIN
    if frames[ply, LENGTH] == 0 or frames[ply, PLIES] <= 1 + frames[ply + 1, PLIES]:
        lines[ply, 0] = last_cell
        copy_line(ply, 1, frames, lines)
    return WIN if is_attacker else UNDECIDED


def copy_line(ply: Any, start: Any, frames: Any, lines: Any) -> None:
    """Append the winning moves of row `ply + 1` to row `ply`, after its first `start` moves."""
    for i in range(frames[ply + 1, LENGTH]):
        lines[ply, start + i] = lines[ply + 1, i]
    frames[ply, LENGTH] = start + frames[ply + 1, LENGTH]
    frames[ply, PLIES] = max(frames[ply, PLIES], start + frames[ply + 1, PLIES])
    frames[ply, DEPENDS_ON_FOUL] |= frames[ply + 1, DEPENDS_ON_FOUL]
