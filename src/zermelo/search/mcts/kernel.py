"""The tree of Monte Carlo search: descend, judge the leaf, back up; on arrays, for every game.

A node's children stand side by side. `stats` holds what choosing a child reads, and no more: how
good it has been so far, and how uncertain that is, both brought up to date when a result passes.
The child with the most of `mean + k * spread` is taken, where

- by rollouts (UCT, Kocsis & Szepesvári 2006)   spread = 1 / sqrt(visits), k = c * sqrt(ln(parent))
- by an evaluator (PUCT, as in AlphaZero)  spread = prior / (1 + visits), k = c * sqrt(parent)

Everything about a node is seen by the player who moved into it. With SURE, what is known is kept
(MCTS-Solver, Winands et al. 2008): a node is proven when one child wins for its mover, or when all
its children are proven. With EVERY the search goes on until all moves of the root are.
"""

from typing import Any

import numpy as np

from zermelo.core.bitboard import mix, scale, word
from zermelo.core.game import BoardGame, SolverHooks
from zermelo.core.game.traversal import STRIDE
from zermelo.kernels import kernel

# Columns of `nodes`.
VISITS, TOTAL, PARENT, FIRST, COUNT, TRIED, OPEN, PROVEN = range(8)
NUM_COLUMNS = 8
# Columns of `stats`.
MEAN, SPREAD = range(2)
# nodes[PROVEN]: what it is worth to the player who moved into it.
UNKNOWN, LOST, DRAWN, WON = range(4)
# Entries of `control`.
USED, SIMS, BUDGET, SURE, EVERY, FULL = range(6)
NUM_CONTROLS = 6
ROOT = 0
UNIT = 1 << 10  # an evaluator's values are kept in parts of this size: whole numbers add exactly
_NEVER = -1e9  # the mean of a child that is known to lose


@kernel(
    "int64[::1], uint64[::1], float64, uint64[:,::1], uint8[::1], int64[::1], "
    "int32[:,::1], float32[:,::1], int16[::1]"
)
def grow(
    game: SolverHooks | BoardGame,
    control: Any,
    rng: Any,  # one word
    c: Any,  # how much uncertainty counts
    roots: Any,
    room: Any,
    moves: Any,
    nodes: Any,
    stats: Any,
    actions: Any,  # how each node was reached
) -> Any:
    """Simulate until control[BUDGET] of them are done, nothing is left to prove, or no room is."""
    sure = control[SURE] != 0
    while control[SIMS] < control[BUDGET] and not is_settled(control, nodes):
        if control[USED] + len(moves) > len(nodes) and control[FULL] == 0:
            control[FULL] = 1
            return
        node = ROOT
        state = game.enter(roots, 0, room)
        # 1. Down, by the best child each time; a node is expanded at its second visit.
        while nodes[node, VISITS] > 0 and (nodes[node, PROVEN] == UNKNOWN or node == ROOT):
            if nodes[node, COUNT] == 0:
                if control[FULL] != 0:
                    break
                if sure and node != ROOT:
                    count = game.list_candidates(state, moves)
                else:
                    count = game.list_moves(state, moves)
                add_children(node, count, moves, control, nodes, actions)
            if nodes[node, TRIED] < nodes[node, COUNT]:
                node = next_untried(node, rng, nodes, actions)
            else:
                skips = node == ROOT and control[EVERY] != 0
                weight = c * np.sqrt(np.log(nodes[node, VISITS]))
                node = best_child(node, weight, skips, nodes, stats)
            state = game.step(state, int(actions[node]))
        # 2. What the leaf is worth: known, or by a random game.
        if nodes[node, VISITS] == 0 and node != ROOT:
            judge_leaf(game, node, state, sure, nodes, stats)
        if nodes[node, PROVEN] != UNKNOWN:
            value = int(nodes[node, PROVEN]) - DRAWN
        else:
            value, rng[0], _steps = game.play_out(state, word(rng[0]), moves)
            value = -value
        # 3. Up to the root, the sides by turns.
        while node >= ROOT:
            visits = nodes[node, VISITS] + 1
            nodes[node, VISITS] = visits
            nodes[node, TOTAL] += value
            if nodes[node, PROVEN] == UNKNOWN:
                stats[node, MEAN] = np.float32(nodes[node, TOTAL]) / np.float32(visits)
                stats[node, SPREAD] = np.float32(1.0) / np.sqrt(np.float32(visits))
            value = -value
            node = nodes[node, PARENT]
        control[SIMS] += 1


