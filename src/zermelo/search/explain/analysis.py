"""Analysis: every legal move with its value or estimate, its line, and reasons that are true.

First deepening, so that there is an estimate for every move within milliseconds; then, move by
move, the exact value; at last lines and reasons. `Analyst` yields a record after each step.
"""

import contextlib
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from zermelo.core.bitboard import sign
from zermelo.core.game import Game, WordGame
from zermelo.core.player import Analysis, Candidate, Limit, Player, last_of
from zermelo.core.position import Position
from zermelo.search.engine import Engine
from zermelo.search.engines import engine_for
from zermelo.search.explain.reasons import Facts, Judged, explain
from zermelo.search.iterative_deepening import Iteration, deepen, is_settled
from zermelo.search.limits import SearchClock, SearchStopped
from zermelo.search.solver import solution
from zermelo.search.solver.solver import Settings, Solver

PATIENCE = 10.0  #: seconds, where the caller sets no limit
_DEEPENING, _PROVING = 0.2, 0.9  # shares of what is left when their turn comes
_ALONE = 0.85  # for deepening, where nothing can be proven otherwise


def analyze(
    position: Position,
    limit: Limit | None = None,
    *,
    analyst: "Analyst | None" = None,
    player: Player | None = None,
) -> Analysis:
    """Every legal move of a position with value, line and reasons.

    With a player the estimates are that player's, and so is the choice; the reasons, and the
    verdict beside it, are the exact search's.

    >>> import zermelo as z
    >>> found = analyze(z.game("tictactoe").position("XX./OO./..."))
    >>> found.move, found.plies, found.candidates[0].reasons[0].text
    ('c1', 1, 'wins at once')
    """
    if position.is_over:
        done = solution.ended(position)
        return Analysis("", done.value, plies=0, exact=True, source="end", diff=done.diff)
    limit = limit or Limit()
    analyst = analyst or Analyst()
    if player is None:
        return last_of(analyst.think(position, limit))
    if limit.seconds is not None:
        limit = replace(limit, seconds=limit.seconds / 2)
    thought = last_of(player.think(position, replace(limit, every=True)))
    verdict = last_of(analyst.think(position, limit))
    why = {c.move: c.reasons for c in verdict.candidates}
    candidates = tuple(replace(c, reasons=why[c.move]) for c in thought.candidates)
    return replace(thought, candidates=candidates, verdict=verdict)


def to_json(position: Position, found: Analysis, spec: str) -> dict[str, Any]:
    """The fields that scripts get: solve's, and the candidates."""
    best = [c.move for c in found.candidates if c.best]
    fields = solution.Solution(
        position,
        value=found.value,
        estimate=found.estimate,
        plies=found.plies,
        best=tuple(best),
        pv=found.pv,
        exact=found.exact,
        nodes=found.nodes,
        seconds=found.seconds,
        source=found.source,
        diff=found.diff,
        depth=found.depth,
    ).to_json(spec)
    fields["candidates"] = [_candidate_json(position, c) for c in found.candidates]
    if found.verdict is not None:
        fields["move"] = found.move
        fields["verdict"] = to_json(position, found.verdict, spec)
    return fields


def _candidate_json(position: Position, candidate: Candidate) -> dict[str, Any]:
    fields = {
        "move": candidate.move,
        "value": candidate.value,
        "estimate": candidate.estimate,
        "plies": candidate.plies,
        "exact": candidate.exact,
        "best": candidate.best,
        "reasons": [reason.to_json() for reason in candidate.reasons],
        "pv": list(candidate.pv),
    } | solution.scores(position, candidate.value, candidate.plies, candidate.diff)
    more = {"visits": candidate.visits, "parts": candidate.parts}
    return fields | {name: value for name, value in more.items() if value is not None}


class Analyst(Player):
    """Judges every move: exactly where it can, else by an estimate. Plays the best one."""

    name = "analysis"

    def __init__(self, settings: Settings | None = None) -> None:
        self._settings = settings
        self._engine: Engine | None = None
        self._solver: Solver | None = None

    def think(self, position: Position, limit: Limit) -> Iterator[Analysis]:
        """Better and better records."""
        game = position.game
        engine, solver = self._tools(game)
        if limit.seconds is None and limit.nodes is None:
            limit = replace(limit, seconds=PATIENCE)
        work = _Work(position, engine, SearchClock(limit))
        is_small = solver is not None  # on a large board reasons take a while
        clock = work.clock.subclock(_DEEPENING if solver is not None else _ALONE)
        for found in deepen(engine, position.state, clock, max_depth=limit.depth, all_moves=True):
            work.take(found)
            yield work.record(reasons=is_small)
        if solver is not None:
            for _ in work.prove(solver, work.clock.subclock(_PROVING)):
                yield work.record(reasons=is_small)
            with contextlib.suppress(SearchStopped):
                work.find_lines(solver)
        yield work.record(reasons=True)

    def reseed(self, seed: int) -> None:
        """Without dice, but what was proven before helps to prove more."""
        del seed
        if self._engine is not None:
            self._engine.clear()
        if self._solver is not None:
            self._solver.forget()

    def _tools(self, game: Game) -> tuple[Engine, Solver | None]:
        """Kept between calls for the same game."""
        if self._engine is None or self._engine.game != game:
            self._engine = engine_for(game)
            self._solver = (
                solution.solver_for(game, self._settings) if isinstance(game, WordGame) else None
            )
        return self._engine, self._solver


