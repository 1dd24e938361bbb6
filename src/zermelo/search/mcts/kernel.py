"""Kernels of Monte Carlo tree search on arrays: selection, expansion, evaluation, backpropagation.

The children of a node are adjacent. `stats` holds only what selection reads: the mean value and
an exploration term, both updated in backpropagation. Selection takes the child with the largest
`mean + k * exploration`, where

- with rollouts (UCT, Kocsis & Szepesvári 2006)
  exploration = 1 / sqrt(visits), k = c * sqrt(ln(parent visits))
- with an evaluator (PUCT, Silver et al. 2018)
  exploration = prior / (1 + visits), k = c * sqrt(parent visits)

All values of a node are for the player who moved into it. In games that do not alternate,
nodes[KEEPS_TURN] tells whether that player is also to move in the node. With USE_SOLVER, proven
values are propagated (MCTS-Solver, Winands et al. 2008): a node is proven when one child is a win
for the side to move at the node, or when all its children are proven. With ALL_MOVES the search
continues until every move of the root is proven.
"""

from typing import Any

import numpy as np

from zermelo.core.bitboard import mix, scale, word
from zermelo.core.game import BoardGame, SolverHooks
from zermelo.core.game.traversal import STRIDE
from zermelo.kernels.registry import kernel

# Columns of `nodes`.
VISITS, VALUE_SUM, PARENT, FIRST_CHILD, NUM_CHILDREN, NUM_VISITED, NUM_UNPROVEN, PROOF = range(8)
NUM_COLUMNS = 8
KEEPS_TURN = 8  # an additional column in games whose sides do not alternate
# Columns of `stats`.
MEAN, EXPLORATION = range(2)
# nodes[PROOF]: the proven value for the player who moved into the node.
UNPROVEN, LOSS, DRAW, WIN = range(4)
# Entries of `control`.
NUM_NODES, SIMULATIONS, BUDGET, USE_SOLVER, ALL_MOVES, IS_FULL = range(6)
NUM_CONTROLS = 6
ROOT = 0
VALUE_SCALE = 1 << 10  # an evaluator's values are summed as integers, in units of 1 / VALUE_SCALE
_LOSS_MEAN = -1e9  # the mean of a proven loss, so that it is never selected


@kernel(
    "int64[::1], uint64[::1], float64, uint64[:,::1], uint8[::1], int64[::1], "
    "int32[:,::1], float32[:,::1], int16[::1]"
)
def simulate(
    game: SolverHooks | BoardGame,
    control: Any,
    rng: Any,  # [1]: the state of the random generator
    c: Any,  # the exploration constant
    roots: Any,
    room: Any,
    moves: Any,
    nodes: Any,
    stats: Any,
    actions: Any,  # [node]: the action that leads to the node
) -> Any:
    """Run simulations until the budget is spent, the search is finished or the arrays are full.

    If the arrays are full, control[IS_FULL] is set: call again with larger arrays, or with the same
    arrays to continue without expanding nodes.
    """
    use_solver = control[USE_SOLVER] != 0
    while control[SIMULATIONS] < control[BUDGET] and not is_finished(control, nodes):
        if control[NUM_NODES] + len(moves) > len(nodes) and control[IS_FULL] == 0:
            control[IS_FULL] = 1
            return
        node = ROOT
        state = game.load_root(roots, 0, room)
        # 1. Selection. A node is expanded at its second visit.
        while nodes[node, VISITS] > 0 and (nodes[node, PROOF] == UNPROVEN or node == ROOT):
            if nodes[node, NUM_CHILDREN] == 0:
                if control[IS_FULL] != 0:
                    break
                if use_solver and node != ROOT:
                    count = game.list_candidates(state, moves)
                else:
                    count = game.list_moves(state, moves)
                add_children(node, count, moves, control, nodes, actions)
            if nodes[node, NUM_VISITED] < nodes[node, NUM_CHILDREN]:
                node = visit_new_child(node, rng, nodes, actions)
            else:
                skip_proven = node == ROOT and control[ALL_MOVES] != 0
                weight = c * np.sqrt(np.log(nodes[node, VISITS]))
                node = select_child(node, weight, skip_proven, nodes, stats)
            state = follow(game, state, node, nodes, actions)
        # 2. Evaluation: the proven value, or a random playout.
        if nodes[node, VISITS] == 0 and node != ROOT:
            resolve_leaf(game, node, state, use_solver, nodes, stats)
        if nodes[node, PROOF] != UNPROVEN:
            value = int(nodes[node, PROOF]) - DRAW
        else:
            value, rng[0], _steps = game.play_out(state, word(rng[0]), moves)
            value = value if keeps_turn(game, node, nodes) else -value
        # 3. Backpropagation, with the sign flipped whenever the turn passes.
        while node >= ROOT:
            visits = nodes[node, VISITS] + 1
            nodes[node, VISITS] = visits
            nodes[node, VALUE_SUM] += value
            if nodes[node, PROOF] == UNPROVEN:
                stats[node, MEAN] = np.float32(nodes[node, VALUE_SUM]) / np.float32(visits)
                stats[node, EXPLORATION] = np.float32(1.0) / np.sqrt(np.float32(visits))
            node = nodes[node, PARENT]
            if node >= ROOT and not keeps_turn(game, node, nodes):
                value = -value
        control[SIMULATIONS] += 1


