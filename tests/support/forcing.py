"""A slow check of forced wins by the rules alone: every defence is played and must be answered.

Nothing of the search is trusted: it is asked for a move, every legal reply to it is made, and the
search is asked again, until the attacker has won on the board.
"""

import random
from collections.abc import Callable
from dataclasses import dataclass, field

from support.naive import DIRECTIONS, renju_foul

Cell = tuple[int, int]
WIN, LOSS, GOES_ON = "win", "loss", ""
_REACH = range(-2, 3)


@dataclass
class Board:
    """Stones of a line game without gravity; player 0 is black."""

    rows: int
    cols: int
    win: int = 5
    exact: bool = False
    renju: bool = False
    stones: tuple[set[Cell], set[Cell]] = field(default_factory=lambda: (set(), set()))

    def free(self) -> list[Cell]:
        cells = [(row, col) for row in range(self.rows) for col in range(self.cols)]
        taken = self.stones[0] | self.stones[1]
        return [cell for cell in cells if cell not in taken]

    def run(self, stones: set[Cell], cell: Cell, down: int, right: int) -> int:
        size = 1
        for sign in (1, -1):
            row, col = cell[0] + sign * down, cell[1] + sign * right
            while (row, col) in stones:
                size += 1
                row, col = row + sign * down, col + sign * right
        return size

    def outcome(self, player: int, cell: Cell) -> str:
        """What a stone on a free cell does at once to the player who puts it."""
        runs = [self.run(self.stones[player], cell, *d) for d in DIRECTIONS]
        exact = self.exact or (self.renju and player == 0)
        if self.win in runs or (not exact and max(runs) > self.win):
            return WIN
        if self.renju and player == 0 and max(runs) > 1:
            return LOSS if renju_foul(*self.stones, cell, self.rows) else GOES_ON
        return GOES_ON

    def winning(self, player: int) -> list[Cell]:
        """The cells where a player wins at once: they touch a stone of that player."""
        near = {
            (row + down, col + right)
            for row, col in self.stones[player]
            for down in (-1, 0, 1)
            for right in (-1, 0, 1)
        }
        return [c for c in self.free() if c in near and self.outcome(player, c) == WIN]


Search = Callable[[Board, int], Cell | None]  # the first move of a forced win


@dataclass
class Check:
    """Looks for a defence. `sample`: how many replies to a quiet threat, None for all of them."""

    search: Search
    attacker: int
    sample: int | None = None
    rng: random.Random = field(default_factory=random.Random)
    nodes: int = 0
    known: set[frozenset[tuple[int, Cell]]] = field(default_factory=set)

    def refute(self, board: Board) -> list[Cell] | None:
        """Moves after which the attacker, who is to move, has not won and knows no way to."""
        mine, theirs = board.stones[self.attacker], board.stones[1 - self.attacker]
        name = frozenset({(0, c) for c in mine} | {(1, c) for c in theirs})
        if name in self.known:
            return None
        self.nodes += 1
        move = self.search(board, self.attacker)
        if move is None or move in mine or move in theirs:
            return []
        result = board.outcome(self.attacker, move)
        if result:
            return None if result == WIN else [move]
        mine.add(move)
        found = self._defend(board, theirs)
        mine.remove(move)
        if found is not None:
            return [move, *found]
        self.known.add(name)
        return None

    def _defend(self, board: Board, theirs: set[Cell]) -> list[Cell] | None:
        if won := board.winning(1 - self.attacker):
            return won[:1]
        threats = board.winning(self.attacker)
        for reply in self._replies(board, threats):
            # Any reply that leaves a threat loses to it: said again by the rules, on the board.
            theirs.add(reply)
            left = [t for t in threats if t != reply and board.outcome(self.attacker, t) == WIN]
            theirs.remove(reply)
            if left or board.outcome(1 - self.attacker, reply) == LOSS:
                continue
            theirs.add(reply)
            found = self.refute(board)
            theirs.remove(reply)
            if found is not None:
                return [reply, *found]
        return None

    def _replies(self, board: Board, threats: list[Cell]) -> list[Cell]:
        free = board.free()
        if threats or self.sample is None or len(free) <= self.sample:
            return free
        return self.rng.sample(free, self.sample)


def wander(board: Board, stones: int, rng: random.Random) -> int | None:
    """Random play near other stones that blocks every four; who moves, None if a win came up."""
    player, near = 0, {(board.rows // 2, board.cols // 2)}
    for _ in range(stones):
        blocks = board.winning(1 - player)
        cell = rng.choice(blocks or sorted(near))
        if board.winning(player) or board.outcome(player, cell):
            return None
        board.stones[player].add(cell)
        near |= {(cell[0] + down, cell[1] + right) for down in _REACH for right in _REACH}
        near &= set(board.free())
        player = 1 - player
    return player
