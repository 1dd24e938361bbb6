"""The arrays of a search, which the kernels of this package share with their caller.

A kernel returns when its node limit is reached; these arrays hold everything that it needs to
continue.
"""

from typing import Any, NamedTuple

NOT_STARTED = -1  #: frames[ply, NEXT_MOVE] of a state just reached, control[DEPTH] without a search
NO_SCORE = -1 << 15  #: below every score; stands for an illegal action


class SearchArrays(NamedTuple):
    """The arrays of one search.

    Calls from Python pass them as a plain tuple, which numba dispatches faster than a named tuple;
    a kernel unpacks it with `SearchArrays(*packed)`.
    """

    states: Any  #: [ply, word]: the states on the stack; the last word is the mask of moves to try
    keys: Any  #: [ply, word]: the keys of these states in the transposition table
    frames: Any  #: [ply, column]: the columns are ALPHA and so on
    moves: Any  #: [ply, number]: the moves still to be searched, best first
    child_moves: Any  #: [ply, move]: the moves to try after a move
    table: Any  #: [slot, word]: see `transposition_table`
    symmetry_tables: Any  #: [symmetry, byte, value]: see `core.symmetry.byte_tables`
    weights: Any  #: of the network that estimates leaves; empty without a network
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
LOWER, UPPER, GUESS = 3, 4, 5  # bounds of the root's score, and the score that a null window tests
SIGN_ONLY = 6  # 1: only find out whether the root is a win, a draw or a loss
SCORE_GAP = 7  # scores other than 0 are further than this from 0
# 1: one search with the window (LOWER, UPPER), HORIZON plies deep, whose score goes to GUESS;
# a state that had to be estimated sets HIT_HORIZON. 0: null windows, searched to the end.
FIXED_WINDOW, HORIZON, HIT_HORIZON = 8, 9, 10
USE_TABLE, USE_ORDERING = 11, 12
GENERATION = 13  # of table entries
NUM_SLOTS, GROW_AT_NODE = 14, 15  # slots of the table in use, and the node count at which it grows
# Up to SYMMETRY_PLIES plies from the root, states are looked up by their canonical form.
# SYMMETRY_DEPTH is the same, or 0 if no two states below the root can be symmetric.
SYMMETRY_PLIES, SYMMETRY_DEPTH = 16, 17
STACK_OVERFLOW = 18  # set when the stack is too short for another ply
# Estimates of leaves by a network: lookups, cache hits, and the weights of the network and of the
# heuristic in thousandths.
NETWORK_LOOKUPS, CACHE_HITS, NETWORK_WEIGHT, HEURISTIC_WEIGHT = range(19, 23)
# The history heuristic: bit length of the highest count; cutoffs by move at even and at odd plies.
HISTORY_BITS, HISTORY = 23, 24
HISTORY_END = HISTORY + 2 * 64
NUM_CONTROLS = HISTORY_END