@kernel(
    "int64[::1], float64, uint64[:,::1], uint8[::1], int32[:,::1], float32[:,::1], int16[::1], "
    "float32[::1], uint64[:,::1], int64[::1]",
    common=False,
)
def select_leaves(
    game: SolverHooks | BoardGame,
    control: Any,
    c: Any,
    roots: Any,
    room: Any,
    nodes: Any,
    stats: Any,
    actions: Any,
    priors: Any,
    leaves: Any,  # [leaf, word]: the states to evaluate
    leaf_nodes: Any,  # [leaf]: the nodes of these states
) -> Any:
    """Select a batch of leaves for the evaluator and return their number.

    The batch is smaller when the budget is spent, the search is finished, a leaf is selected twice,
    or most descents end at proven nodes. Until its leaf is evaluated, a descent counts as a loss
    (virtual loss), so that the next descent takes another path.
    """
    use_solver = control[USE_SOLVER] != 0
    num_leaves = 0
    last = min(control[BUDGET], control[SIMULATIONS] + 16 * len(leaf_nodes))
    while (
        num_leaves < len(leaf_nodes)
        and control[SIMULATIONS] < last
        and not is_finished(control, nodes)
    ):
        node = ROOT
        state = game.load_root(roots, 0, room)
        while nodes[node, NUM_CHILDREN] > 0 and (nodes[node, PROOF] == UNPROVEN or node == ROOT):
            skip_proven = node == ROOT and control[ALL_MOVES] != 0
            weight = c * np.sqrt(nodes[node, VISITS])
            node = select_child(node, weight, skip_proven, nodes, stats)
            state = follow(game, state, node, nodes, actions)
        if nodes[node, VISITS] == 0 and node != ROOT:
            resolve_leaf(game, node, state, use_solver, nodes, stats)
        if nodes[node, PROOF] != UNPROVEN:
            value = VALUE_SCALE * (int(nodes[node, PROOF]) - DRAW)
            backpropagate(game, node, 1, value, 0, nodes, stats, priors)
        elif nodes[node, VISITS] > 0:
            return num_leaves
        else:
            game.store_root(leaves, num_leaves, state)
            leaf_nodes[num_leaves] = node
            num_leaves += 1
            backpropagate(game, node, 1, 0, -VALUE_SCALE, nodes, stats, priors)
        control[SIMULATIONS] += 1
    return num_leaves


