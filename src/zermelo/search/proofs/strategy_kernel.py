"""Kernels that build a strategy: list candidates, choose moves that keep the value, add replies.

The owner of a strategy is the side that follows it; in all states here the owner is to move. The
goal is to WIN, or to HOLD, that is, not to lose.

A draw can be held by a **pairing strategy** (Hales and Jewett, Regularity and positional games,
1963): a player who always answers a move in a pair of free cells with the other cell of that pair
never lets the opponent complete a line that contains a pair. If every line still open to the
opponent contains a pair, no more positions need to be listed.
"""

from typing import Any

from zermelo.core.bitboard import lowest, popcount, word
from zermelo.core.game import SolverHooks
from zermelo.kernels.registry import kernel
from zermelo.search.negamax.arrays import (
    DEPTH,
    LOWER,
    NOT_STARTED,
    SEARCH_ARRAYS,
    SIGN_ONLY,
    UPPER,
    SearchArrays,
)
from zermelo.search.negamax.kernel import child_bound, solve_root
from zermelo.search.state_keys import find_index_slot

HOLD, WIN = 0, 1
MAX_MOVES = 64
MAX_PAIRS = 32
NO_PAIRING = -1  #: stands for the number of pairs if there is no pairing strategy
UNSCORED = -1  #: in `chosen`: the state has to be scored before a move is chosen
_OPEN_REPLY = 1000  # the cost of a reply after which the owner cannot win at once; above every rank
_ENDS_WELL, _FAILS = -(1 << 40), 1 << 40  # costs of moves that reach the goal, or fail, immediately
_FULL_LINE = 1 << 20  # the weight of a line without free cells
_LINE, _NEXT_PAIR = 0, 1  # columns of the stack of `find_pairing`


@kernel(
    "uint64[:,::1], int64, uint64[::1], int64, int64[:,::1], int64[:,::1], int64[::1], "
    "uint64[:,::1], int64[::1], int64[:,::1]",
    common=False,
)
def list_candidate_moves(
    game: SolverHooks,  # of a line game
    states: Any,  # [state, word]
    goal: Any,
    lines: Any,  # [line]: the winning lines as masks
    max_steps: Any,  # limit of the pair search; 0: only if no line is open; below 0: no pairing
    actions: Any,  # [state, number]: the candidates, in ascending order of cost
    costs: Any,  # [state, number]
    counts: Any,  # [state]: number of candidates
    pairs: Any,  # [state, number]: the pairs, as masks, that hold the draw after the only candidate
    num_pairs: Any,  # [state]: number of pairs, or NO_PAIRING
    stack: Any,
) -> Any:
    """List the moves of each state that do not fail immediately.

    If the goal is WIN, moves are sorted by the number of replies to which there is no immediate
    win; if it is HOLD, by the weight of the opponent's open lines. A move after which a pairing
    strategy holds the draw is listed alone.
    """
    for number in range(len(states)):
        state = game.load(states, number)
        counts[number], num_pairs[number] = 0, NO_PAIRING
        mask = game.legal(state)
        while mask != word(0):
            action = lowest(mask)
            mask = mask & (mask - word(1))
            child = game.play(state, action)
            over, value = game.result(child)
            cost = _ENDS_WELL if over and -value >= goal else _FAILS
            if not over and goal == WIN:
                cost = cost_of_replies(game, child) - game.rank_move(state, action)
            elif not over:
                cost = weigh_open_lines(child, lines)
                if max_steps >= 0:
                    num_pairs[number] = find_pairing(
                        game, child, lines, max_steps, pairs[number], stack
                    )
                if num_pairs[number] >= 0:
                    counts[number], mask = 0, word(0)
            if cost < _FAILS:
                insert_candidate(actions, costs, number, counts, action, cost)
    return 0


def insert_candidate(
    actions: Any, costs: Any, number: Any, counts: Any, action: Any, cost: Any
) -> None:
    """Insert an action into the candidates of a state, which are sorted by cost."""
    at = counts[number]
    counts[number] = at + 1
    while at > 0 and costs[number, at - 1] > cost:
        actions[number, at] = actions[number, at - 1]
        costs[number, at] = costs[number, at - 1]
        at -= 1
    actions[number, at] = action
    costs[number, at] = cost


def cost_of_replies(game: SolverHooks, child: Any) -> Any:
    """Return the total cost of the replies after which the owner cannot win immediately.

    The cost is above _FAILS if a reply refutes the move.
    """
    cost = 0
    mask = game.legal(child)
    while mask != word(0):
        state = game.play(child, lowest(mask))
        mask = mask & (mask - word(1))
        over, value = game.result(state)
        if over and value == WIN:  # the reply itself loses
            continue
        known, score, _moves = game.resolve(state)
        if over or (known and score <= 0):
            return 2 * _FAILS
        if not known:
            cost += _OPEN_REPLY
    return cost


def weigh_open_lines(child: Any, lines: Any) -> Any:
    """Return the weight of all lines open to the opponent; each stone doubles a line's weight.

    These are the weights of Erdős and Selfridge, On a combinatorial game (1973).
    """
    weight = 0
    for at in range(len(lines)):
        line = word(lines[at])
        if line & child[1] == word(0):
            weight += _FULL_LINE >> popcount(line ^ (line & child[0]))
    return weight


