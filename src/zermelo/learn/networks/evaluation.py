"""Evaluate large batches with a network, and average over symmetric images of positions."""

from collections.abc import Callable
from typing import Any

import numpy as np

from zermelo.core.game import WordGame
from zermelo.core.symmetry import invert
from zermelo.learn.batch.planes import plane_symmetries

PolicyValueFunction = Callable[[Any], tuple[Any, Any]]
"""planes [row, plane, rows, cols] -> (action logits [row, action], values for the side to move)"""


#: number of rows evaluated together: small enough for the layers to stay in the processor's cache,
#: and large enough for the matrix products to be fast
BATCH_SIZE = 256


def evaluate_in_batches(evaluate: Callable[..., Any], *inputs: Any) -> Any:
    """Call a network on `BATCH_SIZE` rows at a time, and return the outputs of all rows."""
    starts = range(0, len(inputs[0]), BATCH_SIZE)
    outputs = [evaluate(*(array[at : at + BATCH_SIZE] for array in inputs)) for at in starts]
    if len(outputs) == 1:
        return outputs[0]
    if isinstance(outputs[0], tuple):
        return tuple(np.concatenate(part) for part in zip(*outputs, strict=True))
    return np.concatenate(outputs)


def average_over_symmetries(
    evaluate: PolicyValueFunction, game: WordGame, max_images: int
) -> PolicyValueFunction:
    """Return a function that averages `evaluate` over at most `max_images` images of a position."""
    symmetries = [(invert(s.cells), list(s.actions)) for s in plane_symmetries(game)[:max_images]]
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