@kernel(
    "int64[::1], uint8[::1], int64[::1], int32[:,::1], float32[:,::1], int16[::1], "
    "float32[::1], uint64[:,::1], int64[::1], int64, float32[:,::1], float32[::1]",
    common=False,
)
def expand_leaves(
    game: SolverHooks | BoardGame,
    control: Any,
    room: Any,
    moves: Any,
    nodes: Any,
    stats: Any,
    actions: Any,
    priors: Any,
    leaves: Any,
    leaf_nodes: Any,
    num_leaves: Any,
    policy: Any,  # [leaf, action]: non-negative, not normalised
    values: Any,  # [leaf]: for the side to move in the leaf
) -> Any:
    """Expand the selected leaves with the evaluator's policy and backpropagate its values."""
    use_solver = control[USE_SOLVER] != 0
    for leaf in range(num_leaves):
        node = leaf_nodes[leaf]
        state = game.load_root(leaves, leaf, room)
        if use_solver and node != ROOT:
            count = game.list_candidates(state, moves)
        else:
            count = game.list_moves(state, moves)
        add_children(node, count, moves, control, nodes, actions)
        nodes[node, NUM_VISITED] = count
        policy_sum = 0.0
        for move in range(count):
            policy_sum += float(policy[leaf, moves[move]])
        for move in range(count):
            child = nodes[node, FIRST_CHILD] + move
            reset_node(child, node, nodes)
            prior = (
                float(policy[leaf, moves[move]]) / policy_sum if policy_sum > 0.0 else 1.0 / count
            )
            priors[child] = prior
            stats[child, MEAN] = values[leaf]  # the parent's value, until the child is visited
            stats[child, EXPLORATION] = prior
        value = round(-VALUE_SCALE * float(values[leaf]))
        if keeps_turn(game, node, nodes):
            value = -value
        backpropagate(game, node, 0, value, VALUE_SCALE, nodes, stats, priors)


def follow(game: SolverHooks | BoardGame, state: Any, node: Any, nodes: Any, actions: Any) -> Any:
    """Return the state of a node, given its parent's; record whether the same side moves again."""
    if game.is_alternating:
        return game.step(state, int(actions[node]))
    mover = game.mover(state)
    state = game.step(state, int(actions[node]))
    nodes[node, KEEPS_TURN] = 1 if game.mover(state) == mover else 0
    return state


def keeps_turn(game: SolverHooks | BoardGame, node: Any, nodes: Any) -> Any:
    """Return whether the player who moved into a node is also to move in it."""
    if game.is_alternating:
        return False
    return nodes[node, KEEPS_TURN] != 0


def backpropagate(
    game: SolverHooks | BoardGame,
    node: Any,
    visits: Any,
    value: Any,
    penalty: Any,
    nodes: Any,
    stats: Any,
    priors: Any,
) -> None:
    """Add visits, a penalty and a value to a node and its ancestors.

    The value changes its sign whenever the turn passes.
    """
    while node >= ROOT:
        nodes[node, VISITS] += visits
        nodes[node, VALUE_SUM] += value + penalty
        if nodes[node, PROOF] == UNPROVEN:
            total_visits = np.float32(nodes[node, VISITS])
            stats[node, MEAN] = np.float32(nodes[node, VALUE_SUM]) / (
                total_visits * np.float32(VALUE_SCALE)
            )
            stats[node, EXPLORATION] = priors[node] / (total_visits + np.float32(1.0))
        node = nodes[node, PARENT]
        if node >= ROOT and not keeps_turn(game, node, nodes):
            value = -value


def is_finished(control: Any, nodes: Any) -> Any:
    """Return whether the root is proven and, with ALL_MOVES, all its moves are proven as well."""
    if control[USE_SOLVER] == 0 or nodes[ROOT, PROOF] == UNPROVEN:
        return False
    return control[ALL_MOVES] == 0 or nodes[ROOT, NUM_UNPROVEN] == 0


def resolve_leaf(
    game: SolverHooks | BoardGame, node: Any, state: Any, use_solver: Any, nodes: Any, stats: Any
) -> None:
    """Mark a new node as proven if the game is over or its value is known without search."""
    known, value = game.current_result(state)
    if not known and use_solver:
        known, value = game.resolve_value(state)
    if known:
        if keeps_turn(game, node, nodes):
            value = -value
        nodes[node, PROOF] = DRAW - value
        stats[node, MEAN] = -value
        stats[node, EXPLORATION] = 0
        if use_solver:
            propagate_proof(game, node, nodes, stats)


def add_children(node: Any, count: Any, moves: Any, control: Any, nodes: Any, actions: Any) -> None:
    """Reserve a child node for each listed move; `reset_node` must initialise it later."""
    first = control[NUM_NODES]
    for child in range(count):
        actions[first + child] = moves[child]
    nodes[node, FIRST_CHILD] = first
    nodes[node, NUM_CHILDREN] = count
    nodes[node, NUM_UNPROVEN] = count
    control[NUM_NODES] = first + count