class _Work:
    """One position being analysed."""

    def __init__(self, position: Position, engine: Engine, clock: SearchClock) -> None:
        self.position, self.engine, self.clock = position, engine, clock
        self.game, self.state = position.game, position.state
        self.facts = Facts(self.game, self.state)
        self.scores: dict[int, int] = {}
        self.lines: dict[int, tuple[int, ...]] = {a: (a,) for a in position.actions}
        self.proven: set[int] = set()
        self.depth = 0
        self.source = "search"

    def take(self, found: Iteration) -> None:
        """The scores of a depth."""
        self.scores, self.depth = dict(found.scores), found.depth
        for action, score in found.scores.items():
            if found.exact or is_settled(self.engine, score, found.depth):
                self.proven.add(action)
        self.lines.update(found.lines)

    def prove(self, solver: Solver, clock: SearchClock) -> Iterator[int]:
        """The exact scores of the moves, most promising first, as long as the clock allows."""
        for action in list(self.scores):
            if action in self.proven:
                continue
            try:
                child = solver.score(self.game.play(self.state, action), clock)
            except SearchStopped:
                return
            self.scores[action] = self.engine.parent_score(child)
            self.proven.add(action)
            yield action
        self.source = solver.source(self.state)

    def find_lines(self, solver: Solver) -> None:
        """Best play after every proven move."""
        for action in self._ranked():
            if action in self.proven:
                child = self.game.play(self.state, action)
                score = self.engine.child_bound(self.scores[action])
                self.lines[action] = (action, *solver.line(child, score, self.clock))

    def _ranked(self) -> list[int]:
        return sorted(self.scores, key=lambda action: -self.scores[action])

    def record(self, *, reasons: bool) -> Analysis:
        """What is known by now."""
        ranked = self._ranked()
        judged = [self._judged(action) for action in ranked]
        why = explain(self.facts, judged) if reasons else {}
        top = self.scores[ranked[0]]
        is_best = {a for a in ranked if self.scores[a] == top}
        if top == 0 or ranked[0] not in self.proven:
            is_best = {a for a in is_best if (a in self.proven) == (ranked[0] in self.proven)}
        candidates = tuple(
            self._candidate(j, why.get(j.action, ()), best=j.action in is_best) for j in judged
        )
        first = candidates[0]
        whole = self._is_exact(ranked)
        return Analysis(
            first.move,
            value=first.value if whole else None,
            estimate=None if whole else self.engine.to_estimate(top),
            plies=first.plies if whole else None,
            exact=whole,
            candidates=candidates,
            pv=first.pv,
            nodes=self.clock.nodes,
            seconds=self.clock.seconds,
            source=self.source,
            depth=None if whole else self.depth,
            diff=first.diff if whole else None,
        )

    def _is_exact(self, ranked: list[int]) -> bool:
        """The best is proven, and nothing unproven may be better."""
        if ranked[0] not in self.proven:
            return False
        if len(self.proven) == len(ranked):
            return True
        # A win is as good as any move can be; a nearer one would have been seen by deepening.
        score = self.scores[ranked[0]]
        return is_settled(self.engine, score, self.depth) and score > 0

    def _judged(self, action: int) -> Judged:
        score = self.scores[action]
        if action not in self.proven:
            return Judged(action, line=self.lines[action])
        return Judged(
            action,
            sign=sign(score),
            plies=self.engine.plies_to_end(score),
            diff=None if self.engine.ply_cost else score,
            line=self.lines[action],
            forced=self.engine.known_forced_win(self.facts.children[action]),
        )

    def _candidate(self, judged: Judged, why: Any, *, best: bool) -> Candidate:
        exact = judged.sign is not None
        text = self.game.to_text
        return Candidate(
            text(judged.action),
            value=solution.VALUES[judged.sign] if judged.sign is not None else None,
            estimate=None if exact else self.engine.to_estimate(self.scores[judged.action]),
            plies=judged.plies,
            exact=exact,
            best=best,
            reasons=tuple(why),
            pv=tuple(map(text, judged.line)),
            diff=judged.diff,
        )
