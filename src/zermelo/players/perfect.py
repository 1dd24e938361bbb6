"""The perfect player: exact play, the fastest win and the slowest loss, ties by seed."""

import random
from collections.abc import Iterator
from dataclasses import replace

from zermelo.core.bitboard import sign
from zermelo.core.game import BoardGame, WordGame
from zermelo.core.player import Analysis, Limit, Player
from zermelo.core.position import Position
from zermelo.search.explain.analysis import Analyst
from zermelo.search.limits import SearchClock, SearchStopped
from zermelo.search.negamax.runner import Unsolved
from zermelo.search.solver.solution import VALUES, solver_for
from zermelo.search.solver.solver import Solver

_PATIENCE = 60.0  # seconds for a move, where the caller sets no limit


class PerfectPlayer(Player):
    """Plays only what it has proven; a game beyond the solver is refused, not guessed at."""

    def __init__(self, seed: int | None = None) -> None:
        self.name = "perfect" if seed is None else f"perfect:seed={seed}"
        self._dice = random.Random(seed)
        self._solver: Solver | None = None
        self._analyst = Analyst()

    def reseed(self, seed: int) -> None:
        """The dice begin anew."""
        self._dice.seed(seed)

    def think(self, position: Position, limit: Limit) -> Iterator[Analysis]:
        """One answer, proven; Unsolved when there is none within the limit."""
        game = position.game
        if isinstance(game, BoardGame):
            msg = f"{game.spec} is beyond perfect: it solves boards up to 64 cells"
            raise Unsolved(msg)
        limit = replace(limit, seconds=limit.seconds or _PATIENCE)
        if limit.every or not isinstance(game, WordGame):
            found = self._judge_all(position, limit)
        else:
            found = self._choose(game, position, limit)
        if not found.exact:
            msg = f"perfect did not solve {game.spec} within {limit.seconds:g} s: give it longer"
            raise Unsolved(msg)
        yield found

    def _choose(self, game: WordGame, position: Position, limit: Limit) -> Analysis:
        """Of all best moves one by the dice: every one of them is proven first."""
        if self._solver is None or self._solver.game != game:
            self._solver = solver_for(game)
        hooks, clock = self._solver.hooks, SearchClock(limit)
        try:
            score = self._solver.score(position.state, clock)
            best = self._solver.best(position.state, score, clock)
        except SearchStopped:
            return Analysis(position.legal[0], estimate=0.0)
        move = game.to_text(self._dice.choice(best))
        return Analysis(
            move,
            value=VALUES[sign(score)],
            plies=hooks.win_score - abs(score) if hooks.ply_cost and score else None,
            exact=True,
            pv=(move,),
            nodes=clock.nodes,
            seconds=clock.seconds,
            source=self._solver.source(position.state),
            diff=None if hooks.ply_cost else score,
        )

    def _judge_all(self, position: Position, limit: Limit) -> Analysis:
        """Every move with its value, for those who want to see it think."""
        found = self._analyst.choose(position, limit)
        chosen = self._dice.choice([c for c in found.candidates if c.best])
        return replace(found, move=chosen.move, pv=chosen.pv)