@kernel(
    "int64[::1], float64, uint64[:,::1], uint8[::1], int32[:,::1], float32[:,::1], int16[::1], "
    "float32[::1], uint64[:,::1], int64[::1]",
    common=False,
)
def gather(
    game: SolverHooks | BoardGame,
    control: Any,
    c: Any,
    roots: Any,
    room: Any,
    nodes: Any,
    stats: Any,
    actions: Any,
    priors: Any,
    leaves: Any,  # the states to be evaluated, a row each
    slots: Any,  # and their nodes
) -> Any:
    """Descend until so many leaves wait for the evaluator; returns how many there are.

    Fewer when the budget is spent, the root is proven, a leaf is met that waits already, or most
    descents end where the value is known. Until its result is there, every descent counts as lost,
    so that the next one goes elsewhere.
    """
    sure = control[SURE] != 0
    waiting = 0
    last = min(control[BUDGET], control[SIMS] + 16 * len(slots))
    while waiting < len(slots) and control[SIMS] < last and not is_settled(control, nodes):
        node = ROOT
        state = game.enter(roots, 0, room)
        while nodes[node, COUNT] > 0 and (nodes[node, PROVEN] == UNKNOWN or node == ROOT):
            skips = node == ROOT and control[EVERY] != 0
            node = best_child(node, c * np.sqrt(nodes[node, VISITS]), skips, nodes, stats)
            state = game.step(state, int(actions[node]))
        if nodes[node, VISITS] == 0 and node != ROOT:
            judge_leaf(game, node, state, sure, nodes, stats)
        if nodes[node, PROVEN] != UNKNOWN:
            value = UNIT * (int(nodes[node, PROVEN]) - DRAWN)
            back_up(node, 1, value, 0, nodes, stats, priors)
        elif nodes[node, VISITS] > 0:
            return waiting
        else:
            game.leave(leaves, waiting, state)
            slots[waiting] = node
            waiting += 1
            back_up(node, 1, 0, -UNIT, nodes, stats, priors)
        control[SIMS] += 1
    return waiting


@kernel(
    "int64[::1], uint8[::1], int64[::1], int32[:,::1], float32[:,::1], int16[::1], "
    "float32[::1], uint64[:,::1], int64[::1], int64, float32[:,::1], float32[::1]",
    common=False,
)
def scatter(
    game: SolverHooks | BoardGame,
    control: Any,
    room: Any,
    moves: Any,
    nodes: Any,
    stats: Any,
    actions: Any,
    priors: Any,
    leaves: Any,
    slots: Any,
    waiting: Any,
    found: Any,  # [leaf, action]: how promising, from 0
    values: Any,  # [leaf]: for the side to move there
) -> Any:
    """Expand the leaves that waited by what the evaluator found, and tell the nodes above."""
    sure = control[SURE] != 0
    for leaf in range(waiting):
        node = slots[leaf]
        state = game.enter(leaves, leaf, room)
        if sure and node != ROOT:
            count = game.list_candidates(state, moves)
        else:
            count = game.list_moves(state, moves)
        add_children(node, count, moves, control, nodes, actions)
        nodes[node, TRIED] = count
        whole = 0.0
        for move in range(count):
            whole += float(found[leaf, moves[move]])
        for move in range(count):
            child = nodes[node, FIRST] + move
            set_up(child, node, nodes)
            share = float(found[leaf, moves[move]]) / whole if whole > 0.0 else 1.0 / count
            priors[child] = share
            stats[child, MEAN] = values[leaf]  # as good as its parent, until it is tried
            stats[child, SPREAD] = share
        value = round(-UNIT * float(values[leaf]))
        back_up(node, 0, value, UNIT, nodes, stats, priors)


def back_up(
    node: Any, visits: Any, value: Any, penalty: Any, nodes: Any, stats: Any, priors: Any
) -> None:
    """Visits, a value for its mover, and a penalty for all, to a node and those above."""
    while node >= ROOT:
        nodes[node, VISITS] += visits
        nodes[node, TOTAL] += value + penalty
        if nodes[node, PROVEN] == UNKNOWN:
            so_far = np.float32(nodes[node, VISITS])
            stats[node, MEAN] = np.float32(nodes[node, TOTAL]) / (so_far * np.float32(UNIT))
            stats[node, SPREAD] = priors[node] / (so_far + np.float32(1.0))
        value = -value
        node = nodes[node, PARENT]


def is_settled(control: Any, nodes: Any) -> Any:
    """Whether no simulation is needed: the root is proven, or every one of its moves."""
    if control[SURE] == 0 or nodes[ROOT, PROVEN] == UNKNOWN:
        return False
    return control[EVERY] == 0 or nodes[ROOT, OPEN] == 0


