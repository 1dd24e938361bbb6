"""Words: 64-bit boards as plain ints, and the few operations rules need on them.

One rules source runs on three back ends: Python ints (tests, teaching), compiled uint64
(search) and int64 tensors (GPU). The functions here serve ints and tensors;
`zermelo.kernels.intrinsics` holds the compiled function of the same name, and the compiler
puts one in the place of the other. Rules therefore use only `& | ^`, shifts followed by a
mask, `full ^ x` instead of `~x`, and these names.
"""

from typing import Annotated, Any

#: A 64-bit board: an int here, uint64 in kernels. As an annotation it tells the compiler so.
Word = Annotated[int, "uint64"]

#: An array of numbers that a rule looks up, read by `word(…)` or `int(…)`; a game makes it when
#: it is first asked for, since numpy takes long to load.
Numbers = Annotated[Any, "array"]

WORD_BITS = 64
_ALL = (1 << WORD_BITS) - 1


def word(x: Any) -> Word:
    """Any integer as a word: use it for literals and for what comes out of an array."""
    return int(x) & _ALL


def popcount(x: Any) -> Any:
    """How many bits are set.

    >>> popcount(0b1011)
    3
    """
    if isinstance(x, int):
        return x.bit_count()
    # A tensor has no popcount: add neighbouring bits, pairs, nibbles, then the eight bytes.
    x = x - ((x >> 1) & 0x5555555555555555)
    x = (x & 0x3333333333333333) + ((x >> 2) & 0x3333333333333333)
    x = (x + (x >> 4)) & 0x0F0F0F0F0F0F0F0F
    return (x * 0x0101010101010101 >> 56) & 0x7F


def lowest(x: Word) -> int:
    """The index of the lowest set bit of a word that is not 0.

    >>> lowest(0b1000)
    3
    """
    return (x & -x).bit_length() - 1


def highest(x: Word) -> int:
    """The index of the highest set bit of a word that is not 0.

    >>> highest(0b1010)
    3
    """
    return x.bit_length() - 1


def select(x: Word, n: int) -> int:
    """The index of the n-th set bit, counted from 0; n is below `popcount(x)`.

    >>> select(0b101100, 2)
    5
    """
    for _ in range(n):
        x &= x - 1
    return lowest(x)


def scale(x: Word, n: int) -> int:
    """A uniform word scaled to 0..n-1: the high half of the 128-bit product.

    >>> scale(1 << 63, 10)
    5
    """
    return (x * int(n)) >> WORD_BITS  # which an array's number would overflow


def prefetch(table: Any, row: int) -> None:
    """Ask the processor for a row of an array that will be read soon: in kernels only."""


def mix(x: Word) -> Word:
    """One word scrambled into another: the finaliser of splitmix64 (Steele et al. 2014)."""
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & _ALL
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & _ALL
    return x ^ (x >> 31)


def pick(condition: Any, a: Any, b: Any) -> Any:
    """`a if condition else b`, for tensors too: a branch that depends on the state.

    >>> pick(True, 5, 6), pick(False, 5, 6)
    (5, 6)
    """
    if isinstance(condition, bool):
        return a if condition else b
    return b ^ ((a ^ b) & -(condition * 1))


def sign(x: Any) -> int:
    """1, 0 or -1 for a number; `int`, since the booleans of arrays cannot be subtracted.

    >>> sign(-5), sign(0), sign(7)
    (-1, 0, 1)
    """
    return int(x > 0) - int(x < 0)


def bits(x: Word) -> list[int]:
    """The indices of the set bits, rising.

    >>> bits(0b10110)
    [1, 2, 4]
    """
    found = []
    while x:
        found.append(lowest(x))
        x &= x - 1
    return found
