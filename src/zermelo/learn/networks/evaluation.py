"""Evaluate batches with a policy-value network, also averaged over symmetric images."""

from collections.abc import Callable
from typing import Any

import numpy as np

from zermelo.core.game import Game
from zermelo.core.symmetry import invert

PolicyValueFunction = Callable[[Any], tuple[Any, Any]]
"""planes [row, 2, rows, cols] -> (action logits [row, action], values for the side to move)"""


#: rows of an array that are evaluated together: small enough for the layers to stay in the
#: processor's cache, and large enough for the matrix products to be fast
BATCH_SIZE = 256


def evaluate_in_batches(evaluate: PolicyValueFunction, planes: Any) -> tuple[Any, Any]:
    """Return the logits and values of any number of planes, evaluated `BATCH_SIZE` at a time."""
    if len(planes) <= BATCH_SIZE:
        return evaluate(planes)
    starts = range(0, len(planes), BATCH_SIZE)
    evaluations = [evaluate(planes[begin : begin + BATCH_SIZE]) for begin in starts]
    logits, values = (np.concatenate(part) for part in zip(*evaluations, strict=True))
    return logits, values


def average_over_symmetries(
    evaluate: PolicyValueFunction, game: Game, max_images: int
) -> PolicyValueFunction:
    """Return a function that averages `evaluate` over at most `max_images` images of a position."""
    symmetries = [(invert(s.cells), list(s.actions)) for s in game.symmetries()[:max_images]]
    if len(symmetries) <= 1:
        return evaluate

    def evaluate_images(planes: Any) -> tuple[Any, Any]:
        stones = planes.reshape(*planes.shape[:2], -1)
        evaluations = []
        for cells, actions in symmetries:
            logits, values = evaluate(stones[:, :, cells].reshape(planes.shape))
            evaluations.append((logits[:, actions], values))
        logits, values = (sum(part) / len(symmetries) for part in zip(*evaluations, strict=True))
        return logits, values

    return evaluate_images
