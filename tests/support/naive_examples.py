"""The rules of the games in examples/, written apart: slow, with sets and strings instead of bits.

A state is (…, player to move). `moves` gives the next state of every move, and none when the game
is over; `margin` is then the score for the side to move.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple, Protocol


class NaiveRules(Protocol):
    has_scores: bool

    def initial(self) -> Any: ...

    def moves(self, state: Any) -> dict[str, Any]: ...

    def margin(self, state: Any) -> int: ...


def name(row: int, col: int) -> str:
    return f"{chr(ord('a') + col)}{row + 1}"


class NaiveHex:
    """Hex on cells (row, column); the first player connects top and bottom."""

    has_scores = False

    def __init__(self, size: int) -> None:
        self.size = size

    def initial(self) -> Any:
        return frozenset(), frozenset(), 0

    def has_chain(self, stones: Any, player: int) -> bool:
        """Whether the stones connect the sides, by walking over them cell by cell."""
        pending = [cell for cell in stones if cell[player] == 0]
        seen = set(pending)
        while pending:
            row, col = pending.pop()
            if (row, col)[player] == self.size - 1:
                return True
            steps = ((0, 1), (0, -1), (1, 0), (-1, 0), (1, -1), (-1, 1))
            fresh = {(row + down, col + right) for down, right in steps} & stones - seen
            seen |= fresh
            pending += fresh
        return False

    def moves(self, state: Any) -> dict[str, Any]:
        player = state[2]
        if self.has_chain(state[1 - player], 1 - player):
            return {}
        found = {}
        for row in range(self.size):
            for col in range(self.size):
                if (row, col) not in state[0] | state[1]:
                    stones = [*state[:2]]
                    stones[player] = stones[player] | {(row, col)}
                    found[name(row, col)] = (*stones, 1 - player)
        return found

    def margin(self, state: Any) -> int:
        del state
        return -1  # the other side has just connected


class NaiveBreakthrough:
    """Breakthrough on cells (row, column); the first player moves down."""

    has_scores = False

    def __init__(self, rows: int, cols: int) -> None:
        self.rows, self.cols = rows, cols

    def initial(self) -> Any:
        cells = [(row, col) for row in range(self.rows) for col in range(self.cols)]
        top = frozenset(cell for cell in cells if cell[0] < 2)
        return top, frozenset(cell for cell in cells if cell[0] >= self.rows - 2), 0

    def moves(self, state: Any) -> dict[str, Any]:
        player = state[2]
        mine, theirs = state[player], state[1 - player]
        their_goal = 0 if player == 0 else self.rows - 1
        if not mine or any(row == their_goal for row, _ in theirs):
            return {}
        found = {}
        for row, col in mine:
            for side in (-1, 0, 1):
                target = (row + (1 if player == 0 else -1), col + side)
                is_blocked = target in mine or (side == 0 and target in theirs)
                if 0 <= target[1] < self.cols and not is_blocked:
                    pawns = [theirs - {target}] * 2
                    pawns[player] = mine - {(row, col)} | {target}
                    found[name(row, col) + name(*target)] = (*pawns, 1 - player)
        return found

    def margin(self, state: Any) -> int:
        del state
        return -1


class NaiveDotsAndBoxes:
    """Dots and Boxes; a line is its point (row, column) in the lattice of dots, lines and boxes."""

    has_scores = True

    def __init__(self, rows: int, cols: int) -> None:
        points = [(row, col) for row in range(2 * rows + 1) for col in range(2 * cols + 1)]
        self.lines = frozenset(p for p in points if sum(p) % 2 == 1)
        self.boxes = [p for p in points if p[0] % 2 == 1 and p[1] % 2 == 1]

    def initial(self) -> Any:
        return frozenset(), (0, 0), 0

    def count_boxes(self, lines: Any) -> int:
        around = [
            {(row - 1, col), (row + 1, col), (row, col - 1), (row, col + 1)}
            for row, col in self.boxes
        ]
        return sum(box <= lines for box in around)

    def moves(self, state: Any) -> dict[str, Any]:
        lines, counts, player = state
        found = {}
        for line in self.lines - lines:
            after = lines | {line}
            new = self.count_boxes(after) - self.count_boxes(lines)
            boxes = [*counts]
            boxes[player] += new
            found[name(*line)] = (after, tuple(boxes), player if new else 1 - player)
        return found

    def margin(self, state: Any) -> int:
        _lines, counts, player = state
        return counts[player] - counts[1 - player]


class Truth(NamedTuple):
    """What a state is worth to the side to move."""

    margin: int
    plies: int
    rank: int  #: greater is better: the score or, without scores, fast wins and slow losses


class NaiveSolver:
    """Solves a game by plain recursion over all of its states."""

    def __init__(self, rules: NaiveRules) -> None:
        self.rules = rules
        self._values: dict[Any, Truth] = {}

    def value(self, state: Any) -> Truth:
        if state not in self._values:
            values = self.after(state).values()
            if values:
                self._values[state] = max(values, key=lambda truth: truth.rank)
            else:
                margin = self.rules.margin(state)
                rank = margin if self.rules.has_scores else margin * 1_000
                self._values[state] = Truth(margin, 0, rank)
        return self._values[state]

    def after(self, state: Any) -> dict[str, Truth]:
        """The value of every move, for the side to move."""
        values = {}
        for move, child in self.rules.moves(state).items():
            margin, plies, rank = self.value(child)
            sign = 1 if child[-1] == state[-1] else -1
            if not self.rules.has_scores:
                rank -= (rank > 0) - (rank < 0)
            values[move] = Truth(sign * margin, plies + 1, sign * rank)
        return values

    def best(self, state: Any) -> set[str]:
        after = self.after(state)
        top = max(truth.rank for truth in after.values())
        return {move for move, truth in after.items() if truth.rank == top}


def random_line(rules: NaiveRules, rng: Any) -> Iterator[tuple[Any, str | None]]:
    """Yield the states of a random game, each with the move played in it; the last with None."""
    state = rules.initial()
    while moves := rules.moves(state):
        move = rng.choice(sorted(moves))
        yield state, move
        state = moves[move]
    yield state, None
