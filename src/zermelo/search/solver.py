"""The solver: exact answers, by the kernel for word games and by the textbook for others.

`solve` answers for a position; `Solver` keeps a game's table between questions.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from zermelo.contract import BoardGame, Position, WordGame
from zermelo.errors import ZermeloError
from zermelo.games.lines import LineGame
from zermelo.games.reversi import Reversi
from zermelo.kernels import compiled
from zermelo.players import Limit
from zermelo.search import kernel as k
from zermelo.search import textbook
from zermelo.symmetry import byte_tables

if TYPE_CHECKING:
    from numpy.typing import NDArray

GOALS = ("exact", "wdl", "win")
VALUES = {1: "win", 0: "draw", -1: "loss"}
_SLICE = 50_000  # nodes between two looks at the clock: about 10 ms
_MAX_PLIES = 140
_MAX_PV = 64
Progress = Callable[[int], None]  #: nodes so far


class Unsolved(ZermeloError):
    """The time was up, or the game is beyond the solver."""


@dataclass(frozen=True)
class Solution:
    """What is known of a position, for the side to move."""

    position: Position
    value: str | None  #: "win", "draw" or "loss" when proven
    estimate: float | None
    plies: int | None  #: to the end under best play; None for a draw, for Reversi, and unproven
    best: tuple[str, ...]
    pv: tuple[str, ...]
    exact: bool
    nodes: int
    seconds: float
    source: str = "search"
    diff: int | None = None  #: Reversi: the raw disc difference

    def to_json(self, spec: str) -> dict[str, Any]:
        """The fields that scripts get."""
        game = self.position.game
        found = {
            "game": spec,
            "moves": self.position.moves,
            "to_move": self.position.player,
            "value": self.value,
            "estimate": self.estimate,
            "plies": self.plies,
            "best": list(self.best),
            "pv": list(self.pv),
            "exact": self.exact,
            "nodes": self.nodes,
            "seconds": round(self.seconds, 6),
            "source": self.source,
        }
        if isinstance(game, Reversi):
            found["diff"] = self.diff
        if isinstance(game, LineGame) and game.gravity:
            found["score"] = self.connect_four_score()
        return found

    def connect_four_score(self) -> int | None:
        """(cells + 3) // 2 minus the stones that the winner will have played; 0 for a draw."""
        if self.value is None or (self.plies is None and self.value != "draw"):
            return None
        if self.value == "draw":
            return 0
        game = self.position.game
        assert game.grid is not None
        assert self.plies is not None
        board = self.position.board or ()
        stones = sum(map(abs, board)) + self.plies
        size = (game.grid.size + 3) // 2 - (stones + 1) // 2
        return size if self.value == "win" else -size


@dataclass(frozen=True)
class Settings:
    """Switches, each of which leaves every answer as it is."""

    table: bool = True
    ordering: bool = True
    symmetry: bool = True
    table_bits: int = 22


