"""Games in users' files, with the oracle's own version of their rules."""

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import zermelo as z
from support.oracle.claims import Truth
from support.oracle.lines import LineRules, State
from support.oracle.negamax import Negamax, TooManyStates
from support.oracle.samples import MAX_STATES, Sample
from support.paths import ROOT
from zermelo.core.position import Position

HEAPS = """
num_actions = {num_actions}
def initial():
    return ({heaps}, 0)
def player(state):
    return state[1]
def actions(state):
    heaps = state[0]
    if sum(heaps) <= {last}:
        return []
    return [a for a in range(num_actions) if a % {most} < heaps[a // {most}]]
def play(state, action):
    heaps = list(state[0])
    heaps[action // {most}] -= 1 + action % {most}
    return tuple(heaps), 1 - state[1]
def result(state):
    total = sum(state[0])
    return total <= {last}, 0 if total else {value}
"""

ROWS = """
import zermelo

class Row(zermelo.Game):
    num_actions = {size}

    def initial(self):
        return "." * {size} + "X"

    def player(self, state):
        return "XO".index(state[-1])

    def actions(self, state):
        return [] if self.result(state)[0] else [i for i in range({size}) if state[i] == "."]

    def play(self, state, action):
        return state[:action] + state[-1] + state[action + 1:-1] + "OX"["XO".index(state[-1])]

    def result(self, state):
        last = "OX"["XO".index(state[-1])]
        runs = "".join(c if c == last else " " for c in state[:-1]).split()
        longest = max(map(len, runs), default=0)
        if longest >= {win}:
            return True, -1
        if {lose} and longest >= {lose}:
            return True, 1
        return "." not in state, 0
"""


@dataclass
class HeapRules:
    """Take up to `most` matches from one heap; with at most `last` left the game is over.

    With none left, the side to move has the value `value`; otherwise it is a draw.
    """

    heaps: tuple[int, ...]
    most: int
    last: int
    value: int

    def initial(self) -> tuple[tuple[int, ...], int]:
        return self.heaps, 0

    def actions(self, state: Any) -> list[int]:
        return [
            heap * self.most + taken - 1
            for heap, size in enumerate(state[0])
            for taken in range(1, min(size, self.most) + 1)
        ]

    def play(self, state: Any, action: int) -> tuple[Any, int | None]:
        heap, taken = action // self.most, 1 + action % self.most
        sizes = [size - taken * (i == heap) for i, size in enumerate(state[0])]
        end = None if sum(sizes) > self.last else 0 if sum(sizes) else -self.value
        return (tuple(sizes), 1 - state[1]), end

    def file(self) -> str:
        return HEAPS.format(
            num_actions=len(self.heaps) * self.most,
            heaps=self.heaps,
            most=self.most,
            last=self.last,
            value=self.value,
        )


class DominoRules:
    """Domineering on 6x6, as in examples/domineering.py: who cannot move loses."""

    size = 6

    def initial(self) -> tuple[frozenset[tuple[int, int]], int]:
        return frozenset(), 0

    def places(self, state: Any) -> dict[int, set[tuple[int, int]]]:
        taken, player = state
        places = {}
        for row in range(self.size):
            for col in range(self.size):
                other = (row, col + 1) if player else (row + 1, col)
                domino = {(row, col), other}
                if max(other) < self.size and not domino & taken:
                    places[row * self.size + col] = domino
        return places

    def actions(self, state: Any) -> list[int]:
        return list(self.places(state))

    def play(self, state: Any, action: int) -> tuple[Any, int | None]:
        after = state[0] | self.places(state)[action], 1 - state[1]
        return after, None if self.places(after) else 1

    def text(self, action: int) -> str:
        return f"{'abcdef'[action % self.size]}{action // self.size + 1}"


def user_samples(count: int, seed: int, folder: Path) -> Iterator[Sample]:
    """Yield positions of games in files: heaps of matches, rows as a class, and dominoes."""
    rng = random.Random(f"user {seed}")
    while count > 0:
        game, rules, to_text = _random_game(rng, folder)
        solver = Negamax(rules, MAX_STATES)
        for _ in range(min(count, 20)):
            for position, state in _late_positions(game, rules, rng):
                try:
                    scores = solver.scores(state)
                except TooManyStates:
                    continue
                yield Sample(position, Truth(solver, state, scores, to_text))
                count -= 1


def _random_game(rng: random.Random, folder: Path) -> tuple[z.Game, Any, Callable[[int], str]]:
    """Return a game loaded from a file, the oracle's rules of it, and the names of its moves."""
    kind = rng.choice(("heaps", "row", "dominoes"))
    if kind == "dominoes":
        dominoes = DominoRules()
        return z.game(str(ROOT / "examples" / "domineering.py")), dominoes, dominoes.text
    if kind == "row":
        win = rng.randint(2, 4)
        row = LineRules(1, rng.randint(4, 8), win, lose=rng.randrange(win))
        text = ROWS.format(size=row.cols, win=win, lose=row.lose)
        return _load(text, folder), row, str
    sizes = tuple(rng.randint(1, 6) for _ in range(rng.randint(1, 3)))
    heaps = HeapRules(sizes, rng.randint(1, 4), rng.choice((0, 0, 1)), rng.choice((1, -1)))
    heaps = heaps if sum(sizes) > heaps.last else HeapRules((5,), 3, 0, 1)
    return _load(heaps.file(), folder), heaps, str


def _load(text: str, folder: Path) -> z.Game:
    path = folder / f"game{len(list(folder.iterdir()))}.py"
    path.write_text(text)
    return z.game(str(path))


def _late_positions(game: z.Game, rules: Any, rng: random.Random) -> list[tuple[Position, State]]:
    """Return the last positions of a random game with the oracle's states, shortest games first."""
    position, state, end = game.start(), rules.initial(), None
    path = [(position, state)]
    while end is None:
        action = rng.choice(rules.actions(state))
        state, end = rules.play(state, action)
        position = position.play_action(action)
        path.append((position, state))
    return path[-5:-1]
