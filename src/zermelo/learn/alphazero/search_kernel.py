"""AlphaZero's search as kernels: they grow a batch of trees until each waits for the network.

This is the same search as in `search_gpu`, tree by tree. A simulation descends to a leaf. If the
leaf's value is known, the value is backed up at once, and the next simulation begins. Any other
leaf waits until the network evaluates it together with the leaves of the other trees.

If only one reply to a move is worth trying (see `resolve`), the move's edge leads to the state
after the reply, so no simulation is spent on the reply.
"""

from typing import Any

import numpy as np

from zermelo.core.game import SolverHooks
from zermelo.kernels.registry import kernel
from zermelo.learn.alphazero.search_parameters import C_SCALE, C_VISIT, UNPROVEN
from zermelo.learn.alphazero.selection import (
    ACTION,
    CHILD,
    FIRST_EDGE,
    LOGIT,
    NEXT_EDGE,
    NUM_EDGES,
    NUM_NODES,
    NUM_SIMULATIONS,
    PATH_LENGTH,
    PRIOR,
    PROVEN,
    ROOT_PROVEN,
    SIGN,
    TREE_ARRAYS,
    VALUE,
    VALUE_SUM,
    VISITS,
    TreeArrays,
    completed_value,
    improved_logit,
    is_playable,
    min_playable_value,
    select_by_halving,
    select_by_policy,
    select_by_puct,
    summarize_node,
)
from zermelo.learn.batch.planes import write_planes

# Indices into the array `control`.
MAX_SIMULATIONS, NUM_CONSIDERED, USE_PUCT = range(3)
NUM_CONTROLS = 3


@kernel(f"int64, int64, {TREE_ARRAYS}", common=False)
def reset_trees(game: SolverHooks, num_trees: Any, room: Any, packed: Any) -> None:
    """Reset every tree to its root, which then waits for the network.

    The root states are already in `states`. If a root has immediately winning moves, only these are
    kept. If its value is known for another reason, all legal moves are kept, because a known value
    does not tell which move achieves it.
    """
    arrays = TreeArrays(*packed)
    trees = arrays.trees
    edges_per_tree = room * game.num_actions
    for row in range(num_trees):
        state = game.load(arrays.states, row * room)
        known, value, mask = resolve(game, state)
        if known:
            mask = game.as_mask(game.legal(state))
            wins = winning_actions(game, state, mask)
            if not game.is_empty(wins):
                mask = wins
        trees[row, NUM_NODES] = 0
        trees[row, NEXT_EDGE] = row * edges_per_tree
        trees[row, NUM_SIMULATIONS] = 0
        trees[row, PATH_LENGTH] = 0
        trees[row, ROOT_PROVEN] = value if known else UNPROVEN
        add_node(game, row, room, mask, arrays)
        write_planes(game, state, row, arrays.planes)
        arrays.leaf_trees[row] = row


@kernel(
    "int64, int64, int64[::1], int64[:,::1], float32[:,::1], "
    f"{TREE_ARRAYS}, float32[:,:], float32[:]",
    common=False,
)
def simulate(
    game: SolverHooks,
    num_leaves: Any,
    room: Any,
    control: Any,
    halving: Any,  # [actions considered, simulation]: number of visits of the action to select
    noise: Any,  # [tree, action]
    packed: Any,
    logits: Any,  # [leaf, action]: output of the network
    values: Any,  # [leaf]: output of the network, for the side to move
) -> Any:
    """Expand the waiting leaves, and simulate until each tree waits again or is finished.

    Return the number of waiting trees.
    """
    arrays = TreeArrays(*packed)
    trees, edges = arrays.trees, arrays.edges
    num_waiting = 0
    for leaf in range(num_leaves):
        row = arrays.leaf_trees[leaf]
        new = row * room + trees[row, NUM_NODES] - 1
        arrays.raw_values[new] = values[leaf]
        expand_node(new, leaf, arrays, logits)
        back_up(row, values[leaf], arrays)
        while trees[row, NUM_SIMULATIONS] < control[MAX_SIMULATIONS]:
            trees[row, NUM_SIMULATIONS] += 1
            node, edge = descend(row, room, control, halving, noise, arrays)
            if edges[edge, PROVEN] == UNPROVEN and edges[edge, CHILD] == 0:
                parent = game.load(arrays.states, node)
                state = game.as_words(game.play(parent, int(edges[edge, ACTION])))
                known, value, mask = resolve(game, state)
                if not known and is_single(game, mask):
                    state = game.as_words(game.play(state, single_action(game, mask)))
                    known, value, mask = resolve(game, state)
                edges[edge, SIGN] = 1 if state[-1] == parent[-1] else -1
                if not known:
                    edges[edge, CHILD] = trees[row, NUM_NODES]
                    game.store(arrays.states, row * room + trees[row, NUM_NODES], state)
                    add_node(game, row, room, mask, arrays)
                    write_planes(game, state, num_waiting, arrays.planes)
                    arrays.leaf_trees[num_waiting] = row
                    num_waiting += 1
                    break
                set_proven(edge, edges[edge, SIGN] * value, edges)
            if edges[edge, PROVEN] != UNPROVEN:
                back_up(row, edges[edge, SIGN] * edges[edge, PROVEN], arrays)
            else:  # the path has its maximum length: back up the network's value once more
                back_up(row, arrays.raw_values[row * room + int(edges[edge, CHILD])], arrays)
    return num_waiting


