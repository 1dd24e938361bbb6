"""Renju: five in a row, where black, who moves first, has forbidden points.

For black exactly five wins; a move that makes no five and an overline (six or more), two fours
or two threes loses at once. White has no limits: five or more wins.

- a **four** can become exactly five with one more stone; `X.XXX.X` holds two in one line
- a **straight four** is four in a row that can become five at either end
- a **three** can become a straight four with one more stone, which must itself be allowed: so
  a three whose completing points are all forbidden is none, and the rule calls itself

(After the definitions of the Renju International Federation, The International Rules of Renju.)
"""

from typing import Any

import numpy as np

from zermelo.core.bitboard import bits
from zermelo.games.geometry import run_from
from zermelo.games.lines.large import ALLOWED, BANNED, FIRST, FREE, HANGS, BoardLineGame

_FIVE = 5
FAULTLESS, OVERLINE, TWO_FOURS, TWO_THREES = range(4)  #: what `fault` answers
FAULTS = ("", "an overline", "two fours", "two threes")


class RenjuGame(BoardLineGame):
    """States gain a flag: (mover's, other's, the last move was forbidden, player)."""

    def __init__(self, size: int, spec: str) -> None:
        super().__init__(size, size, _FIVE, spec=spec)

    def initial(self) -> Any:
        """No stones; black moves."""
        return (0, 0, 0, 0)

    def legal(self, state: Any) -> Any:
        """Free cells, forbidden ones too."""
        return self.full ^ (state[0] | state[1])

    def play(self, state: Any, action: Any) -> Any:
        """Judged on the padded board, where the last stone is known."""
        mine, theirs, _, player = state
        forbidden = player == 0 and self.fault_of(state, action) != FAULTLESS
        return (theirs, mine | 1 << action, int(forbidden), 1 - player)

    def result(self, state: Any) -> Any:
        """Black wins with exactly five, white with five or more."""
        mine, theirs, forbidden, player = state
        won = bool(self._fives(theirs, exact=player == 1))
        full = (mine | theirs) == self.full
        return won or bool(forbidden) or full, forbidden - 1 * won

    def forbidden(self, state: Any) -> list[int]:
        """Black's forbidden points, while black is to move."""
        if self.player(state) != 0 or self.result(state)[0]:
            return []
        return [
            action
            for action in bits(self.legal(state))
            if self.fault_of(state, action) != FAULTLESS
        ]

    def fault_of(self, state: Any, action: int) -> int:
        """Which rule black would break by an action, with black to move."""
        cells = self.to_cells(state)
        cells[self.at(action)] = FIRST
        return self.fault(cells, self.at(action))

    def counts_exactly(self, _stone: Any) -> Any:
        """Black's lines."""
        return _stone == FIRST

    def ban(self, cells: Any, at: Any) -> int:
        """Black's forbidden points; two threes hang on what becomes of their completing points."""
        if cells[at] != FIRST:
            return ALLOWED
        found = self.first_fault(cells, at)
        if found != TWO_THREES:
            return ALLOWED if found == FAULTLESS else BANNED
        return BANNED if self.has_two_threes(cells, at) else HANGS

    def fault(self, cells: Any, at: Any) -> int:
        """Which rule black's stone on `at` breaks; a five breaks none."""
        found = self.first_fault(cells, at)
        if found != TWO_THREES:
            return found
        return TWO_THREES if self.has_two_threes(cells, at) else FAULTLESS

    def first_fault(self, cells: Any, at: Any) -> int:
        """The same, with TWO_THREES for two threes whose completing points may be forbidden."""
        overline = False
        for step in (1, self.stride, self.stride + 1, self.stride - 1):
            length = self.run(cells, at, step)
            if length == _FIVE:
                return FAULTLESS
            overline = overline or length > _FIVE
        if overline:
            return OVERLINE
        fours, threes = 0, 0
        for step in (1, self.stride, self.stride + 1, self.stride - 1):
            found = self.fours(cells, at, step)
            fours += found
            if found == 0 and (
                self.leads_to_straight_four(cells, at, -step)
                or self.leads_to_straight_four(cells, at, step)
            ):
                threes += 1
        if fours > 1:
            return TWO_FOURS
        return TWO_THREES if threes > 1 else FAULTLESS

    def has_two_threes(self, cells: Any, at: Any) -> bool:
        """Whether two threes of the stone on `at` have completing points that are allowed.

        Judging such a point can come to the same question one stone later: a recursion, kept on
        a stack of its own because compiled recursion does not survive the on-disk cache. A row
        is (stone, which of its eight sides is next, threes so far, completing point on trial).
        """
        stack = np.zeros((self.cells + 1, 4), np.int64)
        stack[0, 0] = at
        depth = 0
        while True:
            # 1. A stone with two threes is forbidden, one with all sides seen is not.
            side = stack[depth, 1]
            if stack[depth, 2] > 1 or side == 8:
                if depth == 0:
                    return bool(stack[0, 2] > 1)
                forbidden = stack[depth, 2] > 1
                depth -= 1
                self.close_trial(cells, stack[depth], forbidden)
                continue
            # 2. The next side: a direction with a four is no three.
            stone = stack[depth, 0]
            step = self.side_step(side)
            if self.fours(cells, stone, step) > 0 or not self.leads_to_straight_four(
                cells, stone, step
            ):
                stack[depth, 1] += 1
                continue
            # 3. Put a stone on the completing point and judge it, at once or one row further.
            point = self.end(cells, stone, step)
            stack[depth, 3] = point
            cells[point] = FIRST
            found = self.first_fault(cells, point)
            if found == TWO_THREES:
                depth += 1
                stack[depth] = 0
                stack[depth, 0] = point
            else:
                self.close_trial(cells, stack[depth], found != FAULTLESS)

    def close_trial(self, cells: Any, row: Any, forbidden: Any) -> None:
        """Take the trial stone back; an allowed one makes a three, and its direction is done."""
        cells[row[3]] = FREE
        if forbidden:
            row[1] += 1
        else:
            row[1] += 2 - row[1] % 2
            row[2] += 1

    def side_step(self, side: Any) -> Any:
        """The eight sides: two of each direction, one after the other."""
        sign = 1 - 2 * (side % 2)
        if side < 2:
            return sign
        return sign * (self.stride + (side // 2 + 1) % 3 - 1)

    def fours(self, cells: Any, at: Any, step: Any) -> int:
        """How many fours the run through `at` is part of: a straight four is one."""
        low, high = self.end(cells, at, -step), self.end(cells, at, step)
        found = 0
        for point in (low, high):
            if self.length_with(cells, point, step) == _FIVE:
                found += 1
        straight = abs(high - low) == _FIVE * abs(step)
        return 1 if straight and found > 0 else found

    def leads_to_straight_four(self, cells: Any, at: Any, step: Any) -> bool:
        """Whether a stone at the end of the run through `at` makes a straight four."""
        point = self.end(cells, at, step)
        if self.length_with(cells, point, step) != _FIVE - 1:
            return False
        cells[point] = FIRST
        ends = self.end(cells, at, -step), self.end(cells, at, step)
        straight = (
            self.length_with(cells, ends[0], step) == _FIVE
            and self.length_with(cells, ends[1], step) == _FIVE
        )
        cells[point] = FREE
        return bool(straight)

    def end(self, cells: Any, at: Any, step: Any) -> Any:
        """The first place beyond black's run through `at`."""
        place = at + step
        while cells[place] == FIRST:
            place += step
        return place

    def length_with(self, cells: Any, point: Any, step: Any) -> Any:
        """The length of the run that black's stone on `point` would make; 0 if it is not free."""
        if cells[point] != FREE:
            return 0
        return (self.end(cells, point, step) - self.end(cells, point, -step)) // step - 1

    def remark(self, state: Any, last: int | None) -> str:
        """Which rule black broke, where the last move is known."""
        if not state[2]:
            return ""
        fault = self.fault(self.to_cells(state), self.at(last)) if last is not None else OVERLINE
        return f": {self.symbols[0]} made {FAULTS[fault]}"

    def winning_line(self, state: Any) -> tuple[int, ...] | None:
        """The five, or white's longer line; a forbidden move has none."""
        exact = state[3] == 1
        found = self._fives(state[1], exact=exact)
        if not found:
            return None
        first = bits(found)[0]
        return run_from(self.grid, state[1], first, _FIVE, exact=exact)

    def from_board(self, cells: tuple[int, ...], to_move: int | None, *, checked: bool) -> Any:
        """A board does not tell which stone came last; of forbidden moves an overline shows."""
        mine, theirs, player = super().from_board(cells, to_move, checked=checked)
        overline = bool(self._fives(theirs, exact=False)) and not self._fives(theirs, exact=True)
        return (mine, theirs, int(overline and player == 1), player)

    def _fives(self, stones: int, *, exact: bool) -> int:
        return int(self.exactly(stones) if exact else self.lines(stones, self.win_steps))
