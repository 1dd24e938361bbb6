"""Analysis of a position: each legal move with its value or estimate, its line and its reasons.

`Analyst` yields an analysis after each step: first iterative deepening, which gives estimates
within milliseconds, then the exact values move by move, and finally lines and reasons.
"""

import contextlib
import importlib
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from zermelo.core.bitboard import sign
from zermelo.core.game import Game, WordGame
from zermelo.core.player import Analysis, Limit, Player, as_limit, last_analysis
from zermelo.core.position import Position, as_position
from zermelo.search.candidates import candidate_from_score
from zermelo.search.engine import Engine
from zermelo.search.engines import engine_for
from zermelo.search.explain.reasons import EvaluatedMove, RuleFacts, find_reasons
from zermelo.search.iterative_deepening import Iteration, deepen, is_settled
from zermelo.search.limits import SearchClock, SearchStopped
from zermelo.search.solver import solution
from zermelo.search.solver.solver import Solver, SolverSettings

if TYPE_CHECKING:
    from zermelo.players.function_player import MoveFunction

SECONDS = 10.0  #: time limit if the caller sets none
_DEEPENING_SHARE, _PROVING_SHARE = 0.2, 0.9  # shares of the time left when each step begins
_DEEPENING_ONLY_SHARE = 0.85  # share of the limit for deepening if there is no solver


def analyze(
    position: Position,
    limit: Limit | None = None,
    *,
    analyst: "Analyst | None" = None,
    player: "Player | MoveFunction | str | None" = None,
) -> Analysis:
    """Return an analysis of every legal move of a position, with value, line and reasons.

    If `player` is given, the estimates and the chosen move are that player's. The reasons come from
    exact search, whose own analysis is in the field `verdict`. The player is a spec, a `Player` or
    a function from a position to a move.

    >>> import zermelo as z
    >>> result = analyze(z.game("tictactoe").position("XX./OO./..."))
    >>> result.move, result.plies, result.candidates[0].reasons[0].text
    ('c1', 1, 'wins immediately')
    """
    limit = as_limit(limit)
    if as_position(position).is_over:
        end = solution.solve_finished(position)
        result = Analysis("", end.value, plies=0, exact=True, source="end", diff=end.diff)
        return replace(result, position=position)
    analyst = analyst or Analyst()
    if player is None:
        return replace(last_analysis(analyst.think(position, limit)), position=position)
    # `search` must not import `players`, so the registry is imported by name.
    player = importlib.import_module("zermelo.players.registry").as_player(player)
    assert isinstance(player, Player)
    if limit.seconds is not None:
        limit = replace(limit, seconds=limit.seconds / 2)
    analysis = last_analysis(player.think(position, replace(limit, all_moves=True)))
    verdict = last_analysis(analyst.think(position, limit))
    reasons = {candidate.move: candidate.reasons for candidate in verdict.candidates}
    candidates = tuple(replace(c, reasons=reasons[c.move]) for c in analysis.candidates)
    return replace(analysis, candidates=candidates, verdict=verdict, position=position)


class Analyst(Player):
    """A player that evaluates every move, exactly if possible, and plays the best one."""

    name = "analysis"

    def __init__(self, settings: SolverSettings | None = None) -> None:
        self._settings = settings
        self._engine: Engine | None = None
        self._solver: Solver | None = None

    def prepare(self, game: Game) -> Engine:
        """Return the engine for a game; engine and solver are kept until the game changes."""
        if self._engine is None or self._engine.game != game:
            self._engine = engine_for(game)
            self._solver = (
                solution.solver_for(game, self._settings) if isinstance(game, WordGame) else None
            )
        return self._engine

    def reseed(self, seed: int) -> None:
        """Clear the transposition tables, which influence a search with a time or node limit."""
        del seed
        if self._engine is not None:
            self._engine.clear()
        if self._solver is not None:
            self._solver.clear()

    def think(self, position: Position, limit: Limit) -> Iterator[Analysis]:
        """Yield an analysis after every iteration and after every proven move."""
        engine = self.prepare(position.game)
        if limit.seconds is None and limit.nodes is None:
            limit = replace(limit, seconds=SECONDS)
        analysis = _AnalysisInProgress(position, engine, SearchClock(limit))
        has_solver = self._solver is not None  # without a solver, reasons are slow to find
        share = _DEEPENING_SHARE if has_solver else _DEEPENING_ONLY_SHARE
        clock = analysis.clock.subclock(share)
        # Deepening cannot improve on scores that can be looked up: one iteration ranks the moves.
        max_depth = 1 if self._can_look_up_moves(position) else limit.depth
        for iteration in deepen(engine, position.state, clock, max_depth=max_depth, all_moves=True):
            analysis.add_iteration(iteration)
            yield analysis.record(with_reasons=has_solver)
        if self._solver is not None:
            for _ in analysis.prove(self._solver, analysis.clock.subclock(_PROVING_SHARE)):
                yield analysis.record(with_reasons=True)
            with contextlib.suppress(SearchStopped):
                analysis.find_lines(self._solver)
        yield analysis.record(with_reasons=True)

    def _can_look_up_moves(self, position: Position) -> bool:
        """Return whether a tablebase or the opening book has the score of every move."""
        game, solver = position.game, self._solver
        if solver is None or solver.tablebase is None:
            return False
        children = (game.play(position.state, action) for action in position.actions)
        return all(solver.source(c) != "search" for c in children if not game.result(c)[0])