@kernel(
    f"int64, int64, int64[::1], float32[:,::1], {TREE_ARRAYS}, "
    "int64[::1], float32[:,::1], float32[::1], float32[:,::1], int64[::1], float32[:,::1], "
    "int64[:,::1]",
    common=False,
)
def read_results(
    _game: SolverHooks,
    num_trees: Any,
    room: Any,
    control: Any,
    noise: Any,
    packed: Any,
    actions: Any,  # this and the following arguments receive the fields of `PolicySearchResult`
    policy: Any,
    values: Any,
    visits: Any,
    proven_values: Any,
    q: Any,
    proven_q: Any,
) -> None:
    """Write the results of the search: the moves to play and the learning targets."""
    arrays = TreeArrays(*packed)
    trees, nodes, edges, scores = arrays.trees, arrays.nodes, arrays.edges, arrays.scores
    for row in range(num_trees):
        root = row * room
        first, count = nodes[root, FIRST_EDGE], nodes[root, NUM_EDGES]
        mixed, _visits, max_visits, proven = summarize_node(root, nodes, arrays.raw_values, edges)
        known = trees[row, ROOT_PROVEN]
        proven_values[row] = known if known != UNPROVEN else int(proven)
        weight = (np.float32(C_VISIT) + max_visits) * np.float32(C_SCALE)
        least = min_playable_value(first, count, edges)
        # 1. The improved policy or, with PUCT, the shares of visits (the priors if there are none).
        top, total_visits = np.float32(-np.inf), np.float32(0.0)
        for edge in range(first, first + count):
            if is_playable(edge, least, edges):
                top = max(top, improved_logit(edge, mixed, weight, edges))
                total_visits += edges[edge, VISITS]
        total = np.float32(0.0)
        for place in range(count):
            edge = first + place
            share = np.float32(0.0)
            if is_playable(edge, least, edges):
                if control[USE_PUCT] == 0:
                    share = np.exp(improved_logit(edge, mixed, weight, edges) - top)
                else:
                    share = edges[edge, VISITS] if total_visits > 0 else edges[edge, PRIOR]
            scores[place] = share
            total += share
        # 2. The move: of the moves with the most visits, the one with the best score (plus noise).
        best, best_visits, best_score = first, np.float32(-1.0), np.float32(-np.inf)
        value = np.float32(0.0)
        for place in range(count):
            edge = first + place
            action = int(edges[edge, ACTION])
            share = scores[place] / total
            policy[row, action] = share
            visits[row, action] = edges[edge, VISITS]
            q[row, action] = completed_value(edge, mixed, edges)
            proven_q[row, action] = int(edges[edge, PROVEN])
            value += share * q[row, action]
            score = share
            if control[USE_PUCT] == 0:
                score = noise[row, action] + improved_logit(edge, mixed, weight, edges)
            edge_visits = edges[edge, VISITS]
            is_better = edge_visits > best_visits or (
                edge_visits == best_visits and score > best_score
            )
            if is_better and is_playable(edge, least, edges):
                best, best_visits, best_score = edge, edge_visits, score
        actions[row] = int(edges[best, ACTION])
        values[row] = value


def resolve(game: SolverHooks, state: Any) -> Any:
    """Return (whether the value is known without search, the value, the moves worth trying)."""
    over, value = game.result(state)
    if over:
        return True, value, game.no_actions()
    known, score, mask = game.resolve(state)
    return known, (1 if score > 0 else 0) - (1 if score < 0 else 0), game.as_mask(mask)


def is_single(game: SolverHooks, mask: Any) -> Any:
    """Return whether a mask stands for a single move; an empty mask stands for a pass."""
    return game.is_empty(mask) or game.is_empty(game.without_lowest(mask))


def single_action(game: SolverHooks, mask: Any) -> Any:
    """Return the only action in a mask, or the pass if the mask is empty."""
    if game.is_empty(mask):
        return game.num_actions - 1
    return game.to_action(game.lowest_action(mask))


def winning_actions(game: SolverHooks, state: Any, mask: Any) -> Any:
    """Return a mask of those actions in `mask` that win immediately."""
    wins = game.no_actions()
    while not game.is_empty(mask):
        action = game.lowest_action(mask)
        child = game.as_words(game.play(state, action))
        over, value = game.result(child)
        if over and value * game.turn_sign(state, child) > 0:
            wins = game.with_action(wins, action)
        mask = game.without_lowest(mask)
    return wins


