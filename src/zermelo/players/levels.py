"""Levels: players with a fixed rate of mistakes, from 1 (beginner) to 10 (no mistakes).

Where the values of the moves are proven, a mistake is a move that gives away a win or a draw, and
the rate is exact. Elsewhere each level searches fewer nodes than the next one, and a mistake
is a move that is clearly worse by the level's own estimates. docs/benchmarks.md shows that each
level beats the one below.
"""

import random
from collections.abc import Iterator, Sequence
from dataclasses import replace

from zermelo.core.errors import BadSpec
from zermelo.core.game import BoardGame, Game, WordGame
from zermelo.core.player import Analysis, Candidate, Limit, Player
from zermelo.core.position import Position
from zermelo.search.candidates import candidates_from_iteration
from zermelo.search.engine import Engine
from zermelo.search.engines import engine_for
from zermelo.search.iterative_deepening import Iteration, deepen, is_settled
from zermelo.search.limits import SearchClock, SearchStopped
from zermelo.search.solver.solution import solver_for
from zermelo.search.solver.solver import Solver, SolverSettings

#: the probability of a mistake, by level, where values are proven and a mistake is possible
MISTAKES = {1: 0.60, 2: 0.45, 3: 0.33, 4: 0.25, 5: 0.18, 6: 0.12, 7: 0.08, 8: 0.04, 9: 0.015, 10: 0}
#: the same for values that are estimates; the rates are higher, since fewer of these mistakes lose
SLIPS = {1: 0.95, 2: 0.72, 3: 0.53, 4: 0.39, 5: 0.28, 6: 0.20, 7: 0.15, 8: 0.11, 9: 0.07, 10: 0}
#: the number of nodes that a level searches for its estimates
NODES = {level: int(200 * 2.2 ** (level - 1)) for level in MISTAKES}
_PROOF_NODES = 300_000  # the default node limit for a proof, at every level
_SOLVER_SHARE = 0.8  # the solver's share of a proof's nodes; iterative deepening gets the rest
_SOLVER_TIME = 0.3  # the solver's share of the time limit
_SECONDS = 1.0  # the default time limit, which matters on slow machines
_SETTINGS = SolverSettings(table_bits=20)
_CLEAR_DIFFERENCE = 0.1  # a move whose estimate is this much below the best one's is a mistake
_HALVING_RANKS = 4  # a mistake that ranks this many places lower is half as likely


class LevelPlayer(Player):
    """Decides at random whether to make a mistake, then samples a best move or a worse one."""

    def __init__(self, level: int, seed: int | None = None) -> None:
        if level not in MISTAKES:
            msg = f"level is {level}: it must be 1 to {max(MISTAKES)}"
            raise BadSpec(msg)
        self.name = f"level:{level}" + ("" if seed is None else f",seed={seed}")
        self.level = level
        self._rng = random.Random(seed)
        self._engine: Engine | None = None
        self._solver: Solver | None = None

    def reseed(self, seed: int) -> None:
        """Seed the random generator and clear the transposition tables."""
        self._rng.seed(seed)
        if self._engine is not None:
            self._engine.clear()
        if self._solver is not None:
            self._solver.clear()

    def prepare(self, game: Game) -> Engine:
        """Return the engine for a game; engine and solver are kept until the game changes."""
        if self._engine is None or self._engine.game is not game:
            self._engine = engine_for(game)
            self._solver = solver_for(game, _SETTINGS) if isinstance(game, WordGame) else None
        return self._engine

    def think(self, position: Position, limit: Limit) -> Iterator[Analysis]:
        """Yield one analysis if the solver proves every move in time, else one for every depth."""
        engine = self.prepare(position.game)
        limit = replace(limit, seconds=limit.seconds or _SECONDS, nodes=limit.nodes or _PROOF_NODES)
        clock = SearchClock(replace(limit, nodes=None))
        error_sample, move_sample = self._rng.random(), self._rng.random()
        candidates = self._solve(position, clock, limit)
        if candidates:
            is_mistake = error_sample < MISTAKES[self.level]
            source = self._solver.source(position.state) if self._solver else "search"
            yield _sample(candidates, move_sample, clock, is_mistake=is_mistake, source=source)
            return
        for iteration, is_proven in self._deepen(position, engine, clock, limit):
            rates = MISTAKES if is_proven else SLIPS
            yield _sample(
                candidates_from_iteration(engine, position.state, iteration, all_moves=True),
                move_sample,
                clock,
                is_mistake=error_sample < rates[self.level],
                depth=iteration.depth,
            )

    def _solve(self, position: Position, clock: SearchClock, limit: Limit) -> list[Candidate]:
        """Return every move with its exact value, or an empty list if the solver is stopped."""
        if self._solver is None:
            return []
        assert limit.nodes is not None
        part = clock.subclock(_SOLVER_TIME, max(1, int(limit.nodes * _SOLVER_SHARE)))
        try:
            return self._solver.evaluate_moves(position.state, part)
        except SearchStopped:
            return []

    def _deepen(
        self, position: Position, engine: Engine, clock: SearchClock, limit: Limit
    ) -> Iterator[tuple[Iteration, bool]]:
        """Yield (iteration, is_proven) for each depth; after NODES[level] nodes, yield only proofs.

        On boards that are too large for the solver, the search stops after NODES[level] nodes.
        """
        assert limit.nodes is not None
        own_nodes = min(NODES[self.level], limit.nodes)
        can_prove = not isinstance(position.game, BoardGame)
        proof_share = (1 - _SOLVER_SHARE) if self._solver is not None else 1.0
        proof_nodes = int(limit.nodes * proof_share) if can_prove else 0
        clock = clock.subclock(nodes=max(own_nodes, proof_nodes))
        for iteration in deepen(
            engine,
            position.state,
            clock,
            max_depth=limit.depth,
            all_moves=True,
            with_lines=limit.all_moves,
        ):
            is_proven = can_prove and _is_proven(engine, iteration)
            if is_proven or clock.nodes <= own_nodes or iteration.depth == 1:
                yield iteration, is_proven


