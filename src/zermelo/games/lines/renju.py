"""Renju: five in a row, where black, who moves first, may not commit a foul.

For black, exactly five in a row wins. A move that makes no five but an overline (six or more), a
double four or a double three is a foul and loses at once. White has no restrictions: five or more
wins.

- A **four** can become exactly five with one more stone; `X.XXX.X` is two fours in one line.
- A **straight four** is four in a row that can become five at either end.
- A **three** can become a straight four with one more stone, and that stone must itself be
  allowed. If all completing points are forbidden, it is not a three, so the rule is recursive.

(Definitions: Renju International Federation, The International Rules of Renju.)
"""

from typing import Any

import numpy as np

from zermelo.core.bitboard import bits
from zermelo.games.geometry import run_from
from zermelo.games.lines.large import (
    ALLOWED,
    CONDITIONAL,
    FIRST,
    FORBIDDEN,
    FREE,
    BoardLineGame,
)

_FIVE = 5
NO_FOUL, OVERLINE, DOUBLE_FOUR, DOUBLE_THREE = range(4)  #: what `foul` returns
FOULS = ("", "an overline", "a double four", "a double three")  #: names of fouls in messages


class RenjuGame(BoardLineGame):
    """Renju. A state is (mover's stones, opponent's stones, last move was a foul, player)."""

    def __init__(self, size: int, spec: str) -> None:
        super().__init__(size, size, _FIVE, spec=spec)

    @property
    def has_losing_moves(self) -> bool:
        """Whether some moves lose the game at once; in renju, fouls do."""
        return True

    def initial(self) -> Any:
        """Return the empty board with black to move."""
        return (0, 0, 0, 0)

    def legal(self, state: Any) -> Any:
        """Return the free cells as a mask; a forbidden point is a legal move that loses."""
        return self.full ^ (state[0] | state[1])

    def play(self, state: Any, action: Any) -> Any:
        """Add a stone and record in the state whether it is a foul."""
        mine, theirs, _, player = state
        is_foul = player == 0 and self.foul_of(state, action) != NO_FOUL
        return (theirs, mine | 1 << action, int(is_foul), 1 - player)

    def result(self, state: Any) -> Any:
        """Return (is over, value): black wins with exactly five, white with five or more."""
        mine, theirs, foul, player = state
        won = bool(self._fives(theirs, exact=player == 1))
        full = (mine | theirs) == self.full
        return won or bool(foul) or full, foul - 1 * won

    def forbidden(self, state: Any) -> list[int]:
        """Return black's forbidden points while black is to move, else an empty list."""
        if self.player(state) != 0 or self.result(state)[0]:
            return []
        return [
            action for action in bits(self.legal(state)) if self.foul_of(state, action) != NO_FOUL
        ]

    def foul_of(self, state: Any, action: int) -> int:
        """Return the foul that black would commit with an action; black is to move."""
        cells = self.to_padded_board(state)
        cells[self.padded_index(action)] = FIRST
        return self.foul(cells, self.padded_index(action))

    def needs_exact_line(self, _stone: Any) -> Any:
        """Return whether only lines of exactly five win, which is the rule for black."""
        return _stone == FIRST

    def forbidden_status(self, cells: Any, at: Any) -> int:
        """Return the status of the stone at `at`; CONDITIONAL if it only looks like a double three.

        An apparent double three is no foul while fewer than two of its threes have an allowed
        completing point. White's later stones can make another such point allowed, and then the
        same move would be a double three.
        """
        if cells[at] != FIRST:
            return ALLOWED
        apparent = self.apparent_foul(cells, at)
        if apparent != DOUBLE_THREE:
            return ALLOWED if apparent == NO_FOUL else FORBIDDEN
        return FORBIDDEN if self.is_double_three(cells, at) else CONDITIONAL

    def foul(self, cells: Any, at: Any) -> int:
        """Return the foul that black's stone at `at` commits; a five is never a foul."""
        apparent = self.apparent_foul(cells, at)
        if apparent != DOUBLE_THREE:
            return apparent
        return DOUBLE_THREE if self.is_double_three(cells, at) else NO_FOUL

    def apparent_foul(self, cells: Any, at: Any) -> int:
        """Return the foul of the stone at `at`, assuming that all completing points are allowed."""
        overline = False
        for step in (1, self.stride, self.stride + 1, self.stride - 1):
            length = self.run_length(cells, at, step)
            if length == _FIVE:
                return NO_FOUL
            overline = overline or length > _FIVE
        if overline:
            return OVERLINE
        fours, threes = 0, 0
        for step in (1, self.stride, self.stride + 1, self.stride - 1):
            count = self.count_fours(cells, at, step)
            fours += count
            if count == 0 and (
                self.leads_to_straight_four(cells, at, -step)
                or self.leads_to_straight_four(cells, at, step)
            ):
                threes += 1
        if fours > 1:
            return DOUBLE_FOUR
        return DOUBLE_THREE if threes > 1 else NO_FOUL

    def is_double_three(self, cells: Any, at: Any) -> bool:
        """Return whether the stone at `at` is in two threes that have allowed completing points.

        A completing point may in turn be an apparent double three, which raises the same question
        one stone deeper. The recursion uses an explicit stack, because recursive kernels cannot be
        cached on disk. A row of the stack is (stone, next of its eight sides, threes found so far,
        completing point being tried).
        """
        stack = np.zeros((self.cells + 1, 4), np.int64)
        stack[0, 0] = at
        depth = 0
        while True:
            # 1. A stone with two threes is forbidden. It is allowed if no side is left to examine.
            side = stack[depth, 1]
            if stack[depth, 2] > 1 or side == 8:
                if depth == 0:
                    return bool(stack[0, 2] > 1)
                forbidden = stack[depth, 2] > 1
                depth -= 1
                self.finish_trial(cells, stack[depth], forbidden)
                continue
            # 2. Take the next side. A line with a four does not count as a three.
            stone = stack[depth, 0]
            step = self.step_of_side(side)
            if self.count_fours(cells, stone, step) > 0 or not self.leads_to_straight_four(
                cells, stone, step
            ):
                stack[depth, 1] += 1
                continue
            # 3. Put a stone on the completing point. If it is an apparent double three, a new row
            #    of the stack decides whether it is forbidden; otherwise this is known at once.
            point = self.run_end(cells, stone, step)
            stack[depth, 3] = point
            cells[point] = FIRST
            apparent = self.apparent_foul(cells, point)
            if apparent == DOUBLE_THREE:
                depth += 1
                stack[depth] = 0
                stack[depth, 0] = point
            else:
                self.finish_trial(cells, stack[depth], apparent != NO_FOUL)

    def finish_trial(self, cells: Any, row: Any, forbidden: Any) -> None:
        """Remove the trial stone; if it was allowed, count a three and skip the opposite side."""
        cells[row[3]] = FREE
        if forbidden:
            row[1] += 1
        else:
            row[1] += 2 - row[1] % 2
            row[2] += 1

    def step_of_side(self, side: Any) -> Any:
        """Return the step towards one of eight sides; sides 2n and 2n + 1 are opposite."""
        sign = 1 - 2 * (side % 2)
        if side < 2:
            return sign
        return sign * (self.stride + (side // 2 + 1) % 3 - 1)

    def count_fours(self, cells: Any, at: Any, step: Any) -> int:
        """Return how many fours the run through `at` belongs to; a straight four counts as one."""
        low, high = self.run_end(cells, at, -step), self.run_end(cells, at, step)
        count = 0
        for point in (low, high):
            if self.run_length_with(cells, point, step) == _FIVE:
                count += 1
        straight = abs(high - low) == _FIVE * abs(step)
        return 1 if straight and count > 0 else count

    def leads_to_straight_four(self, cells: Any, at: Any, step: Any) -> bool:
        """Return whether a stone just after the run through `at` makes a straight four."""
        point = self.run_end(cells, at, step)
        if self.run_length_with(cells, point, step) != _FIVE - 1:
            return False
        cells[point] = FIRST
        ends = self.run_end(cells, at, -step), self.run_end(cells, at, step)
        straight = (
            self.run_length_with(cells, ends[0], step) == _FIVE
            and self.run_length_with(cells, ends[1], step) == _FIVE
        )
        cells[point] = FREE
        return bool(straight)

    def run_end(self, cells: Any, at: Any, step: Any) -> Any:
        """Return the first index beyond black's run through `at`, in the direction of `step`."""
        place = at + step
        while cells[place] == FIRST:
            place += step
        return place

    def run_length_with(self, cells: Any, point: Any, step: Any) -> Any:
        """Return the length of black's run after a stone on `point`; 0 if `point` is not free."""
        if cells[point] != FREE:
            return 0
        return (self.run_end(cells, point, step) - self.run_end(cells, point, -step)) // step - 1

    def remark(self, state: Any, last: int | None) -> str:
        """Describe black's foul; if `last` is None, the foul must be an overline."""
        if not state[2]:
            return ""
        foul = OVERLINE
        if last is not None:
            foul = self.foul(self.to_padded_board(state), self.padded_index(last))
        return f": {self.symbols[0]} made {FOULS[foul]}"

    def winning_line(self, state: Any) -> tuple[int, ...] | None:
        """Return the cells of the winning line, or None after a foul."""
        exact = state[3] == 1
        firsts = self._fives(state[1], exact=exact)
        if not firsts:
            return None
        return run_from(self.grid, state[1], bits(firsts)[0], _FIVE, exact=exact)

    def from_board(self, cells: tuple[int, ...], to_move: int | None, *, checked: bool) -> Any:
        """Return the state of a board; the only foul that a board can show is an overline."""
        mine, theirs, player = super().from_board(cells, to_move, checked=checked)
        overline = bool(self._fives(theirs, exact=False)) and not self._fives(theirs, exact=True)
        return (mine, theirs, int(overline and player == 1), player)

    def _fives(self, stones: int, *, exact: bool) -> int:
        """Return a mask of the first cells of all fives; `exact` excludes those in longer lines."""
        return int(self.exact_lines(stones) if exact else self.find_lines(stones, self.win_shifts))
