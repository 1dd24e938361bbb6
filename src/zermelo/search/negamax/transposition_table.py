"""The transposition table: bounds and best moves of the states that a search has finished.

Each row of the array is a slot. It holds a key, which is the whole state, and then one word that is
divided into these fields (sizes in bits):

    generation 16 | ply 8 | best move 8 | lower bound 16 | upper bound 16

The bounds are equal if the score is exact. The bounds of older generations are invalid. A key can
be stored in either of two adjacent slots. The table starts with few slots, so that it fits into the
processor's cache during a short search, and grows later.
"""

from typing import Any

from zermelo.core.bitboard import mix, scale, word
from zermelo.core.game import SolverHooks

MIN_SLOTS, GROWTH = 1 << 10, 4
CACHED_SLOTS = 1 << 16  # the number of slots that fit into the processor's cache
NODES_PER_SLOT = 6  # the table grows after this many searched nodes per slot
MAX_REHASHED_SLOTS = 1 << 18  # rehashing more would delay the next check of the clock
NO_MOVE = 255
BIAS = 1 << 15  # added to scores, so that they can be stored as unsigned 16 bits


def first_slot(key: Any, num_slots: Any) -> Any:
    """Return the first of the two slots of a key."""
    digest = word(0)
    for part in key:  # `hash_words`, inlined by hand for the reason given in `kernel.enter_state`
        digest = mix(digest ^ part)
    return 2 * scale(digest, num_slots // 2)


def is_current(entry: Any, generation: Any) -> Any:
    """Return whether a table entry belongs to this generation."""
    return entry >> word(48) == word(generation)


def probe(game: SolverHooks, table: Any, key: Any, num_slots: Any, generation: Any) -> Any:
    """Return (is_current, lower bound, upper bound, best move) from the entry of a key.

    The bounds of an entry that is not current are invalid. If no move is stored, it is NO_MOVE.
    """
    slot = first_slot(key, num_slots)
    if game.load_key(table, slot) != key:
        slot += 1
        if game.load_key(table, slot) != key:
            return False, -BIAS, BIAS, NO_MOVE
    entry = table[slot, -1]
    low = int((entry >> word(16)) & word(0xFFFF)) - BIAS
    high = int(entry & word(0xFFFF)) - BIAS
    return is_current(entry, generation), low, high, int((entry >> word(32)) & word(0xFF))


def store(
    game: SolverHooks,
    table: Any,
    key: Any,
    num_slots: Any,
    generation: Any,
    ply: Any,
    move: Any,
    low: Any,
    high: Any,
) -> None:
    """Store the bounds and the best move of the state with this key.

    A move of 255 or above does not fit, so it is not stored.

    The first slot keeps the state nearest to the root, since its search cost most; the second slot
    is always replaced.
    """
    slot = first_slot(key, num_slots)
    entry = table[slot, -1]
    is_nearer = int((entry >> word(40)) & word(0xFF)) < ply
    if is_current(entry, generation) and is_nearer and game.load_key(table, slot) != key:
        slot += 1
    game.store_key(table, slot, key)
    table[slot, -1] = (
        word(generation) << word(48)
        | word(min(ply, 255)) << word(40)
        | word(min(move, NO_MOVE)) << word(32)
        | word(low + BIAS) << word(16)
        | word(high + BIAS)
    )


def rehash(
    game: SolverHooks, table: Any, old_num_slots: Any, num_slots: Any, generation: Any
) -> None:
    """Move the current entries to their slots in a larger table.

    The entries are moved from the last pair of slots to the first: every entry moves to a pair
    further back, which has already been vacated.
    """
    for old_slot in range(old_num_slots - 1, -1, -1):
        entry = table[old_slot, -1]
        if not is_current(entry, generation):
            continue
        key = game.load_key(table, old_slot)
        table[old_slot, -1] = word(0)
        slot = first_slot(key, num_slots)
        if is_current(table[slot, -1], generation):
            slot += 1
        game.store_key(table, slot, key)
        table[slot, -1] = entry