class Solver:
    """Solves states of one word game; what it learns stays in its table."""

    def __init__(self, game: WordGame, settings: Settings | None = None) -> None:
        import numpy as np

        self.game, self.settings = game, settings or Settings()
        self.nodes = 0
        self.progress: Progress | None = None
        self._run = compiled(k.solve, game)
        words = game.num_words
        size = 1 << self.settings.table_bits if self.settings.table else 2
        self._table = np.zeros((size, words + 1), np.uint64)
        self._room = [np.zeros((_MAX_PLIES, words), np.uint64) for _ in range(2)]
        self._room += [np.zeros((_MAX_PLIES, 9), np.int64), np.zeros((_MAX_PLIES, 128), np.int64)]
        self._control: NDArray[np.int64] = np.zeros(k.NUM_CONTROLS, np.int64)
        use_symmetry = self.settings.symmetry and self.settings.table
        turns = byte_tables(game.symmetries() if use_symmetry else ())
        self._turns = np.array(turns, np.uint64).reshape(-1, 8, 256)
        self._control[k.GENERATION] = 1

    def forget(self) -> None:
        """Start anew: another generation of the table, no history."""
        self._control[k.HISTORY_MAX] = 0
        self._control[k.HISTORY :] = 0
        self._control[k.GENERATION] += 1
        if self._control[k.GENERATION] >= 1 << 16:
            self._table[:] = 0
            self._control[k.GENERATION] = 1

    def score(self, state: Any, deadline: float | None = None) -> int:
        """The exact score of a state; Unsolved when the deadline comes first."""
        over, value = self.game.result(state)
        if over:
            return (
                int(self.game.quick(state)[1]) if self.game.ply_cost == 0 else value * self.game.far
            )
        low, high = -self.game.far, self.game.far
        if not self.game.ends_first:
            low, high = self.bounds(state, low, high, coarse=True, deadline=deadline)
        return self.bounds(state, low, high, deadline=deadline)[0]

    def sign(self, state: Any, deadline: float | None = None) -> int:
        """1, 0 or -1: a win, a draw or a loss, without the distance."""
        over, value = self.game.result(state)
        if over:
            return int(value)
        far = self.game.far
        low, high = self.bounds(state, -far, far, coarse=True, deadline=deadline)
        return (low > 0) - (high < 0)

    def is_above(self, state: Any, guess: int, deadline: float | None = None) -> bool:
        """Whether the score of a state is above a guess."""
        if self.game.result(state)[0]:
            return self.score(state) > guess
        return self.bounds(state, guess, guess + 1, deadline=deadline)[0] > guess

    def bounds(
        self,
        state: Any,
        low: int,
        high: int,
        *,
        coarse: bool = False,
        deadline: float | None = None,
    ) -> tuple[int, int]:
        """Bounds that answer the question, for a state that is not over.

        Within [low, high] the score is found; beyond them only that it lies there. `coarse` asks
        for its sign alone.
        """
        import numpy as np

        control = self._control
        control[k.DEPTH], control[k.NODES], control[k.COARSE] = k.NEW, 0, coarse
        control[k.LOW], control[k.HIGH] = low, high
        control[k.GAP] = self.game.far - self.game.longest(state) - 1
        control[k.USE_TABLE], control[k.USE_RANK] = self.settings.table, self.settings.ordering
        control[k.TURN_PLIES] = 12
        root, budget = np.array(state, np.uint64), 0
        done = False
        while not done:
            budget += _SLICE
            control[k.BUDGET] = budget
            done = self._run(root, control, *self._room, self._table, self._turns)
            if not done and deadline is not None and time.perf_counter() > deadline:
                self.nodes += int(control[k.NODES])
                msg = "the time was up"
                raise Unsolved(msg)
            if self.progress:
                self.progress(self.nodes + int(control[k.NODES]))
        self.nodes += int(control[k.NODES])
        return int(control[k.LOW]), int(control[k.HIGH])

    def best(self, state: Any, score: int, deadline: float | None = None) -> list[int]:
        """All actions that reach exactly this score, which is the state's."""
        cost = self.game.ply_cost * ((score > 0) - (score < 0))
        return [
            action
            for action in self.game.actions(state)
            if not self.is_above(self.game.play(state, action), -(score + cost), deadline)
        ]

    def line(self, state: Any, score: int, deadline: float | None = None) -> list[int]:
        """Best play to the end, the first best action each time."""
        actions: list[int] = []
        while len(actions) < _MAX_PV and not self.game.result(state)[0]:
            cost = self.game.ply_cost * ((score > 0) - (score < 0))
            score = -(score + cost)
            for action in self.game.actions(state):
                child = self.game.play(state, action)
                if not self.is_above(child, score, deadline):
                    break
            actions.append(action)
            state = child
        return actions


