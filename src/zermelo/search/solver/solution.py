"""Solutions: `solve` answers for a position, proven where the limit allows it, else an estimate."""

import functools
import logging
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from zermelo.core.errors import ZermeloError
from zermelo.core.game import BoardGame, WordGame
from zermelo.core.player import Limit
from zermelo.core.position import Position
from zermelo.core.value import Value
from zermelo.games.lines.rules import LineGame
from zermelo.games.reversi.rules import Reversi
from zermelo.search.engine import Engine
from zermelo.search.engines import engine_for
from zermelo.search.iterative_deepening import deepen, is_settled
from zermelo.search.limits import SearchClock, SearchStopped
from zermelo.search.negamax.searcher import Unsolved
from zermelo.search.solver.solver import Settings, Solver
from zermelo.search.tablebase.opening_book import OpeningBook
from zermelo.search.tablebase.tablebase import Tablebase

GOALS = ("exact", "wdl", "win")
#: of a limit, what goes into an estimate before the proof is tried
_ESTIMATE_SHARE = 0.1
_AFTER_CTRL_C = 0.2  # seconds for an estimate when a search without a limit is stopped


@dataclass(frozen=True)
class Solution:
    """What is known of a position, for the side to move."""

    position: Position
    value: Value | None = None  #: when proven
    estimate: float | None = None
    plies: int | None = None  #: to the end under best play; None for a draw, Reversi, estimates
    best: tuple[str, ...] = ()
    pv: tuple[str, ...] = ()
    exact: bool = False
    nodes: int = 0
    seconds: float = 0.0
    source: str = "search"
    diff: int | None = None  #: Reversi: the raw disc difference
    depth: int | None = None  #: of an estimate: plies looked ahead
    complete: bool = True  #: whether `best` is known to hold all best moves
    wins: bool | None = None  #: for the goal "win": the answer, when it is proven

    def to_json(self, spec: str) -> dict[str, Any]:
        """The fields that scripts get."""
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
            "depth": self.depth,
            "complete": self.complete,
        }
        if self.wins is not None:
            found["wins"] = self.wins
        return found | scores(self.position, self.value, self.plies, self.diff)


def scores(
    position: Position, value: Value | None, plies: int | None, diff: int | None
) -> dict[str, int | None]:
    """The fields that some games add: `diff` in Reversi, `score` with gravity."""
    if isinstance(position.game, Reversi):
        return {"diff": diff}
    if isinstance(position.game, LineGame) and position.game.gravity:
        return {"score": connect_four_score(position, value, plies)}
    return {}


def connect_four_score(position: Position, value: Value | None, plies: int | None) -> int | None:
    """(cells + 3) // 2 minus the stones that the winner will have played; 0 for a draw."""
    if value is Value.DRAW:
        return 0
    if value is None or plies is None:
        return None
    board = position.board or ()
    winner = position.player if value is Value.WIN else 1 - position.player
    stones = sum(map(abs, board)) + plies + 1 - winner  # the first player has the odd one
    size = (len(board) + 3) // 2 - stones // 2
    return size if value is Value.WIN else -size


def solve(
    position: Position,
    goal: str = "exact",
    limit: Limit | None = None,
    *,
    solver: Solver | None = None,
    progress: Callable[[int], None] | None = None,
) -> Solution:
    """The value of a position: exact with distance, win/draw/loss alone, or only whether it wins.

    What the limit, or Ctrl-C, leaves unproven is an estimate.

    >>> import zermelo as z
    >>> solution = z.solve(z.game("mnk:4x4x3").start())
    >>> solution.value, solution.plies, solution.exact
    ('win', 5, True)
    """
    if goal not in GOALS:
        msg = f"goal is {goal!r}: it can be {', '.join(GOALS)}"
        raise ZermeloError(msg)
    limit = limit or Limit()
    if position.is_over:
        return ended(position)
    if isinstance(position.game, BoardGame) and limit == Limit():
        msg = f"{position.game.spec}: boards above 64 cells are beyond the solver: give a limit"
        raise Unsolved(msg)
    return _Work(position, goal, limit, solver, progress).solve()


def solver_for(game: WordGame, settings: Settings | None = None) -> Solver:
    """A solver with the game's table, where one was built, or else its book, if it has one.

    A table that is not right is said and made anew, such a book is said and left out.
    """
    notify = logging.getLogger(__name__).warning
    return Solver(game, settings, Tablebase.open(game, notify) or OpeningBook.find(game, notify))


def ended(position: Position) -> Solution:
    """A finished game: its value for the side that would move."""
    value = Value.from_score(position.game.result(position.state)[1])
    diff = position.game.diff(position.state) if isinstance(position.game, Reversi) else None
    return Solution(position, value, plies=0, exact=True, source="end", diff=diff)


