"""The games in examples/ that screens and environments must be able to play."""

import random

import zermelo as z
from support.paths import ROOT

EXAMPLE_FILES = tuple(
    str(ROOT / "examples" / f"{name}.py")
    for name in ("breakthrough", "dots_and_boxes", "hex", "nim")
)


def random_game(spec: str, seed: int = 1) -> tuple[list[tuple[str, tuple[int, ...]]], z.Position]:
    """Return the moves of a whole random game with their cells, and its last position."""
    position, rng = z.game(spec).start(), random.Random(seed)
    moves = []
    while not position.is_over:
        action = rng.choice(position.actions)
        cells = position.game.move_cells(position.state, action)
        moves.append((position.to_move_text(action), cells))
        position = position.play_action(action)
    return moves, position
