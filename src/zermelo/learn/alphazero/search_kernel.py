"""AlphaZero's search in kernels: many trees, each grown until it waits for the network.

The same search as in `learn/tensor_search.py`, tree by tree. A simulation goes down to a leaf;
one whose value is known is backed up at once and the next begins, any other waits until the
network has judged it together with those of all other trees.

A tree has a block of `room` nodes, and a node as many edges side by side as it has moves worth
trying, rising. All that is kept of an edge is seen by the side that moves along it. An edge ends
after the answer where there is only one worth trying: no simulation is spent on it.
"""

from typing import Any

import numpy as np

from zermelo.core.bitboard import lowest, word
from zermelo.core.game import SolverHooks
from zermelo.kernels import kernel
from zermelo.learn.alphazero.search_options import SCALE, UNKNOWN, VISITS
from zermelo.learn.alphazero.selection import (
    ACTION,
    CHILD,
    COUNT,
    FIRST,
    LOGIT,
    PRIOR,
    SIGN,
    TOTAL,
    TRIED,
    VALUE,
    WORTH,
    choose_by_halving,
    choose_by_policy,
    choose_by_puct,
    improved,
    is_playable,
    least_playable,
    survey,
    value_of,
)

# Columns of `trees`.
NODES, EDGES, DONE, STEPS, KNOWN = range(5)
NUM_TREE = 5
# Entries of `control`.
SIMULATIONS, CONSIDERED, BY_PUCT = range(3)
NUM_CONTROLS = 3


@kernel(
    "int64, uint64[:,::1], int64, int64[:,::1], int64[:,::1], float32[:,::1], float32[:,::1], "
    "int64[::1]",
    common=False,
)
def plant(
    game: SolverHooks,
    rows: Any,
    states: Any,  # [row * room + node]: the roots are there
    room: Any,
    trees: Any,
    nodes: Any,
    edges: Any,
    planes: Any,  # [leaf]: what waits, as the network sees it
    slots: Any,  # [leaf]: and its tree
) -> None:
    """Trees of nothing but a root, which all wait for the network.

    What is known of a root does not say by which move: of a win at once the moves that win are
    left, else all that are legal.
    """
    per_tree = room * game.num_actions
    for row in range(rows):
        state = game.load(states, row * room)
        known, value, mask = judge(game, state)
        if known:
            mask = game.legal(state)
            wins = winning(game, state, mask)
            if wins != 0:
                mask = wins
        trees[row, NODES] = 0
        trees[row, EDGES] = row * per_tree
        trees[row, DONE] = 0
        trees[row, STEPS] = 0
        trees[row, KNOWN] = value if known else UNKNOWN
        add_node(game, row, room, mask, trees, nodes, edges)
        write_planes(state, row, planes)
        slots[row] = row


@kernel(
    "int64, int64[::1], int64[:,::1], float32[:,::1], uint64[:,::1], int64, int64[:,::1], "
    "int64[:,::1], float32[::1], float32[:,::1], int64[:,::1], float32[::1], float32[:,::1], "
    "int64[::1], float32[:,:], float32[:]",
    common=False,
)
def simulate(
    game: SolverHooks,
    waiting: Any,
    control: Any,
    halving: Any,  # [actions considered, simulation]: the visits of the one to be taken
    noise: Any,  # [row, action]
    states: Any,
    room: Any,
    trees: Any,
    nodes: Any,
    raw: Any,  # [node]: what the network says of it
    edges: Any,
    paths: Any,  # [row, step]: edges
    scores: Any,  # room for one node's
    planes: Any,
    slots: Any,
    logits: Any,  # [leaf, action]: what the network found
    values: Any,  # [leaf]: for the side to move there
) -> Any:
    """Hand trees what they waited for, and go on until they wait again; returns how many do."""
    found = 0
    for leaf in range(waiting):
        row = slots[leaf]
        new = row * room + trees[row, NODES] - 1
        raw[new] = values[leaf]
        open_node(new, leaf, nodes, edges, logits)
        back_up(row, values[leaf], trees, edges, paths)
        while trees[row, DONE] < control[SIMULATIONS]:
            trees[row, DONE] += 1
            node, edge = descend(
                row, room, control, halving, noise, trees, nodes, raw, edges, paths, scores
            )
            if edges[edge, WORTH] == UNKNOWN and edges[edge, CHILD] == 0:
                action = int(edges[edge, ACTION])
                state = game.as_words(game.play(game.load(states, node), action))
                known, value, mask = judge(game, state)
                if not known and is_single(mask):
                    state = game.as_words(game.play(state, only(game, mask)))
                    known, value, mask = judge(game, state)
                    edges[edge, SIGN] = 1
                if not known:
                    edges[edge, CHILD] = trees[row, NODES]
                    game.store(states, row * room + trees[row, NODES], state)
                    add_node(game, row, room, mask, trees, nodes, edges)
                    write_planes(state, found, planes)
                    slots[found] = row
                    found += 1
                    break
                learn_worth(edge, edges[edge, SIGN] * value, edges)
            if edges[edge, WORTH] != UNKNOWN:
                back_up(row, edges[edge, SIGN] * edges[edge, WORTH], trees, edges, paths)
            else:  # as deep as paths go: what was said of it before
                back_up(row, raw[row * room + int(edges[edge, CHILD])], trees, edges, paths)
    return found


