"""Nim: take any number of matches from one heap; whoever takes the last match wins.

The heaps have 3, 5 and 7 matches. Bit 7 * heap + i is match i of a heap, and the matches of a heap
are always its lowest bits:

    heap a   0  1  2
    heap b   7  8  9 10 11
    heap c  14 15 16 17 18 19 20

Action i takes match i and all matches of its heap to the right of it. The move is the letter of
the heap and the number of matches taken, such as b2. A state is (matches, the player to move).
"""

from typing import Any

from zermelo import Word, WordGame
from zermelo.core.bitboard import pick


class Nim(WordGame):
    """The rules; `Nim((1, 2, 3))` starts with other heaps."""

    num_words = 2
    num_boards = 1
    num_planes = 1
    one: Word = 1
    full: Word
    rows: tuple[Word, ...]

    def __init__(self, heaps: tuple[int, ...] = (3, 5, 7)) -> None:
        self.heaps, self.width = heaps, max(heaps)
        self.num_actions = len(heaps) * self.width
        self.rows = tuple(((1 << self.width) - 1) << self.width * i for i in range(len(heaps)))
        self.full = sum(((1 << size) - 1) << self.width * i for i, size in enumerate(heaps))

    def initial(self) -> Any:
        return (self.full, 0)

    def legal(self, state: Any) -> Any:
        return state[0]

    def play(self, state: Any, action: Any) -> Any:
        matches, player = state
        first = self.one << action
        kept = first - self.one  # the bits below `first`, in this heap and in all others
        for row in self.rows:
            kept = kept | pick(row & first == 0, row, row ^ row)
        return (matches & kept, player ^ self.one)

    def result(self, state: Any) -> Any:
        over = state[0] == 0
        return over, -1 * over  # the opponent took the last match

    @property
    def plane_shape(self) -> tuple[int, int]:
        return len(self.heaps), self.width

    def planes(self, state: Any) -> Any:
        return (state[0],)

    # Notation and drawing.

    def heap_size(self, state: Any, heap: int) -> int:
        return (state[0] & self.rows[heap]).bit_count()

    def to_text(self, state: Any, action: int) -> str:
        heap, left = divmod(action, self.width)
        taken = self.heap_size(state, heap) - left
        return f"{'abcdefgh'[heap]}{taken}" if taken > 0 else f"action{action}"

    def draw(self, state: Any) -> str:
        rows = range(len(self.heaps))
        return "\n".join(
            f"{'abcdefgh'[i]} {'| ' * self.heap_size(state, i)}".rstrip() for i in rows
        )

    def draw_svg(self, state: Any) -> str:
        parts = [
            f'<rect x="{30 + 16 * col}" y="{10 + 40 * row}" width="5" height="30" rx="2"/>'
            for row in range(len(self.heaps))
            for col in range(self.heap_size(state, row))
        ]
        parts += [
            f'<text x="8" y="{32 + 40 * row}">{letter}</text>'
            for row, letter in enumerate("abcdefgh"[: len(self.heaps)])
        ]
        width, height = 40 + 16 * self.width, 10 + 40 * len(self.heaps)
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
            f'width="{width}" height="{height}" fill="#8a5a2b">{"".join(parts)}</svg>'
        )
