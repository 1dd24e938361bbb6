"""Bitboards: 64-bit words as plain ints, and the few operations that rules need on them.

The same source of the rules runs on three back ends: Python ints (tests, teaching), compiled uint64
(search) and int64 tensors (GPU). The functions here work on ints, and some on tensors; the compiler
replaces each of them by the function of the same name in `zermelo.kernels.intrinsics`. Rules
therefore use only `& | ^`, shifts followed by a mask, `full ^ x` instead of `~x`, and these names.
"""

from typing import Annotated, Any

#: A 64-bit board: an int in Python, uint64 in kernels. The annotation tells the compiler the type.
Word = Annotated[int, "uint64"]

#: An array of numbers; rules convert each element that they read with `word(…)` or `int(…)`. Create
#: it in a cached property, so that numpy, which is slow to import, is imported only when needed.
Numbers = Annotated[Any, "array"]

WORD_BITS = 64
_ALL = (1 << WORD_BITS) - 1


def word(x: Any) -> Word:
    """Convert an integer to a word; rules must do this for every literal and array element."""
    return int(x) & _ALL


def popcount(x: Any) -> Any:
    """Return the number of set bits.

    >>> popcount(0b1011)
    3
    """
    if isinstance(x, int):
        return x.bit_count()
    # Tensors have no popcount: add neighbouring bits, pairs, nibbles, then the eight bytes.
    x = x - ((x >> 1) & 0x5555555555555555)
    x = (x & 0x3333333333333333) + ((x >> 2) & 0x3333333333333333)
    x = (x + (x >> 4)) & 0x0F0F0F0F0F0F0F0F
    return (x * 0x0101010101010101 >> 56) & 0x7F


def lowest(x: Word) -> int:
    """Return the index of the lowest set bit of a nonzero word.

    >>> lowest(0b1000)
    3
    """
    return (x & -x).bit_length() - 1


def highest(x: Word) -> int:
    """Return the index of the highest set bit of a nonzero word.

    >>> highest(0b1010)
    3
    """
    return x.bit_length() - 1


def select(x: Word, n: int) -> int:
    """Return the index of the n-th set bit, counted from 0; n is below `popcount(x)`.

    >>> select(0b101100, 2)
    5
    """
    for _ in range(n):
        x &= x - 1
    return lowest(x)


def scale(x: Word, n: int) -> int:
    """Map a random word to 0..n-1: return the upper 64 bits of the 128-bit product `x * n`.

    >>> scale(1 << 63, 10)
    5
    """
    return (x * int(n)) >> WORD_BITS  # `int`: the product would overflow a numpy integer


def prefetch(table: Any, row: int) -> None:
    """Prefetch a table row into the CPU cache; this does nothing in plain Python."""


def mix(x: Word) -> Word:
    """Scramble the bits of a word with the finaliser of splitmix64 (Steele et al. 2014)."""
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & _ALL
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & _ALL
    return x ^ (x >> 31)


def pick(condition: Any, a: Any, b: Any) -> Any:
    """Return `a if condition else b`; for tensors, do this element by element.

    Rules use `pick` for every choice that depends on the state.

    >>> pick(True, 5, 6), pick(False, 5, 6)
    (5, 6)
    """
    if isinstance(condition, bool):
        return a if condition else b
    if hasattr(a, "where"):  # a tensor: one operation instead of five
        return a.where(condition, b)
    return b ^ ((a ^ b) & -(condition * 1))


def can_stop(condition: Any) -> bool:
    """Return `condition`, or False for tensors: whether a loop of fixed length may end early.

    Rules use it as `if can_stop(…): break` where further steps would change nothing. A
    tensor holds many states, so its loop always runs to the end.

    >>> can_stop(True), can_stop(False)
    (True, False)
    """
    return condition if isinstance(condition, bool) else False


def sign(x: Any) -> int:
    """Return the sign of a number: 1, 0 or -1.

    >>> sign(-5), sign(0), sign(7)
    (-1, 0, 1)
    """
    return int(x > 0) - int(x < 0)  # `int`: numpy booleans cannot be subtracted


def bits(x: Word) -> list[int]:
    """Return the indices of the set bits in ascending order.

    >>> bits(0b10110)
    [1, 2, 4]
    """
    indices = []
    while x:
        bit = x & -x
        indices.append(bit.bit_length() - 1)
        x ^= bit
    return indices
