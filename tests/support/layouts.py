"""Tic-tac-toe in several layouts of its state, as files of users would define them."""

from pathlib import Path
from typing import Any

import zermelo as z

_HEAD = """
from zermelo import Word, WordGame
from zermelo.core.bitboard import pick
from zermelo.core.notation import Grid
from zermelo.core.symmetry import grid_symmetries
"""

_RULES = """
class {name}(WordGame):
    num_actions = 9
    is_layered = True
    full: Word = 0o777
    one: Word = 1
    line_masks: tuple[Word, ...] = (0o7, 0o70, 0o700, 0o111, 0o222, 0o444, 0o421, 0o124)

    def initial(self):
        return (0, 0, 0)

    def legal(self, state):
        return self.full ^ (state[0] | state[1])

    def is_won(self, stones):
        won = False
        for line in self.line_masks:
            won = won | (stones & line == line)
        return won

    def to_text(self, state, action):
        return "abc"[action % 3] + str(action // 3 + 1)
"""

_BY_COLOUR = """
    def play(self, state, action):
        first, second, player = state
        stone = self.one << action
        return (
            pick(player == 0, first | stone, first),
            pick(player == 0, second, second | stone),
            player ^ self.one,
        )

    def result(self, state):
        first, second, player = state
        won = self.is_won(pick(player == 0, second, first))
        return won | (first | second == self.full), -1 * won

    def board(self, state):
        return tuple((state[0] >> i & 1) - (state[1] >> i & 1) for i in range(9))
"""

_BY_MOVER = """
    def play(self, state, action):
        mine, theirs, player = state
        return (theirs, mine | (self.one << action), player ^ self.one)

    def result(self, state):
        mine, theirs, _player = state
        won = self.is_won(theirs)
        return won | (mine | theirs == self.full), -1 * won

    def board(self, state):
        sign = 1 - 2 * state[2]
        return tuple(sign * ((state[0] >> i & 1) - (state[1] >> i & 1)) for i in range(9))
"""

GRID = """
    grid = Grid(3, 3)
"""

SYMMETRIES = """
    def symmetries(self):
        return grid_symmetries(Grid(3, 3))
"""

PLANES = """
    def planes(self, state):
        first, second, player = state
        return pick(player == 0, first, second), pick(player == 0, second, first)
"""

#: own stones, stones of the other side, empty cells, on planes without rows
FLAT_PLANES = """
    plane_shape = (1, 9)
    num_planes = 3

    def planes(self, state):
        first, second, player = state
        free = self.full ^ (first | second)
        return pick(player == 0, first, second), pick(player == 0, second, first), free
"""


def write_game(folder: Path, name: str, *parts: str, by_colour: bool = True) -> Any:
    """Write tic-tac-toe with these parts to a file, and return it as a game."""
    path = folder / f"{name}.py"
    rules = _RULES.format(name=name.title().replace("_", ""))
    path.write_text(_HEAD + rules + (_BY_COLOUR if by_colour else _BY_MOVER) + "".join(parts))
    return z.game(str(path))
