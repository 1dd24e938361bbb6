"""Forced wins on boards above 64 cells: a search of threats, on a stack of its own.

The **attacker** moves first. A **four** is a move after which it could win at once; a **quiet
threat** is one after which it would win by fours if the defender passed. (The names are those of
five in a row, the search is the same for any length.) A state is won for the attacker

- if it can win at once,
- by a four, if the defender has no win at once after it, and two cells to block, or a block that
  loses by itself (a forbidden point), or a block after which the state is won again,
- by a quiet threat, if the state is won again after every defence.

Why the defences that are looked at are all that matter. To a four the one block is the only
answer: no other stone changes a run through a free cell. Against a quiet threat there is a line
of fours that wins if the defender passes. A stone that is neither on a cell of that line, nor
helps the defender to a four of his own before it ends, leaves every step of the line as it was.
So the defences are the cells of the line, and the free cells of all windows without attacking
stones that lack two or less once the defender has made every block of the line. Where a step
hangs on a forbidden point, which distant stones may change, every legal move is a defence.

So a win that is found is proven. That none is found proves nothing: the search is bounded, quiet
threats come from promising cells only, and failures are remembered by a hash.
"""

from typing import Any

from zermelo.core.bitboard import mix, word
from zermelo.games.lines.large import ALLOWED, FORBIDDEN, FREE, BoardLineGame
from zermelo.kernels import kernel
from zermelo.search.large.threat_moves import (
    NOWHERE,
    count,
    list_attacks,
    list_defences,
    list_free,
    winning_gaps,
)

# Columns of `frames`, one row a state on the stack. LAST: the stone that led to it.
KIND, LIMIT, CAP, LAST, STAGE, NEXT, COUNT, LENGTH, PLIES, HANGING = range(10)
NUM_COLUMNS = 10
# Kinds of states: the attacker to move, with fours only or with all threats; the defender to move
# after a move that had to be a four, or any threat.
FOURS, THREATS, BLOCK, DEFENCE = range(4)
DEFENDING = 2  # from a kind of the attacker to that of the defender
# Stages: just entered, waiting for a search of fours alone, trying the moves of its list.
NEW, TEST, TRY = range(3)
# What is known of a state: nothing yet, won for the attacker, not won; or another is on top of it.
OPEN, WON, FAILED, PUSHED = range(4)
# Entries of `control`. SUB_*: how many fours, and nodes, a search of fours within another may take.
PLY, NODES, BUDGET, ATTACKER, LEFT, SOLVED, READY, SUB_FOURS, SUB_NODES, GENERATION = range(10)
NUM_CONTROLS = 10
NO_CAP = 1 << 60


@kernel(
    "uint8[::1], int64[::1], int64[:,::1], int32[:,::1], int32[:,::1], int32[:,::1], "
    "int32[:,::1], int32[::1], int32[::1], uint64[:,::1], uint64[::1]"
)
def force(
    game: BoardLineGame,
    cells: Any,  # the padded board; as it was when the search is over
    control: Any,
    frames: Any,  # [ply, column]; the first row says what is asked
    moves: Any,  # [ply, places to try]
    lines: Any,  # [ply, the winning line from there; frames[ply, LENGTH] places]
    windows: Any,  # [window, its places]
    through: Any,  # [place, (action, nearness to the centre, number of windows, those …)]
    tally: Any,  # [window, attacking stones + DEFENDER * defending stones]
    ranks: Any,  # [place], zeros: room to mark places
    memo: Any,  # [slot, (key, generation and limit)]: states that were searched without a win
    key: Any,  # [1]: the hash of the stones
) -> Any:
    """Search as frames[0] asks; True when control[SOLVED] says whether it is won.

    False when the budget of nodes is spent: call again with a higher one to go on.
    """
    ply = control[PLY]
    if control[READY] == 0:
        for place in range(len(cells)):
            if cells[place] in (1, 2):
                count(place, cells[place] - 1 == control[ATTACKER], 1, through, tally, key)
        control[READY] = 1
    while True:
        # 1. Enter a state, or try its next move.
        if frames[ply, STAGE] == NEW:
            if control[NODES] >= control[BUDGET]:
                control[PLY] = ply
                return False
            found = enter(
                game, ply, cells, control, frames, moves, lines, windows, through, tally, ranks,
                memo, key,
            )  # fmt: skip
        else:
            found = go_on(ply, cells, control, frames, moves, through, tally, key)
        if found == PUSHED:
            ply += 1
        # 2. What is known of a state goes down the stack as far as it decides something.
        while found in (WON, FAILED):
            if found == FAILED and frames[ply, KIND] < DEFENDING:
                remember(ply, control, frames, memo, key)
            if ply == 0:
                control[SOLVED] = found == WON
                return True
            ply -= 1
            found = take(
                ply, found, cells, control, frames, moves, lines, windows, through, tally, ranks,
                key,
            )  # fmt: skip


