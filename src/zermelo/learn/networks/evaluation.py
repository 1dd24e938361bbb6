"""The mean of what a network says of a position and of its symmetric images. Arrays or tensors."""

from collections.abc import Callable
from typing import Any

from zermelo.core.game import Game
from zermelo.core.symmetry import inverse

#: planes → (logits of actions, value for the side to move)
Judge = Callable[[Any], tuple[Any, Any]]


def in_images(judge: Judge, game: Game, number: int) -> Judge:
    """A judge that looks at so many of a game's images, or at all if there are fewer."""
    turns = [(inverse(s.cells), list(s.actions)) for s in game.symmetries()[:number]]
    if len(turns) <= 1:
        return judge

    def mean(planes: Any) -> tuple[Any, Any]:
        stones = planes.reshape(*planes.shape[:2], -1)
        found = []
        for cells, actions in turns:
            logits, values = judge(stones[:, :, cells].reshape(planes.shape))
            found.append((logits[:, actions], values))
        logits, values = (sum(part) / len(turns) for part in zip(*found, strict=True))
        return logits, values

    return mean
