"""Solve a position: find its proven value if the limit allows it, otherwise an estimate."""

import functools
import logging
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from zermelo.core.errors import ZermeloError
from zermelo.core.game import BoardGame, Game, WordGame
from zermelo.core.phrases import describe_value
from zermelo.core.player import Limit, as_limit
from zermelo.core.position import Position, as_position
from zermelo.core.value import Value
from zermelo.games.reversi.rules import Reversi
from zermelo.search.engine import Engine
from zermelo.search.engines import engine_for
from zermelo.search.iterative_deepening import deepen, is_settled
from zermelo.search.limits import SearchClock, SearchStopped
from zermelo.search.negamax.searcher import Unsolved
from zermelo.search.solver.solver import Solver, SolverSettings, plies_to_end
from zermelo.search.solver.solver_pool import SolverPool
from zermelo.search.tablebase.opening_book import OpeningBook
from zermelo.search.tablebase.tablebase import Tablebase

_MAX_SHOWN_MOVES = 8  # in the repr of a solution
GOALS = ("exact", "wdl", "win")
_ESTIMATE_SHARE = 0.1  # the share of a limit that is spent on an estimate before the proof
_SECONDS_AFTER_CTRL_C = 0.2  # time for an estimate after Ctrl-C stops a search without a limit


@dataclass(frozen=True)
class Solution:
    """The result of solving a position, from the point of view of the side to move."""

    position: Position
    value: Value | None = None  #: None unless proven
    estimate: float | None = None
    plies: int | None = None  #: plies to the end; None for draws, Reversi and estimates
    best: tuple[str, ...] = ()  #: best moves
    pv: tuple[str, ...] = ()
    exact: bool = False
    nodes: int = 0
    seconds: float = 0.0
    source: str = "search"
    diff: int | None = None  #: in games with scores: the score, in Reversi the disc difference
    depth: int | None = None  #: the number of plies searched for an estimate
    complete: bool = True  #: whether `best` contains all best moves
    wins: bool | None = None  #: for the goal "win": whether the side to move wins, when proven

    def to_dict(self, spec: str = "") -> dict[str, Any]:
        """Return the fields of the JSON output; `spec` is the game's spec as the user typed it."""
        fields = {
            "game": spec or self.position.game.spec,
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
            fields["wins"] = self.wins
        game, state = self.position.game, self.position.state
        return fields | game.score_fields(state, self.value, self.plies, self.diff)

    def __repr__(self) -> str:
        """Return the position, its value and the best moves in angle brackets."""
        value = f"estimate {self.estimate or 0:+.2f}"
        if self.value is not None:
            value = describe_value(self.value, None, self.plies, self.diff)
        elif self.wins is False:
            value = "does not win"
        more = " …" if len(self.best) > _MAX_SHOWN_MOVES else ""
        best = f", best {' '.join(self.best[:_MAX_SHOWN_MOVES])}{more}" if self.best else ""
        return f"<solution of {self.position.describe()}: {value}{best}>"


def final_score(position: Position) -> int | None:
    """Return the score of a finished game for the side that would move; None if it has none."""
    if isinstance(position.game, Reversi):
        return position.game.diff(position.state)
    return int(position.game.score(position.state)) if position.game.has_scores else None


def solve(
    position: Position,
    goal: str = "exact",
    limit: Limit | None = None,
    *,
    solver: Solver | None = None,
    progress: Callable[[int], None] | None = None,
) -> Solution:
    """Solve a position within a limit. For many positions, `solve_many` is much faster.

    The goal is "exact" (the value with its distance), "wdl" (win, draw or loss) or "win" (only
    whether it is a win). If the limit is reached or Ctrl-C is pressed before the proof, the
    solution is an estimate. Raise Unsolved for a board of more than 64 cells if
    there is no limit.

    >>> import zermelo as z
    >>> solution = z.solve(z.game("mnk:4x4x3").start())
    >>> solution.value, solution.plies, solution.exact
    ('win', 5, True)
    """
    check_goal(goal)
    limit = as_limit(limit)
    if as_position(position).is_over:
        return solve_finished(position)
    check_solvable(position.game, limit)
    return _PositionSolver(position, goal, limit, solver, progress).solve()


def check_goal(goal: str) -> None:
    """Raise ZermeloError if this is not the name of a goal."""
    if goal not in GOALS:
        msg = f"goal is {goal!r}: it must be one of {', '.join(GOALS)}"
        raise ZermeloError(msg)


def check_solvable(game: Game, limit: Limit) -> None:
    """Raise Unsolved if the positions of a game can only be estimated, and there is no limit."""
    if isinstance(game, BoardGame) and limit == Limit():
        msg = f"{game.spec} has more than 64 cells, too many for the solver: set a limit"
        raise Unsolved(msg)


def solver_for(game: WordGame, settings: SolverSettings | None = None) -> Solver:
    """Return a solver with the tablebase of the game or, without one, its opening book.

    An unusable tablebase is rebuilt and an unusable book ignored, with a warning in the log.
    """
    notify = logging.getLogger(__name__).warning
    return Solver(game, settings, Tablebase.open(game, notify) or OpeningBook.find(game, notify))


#: the solvers that `solve` uses if the caller gives none
DEFAULT_SOLVERS = SolverPool(solver_for)


def estimate_position(position: Position, limit: Limit) -> Solution:
    """Estimate an unfinished position by iterative deepening; the estimate may prove its value."""
    search = _PositionSolver(position, "exact", limit, None, None)
    clock = SearchClock(limit)
    search.estimate(clock)
    return replace(search.solution, nodes=clock.nodes, seconds=clock.seconds)


def solve_finished(position: Position) -> Solution:
    """Return the solution of a finished game, for the side that would move."""
    value = Value.from_score(position.game.result(position.state)[1])
    diff = final_score(position)
    return Solution(position, value, plies=0, exact=True, source="end", diff=diff)


@dataclass
class _PositionSolver:
    """One call of `solve`: `solution` improves until it is proven or a limit is reached."""

    position: Position
    goal: str
    limit: Limit
    solver: Solver | None
    progress: Callable[[int], None] | None
    solution: Solution = field(init=False)

    @functools.cached_property
    def engine(self) -> Engine:
        """The engine for estimates, created when it is first needed."""
        return engine_for(self.position.game)

    def __post_init__(self) -> None:
        first = self.position.legal[0]
        self.solution = Solution(self.position, estimate=0.0, best=(first,), complete=False)

    def solve(self) -> Solution:
        game = self.position.game
        if self.solver is not None or not isinstance(game, WordGame):
            return self.search()
        with DEFAULT_SOLVERS.borrow(game) as self.solver:
            return self.search()

    def search(self) -> Solution:
        # Compile everything before the clock starts.
        if self.solver is None:
            self.engine  # noqa: B018 - creates the engine
        clock = SearchClock(self.limit, self.progress)
        try:
            if self.solver is not None:
                score = None
                if self.limit != Limit() and self.source() == "search":
                    score = self.estimate(clock.subclock(_ESTIMATE_SHARE))
                if self.goal == "exact":
                    self.prove_score(self.solver, clock, score)
                else:
                    self.prove_value(self.solver, clock)
            else:
                self.estimate(clock)
        except SearchStopped:
            pass
        except KeyboardInterrupt:
            if not self.solution.exact and self.solution.depth is None:
                self.estimate(SearchClock(Limit(seconds=_SECONDS_AFTER_CTRL_C)))
        source = self.source() if self.solution.exact else "search"
        return replace(self.solution, nodes=clock.nodes, seconds=clock.seconds, source=source)

    def source(self) -> str:
        """Return where an exact score of the position comes from: tablebase, book or search."""
        return "search" if self.solver is None else self.solver.source(self.position.state)

    def estimate(self, clock: SearchClock) -> int | None:
        """Estimate the position by iterative deepening; return the score if it is proven."""
        game, state, engine = self.position.game, self.position.state, self.engine
        all_moves = not isinstance(game, WordGame)
        max_depth = self.limit.depth
        for iteration in deepen(engine, state, clock, max_depth=max_depth, all_moves=all_moves):
            score = iteration.score
            line = game.line_to_text(state, iteration.pv)
            self.solution = Solution(
                self.position,
                estimate=engine.to_estimate(score),
                best=line[:1],
                pv=line,
                depth=iteration.depth,
                complete=False,
            )
            if iteration.exact or is_settled(engine, score, iteration.depth):
                best = [a for a, other in iteration.scores.items() if other == score]
                plies = engine.plies_to_end(score, is_exhaustive=iteration.exact)
                self.set_score(score, plies, engine.ply_cost, best if all_moves else best[:1])
                complete = all_moves and (iteration.exact or engine.distance(score) is not None)
                self.solution = replace(self.solution, pv=line, complete=complete)
                return score
        return None

    def set_score(self, score: int, plies: int | None, ply_cost: int, best: list[int]) -> None:
        """Replace the solution by one with a proven score."""
        self.solution = Solution(
            self.position,
            value=Value.from_score(score),
            plies=plies,
            diff=None if ply_cost else score,
            best=tuple(map(self.position.to_move_text, sorted(best))),
            exact=True,
            complete=False,
        )

    def prove_score(self, solver: Solver, clock: SearchClock, score: int | None) -> None:
        """Find the score, all best moves and a line; pass `score` if it is already proven."""
        game, state, hooks = solver.game, self.position.state, solver.hooks
        estimated_best = game.parse_action(state, self.solution.best[0])
        if score is None:
            score = solver.score(state, clock)
        plies = plies_to_end(hooks, score)
        self.set_score(score, plies, hooks.ply_cost, [estimated_best])
        best: list[int] = []
        for action in self.position.actions:
            if solver.reaches(state, action, score, clock):
                best.append(action)
                self.set_score(score, plies, hooks.ply_cost, best)
        self.solution = replace(self.solution, complete=True)
        line = solver.principal_variation(state, score, clock)
        self.solution = replace(self.solution, pv=game.line_to_text(state, line))

    def prove_value(self, solver: Solver, clock: SearchClock) -> None:
        """Find the value and all best moves or, for the goal "win", only whether it is a win."""
        game, state = solver.game, self.position.state
        wins = solver.is_above(state, 0, clock) if self.goal == "win" else None
        if wins is False:
            self.solution = replace(self.solution, wins=False)
            return
        sign = 1 if wins else solver.sign(state, clock)
        estimated_best = self.solution.best
        proven = Solution(self.position, Value.from_score(sign), exact=True, wins=wins)
        best: list[str] = []
        for action in self.position.actions:
            self.solution = replace(proven, best=tuple(best) or estimated_best, complete=False)
            child = game.play(state, action)
            if game.turn_sign(state, child) * solver.sign(child, clock) == sign:
                best.append(game.to_text(state, action))
        self.solution = replace(proven, best=tuple(best))
