"""The search trees of AlphaZero as arrays, and kernel code that selects actions in the trees.

Each tree has a block of `room` rows in `nodes`. The edges of a node are adjacent rows of `edges`,
one for each action worth trying, in ascending order of the actions. All values of an edge are from
the view of the side that makes the move.
"""

from typing import Any, NamedTuple

import numpy as np

from zermelo.learn.alphazero.search_parameters import (
    C_SCALE,
    C_VISIT,
    NOISE_SHARE,
    PUCT_C,
    UNPROVEN,
)


class TreeArrays(NamedTuple):
    """The arrays of a batch of trees; see `negamax.SearchArrays` for how they are passed."""

    states: Any  #: [node, word]
    trees: Any  #: [tree, column]
    nodes: Any  #: [node, column]
    raw_values: Any  #: [node]: the network's value
    edges: Any  #: [edge, column]
    paths: Any  #: [tree, step]: the edges of the current simulation
    scores: Any  #: [edge of a node]: scratch memory
    planes: Any  #: [leaf, plane and cell]: the input of the network
    leaf_trees: Any  #: [leaf]: the tree that waits for this leaf


#: the numba type of `TreeArrays`, passed as a plain tuple
TREE_ARRAYS = (
    "Tuple((uint64[:,::1], int64[:,::1], int64[:,::1], float32[::1], float32[:,::1], "
    "int64[:,::1], float32[::1], float32[:,::1], int64[::1]))"
)

# Columns of `trees`.
NUM_NODES, NEXT_EDGE, NUM_SIMULATIONS, PATH_LENGTH, ROOT_PROVEN = range(5)
NUM_TREE_COLUMNS = 5
# Columns of `edges`. A float32 represents integers up to 2**24 exactly.
LOGIT, PRIOR, VISITS, VALUE_SUM, VALUE, PROVEN, CHILD, ACTION, SIGN = range(9)
NUM_EDGE_COLUMNS = 9
# Columns of `nodes`.
FIRST_EDGE, NUM_EDGES = range(2)

_MIN_SHARE = 1e-9
_MAX_EXPONENT = 80.0  # maximum argument of exp: its result still fits into a float32


def has_value(edge: Any, edges: Any) -> Any:
    """Return whether an edge was visited or its value is proven."""
    return edges[edge, VISITS] > 0 or edges[edge, PROVEN] != UNPROVEN


def completed_value(edge: Any, mixed: Any, edges: Any) -> Any:
    """Return the value of an edge or, if it has none, `mixed`, the mixed value of its node."""
    return edges[edge, VALUE] if has_value(edge, edges) else mixed


def improved_logit(edge: Any, mixed: Any, weight: Any, edges: Any) -> Any:
    """Return the logit of an edge in the improved policy."""
    return edges[edge, LOGIT] + weight * completed_value(edge, mixed, edges)


def summarize_node(node: Any, nodes: Any, raw_values: Any, edges: Any) -> Any:
    """Return a node's (mixed value, visits, visits of its most visited edge, proven value).

    The mixed value is used for edges without a value. It combines the network's value of the node
    with the prior-weighted mean of the values of its other edges. A node is proven if one edge is
    a proven win, or if all edges are proven; otherwise, its proven value is UNPROVEN.
    """
    share = below = visits = max_visits = np.float32(0.0)
    best, is_open = np.float32(-1.0), False
    for edge in range(nodes[node, FIRST_EDGE], nodes[node, FIRST_EDGE] + nodes[node, NUM_EDGES]):
        edge_visits, proven = edges[edge, VISITS], edges[edge, PROVEN]
        visits += edge_visits
        max_visits = max(max_visits, edge_visits)
        if edge_visits > 0 or proven != UNPROVEN:
            share += edges[edge, PRIOR]
            below += edges[edge, PRIOR] * edges[edge, VALUE]
        if proven == UNPROVEN:
            is_open = True
        else:
            best = max(best, proven)
    mixed = raw_values[node]
    if share > 0:
        below /= max(share, np.float32(_MIN_SHARE))
        mixed = (mixed + visits * below) / (np.float32(1.0) + visits)
    proven_value = np.float32(UNPROVEN) if is_open and best < 1 else best
    return mixed, visits, max_visits, proven_value


