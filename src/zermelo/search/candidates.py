"""Create `Candidate` records from search scores, for analyses and for players that search."""

from collections.abc import Sequence
from typing import Any

from zermelo.core.player import Candidate, Reason
from zermelo.core.value import Value
from zermelo.search.engine import Engine
from zermelo.search.iterative_deepening import Iteration, is_settled


def candidate_from_score(
    engine: Engine,
    state: Any,
    action: int,
    score: int,
    *,
    exact: bool,
    best: bool,
    is_exhaustive: bool = False,
    line: Sequence[int] = (),
    reasons: Sequence[Reason] = (),
) -> Candidate:
    """Return the record of one move: with a proven value if `exact`, otherwise with an estimate.

    The score is for the side that makes this move. `line` is the expected play from this move on.
    For `is_exhaustive`, see `Engine.plies_to_end`.
    """
    game = engine.game
    return Candidate(
        game.to_text(state, action),
        value=Value.from_score(score) if exact else None,
        estimate=None if exact else engine.to_estimate(score),
        plies=engine.plies_to_end(score, is_exhaustive=is_exhaustive) if exact else None,
        exact=exact,
        best=best,
        reasons=tuple(reasons),
        pv=game.line_to_text(state, line or (action,)),
        diff=score if exact and not engine.ply_cost else None,
    )


def candidates_from_iteration(
    engine: Engine, state: Any, iteration: Iteration, *, all_moves: bool
) -> list[Candidate]:
    """Return the records of the moves that one iteration has scored, best first.

    Without `all_moves` only the best move has a score; the others have only bounds and are omitted.
    """
    scores = iteration.scores if all_moves else {iteration.best: iteration.score}
    return [
        candidate_from_score(
            engine,
            state,
            action,
            score,
            exact=iteration.exact or is_settled(engine, score, iteration.depth),
            best=score == iteration.score,
            is_exhaustive=iteration.exact,
            line=iteration.lines.get(action, ()),
        )
        for action, score in scores.items()
    ]