def add_node(game: SolverHooks, row: Any, room: Any, mask: Any, arrays: Any) -> None:
    """Add a node with an edge for each action of a mask, or for the pass if the mask is empty.

    Actions are in ascending order, so of several actions with equal scores, the lowest is selected.
    """
    trees, edges = arrays.trees, arrays.edges
    actions = game.no_actions()
    while not game.is_empty(mask):
        actions = game.with_action(actions, game.to_action(game.lowest_action(mask)))
        mask = game.without_lowest(mask)
    first = edge = trees[row, NEXT_EDGE]
    if game.is_empty(actions):
        add_edge(edge, game.num_actions - 1, edges)
        edge += 1
    while not game.is_empty(actions):
        add_edge(edge, game.lowest_action(actions), edges)
        actions = game.without_lowest(actions)
        edge += 1
    node = row * room + trees[row, NUM_NODES]
    arrays.nodes[node, FIRST_EDGE] = first
    arrays.nodes[node, NUM_EDGES] = edge - first
    trees[row, NUM_NODES] += 1
    trees[row, NEXT_EDGE] = edge


def add_edge(edge: Any, action: Any, edges: Any) -> None:
    """Write a new edge for `action` that has no visits."""
    edges[edge, VISITS] = 0
    edges[edge, VALUE_SUM] = 0
    edges[edge, VALUE] = 0
    edges[edge, PROVEN] = UNPROVEN
    edges[edge, CHILD] = 0
    edges[edge, ACTION] = action
    edges[edge, SIGN] = -1


def expand_node(node: Any, leaf: Any, arrays: Any, logits: Any) -> None:
    """Write the network's normalised logits for `leaf`, and the priors, to the edges of `node`."""
    nodes, edges = arrays.nodes, arrays.edges
    first, count = nodes[node, FIRST_EDGE], nodes[node, NUM_EDGES]
    top, total = np.float32(-np.inf), np.float32(0.0)
    for edge in range(first, first + count):
        logit = logits[leaf, int(edges[edge, ACTION])]
        edges[edge, LOGIT] = logit
        top = max(top, logit)
    for edge in range(first, first + count):
        prior = np.exp(edges[edge, LOGIT] - top)
        edges[edge, PRIOR] = prior
        total += prior
    top += np.log(total)
    for edge in range(first, first + count):
        edges[edge, LOGIT] -= top
        edges[edge, PRIOR] /= total


def descend(row: Any, room: Any, control: Any, halving: Any, noise: Any, arrays: Any) -> Any:
    """Descend in a tree to an edge that is new, proven or at maximum depth; return (node, edge).

    If a node on the way turns out to be proven, the path ends above it.
    """
    trees, nodes, edges, paths = arrays.trees, arrays.nodes, arrays.edges, arrays.paths
    raw_values, scores = arrays.raw_values, arrays.scores
    node, steps = row * room, 1
    mixed, visits, max_visits, _proven = summarize_node(node, nodes, raw_values, edges)
    if control[USE_PUCT] != 0:
        edge = select_by_puct(node, row, noise, mixed, visits, nodes, edges)
    else:
        considered = min(nodes[node, NUM_EDGES], control[NUM_CONSIDERED])
        num_visits = halving[considered, trees[row, NUM_SIMULATIONS] - 1]
        edge = select_by_halving(node, row, noise, num_visits, mixed, max_visits, nodes, edges)
    paths[row, 0] = edge
    while steps < paths.shape[1] and edges[edge, CHILD] != 0 and edges[edge, PROVEN] == UNPROVEN:
        child = row * room + int(edges[edge, CHILD])
        mixed, visits, max_visits, proven = summarize_node(child, nodes, raw_values, edges)
        if proven != UNPROVEN:
            set_proven(edge, edges[edge, SIGN] * proven, edges)
            break
        node = child
        if control[USE_PUCT] != 0:
            edge = select_by_puct(node, -1, noise, mixed, visits, nodes, edges)
        else:
            edge = select_by_policy(node, mixed, visits, max_visits, nodes, edges, scores)
        paths[row, steps] = edge
        steps += 1
    trees[row, PATH_LENGTH] = steps
    return node, edge


def set_proven(edge: Any, value: Any, edges: Any) -> None:
    """Set the proven value of an edge, which replaces the mean value of its visits."""
    edges[edge, PROVEN] = value
    edges[edge, VALUE] = value


def back_up(row: Any, value: Any, arrays: Any) -> None:
    """Add a leaf's value to every edge on the tree's path, from the view of the side that moves."""
    edges, paths = arrays.edges, arrays.paths
    for step in range(arrays.trees[row, PATH_LENGTH] - 1, -1, -1):
        edge = paths[row, step]
        value = edges[edge, SIGN] * value
        edges[edge, VISITS] += np.float32(1.0)
        edges[edge, VALUE_SUM] += value
        if edges[edge, PROVEN] == UNPROVEN:
            edges[edge, VALUE] = edges[edge, VALUE_SUM] / edges[edge, VISITS]
