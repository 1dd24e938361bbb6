"""Hashes and canonical forms of states, for the hash tables of kernels."""

import functools
from typing import TYPE_CHECKING, Any

from zermelo.core.bitboard import mix, scale, word
from zermelo.core.game import SolverHooks, WordGame
from zermelo.core.symmetry import Symmetry, byte_tables

if TYPE_CHECKING:
    from numpy.typing import NDArray


@functools.lru_cache(maxsize=64)
def build_symmetry_tables(symmetries: tuple[Symmetry, ...]) -> "NDArray[Any]":
    """Return the lookup tables of symmetries as an array [symmetry, byte, value] for kernels."""
    import numpy as np

    return np.array(byte_tables(symmetries), np.uint64).reshape(-1, 8, 256)


def hash_words(words: Any) -> Any:
    """Return a 64-bit hash of a tuple of words."""
    digest = word(0)
    for part in words:
        digest = mix(digest ^ part)
    return digest


def canonical_state(game: WordGame | SolverHooks, state: Any, symmetry_tables: Any) -> Any:
    """Return the smallest image of a state under the symmetries of the game.

    `symmetry_tables` comes from `build_symmetry_tables`, with the identity first. If it is empty,
    the state itself is returned.
    """
    smallest = state
    for number in range(1, len(symmetry_tables)):
        image = game.transform_by_table(state, symmetry_tables[number])
        if image < smallest:
            smallest = image
    return smallest


def find_index_slot(game: WordGame | SolverHooks, states: Any, slots: Any, state: Any) -> Any:
    """Return the slot of a state in `slots`, a hash table of the row numbers of `states`.

    A slot holds a row number + 1, or 0 if it is free. If the state is not in the table, return the
    free slot for it; the table must not be full.
    """
    slot = scale(hash_words(state), len(slots))
    while slots[slot] != 0 and game.load(states, slots[slot] - 1) != state:
        slot = slot + 1 if slot + 1 < len(slots) else 0
    return slot
