"""The negamax kernel of bitboard games: alpha-beta, a transposition table and move ordering.

A score is for the side to move: a win in n plies is `win_score - n`, a loss in n plies
`n - win_score`, a draw 0 (in Reversi the score is the disc difference). The plies are counted
from the scored state: a score moves towards 0 by one with every ply on its way to the root, and a
table entry is valid wherever its state occurs in the tree.

The recursion is a stack in arrays: a search that has used up its nodes returns and can be continued
later. Between two calls, the caller can handle limits, progress and Ctrl-C.

The game's hooks (see `SolverHooks`) provide what is known about a state without search: `resolve`
and `resolve_in_window` score a state or reduce its moves, `should_store` keeps cheap states out of
the table, `rank_move` orders moves, `evaluate` and `evaluate_network` estimate a state at the
horizon.
"""

from typing import Any

from zermelo.core.bitboard import prefetch, scale, sign, word
from zermelo.core.game import SolverHooks
from zermelo.kernels.registry import kernel
from zermelo.search.negamax.arrays import (
    ALPHA,
    BEST,
    BEST_MOVE,
    BETA,
    CACHE_HITS,
    CURRENT_MOVE,
    DEPTH,
    FIXED_WINDOW,
    GENERATION,
    GROW_AT_NODE,
    GUESS,
    HEURISTIC_WEIGHT,
    HISTORY,
    HISTORY_BITS,
    HISTORY_END,
    HIT_HORIZON,
    HORIZON,
    LOWER,
    LOWER_BOUND,
    NETWORK_LOOKUPS,
    NETWORK_WEIGHT,
    NEXT_MOVE,
    NO_SCORE,
    NODE_LIMIT,
    NODES,
    NOT_STARTED,
    NUM_MOVES,
    NUM_SLOTS,
    PEAK_SLOTS,
    PLIES_LEFT,
    SCORE_GAP,
    SEARCH_ARRAYS,
    SHORT_WINS_FIRST,
    SIGN_ONLY,
    STACK_OVERFLOW,
    SYMMETRY_DEPTH,
    SYMMETRY_PLIES,
    UPPER,
    UPPER_BOUND,
    USE_ORDERING,
    USE_TABLE,
    SearchArrays,
)
from zermelo.search.negamax.transposition_table import (
    BIAS,
    CACHED_SLOTS,
    GROWTH,
    MAX_REHASHED_SLOTS,
    MIN_SLOTS,
    NO_MOVE,
    NODES_PER_SLOT,
    first_slot,
    probe,
    rehash,
    store,
)
from zermelo.search.state_keys import hash_words

_SOON, _LATER = 10, 16  # plies to the end, used by `next_guess`; tuned on Connect Four
_INDICES = 1 << 10  # a listed move is coded as its rank times this, plus 1023 minus its index
_TABLE_MOVE_RANK = 1 << 40  # above every other rank


@kernel(f"int64[::1], {SEARCH_ARRAYS}", bare=True)
def solve(game: SolverHooks, control: Any, packed: Any) -> Any:
    """Search states[0] until its score is found; return False if the node limit is reached first.

    With FIXED_WINDOW there is a single search. Otherwise a sequence of null-window searches narrows
    control[LOWER] <= score <= control[UPPER], each testing whether the score is above a guess,
    until the bounds are equal. With SIGN_ONLY, the sequence stops as soon as the bounds show
    whether the root is a win, a draw or a loss.
    """
    return solve_root(game, control, SearchArrays(*packed))


