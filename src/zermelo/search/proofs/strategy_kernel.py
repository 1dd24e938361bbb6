"""Kernels that choose a strategy's moves: those worth trying, one that keeps the value, replies.

In every state here the strategy's owner is to move. It has one of two goals: WIN, or HOLD, which
is not to lose.

A draw can be held by **pairs** of free cells (Hales and Jewett, Regularity and positional games,
1963): who always answers in the same pair never lets the other side complete a line that holds
one. Where every line still open to the other side holds a pair, nothing more needs to be listed.
"""

from typing import Any

from zermelo.core.bitboard import lowest, popcount, word
from zermelo.core.game import SolverHooks
from zermelo.kernels import kernel
from zermelo.search.negamax.kernel import COARSE, DEPTH, GAP, HIGH, LOW, NEW, later, solve
from zermelo.search.state_keys import find_index_slot

HOLD, WIN = 0, 1
ROOM = 64  #: columns for moves, and as many for their costs
MAX_PAIRS = 32
UNSCORED = -1  #: `at` of a state whose score must be found first
_OPEN_REPLY = 1000  # above every rank
_ENDS_WELL, _FAILS = -(1 << 40), 1 << 40  # costs
_WHOLE = 1 << 20  # what a full line would be worth
_LINE, _NEXT = 0, 1  # columns of the stack of `pair_up`


@kernel(
    "uint64[:,::1], int64, uint64[::1], int64, int64[:,::1], int64[::1], uint64[:,::1], "
    "int64[::1], int64[:,::1]",
    common=False,
)
def arrange(
    game: SolverHooks,
    states: Any,  # [state, word]
    goal: Any,
    lines: Any,  # every line that wins, as a mask
    tries: Any,  # steps for finding pairs; 0: only see if no line is open; below 0: not even that
    moves: Any,  # [state, actions worth trying, then their costs]: cheap ones first
    counts: Any,  # [state]: how many actions
    pairs: Any,  # [state, pair as a mask]: they hold the only action in the list
    held: Any,  # [state]: how many pairs, -1 where they do not hold
    stack: Any,
) -> Any:
    """List the moves that do not fail at once.

    To win, first those that leave the fewest replies without a win at once; to hold, those after
    which the other side's open lines are worth least, or alone a move that pairs hold.
    """
    for number in range(len(states)):
        state = game.load(states, number)
        counts[number], held[number] = 0, -1
        mask = game.legal(state)
        while mask != word(0):
            action = lowest(mask)
            mask = mask & (mask - word(1))
            child = game.play(state, action)
            over, value = game.result(child)
            cost = _ENDS_WELL if over and -value >= goal else _FAILS
            if not over and goal == WIN:
                cost = open_replies(game, child) - game.rank_move(state, action)
            elif not over:
                cost = danger(child, lines)
                if tries >= 0:
                    held[number] = pair_up(game, child, lines, tries, pairs[number], stack)
                if held[number] >= 0:
                    counts[number], mask = 0, word(0)
            if cost < _FAILS:
                insert(moves, number, counts, action, cost)
    return 0


def insert(moves: Any, number: Any, counts: Any, action: Any, cost: Any) -> None:
    """An action into the list, by its cost."""
    at = counts[number]
    counts[number] = at + 1
    while at > 0 and moves[number, ROOM + at - 1] > cost:
        moves[number, at] = moves[number, at - 1]
        moves[number, ROOM + at] = moves[number, ROOM + at - 1]
        at -= 1
    moves[number, at] = action
    moves[number, ROOM + at] = cost


def open_replies(game: SolverHooks, child: Any) -> Any:
    """The cost of the replies after which the owner does not win at once; _FAILS if one refutes."""
    cost = 0
    mask = game.legal(child)
    while mask != word(0):
        state = game.play(child, lowest(mask))
        mask = mask & (mask - word(1))
        over, value = game.result(state)
        if over and value == WIN:  # the reply loses by itself
            continue
        known, score, _moves = game.resolve(state)
        if over or (known and score <= 0):
            return 2 * _FAILS
        if not known:
            cost += _OPEN_REPLY
    return cost


def danger(child: Any, lines: Any) -> Any:
    """What the lines open to the other side are worth: double for every stone in them.

    The weights of Erdős and Selfridge, On a combinatorial game (1973).
    """
    cost = 0
    for at in range(len(lines)):
        line = word(lines[at])
        if line & child[1] == word(0):
            cost += _WHOLE >> popcount(line ^ (line & child[0]))
    return cost


def pair_up(game: SolverHooks, child: Any, lines: Any, tries: Any, pairs: Any, stack: Any) -> Any:
    """How many pairs hold the draw after the owner's move, -1 if none are found.

    Depth first: the open line with the fewest free cells gets a pair, if it can from those that
    two lines share.
    """
    own = child[1]
    free = game.full ^ (own | child[0])
    depth = 0
    down = True
    while depth >= 0:
        if down:
            line = narrowest(lines, own, free, pairs, depth)
            if line < 0:
                return depth
            tries -= 1
            if tries < 0:
                return -1
            stack[depth, _LINE], stack[depth, _NEXT] = line, 0
        cells = word(lines[stack[depth, _LINE]]) & free
        down = next_pair(lines, own, cells, pairs, stack, depth)
        if down:
            free = free ^ word(pairs[depth])
            depth += 1
        else:
            depth -= 1
            if depth >= 0:
                free = free ^ word(pairs[depth])
    return -1