@dataclass
class _Work:
    """One call of `solve`: what is known grows, and stands when the limit comes."""

    position: Position
    goal: str
    limit: Limit
    solver: Solver | None
    progress: Callable[[int], None] | None
    known: Solution = field(init=False)

    @functools.cached_property
    def engine(self) -> Engine:
        """For estimates; made when the first is needed."""
        return engine_for(self.position.game)

    def solve(self) -> Solution:
        first = self.position.legal[0]
        self.known = Solution(self.position, estimate=0.0, best=(first,), complete=False)
        game = self.position.game
        if isinstance(game, WordGame):
            self.solver = self.solver or solver_for(game)
        else:
            self.engine  # noqa: B018 - is made, and compiled, here
        clock = SearchClock(self.limit, self.progress)  # compilation aside
        try:
            if self.solver is not None:
                score = None
                if self.limit != Limit() and self.source() == "search":
                    score = self.guess(clock.subclock(_ESTIMATE_SHARE))
                self.prove(self.solver, clock, score)
            else:
                self.guess(clock)
        except SearchStopped:
            pass
        except KeyboardInterrupt:
            if not self.known.exact and self.known.depth is None:
                self.guess(SearchClock(Limit(seconds=_AFTER_CTRL_C)))
        source = self.source() if self.known.exact else "search"
        return replace(self.known, nodes=clock.nodes, seconds=clock.seconds, source=source)

    def source(self) -> str:
        """Where the exact score comes from."""
        return "search" if self.solver is None else self.solver.source(self.position.state)

    def guess(self, clock: SearchClock) -> int | None:
        """An estimate by deepening; the score, if it turns out to be a proof."""
        game, state, engine = self.position.game, self.position.state, self.engine
        every = not isinstance(game, WordGame)
        for found in deepen(engine, state, clock, max_depth=self.limit.depth, all_moves=every):
            texts = tuple(map(game.to_text, found.pv))
            self.known = Solution(
                self.position,
                estimate=engine.to_estimate(found.score),
                best=texts[:1],
                pv=texts,
                depth=found.depth,
                complete=False,
            )
            if found.exact or is_settled(engine, found.score, found.depth):
                best = [a for a, score in found.scores.items() if score == found.score]
                self.found(found.score, engine.far, engine.ply_cost, best if every else best[:1])
                plies = engine.plies_to_end(found.score)
                complete = every and (found.exact or plies is not None)
                self.known = replace(self.known, plies=plies, pv=texts, complete=complete)
                return found.score
        return None

    def found(self, score: int, far: int, ply_cost: int, best: list[int]) -> None:
        """A proven score."""
        self.known = Solution(
            self.position,
            value=Value.from_score(score),
            plies=far - abs(score) if ply_cost and score else None,
            diff=None if ply_cost else score,
            best=tuple(map(self.position.game.to_text, sorted(best))),
            exact=True,
            complete=False,
        )

    def prove(self, solver: Solver, clock: SearchClock, score: int | None) -> None:
        """By the solver; `score` is what deepening has proven already."""
        if self.goal == "exact":
            self.prove_exactly(solver, clock, score)
        else:
            self.prove_sign(solver, clock)

    def prove_exactly(self, solver: Solver, clock: SearchClock, score: int | None) -> None:
        """Score, all best moves, a line."""
        game, state = solver.game, self.position.state
        guessed = game.parse_action(self.known.best[0])
        if score is None:
            score = solver.score(state, clock)
        best: list[int] = []
        self.found(score, solver.hooks.win_score, solver.hooks.ply_cost, [guessed])
        for action in self.position.actions:
            if solver.reaches(state, action, score, clock):
                best.append(action)
                self.found(score, solver.hooks.win_score, solver.hooks.ply_cost, best)
        self.known = replace(self.known, complete=True)
        line = solver.line(state, score, clock)
        self.known = replace(self.known, pv=tuple(map(game.to_text, line)))

    def prove_sign(self, solver: Solver, clock: SearchClock) -> None:
        """Win, draw or loss of the position and of its moves; what is not proven stays null."""
        game, state = solver.game, self.position.state
        wins = solver.is_above(state, 0, clock) if self.goal == "win" else None
        if wins is False:
            self.known = replace(self.known, wins=False)
            return
        sign = 1 if wins else solver.sign(state, clock)
        guessed = self.known.best
        best: list[str] = []
        for action in self.position.actions:
            shown = tuple(best) or guessed
            self.known = Solution(
                self.position, Value.from_score(sign), best=shown, exact=True, complete=False, wins=wins
            )
            if -solver.sign(game.play(state, action), clock) == sign:
                best.append(game.to_text(action))
        self.known = Solution(self.position, Value.from_score(sign), best=tuple(best), exact=True, wins=wins)
