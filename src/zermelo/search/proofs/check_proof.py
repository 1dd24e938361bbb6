"""Check a proof file without the rest of zermelo: python check_proof.py FILE (docs/proofs.md)."""

import re
import sys
from pathlib import Path

MAX_BYTES, VISITED = 20_000_000, ""
HEADER = re.compile(
    r"zermelo proof 1\ngame (.{1,200})\n(rows ([1-9]\d?) cols ([1-9]\d?) win ([1-9]\d?) "
    r"lose (\d\d?) gravity ([01]) exact ([01]))\nclaim (first|second|draw)\n"
)
STEPS = ((0, 1), (1, 0), (1, 1), (1, -1), (0, -1), (-1, 0), (-1, -1), (-1, 1))


class CheckedGame:
    """A line game. A board is a string: X, O or a dot per cell, row by row from the top left."""

    def __init__(self, rows: int, cols: int, win: int, lose: int, gravity: int, exact: int) -> None:
        self.cols, self.win, self.lose, self.gravity, self.exact = cols, win, lose, gravity, exact
        self.cells = {f"{chr(97 + i % cols)}{i // cols + 1}": i for i in range(rows * cols)}
        at = {divmod(i, cols): i for i in range(rows * cols)}
        ways = [[[(r + n * y, c + n * x) for n in range(1, 99)] for y, x in STEPS] for r, c in at]
        self.rays = [[[at[p] for p in way if p in at] for way in of_cell] for of_cell in ways]
        runs = [(i, *ray[: win - 1]) for i, rays in enumerate(self.rays) for ray in rays[:4]]
        self.lines = [set(run) for run in runs if len(run) == win]

    def legal(self, board: str) -> list[int]:
        """Return the free cells; with gravity, only those at the bottom or on top of a stone."""
        free = [i for i, mark in enumerate(board) if mark == "."]
        return [i for i in free if board[i + self.cols :][:1] != "."] if self.gravity else free

    def play(self, board: str, cell: int, mark: str) -> tuple[str, int | None]:
        """Return the new board and the mover's result: 1 win, 0 draw, -1 loss, None if not over."""
        board, runs = board[:cell] + mark + board[cell + 1 :], [1, 1, 1, 1]
        for direction, ray in enumerate(self.rays[cell]):
            for i in ray:
                if board[i] != mark:
                    break
                runs[direction % 4] += 1  # opposite directions are 4 apart
        if self.win in runs or (max(runs) > self.win and not self.exact):
            return board, 1
        return board, -1 if 0 < self.lose <= max(runs) else None if "." in board else 0

    def is_held(self, board: str, mark: str, cells: list[int]) -> bool:
        """Return whether the pairs in `cells` cover every line that the opponent can still fill."""
        pairs = [{a, b} for a, b in zip(cells[::2], cells[1::2], strict=False)]
        open_lines = [line for line in self.lines if all(board[i] != mark for i in line)]
        is_closed = all(any(pair <= line for pair in pairs) for line in open_lines)
        is_disjoint = set(cells) <= set(self.legal(board)) and len(set(cells)) == len(cells)
        return is_closed and is_disjoint and not self.lose and not (self.gravity and cells)


def find_flaw(
    game: CheckedGame, goal: int, mine: str, theirs: str, strategy: dict[str, str]
) -> str:
    """Return the flaw in a strategy that must win (goal 1) or not lose (goal 0), "" if none."""
    start = "." * len(game.cells)
    pending = [(start, strategy.pop(start, "?") if mine == "X" else VISITED)]
    while pending:
        board, entry = pending.pop()
        if entry != VISITED:  # at the start, the second player has no move yet
            move, *rest = re.split("[ -]", entry)
            cell, *cells = (game.cells.get(name, -1) for name in (move, *rest[1:]))
            if cell not in game.legal(board):
                return f"{board} {entry}: not a legal move"
            board, end = game.play(board, cell, mine)
            if rest and (goal or not game.is_held(board, mine, cells)):
                return f"{board}: {' '.join(rest)} let the opponent complete a line"
            if end is not None and end < goal:
                return f"{board}: the game is over, contrary to the claim"
            if rest or end is not None:
                continue
        wins = {i for i, at in enumerate(board) if at == "." and game.play(board, i, mine)[1] == 1}
        for reply in game.legal(board):
            after, end = game.play(board, reply, theirs)
            if end is not None and -end < goal:
                return f"{after}: the game is over, contrary to the claim"
            if end is None and after not in strategy and wins.isdisjoint(game.legal(after)):
                return f"{after}: no move is listed, and none wins immediately"
            if end is None and strategy.get(after):
                pending.append((after, strategy[after]))
                strategy[after] = VISITED
    return ""


def check_file(path: Path) -> str:
    """Return the verdict on a proof file: a line that begins with `proven` or `not proven`."""
    is_small = path.is_file() and path.stat().st_size <= MAX_BYTES
    text = path.read_text(encoding="ascii", errors="replace") if is_small else ""
    if not (header := HEADER.match(text)):
        return "not proven: the file must begin with a proof's header and be at most 20 MB"
    name, rules, *numbers, claim = header.groups()
    lines = [line.partition(" ") for line in text[header.end() :].splitlines()]
    moves = {board: entry or "?" for board, _, entry in lines}
    flaw = "" if len(moves) == len(lines) else "a position is listed twice"
    game, xo, ox = CheckedGame(*map(int, numbers)), ("X", "O"), ("O", "X")
    for mine, theirs in {"first": [xo], "second": [ox], "draw": [xo, ox]}[claim]:
        flaw = flaw or find_flaw(game, claim != "draw", mine, theirs, moves)
    unused = [f"{x[:80]}: listed, but never reached" for x in moves if moves[x] != VISITED]
    if flaw or unused:
        return f"not proven: {flaw or unused[0]}"
    return f"proven: {name} ({rules}), claim {claim}: {len(lines):,} positions"


if __name__ == "__main__":
    verdict = check_file(Path(sys.argv[-1]))
    if verdict.startswith("not proven"):
        sys.exit(verdict)
    print(verdict)