def solve_root(game: SolverHooks, control: Any, arrays: Any) -> Any:
    """Solve states[0] like `solve`, for kernels that have already unpacked the arrays."""
    frames = arrays.frames
    while control[FIXED_WINDOW] != 0 or not is_answered(control):
        if control[DEPTH] == NOT_STARTED:
            control[DEPTH] = 0
            if control[FIXED_WINDOW] != 0:
                frames[0, ALPHA], frames[0, BETA] = control[LOWER], control[UPPER]
            else:
                root = game.load(arrays.states, 0)
                control[SCORE_GAP] = game.win_score - game.max_plies(root) - 1
                control[GUESS] = next_guess(game, control)
                frames[0, ALPHA], frames[0, BETA] = control[GUESS], control[GUESS] + 1
            frames[0, PLIES_LEFT] = control[HORIZON]
            frames[0, NEXT_MOVE] = NOT_STARTED
        finished, score = search(game, control, arrays)
        if not finished:
            return False
        control[DEPTH] = NOT_STARTED
        if control[FIXED_WINDOW] != 0:
            control[GUESS] = score
            return True
        if score > control[GUESS]:
            control[LOWER] = score
        else:
            control[UPPER] = score
    return True


def is_answered(control: Any) -> Any:
    """Return whether the bounds of the root's score are narrow enough to end the search."""
    if control[LOWER] >= control[UPPER]:
        return True
    return control[SIGN_ONLY] != 0 and (control[LOWER] > 0 or control[UPPER] < 0)


