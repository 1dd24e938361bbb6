"""The alpha-beta kernel for boards above 64 cells, which makes and unmakes moves on one board.

The evaluation counts windows, that is, all runs of `win` cells. A window with stones of one side
only is worth more the fewer stones it lacks. Every stone updates the counts and, for each side, the
value of each cell; the values of the cells order the moves. The counts only guide the search:
`result_after` decides whether a move ends the game.

Only the `WIDTH` most promising moves are searched, so proofs need care. A win is proven by one move
whose child is a proven loss. A loss is proven if every legal move is accounted for:

- If the opponent has a winning cell and this side has none, every move except the block loses in 2
  plies, since no stone elsewhere changes a run through an empty cell. If the opponent has two
  winning cells, the block also loses.
- Otherwise all legal moves must be searched. If all promising moves lose and the window (alpha,
  beta) requires a proof, the other moves are searched as well; otherwise the loss counts as a bad
  estimate.

Thus a score beyond ±DECISIVE_SCORE is proven. Its distance to the end is exact within the searched
depth if no move was left out; otherwise the distance is an upper bound.
"""

from typing import Any

from zermelo.core.bitboard import sign
from zermelo.core.game import BoardGame
from zermelo.kernels.registry import kernel
from zermelo.search.large.windows import ACTION, CENTRALITY, FIRST_WINDOW, NUM_WINDOWS

WIN_SCORE = 1 << 14  # a win in n plies scores WIN_SCORE - n
DECISIVE_SCORE, MAX_ESTIMATE = 1 << 13, 8000  # scores beyond ±DECISIVE_SCORE are proven
# Columns of `frames`, which has one row for each ply of the stack.
ALPHA, BETA, BEST, NEXT, NUM_MOVES, STAGE, DEPTH, MOVE, CELL, PV_LENGTH, KILLER = range(11)
NUM_THREATS, THREAT_1, THREAT_2 = range(11, 14)  # the opponent's winning moves, at most two
NUM_COLUMNS = 14
# frames[STAGE]: which moves the list of moves holds.
ALL_MOVES = 0  # all legal moves
PROMISING = 1  # the most promising moves; some were left out
FOURS = 2  # moves that threaten to win, searched at the horizon; the estimate is a lower bound
FORCED_BLOCK = 3  # the only block of a threat
WIN_CHECKS = 4  # cells that complete a window of either side, only tested for an immediate win
LOST = 5  # moves that lose: to a threat of the opponent, or immediately by rule
# Indices into `control`.
PLY, NODES, BUDGET, SIDE, EMPTY_CELLS, SCORE, HIT_HORIZON = range(7)
WIDTH, TEMPO, MAX_FOURS, IS_INITIALISED = range(7, 11)
NUM_CONTROLS = 11
NEW = -1  # frames[NEXT] of a state that has not been entered
WEIGHTS = 2  # the row of `totals` that holds the value of a window for each number of stones
MAX_PLY = 100


