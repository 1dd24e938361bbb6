"""Keys of states for the hash tables of kernels: hashes, and one state for each symmetry class."""

from typing import Any

from zermelo.core.bitboard import mix, word
from zermelo.core.game import WordGame


def hash_words(words: Any) -> Any:
    """Return a 64-bit hash of a tuple of words."""
    digest = word(0)
    for part in words:
        digest = mix(digest ^ part)
    return digest


def canonical_state(game: WordGame, state: Any, symmetry_tables: Any) -> Any:
    """Return the smallest image of a state under the symmetries of the game.

    `symmetry_tables` are the byte tables of all symmetries, the identity first; without any, the
    state itself is returned.
    """
    smallest = state
    for number in range(1, len(symmetry_tables)):
        image = game.turned(state, symmetry_tables[number])
        if image < smallest:
            smallest = image
    return smallest