@kernel(
    "int64, int64[::1], float32[:,::1], int64, int64[:,::1], int64[:,::1], float32[::1], "
    "float32[:,::1], float32[::1], int64[::1], float32[:,::1], float32[::1], float32[:,::1], "
    "int64[::1], float32[:,::1], int64[:,::1]",
    common=False,
)
def answer(
    _game: SolverHooks,
    rows: Any,
    control: Any,
    noise: Any,
    room: Any,
    trees: Any,
    nodes: Any,
    raw: Any,
    edges: Any,
    scores: Any,
    actions: Any,
    policy: Any,  # [row, action]
    values: Any,
    visits: Any,  # [row, action]
    proven: Any,
    worths: Any,  # [row, action]
    known: Any,  # [row, action]
) -> None:
    """What to play at every root, and what to learn from it."""
    for row in range(rows):
        root = row * room
        first, count = nodes[root, FIRST], nodes[root, COUNT]
        mixed, _number, most, worth = survey(root, nodes, raw, edges)
        proven[row] = trees[row, KNOWN] if trees[row, KNOWN] != UNKNOWN else int(worth)
        weight = (np.float32(VISITS) + most) * np.float32(SCALE)
        least = least_playable(first, count, edges)
        # 1. The policy: by what was seen, or by how often; the priors where that says nothing.
        top, tried = np.float32(-np.inf), np.float32(0.0)
        for edge in range(first, first + count):
            if is_playable(edge, least, edges):
                top = max(top, improved(edge, mixed, weight, edges))
                tried += edges[edge, TRIED]
        total = np.float32(0.0)
        for place in range(count):
            edge = first + place
            share = np.float32(0.0)
            if is_playable(edge, least, edges):
                if control[BY_PUCT] == 0:
                    share = np.exp(improved(edge, mixed, weight, edges) - top)
                else:
                    share = edges[edge, TRIED] if tried > 0 else edges[edge, PRIOR]
            scores[place] = share
            total += share
        # 2. The move: of those that were tried most the best, noise included.
        best, best_visits, best_score = first, np.float32(-1.0), np.float32(-np.inf)
        value = np.float32(0.0)
        for place in range(count):
            edge = first + place
            action = int(edges[edge, ACTION])
            share = scores[place] / total
            policy[row, action] = share
            visits[row, action] = edges[edge, TRIED]
            worths[row, action] = value_of(edge, mixed, edges)
            known[row, action] = int(edges[edge, WORTH])
            value += share * worths[row, action]
            score = share
            if control[BY_PUCT] == 0:
                score = noise[row, action] + improved(edge, mixed, weight, edges)
            visited = edges[edge, TRIED]
            ahead = visited > best_visits or (visited == best_visits and score > best_score)
            if ahead and is_playable(edge, least, edges):
                best, best_visits, best_score = edge, visited, score
        actions[row] = int(edges[best, ACTION])
        values[row] = value


def judge(game: SolverHooks, state: Any) -> Any:
    """(is the value known without a search, that value, the moves worth trying if not)."""
    over, value = game.result(state)
    if over:
        return True, value, word(0)
    known, score, mask = game.resolve(state)
    return known, (1 if score > 0 else 0) - (1 if score < 0 else 0), mask


def is_single(mask: Any) -> Any:
    """Whether there is only one thing to do; that may be a pass."""
    return mask & (mask - word(1)) == 0


def only(game: SolverHooks, mask: Any) -> Any:
    """The action of a mask that is single."""
    return game.num_actions - 1 if mask == 0 else game.to_action(lowest(mask))