def next_guess(game: SolverHooks, control: Any) -> Any:
    """Return the next guess, between the bounds: a search tests whether the score is above it.

    This is a binary search that prefers scores of short games, which are cheap to prove. In games
    with `short_wins_first`, and if SHORT_WINS_FIRST is set, it first tests whether the game is
    decided within `_SOON` plies, then within `_LATER` plies, then who wins, and finally finds the
    distance. Scores from -SCORE_GAP to SCORE_GAP other than 0 cannot occur and are skipped.
    """
    if control[SIGN_ONLY] != 0:
        return 0 if control[UPPER] > 0 else -1
    if game.short_wins_first or control[SHORT_WINS_FIRST] != 0:
        for plies in (_SOON, _LATER, game.win_score):
            guess = game.win_score - plies
            if plies == game.win_score or guess > control[SCORE_GAP]:
                if control[LOWER] <= guess < control[UPPER]:
                    return guess
                if control[LOWER] <= -guess - 1 < control[UPPER]:
                    return -guess - 1
    low = control[LOWER] - control[SCORE_GAP] * sign(control[LOWER])
    high = control[UPPER] - control[SCORE_GAP] * sign(control[UPPER])
    guess = low + (high - low) // 2
    if guess <= 0 and -(-low // 2) < guess:
        guess = -(-low // 2)
    elif guess >= 0 and high // 2 > guess:
        guess = high // 2
    guess += control[SCORE_GAP] * sign(guess)
    return min(max(guess, control[LOWER]), control[UPPER] - 1)


def search(game: SolverHooks, control: Any, arrays: Any) -> Any:  # noqa: PLR0915 - one loop
    """Search states[0] with the window in frames[0]; return (finished, score).

    A score inside the window is exact; a score outside the window is a bound (fail-soft). If the
    search is not finished, the node limit was reached or the stack is full.
    """
    frames, states = arrays.frames, arrays.states
    depth = control[DEPTH]
    score = 0
    while True:
        # 1. Enter a state: score it without search, find it in the table, or list its moves.
        if frames[depth, NEXT_MOVE] == NOT_STARTED:
            if control[NODES] >= control[NODE_LIMIT]:
                control[DEPTH] = depth
                return False, 0
            control[NODES] += 1
            if control[NODES] >= control[GROW_AT_NODE]:
                grow_table(game, control, arrays.table)
            settled, score = enter_state(game, depth, control, arrays)
            if not settled:
                frames[depth, NEXT_MOVE] = 0
        else:
            settled = False
        # 2. Search the next move, unless there is none or a cutoff has occurred.
        if not settled:
            number = frames[depth, NEXT_MOVE]
            if number < frames[depth, NUM_MOVES] and frames[depth, BEST] < frames[depth, BETA]:
                if depth + 1 == frames.shape[0]:
                    control[STACK_OVERFLOW] = 1
                    return False, 0
                index = _INDICES - 1 - (arrays.moves[depth, number] & (_INDICES - 1))
                frames[depth, NEXT_MOVE] = number + 1
                frames[depth, CURRENT_MOVE] = index
                game.store(states, depth + 1, game.play_index(game.load(states, depth), index))
                child_moves = game.load_mask(arrays.child_moves, depth, index * game.num_masks)
                game.store_mask(states, depth + 1, game.num_words, child_moves)
                alpha = max(frames[depth, ALPHA], frames[depth, BEST])
                frames[depth + 1, ALPHA] = child_bound(game, frames[depth, BETA])
                frames[depth + 1, BETA] = child_bound(game, alpha)
                if stays_on_move(game, depth, states):
                    frames[depth + 1, ALPHA] = -child_bound(game, alpha)
                    frames[depth + 1, BETA] = -child_bound(game, frames[depth, BETA])
                frames[depth + 1, NEXT_MOVE] = NOT_STARTED
                # A forced move does not count towards the horizon.
                ply = frames[depth, NUM_MOVES] > 1
                frames[depth + 1, PLIES_LEFT] = frames[depth, PLIES_LEFT] - ply
                depth += 1
                continue
            if frames[depth, BEST] >= frames[depth, BETA] and number > 0:
                cutoffs = history_slot(game, depth, frames[depth, BEST_MOVE])
                control[cutoffs] += 1
                if control[cutoffs] >> control[HISTORY_BITS] != 0:
                    control[HISTORY_BITS] += 1
            # A best score outside the window is a bound; a best score inside it is exact.
            score = frames[depth, BEST]
            if score > frames[depth, ALPHA]:
                frames[depth, LOWER_BOUND] = max(frames[depth, LOWER_BOUND], score)
            if score < frames[depth, BETA]:
                frames[depth, UPPER_BOUND] = min(frames[depth, UPPER_BOUND], score)
            if control[USE_TABLE] != 0 and game.should_store(game.load(states, depth)):
                store_result(game, depth, control, arrays)
        # 3. Return the score to the parent.
        if depth == 0:
            return True, score
        depth -= 1
        score = parent_score(game, score)
        if stays_on_move(game, depth, states):
            score = -score
        if score > frames[depth, BEST]:
            frames[depth, BEST] = score
            frames[depth, BEST_MOVE] = frames[depth, CURRENT_MOVE]


def enter_state(game: SolverHooks, depth: Any, control: Any, arrays: Any) -> Any:
    """Return (settled, score) for a state just reached; if it is not settled, list its moves."""
    # 1. Ask the hooks for a score or bounds.
    frames = arrays.frames
    state = game.load(arrays.states, depth)
    alpha, beta = frames[depth, ALPHA], frames[depth, BETA]
    known, score = game.resolve_in_window(state, alpha, beta)
    mask = game.load_mask(arrays.states, depth, game.num_words)
    if depth == 0 and not known:
        known, score, root_moves = game.resolve(state)
        mask = game.as_mask(root_moves)
        may_merge = has_symmetric_descendants(game, state, arrays.symmetry_tables)
        control[SYMMETRY_DEPTH] = control[SYMMETRY_PLIES] if may_merge else 0
    if known:
        return True, score
    low, high = game.score_bounds(state, alpha, beta)
    if low >= beta or high <= alpha:
        return True, low if low >= beta else high
    if frames[depth, PLIES_LEFT] <= 0:
        control[HIT_HORIZON] = 1
        return True, estimate_leaf(game, state, control, arrays)
    # 2. Look the state up in the transposition table.
    first = NO_MOVE
    if control[USE_TABLE] != 0 and game.should_store(state):
        canonical = state
        if depth < control[SYMMETRY_DEPTH]:
            # This is `canonical_state`, inlined by hand: where boards of several sizes share a
            # kernel, a call would cost some 4 % of the time.
            for number in range(1, len(arrays.symmetry_tables)):
                image = game.transform_by_table(state, arrays.symmetry_tables[number])
                if image < canonical:
                    canonical = image
        key = game.key(canonical)
        game.store_key(arrays.keys, depth, key)
        is_current, table_low, table_high, move = probe(
            game, arrays.table, key, control[NUM_SLOTS], control[GENERATION]
        )
        if is_current:
            low, high = max(low, table_low), min(high, table_high)
            if low >= beta or high <= alpha or low >= high:
                return True, high if high <= alpha else low
        # The bounds of an earlier iteration are invalid, but its best move is a good first move to
        # try. The best move of a canonical state is not used, as it may belong to a mirror image.
        is_own_move = depth >= control[SYMMETRY_DEPTH]
        if is_own_move and (is_current or control[FIXED_WINDOW] != 0):
            first = move
    # 3. Score the moves that need no search, and list the others.
    alpha, beta = max(alpha, low), min(beta, high)
    count, best, best_move = order_moves(game, depth, state, mask, first, control, arrays, beta)
    # A win by a move that needs a search takes longer than an immediate win, perhaps too long for
    # its score to exceed alpha.
    most = max(best, parent_score(game, game.min_loss_plies - game.win_score))
    if not game.is_alternating:  # a win by a second move in a row
        most = max(most, -parent_score(game, game.win_score - game.min_win_plies))
    if best >= beta or most <= alpha:
        return True, best if best >= beta else most
    frames[depth, ALPHA], frames[depth, BETA] = alpha, beta
    frames[depth, LOWER_BOUND], frames[depth, UPPER_BOUND] = low, high
    frames[depth, BEST], frames[depth, BEST_MOVE] = best, best_move
    frames[depth, NUM_MOVES] = count
    return False, 0


def order_moves(
    game: SolverHooks,
    depth: Any,
    state: Any,
    mask: Any,
    first: Any,  # the best move in the transposition table, or NO_MOVE
    control: Any,
    arrays: Any,
    beta: Any,
) -> Any:
    """List the moves that need a search and score the others; return (count, best, best move).

    `count` is the number of listed moves, which are sorted by rank, highest first (insertion sort).
    `best` and `best move` are the highest score without search and its move. If that score causes
    a cutoff, the remaining moves are skipped.
    """
    moves = arrays.moves
    count, best, best_move = 0, NO_SCORE, NO_MOVE
    left, is_pass = mask, game.is_empty(mask)
    prefetches = control[NUM_SLOTS] > CACHED_SLOTS
    while not game.is_empty(left) or is_pass:
        index = game.num_actions - 1
        if not is_pass:
            index = game.lowest_action(left)
            left = game.without_lowest(left)
        is_pass = False
        known, score, child_moves = game.resolve_child(state, index)
        if known:
            score = parent_score(game, score)
            if not game.is_alternating:
                child = game.as_words(game.play_index(state, index))
                score = -score * game.turn_sign(state, child)
            if score > best:
                best, best_move = score, index
                if best >= beta:
                    break
            continue
        column = index * game.num_masks
        game.store_mask(arrays.child_moves, depth, column, game.as_mask(child_moves))
        if prefetches:
            child = game.as_words(game.play_index(state, index))
            prefetch(arrays.table, first_slot(game.key(child), control[NUM_SLOTS]))
        rank = 0
        if control[USE_ORDERING] != 0:
            cutoffs = control[history_slot(game, depth, index)]
            rank = game.rank_move(state, index)
            rank += (game.history_weight * cutoffs) >> control[HISTORY_BITS]
            if index == first:
                rank = _TABLE_MOVE_RANK
        entry = rank * _INDICES + _INDICES - 1 - index
        at = count
        while at > 0 and moves[depth, at - 1] < entry:
            moves[depth, at] = moves[depth, at - 1]
            at -= 1
        moves[depth, at] = entry
        count += 1
    return count, best, best_move


def stays_on_move(game: SolverHooks, depth: Any, states: Any) -> Any:
    """Return whether the same side moves at this depth of the stack and at the next one."""
    if game.is_alternating:
        return False
    return game.turn_sign(game.load(states, depth), game.load(states, depth + 1)) > 0


def history_slot(game: SolverHooks, depth: Any, index: Any) -> Any:
    """Return the index in `control` of a move's cutoffs; above 64 actions, moves share indices."""
    if game.num_masks > 1:
        index = index & 63
    return HISTORY + 64 * (depth & 1) + index


def estimate_leaf(game: SolverHooks, state: Any, control: Any, arrays: Any) -> Any:
    """Estimate a state at the horizon by the heuristic or, with a network, by a blend of both.

    A blended estimate is looked up in a cache first.
    """
    weights, estimates = arrays.weights, arrays.estimates
    if len(weights) == 0:
        return game.evaluate(state)
    control[NETWORK_LOOKUPS] += 1
    slot = 0
    if len(estimates) > 0:
        slot = scale(hash_words(state), len(estimates))
        entry = estimates[slot, game.num_words]
        if entry != 0 and game.load(estimates, slot) == state:
            control[CACHE_HITS] += 1
            return int(entry) - BIAS
    score = control[NETWORK_WEIGHT] * game.evaluate_network(state, weights, arrays.layers)
    if control[HEURISTIC_WEIGHT] != 0:
        score += control[HEURISTIC_WEIGHT] * game.evaluate(state)
    score = score // 1000
    if len(estimates) > 0:
        game.store(estimates, slot, state)
        estimates[slot, game.num_words] = word(score + BIAS)
    return score


def has_symmetric_descendants(game: SolverHooks, root: Any, symmetry_tables: Any) -> Any:
    """Return whether a symmetry may map a state below the root to another state below the root."""
    for number in range(1, len(symmetry_tables)):
        image = game.transform_by_table(root, symmetry_tables[number])
        if not game.have_disjoint_futures(root, image):
            return True
    return False


def parent_score(game: SolverHooks, score: Any) -> Any:
    """Convert a child's score to a score of its parent: flip the sign and add a ply."""
    score = -score
    return score - game.ply_cost * sign(score)


def child_bound(game: SolverHooks, bound: Any) -> Any:
    """Convert a bound on a state's score to a bound on its child's; inverts `parent_score`."""
    return -(bound + game.ply_cost * sign(bound))


def reset_search(control: Any, table: Any) -> None:
    """Clear the counts of the history heuristic and shrink the table to its initial size."""
    control[HISTORY_BITS] = 0
    for cutoffs in range(HISTORY, HISTORY_END):
        control[cutoffs] = 0
    set_num_slots(min(MIN_SLOTS, len(table)), control)


def grow_table(game: SolverHooks, control: Any, table: Any) -> None:
    """Enlarge the part of the table in use; rehash its entries unless there are too many."""
    old_num_slots = control[NUM_SLOTS]
    set_num_slots(min(GROWTH * old_num_slots, len(table)), control)
    if control[NUM_SLOTS] != old_num_slots and old_num_slots <= MAX_REHASHED_SLOTS:
        rehash(game, table, old_num_slots, control[NUM_SLOTS], control[GENERATION])


def set_num_slots(num_slots: Any, control: Any) -> None:
    """Use this many slots of the table, and set the node count at which it grows again."""
    control[NUM_SLOTS] = num_slots
    control[PEAK_SLOTS] = max(control[PEAK_SLOTS], num_slots)
    control[GROW_AT_NODE] = control[NODES] + NODES_PER_SLOT * num_slots


def store_result(game: SolverHooks, depth: Any, control: Any, arrays: Any) -> None:
    """Store the bounds and the best move of a searched state in the transposition table."""
    frames = arrays.frames
    key, move = game.load_key(arrays.keys, depth), frames[depth, BEST_MOVE]
    low, high = frames[depth, LOWER_BOUND], frames[depth, UPPER_BOUND]
    num_slots, generation = control[NUM_SLOTS], control[GENERATION]
    store(game, arrays.table, key, num_slots, generation, depth, move, low, high)
