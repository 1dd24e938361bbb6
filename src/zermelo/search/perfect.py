"""The perfect player: exact play, the fastest win and the slowest loss, ties by seed."""

import random
from collections.abc import Iterator

from zermelo.contract import BoardGame, WordGame
from zermelo.players import Analysis, Limit, Player
from zermelo.position import Position
from zermelo.search.solution import Solution, solve, solver_for
from zermelo.search.solver import Solver, Unsolved

_PATIENCE = 600.0  # seconds for a move, where the caller sets no limit


class PerfectPlayer(Player):
    """Plays only what it has proven; a game beyond the solver is refused, not guessed at."""

    def __init__(self, seed: int | None = None) -> None:
        self.name = "perfect" if seed is None else f"perfect:seed={seed}"
        self._dice = random.Random(seed)
        self._solver: Solver | None = None

    def think(self, position: Position, limit: Limit) -> Iterator[Analysis]:
        """One answer, proven; Unsolved when there is none within the limit."""
        if isinstance(position.game, BoardGame):
            msg = f"{position.game.spec} is beyond perfect: it solves boards up to 64 cells"
            raise Unsolved(msg)
        seconds = limit.seconds or _PATIENCE
        found = self._solve(position, Limit(seconds=seconds))
        if not found.exact:
            msg = f"perfect did not solve {position.game.spec} within {seconds:g} seconds"
            raise Unsolved(msg)
        yield Analysis(
            self._dice.choice(found.best),
            value=found.value,
            plies=found.plies,
            exact=True,
            pv=found.pv,
            nodes=found.nodes,
            seconds=found.seconds,
            source=found.source,
            diff=found.diff,
        )

    def _solve(self, position: Position, limit: Limit) -> Solution:
        game = position.game
        if isinstance(game, WordGame) and (self._solver is None or self._solver.game != game):
            self._solver = solver_for(game)
        return solve(position, limit=limit, solver=self._solver)
