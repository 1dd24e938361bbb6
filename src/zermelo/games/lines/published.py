"""Squava with the move ordering and evaluation that were published for it, kept for comparison.

The ordering scores a move on the board before its stone is placed:

- 15,000 for a move that wins, -10,000 for one that makes three and loses; no other term is added
- 5,000 for a cell where the opponent would win (a block)
- 10 * (4 - d), where d is the Manhattan distance from the centre
- 5 for each of the mover's stones in each winning line through the cell without opposing stones
- 50 for each losing line through the cell that holds two of the opponent's stones and none of the
  mover's

The evaluation is the mover's sum minus the opponent's. A side gets 200, 20 and 2 for each open
winning line with 3, 2 and 1 of its stones; -100 for each losing line with two of its stones and
none of the other side's; and 10 for each of its stones on the nine cells of the centre.

Two of these terms are wrong for this game: opening in the centre loses, and a losing line of the
opponent's is no threat. docs/search.md shows the effect on strength.
"""

from typing import Any

from zermelo.core.bitboard import Word, popcount, word
from zermelo.games.lines.small import WordLineGame
from zermelo.games.lines.tactics import MAX_ESTIMATE, LineTactics


class PublishedTactics(LineTactics):
    """Solver hooks for Squava that use the published move ordering and evaluation."""

    nearness: tuple[int, ...]  # for each cell: 10 * (4 - its distance from the centre)
    centre: int  # the value of a stone on one of the nine cells of the centre
    inner: Word  # the nine cells of the centre, as a mask

    def __init__(self, game: WordLineGame, centre: int = 10) -> None:
        super().__init__(game)
        self.centre = centre
        self.inner = sum(0b01110 << 5 * row for row in (1, 2, 3))
        distances = [abs(cell // 5 - 2) + abs(cell % 5 - 2) for cell in range(25)]
        self.nearness = tuple(10 * (4 - distance) for distance in distances) + (0,) * 39
        self.history_weight = 0

    def rank_move(self, state: Any, index: Any) -> Any:
        """Return the published score of a move."""
        mine, theirs = state[0], state[1]
        stone = self.one << index
        if self.completing_cells(mine, self.win_windows, self.win) & stone != 0:
            return 15_000
        if self.completing_cells(mine, self.lose_windows, self.lose) & stone != 0:
            return -10_000
        rank = self.nearness[index]
        if self.completing_cells(theirs, self.win_windows, self.win) & stone != 0:
            rank += 5_000
        rank += 5 * self.stones_in_open_lines(mine, theirs, stone)
        return rank + 50 * self.losing_lines_completed(theirs, stone)

    def evaluate(self, state: Any) -> Any:
        """Return the published estimate of a state."""
        mine, theirs, player = state
        own = self.features(mine, theirs, player)
        other = self.features(theirs, mine, player)
        score = 200 * (own[0] - other[0]) + 20 * (own[1] - other[1]) + 2 * (own[2] - other[2])
        score -= 100 * (self.losing_twos(mine, theirs) - self.losing_twos(theirs, mine))
        score += self.centre * (popcount(mine & self.inner) - popcount(theirs & self.inner))
        return max(-MAX_ESTIMATE, min(MAX_ESTIMATE, score))

    def __eq__(self, other: object) -> bool:
        """Compare class, game and `centre`, which is part of the compiled code."""
        return super().__eq__(other) and self.centre == getattr(other, "centre", None)

    def __hash__(self) -> int:
        """Return a hash that agrees with equality."""
        return hash((super().__hash__(), self.centre))

    def stones_in_open_lines(self, mine: Any, theirs: Any, cell: Any) -> Any:
        """Count the mover's stones in winning lines through a cell that hold no opposing stone.

        `cell` is a mask of one bit. A stone is counted once for each such line.
        """
        total = 0
        for firsts, step in self.win_windows:
            is_open, through = firsts, self.none
            for place in range(self.win):
                is_open = is_open & (firsts ^ (firsts & (theirs >> (step * word(place)))))
                through = through | (cell >> (step * word(place)))
            for place in range(self.win):
                total += popcount(is_open & through & (mine >> (step * word(place))))
        return total

    def losing_lines_completed(self, stones: Any, cell: Any) -> Any:
        """Count the losing lines that a stone on `cell`, a mask of one bit, would complete."""
        total = 0
        for firsts, step in self.lose_windows:
            for gap in range(self.lose):
                line = firsts & (cell >> (step * word(gap)))
                for place in range(self.lose):
                    if place != gap:
                        line = line & (stones >> (step * word(place)))
                total += popcount(line)
        return total

    def losing_twos(self, stones: Any, others: Any) -> Any:
        """Count the losing lines that hold two stones of one side and none of the other."""
        total = 0
        for firsts, step in self.lose_windows:
            for gap in range(self.lose):
                line = firsts
                for place in range(self.lose):
                    has = stones >> (step * word(place))
                    free = self.full ^ ((stones | others) >> (step * word(place)))
                    line = line & (free if place == gap else has)
                total += popcount(line)
        return total