def place_stone(
    place: Any,
    attacks: Any,
    step: Any,
    cells: Any,
    control: Any,
    through: Any,
    tally: Any,
    key: Any,
) -> None:
    """Place a stone (step 1), or take it back (-1)."""
    stone = 1 + (control[ATTACKER] if attacks else 1 - control[ATTACKER])
    cells[place] = stone if step == 1 else FREE
    control[LEFT] -= step
    count(place, attacks, step, through, tally, key)


def push(ply: Any, kind: Any, limit: Any, cap: Any, last: Any, frames: Any) -> Any:
    """A state on top of this one."""
    frames[ply + 1, KIND] = kind
    frames[ply + 1, LIMIT] = limit
    frames[ply + 1, CAP] = cap
    frames[ply + 1, LAST] = last
    frames[ply + 1, STAGE] = NEW
    return PUSHED


def test(ply: Any, last: Any, control: Any, frames: Any) -> Any:
    """A short search of fours alone."""
    cap = control[NODES] + control[SUB_NODES]
    return push(ply, FOURS, control[SUB_FOURS], cap, last, frames)


def slot_of(ply: Any, frames: Any, memo: Any, key: Any) -> Any:
    """Where a state is remembered, and by which key."""
    name = key[0] ^ mix(word(1000 + frames[ply, KIND]))
    return word(name) % word(len(memo)), name


def remember(ply: Any, control: Any, frames: Any, memo: Any, key: Any) -> None:
    """A state without a win, unless its search was cut short."""
    if control[NODES] <= frames[ply, CAP]:
        slot, name = slot_of(ply, frames, memo, key)
        memo[slot, 0] = name
        memo[slot, 1] = word(control[GENERATION] * 1024 + frames[ply, LIMIT])


def is_hopeless(ply: Any, control: Any, frames: Any, memo: Any, key: Any) -> Any:
    """Whether no move is left, or a search that went no less far has failed before."""
    if (frames[ply, KIND] == FOURS and frames[ply, LIMIT] == 0) or ply + 4 >= len(frames):
        return True
    slot, name = slot_of(ply, frames, memo, key)
    noted, least = memo[slot, 1], word(control[GENERATION] * 1024 + frames[ply, LIMIT])
    return memo[slot, 0] == name and least <= noted < word((control[GENERATION] + 1) * 1024)


def enter(
    game: BoardLineGame,
    ply: Any,
    cells: Any,
    control: Any,
    frames: Any,
    moves: Any,
    lines: Any,
    windows: Any,
    through: Any,
    tally: Any,
    ranks: Any,
    memo: Any,
    key: Any,
) -> Any:
    """Judge the stone that led here, and list what is to be tried."""
    frames[ply, STAGE] = TRY
    frames[ply, NEXT] = 0
    frames[ply, COUNT] = 0
    frames[ply, LENGTH] = 0
    frames[ply, PLIES] = 1
    kind, last = frames[ply, KIND], frames[ply, LAST]
    ban = ALLOWED if last == NOWHERE else game.forbidden_status(cells, last)
    frames[ply, HANGING] = ban != ALLOWED
    if kind >= DEFENDING:
        if ban == FORBIDDEN or control[LEFT] == 0:
            return FAILED
        found = answers(game, ply, cells, frames, moves, lines, windows, through, tally)
    elif ban == FORBIDDEN:
        return WON
    elif is_hopeless(ply, control, frames, memo, key):
        return FAILED
    else:
        control[NODES] += 1
        found = attacks(game, ply, cells, control, frames, moves, lines, windows, tally, ranks)
    # Before a quiet threat counts, and before quiet threats are tried, fours have their turn.
    if found == OPEN and (kind == THREATS or (kind == DEFENCE and frames[ply, COUNT] == 0)):
        frames[ply, STAGE] = TEST
        return test(ply, NOWHERE, control, frames)
    return found


