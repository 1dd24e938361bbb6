"""Squava with the ordering and evaluation that were published for it, kept for comparison.

Ordering: a win 15,000; a move that makes three -10,000; a block 5,000; 10 for each step nearer the
centre; 5 for each own stone in winning lines free of the other side; 50 for each losing line where
the other side has two. Evaluation, own minus other's: 200, 20 and 2 for open lines with 3, 2 and 1
stones; -100 for losing lines with two; 10 for a stone among the nine cells of the centre. The
centre loses in this game, and a losing line of the other side's is no threat of mine: see
docs/search.md for what these terms cost.
"""

from typing import Any

from zermelo.core.bitboard import Word, popcount, word
from zermelo.games.lines.small import WordLineGame
from zermelo.games.lines.tactics import MAX_ESTIMATE, LineTactics


class PublishedTactics(LineTactics):
    """Solver hooks of Squava with the published ordering and evaluation."""

    nearness: tuple[int, ...]  # a cell each: 10 times 4 minus its distance from the centre
    centre: int
    inner: Word  # the nine cells in the middle

    def __init__(self, game: WordLineGame, centre: int = 10) -> None:
        super().__init__(game)
        self.centre = centre
        self.inner = sum(0b01110 << 5 * row for row in (1, 2, 3))
        steps = [abs(cell // 5 - 2) + abs(cell % 5 - 2) for cell in range(25)]
        self.nearness = tuple(10 * (4 - step) for step in steps) + (0,) * 39
        self.history_weight = 0

    def rank_move(self, state: Any, index: Any) -> Any:
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
        """The published evaluation."""
        mine, theirs, player = state
        own = self.features(mine, theirs, player)
        other = self.features(theirs, mine, player)
        score = 200 * (own[0] - other[0]) + 20 * (own[1] - other[1]) + 2 * (own[2] - other[2])
        score -= 100 * (self.lines_of_two(mine, theirs) - self.lines_of_two(theirs, mine))
        score += self.centre * (popcount(mine & self.inner) - popcount(theirs & self.inner))
        return max(-MAX_ESTIMATE, min(MAX_ESTIMATE, score))

    def __eq__(self, other: object) -> bool:
        """What the centre is worth is compiled in."""
        return super().__eq__(other) and self.centre == getattr(other, "centre", None)

    def __hash__(self) -> int:
        """As equality has it."""
        return hash((super().__hash__(), self.centre))

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