def _is_proven(engine: Engine, iteration: Iteration) -> bool:
    """Return whether the value of the best move is proven and no other move can be better."""
    if iteration.exact:
        return True
    depth, top = iteration.depth, iteration.score
    # A shorter win would have been found at an earlier depth.
    if top > 0 and is_settled(engine, top, depth):
        return True
    return all(is_settled(engine, score, depth) for score in iteration.scores.values())


def _sample(
    candidates: list[Candidate],
    sample: float,
    clock: SearchClock,
    *,
    is_mistake: bool,
    source: str = "search",
    depth: int | None = None,
) -> Analysis:
    """Return an analysis that chooses one of the best moves, or of the mistakes if there are any.

    `sample`, a random number from 0 to 1, determines which one is chosen.
    """
    best, mistakes = _split(candidates)
    if is_mistake and mistakes:
        choice = _sample_mistake(mistakes, sample)
    else:
        choice = best[int(sample * len(best))]
    others = (replace(c, best=False) for c in candidates if c.move != choice.move)
    return Analysis.from_candidates(
        (replace(choice, best=True), *others),
        nodes=clock.nodes,
        seconds=clock.seconds,
        source=source,
        depth=depth,
    )


def _sample_mistake(mistakes: Sequence[Candidate], sample: float) -> Candidate:
    """Return one of the mistakes; the less bad ones, which come first, are more likely."""
    half_life = min(_HALVING_RANKS, len(mistakes) / 4)
    weights = [2.0 ** -(rank / half_life) for rank in range(len(mistakes))]
    remainder = sample * sum(weights)
    for candidate, weight in zip(mistakes, weights, strict=True):
        remainder -= weight
        if remainder < 0:
            return candidate
    return mistakes[-1]


def _split(candidates: Sequence[Candidate]) -> tuple[list[Candidate], list[Candidate]]:
    """Return (best moves, mistakes); moves that are neither are not played."""
    top = candidates[0].expected_value
    margin = _CLEAR_DIFFERENCE
    if all(c.exact for c in candidates):
        # The result must not depend on the order in which the search found moves of equal value.
        candidates, margin = sorted(candidates, key=_sort_key), 0.0
    best = [c for c in candidates if c.best]
    return best, [c for c in candidates if c.expected_value < top - margin]


def _sort_key(candidate: Candidate) -> tuple[float, int, int, str]:
    """Return a proven move's sort key: by value, in Reversi by discs, slower losses first."""
    return (
        -candidate.expected_value,
        -(candidate.diff or 0),
        -(candidate.plies or 0),
        candidate.move,
    )