def winning(game: SolverHooks, state: Any, mask: Any) -> Any:
    """Of legal actions those that win at once."""
    found = word(0)
    while mask != 0:
        action = lowest(mask)
        over, value = game.result(game.as_words(game.play(state, action)))
        if over and value < 0:
            found = found | (word(1) << word(action))
        mask = mask & (mask - word(1))
    return found


def add_node(
    game: SolverHooks, row: Any, room: Any, mask: Any, trees: Any, nodes: Any, edges: Any
) -> None:
    """A node with an edge for each action of a mask, or for the pass.

    They rise, so that of equals the lowest is taken.
    """
    actions = word(0)
    while mask != 0:
        actions = actions | (word(1) << word(game.to_action(lowest(mask))))
        mask = mask & (mask - word(1))
    first = edge = trees[row, EDGES]
    if actions == 0:
        add_edge(edge, game.num_actions - 1, edges)
        edge += 1
    while actions != 0:
        add_edge(edge, lowest(actions), edges)
        actions = actions & (actions - word(1))
        edge += 1
    node = row * room + trees[row, NODES]
    nodes[node, FIRST] = first
    nodes[node, COUNT] = edge - first
    trees[row, NODES] += 1
    trees[row, EDGES] = edge


def add_edge(edge: Any, action: Any, edges: Any) -> None:
    """One that nothing is known of."""
    edges[edge, TRIED] = 0
    edges[edge, TOTAL] = 0
    edges[edge, VALUE] = 0
    edges[edge, WORTH] = UNKNOWN
    edges[edge, CHILD] = 0
    edges[edge, ACTION] = action
    edges[edge, SIGN] = -1


def write_planes(state: Any, leaf: Any, planes: Any) -> None:
    """The mover's stones, then the other's."""
    cells = planes.shape[1] // 2
    for cell in range(cells):
        planes[leaf, cell] = (state[0] >> word(cell)) & word(1)
        planes[leaf, cells + cell] = (state[1] >> word(cell)) & word(1)


def open_node(node: Any, leaf: Any, nodes: Any, edges: Any, logits: Any) -> None:
    """What the network says of its actions, the logits brought to those of a sum of 1."""
    first, count = nodes[node, FIRST], nodes[node, COUNT]
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


def descend(
    row: Any,
    room: Any,
    control: Any,
    halving: Any,
    noise: Any,
    trees: Any,
    nodes: Any,
    raw: Any,
    edges: Any,
    paths: Any,
    scores: Any,
) -> Any:
    """(node, edge) where a path ends: an edge that is new or known, or the deepest allowed.

    That a node is proven is seen in passing, and the path ends above it.
    """
    node, steps = row * room, 1
    mixed, number, most, _worth = survey(node, nodes, raw, edges)
    if control[BY_PUCT] != 0:
        edge = choose_by_puct(node, row, noise, mixed, number, nodes, edges)
    else:
        considered = min(nodes[node, COUNT], control[CONSIDERED])
        wanted = halving[considered, trees[row, DONE] - 1]
        edge = choose_by_halving(node, row, noise, wanted, mixed, most, nodes, edges)
    paths[row, 0] = edge
    while steps < paths.shape[1] and edges[edge, CHILD] != 0 and edges[edge, WORTH] == UNKNOWN:
        below = row * room + int(edges[edge, CHILD])
        mixed, number, most, worth = survey(below, nodes, raw, edges)
        if worth != UNKNOWN:
            learn_worth(edge, edges[edge, SIGN] * worth, edges)
            break
        node = below
        if control[BY_PUCT] != 0:
            edge = choose_by_puct(node, -1, noise, mixed, number, nodes, edges)
        else:
            edge = choose_by_policy(node, mixed, number, most, nodes, edges, scores)
        paths[row, steps] = edge
        steps += 1
    trees[row, STEPS] = steps
    return node, edge


def learn_worth(edge: Any, worth: Any, edges: Any) -> None:
    """What is proven takes the place of what was seen."""
    edges[edge, WORTH] = worth
    edges[edge, VALUE] = worth


def back_up(row: Any, value: Any, trees: Any, edges: Any, paths: Any) -> None:
    """A leaf's value to every edge above it, as the side sees it that moves along the edge."""
    for step in range(trees[row, STEPS] - 1, -1, -1):
        edge = paths[row, step]
        value = edges[edge, SIGN] * value
        edges[edge, TRIED] += np.float32(1.0)
        edges[edge, TOTAL] += value
        if edges[edge, WORTH] == UNKNOWN:
            edges[edge, VALUE] = edges[edge, TOTAL] / edges[edge, TRIED]
