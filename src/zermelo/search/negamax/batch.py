"""Kernels that search many states, one after the other: for labels and for learning."""

from typing import Any

from zermelo.core.game import SolverHooks
from zermelo.kernels import kernel
from zermelo.search.negamax.kernel import (
    ALPHA,
    BETA,
    DEPTH,
    GAP,
    GENERATION,
    HIGH,
    HORIZON,
    LEFT,
    LOW,
    NEW,
    NEXT,
    NO_SCORE,
    WIDE,
    forget,
    search,
    solve,
    sooner,
)


@kernel(
    "uint64[:,::1], int64[::1], int64, int64[::1], uint64[:,::1], uint64[:,::1], int64[:,::1], "
    "int64[:,::1], uint64[:,::1], uint64[:,::1], uint64[:,:,::1], float32[::1], float32[:,::1], "
    "uint64[:,::1]",
    common=False,
    bare=True,
)
def solve_each(
    game: SolverHooks,
    roots: Any,  # [root, word], none of them over
    scores: Any,  # [root]
    begin: Any,
    control: Any,
    states: Any,
    keys: Any,
    frames: Any,
    moves: Any,
    replies: Any,
    table: Any,
    turns: Any,
    net: Any,
    room: Any,
    cache: Any,
) -> Any:
    """The scores of the roots from `begin` on, each with a new table and no history.

    Returns how many roots are done: fewer than there are when the node budget is spent, then to
    be called again with that number. The caller sees to it that generations do not run out.
    """
    for number in range(begin, roots.shape[0]):
        if control[DEPTH] == NEW:
            control[GENERATION] += 1
            forget(control, table)
            control[LOW], control[HIGH] = -game.win_score, game.win_score
            control[GAP] = game.win_score - game.max_plies(game.load(roots, number)) - 1
        root = roots[number]
        if not solve(
            game,
            root,
            control,
            states,
            keys,
            frames,
            moves,
            replies,
            table,
            turns,
            net,
            room,
            cache,
        ):
            return number
        scores[number] = control[LOW]
    return roots.shape[0]


@kernel(
    "uint64[:,::1], int64, int64[:,::1], int64[::1], int64[::1], uint64[:,::1], uint64[:,::1], "
    "int64[:,::1], int64[:,::1], uint64[:,::1], uint64[:,::1], uint64[:,:,::1], float32[::1], "
    "float32[:,::1], uint64[:,::1]",
    common=False,
    bare=True,
)
def look_each(
    game: SolverHooks,
    roots: Any,  # [root, word], none of them over
    plies: Any,  # to look ahead, 1 or more
    scores: Any,  # [root, action]: for the side to move at the root
    legal: Any,  # room for the actions of a state
    control: Any,
    states: Any,
    keys: Any,
    frames: Any,
    moves: Any,
    replies: Any,
    table: Any,
    turns: Any,
    net: Any,
    room: Any,
    cache: Any,
) -> Any:
    """The score of every action of every root so many plies ahead, NO_SCORE where illegal.

    For learning: short searches, so the node budget must not run out, nor the generations.
    """
    control[WIDE] = 1
    control[HORIZON] = plies - 1
    for number in range(roots.shape[0]):
        control[GENERATION] += 1
        forget(control, table)
        for action in range(scores.shape[1]):
            scores[number, action] = NO_SCORE
        state = game.load(roots, number)
        for at in range(game.list_moves(state, legal)):
            child = game.play(state, legal[at])
            over, value = game.result(child)
            score = value * game.win_score
            if not over:
                game.store(states, 0, child)
                control[DEPTH] = 0
                frames[0, ALPHA], frames[0, BETA] = -game.win_score - 1, game.win_score + 1
                frames[0, LEFT] = plies - 1
                frames[0, NEXT] = NEW
                _finished, score = search(
                    game,
                    control,
                    states,
                    keys,
                    frames,
                    moves,
                    replies,
                    table,
                    turns,
                    net,
                    room,
                    cache,
                )
            scores[number, legal[at]] = sooner(game, score)
    control[DEPTH] = NEW
    return True
