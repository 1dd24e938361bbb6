"""The kernel of vector environments: one call advances all games by one step.

A step of one game: the agent's action, the opponent's reply, a new game if the old one is over, and
the observation, mask and reward. All functions also run uncompiled.
"""

from typing import Any, NamedTuple

from zermelo.core.bitboard import mix, popcount, scale, word
from zermelo.core.game import WordGame
from zermelo.core.game.traversal import STRIDE
from zermelo.envs.opponents import GREEDY, NO_OPPONENT
from zermelo.kernels.registry import kernel

# Indices into `options`.
OPPONENT = 0  # how the opponent replies: see `zermelo.envs.opponents`
SAME_STEP = 1  # 1: a new game begins in the step that ends the old one; 0: in the next step
ALTERNATE_SEATS = 2  # 1: the agent changes its seat after every game
RESET_ONLY = 3  # 1: begin new games in place of finished ones, and play no action
COUNTS_DISCS = 4  # 1: the greedy opponent maximises the disc difference, not the open lines
HAS_GRAVITY = 5  # 1: a stone falls, so an action does not tell its cell
NUM_OPTIONS = 6

NO_WINNER = -1
# A move's rank is its result, then its points, then its nearness to the centre: see `MoveRank`.
_RESULT_UNIT, _POINT_UNIT = 1 << 40, 1 << 16


class VectorArrays(NamedTuple):
    """The arrays of a batch of games; `options`, `lines`, `distances` and `cells` are constants."""

    options: Any  #: int64 [option]: the indices are above
    lines: Any  #: uint64 [line]: see `GreedyTables`
    distances: Any  #: int64 [action]: see `GreedyTables`
    cells: Any  #: int64 [action]: the cell that an action fills, -1 if none
    states: Any  #: uint64 [env, word]
    rngs: Any  #: uint64 [env]: the states of the random generators
    seats: Any  #: int8 [env]: the player that the agent is; in self-play, the side to move
    over: Any  #: bool [env]: whether the game is over, so that a new one must begin
    observations: Any  #: int8 [env, plane, cell]
    final_observations: Any  #: int8 [env, plane, cell]: with SAME_STEP, those of finished games
    masks: Any  #: int8 [env, action]: all zeros in a finished game
    rewards: Any  #: float64 [env]
    terminations: Any  #: bool [env]
    winners: Any  #: int8 [env]: the player that has won, else NO_WINNER
    illegal: Any  #: bool [env]: whether the agent has lost by an illegal action


#: the numba type of `VectorArrays` as a plain tuple
VECTOR_ARRAYS = (
    "Tuple((int64[::1], uint64[::1], int64[::1], int64[::1], uint64[:,::1], uint64[::1], "
    "int8[::1], bool[::1], int8[:,:,::1], int8[:,:,::1], int8[:,::1], float64[::1], bool[::1], "
    "int8[::1], bool[::1]))"
)


@kernel(f"int64[::1], {VECTOR_ARRAYS}", common=False, bare=True)
def step_games(game: WordGame, actions: Any, packed: Any) -> None:
    """Play one step in every game; `packed` holds the fields of `VectorArrays`."""
    arrays = VectorArrays(*packed)
    for row in range(len(arrays.states)):
        step_game(game, row, int(actions[row]), arrays)


def step_game(game: WordGame, row: Any, action: Any, arrays: Any) -> None:
    """Play one step in the game of this row, and write its observation, mask and reward."""
    options = arrays.options
    state = game.load(arrays.states, row)
    arrays.rewards[row] = 0.0
    arrays.terminations[row] = False
    arrays.winners[row] = NO_WINNER
    arrays.illegal[row] = False
    # 1. Begin a new game, or play the agent's action.
    over, value = False, 0
    is_new = arrays.over[row]
    if is_new:
        state = start_game(game, row, arrays)
    elif options[RESET_ONLY] == 0:
        if is_legal(game, state, action):
            state = game.play(state, action)
            over, value = game.result(state)
        else:
            arrays.illegal[row] = True
            finish_game(row, popcount(state[2]), -1, arrays)
    # 2. The opponent replies until it is the agent's turn. With SAME_STEP, a new game follows.
    while True:
        if over:
            finish_game(row, popcount(state[2]), value, arrays)
            over = False
        if arrays.over[row]:
            if is_new or options[SAME_STEP] == 0:
                break
            write_planes(game, row, state, arrays.final_observations, arrays)
            state = start_game(game, row, arrays)
            is_new = True
        if is_agents_turn(row, state, arrays):
            break
        state = game.play(state, choose_reply(game, row, state, arrays))
        over, value = game.result(state)
    # 3. Write what the agent sees.
    game.store(arrays.states, row, game.as_words(state))
    if options[OPPONENT] == NO_OPPONENT:
        arrays.seats[row] = popcount(state[2])
    write_planes(game, row, state, arrays.observations, arrays)
    write_mask(game, row, state, arrays)


def start_game(game: WordGame, row: Any, arrays: Any) -> Any:
    """Return the initial state of a new game, in which the agent may have another seat."""
    arrays.over[row] = False
    arrays.seats[row] = arrays.seats[row] ^ arrays.options[ALTERNATE_SEATS]
    return game.initial()


