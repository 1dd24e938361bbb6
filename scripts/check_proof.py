"""Checks a proof file, by rules of its own: python scripts/check_proof.py FILE (docs/proofs.md)."""

import re
import sys
from pathlib import Path

MAX_BYTES, DONE = 20_000_000, ""
HEAD = re.compile(
    r"zermelo proof 1\ngame (.{1,200})\n(rows ([1-9]\d?) cols ([1-9]\d?) win ([1-9]\d?) "
    r"lose (\d\d?) gravity ([01]) exact ([01]))\nclaim (first|second|draw)\n"
)
WAYS = ((0, 1), (1, 0), (1, 1), (1, -1), (0, -1), (-1, 0), (-1, -1), (-1, 1))  # opposites 4 apart


class Rules:
    """A board is a text, X, O or a dot for each cell, row by row from the top left."""

    def __init__(self, rows: int, cols: int, win: int, lose: int, gravity: int, exact: int) -> None:
        self.cols, self.win, self.lose, self.gravity, self.exact = cols, win, lose, gravity, exact
        self.cells = {f"{chr(97 + i % cols)}{i // cols + 1}": i for i in range(rows * cols)}
        at = {divmod(i, cols): i for i in range(rows * cols)}
        near = [[[(r + n * y, c + n * x) for n in range(1, 99)] for y, x in WAYS] for r, c in at]
        self.rays = [[[at[p] for p in ray if p in at] for ray in rays] for rays in near]
        runs = [(i, *ray[: win - 1]) for i, rays in enumerate(self.rays) for ray in rays[:4]]
        self.lines = [set(run) for run in runs if len(run) == win]

    def legal(self, board: str) -> list[int]:
        """The free cells; with gravity those on the floor or on a stone."""
        free = [i for i, mark in enumerate(board) if mark == "."]
        return [i for i in free if board[i + self.cols :][:1] != "."] if self.gravity else free

    def play(self, board: str, cell: int, mark: str) -> tuple[str, int | None]:
        """The board, and for who moved: 1 won, -1 lost, 0 drawn, None: the game goes on."""
        board, runs = board[:cell] + mark + board[cell + 1 :], [1, 1, 1, 1]
        for way, ray in enumerate(self.rays[cell]):
            for i in ray:
                if board[i] != mark:
                    break
                runs[way % 4] += 1
        if self.win in runs or (max(runs) > self.win and not self.exact):
            return board, 1
        return board, -1 if 0 < self.lose <= max(runs) else None if "." in board else 0

    def holds(self, board: str, mark: str, cells: list[int]) -> bool:
        """Whether a side that answers in the same pair leaves the other no line to complete."""
        pairs = [{a, b} for a, b in zip(cells[::2], cells[1::2], strict=False)]
        rest = [line for line in self.lines if all(board[i] != mark for i in line)]
        closed = all(any(pair <= line for pair in pairs) for line in rest)
        apart = set(cells) <= set(self.legal(board)) and len(set(cells)) == len(cells)
        return closed and apart and not self.lose and not (self.gravity and cells)


def walk(rules: Rules, goal: int, mine: str, theirs: str, plan: dict[str, str]) -> str:
    """What is wrong with a plan that must win (goal 1) or not lose (goal 0) against every reply."""
    start = "." * len(rules.cells)
    waiting = [(start, plan.pop(start, "?") if mine == "X" else DONE)]
    while waiting:
        board, line = waiting.pop()
        if line != DONE:  # as it is where the second player waits for the first move
            move, *rest = re.split("[ -]", line)
            cell, *cells = (rules.cells.get(name, -1) for name in (move, *rest[1:]))
            if cell not in rules.legal(board):
                return f"{board} {line}: no legal move"
            board, end = rules.play(board, cell, mine)
            if rest and (goal or not rules.holds(board, mine, cells)):
                return f"{board}: {' '.join(rest)} leave the other side a line"
            if end is not None and end < goal:
                return f"{board}: the game is over, against the claim"
            if rest or end is not None:
                continue
        wins = {i for i, at in enumerate(board) if at == "." and rules.play(board, i, mine)[1] == 1}
        for reply in rules.legal(board):
            after, end = rules.play(board, reply, theirs)
            if end is not None and -end < goal:
                return f"{after}: the game is over, against the claim"
            if end is None and after not in plan and wins.isdisjoint(rules.legal(after)):
                return f"{after}: no move is listed, and none wins at once"
            if end is None and plan.get(after):
                waiting.append((after, plan[after]))
                plan[after] = DONE
    return ""


if __name__ == "__main__":
    path = Path(sys.argv[-1])
    small = path.is_file() and path.stat().st_size <= MAX_BYTES
    text = path.read_text(encoding="ascii", errors="replace") if small else ""
    if not (head := HEAD.match(text)):
        sys.exit("not proven: no file of 20 MB at most whose first lines are those of a proof")
    name, shown, *numbers, claim = head.groups()
    lines = [line.partition(" ") for line in text[head.end() :].splitlines()]
    plan = {board: line or "?" for board, _, line in lines}
    wrong = "" if len(plan) == len(lines) else "a position is listed twice"
    for mine, theirs in {"first": ["XO"], "second": ["OX"], "draw": ["XO", "OX"]}[claim]:
        wrong = wrong or walk(Rules(*map(int, numbers)), claim != "draw", mine, theirs, plan)
    unused = [f"{x[:80]}: listed, but no strategy comes here" for x in plan if plan[x] != DONE]
    if wrong or unused:
        sys.exit(f"not proven: {wrong or unused[0]}")
    print(f"proven: {name} ({shown}), claim {claim}: {len(lines):,} positions")