@kernel(
    "uint8[::1], int64[::1], int64[:,::1], int64[:,::1], int64[:,::1], int32[:,::1], "
    "int32[:,::1], int32[::1], int32[:,::1], int32[:,::1], int64[:,::1]"
)
def search(  # noqa: PLR0915 - numbered steps on one stack
    game: BoardGame,
    board: Any,  # the padded board, restored when the search is over
    control: Any,
    frames: Any,  # [ply, column]
    moves: Any,  # [ply, (actions…, their ranks…)]
    pv: Any,  # [ply, move]: the principal variation, of length frames[ply, PV_LENGTH]
    windows: Any,  # this and the next two arrays: see `WindowTables`
    cell_info: Any,
    entry_cells: Any,
    stone_counts: Any,  # [side, window]: the number of stones
    cell_values: Any,  # [side, cell]: the value of the windows through the cell
    totals: Any,  # [side, (live windows by number of stones…, their value)], then WEIGHTS
) -> Any:
    """Search `board` with the window and depth in frames[0]; return whether the search is finished.

    If it is, the score is in control[SCORE]; if not, call again with a larger budget to continue.
    """
    ply = control[PLY]
    if control[IS_INITIALISED] == 0:
        for cell in range(len(board)):
            if 0 < board[cell] < 3:
                update_counts(
                    cell, board[cell] - 1, 1, windows, cell_info, stone_counts, cell_values, totals
                )
        control[IS_INITIALISED] = 1
    score, ranks = 0, moves.shape[1] // 2
    while True:
        done = False
        side = (control[SIDE] + ply) & 1
        # 1. Enter a state: list the cells where either side may win immediately.
        if frames[ply, NEXT] == NEW:
            if control[NODES] >= control[BUDGET]:
                control[PLY] = ply
                return False
            control[NODES] += 1
            list_win_checks(
                game, ply, side, board, frames, moves, windows, cell_info, stone_counts, totals
            )
        # 2. Place the next stone of the list; if the game goes on, descend.
        index, stage = frames[ply, NEXT], frames[ply, STAGE]
        if index < frames[ply, NUM_MOVES] and frames[ply, BEST] < frames[ply, BETA]:
            frames[ply, NEXT] = index + 1
            frames[ply, MOVE] = moves[ply, index]
            cell = game.landing(board, moves[ply, index])
            owner = moves[ply, ranks + index] if stage == WIN_CHECKS else side
            board[cell] = 1 + owner
            over, value = game.result_after(board, cell, control[EMPTY_CELLS] - ply - 1)
            if not over and stage < WIN_CHECKS:
                frames[ply, CELL] = cell
                update_counts(cell, side, 1, windows, cell_info, stone_counts, cell_values, totals)
                push_child(ply, frames)
                ply += 1
                continue
            board[cell] = 0
            frames[ply + 1, PV_LENGTH] = 0
            score = 1 - WIN_SCORE if value > 0 else (WIN_SCORE - 1 if value < 0 else 0)
            if stage == WIN_CHECKS and (owner != side or not over or value >= 0):
                if over and value < 0:
                    add_threat(ply, frames)
                continue
            if stage == LOST and not over:
                score = 2 - WIN_SCORE
                add_refutation(ply, frames, pv)
        # 3. After the win checks, list the moves to search. When these have been searched, add the
        #    moves that were left out if they matter; otherwise the state is done.
        elif stage == WIN_CHECKS and frames[ply, BEST] < WIN_SCORE - 1:
            done, score = expand(
                game, ply, side, board, control, frames, moves, windows, cell_info, entry_cells,
                stone_counts, cell_values, totals,
            )  # fmt: skip
            if not done:
                continue
        elif add_remaining_moves(ply, board, frames, moves, entry_cells):
            continue
        else:
            done = True
            score = final_score(ply, control, frames)
        # 4. Return the score to the parent; negate it and add a ply, which happens only here.
        if done:
            if ply == 0:
                control[SCORE] = score
                return True
            ply -= 1
            board[frames[ply, CELL]] = 0
            side = (control[SIDE] + ply) & 1
            update_counts(
                frames[ply, CELL], side, -1, windows, cell_info, stone_counts, cell_values, totals
            )
            score = -score + sign(score)
        # 5. Update the best score and the principal variation.
        if score > frames[ply, BEST]:
            frames[ply, BEST] = score
            if score > frames[ply, ALPHA]:
                pv[ply, 0] = frames[ply, MOVE]
                frames[ply, PV_LENGTH] = 1 + frames[ply + 1, PV_LENGTH]
                for i in range(frames[ply + 1, PV_LENGTH]):
                    pv[ply, 1 + i] = pv[ply + 1, i]
            if score >= frames[ply, BETA]:
                frames[ply, KILLER] = frames[ply, MOVE]


def update_counts(
    cell: Any,
    side: Any,
    step: Any,
    windows: Any,
    cell_info: Any,
    stone_counts: Any,
    cell_values: Any,
    totals: Any,
) -> None:
    """Update all counts for a stone that is placed (step 1) or removed (step -1)."""
    length = windows.shape[1]
    totals[side, length + 1] += step * cell_info[cell, CENTRALITY]
    for i in range(cell_info[cell, NUM_WINDOWS]):
        window = cell_info[cell, FIRST_WINDOW + i]
        before, opponent = stone_counts[side, window], stone_counts[1 - side, window]
        after = before + step
        stone_counts[side, window] = after
        if opponent == 0:
            owner = side
            change = totals[WEIGHTS, after] - totals[WEIGHTS, before]
            totals[side, before] -= 1
            totals[side, after] += 1
        elif before + after == 1:  # the opponent's window is spoiled or restored
            owner = 1 - side
            change = -step * totals[WEIGHTS, opponent]
            totals[owner, opponent] -= step
        else:
            continue
        totals[owner, length + 1] += change
        for j in range(length):
            cell_values[owner, windows[window, j]] += change


