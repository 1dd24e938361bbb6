"""Sets of actions as bit masks: one word, or a tuple of words in games with many actions.

With up to 64 actions (and perhaps a forced pass, which has no bit), a mask is one word: bit a is
action a. With more actions it is a tuple of words: action a is bit `a % 64` of word `a // 64`.
Kernels use masks only through these methods, for which the compiler has its own versions: see
`zermelo.kernels.source.mask_access`.
"""

from typing import Any

from zermelo.core.bitboard import WORD_BITS, lowest, popcount, select, word


class ActionMasks:
    """The methods with which kernels read and build masks of actions."""

    num_actions: int

    @property
    def num_masks(self) -> int:
        """The number of words in a mask of actions."""
        has_one_word = self.num_actions <= WORD_BITS + 1
        return 1 if has_one_word else -(-self.num_actions // WORD_BITS)

    def join_mask(self, mask: Any) -> int:
        """Return a mask as one Python int, however many words it has."""
        parts = mask if isinstance(mask, tuple) else (mask,)
        return sum(int(part) << WORD_BITS * place for place, part in enumerate(parts))

    def split_mask(self, mask: int) -> Any:
        """Convert a Python int to a mask: one word, or a tuple of words."""
        words = tuple(word(mask >> WORD_BITS * place) for place in range(self.num_masks))
        return words[0] if len(words) == 1 else words

    def as_mask(self, mask: Any) -> Any:
        """Convert each part of a mask back to a word, whatever types the rules produced."""
        return mask

    def no_actions(self) -> Any:
        """Return the empty mask."""
        return self.split_mask(0)

    def is_empty(self, mask: Any) -> Any:
        """Return whether a mask contains no actions."""
        return self.join_mask(mask) == 0

    def count_actions(self, mask: Any) -> Any:
        """Return the number of actions in a mask."""
        return popcount(self.join_mask(mask))

    def lowest_action(self, mask: Any) -> Any:
        """Return the lowest action of a mask that is not empty."""
        return lowest(self.join_mask(mask))

    def without_lowest(self, mask: Any) -> Any:
        """Return a mask without its lowest action."""
        joined = self.join_mask(mask)
        return self.split_mask(joined & (joined - 1))

    def with_action(self, mask: Any, action: Any) -> Any:
        """Return a mask with one more action."""
        return self.split_mask(self.join_mask(mask) | 1 << int(action))

    def select_action(self, mask: Any, n: Any) -> Any:
        """Return the n-th action of a mask, counted from 0."""
        return select(self.join_mask(mask), n)

    def load_mask(self, array: Any, row: Any, column: Any) -> Any:
        """Load a mask from a row of an array, starting at this column."""
        if self.num_masks == 1:
            return word(array[row, column])
        return tuple(word(array[row, column + place]) for place in range(self.num_masks))

    def store_mask(self, array: Any, row: Any, column: Any, mask: Any) -> None:
        """Write a mask to a row of an array, starting at this column."""
        parts = mask if isinstance(mask, tuple) else (mask,)
        for place, part in enumerate(parts):
            array[row, column + place] = part
