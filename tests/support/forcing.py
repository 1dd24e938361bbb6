"""A slow check of forced wins by the rules alone: every defence is played and must be answered.

The search is not trusted: it is asked for a move, every legal reply is played, and it is asked
again, until the attacker has won on the board.
"""

import random
from collections.abc import Callable
from dataclasses import dataclass, field

from support.naive import DIRECTIONS, renju_foul

Cell = tuple[int, int]
WIN, LOSS, CONTINUES = "win", "loss", ""
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
        """Return whether a stone on an empty cell wins or loses immediately for the player."""
        runs = [self.run(self.stones[player], cell, *d) for d in DIRECTIONS]
        exact = self.exact or (self.renju and player == 0)
        if self.win in runs or (not exact and max(runs) > self.win):
            return WIN
        if self.renju and player == 0 and max(runs) > 1:
            return LOSS if renju_foul(*self.stones, cell, self.rows) else CONTINUES
        return CONTINUES

    def winning(self, player: int) -> list[Cell]:
        """Return the cells where a player wins immediately; they touch a stone of that player."""
        near = {
            (row + down, col + right)
            for row, col in self.stones[player]
            for down in (-1, 0, 1)
            for right in (-1, 0, 1)
        }
        return [c for c in self.free() if c in near and self.outcome(player, c) == WIN]


FindWin = Callable[[Board, int], Cell | None]  # returns the first move of a forced win


@dataclass
class DefenceCheck:
    """Looks for a defence. `sample` limits the replies to a quiet threat; None tries them all."""

    find_win: FindWin
    attacker: int
    sample: int | None = None
    rng: random.Random = field(default_factory=random.Random)
    nodes: int = 0
    won: set[frozenset[tuple[int, Cell]]] = field(default_factory=set)

    def refute(self, board: Board) -> list[Cell] | None:
        """Return moves that lead to a position without a win of the attacker, None if all win."""
        own, opponent = board.stones[self.attacker], board.stones[1 - self.attacker]
        key = frozenset({(0, c) for c in own} | {(1, c) for c in opponent})
        if key in self.won:
            return None
        self.nodes += 1
        move = self.find_win(board, self.attacker)
        if move is None or move in own or move in opponent:
            return []
        result = board.outcome(self.attacker, move)
        if result:
            return None if result == WIN else [move]
        own.add(move)
        refutation = self._defend(board, opponent)
        own.remove(move)
        if refutation is not None:
            return [move, *refutation]
        self.won.add(key)
        return None

    def _defend(self, board: Board, defender: set[Cell]) -> list[Cell] | None:
        if wins := board.winning(1 - self.attacker):
            return wins[:1]
        threats = board.winning(self.attacker)
        for reply in self._replies(board, threats):
            # A reply that leaves a threat open loses to it, which the rules confirm on the board.
            defender.add(reply)
            remaining = [
                t for t in threats if t != reply and board.outcome(self.attacker, t) == WIN
            ]
            defender.remove(reply)
            if remaining or board.outcome(1 - self.attacker, reply) == LOSS:
                continue
            defender.add(reply)
            refutation = self.refute(board)
            defender.remove(reply)
            if refutation is not None:
                return [reply, *refutation]
        return None

    def _replies(self, board: Board, threats: list[Cell]) -> list[Cell]:
        free = board.free()
        if threats or self.sample is None or len(free) <= self.sample:
            return free
        return self.rng.sample(free, self.sample)


def play_randomly(board: Board, stones: int, rng: random.Random) -> int | None:
    """Play near other stones and block every four; return the side to move, None after a win."""
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
