"""The lookahead player: it plays perfectly within a few plies and greedily otherwise."""

import random
from collections.abc import Iterator
from dataclasses import replace

from zermelo.core.errors import BadSpec
from zermelo.core.player import Analysis, Limit, Player
from zermelo.core.position import Position
from zermelo.players.greedy import choose_best, rank_move
from zermelo.search.candidates import candidate_from_score
from zermelo.search.engine import Engine
from zermelo.search.engines import engine_for
from zermelo.search.iterative_deepening import Iteration, deepen
from zermelo.search.limits import SearchClock


class LookaheadPlayer(Player):
    """Finds all wins and losses within `plies` plies; it ranks the other moves greedily."""

    def __init__(self, plies: int = 3, seed: int | None = None) -> None:
        if plies < 1:
            msg = f"plies is {plies}: it must be 1 or more"
            raise BadSpec(msg)
        self.name = f"lookahead:{plies}" + ("" if seed is None else f",seed={seed}")
        self.plies = plies
        self._rng = random.Random(seed)
        self._engine: Engine | None = None

    def reseed(self, seed: int) -> None:
        """Seed the random generator."""
        self._rng.seed(seed)

    def think(self, position: Position, limit: Limit) -> Iterator[Analysis]:
        """Yield one analysis; a limit may reduce the depth."""
        game = position.game
        if self._engine is None or self._engine.game != game:
            self._engine = engine_for(game)
        engine, clock = self._engine, SearchClock(limit)
        proven: dict[int, int | None] = {}
        for iteration in deepen(
            engine, position.state, clock, max_depth=self.plies, all_moves=True, with_lines=False
        ):
            proven = {action: self._proven_score(iteration, action) for action in iteration.scores}
        top = max(score or 0 for score in proven.values())
        ranks = {
            action: rank_move(position, action)
            for action, score in proven.items()
            if (score or 0) == top
        }
        best = choose_best(ranks, self._rng)
        candidates = []
        for action in position.actions:
            score = proven[action]
            is_exact, is_best = score is not None, action == best
            candidate = candidate_from_score(
                engine, position.state, action, score or 0, exact=is_exact, best=is_best
            )
            if not is_exact and action in ranks:
                candidate = replace(candidate, estimate=ranks[action].estimate)
            candidates.append(candidate)
        candidates.sort(key=lambda c: (not c.best, -c.expected_value))
        yield Analysis.from_candidates(candidates, nodes=clock.nodes, seconds=clock.seconds)

    def _proven_score(self, iteration: Iteration, action: int) -> int | None:
        """Return the score of an action if it is proven within `plies`, else None."""
        assert self._engine is not None
        score, engine = iteration.scores[action], self._engine
        is_near = engine.win_score - abs(score) <= self.plies and abs(score) > engine.decisive_score
        return score if is_near or iteration.exact else None
