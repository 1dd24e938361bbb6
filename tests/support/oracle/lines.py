"""Line games by their definition: count the stones on both sides of the last one."""

from dataclasses import dataclass, field

State = tuple[int, int, int]  # the stones of each player as bits of cells, and the player to move
DIRECTIONS = ((0, 1), (1, 0), (1, 1), (1, -1))


@dataclass
class LineRules:
    """A line game; cell i is bit i, row by row from the top left."""

    rows: int
    cols: int
    win: int
    lose: int = 0
    gravity: bool = False
    overline: str = "any"
    pie: bool = False
    #: [cell][direction]: the cells on one side and on the other, as bits, nearest first
    rays: list[list[tuple[list[int], list[int]]]] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self.size = self.rows * self.cols
        self.full = (1 << self.size) - 1
        self.rays = [
            [(self.ray(cell, d, r), self.ray(cell, -d, -r)) for d, r in DIRECTIONS]
            for cell in range(self.size)
        ]

    def ray(self, cell: int, down: int, right: int) -> list[int]:
        row, col = divmod(cell, self.cols)
        bits = []
        while 0 <= (row := row + down) < self.rows and 0 <= (col := col + right) < self.cols:
            bits.append(1 << (row * self.cols + col))
        return bits

    @property
    def parameters(self) -> dict[str, object]:
        names = ("rows", "cols", "win", "lose", "gravity", "overline", "pie")
        return {name: getattr(self, name) for name in names}

    @property
    def spec(self) -> str:
        pairs = (f"{name}={str(value).lower()}" for name, value in self.parameters.items())
        return f"line:{','.join(pairs)}"

    def initial(self) -> State:
        return (0, 0, 0)

    def actions(self, state: State) -> list[int]:
        """The actions of a state that is not over; action `size` is the swap."""
        taken = state[0] | state[1]
        if self.gravity:
            return [col for col in range(self.cols) if not taken >> col & 1]
        cells = [cell for cell in range(self.size) if not taken >> cell & 1]
        can_swap = self.pie and state[2] == 1 and state[1] == 0
        return [*cells, self.size] if can_swap else cells

    def cell_of(self, state: State, action: int) -> int:
        """The cell that a stone of this action fills."""
        if not self.gravity:
            return action
        taken = state[0] | state[1]
        cell = action + (self.rows - 1) * self.cols
        while taken >> cell & 1:
            cell -= self.cols
        return cell

    def play(self, state: State, action: int) -> tuple[State, int | None]:
        """The next state, and how the game ended: 1 or -1 for the mover, 0 a draw, None not."""
        first, second, player = state
        if action == self.size and not self.gravity:
            return (second, first, 1 - player), None
        cell = self.cell_of(state, action)
        own = (second if player else first) | 1 << cell
        after = (first, own, 0) if player else (own, second, 1)
        return after, self.end(own, cell, after[0] | after[1])

    def end(self, own: int, cell: int, taken: int) -> int | None:
        """How the last stone ended the game for its owner; None if the game goes on."""
        longest = 1
        for sides in self.rays[cell]:
            run = 1
            for ray in sides:
                for bit in ray:
                    if not own & bit:
                        break
                    run += 1
            if run == self.win or (run > self.win and self.overline == "any"):
                return 1
            longest = max(longest, run)
        if self.lose and longest >= self.lose:
            return -1
        return 0 if taken == self.full else None

    def wins_if_moved(self, state: State, player: int, action: int) -> bool:
        """Whether a player wins immediately with an action, even if it is not their turn."""
        return self.play((state[0], state[1], player), action)[1] == 1

    def text(self, action: int) -> str:
        if self.gravity:
            return str(action + 1)
        if action == self.size:
            return "swap"
        row, col = divmod(action, self.cols)
        return f"{'abcdefghijklmnopqrstuvwxyz'[col]}{row + 1}"

    def board(self, state: State) -> tuple[int, ...]:
        return tuple((state[0] >> i & 1) - (state[1] >> i & 1) for i in range(self.size))