def select_by_halving(
    root: Any,
    row: Any,
    noise: Any,
    num_visits: Any,
    mixed: Any,
    max_visits: Any,
    nodes: Any,
    edges: Any,
) -> Any:
    """Return the root's best edge among those with `num_visits` visits (sequential halving)."""
    weight = (np.float32(C_VISIT) + max_visits) * np.float32(C_SCALE)
    best, best_score = nodes[root, FIRST_EDGE], np.float32(-np.inf)
    for edge in range(nodes[root, FIRST_EDGE], nodes[root, FIRST_EDGE] + nodes[root, NUM_EDGES]):
        if edges[edge, VISITS] == num_visits:
            gumbel = noise[row, int(edges[edge, ACTION])]
            score = gumbel + improved_logit(edge, mixed, weight, edges)
            if score > best_score:
                best, best_score = edge, score
    return best


def select_by_policy(
    node: Any, mixed: Any, visits: Any, max_visits: Any, nodes: Any, edges: Any, scores: Any
) -> Any:
    """Return the edge whose share of visits is furthest below its improved probability."""
    weight = (np.float32(C_VISIT) + max_visits) * np.float32(C_SCALE)
    first, count = nodes[node, FIRST_EDGE], nodes[node, NUM_EDGES]
    top = np.float32(-np.inf)
    for edge in range(first, first + count):
        top = max(top, improved_logit(edge, mixed, weight, edges))
    # The priors of all edges without a value are multiplied by the same factor.
    factor = np.exp(min(weight * mixed - top, np.float32(_MAX_EXPONENT)))
    total = np.float32(0.0)
    for place in range(count):
        edge = first + place
        if has_value(edge, edges):
            scores[place] = np.exp(improved_logit(edge, mixed, weight, edges) - top)
        else:
            scores[place] = edges[edge, PRIOR] * factor
        total += scores[place]
    scale, share = np.float32(1.0) / total, np.float32(1.0) / (np.float32(1.0) + visits)
    best, best_score = first, np.float32(-np.inf)
    for place in range(count):
        score = scores[place] * scale - edges[first + place, VISITS] * share
        if score > best_score:
            best, best_score = first + place, score
    return best


def select_by_puct(
    node: Any, row: Any, noise: Any, mixed: Any, visits: Any, nodes: Any, edges: Any
) -> Any:
    """Return the edge with the highest PUCT score; at a root (`row` >= 0), noise is added."""
    first, last = nodes[node, FIRST_EDGE], nodes[node, FIRST_EDGE] + nodes[node, NUM_EDGES]
    weight = np.float32(PUCT_C) * np.sqrt(np.float32(1.0) + visits)
    part, left = np.float32(NOISE_SHARE if row >= 0 else 0.0), np.float32(1.0)
    if row >= 0:
        for edge in range(first, last):
            left -= part * noise[row, int(edges[edge, ACTION])]
    best, best_score = first, np.float32(-np.inf)
    for edge in range(first, last):
        prior = edges[edge, PRIOR]
        if row >= 0:
            prior = left * prior + part * noise[row, int(edges[edge, ACTION])]
        score = completed_value(edge, mixed, edges)
        score += weight * prior / (np.float32(1.0) + edges[edge, VISITS])
        if score > best_score:
            best, best_score = edge, score
    return best


def min_playable_value(first: Any, count: Any, edges: Any) -> Any:
    """Return 1 if any edge is a proven win, -1 if all edges are proven losses, and 0 otherwise."""
    least = np.float32(-1.0)
    for edge in range(first, first + count):
        if edges[edge, PROVEN] == 1:
            return np.float32(1.0)
        if edges[edge, PROVEN] != -1:
            least = np.float32(0.0)
    return least


def is_playable(edge: Any, least: Any, edges: Any) -> Any:
    """Return whether an edge may be played, given the `min_playable_value` of its node.

    A proven win is preferred to all other moves, and a proven loss is the last choice.
    """
    proven = edges[edge, PROVEN]
    return proven == 1 if least == 1 else proven >= least