def narrowest(lines: Any, own: Any, free: Any, pairs: Any, depth: Any) -> Any:
    """The open line without a pair that has the fewest free cells; -1 if every one has a pair."""
    best, fewest = -1, 65
    for at in range(len(lines)):
        line = word(lines[at])
        is_open = line & own == word(0)
        for i in range(depth):
            is_open = is_open and line & word(pairs[i]) != word(pairs[i])
        left = popcount(line & free)
        if is_open and left < fewest:
            best, fewest = at, left
    return best


def next_pair(lines: Any, own: Any, cells: Any, pairs: Any, stack: Any, depth: Any) -> Any:
    """Whether these cells have another pair, which is then put on the stack.

    They are numbered twice over: first those that two lines share count, then the others.
    """
    number = popcount(cells)
    total = number * (number - 1) // 2
    for at in range(stack[depth, _NEXT], 2 * total):
        pair = nth_pair(cells, at % total)
        shared = 0
        for i in range(len(lines)):
            line = word(lines[i])
            if line & own == word(0) and line & pair == pair:
                shared += 1
        if (shared > 1) == (at < total):
            pairs[depth] = pair
            stack[depth, _NEXT] = at + 1
            return True
    return False


def nth_pair(cells: Any, number: Any) -> Any:
    """The pairs of a mask's cells by number: first those with its lowest cell."""
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
    "uint64[:,::1], int64, int64[:,::1], int64[::1], int64[::1], int64[::1], uint64[:,::1], "
    "int64, int64[::1], uint64[:,::1], uint64[:,::1], int64[:,::1], int64[:,::1], "
    "uint64[:,::1], uint64[:,::1], uint64[:,:,::1], float32[::1], float32[:,::1], uint64[:,::1]",
    common=False,
    bare=True,
)
def pick(
    game: SolverHooks,
    owned: Any,  # [state, word]
    least: Any,  # what the score of every one is at least
    choices: Any,  # [state, action]
    held: Any,
    at: Any,  # [state]: which of its actions, UNSCORED to begin with where the goal is to win
    wanted: Any,  # [state]: its score, where the goal is to win; else 0
    root: Any,  # room for one state
    begin: Any,
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
    """Find in `at`, from state `begin` on, the first action that reaches the state's score.

    Returns how many states are done: fewer than there are when the node budget is spent, then to
    be called again with that number. The solver's table stays from state to state.
    """
    control[COARSE] = 0
    for number in range(begin, len(owned)):
        done = held[number] >= 0
        while not done:
            state = game.load(owned, number)
            low, high = least, game.win_score
            if at[number] != UNSCORED:
                state = game.play(state, int(choices[number, at[number]]))
                low = -later(game, wanted[number])
                high = low + 1
            over, _value = game.result(state)
            if over:  # as listed, it ends well
                break
            if control[DEPTH] == NEW:
                game.store(root, 0, state)
                control[LOW], control[HIGH] = low, high
                control[GAP] = game.win_score - game.max_plies(state) - 1
            if not solve(
                game,
                root[0],
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
            ):
                return number
            if at[number] == UNSCORED:
                wanted[number], at[number] = control[LOW], 0
            elif control[HIGH] <= low:
                done = True
            else:
                at[number] += 1
    return len(owned)


@kernel(
    "uint64[:,::1], int64[::1], int64[::1], uint64[:,::1], int32[::1], int64, int64", common=False
)
def spread(
    game: SolverHooks,
    owned: Any,  # [state, word]
    actions: Any,
    held: Any,
    found: Any,  # [state, word]: the queue
    slots: Any,  # its index, as in `tables.reach`
    placed: Any,
    used: Any,
) -> Any:
    """Append to found[:used] the states after every reply that a move must be listed for.

    The first `placed` of them are in the index; the caller sees to room in both. Returns `used`.
    """
    for row in range(placed, used):
        slots[find_index_slot(game, found, slots, game.load(found, row))] = row + 1
    for number in range(len(owned)):
        child = game.play(game.load(owned, number), int(actions[number]))
        over, _value = game.result(child)
        mask = game.legal(child)
        while mask != word(0) and not over and held[number] < 0:
            state = game.play(child, lowest(mask))
            mask = mask & (mask - word(1))
            ended, _value = game.result(state)
            known, score, _moves = game.resolve(state)
            if ended or (known and score == game.win_score - 1):
                continue
            slot = find_index_slot(game, found, slots, state)
            if slots[slot] == 0:
                game.store(found, used, state)
                used += 1
                slots[slot] = used
    return used
