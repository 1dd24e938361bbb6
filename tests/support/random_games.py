"""Random small games, and a naive solver that knows them only by their tables.

A `RandomTable` is a game as data: who moves, where each action leads, and how finished states are
scored. `TableGame` gives it to the package as a plain game. The bitboard games of `RandomWords` are
turned into tables by their own, separately written rules.
"""

import random
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import zermelo as z
from zermelo import Word, WordGame
from zermelo.core.bitboard import pick, popcount

_WIN = 1_000


@dataclass
class RandomTable:
    """A finite game without cycles: every action leads to a state of a higher number."""

    players: list[int]
    children: list[dict[int, int]]  #: for each state, action → the next state
    margins: list[int]  #: the score of a finished state for the side to move, positive for a win
    num_actions: int
    has_scores: bool
    is_alternating: bool

    def reachable(self, state: int = 0) -> set[int]:
        seen, pending = {state}, [state]
        while pending:
            fresh = set(self.children[pending.pop()].values()) - seen
            seen |= fresh
            pending += fresh
        return seen


def random_table(rng: random.Random) -> RandomTable:
    """Return a random game of 1 to 200 states; many states can be reached in several ways."""
    num_states = rng.choice((1, 3, 10, 20, 30, 45, 60, 80, 100, 200))
    is_alternating = rng.random() < 0.5
    is_layered = rng.random() < 0.5
    has_scores = rng.random() < 0.3
    width = rng.randint(3, 20)
    layers = [i // width if is_layered else i for i in range(num_states)]
    if is_alternating and is_layered:
        players = [layer % 2 for layer in layers]
    else:
        players = [rng.randrange(2) for _ in range(num_states)]
    num_actions = rng.randint(2, 6)
    reach = rng.choice((6, 20, 60, num_states))  # how far ahead a move leads
    end_share, draw_share = rng.choice((0.01, 0.05, 0.2)), rng.choice((0, 0.2, 0.6))
    table = RandomTable(players, [], [], num_actions, has_scores, is_alternating)
    for state in range(num_states):
        if is_layered:
            targets = [t for t in range(num_states) if layers[t] == layers[state] + 1]
        else:
            targets = list(range(state + 1, min(num_states, state + 1 + reach)))
        if is_alternating:
            targets = [t for t in targets if players[t] != players[state]]
        is_finished = state and rng.random() < end_share
        actions = rng.sample(range(num_actions), rng.randint(1 + num_actions // 3, num_actions))
        moves = {a: rng.choice(targets) for a in sorted(actions)} if targets else {}
        table.children.append({} if is_finished else moves)
        margin = 0 if rng.random() < draw_share else rng.choice((-3, -2, -1, 1, 2, 3))
        table.margins.append(margin)
    return table


class TableGame(z.Game):
    """A random table as a plain game."""

    def __init__(self, table: RandomTable, name: str) -> None:
        self.table, self.spec = table, name
        self.num_actions = table.num_actions
        self.is_alternating, self.has_scores = table.is_alternating, table.has_scores

    def initial(self) -> int:
        return 0

    def player(self, state: int) -> int:
        return self.table.players[state]

    def actions(self, state: int) -> list[int]:
        return list(self.table.children[state])

    def play(self, state: int, action: int) -> int:
        return self.table.children[state][action]

    def result(self, state: int) -> tuple[bool, int]:
        over, margin = not self.table.children[state], self.table.margins[state]
        return over, ((margin > 0) - (margin < 0)) * over

    def score(self, state: int) -> int:
        return self.table.margins[state]


class NaiveValue(NamedTuple):
    """What a state is worth to the side to move: `rank` orders the moves."""

    margin: int  #: the score, or without scores 1, 0 or -1
    plies: int
    has_scores: bool

    @property
    def sign(self) -> int:
        return (self.margin > 0) - (self.margin < 0)

    @property
    def rank(self) -> int:
        """Greater is better: by score or, without scores, a fast win, a draw, a slow loss."""
        if self.has_scores:
            return self.margin
        return self.sign * (_WIN - self.plies)


@dataclass
class NaiveSolver:
    """Solves a table by plain recursion; without scores, winners are fast and losers slow."""

    table: RandomTable
    values: dict[int, NaiveValue] = field(default_factory=dict)

    def value(self, state: int) -> NaiveValue:
        if state not in self.values:
            table = self.table
            if table.children[state]:
                self.values[state] = max(self.after(state).values(), key=lambda value: value.rank)
            else:
                margin = table.margins[state]
                if not table.has_scores:
                    margin = (margin > 0) - (margin < 0)
                self.values[state] = NaiveValue(margin, 0, table.has_scores)
        return self.values[state]

    def after(self, state: int) -> dict[int, NaiveValue]:
        """The value of each action, for the side to move in this state."""
        values = {}
        for action, child in self.table.children[state].items():
            margin, plies, has_scores = self.value(child)
            same = self.table.players[child] == self.table.players[state]
            values[action] = NaiveValue(margin if same else -margin, plies + 1, has_scores)
        return values


class RandomWords(WordGame):
    """A bitboard game given by masks: who owns a mask wins; some cells give another turn.

    All games of this class share one compilation, because their masks are data.
    """

    is_specialised = False
    is_layered = True
    num_lines = 6
    one: Word = 1
    full: Word
    again: Word  #: cells after which the same side moves again
    prize: Word  #: cells that count for the score
    lines: tuple[Word, Word, Word, Word, Word, Word]
    loses: bool  #: whether the owner of a line loses

    def __init__(self, rng: random.Random, name: str) -> None:
        self.spec = name
        self.cells = rng.randint(1, 7)
        self.num_actions, self.full = self.cells, (1 << self.cells) - 1
        self.again = rng.randrange(1 << self.cells) if not self.is_alternating else 0
        self.prize = rng.randrange(1 << self.cells)
        self.loses = rng.random() < 0.3
        self.lines = tuple(self._random_line(rng) for _ in range(self.num_lines))

    def _random_line(self, rng: random.Random) -> int:
        if rng.random() < 0.3 or self.cells == 1:
            return 1 << 63  # no board has this cell, so nobody ever owns this line
        return sum(1 << cell for cell in rng.sample(range(self.cells), rng.randint(2, self.cells)))

    def initial(self) -> Any:
        return (0, 0, 0)

    def legal(self, state: Any) -> Any:
        return self.full ^ (state[0] | state[1])

    def play(self, state: Any, action: Any) -> Any:
        mine, theirs, player = state
        stone = self.one << action
        again = stone & self.again != 0
        return (
            pick(again, mine | stone, theirs),
            pick(again, theirs, mine | stone),
            pick(again, player, player ^ self.one),
        )

    def owner(self, state: Any) -> Any:
        """1 if the side to move owns a line, -1 if the other side does."""
        mine, theirs, _player = state
        first = second = mine == self.full ^ mine  # False, as a condition of words
        for line in self.lines:
            first = first | (mine & line == line)
            second = second | (theirs & line == line)
        value = first * 1 - second * 1
        return pick(self.loses, -value, value)

    def score(self, state: Any) -> Any:
        return popcount(state[0] & self.prize) - popcount(state[1] & self.prize)

    def result(self, state: Any) -> Any:
        owner = self.owner(state)
        over = (owner != 0) | (state[0] | state[1] == self.full)
        return over, owner

    @cached_property
    def table(self) -> tuple[RandomTable, dict[Any, int]]:
        """The table of this game by rules of its own, and the number of each state."""
        return _words_table(self)


class RandomTurns(RandomWords):
    """A random bitboard game in which some cells give another turn."""

    is_alternating = False


class RandomScores(RandomWords):
    """A random bitboard game that is played to the end and scored."""

    has_scores = True

    def result(self, state: Any) -> Any:
        over, margin = state[0] | state[1] == self.full, self.score(state)
        return over, over * ((margin > 0) * 1 - (margin < 0) * 1)


class RandomScoredTurns(RandomScores):
    """A random bitboard game with scores in which some cells give another turn."""

    is_alternating = False


def _words_table(game: RandomWords) -> tuple[RandomTable, dict[Any, int]]:
    """Explore a bitboard game with sets of cells, depth first, and number its states.

    A state here is (cells of the first player, cells of the second player, player to move).
    """
    again = {cell for cell in range(game.cells) if game.again >> cell & 1}
    prize = {cell for cell in range(game.cells) if game.prize >> cell & 1}
    lines = [{c for c in range(64) if line >> c & 1} for line in game.lines]
    numbers: dict[Any, int] = {}
    order: list[Any] = [(frozenset(), frozenset(), 0)]
    numbers[order[0]] = 0
    table = RandomTable([], [], [], game.num_actions, game.has_scores, game.is_alternating)
    for state in order:
        owned, player = state[:2], state[2]
        free = set(range(game.cells)) - owned[0] - owned[1]
        counts = [sum(line <= cells for line in lines) > 0 for cells in owned]
        margin = int(counts[player]) - int(counts[1 - player])
        margin = -margin if game.loses else margin
        over = margin != 0 or not free
        if game.has_scores:
            over = not free
            margin = len(owned[player] & prize) - len(owned[1 - player] & prize)
        moves = {}
        for cell in sorted(free) if not over else ():
            cells = list(owned)
            cells[player] = cells[player] | {cell}
            child = (*cells, player if cell in again else 1 - player)
            if child not in numbers:
                numbers[child] = len(order)
                order.append(child)
            moves[cell] = numbers[child]
        table.players.append(player)
        table.children.append(moves)
        table.margins.append(margin)
    return table, numbers
