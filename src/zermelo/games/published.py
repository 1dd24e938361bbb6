"""Squava with the ordering and evaluation that were published for it, kept for comparison.

A win 15,000; a move that makes three -10,000; a block 5,000; 10 for each step nearer the centre; 5
for each own stone in winning lines free of the other side; 50 for each losing line where the other
side has two. The centre loses in this game, and a losing line of the other side's is no threat of
mine: see docs/search.md for what the two terms cost.
"""

from typing import Any

from zermelo.games.tactics import MAX_ESTIMATE, WordLineGame
from zermelo.words import popcount, word


class PublishedSquava(WordLineGame):
    """The same rules; other hooks."""

    nearness: tuple[int, ...]  # a cell each: 10 times 4 minus its distance from the centre

    def __init__(self) -> None:
        super().__init__(5, 5, 4, lose=3, spec="squava", specialised=True)
        steps = [abs(cell // 5 - 2) + abs(cell % 5 - 2) for cell in range(25)]
        self.nearness = tuple(10 * (4 - step) for step in steps) + (0,) * 39
        self.history = 0

    def rank(self, state: Any, index: Any) -> Any:
        """The published ordering of moves."""
        mine, theirs = state[0], state[1]
        stone = self.one << index
        rank = self.nearness[index]
        if self.gaps(mine, self.win_windows, self.win) & stone != 0:
            rank += 15_000
        elif self.gaps(mine, self.lose_windows, self.lose) & stone != 0:
            rank -= 10_000
        if self.gaps(theirs, self.win_windows, self.win) & stone != 0:
            rank += 5_000
        after = mine | stone
        return (
            rank + 5 * self.stones_in_lines(after, theirs) + 50 * self.lines_of_two(theirs, after)
        )

    def evaluate(self, state: Any) -> Any:
        """The same terms for a whole position: own minus other's."""
        mine, theirs = state[0], state[1]
        score = 5 * (self.stones_in_lines(mine, theirs) - self.stones_in_lines(theirs, mine))
        score += 50 * (self.lines_of_two(theirs, mine) - self.lines_of_two(mine, theirs))
        for cell in range(25):
            bit = self.one << word(cell)
            score += self.nearness[cell] * (1 * (mine & bit != 0) - 1 * (theirs & bit != 0))
        return max(-MAX_ESTIMATE, min(MAX_ESTIMATE, score))

    def stones_in_lines(self, mine: Any, theirs: Any) -> Any:
        """Own stones in winning lines that are free of the other side, a line at a time."""
        total = 0
        for begin, step in self.win_windows:
            open_to_me = begin
            for place in range(self.win):
                open_to_me = open_to_me & (begin ^ (begin & (theirs >> (step * word(place)))))
            for place in range(self.win):
                total += popcount(open_to_me & (mine >> (step * word(place))))
        return total

    def lines_of_two(self, stones: Any, others: Any) -> Any:
        """Losing lines in which one side has two stones and the other none."""
        total = 0
        for begin, step in self.lose_windows:
            for gap in range(self.lose):
                line = begin
                for place in range(self.lose):
                    has = stones >> (step * word(place))
                    free = self.full ^ ((stones | others) >> (step * word(place)))
                    line = line & (free if place == gap else has)
                total += popcount(line)
        return total