def judge_leaf(
    game: SolverHooks | BoardGame, node: Any, state: Any, sure: Any, nodes: Any, stats: Any
) -> None:
    """Note what is known of a node just entered; what is known is not uncertain."""
    over, value = game.ended(state)
    if not over and sure:
        over, value = game.resolve_value(state)
    if over:
        nodes[node, PROVEN] = DRAWN - value
        stats[node, MEAN] = -value
        stats[node, SPREAD] = 0
        if sure:
            prove(node, nodes, stats)


def add_children(node: Any, count: Any, moves: Any, control: Any, nodes: Any, actions: Any) -> None:
    """Reserve children for the moves listed; each is set up when it is first tried."""
    first = control[USED]
    for child in range(count):
        actions[first + child] = moves[child]
    nodes[node, FIRST] = first
    nodes[node, COUNT] = count
    nodes[node, OPEN] = count
    control[USED] = first + count


def next_untried(node: Any, rng: Any, nodes: Any, actions: Any) -> Any:
    """One of the children that were not tried, by chance."""
    tried = nodes[node, TRIED]
    child = nodes[node, FIRST] + tried
    rng[0] = word(word(rng[0]) + word(STRIDE))
    other = child + scale(mix(word(rng[0])), int(nodes[node, COUNT] - tried))
    action = actions[other]
    actions[other] = actions[child]
    actions[child] = action
    set_up(child, node, nodes)
    nodes[node, TRIED] = tried + 1
    return child


def set_up(child: Any, parent: Any, nodes: Any) -> None:
    """A child that nothing is known of."""
    nodes[child, VISITS] = 0
    nodes[child, TOTAL] = 0
    nodes[child, PARENT] = parent
    nodes[child, FIRST] = 0
    nodes[child, COUNT] = 0
    nodes[child, TRIED] = 0
    nodes[child, OPEN] = 0
    nodes[child, PROVEN] = UNKNOWN


def best_child(node: Any, k: Any, skips: Any, nodes: Any, stats: Any) -> Any:
    """The child with the most of mean and spread, the first of equals.

    `skips`: none that is proven, where all are to be judged and one is not yet.
    """
    weight = np.float32(k)
    best = nodes[node, FIRST]
    most = np.float32(-np.inf)
    for child in range(nodes[node, FIRST], nodes[node, FIRST] + nodes[node, COUNT]):
        score = stats[child, MEAN] + weight * stats[child, SPREAD]
        if score > most and not (skips and nodes[child, PROVEN] != UNKNOWN):
            best, most = child, score
    return best


def prove(node: Any, nodes: Any, stats: Any) -> None:
    """Tell the nodes above what is known of this one, as far as it settles them."""
    while node != ROOT:
        known = nodes[node, PROVEN]
        stats[node, MEAN] = _NEVER if known == LOST else np.float32(known - DRAWN)
        stats[node, SPREAD] = 0
        parent = nodes[node, PARENT]
        nodes[parent, OPEN] -= 1
        if known == WON:
            nodes[parent, PROVEN] = LOST
        elif nodes[parent, OPEN] == 0:
            best = LOST
            for child in range(nodes[parent, FIRST], nodes[parent, FIRST] + nodes[parent, COUNT]):
                best = max(best, nodes[child, PROVEN])
            nodes[parent, PROVEN] = WON + LOST - best
        else:
            return
        node = parent


@kernel(
    "int64, int32[:,::1], float32[:,::1], int16[::1], float32[::1], int32[:,::1], "
    "float32[:,::1], int16[::1], float32[::1]"
)
def transplant(
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
    """Copy the tree below a node into other arrays, where it becomes the root; returns its size.

    Layer by layer, since children must stand side by side: FIRST of a copy points to the old ones
    until its turn has come. Children that were not tried have no more than their action.
    """
    new_nodes[ROOT] = nodes[root]
    new_stats[ROOT] = stats[root]
    new_priors[ROOT] = priors[root]
    new_nodes[ROOT, PARENT] = -1
    used, node = 1, ROOT
    while node < used:
        old = new_nodes[node, FIRST]
        new_nodes[node, FIRST] = used
        for child in range(new_nodes[node, COUNT]):
            new_actions[used + child] = actions[old + child]
            if child < new_nodes[node, TRIED]:
                new_nodes[used + child] = nodes[old + child]
                new_nodes[used + child, PARENT] = node
                new_stats[used + child] = stats[old + child]
                new_priors[used + child] = priors[old + child]
            else:
                set_up(used + child, node, new_nodes)
        used += new_nodes[node, COUNT]
        node += 1
    return used
