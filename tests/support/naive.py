"""Slow, obvious rules to test the fast ones against; the package never imports them."""

from dataclasses import dataclass, field

DIRECTIONS = ((0, 1), (1, 0), (1, 1), (1, -1))


@dataclass
class NaiveLines:
    """A line game on a list of lists; cells are None, 0 or 1."""

    rows: int
    cols: int
    win: int
    lose: int = 0
    gravity: bool = False
    overline: str = "any"
    pie: bool = False
    cells: list[list[int | None]] = field(default_factory=list)
    player: int = 0
    plies: int = 0
    last_mover: int | None = None

    def __post_init__(self) -> None:
        self.cells = [[None] * self.cols for _ in range(self.rows)]

    def runs(self, player: int) -> list[int]:
        """The lengths of all maximal runs of a player's stones, in all directions."""
        lengths = []
        for row in range(self.rows):
            for col in range(self.cols):
                for down, right in DIRECTIONS:
                    if self.at(row - down, col - right) == player:
                        continue  # not the beginning of a run
                    length = 0
                    while self.at(row + down * length, col + right * length) == player:
                        length += 1
                    lengths.append(length)
        return lengths

    def at(self, row: int, col: int) -> int | None:
        inside = 0 <= row < self.rows and 0 <= col < self.cols
        return self.cells[row][col] if inside else None

    def result(self) -> str | None:
        """'first', 'second', 'draw' or None."""
        names = ("first", "second")
        if self.last_mover is not None:
            runs = self.runs(self.last_mover)
            won = self.win in runs if self.overline == "exact" else max(runs) >= self.win
            if won:
                return names[self.last_mover]
            if self.lose and max(runs) >= self.lose:
                return names[1 - self.last_mover]
        full = all(cell is not None for row in self.cells for cell in row)
        return "draw" if full else None

    def actions(self) -> list[int]:
        if self.result() is not None:
            return []
        if self.gravity:
            return [col for col in range(self.cols) if self.cells[0][col] is None]
        cells = [
            row * self.cols + col
            for row in range(self.rows)
            for col in range(self.cols)
            if self.cells[row][col] is None
        ]
        return cells + ([self.rows * self.cols] if self.pie and self.plies == 1 else [])

    def play(self, action: int) -> None:
        if self.pie and action == self.rows * self.cols:
            for row in self.cells:
                for col, cell in enumerate(row):
                    if cell is not None:
                        row[col] = 1 - cell
            self.last_mover = None
        else:
            row, col = self.landing(action) if self.gravity else divmod(action, self.cols)
            assert self.cells[row][col] is None
            self.cells[row][col] = self.player
            self.last_mover = self.player
        self.player = 1 - self.player
        self.plies += 1

    def landing(self, col: int) -> tuple[int, int]:
        return max(row for row in range(self.rows) if self.cells[row][col] is None), col

    def board(self) -> tuple[int, ...]:
        value = {None: 0, 0: 1, 1: -1}
        return tuple(value[cell] for row in self.cells for cell in row)


def renju_foul(
    black: set[tuple[int, int]], white: set[tuple[int, int]], at: tuple[int, int], size: int
) -> str:
    """Return the foul that black's move on `at` is, straight from the definitions, by recursion."""
    black = black | {at}

    def free(cell: tuple[int, int]) -> bool:
        inside = 0 <= cell[0] < size and 0 <= cell[1] < size
        return inside and cell not in black and cell not in white

    def line_through(
        stones: set[tuple[int, int]], cell: tuple[int, int], d: tuple[int, int]
    ) -> set:
        line = {cell}
        for sign in (1, -1):
            step = 1
            while (nxt := (cell[0] + sign * step * d[0], cell[1] + sign * step * d[1])) in stones:
                line.add(nxt)
                step += 1
        return line

    runs = [len(line_through(black, at, d)) for d in DIRECTIONS]
    if 5 in runs:
        return ""
    if max(runs) > 5:
        return "an overline"
    fours, threes = 0, 0
    for d in DIRECTIONS:
        reach = [(at[0] + i * d[0], at[1] + i * d[1]) for i in range(-5, 6) if i]
        fives = set()  # the four stones that a free cell would make five, each once
        for cell in filter(free, reach):
            five = line_through(black | {cell}, cell, d)
            if len(five) == 5 and at in five:
                fives.add(frozenset(five - {cell}))
        fours += len(fives)
        if fives:
            continue
        for cell in filter(free, reach):
            four = line_through(black | {cell}, cell, d)
            if len(four) != 4 or at not in four:
                continue
            first, last = min(four), max(four)
            ends = ((first[0] - d[0], first[1] - d[1]), (last[0] + d[0], last[1] + d[1]))
            if all(free(e) and len(line_through(black | {cell, e}, e, d)) == 5 for e in ends) and (
                not renju_foul(black, white, cell, size)
            ):
                threes += 1
                break
    if fours > 1:
        return "a double four"
    return "a double three" if threes > 1 else ""
