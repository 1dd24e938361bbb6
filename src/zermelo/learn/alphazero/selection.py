"""Which way a search of AlphaZero's goes: what its edges are worth, and which comes next.

A node has its edges side by side. All that is kept of an edge is seen by the side that moves
along it.
"""

from typing import Any

import numpy as np

from zermelo.learn.alphazero.search_options import NOISE, PUCT, SCALE, UNKNOWN, VISITS

# Columns of `edges`: whole numbers too, which a float holds exactly up to 2**24.
LOGIT, PRIOR, TRIED, TOTAL, VALUE, WORTH, CHILD, ACTION, SIGN = range(9)
NUM_COLUMNS = 9
# Columns of `nodes`.
FIRST, COUNT = range(2)

_TINY = 1e-9
_LARGEST = 80.0  # whose exp a float still holds


def is_seen(edge: Any, edges: Any) -> Any:
    """Whether something is known of an edge but what the network said."""
    return edges[edge, TRIED] > 0 or edges[edge, WORTH] != UNKNOWN


def value_of(edge: Any, mixed: Any, edges: Any) -> Any:
    """What was seen of an edge; one that was not tried is worth the mix."""
    return edges[edge, VALUE] if is_seen(edge, edges) else mixed


def improved(edge: Any, mixed: Any, weight: Any, edges: Any) -> Any:
    """The logit of the improved policy."""
    return edges[edge, LOGIT] + weight * value_of(edge, mixed, edges)


def survey(node: Any, nodes: Any, raw: Any, edges: Any) -> Any:
    """(the mix, visits, the most of one edge, what the node is proven to be worth).

    The mix is what edges not tried are worth: the mean of what the network says of the node and
    what was seen below it. Proven is a win by one edge, or the best of all if all are known.
    """
    share = below = number = most = np.float32(0.0)
    best, is_open = np.float32(-1.0), False
    for edge in range(nodes[node, FIRST], nodes[node, FIRST] + nodes[node, COUNT]):
        visits, worth = edges[edge, TRIED], edges[edge, WORTH]
        number += visits
        most = max(most, visits)
        if visits > 0 or worth != UNKNOWN:
            share += edges[edge, PRIOR]
            below += edges[edge, PRIOR] * edges[edge, VALUE]
        if worth == UNKNOWN:
            is_open = True
        else:
            best = max(best, worth)
    mixed = raw[node]
    if share > 0:
        below /= max(share, np.float32(_TINY))
        mixed = (mixed + number * below) / (np.float32(1.0) + number)
    proven = np.float32(UNKNOWN) if is_open and best < 1 else best
    return mixed, number, most, proven


def choose_by_halving(
    root: Any, row: Any, noise: Any, wanted: Any, mixed: Any, most: Any, nodes: Any, edges: Any
) -> Any:
    """Of the edges with as many visits as sequential halving has come to, the best."""
    weight = (np.float32(VISITS) + most) * np.float32(SCALE)
    best, best_score = nodes[root, FIRST], np.float32(-np.inf)
    for edge in range(nodes[root, FIRST], nodes[root, FIRST] + nodes[root, COUNT]):
        if edges[edge, TRIED] == wanted:
            drawn = noise[row, int(edges[edge, ACTION])]
            score = drawn + improved(edge, mixed, weight, edges)
            if score > best_score:
                best, best_score = edge, score
    return best


def choose_by_policy(
    node: Any, mixed: Any, number: Any, most: Any, nodes: Any, edges: Any, scores: Any
) -> Any:
    """The edge that lags most behind its share in the improved policy."""
    weight = (np.float32(VISITS) + most) * np.float32(SCALE)
    first, count = nodes[node, FIRST], nodes[node, COUNT]
    top = np.float32(-np.inf)
    for edge in range(first, first + count):
        top = max(top, improved(edge, mixed, weight, edges))
    # All that was not seen has the same factor beside its prior.
    unseen = np.exp(min(weight * mixed - top, np.float32(_LARGEST)))
    total = np.float32(0.0)
    for place in range(count):
        edge = first + place
        if is_seen(edge, edges):
            scores[place] = np.exp(improved(edge, mixed, weight, edges) - top)
        else:
            scores[place] = edges[edge, PRIOR] * unseen
        total += scores[place]
    each, share = np.float32(1.0) / total, np.float32(1.0) / (np.float32(1.0) + number)
    best, best_score = first, np.float32(-np.inf)
    for place in range(count):
        score = scores[place] * each - edges[first + place, TRIED] * share
        if score > best_score:
            best, best_score = first + place, score
    return best


def choose_by_puct(
    node: Any, row: Any, noise: Any, mixed: Any, number: Any, nodes: Any, edges: Any
) -> Any:
    """The edge with the most of value and what the policy expects of it; at a root with noise."""
    first, last = nodes[node, FIRST], nodes[node, FIRST] + nodes[node, COUNT]
    weight = np.float32(PUCT) * np.sqrt(np.float32(1.0) + number)
    part, left = np.float32(NOISE if row >= 0 else 0.0), np.float32(1.0)
    if row >= 0:
        for edge in range(first, last):
            left -= part * noise[row, int(edges[edge, ACTION])]
    best, best_score = first, np.float32(-np.inf)
    for edge in range(first, last):
        prior = edges[edge, PRIOR]
        if row >= 0:
            prior = left * prior + part * noise[row, int(edges[edge, ACTION])]
        score = value_of(edge, mixed, edges)
        score += weight * prior / (np.float32(1.0) + edges[edge, TRIED])
        if score > best_score:
            best, best_score = edge, score
    return best


def least_playable(first: Any, count: Any, edges: Any) -> Any:
    """A proven win before all else, and never a proven loss while something else is left."""
    least = np.float32(-1.0)
    for edge in range(first, first + count):
        if edges[edge, WORTH] == 1:
            return np.float32(1.0)
        if edges[edge, WORTH] != -1:
            least = np.float32(0.0)
    return least


def is_playable(edge: Any, least: Any, edges: Any) -> Any:
    """Whether an edge is proven to be worth so much, or with 0 not proven to be lost."""
    worth = edges[edge, WORTH]
    return worth == 1 if least == 1 else worth >= least