def visit_new_child(node: Any, rng: Any, nodes: Any, actions: Any) -> Any:
    """Choose a random unvisited child, move it directly after the visited ones and return it."""
    visited = nodes[node, NUM_VISITED]
    child = nodes[node, FIRST_CHILD] + visited
    rng[0] = word(word(rng[0]) + word(STRIDE))
    other = child + scale(mix(word(rng[0])), int(nodes[node, NUM_CHILDREN] - visited))
    action = actions[other]
    actions[other] = actions[child]
    actions[child] = action
    reset_node(child, node, nodes)
    nodes[node, NUM_VISITED] = visited + 1
    return child


def reset_node(child: Any, parent: Any, nodes: Any) -> None:
    """Initialise a child that has not been visited."""
    nodes[child, VISITS] = 0
    nodes[child, VALUE_SUM] = 0
    nodes[child, PARENT] = parent
    nodes[child, FIRST_CHILD] = 0
    nodes[child, NUM_CHILDREN] = 0
    nodes[child, NUM_VISITED] = 0
    nodes[child, NUM_UNPROVEN] = 0
    nodes[child, PROOF] = UNPROVEN


def select_child(node: Any, k: Any, skip_proven: Any, nodes: Any, stats: Any) -> Any:
    """Return the child with the largest `mean + k * exploration`, the first one in a tie.

    With `skip_proven` a proven child is selected only if all children are proven.
    """
    weight = np.float32(k)
    best = nodes[node, FIRST_CHILD]
    best_score = np.float32(-np.inf)
    for child in range(
        nodes[node, FIRST_CHILD], nodes[node, FIRST_CHILD] + nodes[node, NUM_CHILDREN]
    ):
        score = stats[child, MEAN] + weight * stats[child, EXPLORATION]
        if score > best_score and not (skip_proven and nodes[child, PROOF] != UNPROVEN):
            best, best_score = child, score
    return best


def propagate_proof(game: SolverHooks | BoardGame, node: Any, nodes: Any, stats: Any) -> None:
    """Mark the ancestors of a proven node as proven; stop at the first one that is still open."""
    while node != ROOT:
        proof = nodes[node, PROOF]
        stats[node, MEAN] = _LOSS_MEAN if proof == LOSS else np.float32(proof - DRAW)
        stats[node, EXPLORATION] = 0
        parent = nodes[node, PARENT]
        nodes[parent, NUM_UNPROVEN] -= 1
        if proof == WIN:
            nodes[parent, PROOF] = WIN if keeps_turn(game, parent, nodes) else LOSS
        elif nodes[parent, NUM_UNPROVEN] == 0:
            best = LOSS
            for child in range(
                nodes[parent, FIRST_CHILD], nodes[parent, FIRST_CHILD] + nodes[parent, NUM_CHILDREN]
            ):
                best = max(best, nodes[child, PROOF])
            nodes[parent, PROOF] = best if keeps_turn(game, parent, nodes) else WIN + LOSS - best
        else:
            return
        node = parent


@kernel(
    "int64, int32[:,::1], float32[:,::1], int16[::1], float32[::1], int32[:,::1], "
    "float32[:,::1], int16[::1], float32[::1]"
)
def copy_subtree(
    _game: SolverHooks | BoardGame,
    root: Any,
    nodes: Any,
    stats: Any,
    actions: Any,
    priors: Any,
    new_nodes: Any,
    new_stats: Any,
    new_actions: Any,
    new_priors: Any,
) -> Any:
    """Copy a node's subtree into other arrays, with the node as root; return the number of nodes.

    Nodes are copied breadth-first, since children must be contiguous: FIRST_CHILD of a copied node
    refers to the old arrays until its own children are copied. For unvisited children, only
    the action is copied.
    """
    new_nodes[ROOT] = nodes[root]
    new_stats[ROOT] = stats[root]
    new_priors[ROOT] = priors[root]
    new_nodes[ROOT, PARENT] = -1
    size, node = 1, ROOT
    while node < size:
        old_first = new_nodes[node, FIRST_CHILD]
        new_nodes[node, FIRST_CHILD] = size
        for child in range(new_nodes[node, NUM_CHILDREN]):
            new_actions[size + child] = actions[old_first + child]
            if child < new_nodes[node, NUM_VISITED]:
                new_nodes[size + child] = nodes[old_first + child]
                new_nodes[size + child, PARENT] = node
                new_stats[size + child] = stats[old_first + child]
                new_priors[size + child] = priors[old_first + child]
            else:
                reset_node(size + child, node, new_nodes)
        size += new_nodes[node, NUM_CHILDREN]
        node += 1
    return size