def find_pairing(
    game: SolverHooks, child: Any, lines: Any, max_steps: Any, pairs: Any, stack: Any
) -> Any:
    """Find pairs that hold the draw after the owner's move; return their number or NO_PAIRING.

    The search is depth-first: the open line with the fewest free cells gets a pair, preferably
    a pair that lies in two open lines.
    """
    own = child[1]
    free = game.full ^ (own | child[0])
    depth = 0
    descends = True
    while depth >= 0:
        if descends:
            line = find_narrowest_line(lines, own, free, pairs, depth)
            if line < 0:
                return depth
            max_steps -= 1
            if max_steps < 0:
                return NO_PAIRING
            stack[depth, _LINE], stack[depth, _NEXT_PAIR] = line, 0
        cells = word(lines[stack[depth, _LINE]]) & free
        descends = push_next_pair(lines, own, cells, pairs, stack, depth)
        if descends:
            free = free ^ word(pairs[depth])
            depth += 1
        else:
            depth -= 1
            if depth >= 0:
                free = free ^ word(pairs[depth])
    return NO_PAIRING


def find_narrowest_line(lines: Any, own: Any, free: Any, pairs: Any, depth: Any) -> Any:
    """Return the open line with the fewest free cells that has no pair; -1 if all have a pair."""
    best, fewest = -1, 65
    for at in range(len(lines)):
        line = word(lines[at])
        is_open = line & own == word(0)
        for i in range(depth):
            is_open = is_open and line & word(pairs[i]) != word(pairs[i])
        num_free = popcount(line & free)
        if is_open and num_free < fewest:
            best, fewest = at, num_free
    return best


def push_next_pair(lines: Any, own: Any, cells: Any, pairs: Any, stack: Any, depth: Any) -> Any:
    """Put the next pair of these cells on the stack; return False if there is none.

    All pairs are tried in two passes: first those that lie in two open lines, then the others.
    """
    num_cells = popcount(cells)
    total = num_cells * (num_cells - 1) // 2
    for at in range(stack[depth, _NEXT_PAIR], 2 * total):
        pair = nth_pair(cells, at % total)
        shared = 0
        for i in range(len(lines)):
            line = word(lines[i])
            if line & own == word(0) and line & pair == pair:
                shared += 1
        if (shared > 1) == (at < total):
            pairs[depth] = pair
            stack[depth, _NEXT_PAIR] = at + 1
            return True
    return False


def nth_pair(cells: Any, number: Any) -> Any:
    """Return the pair with this number among all pairs of cells in a mask, in ascending order."""
    following = popcount(cells) - 1
    while number >= following:
        cells = cells & (cells - word(1))
        number -= following
        following -= 1
    first = cells ^ (cells & (cells - word(1)))
    cells = cells ^ first
    for _ in range(number):
        cells = cells & (cells - word(1))
    return first | (cells ^ (cells & (cells - word(1))))


@kernel(
    "uint64[:,::1], int64, int64[:,::1], int64[::1], int64[::1], int64[::1], "
    f"int64, int64[::1], {SEARCH_ARRAYS}",
    common=False,
    bare=True,
)
def choose_moves(
    game: SolverHooks,
    states: Any,  # [state, word]
    min_score: Any,  # a lower bound of all scores
    actions: Any,  # [state, number]: the candidates
    num_pairs: Any,  # [state]
    chosen: Any,  # [state]: index of a candidate; initially UNSCORED if the goal is WIN
    scores: Any,  # [state]: to be found if the goal is WIN, otherwise 0
    begin: Any,
    control: Any,
    packed: Any,
) -> Any:
    """Write to `chosen` the first candidate of each state that reaches the state's score.

    Start with state `begin` and return the number of finished states: if the node limit is
    reached before the last state, call the kernel again with that number as `begin`. The
    transposition table is kept throughout.
    """
    arrays = SearchArrays(*packed)
    control[SIGN_ONLY] = 0
    for number in range(begin, len(states)):
        done = num_pairs[number] >= 0
        while not done:
            state = game.load(states, number)
            low, high = min_score, game.win_score
            if chosen[number] != UNSCORED:
                state = game.play(state, int(actions[number, chosen[number]]))
                low = child_bound(game, scores[number])
                high = low + 1
            over, _value = game.result(state)
            if over:  # candidates that end the game reach the goal
                break
            if control[DEPTH] == NOT_STARTED:
                game.store(arrays.states, 0, state)
                control[LOWER], control[UPPER] = low, high
            if not solve_root(game, control, arrays):
                return number
            if chosen[number] == UNSCORED:
                scores[number], chosen[number] = control[LOWER], 0
            elif control[UPPER] <= low:
                done = True
            else:
                chosen[number] += 1
    return len(states)


@kernel(
    "uint64[:,::1], int64[::1], int64[::1], uint64[:,::1], int32[::1], int64, int64", common=False
)
def append_replies(
    game: SolverHooks,
    states: Any,  # [state, word]
    actions: Any,  # [state]: the chosen actions
    num_pairs: Any,  # [state]
    queue: Any,  # [state, word]
    slots: Any,  # the index of the queue: see `find_index_slot`
    num_indexed: Any,
    used: Any,
) -> Any:
    """Append to queue[:used] every state after a reply for which the strategy needs a move.

    Return the length of the queue. The index initially holds the first `num_indexed` states of the
    queue; the others are added to it first. The caller must provide enough room in both arrays.
    """
    for row in range(num_indexed, used):
        slots[find_index_slot(game, queue, slots, game.load(queue, row))] = row + 1
    for number in range(len(states)):
        child = game.play(game.load(states, number), int(actions[number]))
        over, _value = game.result(child)
        mask = game.legal(child)
        while mask != word(0) and not over and num_pairs[number] < 0:
            state = game.play(child, lowest(mask))
            mask = mask & (mask - word(1))
            ended, _value = game.result(state)
            known, score, _moves = game.resolve(state)
            if ended or (known and score == game.win_score - 1):
                continue
            slot = find_index_slot(game, queue, slots, state)
            if slots[slot] == 0:
                game.store(queue, used, state)
                used += 1
                slots[slot] = used
    return used
