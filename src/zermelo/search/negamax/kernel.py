"""The solver's kernel: negamax with alpha-beta on a stack of its own, for every word game.

A score is seen by the side to move: a win in n plies is `win_score - n`, a loss in n plies
`n - win_score`, a draw 0 (Reversi: the disc difference). So a score moves one towards 0 with every
ply on its way up, and a table entry holds wherever its state turns up.

What a game adds are hooks (see `SolverHooks`): `resolve` settles or narrows a state without search,
`resolve_in_window` does so for the window asked about, `is_worth_storing` says which states are
worth a place in the table, `rank_move` orders moves, `evaluate` estimates a state at the horizon of
a search that has one, and `evaluate_network` does so by a network, if there are weights for one;
what that said is kept in a cache.
The kernel returns when its node budget is spent, with everything it needs to go on in its arrays,
so limits, progress and Ctrl-C are the caller's business.
"""

from typing import Any

from zermelo.core.bitboard import lowest, mix, prefetch, scale, sign, word
from zermelo.core.game import SolverHooks
from zermelo.kernels import kernel
from zermelo.search.negamax.transposition_table import (
    BIAS,
    CROWDED,
    FEW_SLOTS,
    GROWTH,
    MOST_MOVED,
    NEAR_SLOTS,
    NO_MOVE,
    recall,
    remember,
    slot_of,
    spread,
)

# Columns of `frames`, one row a ply of the stack.
ALPHA, BETA, BEST, NEXT, COUNT, KNOWN_LOW, KNOWN_HIGH, BEST_MOVE, LAST_MOVE, LEFT = range(10)
NUM_COLUMNS = 10
# Entries of `control`.
DEPTH, NODES, BUDGET, GENERATION, LOW, HIGH, GUESS, COARSE = range(8)
USE_TABLE, USE_RANK, TURN_PLIES, GAP = range(8, 12)
# WIDE: one search with the window (LOW, HIGH), HORIZON plies ahead, its score in GUESS; an
# estimate at the horizon sets MET_HORIZON. Else null windows, to the end.
WIDE, HORIZON, MET_HORIZON = range(12, 15)
# How many slots of the table are in use, and the node at which there will be more.
SLOTS, GROW_AT = range(15, 17)
TOO_DEEP = 18  # set when the stack has no room for another ply
TURN_DEPTH = 19  # TURN_PLIES, or 0 where no state below the root can be another's image
# How often a move at an even or odd ply closed the window, and the bits of the highest count.
HISTORY_BITS, HISTORY = 17, 20
_HISTORY_END = HISTORY + 2 * 64
# With a network: how often an estimate was asked for, and found in the cache; and how much of it
# is the network's and how much the heuristic's, in thousandths.
ASKED, FOUND, LEARNED, KNOWN = range(_HISTORY_END, _HISTORY_END + 4)
NUM_CONTROLS = _HISTORY_END + 4
NO_SCORE = -1 << 15  # below every score: that of an action that is not legal
_SOON, _LATER = 10, 16  # plies: measured on Connect Four
NEW = -1  # control[DEPTH] when no search is under way
_INDICES = 1 << 7  # a move in the list is its rank times this, and its index from the end


@kernel(
    "uint64[::1], int64[::1], uint64[:,::1], uint64[:,::1], int64[:,::1], int64[:,::1], "
    "uint64[:,::1], uint64[:,::1], uint64[:,:,::1], float32[::1], float32[:,::1], uint64[:,::1]",
    bare=True,
)
def solve(
    game: SolverHooks,
    root: Any,
    control: Any,
    states: Any,
    keys: Any,
    frames: Any,
    moves: Any,
    replies: Any,
    table: Any,
    turns: Any,
    net: Any,
    room: Any,
    cache: Any,
) -> Any:
    """Narrow control[LOW] <= score of `root` <= control[HIGH]; True when that is as asked.

    Each guess asks whether the score is above it, by a search with an empty window. COARSE asks
    for win, draw or loss alone: guesses 0 and -1.
    """
    while control[WIDE] != 0 or not is_settled(control):
        if control[DEPTH] == NEW:
            control[DEPTH] = 0
            for column in range(root.shape[0]):
                states[0, column] = root[column]
            if control[WIDE] != 0:
                frames[0, ALPHA], frames[0, BETA] = control[LOW], control[HIGH]
            else:
                control[GUESS] = next_guess(game, control)
                frames[0, ALPHA], frames[0, BETA] = control[GUESS], control[GUESS] + 1
            frames[0, LEFT] = control[HORIZON]
            frames[0, NEXT] = NEW
        finished, score = search(
            game, control, states, keys, frames, moves, replies, table, turns, net, room, cache
        )
        if not finished:
            return False
        control[DEPTH] = NEW
        if control[WIDE] != 0:
            control[GUESS] = score
            return True
        if score > control[GUESS]:
            control[LOW] = score
        else:
            control[HIGH] = score
    return True


