"""A race of two pawns, in plain Python: the last step has two moves with the same cells.

X has a pawn on a4 that moves up, O one on c1 that moves down, one row at a time; a player may also
wait once. Whoever reaches the far row promotes: with q the game is won, with r it is lost. A state
is (row of X, row of O, who has waited as two bits, the player to move, the winner or None).
"""

from typing import Any

from zermelo import Game
from zermelo.core.notation import Grid

ACTIONS = ("step", "q", "r", "wait")


class Promotion(Game):
    """The actions are: step, promote to q, promote to r, and wait."""

    grid = Grid(4, 3)
    num_actions = 4

    def initial(self) -> Any:
        return (3, 0, 0, 0, None)

    def player(self, state: Any) -> int:
        return int(state[3])

    def _next_row(self, state: Any) -> int:
        return state[1] + 1 if state[3] else state[0] - 1

    def actions(self, state: Any) -> list[int]:
        if state[4] is not None:
            return []
        is_last = self._next_row(state) == (3 if state[3] else 0)
        return [1, 2] if is_last else [0] + [3] * (not state[2] >> state[3] & 1)

    def play(self, state: Any, action: int) -> Any:
        first, second, waited, player, _ = state
        if action == 3:
            return (first, second, waited | 1 << player, 1 - player, None)
        rows = [first, second]
        rows[player] = self._next_row(state)
        winner = {0: None, 1: player, 2: 1 - player}[action]
        return (*rows, waited, 1 - player, winner)

    def result(self, state: Any) -> tuple[bool, int]:
        over = state[4] is not None
        return over, (1 if state[4] == state[3] else -1) if over else 0

    def to_text(self, state: Any, action: int) -> str:
        del state
        return ACTIONS[action]

    def move_cells(self, state: Any, action: int) -> tuple[int, ...]:
        column, row = (2, state[1]) if state[3] else (0, state[0])
        return () if action == 3 else (3 * row + column, 3 * self._next_row(state) + column)

    def board(self, state: Any) -> tuple[int, ...]:
        cells = [0] * 12
        cells[3 * state[0]], cells[3 * state[1] + 2] = 1, -1
        return tuple(cells)
