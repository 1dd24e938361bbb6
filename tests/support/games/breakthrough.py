"""Breakthrough on a 6x6 board, in plain Python: a game whose moves are from one cell to another.

X begins at the bottom, on rows 5 and 6, and moves up; O begins on rows 1 and 2 and moves down. A
piece moves one cell forward, straight or diagonally, and captures only diagonally. A player wins by
reaching the far row or by capturing all pieces. A state is (cells row by row from the top, player).
"""

from typing import Any

from zermelo import Game
from zermelo.core.notation import Grid

SIZE = 6


class Breakthrough(Game):
    """An action is 3 * (the piece's cell) + 0, 1 or 2: to the left, straight or to the right."""

    grid = Grid(SIZE, SIZE)
    num_actions = 3 * SIZE * SIZE
    has_equal_sides = False

    def initial(self) -> Any:
        return ((-1,) * 2 * SIZE + (0,) * 2 * SIZE + (1,) * 2 * SIZE, 0)

    def player(self, state: Any) -> int:
        return int(state[1])

    def actions(self, state: Any) -> list[int]:
        if self.result(state)[0]:
            return []
        return [a for a in range(self.num_actions) if self._is_move(state, a)]

    def _target(self, state: Any, action: int) -> int | None:
        row, col = divmod(action // 3, SIZE)
        row, col = row + (1 if state[1] else -1), col + action % 3 - 1
        return row * SIZE + col if 0 <= row < SIZE and 0 <= col < SIZE else None

    def _is_move(self, state: Any, action: int) -> bool:
        cells, player = state
        mine, target = (-1 if player else 1), self._target(state, action)
        if cells[action // 3] != mine or target is None:
            return False
        return cells[target] == 0 or (cells[target] == -mine and action % 3 != 1)

    def play(self, state: Any, action: int) -> Any:
        cells, player = list(state[0]), state[1]
        target = self._target(state, action)
        assert target is not None
        cells[target], cells[action // 3] = cells[action // 3], 0
        return (tuple(cells), 1 - player)

    def result(self, state: Any) -> tuple[bool, int]:
        cells, player = state
        far_row = cells[:SIZE] if player else cells[-SIZE:]  # where the last mover wants to go
        other = 1 if player else -1
        over = other in far_row or -other not in cells
        return over, -1 if over else 0

    def to_text(self, state: Any, action: int) -> str:
        return "".join(map(self.grid.text, self.move_cells(state, action)))

    def move_cells(self, state: Any, action: int) -> tuple[int, ...]:
        target = self._target(state, action)
        return () if target is None else (action // 3, target)

    def board(self, state: Any) -> tuple[int, ...]:
        return tuple(state[0])
