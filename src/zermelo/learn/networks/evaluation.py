"""Average a network's policy and value over symmetric images of a position, in numpy or torch."""

from collections.abc import Callable
from typing import Any

from zermelo.core.game import WordGame
from zermelo.core.symmetry import invert
from zermelo.learn.batch.planes import plane_symmetries

PolicyValueFunction = Callable[[Any], tuple[Any, Any]]
"""planes [row, plane, rows, cols] -> (action logits [row, action], values for the side to move)"""


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
