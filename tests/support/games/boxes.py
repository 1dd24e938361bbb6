"""Dots and Boxes with four boxes, in plain Python: extra turns, a score, and no grid of cells.

The dots are a1 to c3, and a move draws the line between two neighbouring dots, such as a1b1. Who
completes a box owns it and moves again; the player with more boxes wins. A state is (lines as a bit
mask, owners of the boxes as +1, -1 or 0, the player to move).
"""

from typing import Any

from zermelo import Game

DOTS = [f"{col}{row}" for row in "123" for col in "abc"]
LINES = [
    (dot, dot + step)
    for dot in range(9)
    for step in (1, 3)
    if (dot % 3 < 2 if step == 1 else dot < 6)
]
BOXES = [
    [LINES.index(line) for line in ((d, d + 1), (d, d + 3), (d + 1, d + 4), (d + 3, d + 4))]
    for d in (0, 1, 3, 4)
]


class Boxes(Game):
    """An action is the index of a line."""

    num_actions = len(LINES)
    is_alternating = False
    has_scores = True

    def initial(self) -> Any:
        return (0, (0, 0, 0, 0), 0)

    def player(self, state: Any) -> int:
        return int(state[2])

    def actions(self, state: Any) -> list[int]:
        return [line for line in range(self.num_actions) if not state[0] >> line & 1]

    def play(self, state: Any, action: int) -> Any:
        lines, owners, player = state
        lines |= 1 << action
        full = [all(lines >> line & 1 for line in box) for box in BOXES]
        mine = -1 if player else 1
        after = tuple(
            mine if is_full and not owner else owner
            for owner, is_full in zip(owners, full, strict=True)
        )
        return (lines, after, player if after != owners else 1 - player)

    def result(self, state: Any) -> tuple[bool, int]:
        over = not self.actions(state)
        margin = self.score(state)
        return over, (margin > 0) - (margin < 0) if over else 0

    def score(self, state: Any) -> int:
        margin = sum(state[1])
        return -margin if state[2] else margin

    def remark(self, state: Any, last: int | None) -> str:
        del last
        counts = sorted((state[1].count(1), state[1].count(-1)))
        return f", {counts[1]} to {counts[0]}"

    def to_text(self, state: Any, action: int) -> str:
        del state
        return "".join(DOTS[dot] for dot in LINES[action])

    def draw(self, state: Any) -> str:
        present = {LINES[line] for line in range(self.num_actions) if state[0] >> line & 1}
        rows = ["   a   b   c"]
        for row in range(3):
            dots = [3 * row + col for col in range(3)]
            rows.append(
                f"{row + 1}  "
                + "".join(f"+{'---' if (d, d + 1) in present else '   '}" for d in dots)
            )
            if row < 2:
                walls = ["|" if (d, d + 3) in present else " " for d in dots]
                owners = [" XO"[state[1][2 * row + col]] for col in range(2)]
                rows.append(f"   {walls[0]} {owners[0]} {walls[1]} {owners[1]} {walls[2]}")
        return "\n".join(line.rstrip() for line in rows)

    def draw_svg(self, state: Any) -> str:
        parts = []
        for box, owner in enumerate(state[1]):
            if owner:
                x, y = 45 + 60 * (box % 2), 65 + 60 * (box // 2)
                parts.append(f'<text x="{x}" y="{y}">{" XO"[owner]}</text>')
        for line, (one, other) in enumerate(LINES):
            (x, y), (u, v) = ((25 + 60 * (d % 3), 30 + 60 * (d // 3)) for d in (one, other))
            colour = "#1b6ca8" if state[0] >> line & 1 else "#ddd"
            parts.append(f'<path d="M{x} {y}L{u} {v}" stroke="{colour}" stroke-width="5"/>')
        for dot, name in enumerate(DOTS):
            x, y = 25 + 60 * (dot % 3), 30 + 60 * (dot // 3)
            parts.append(f'<circle cx="{x}" cy="{y}" r="5"/>')
            parts.append(f'<text x="{x - 8}" y="{y - 8}" font-size="11">{name}</text>')
        return (
            '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 175 175" '
            f'font-family="sans-serif" font-size="22">{"".join(parts)}</svg>'
        )
