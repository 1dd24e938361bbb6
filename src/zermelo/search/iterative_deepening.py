"""Iterative deepening: search to depth 1, 2, 3, … until a limit is reached or the score is exact.

Every completed depth gives a best move, so a search that is stopped still has an answer.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from zermelo.core.game import Game
from zermelo.search.engine import Engine
from zermelo.search.limits import SearchClock, SearchStopped

MAX_DEPTH = 400


@dataclass(frozen=True)
class Iteration:
    """The result of one completed depth; scores are for the side to move, best first.

    Without `all_moves`, only the best score is exact to this depth; the other scores are upper
    bounds that do not exceed it.
    """

    depth: int
    scores: dict[int, int]  #: by action
    best: int  #: the best action
    lines: dict[int, tuple[int, ...]]  #: expected play by first action; some may be missing
    exact: bool  #: whether no state had to be estimated

    @property
    def score(self) -> int:
        """The score of the best action."""
        return self.scores[self.best]

    @property
    def pv(self) -> tuple[int, ...]:
        """The principal variation, from the best action on."""
        return self.lines[self.best]


def deepen(
    engine: Engine,
    state: Any,
    clock: SearchClock,
    *,
    max_depth: int | None = None,
    all_moves: bool = False,
    with_lines: bool = True,
) -> Iterator[Iteration]:
    """Search a state that is not over to increasing depths, and yield the result of each depth.

    There is at least one result, even if the clock has run out. `all_moves` scores every legal move
    and not only the best; without `with_lines` the expected play is omitted.
    """
    actions = _from_centre(engine.game, engine.game.actions(state))
    forced = engine.find_forced_win(state, clock)
    if forced is not None:
        actions.sort(key=lambda action: action != forced)
    for depth in range(1, (max_depth or MAX_DEPTH) + 1):
        try:
            # Depth 1 has no limit, since it is cheap and without it there would be no answer.
            depth_clock = clock if depth > 1 else SearchClock()
            iteration = _search_root(
                engine, state, actions, depth, depth_clock, all_moves=all_moves, lines=with_lines
            )
        except SearchStopped:
            return
        yield iteration
        actions = list(iteration.scores)
        if iteration.exact or _is_settled(engine, iteration, all_moves=all_moves):
            return


def _from_centre(game: Game, actions: list[int]) -> list[int]:
    """Sort actions by distance from the centre if they are cells of a board."""
    grid = game.grid
    if grid is None or game.num_actions < grid.size:
        return actions
    centre = complex((grid.cols - 1) / 2, (grid.rows - 1) / 2)
    return sorted(actions, key=lambda a: abs(complex(a % grid.cols, a // grid.cols) - centre))


def is_settled(engine: Engine, score: int, depth: int) -> bool:
    """Return whether a score and its distance are proven, so that no deeper search is needed.

    Forced moves are searched beyond the depth, so a search may prove a long win and miss a shorter
    one. A win in at most depth + `Engine.plies_beyond_depth` plies is the shortest. If distances
    are only bounds (`Engine.distance` is None), a proven value is enough.
    """
    if abs(score) <= engine.decisive_score or not engine.has_exact_distances:
        return False
    plies = engine.distance(score)
    return plies is None or plies <= depth + engine.plies_beyond_depth


def _is_settled(engine: Engine, iteration: Iteration, *, all_moves: bool) -> bool:
    scores = iteration.scores.values() if all_moves else (iteration.score,)
    return all(is_settled(engine, score, iteration.depth) for score in scores)


def _search_root(
    engine: Engine,
    state: Any,
    actions: list[int],
    depth: int,
    clock: SearchClock,
    *,
    all_moves: bool,
    lines: bool,
) -> Iteration:
    """Search these actions of a state to the same depth, in the given order."""
    engine.start_iteration(depth)
    infinity = engine.win_score + 1
    scores: dict[int, int] = {}
    expected: dict[int, tuple[int, ...]] = {}
    best, best_action = -infinity, actions[0]
    for action in actions:
        child = engine.game.play(state, action)
        is_over = engine.game.result(child)[0]
        turn_sign = engine.game.turn_sign(state, child)
        if is_over:
            score = engine.parent_score(turn_sign, engine.terminal_score(child))
        else:
            window = engine.child_window(turn_sign, -infinity if all_moves else best, infinity)
            child_score = engine.search(child, depth - 1, *window, clock)
            score = engine.parent_score(turn_sign, child_score)
        scores[action] = score
        if lines and (score > best or all_moves):
            line = (action, *([] if is_over else engine.principal_variation(child)))
            expected[action] = engine.game.legal_line(state, line)
        if score > best:
            best, best_action = score, action
    ranked = sorted(scores, key=lambda a: (-scores[a], a != best_action))
    return Iteration(
        depth,
        {action: scores[action] for action in ranked},
        best_action,
        expected,
        exact=not engine.hit_horizon,
    )
