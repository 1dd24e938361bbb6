"""Deepening: depth 1, 2, 3, … until the limit, or until nothing is hidden.

Every depth ends with a best move, so a search that is stopped has one, and says how deep it saw.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from zermelo.core.game import Game
from zermelo.search.engine import Engine
from zermelo.search.limits import Clock, Stopped

MAX_DEPTH = 400


@dataclass(frozen=True)
class Depth:
    """What one depth found: scores for the side to move, best first.

    Without `every` only the best score is one; the others are bounds that lie below it.
    """

    depth: int
    scores: dict[int, int]  #: by action
    best: int
    lines: dict[int, tuple[int, ...]]  #: expected play by action, for `every` one or the best
    exact: bool  #: no estimate was needed anywhere

    @property
    def score(self) -> int:
        """Of the best action."""
        return self.scores[self.best]

    @property
    def pv(self) -> tuple[int, ...]:
        """Expected play."""
        return self.lines[self.best]


def deepen(
    engine: Engine,
    state: Any,
    clock: Clock,
    *,
    max_depth: int | None = None,
    every: bool = False,
    lines: bool = True,
) -> Iterator[Depth]:
    """Deeper and deeper answers for a state that is not over; at least one, whatever the clock.

    `every` asks for the score of every move; without `lines` no expected play is told.
    """
    order = _from_centre(engine.game, engine.game.actions(state))
    forced = engine.force(state, clock)
    if forced is not None:
        order.sort(key=lambda action: action != forced)
    for depth in range(1, (max_depth or MAX_DEPTH) + 1):
        try:
            # The first depth is a move's worth of work, and without it there would be no answer.
            within = clock if depth > 1 else Clock()
            found = _look(engine, state, order, depth, within, every=every, lines=lines)
        except Stopped:
            return
        yield found
        order = list(found.scores)
        if found.exact or _is_settled(engine, found, every=every):
            return


def _from_centre(game: Game, actions: list[int]) -> list[int]:
    """Of moves that look alike, those in the middle first."""
    grid = game.grid
    if grid is None or game.num_actions < grid.size:
        return actions
    middle = complex((grid.cols - 1) / 2, (grid.rows - 1) / 2)
    return sorted(actions, key=lambda a: abs(complex(a % grid.cols, a // grid.cols) - middle))


def is_settled(engine: Engine, score: int, depth: int) -> bool:
    """Whether a score is proven, distance included: nothing nearer is left beyond the horizon.

    Forced moves are searched past the depth, so a proven win may lie further away than a nearer
    one that was not seen; at most a ply beyond the depth it does not. Where distances are bounds
    anyway (`Engine.plies` is None), the proof is enough.
    """
    if abs(score) <= engine.decisive or not engine.settles:
        return False
    return engine.plies(score) is None or engine.far - abs(score) <= depth + 1


def _is_settled(engine: Engine, found: Depth, *, every: bool) -> bool:
    scores = found.scores.values() if every else (found.score,)
    return all(is_settled(engine, score, found.depth) for score in scores)


def _look(
    engine: Engine,
    state: Any,
    order: list[int],
    depth: int,
    clock: Clock,
    *,
    every: bool,
    lines: bool,
) -> Depth:
    """All moves at one depth, the best of the last depth first."""
    engine.start(depth)
    infinity = engine.far + 1
    scores: dict[int, int] = {}
    expected: dict[int, tuple[int, ...]] = {}
    best, best_action = -infinity, order[0]
    for action in order:
        child = engine.game.play(state, action)
        over = engine.game.result(child)[0]
        if over:
            score = engine.sooner(engine.ended(child))
        else:
            alpha = -infinity if every else best
            window = engine.later(infinity), engine.later(alpha)
            score = engine.sooner(engine.search(child, depth - 1, *window, clock))
        scores[action] = score
        if lines and (score > best or every):
            expected[action] = (action, *([] if over else engine.line(child)))
        if score > best:
            best, best_action = score, action
    ranked = sorted(scores, key=lambda a: (-scores[a], a != best_action))
    return Depth(
        depth,
        {action: scores[action] for action in ranked},
        best_action,
        expected,
        exact=not engine.met_horizon,
    )
