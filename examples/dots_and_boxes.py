"""Dots and Boxes: draw lines between dots; whoever draws the fourth line of a box owns it.

Players draw one line in turn, but a player who completes a box must draw again. When all lines are
drawn, the player with more boxes wins, and the difference is the score.

The board has 3x3 boxes. Dots, lines and boxes form a lattice of 7x7 points, and bit i is point i,
row by row from the top left. A line is an action, named by its column and row; the lines around
the first box are b1, a2, c2 and b3:

        a b c d e f g
     1  .-.-.-.-.-.-.      0  1  2  3  4  5  6     dots   at even rows and even columns (from 0)
     2  |*|*|*|*|*|*|      7  8  9 10 11 12 13     boxes  at odd rows and odd columns
     3  .-.-.-.-.-.-.     14 15 16 17 18 19 20     lines  elsewhere

A state is (lines drawn, boxes of the mover, boxes of the opponent, the player to move).
"""

from typing import Any

from zermelo import Word, WordGame
from zermelo.core.bitboard import pick, popcount
from zermelo.core.notation import Grid


class DotsAndBoxes(WordGame):
    """The rules; `DotsAndBoxes(2, 2)` has four boxes."""

    num_words = 4
    num_boards = 3
    num_planes = 3
    is_alternating = False  # a player who completes a box moves again
    is_layered = True  # every move draws a line
    has_scores = True
    score_unit = "box"
    one: Word = 1
    lines: Word
    boxes: Word
    width: int

    def __init__(self, rows: int = 3, cols: int = 3) -> None:
        self.points = Grid(2 * rows + 1, 2 * cols + 1)  # not `grid`: there are no stones on it
        self.num_actions, self.width = self.points.size, self.points.cols
        kinds = [(i // self.width % 2) + (i % self.width % 2) for i in range(self.num_actions)]
        self.lines = sum(1 << i for i, kind in enumerate(kinds) if kind == 1)
        self.boxes = sum(1 << i for i, kind in enumerate(kinds) if kind == 2)

    def initial(self) -> Any:
        return (0, 0, 0, 0)

    def legal(self, state: Any) -> Any:
        return self.lines ^ state[0]

    def play(self, state: Any, action: Any) -> Any:
        lines, mine, theirs, player = state
        lines = lines | self.one << action
        beside, above = lines << 1 & lines >> 1, lines << self.width & lines >> self.width
        closed = beside & above & self.boxes
        new = closed ^ (mine | theirs)
        again, mine = new != 0, mine | new
        return (
            lines,
            pick(again, mine, theirs),
            pick(again, theirs, mine),
            pick(again, player, player ^ self.one),
        )

    def score(self, state: Any) -> Any:
        return popcount(state[1]) - popcount(state[2])

    def result(self, state: Any) -> Any:
        over, margin = state[0] == self.lines, self.score(state)
        return over, over * ((margin > 0) * 1 - (margin < 0) * 1)

    @property
    def plane_shape(self) -> tuple[int, int]:
        return self.points.rows, self.points.cols

    def planes(self, state: Any) -> Any:
        return state[0], state[1], state[2]

    # Notation and drawing.

    def to_text(self, state: Any, action: int) -> str:
        del state
        return self.points.text(action)

    def symbol(self, state: Any, point: int) -> str:
        """Return what is drawn at a point: a dot, a line, the owner of a box, or nothing."""
        lines, mine, theirs, player = state
        row, col = divmod(point, self.width)
        if (mine | theirs) >> point & 1:
            return self.symbols[player if mine >> point & 1 else 1 - player]
        if lines >> point & 1:
            return "-" if col % 2 else "|"
        return " " if row % 2 or col % 2 else "+"

    def draw(self, state: Any) -> str:
        widths = [3 if col % 2 else 1 for col in range(self.width)]
        labels = "".join(map(str.center, self.points.letters, widths))
        rows = ["    " + labels]
        for row in range(self.points.rows):
            symbols = [self.symbol(state, row * self.width + col) for col in range(self.width)]
            cells = "".join(
                s * w if s == "-" else s.center(w) for s, w in zip(symbols, widths, strict=True)
            )
            rows.append(f"{row + 1:>2}  {cells}".rstrip())
        return "\n".join(rows)

    def draw_svg(self, state: Any) -> str:
        parts = []
        for point in range(self.num_actions):
            symbol = self.symbol(state, point)
            x, y = 20 + 24 * (point % self.width), 20 + 24 * (point // self.width)
            if symbol == "+":
                parts.append(f'<circle cx="{x}" cy="{y}" r="4"/>')
            elif symbol == "-":
                parts.append(f'<path d="M{x - 24} {y}h48" stroke="#333" stroke-width="3"/>')
            elif symbol == "|":
                parts.append(f'<path d="M{x} {y - 24}v48" stroke="#333" stroke-width="3"/>')
            elif symbol != " ":
                parts.append(f'<text x="{x}" y="{y + 6}" text-anchor="middle">{symbol}</text>')
            elif self.lines >> point & 1:  # the name of a line that can be drawn
                style = 'text-anchor="middle" font-size="8" fill="#767676"'
                parts.append(f'<text x="{x}" y="{y + 3}" {style}>{self.points.text(point)}</text>')
        width, height = 24 * self.width + 16, 24 * self.points.rows + 16
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
            f'width="{width}" height="{height}">{"".join(parts)}</svg>'
        )