def is_agents_turn(row: Any, state: Any, arrays: Any) -> Any:
    """Return whether the agent moves next; in self-play, it always does."""
    if arrays.options[OPPONENT] == NO_OPPONENT:
        return True
    return popcount(state[2]) == arrays.seats[row]


def is_legal(game: WordGame, state: Any, action: Any) -> Any:
    """Return whether an action, which may be any int, is legal in an unfinished state."""
    mask = game.as_mask(game.legal(state))
    if game.is_empty(mask):
        return action == game.num_actions - 1
    # With 65 actions, the mask is one word, and the last action is a forced pass without a bit.
    num_bits = 64 if game.num_actions == 65 else game.num_actions
    if not 0 <= action < num_bits:
        return False
    return game.count_actions(game.with_action(mask, action)) == game.count_actions(mask)


def finish_game(row: Any, player: Any, value: Any, arrays: Any) -> None:
    """Write the end of a game whose value is `value` for `player`."""
    seat = arrays.seats[row]
    arrays.over[row] = True
    arrays.terminations[row] = True
    arrays.rewards[row] = value if player == seat else -value
    if value != 0:
        arrays.winners[row] = player if value > 0 else 1 - player


def choose_reply(game: WordGame, row: Any, state: Any, arrays: Any) -> Any:
    """Return the action of the random or the greedy opponent, which breaks ties at random."""
    rng = word(word(arrays.rngs[row]) + word(STRIDE))
    arrays.rngs[row] = rng
    mask = game.as_mask(game.legal(state))
    if game.is_empty(mask):
        return game.num_actions - 1
    if arrays.options[OPPONENT] == GREEDY:
        mask = best_actions(game, state, mask, arrays)
    return game.select_action(mask, scale(mix(rng), game.count_actions(mask)))


def best_actions(game: WordGame, state: Any, mask: Any, arrays: Any) -> Any:
    """Return the actions of the mask that the greedy player ranks highest, as a mask."""
    best, best_rank = game.no_actions(), -4 * _RESULT_UNIT
    while not game.is_empty(mask):
        action = game.lowest_action(mask)
        mask = game.without_lowest(mask)
        child = game.play(state, action)
        over, value = game.result(child)
        points = count_points(child, arrays)
        rank = points * _POINT_UNIT - arrays.distances[action]
        if over:
            rank += (value if child[2] == state[2] else -value) * _RESULT_UNIT
        if rank > best_rank:
            best, best_rank = game.no_actions(), rank
        if rank == best_rank:
            best = game.with_action(best, action)
    return best


def count_points(child: Any, arrays: Any) -> Any:
    """Return the points of the side that has just moved: its open lines, or its disc difference."""
    if arrays.options[COUNTS_DISCS] == 1:
        return popcount(child[1]) - popcount(child[0])
    points = 0
    for index in range(len(arrays.lines)):
        line = word(arrays.lines[index])
        if line & child[0] == 0 and popcount(line & child[1]) >= 2:
            points += 1
    return points


def write_planes(game: WordGame, row: Any, state: Any, planes: Any, arrays: Any) -> None:
    """Write the observation of a state, seen by the agent; in self-play, by the side to move."""
    mine, theirs = state[0], state[1]
    is_mover = is_agents_turn(row, state, arrays)
    if not is_mover:
        mine, theirs = theirs, mine
    for cell in range(planes.shape[2]):
        planes[row, 0, cell] = (mine >> word(cell)) & word(1)
        planes[row, 1, cell] = (theirs >> word(cell)) & word(1)
    if planes.shape[1] == 4:
        for plane in range(2, 4):
            player = state[2] if (plane == 2) == is_mover else state[2] ^ word(1)
            wins = winning_cells(game, (mine, theirs, player), arrays)
            for cell in range(planes.shape[2]):
                planes[row, plane, cell] = (wins >> word(cell)) & word(1)
            mine, theirs = theirs, mine


def winning_cells(game: WordGame, state: Any, arrays: Any) -> Any:
    """Return the cells where the side to move wins immediately, as a mask."""
    wins = word(0)
    finished, _value = game.result(state)
    mask = game.as_mask(game.legal(state))
    if finished:
        return wins
    while not game.is_empty(mask):
        action = game.lowest_action(mask)
        mask = game.without_lowest(mask)
        child = game.play(state, action)
        over, value = game.result(child)
        if over and (value if child[2] == state[2] else -value) > 0:
            if arrays.options[HAS_GRAVITY] == 1:
                wins = wins | ((child[0] | child[1]) ^ (state[0] | state[1]))
            elif arrays.cells[action] >= 0:
                wins = wins | (word(1) << word(arrays.cells[action]))
    return wins


def write_mask(game: WordGame, row: Any, state: Any, arrays: Any) -> None:
    """Write the mask of the legal actions, which is empty if the game is over."""
    masks, size = arrays.masks, game.num_actions
    for action in range(size):
        masks[row, action] = 0
    if arrays.over[row]:
        return
    legal = game.as_mask(game.legal(state))
    if game.is_empty(legal):
        masks[row, size - 1] = 1
    while not game.is_empty(legal):
        masks[row, game.lowest_action(legal)] = 1
        legal = game.without_lowest(legal)
