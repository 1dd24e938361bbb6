"""Kernels that search many states in one call, for labelling and for learning."""

from typing import Any

from zermelo.core.game import SolverHooks
from zermelo.kernels import kernel
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
    roots: Any,  # [root, word]: none of them over
    scores: Any,  # [root]
    begin: Any,
    control: Any,
    packed: Any,
) -> Any:
    """Write the exact scores of the roots from `begin` on, clearing the table before each one.

    Return the number of finished roots: if the node limit is reached before the last root, call
    it again with that number as `begin`. The caller must provide enough generations.
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
    roots: Any,  # [root, word]: none of them over
    plies: Any,  # to look ahead, at least 1
    scores: Any,  # [root, action]: for the side to move at the root
    legal: Any,  # scratch memory for the actions of a state
    control: Any,
    packed: Any,
) -> Any:
    """Write the score of every action of every root, or NO_SCORE for illegal actions.

    These searches are short and cannot be continued, so the caller must provide enough nodes and
    generations.
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
            if not over:
                game.store(arrays.states, 0, child)
                control[DEPTH] = 0
                frames[0, ALPHA], frames[0, BETA] = -game.win_score - 1, game.win_score + 1
                frames[0, PLIES_LEFT] = plies - 1
                frames[0, NEXT_MOVE] = NOT_STARTED
                _finished, score = search(game, control, arrays)
            scores[number, legal[at]] = parent_score(game, score)
    control[DEPTH] = NOT_STARTED
    return True
