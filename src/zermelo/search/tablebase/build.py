"""Build a tablebase: list all states breadth-first, then score them by retrograde analysis.

The states are in a queue, with a hash index. During the build a win in n plies scores
_WIN_SCORE - n, which may differ from the scores of the game's solver.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from zermelo.core.bitboard import sign
from zermelo.core.errors import TooLarge
from zermelo.core.game import SolverHooks, WordGame
from zermelo.kernels.compiler import compile_kernel
from zermelo.kernels.registry import kernel
from zermelo.search.state_keys import build_symmetry_tables, canonical_state, find_index_slot

if TYPE_CHECKING:
    from numpy.typing import NDArray

MAX_CODE = (1 << 15) - 1
_SLICE = 1 << 13  # states between two checks of the limit and updates of the progress bar
_WIN_SCORE = 1 << 30
_UNKNOWN = -(1 << 31)

Progress = Callable[[int, int], None]  #: called with (states scored, states found)


def solve_all_states(
    game: WordGame, max_states: int, progress: Progress | None = None
) -> tuple["NDArray[Any]", "NDArray[Any]"]:
    """Solve a game; return all its canonical states and their scores.

    The states are an array [word, state] in ascending order. The scores are codes (see
    `tablebase`).

    Raise TooLarge if there are more than `max_states` states, if a game can be endless, or if a
    score does not fit into a code.
    """
    import numpy as np

    tables = build_symmetry_tables(game.symmetries())
    states, slots = _find_states(game, tables, max_states, progress)
    codes = _to_codes(game, _score_all(game, states, slots, tables, progress))
    del slots
    order = np.lexsort(states.T[::-1])
    return np.ascontiguousarray(states[order].T), codes[order]


def _find_states(
    game: WordGame, tables: "NDArray[Any]", max_states: int, progress: Progress | None
) -> tuple["NDArray[Any]", "NDArray[Any]"]:
    """Return all states in breadth-first order [state, word], and their hash index."""
    import numpy as np

    run = compile_kernel(append_children, game)
    states = np.array([canonical_state(game, game.initial(), tables)], np.uint64)
    slots = np.zeros(2, np.int32)
    begin, num_indexed, used = 0, 0, 1
    while begin < used:
        end = min(begin + _SLICE, used)
        most = used + (end - begin) * game.num_actions
        if most > len(states):
            larger = np.empty((2 * most, game.num_words), np.uint64)
            larger[:used] = states[:used]
            states = larger
        if 2 * most > len(slots):
            slots, num_indexed = np.zeros(4 * most, np.int32), 0
        num_indexed = used = run(states, slots, num_indexed, used, begin, end, tables)
        begin = end
        if used > max_states:
            msg = f"{game.spec} has more than {max_states:,} states: too many for a tablebase"
            raise TooLarge(msg)
        if progress:
            progress(0, used)
    return states[:used], slots


def _score_all(
    game: WordGame,
    states: "NDArray[Any]",
    slots: "NDArray[Any]",
    tables: "NDArray[Any]",
    progress: Progress | None,
) -> "NDArray[Any]":
    """Return the score of every state."""
    import numpy as np

    run = compile_kernel(score_states, game.hooks)
    scores = np.full(len(states), _UNKNOWN, np.int32)
    stack = np.zeros(MAX_CODE, np.int32)
    if game.hooks.ply_cost == 0:
        compile_kernel(score_finished_states, game.hooks)(states, scores)
    for end in range(len(states), 0, -_SLICE):
        begin = max(end - _SLICE, 0)
        if not run(states, slots, scores, begin, end, stack, tables):
            msg = f"{game.spec} has endless games, or games of more than {MAX_CODE:,} plies"
            raise TooLarge(msg)
        if progress:
            progress(len(states) - begin, len(states))
    return scores


def _to_codes(game: WordGame, scores: "NDArray[Any]") -> "NDArray[Any]":
    """Convert scores to codes; raise TooLarge if a score does not fit into a code."""
    import numpy as np

    if game.hooks.ply_cost:
        scores = np.sign(scores) * (_WIN_SCORE + 1 - np.abs(scores))
    if np.abs(scores).max() > MAX_CODE:
        unit = "plies to the end" if game.hooks.ply_cost else "points"
        msg = f"{game.spec} has states with more than {MAX_CODE:,} {unit}: too many for a tablebase"
        raise TooLarge(msg)
    return scores.astype(np.int16)


@kernel("uint64[:,::1], int32[::1], int64, int64, int64, int64, uint64[:,:,::1]")
def append_children(
    game: WordGame,
    states: Any,  # [state, word]: the queue
    slots: Any,  # the index: see `find_index_slot`
    num_indexed: Any,
    used: Any,
    begin: Any,
    end: Any,
    symmetry_tables: Any,
) -> Any:
    """Append the new children of states[begin:end] to the queue states[:used]; return its length.

    The index holds the first `num_indexed` states of the queue; the others are added to it first.
    The caller must provide enough room in both arrays.
    """
    for row in range(num_indexed, used):
        slots[find_index_slot(game, states, slots, game.load(states, row))] = row + 1
    for row in range(begin, end):
        state = game.load(states, row)
        over, _value = game.result(state)
        if over:
            continue
        mask = game.as_mask(game.legal(state))
        action = game.num_actions - 1
        is_pass = game.is_empty(mask)
        while is_pass or not game.is_empty(mask):
            if not is_pass:
                action = game.lowest_action(mask)
                mask = game.without_lowest(mask)
            is_pass = False
            child = canonical_state(game, game.play(state, action), symmetry_tables)
            slot = find_index_slot(game, states, slots, child)
            if slots[slot] == 0:
                game.store(states, used, child)
                used += 1
                slots[slot] = used
    return used


@kernel("uint64[:,::1], int32[::1], int32[::1], int64, int64, int32[::1], uint64[:,:,::1]")
def score_states(
    game: SolverHooks,
    states: Any,  # [state, word]: the queue
    slots: Any,  # the index: see `find_index_slot`
    scores: Any,  # [state]
    begin: Any,
    end: Any,
    stack: Any,
    symmetry_tables: Any,
) -> Any:
    """Score the states of states[begin:end] that are still unknown, from the last one to the first.

    Most children come after their parents in the queue and are already scored. A child that comes
    earlier, because a shorter path leads to it, is scored before its parent. Return False if a
    chain of such children is longer than `stack`, which happens if a state can recur.
    """
    for start in range(end - 1, begin - 1, -1):
        stack[0] = start
        depth = 0 if scores[start] != _UNKNOWN else 1
        while depth > 0:
            state = game.load(states, stack[depth - 1])
            over, value = game.result(state)
            best = value * _WIN_SCORE if over else -_WIN_SCORE
            mask = game.as_mask(game.legal(state))
            action = game.num_actions - 1
            is_pass = game.is_empty(mask) and not over
            unknown_row = -1
            while not over and unknown_row < 0 and (is_pass or not game.is_empty(mask)):
                if not is_pass:
                    action = game.lowest_action(mask)
                    mask = game.without_lowest(mask)
                is_pass = False
                child = canonical_state(game, game.play(state, action), symmetry_tables)
                row = slots[find_index_slot(game, states, slots, child)] - 1
                score = int(scores[row])
                if score == _UNKNOWN:
                    unknown_row = row
                else:
                    score = score - game.ply_cost * sign(score)
                    best = max(best, game.turn_sign(state, child) * score)
            if unknown_row < 0:
                depth -= 1
                scores[stack[depth]] = best
            elif depth == len(stack):
                return False
            else:
                stack[depth] = unknown_row
                depth += 1
    return True


@kernel("uint64[:,::1], int32[::1]")
def score_finished_states(game: SolverHooks, states: Any, scores: Any) -> Any:
    """Score the finished states of a game whose scores are points, such as Reversi."""
    for row in range(len(states)):
        state = game.load(states, row)
        over, _value = game.result(state)
        if over:
            _known, score, _moves = game.resolve(state)
            scores[row] = score
    return 0