def attacks(
    game: BoardLineGame,
    ply: Any,
    cells: Any,
    control: Any,
    frames: Any,
    moves: Any,
    lines: Any,
    windows: Any,
    tally: Any,
    ranks: Any,
) -> Any:
    """Whether the attacker wins at once or has nothing to try; else its moves are listed."""
    length = windows.shape[1]
    least = length - 2 if frames[ply, KIND] == FOURS else max(1, length - 3)
    place, found = list_attacks(
        game, ply, control[ATTACKER], least, cells, moves, windows, tally, ranks
    )
    frames[ply, COUNT] = found
    if place != NOWHERE:
        lines[ply, 0] = place
        frames[ply, LENGTH] = 1
        return WON
    return OPEN if found > 0 else FAILED


def answers(
    game: BoardLineGame,
    ply: Any,
    cells: Any,
    frames: Any,
    moves: Any,
    lines: Any,
    windows: Any,
    through: Any,
    tally: Any,
) -> Any:
    """Whether the move that led here wins by two fours or is none; the block, if it made one."""
    block, other = winning_gaps(game, frames[ply, LAST], cells, windows, through, tally)
    if block == NOWHERE:
        return FAILED if frames[ply, KIND] == BLOCK else OPEN
    if other == NOWHERE:
        moves[ply, 0] = block
        frames[ply, COUNT] = 1
        return OPEN
    lines[ply, 0], lines[ply, 1] = block, other
    frames[ply, LENGTH] = 2
    frames[ply, PLIES] = 2
    return WON


def go_on(
    ply: Any,
    cells: Any,
    control: Any,
    frames: Any,
    moves: Any,
    through: Any,
    tally: Any,
    key: Any,
) -> Any:
    """Try the next move: when none is left the attacker has failed, or the defender."""
    kind, at = frames[ply, KIND], frames[ply, NEXT]
    attacking = kind < DEFENDING
    if at == frames[ply, COUNT]:
        return FAILED if attacking else WON
    if attacking and control[NODES] > frames[ply, CAP]:
        return FAILED
    place = moves[ply, at]
    frames[ply, NEXT] = at + 1
    place_stone(place, attacking, 1, cells, control, through, tally, key)
    limit, cap = frames[ply, LIMIT], frames[ply, CAP]
    if attacking:
        return push(ply, kind + DEFENDING, limit - 1, cap, place, frames)
    if kind == DEFENCE and limit == 0:  # no quiet threat is left
        return test(ply, place, control, frames)
    return push(ply, kind - DEFENDING, limit, cap, place, frames)


def take(
    ply: Any,
    found: Any,
    cells: Any,
    control: Any,
    frames: Any,
    moves: Any,
    lines: Any,
    windows: Any,
    through: Any,
    tally: Any,
    ranks: Any,
    key: Any,
) -> Any:
    """What a state learns from the one above it on the stack."""
    attacking = frames[ply, KIND] < DEFENDING
    # 1. A search of fours on this very state, or on it with the attacker to move once more.
    if frames[ply, STAGE] == TEST:
        frames[ply, STAGE] = TRY
        if found == FAILED:
            return OPEN if attacking else FAILED
        if attacking:
            copy(ply, 0, frames, lines)
            return WON
        frames[ply, PLIES] = 1 + frames[ply + 1, PLIES]
        frames[ply, COUNT] = (
            list_free(ply, cells, moves)
            if frames[ply + 1, HANGING]
            else list_defences(
                ply,
                frames[ply + 1, LENGTH],
                cells,
                moves,
                lines,
                windows,
                through,
                tally,
                ranks,
                key,
            )
        )
        return OPEN
    # 2. A move: one that wins is enough for the attacker, one that holds for the defender. Of
    #    those that lose, the one that lasts longest is shown.
    last = frames[ply + 1, LAST]
    place_stone(last, attacking, -1, cells, control, through, tally, key)
    if found == FAILED:
        return OPEN if attacking else FAILED
    if frames[ply, LENGTH] == 0 or frames[ply, PLIES] <= 1 + frames[ply + 1, PLIES]:
        lines[ply, 0] = last
        copy(ply, 1, frames, lines)
    return WON if attacking else OPEN


def copy(ply: Any, begin: Any, frames: Any, lines: Any) -> None:
    """The line of the state above, behind the moves that lead to it."""
    for i in range(frames[ply + 1, LENGTH]):
        lines[ply, begin + i] = lines[ply + 1, i]
    frames[ply, LENGTH] = begin + frames[ply + 1, LENGTH]
    frames[ply, PLIES] = max(frames[ply, PLIES], begin + frames[ply + 1, PLIES])
    frames[ply, HANGING] |= frames[ply + 1, HANGING]