def forget(control: Any, table: Any) -> None:
    """No history, and a small table to begin with."""
    control[HISTORY_BITS] = 0
    for closed in range(HISTORY, _HISTORY_END):
        control[closed] = 0
    use(min(FEW_SLOTS, len(table)), control)


def grow(game: SolverHooks, control: Any, table: Any) -> None:
    """More slots, with what is known moved to its place among them, if it is not too much."""
    old = control[SLOTS]
    use(min(GROWTH * old, len(table)), control)
    if control[SLOTS] != old and old <= MOST_MOVED:
        spread(game, table, old, control[SLOTS], control[GENERATION])


def use(slots: Any, control: Any) -> None:
    """So many slots from now on, until they are crowded."""
    control[SLOTS] = slots
    control[GROW_AT] = control[NODES] + CROWDED * slots


def is_settled(control: Any) -> Any:
    """Whether the bounds answer the question."""
    if control[LOW] >= control[HIGH]:
        return True
    return control[COARSE] != 0 and (control[LOW] > 0 or control[HIGH] < 0)


def next_guess(game: SolverHooks, control: Any) -> Any:
    """Between the bounds: halving, but near ends first, since what is decided soon is cheap.

    Where games are long: is it over soon, is it over a little later, who wins, and then when.
    Scores from -GAP to GAP other than 0 cannot occur, and are left out of the halving.
    """
    if control[COARSE] != 0:
        return 0 if control[HIGH] > 0 else -1
    if game.short_wins_first:
        for plies in (_SOON, _LATER, game.win_score):
            guess = game.win_score - plies
            if plies == game.win_score or guess > control[GAP]:
                if control[LOW] <= guess < control[HIGH]:
                    return guess
                if control[LOW] <= -guess - 1 < control[HIGH]:
                    return -guess - 1
    low = control[LOW] - control[GAP] * sign(control[LOW])
    high = control[HIGH] - control[GAP] * sign(control[HIGH])
    guess = low + (high - low) // 2
    if guess <= 0 and -(-low // 2) < guess:
        guess = -(-low // 2)
    elif guess >= 0 and high // 2 > guess:
        guess = high // 2
    guess += control[GAP] * sign(guess)
    return min(max(guess, control[LOW]), control[HIGH] - 1)


def search(
    game: SolverHooks,
    control: Any,
    states: Any,
    keys: Any,
    frames: Any,
    moves: Any,
    replies: Any,
    table: Any,
    turns: Any,
    net: Any,
    room: Any,
    cache: Any,
) -> Any:
    """(finished, score): the score of states[0] within its window, or a bound outside it.

    Fail-soft. A frame whose NEXT is NEW has just been entered.
    """
    depth = control[DEPTH]
    score = 0
    while True:
        # 1. Enter a state: settle it without search, by the table, or list its moves.
        if frames[depth, NEXT] == NEW:
            if control[NODES] >= control[BUDGET]:
                control[DEPTH] = depth
                return False, 0
            control[NODES] += 1
            if control[NODES] >= control[GROW_AT]:
                grow(game, control, table)
            settled, score = enter(
                game,
                depth,
                control,
                states,
                keys,
                frames,
                moves,
                replies,
                table,
                turns,
                net,
                room,
                cache,
            )
            if not settled:
                frames[depth, NEXT] = 0
        else:
            settled = False
        # 2. Try the next move, unless there is none or the window has closed.
        if not settled:
            at = frames[depth, NEXT]
            if at < frames[depth, COUNT] and frames[depth, BEST] < frames[depth, BETA]:
                if depth + 1 == frames.shape[0]:
                    control[TOO_DEEP] = 1
                    return False, 0
                index = _INDICES - 1 - (moves[depth, at] & (_INDICES - 1))
                frames[depth, NEXT] = at + 1
                frames[depth, LAST_MOVE] = index
                game.store(states, depth + 1, game.play_index(game.load(states, depth), index))
                states[depth + 1, game.num_words] = replies[depth, index]
                alpha = max(frames[depth, ALPHA], frames[depth, BEST])
                frames[depth + 1, ALPHA] = -later(game, frames[depth, BETA])
                frames[depth + 1, BETA] = -later(game, alpha)
                frames[depth + 1, NEXT] = NEW
                # A forced move is free: what it leads to is seen to the end.
                frames[depth + 1, LEFT] = frames[depth, LEFT] - (frames[depth, COUNT] > 1)
                depth += 1
                continue
            if frames[depth, BEST] >= frames[depth, BETA] and at > 0:
                closed = HISTORY + 64 * (depth & 1) + frames[depth, BEST_MOVE]
                control[closed] += 1
                if control[closed] >> control[HISTORY_BITS] != 0:
                    control[HISTORY_BITS] += 1
            # Outside the window the best score is a bound; inside it is the score.
            score = frames[depth, BEST]
            if score > frames[depth, ALPHA]:
                frames[depth, KNOWN_LOW] = max(frames[depth, KNOWN_LOW], score)
            if score < frames[depth, BETA]:
                frames[depth, KNOWN_HIGH] = min(frames[depth, KNOWN_HIGH], score)
            if control[USE_TABLE] != 0 and game.is_worth_storing(game.load(states, depth)):
                note(game, depth, control, keys, frames, table)
        # 3. Hand the score up.
        if depth == 0:
            return True, score
        depth -= 1
        score = sooner(game, score)
        if score > frames[depth, BEST]:
            frames[depth, BEST] = score
            frames[depth, BEST_MOVE] = frames[depth, LAST_MOVE]


def note(game: SolverHooks, depth: Any, control: Any, keys: Any, frames: Any, table: Any) -> None:
    """A finished state into the table."""
    key, move = game.load_key(keys, depth), frames[depth, BEST_MOVE]
    low, high = frames[depth, KNOWN_LOW], frames[depth, KNOWN_HIGH]
    slots, generation = control[SLOTS], control[GENERATION]
    remember(game, table, key, slots, generation, depth, move, low, high)


def sooner(game: SolverHooks, score: Any) -> Any:
    """A child's score, seen by the side that moved: the sign flips, a ply is added."""
    score = -score
    return score - game.ply_cost * sign(score)


def later(game: SolverHooks, bound: Any) -> Any:
    """The bound one ply further down that means `bound` here."""
    return bound + game.ply_cost * sign(bound)


def enter(
    game: SolverHooks,
    depth: Any,
    control: Any,
    states: Any,
    keys: Any,
    frames: Any,
    moves: Any,
    replies: Any,
    table: Any,
    turns: Any,
    net: Any,
    room: Any,
    cache: Any,
) -> Any:
    """(settled, score) for a state just reached; otherwise its moves are listed, best first."""
    state = game.load(states, depth)
    alpha, beta = frames[depth, ALPHA], frames[depth, BETA]
    known, score = game.resolve_in_window(state, alpha, beta)
    mask = word(states[depth, game.num_words])
    if depth == 0 and not known:
        known, score, moves_here = game.resolve(state)
        mask = word(moves_here)
        control[TURN_DEPTH] = control[TURN_PLIES] if may_turn(game, state, turns) else 0
    if known:
        return True, score
    low, high = game.score_bounds(state, alpha, beta)
    if low >= beta or high <= alpha:
        return True, low if low >= beta else high
    if frames[depth, LEFT] <= 0:
        control[MET_HORIZON] = 1
        return True, estimate(game, state, control, net, room, cache)
    first = NO_MOVE
    if control[USE_TABLE] != 0 and game.is_worth_storing(state):
        least = state
        if depth < control[TURN_DEPTH]:
            for turn in range(1, len(turns)):
                image = game.turned(state, turns[turn])
                if image < least:
                    least = image
        key = game.key(least)
        game.store_key(keys, depth, key)
        current, at_least, at_most, move = recall(
            game, table, key, control[SLOTS], control[GENERATION]
        )
        if current:
            low, high = max(low, at_least), min(high, at_most)
            if low >= beta or high <= alpha or low >= high:
                return True, high if high <= alpha else low
        # With a horizon an earlier iteration's bounds are void, but its best move is worth trying.
        is_own = depth >= control[TURN_DEPTH]  # not that of a mirror image
        if is_own and (current or control[WIDE] != 0):
            first = move
    alpha, beta = max(alpha, low), min(beta, high)
    count, best, best_move = list_moves(
        game, depth, state, mask, first, control, moves, replies, table, beta
    )
    # A move that is not settled takes a few plies more to win: perhaps too many.
    most = max(best, sooner(game, game.min_loss_plies - game.win_score))
    if best >= beta or most <= alpha:
        return True, best if best >= beta else most
    frames[depth, ALPHA], frames[depth, BETA] = alpha, beta
    frames[depth, KNOWN_LOW], frames[depth, KNOWN_HIGH] = low, high
    frames[depth, BEST], frames[depth, BEST_MOVE] = best, best_move
    frames[depth, COUNT] = count
    return False, 0


def may_turn(game: SolverHooks, root: Any, turns: Any) -> Any:
    """Whether a symmetry can map one state below the root to another."""
    for turn in range(1, len(turns)):
        image = game.turned(root, turns[turn])
        if not game.have_disjoint_futures(root, image):
            return True
    return False


def estimate(game: SolverHooks, state: Any, control: Any, net: Any, room: Any, cache: Any) -> Any:
    """Of a state at the horizon: the heuristic's, or a blend with what was learned."""
    if len(net) == 0:
        return game.evaluate(state)
    control[ASKED] += 1
    slot = 0
    if len(cache) > 0:
        digest = word(0)
        for part in state:
            digest = mix(digest ^ part)
        slot = scale(digest, len(cache))
        entry = cache[slot, game.num_words]
        if entry != 0 and game.load(cache, slot) == state:
            control[FOUND] += 1
            return int(entry) - BIAS
    score = control[LEARNED] * game.evaluate_network(state, net, room)
    if control[KNOWN] != 0:
        score += control[KNOWN] * game.evaluate(state)
    score = score // 1000
    if len(cache) > 0:
        game.store(cache, slot, state)
        cache[slot, game.num_words] = word(score + BIAS)
    return score


def list_moves(
    game: SolverHooks,
    depth: Any,
    state: Any,
    mask: Any,
    first: Any,
    control: Any,
    moves: Any,
    replies: Any,
    table: Any,
    beta: Any,
) -> Any:
    """(count, best, its move): the best of the moves that need no search, and how many do.

    Those are listed by rank, highest first (insertion sort), the table's move before all. A move
    that closes the window ends the list.
    """
    count, best, best_move = 0, NO_SCORE, NO_MOVE
    left, is_pass = mask, mask == 0
    fetches = control[SLOTS] > NEAR_SLOTS
    while left != 0 or is_pass:
        index = game.num_actions - 1
        if not is_pass:
            index = lowest(left)
            left = left & (left - word(1))
        is_pass = False
        known, score, reply = game.resolve_child(state, index)
        if known:
            score = sooner(game, score)
            if score > best:
                best, best_move = score, index
                if best >= beta:
                    break
            continue
        replies[depth, index] = reply
        if fetches:
            child = game.as_words(game.play_index(state, index))
            prefetch(table, slot_of(game.key(child), control[SLOTS]))
        rank = 0
        if control[USE_RANK] != 0:
            closed = control[HISTORY + 64 * (depth & 1) + index]
            rank = game.rank_move(state, index)
            rank += (game.history_weight * closed) >> control[HISTORY_BITS]
            if index == first:
                rank = 1 << 40
        entry = rank * _INDICES + _INDICES - 1 - index
        at = count
        while at > 0 and moves[depth, at - 1] < entry:
            moves[depth, at] = moves[depth, at - 1]
            at -= 1
        moves[depth, at] = entry
        count += 1
    return count, best, best_move
