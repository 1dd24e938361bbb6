"""Kernels that search many states in one call: for `z.solve_many`, and to label training data."""

from typing import Any

from zermelo.core.game import SolverHooks, WordGame
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
    NODES,
    NOT_STARTED,
    PLIES_LEFT,
    SEARCH_ARRAYS,
    SHORT_WINS_FIRST,
    SIGN_ONLY,
    UPPER,
    SearchArrays,
)
from zermelo.search.negamax.kernel import parent_score, reset_search, search, solve_root

#: what `solve_batch` finds out: the exact score, its sign, or only whether it is above 0
EXACT, SIGN, WIN = range(3)


@kernel(
    f"uint64[:,::1], int64, int64[::1], int64[::1], int64, int64[::1], {SEARCH_ARRAYS}",
    common=False,
    bare=True,
)
def solve_batch(
    game: SolverHooks,
    roots: Any,  # [root, word]: states that are not over
    goal: Any,  # EXACT, SIGN or WIN
    scores: Any,  # [root]: the results; with the goal SIGN, only their signs are right
    nodes: Any,  # [root]: the number of nodes searched is added
    begin: Any,
    control: Any,
    packed: Any,
) -> Any:
    """Write the scores of roots[begin:]; clear the transposition table before each root.

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
            control[SIGN_ONLY] = 0 if goal == EXACT else 1
            # Try short wins first, since no iterative deepening finds them here as in `Solver`.
            control[SHORT_WINS_FIRST] = game.ply_cost
            if goal == WIN:
                control[LOWER], control[UPPER] = 0, 1
        before = control[NODES]
        finished = solve_root(game, control, arrays)
        nodes[number] += control[NODES] - before
        if not finished:
            return number
        scores[number] = control[LOWER]
    control[SHORT_WINS_FIRST] = 0
    return roots.shape[0]


@kernel("uint64[:,::1], bool[::1]", common=False)
def mark_finished(game: WordGame, states: Any, over: Any) -> Any:
    """Set `over` to True for the states in which the game is over."""
    for row in range(len(states)):
        ended, _value = game.result(game.load(states, row))
        over[row] = ended


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