class _AnalysisInProgress:
    """The scores, proofs and lines that have been found so far for one position."""

    def __init__(self, position: Position, engine: Engine, clock: SearchClock) -> None:
        self.position, self.engine, self.clock = position, engine, clock
        self.game, self.state = position.game, position.state
        self.facts = RuleFacts(self.game, self.state)
        self.scores: dict[int, int] = {}
        self.lines: dict[int, tuple[int, ...]] = {a: (a,) for a in position.actions}
        self.proven: set[int] = set()
        self.depth = 0
        self.is_exhaustive = False  # of the last iteration: see `Engine.plies_to_end`
        self.source = "search"

    def add_iteration(self, iteration: Iteration) -> None:
        """Replace the scores and update the lines with those of an iteration."""
        self.scores, self.depth = dict(iteration.scores), iteration.depth
        self.is_exhaustive = iteration.exact
        for action, score in iteration.scores.items():
            if iteration.exact or is_settled(self.engine, score, iteration.depth):
                self.proven.add(action)
        self.lines.update(iteration.lines)

    def prove(self, solver: Solver, clock: SearchClock) -> Iterator[int]:
        """Solve the unproven moves, most promising first, and yield each move once it is solved."""
        for action in list(self.scores):
            if action in self.proven:
                continue
            try:
                score = solver.score(self.game.play(self.state, action), clock)
            except SearchStopped:
                return
            self.scores[action] = self.engine.parent_score(self._turn_sign(action), score)
            self.proven.add(action)
            yield action
        self.source = solver.source(self.state)

    def find_lines(self, solver: Solver) -> None:
        """Find the line of best play that follows each proven move."""
        for action in self._ranked():
            if action in self.proven:
                child = self.game.play(self.state, action)
                score = self.engine.child_score(self._turn_sign(action), self.scores[action])
                self.lines[action] = (action, *solver.principal_variation(child, score, self.clock))

    def _turn_sign(self, action: int) -> int:
        return int(self.game.turn_sign(self.state, self.facts.children[action]))

    def _ranked(self) -> list[int]:
        return sorted(self.scores, key=lambda action: -self.scores[action])

    def record(self, *, with_reasons: bool) -> Analysis:
        """Return the analysis so far."""
        ranked = self._ranked()
        reasons = {}
        if with_reasons:
            reasons = find_reasons(self.facts, [self._evaluated(action) for action in ranked])
        best = self._best(ranked)
        candidates = [
            candidate_from_score(
                self.engine,
                self.facts.state,
                action,
                self.scores[action],
                exact=action in self.proven,
                best=action in best,
                is_exhaustive=self.is_exhaustive,
                line=self.lines[action],
                reasons=reasons.get(action, ()),
            )
            for action in ranked
        ]
        analysis = Analysis.from_candidates(
            candidates, nodes=self.clock.nodes, seconds=self.clock.seconds, source=self.source
        )
        if self._is_exact(ranked):
            return analysis
        return replace(
            analysis,
            value=None,
            estimate=self.engine.to_estimate(self.scores[ranked[0]]),
            plies=None,
            exact=False,
            depth=self.depth,
            diff=None,
        )

    def _best(self, ranked: list[int]) -> set[int]:
        """Return the actions with the top score; a proven draw does not equal an estimate of 0."""
        top = self.scores[ranked[0]]
        best = {action for action in ranked if self.scores[action] == top}
        is_proven = ranked[0] in self.proven
        if top == 0 or not is_proven:
            best = {action for action in best if (action in self.proven) == is_proven}
        return best

    def _is_exact(self, ranked: list[int]) -> bool:
        """Return whether the best move is proven and no unproven move can be better."""
        if ranked[0] not in self.proven:
            return False
        if len(self.proven) == len(ranked):
            return True
        # No move is better than a win, and iterative deepening would have found a shorter win.
        score = self.scores[ranked[0]]
        return is_settled(self.engine, score, self.depth) and score > 0

    def _evaluated(self, action: int) -> EvaluatedMove:
        score = self.scores[action]
        if action not in self.proven:
            return EvaluatedMove(action, line=self.lines[action])
        return EvaluatedMove(
            action,
            sign=sign(score),
            plies=self.engine.plies_to_end(score, is_exhaustive=self.is_exhaustive),
            diff=None if self.engine.ply_cost else score,
            line=self.lines[action],
            forced_win=self.engine.known_forced_win(self.facts.children[action]),
        )
