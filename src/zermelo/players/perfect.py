"""The perfect player: it wins as fast and loses as slowly as possible, with random tie-breaks."""

import random
from collections.abc import Iterator
from dataclasses import replace

from zermelo.core.game import BoardGame, WordGame
from zermelo.core.player import Analysis, Limit, Player
from zermelo.core.position import Position
from zermelo.core.value import Value
from zermelo.search.explain.analysis import Analyst
from zermelo.search.limits import SearchClock, SearchStopped
from zermelo.search.negamax.searcher import Unsolved
from zermelo.search.solver.solution import solver_for
from zermelo.search.solver.solver import Solver, plies_to_end

_SECONDS = 60.0  # time per move if the caller sets no limit


class PerfectPlayer(Player):
    """Plays only proven best moves; it raises Unsolved instead of guessing."""

    def __init__(self, seed: int | None = None) -> None:
        self.name = "perfect" if seed is None else f"perfect:seed={seed}"
        self._rng = random.Random(seed)
        self._solver: Solver | None = None
        self._analyst = Analyst()

    def reseed(self, seed: int) -> None:
        """Seed the random generator."""
        self._rng.seed(seed)

    def think(self, position: Position, limit: Limit) -> Iterator[Analysis]:
        """Yield one proven analysis; raise Unsolved if nothing is proven within the limit."""
        game = position.game
        if isinstance(game, BoardGame):
            msg = f"perfect cannot play {game.spec}: it can solve only boards of up to 64 cells"
            raise Unsolved(msg)
        limit = replace(limit, seconds=limit.seconds or _SECONDS)
        if limit.all_moves or not isinstance(game, WordGame):
            analysis = self._analyze(position, limit)
        else:
            analysis = self._solve(game, position, limit)
        if analysis is None:
            msg = f"perfect did not solve {game.spec} within {limit.seconds:g} s: give it more time"
            raise Unsolved(msg)
        yield analysis

    def _solve(self, game: WordGame, position: Position, limit: Limit) -> Analysis | None:
        """Solve the position and sample one of its best moves; None if the limit is reached."""
        if self._solver is None or self._solver.game != game:
            self._solver = solver_for(game)
        hooks, clock = self._solver.hooks, SearchClock(limit)
        try:
            score = self._solver.score(position.state, clock)
            best = self._solver.best_actions(position.state, score, clock)
        except SearchStopped:
            return None
        move = position.to_move_text(self._rng.choice(best))
        return Analysis(
            move,
            value=Value.from_score(score),
            plies=plies_to_end(hooks, score),
            exact=True,
            pv=(move,),
            nodes=clock.nodes,
            seconds=clock.seconds,
            source=self._solver.source(position.state),
            diff=None if hooks.ply_cost else score,
        )

    def _analyze(self, position: Position, limit: Limit) -> Analysis | None:
        """Analyse all moves and sample one of the best; None if no proof is found in time."""
        analysis = self._analyst.choose(position, limit)
        if not analysis.exact:
            return None
        choice = self._rng.choice([c for c in analysis.candidates if c.best])
        return replace(analysis, move=choice.move, pv=choice.pv)