def push_child(ply: Any, frames: Any) -> None:
    """Initialise the frame of the child. A forced block does not reduce the depth."""
    alpha = max(frames[ply, ALPHA], frames[ply, BEST])
    beta = frames[ply, BETA]
    frames[ply + 1, ALPHA] = -(beta + sign(beta))
    frames[ply + 1, BETA] = -(alpha + sign(alpha))
    frames[ply + 1, NEXT] = NEW
    frames[ply + 1, DEPTH] = frames[ply, DEPTH] - (0 if frames[ply, STAGE] == FORCED_BLOCK else 1)


def list_win_checks(
    game: BoardGame,
    ply: Any,
    side: Any,
    board: Any,
    frames: Any,
    moves: Any,
    windows: Any,
    cell_info: Any,
    stone_counts: Any,
    totals: Any,
) -> None:
    """List the cells that complete a window, own windows first; a rank is the window's owner."""
    length, ranks = windows.shape[1], moves.shape[1] // 2
    frames[ply, BEST] = -2 * WIN_SCORE
    frames[ply, STAGE] = WIN_CHECKS
    frames[ply, PV_LENGTH] = 0
    frames[ply, NUM_THREATS] = 0
    count = 0
    for turn in range(2):
        owner = side if turn == 0 else 1 - side
        for window in range(len(windows) if totals[owner, length - 1] > 0 else 0):
            if stone_counts[owner, window] != length - 1 or stone_counts[1 - owner, window] != 0:
                continue
            cell = windows[window, 0]
            for j in range(1, length):
                if board[windows[window, j]] == 0:
                    cell = windows[window, j]
            action = cell_info[cell, ACTION]
            skip = game.landing(board, action) != cell
            for i in range(count):
                skip = skip or (moves[ply, i] == action and moves[ply, ranks + i] == owner)
            if not skip:
                moves[ply, count] = action
                moves[ply, ranks + count] = owner
                count += 1
    frames[ply, NEXT] = 0
    frames[ply, NUM_MOVES] = count


def add_threat(ply: Any, frames: Any) -> None:
    """Record the current move as a winning move of the opponent; after the second, end the list."""
    count = frames[ply, NUM_THREATS]
    frames[ply, NUM_THREATS] = count + 1
    if count == 0:
        frames[ply, THREAT_1] = frames[ply, MOVE]
    else:
        frames[ply, THREAT_2] = frames[ply, MOVE]
        frames[ply, NUM_MOVES] = frames[ply, NEXT]


def add_refutation(ply: Any, frames: Any, pv: Any) -> None:
    """Score the current move as lost to the opponent's win; end the list: no move lasts longer."""
    frames[ply, NUM_MOVES] = frames[ply, NEXT]
    frames[ply + 1, PV_LENGTH] = 1
    pv[ply + 1, 0] = frames[ply, THREAT_1]
    if frames[ply, THREAT_1] == frames[ply, MOVE]:
        pv[ply + 1, 0] = frames[ply, THREAT_2]


def expand(
    game: BoardGame,
    ply: Any,
    side: Any,
    board: Any,
    control: Any,
    frames: Any,
    moves: Any,
    windows: Any,
    cell_info: Any,
    entry_cells: Any,
    stone_counts: Any,
    cell_values: Any,
    totals: Any,
) -> Any:
    """Return (is_done, score) of a state without an immediate win; list its moves if not done."""
    length = windows.shape[1]
    frames[ply, NEXT] = 0
    frames[ply, NUM_MOVES] = 0
    if frames[ply, ALPHA] >= WIN_SCORE - 2:
        return True, WIN_SCORE - 2
    # 1. At the horizon, unless a block is forced, only moves that threaten to win are searched.
    is_stack_full = ply + 2 >= len(frames)
    if is_stack_full or (frames[ply, NUM_THREATS] == 0 and frames[ply, DEPTH] <= 0):
        control[HIT_HORIZON] = 1
        score = totals[side, length + 1] - totals[1 - side, length + 1] + control[TEMPO]
        score = min(max(score, -MAX_ESTIMATE), MAX_ESTIMATE)
        frames[ply, BEST] = score
        frames[ply, STAGE] = FOURS
        is_last = is_stack_full or frames[ply, DEPTH] <= -control[MAX_FOURS]
        if score >= frames[ply, BETA] or is_last or totals[side, length - 2] == 0:
            return True, score
        list_fours(
            game,
            ply,
            side,
            board,
            control,
            frames,
            moves,
            windows,
            cell_info,
            stone_counts,
            cell_values,
        )
        return False, 0
    # 2. One threat can only be blocked; against two threats there is no defence.
    if frames[ply, NUM_THREATS] > 0:
        frames[ply, STAGE] = FORCED_BLOCK
        if frames[ply, NUM_THREATS] == 1:
            moves[ply, 0] = frames[ply, THREAT_1]
            frames[ply, NUM_MOVES] = 1
        return False, 0
    # 3. List the most promising moves.
    num_legal = 0
    for action in range(len(entry_cells)):
        if board[entry_cells[action]] == 0:
            num_legal += 1
            cell = game.landing(board, action)
            rank = (
                4 * cell_values[side, cell]
                + 3 * cell_values[1 - side, cell]
                + cell_info[cell, CENTRALITY]
            )
            if action == frames[ply, KILLER]:
                rank += 4 * totals[WEIGHTS, length - 2]
            insert_by_rank(ply, action, rank, control[WIDTH], frames, moves)
    frames[ply, STAGE] = ALL_MOVES if frames[ply, NUM_MOVES] == num_legal else PROMISING
    return False, 0


