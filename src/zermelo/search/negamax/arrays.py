"""The arrays of a search: what the kernels of this package share with their caller.

A kernel returns when its node limit is reached, and everything that it needs to continue is in
these arrays.
"""

from typing import Any, NamedTuple

NOT_STARTED = -1  #: frames[ply, NEXT_MOVE] of a state just reached, control[DEPTH] without a search
NO_SCORE = -1 << 15  #: below every score: for actions that are not legal


class SearchArrays(NamedTuple):
    """The arrays of one search.

    Calls from Python pass them as a plain tuple, which numba dispatches faster than a named one;
    a kernel unpacks it with `SearchArrays(*packed)`.
    """

    states: Any  #: [ply, word]: the states on the stack; the last word has the moves to try
    keys: Any  #: [ply, word]: their keys in the transposition table
    frames: Any  #: [ply, column]: see ALPHA and so on
    moves: Any  #: [ply, number]: the moves still to be searched, best first
    child_moves: Any  #: [ply, move]: the moves to try after a move
    table: Any  #: [slot, word]: see `transposition_table`
    symmetry_tables: Any  #: [symmetry, byte, value]: see `core.symmetry.byte_tables`
    weights: Any  #: of the network that estimates leaves; empty without one
    layers: Any  #: scratch memory for the layers of the network
    estimates: Any  #: [slot, word]: a cache of states, each with its estimate


#: the numba type of `SearchArrays` as a plain tuple
SEARCH_ARRAYS = (
    "Tuple((uint64[:,::1], uint64[:,::1], int64[:,::1], int64[:,::1], uint64[:,::1], "
    "uint64[:,::1], uint64[:,:,::1], float32[::1], float32[:,::1], uint64[:,::1]))"
)

# Columns of `frames`, one row for each ply of the stack.
ALPHA, BETA, BEST, BEST_MOVE = range(4)
NUM_MOVES, NEXT_MOVE, CURRENT_MOVE = range(4, 7)
LOWER_BOUND, UPPER_BOUND = range(7, 9)  # of the score, whatever the window
PLIES_LEFT = 9  # to the horizon
NUM_COLUMNS = 10

# Entries of `control`.
DEPTH = 0  # of the stack, NOT_STARTED between two searches
NODES, NODE_LIMIT = 1, 2
LOWER, UPPER, GUESS = 3, 4, 5  # bounds of the root's score, and the score asked about
SIGN_ONLY = 6  # 1: to find out whether the root is a win, a draw or a loss is enough
SCORE_GAP = 7  # scores other than 0 are at least this far from 0, exclusive
# 1: one search with the window (LOWER, UPPER), HORIZON plies deep, whose score goes to GUESS;
# a state that had to be estimated sets HIT_HORIZON. 0: null windows, searched to the end.
FIXED_WINDOW, HORIZON, HIT_HORIZON = 8, 9, 10
USE_TABLE, USE_ORDERING = 11, 12
GENERATION = 13  # of table entries
NUM_SLOTS, GROW_AT_NODE = 14, 15  # slots of the table in use, and when there will be more
# Up to SYMMETRY_PLIES from the root states are looked up by their canonical form; SYMMETRY_DEPTH
# is the same, or 0 where no two states below the root can be symmetric.
SYMMETRY_PLIES, SYMMETRY_DEPTH = 16, 17
STACK_OVERFLOW = 18  # set when the stack is too short for another ply
# Estimates of leaves by a network: lookups, cache hits, and the weights of the network and of the
# heuristic in thousandths.
NETWORK_LOOKUPS, CACHE_HITS, NETWORK_WEIGHT, HEURISTIC_WEIGHT = range(19, 23)
# The history heuristic: cutoffs by move, at even and at odd plies; the bits of the highest count.
HISTORY_BITS, HISTORY = 23, 24
HISTORY_END = HISTORY + 2 * 64
NUM_CONTROLS = HISTORY_END
