"""Targets: which cell a move belongs to, asked of the game; what has none gets a button."""

from collections.abc import Sequence
from dataclasses import dataclass

from zermelo.core.position import Position


@dataclass(frozen=True)
class Targets:
    """The moves of a position by what is clicked."""

    clicks: dict[int, str]  #: cell → the move that a click there plays
    lands: dict[str, int]  #: move → the cell that its stone fills
    extra: tuple[str, ...]  #: moves without a cell, such as pass and swap


def targets(position: Position, legal: Sequence[str]) -> Targets:
    """For every move of the position where it lands, and for the legal ones what plays them."""
    game, playable = position.game, set(legal)
    clicks: dict[int, str] = {}
    lands: dict[str, int] = {}
    extra = []
    for action in position.actions:
        move = game.to_text(action)
        cell = game.last_cell(game.play(position.state, action), action)
        if cell is None or game.grid is None or cell in clicks:
            extra += [move] if move in playable else []
            continue
        lands[move] = cell
        if move in playable:
            clicks |= dict.fromkeys(_around(position, cell), move)
    return Targets(clicks, lands, tuple(extra))


def _around(position: Position, cell: int) -> range:
    """The cells that mean this one: where stones fall, the whole column."""
    game = position.game
    assert game.grid is not None
    if getattr(game, "gravity", False):
        return range(cell % game.grid.cols, game.grid.size, game.grid.cols)
    return range(cell, cell + 1)


def filled(position: Position, move: str) -> list[int]:
    """The cells that a move fills: one in most games."""
    before, after = position.board or (), position.play(move).board or ()
    return [i for i, (a, b) in enumerate(zip(before, after, strict=True)) if b and not a]