def list_fours(
    game: BoardGame,
    ply: Any,
    side: Any,
    board: Any,
    control: Any,
    frames: Any,
    moves: Any,
    windows: Any,
    cell_info: Any,
    stone_counts: Any,
    cell_values: Any,
) -> None:
    """List the moves after which a window of this side lacks one stone."""
    length = windows.shape[1]
    for window in range(len(windows)):
        if stone_counts[side, window] != length - 2 or stone_counts[1 - side, window] != 0:
            continue
        for j in range(length):
            cell = windows[window, j]
            action = cell_info[cell, ACTION]
            if board[cell] == 0 and game.landing(board, action) == cell:
                is_listed = False
                for i in range(frames[ply, NUM_MOVES]):
                    is_listed = is_listed or moves[ply, i] == action
                if not is_listed:
                    insert_by_rank(
                        ply, action, cell_values[side, cell], control[WIDTH], frames, moves
                    )


def insert_by_rank(ply: Any, action: Any, rank: Any, limit: Any, frames: Any, moves: Any) -> None:
    """Insert an action into the list, highest rank first; keep at most `limit` actions."""
    ranks = moves.shape[1] // 2
    index = frames[ply, NUM_MOVES]
    if index < limit:
        frames[ply, NUM_MOVES] = index + 1
    elif moves[ply, ranks + index - 1] < rank:
        index -= 1
    else:
        return
    while index > 0 and moves[ply, ranks + index - 1] < rank:
        moves[ply, index] = moves[ply, index - 1]
        moves[ply, ranks + index] = moves[ply, ranks + index - 1]
        index -= 1
    moves[ply, index] = action
    moves[ply, ranks + index] = rank


def add_remaining_moves(ply: Any, board: Any, frames: Any, moves: Any, entry_cells: Any) -> Any:
    """Append the legal moves that were left out, if they matter; return whether they do.

    They matter if all promising moves lose and a proof is required. They also matter if the block
    loses by rule or there are two threats: then any move that does not lose by rule lasts longest.
    """
    best = frames[ply, BEST]
    if best >= frames[ply, BETA]:
        return False
    if frames[ply, STAGE] == PROMISING and max(best, frames[ply, ALPHA]) < -DECISIVE_SCORE:
        frames[ply, STAGE] = ALL_MOVES
    elif frames[ply, STAGE] == FORCED_BLOCK and best <= 1 - WIN_SCORE:
        frames[ply, STAGE] = LOST
        if frames[ply, NUM_MOVES] == 0:  # block one of two threats first, as people do
            moves[ply, 0] = frames[ply, THREAT_1]
            frames[ply, NUM_MOVES] = 1
    else:
        return False
    num_searched = frames[ply, NUM_MOVES]
    for action in range(len(entry_cells)):
        skip = board[entry_cells[action]] != 0
        for i in range(num_searched):
            skip = skip or moves[ply, i] == action
        if not skip:
            moves[ply, frames[ply, NUM_MOVES]] = action
            frames[ply, NUM_MOVES] += 1
    return True


def final_score(ply: Any, control: Any, frames: Any) -> Any:
    """Return the score of a searched state; if moves were left out, a loss becomes an estimate."""
    best = frames[ply, BEST]
    if frames[ply, STAGE] == PROMISING and best < frames[ply, BETA]:
        control[HIT_HORIZON] = 1
        return max(best, -MAX_ESTIMATE)
    return best
