"""The arrays of a search, which the kernels of this package share with their caller.

A kernel returns when its node limit is reached; these arrays hold everything that it needs to
continue in the next call.
"""

from typing import Any, NamedTuple

#: the value of frames[ply, NEXT_MOVE] in a new state, and of control[DEPTH] between two searches
NOT_STARTED = -1
NO_SCORE = -1 << 15  #: the score of an illegal action; lower than every other score


class SearchArrays(NamedTuple):
    """The arrays of one search.

    Calls from Python pass them as a plain tuple, which numba dispatches faster than a named tuple;
    a kernel unpacks it with `SearchArrays(*packed)`.
    """

    states: Any  #: [ply, word]: the states on the stack, each followed by the mask of moves to try
    keys: Any  #: [ply, word]: the keys of these states in the transposition table
    frames: Any  #: [ply, column]: the columns are defined below, from ALPHA on
    moves: Any  #: [ply, number]: the moves to search, coded with their ranks, best first
    child_moves: Any  #: [ply, move and word]: the masks of the moves to try after each move
    table: Any  #: [slot, word]: see `transposition_table`
    symmetry_tables: Any  #: [symmetry, byte, value]: see `core.symmetry.byte_tables`
    weights: Any  #: the weights of the network that estimates leaves; empty if there is none
    layers: Any  #: scratch memory for the layers of the network
    estimates: Any  #: [slot, word]: a cache of states, each with its estimate


#: the numba type of `SearchArrays` as a plain tuple
SEARCH_ARRAYS = (
    "Tuple((uint64[:,::1], uint64[:,::1], int64[:,::1], int64[:,::1], uint64[:,::1], "
    "uint64[:,::1], uint64[:,:,::1], float32[::1], float32[:,::1], uint64[:,::1]))"
)

# The columns of `frames`, which has one row for each ply of the stack.
ALPHA, BETA, BEST, BEST_MOVE = range(4)
NUM_MOVES, NEXT_MOVE, CURRENT_MOVE = range(4, 7)
LOWER_BOUND, UPPER_BOUND = range(7, 9)  # bounds of the score, independent of the window
PLIES_LEFT = 9  # plies from this state to the horizon
NUM_COLUMNS = 10

# Indices into `control`.
DEPTH = 0  # the current ply of the stack; NOT_STARTED between two searches
NODES, NODE_LIMIT = 1, 2
LOWER, UPPER, GUESS = 3, 4, 5  # bounds of the root's score; the score tested by a null window
SIGN_ONLY = 6  # 1: only find out whether the root is a win, a draw or a loss
SCORE_GAP = 7  # every score other than 0 has an absolute value above this
# If FIXED_WINDOW is 1, there is one search with the window (LOWER, UPPER), HORIZON plies deep. Its
# score is written to GUESS, and HIT_HORIZON is set if a state had to be estimated. If FIXED_WINDOW
# is 0, null windows are searched to the end of the game.
FIXED_WINDOW, HORIZON, HIT_HORIZON = 8, 9, 10
USE_TABLE, USE_ORDERING = 11, 12
GENERATION = 13  # the current generation of table entries
NUM_SLOTS, GROW_AT_NODE = 14, 15  # table slots in use; the node count at which the table grows
# Up to SYMMETRY_PLIES plies from the root, states are looked up by their canonical form.
# SYMMETRY_DEPTH equals SYMMETRY_PLIES, or 0 if no two states below the root can be symmetric.
SYMMETRY_PLIES, SYMMETRY_DEPTH = 16, 17
STACK_OVERFLOW = 18  # set when the stack is too short for another ply
# For estimates of leaves by a network: the number of lookups, the number of cache hits, and the
# weights of the network and of the heuristic in thousandths.
NETWORK_LOOKUPS, CACHE_HITS, NETWORK_WEIGHT, HEURISTIC_WEIGHT = range(19, 23)
PEAK_SLOTS = 23  # the largest number of table slots that were ever in use
SHORT_WINS_FIRST = 24  # 1: search for short wins and losses first, in every game
# The history heuristic: the bit length of the highest count, and from HISTORY on the number of
# cutoffs by each move, first at even plies, then at odd plies.
HISTORY_BITS, HISTORY = 25, 26
HISTORY_END = HISTORY + 2 * 64 + 1  # a forced pass may have the index 64, at odd plies too
NUM_CONTROLS = HISTORY_END
