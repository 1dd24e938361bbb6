"""The transposition table of the solver's kernel: what is known of states it has finished.

A row is a slot: the key, which is the whole state, and an entry of one word,

    generation 16 | ply 8 | best move 8 | lower bound 16 | upper bound 16

with both bounds equal where the score is known. What has another generation is void. A key has two
slots, side by side. A search begins with few of them: while it is short its table stays in
the processor's cache.
"""

from typing import Any

from zermelo.core.bitboard import mix, scale, word
from zermelo.core.game import SolverHooks

FEW_SLOTS, GROWTH = 1 << 10, 4
NEAR_SLOTS = 1 << 16  # so many stay in the processor's cache
CROWDED = 6  # nodes a slot
MOST_MOVED = 1 << 18  # slots: to move more of them takes longer than a slice should
NO_MOVE = 255
BIAS = 1 << 15  # scores are stored as unsigned 16 bits


def slot_of(key: Any, slots: Any) -> Any:
    """The first of the two slots where a key may be."""
    digest = word(0)
    for part in key:
        digest = mix(digest ^ part)
    return 2 * scale(digest, slots // 2)


def is_current(entry: Any, generation: Any) -> Any:
    """Whether an entry is of this generation."""
    return entry >> word(48) == word(generation)


def recall(game: SolverHooks, table: Any, key: Any, slots: Any, generation: Any) -> Any:
    """(is current, lower bound, upper bound, best move) of a state.

    Of another generation only the move may serve. It is NO_MOVE where none is known.
    """
    slot = slot_of(key, slots)
    if game.load_key(table, slot) != key:
        slot += 1
        if game.load_key(table, slot) != key:
            return False, -BIAS, BIAS, NO_MOVE
    entry = table[slot, -1]
    low = int((entry >> word(16)) & word(0xFFFF)) - BIAS
    high = int(entry & word(0xFFFF)) - BIAS
    return is_current(entry, generation), low, high, int((entry >> word(32)) & word(0xFF))


def remember(
    game: SolverHooks,
    table: Any,
    key: Any,
    slots: Any,
    generation: Any,
    ply: Any,
    move: Any,
    low: Any,
    high: Any,
) -> None:
    """Keep bounds; of two slots the first has the state nearest the root, which took most work."""
    slot = slot_of(key, slots)
    entry = table[slot, -1]
    nearer = int((entry >> word(40)) & word(0xFF)) < ply
    if is_current(entry, generation) and nearer and game.load_key(table, slot) != key:
        slot += 1
    game.store_key(table, slot, key)
    table[slot, -1] = (
        word(generation) << word(48)
        | word(min(ply, 255)) << word(40)
        | word(move) << word(32)
        | word(low + BIAS) << word(16)
        | word(high + BIAS)
    )


def spread(game: SolverHooks, table: Any, old: Any, slots: Any, generation: Any) -> None:
    """Move what is known to where it will be looked for when there are more slots than before.

    From the last pair of slots down: each moves up, to a pair that has been moved already.
    """
    for at in range(old - 1, -1, -1):
        entry = table[at, -1]
        if not is_current(entry, generation):
            continue
        key = game.load_key(table, at)
        table[at, -1] = word(0)
        slot = slot_of(key, slots)
        if is_current(table[slot, -1], generation):
            slot += 1
        game.store_key(table, slot, key)
        table[slot, -1] = entry
