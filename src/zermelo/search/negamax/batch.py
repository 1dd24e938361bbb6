"""Kernels that search many states in one call, to label training data and during training."""

from typing import Any

from zermelo.core.game import SolverHooks
from zermelo.kernels.registry import kernel
from zermelo.search.negamax.arrays import (
    ALPHA,
    BETA,
    DEPTH,
    FIXED_WINDOW,
    GENERATION,
    HORIZON,
    LOWER,
    NEXT_MOVE,
    NO_SCORE,
    NOT_STARTED,
    PLIES_LEFT,
    SEARCH_ARRAYS,
    UPPER,
    SearchArrays,
)
from zermelo.search.negamax.kernel import parent_score, reset_search, search, solve_root


@kernel(f"uint64[:,::1], int64[::1], int64, int64[::1], {SEARCH_ARRAYS}", common=False, bare=True)
def solve_batch(
    game: SolverHooks,
    roots: Any,  # [root, word]: states that are not over
    scores: Any,  # [root]: the results
    begin: Any,
    control: Any,
    packed: Any,
) -> Any:
    """Write the exact scores of roots[begin:]; clear the transposition table before each root.

    Return the number of finished roots: if the node limit is reached before the last root, call
    the kernel again with that number as `begin`. Each root uses up one generation number; the
    caller must make sure that enough are left.
    """
    arrays = SearchArrays(*packed)
    for number in range(begin, roots.shape[0]):
        if control[DEPTH] == NOT_STARTED:
            root = game.load(roots, number)
            game.store(arrays.states, 0, root)
            control[GENERATION] += 1
            reset_search(control, arrays.table)
            control[LOWER], control[UPPER] = -game.win_score, game.win_score
        if not solve_root(game, control, arrays):
            return number
        scores[number] = control[LOWER]
    return roots.shape[0]


@kernel(
    f"uint64[:,::1], int64, int64[:,::1], int64[::1], int64[::1], {SEARCH_ARRAYS}",
    common=False,
    bare=True,
)
def look_ahead_batch(
    game: SolverHooks,
    roots: Any,  # [root, word]: states that are not over
    plies: Any,  # the number of plies to look ahead, at least 1
    scores: Any,  # [root, action]: for the side to move at the root
    legal: Any,  # scratch memory for the actions of a state
    control: Any,
    packed: Any,
) -> Any:
    """Write the score of every action of every root to `scores`; NO_SCORE for illegal actions.

    A search that reaches the node limit cannot be continued, so the caller must set a sufficient
    limit. Each root uses up one generation number; the caller must make sure that enough are left.
    """
    arrays = SearchArrays(*packed)
    frames = arrays.frames
    control[FIXED_WINDOW] = 1
    control[HORIZON] = plies - 1
    for number in range(roots.shape[0]):
        control[GENERATION] += 1
        reset_search(control, arrays.table)
        for action in range(scores.shape[1]):
            scores[number, action] = NO_SCORE
        state = game.load(roots, number)
        for at in range(game.list_moves(state, legal)):
            child = game.play(state, legal[at])
            over, value = game.result(child)
            score = value * game.win_score
            if game.has_scores and over:
                score = game.score(child)
            if not over:
                game.store(arrays.states, 0, child)
                control[DEPTH] = 0
                frames[0, ALPHA], frames[0, BETA] = -game.win_score - 1, game.win_score + 1
                frames[0, PLIES_LEFT] = plies - 1
                frames[0, NEXT_MOVE] = NOT_STARTED
                _finished, score = search(game, control, arrays)
            scores[number, legal[at]] = -game.turn_sign(state, child) * parent_score(game, score)
    control[DEPTH] = NOT_STARTED
    return True