def solve(
    position: Position,
    goal: str = "exact",
    limit: Limit | None = None,
    *,
    solver: Solver | None = None,
) -> Solution:
    """The value of a position: exact with distance, win/draw/loss alone, or only whether it wins.

    >>> import zermelo as z
    >>> solution = z.solve(z.game("mnk:4x4x3").start())
    >>> solution.value, solution.plies, solution.exact
    ('win', 5, True)
    """
    if goal not in GOALS:
        msg = f"goal is {goal!r}: it can be {', '.join(GOALS)}"
        raise ZermeloError(msg)
    begin = time.perf_counter()
    deadline = None if limit is None or limit.seconds is None else begin + limit.seconds
    game = position.game
    if position.is_over:
        return _ended(position, begin)
    if isinstance(game, BoardGame):
        msg = f"{game.spec}: boards above 64 cells are beyond the solver"
        raise Unsolved(msg)
    if not isinstance(game, WordGame):
        return _by_textbook(position, begin)
    solver = solver or Solver(game)
    before = solver.nodes
    try:
        found = _answer(solver, position, goal, deadline)
    except Unsolved:
        found = {"value": None, "best": tuple(position.legal[:1]), "estimate": 0.0, "exact": False}
    seconds = time.perf_counter() - begin
    return Solution(
        position,
        value=found["value"],
        estimate=found.get("estimate"),
        plies=found.get("plies"),
        best=found["best"],
        pv=found.get("pv", ()),
        exact=found.get("exact", True),
        nodes=solver.nodes - before,
        seconds=seconds,
        diff=found.get("diff"),
    )


def _answer(
    solver: Solver, position: Position, goal: str, deadline: float | None
) -> dict[str, Any]:
    """The parts of a solution; Unsolved when the deadline comes first."""
    game, state = solver.game, position.state
    if goal == "win":
        wins = solver.is_above(state, 0, deadline)
        best = [
            a for a in position.actions if wins and solver.sign(game.play(state, a), deadline) < 0
        ]
        return {
            "value": "win" if wins else None,
            "estimate": None if wins else 0.0,
            "exact": wins,
            "best": tuple(map(game.to_text, best)),
        }
    if goal == "wdl":
        sign = solver.sign(state, deadline)
        children = {a: -solver.sign(game.play(state, a), deadline) for a in position.actions}
        best = [action for action, value in children.items() if value == sign]
        return {"value": VALUES[sign], "best": tuple(map(game.to_text, best))}
    score = solver.score(state, deadline)
    best = solver.best(state, score, deadline)
    has_plies = game.ply_cost != 0 and score != 0
    return {
        "value": VALUES[(score > 0) - (score < 0)],
        "plies": game.far - abs(score) if has_plies else None,
        "best": tuple(map(game.to_text, best)),
        "pv": tuple(map(game.to_text, solver.line(state, score, deadline))),
        "diff": score if game.ply_cost == 0 else None,
    }


def _ended(position: Position, begin: float) -> Solution:
    """A finished game: its value for the side that would move."""
    value = position.game.result(position.state)[1]
    diff = position.game.diff(position.state) if isinstance(position.game, Reversi) else None
    seconds = time.perf_counter() - begin
    return Solution(position, VALUES[value], None, 0, (), (), exact=True, nodes=0, seconds=seconds,
                    source="end", diff=diff)  # fmt: skip


def _by_textbook(position: Position, begin: float) -> Solution:
    """A game that does not compile: alpha-beta with a memo, in plain Python."""
    game = position.game
    search = textbook.Search(game, method="both", distance=True)
    value, best = search.best_actions(position.state)
    line = textbook.principal_variation(search, position.state)
    return Solution(
        position,
        VALUES[(value > 0) - (value < 0)],
        None,
        textbook.FAR - abs(value) if value else None,
        tuple(map(game.to_text, best)),
        tuple(map(game.to_text, line)),
        exact=True,
        nodes=search.counts.nodes,
        seconds=time.perf_counter() - begin,
    )
