"""Golden playthroughs, one readable game for each name; ZERMELO_UPDATE=1 rewrites them."""

import os
from pathlib import Path

import pytest

import zermelo as z
from support.samples import SPECS

FOLDER = Path(__file__).parent / "playthroughs"
PLAYED = [
    spec for spec in SPECS if ":" not in spec or spec.partition(":")[0] in ("mnk", "gomoku", "line")
]
FIRST = {spec.partition(":")[0]: spec for spec in reversed(PLAYED)}


def playthrough(spec: str) -> str:
    """Return a random game as text: every board with its legal moves, and how the game ends."""
    game, player = z.game(spec), z.player("random:seed=4")
    position = game.start()
    parts = [f"{spec}\n"]
    while not position.is_over:
        move = player.choose(position).move
        parts.append(f"{position}\n{position.verdict}: {' '.join(position.legal)}\n> {move}\n")
        position = position.play(move)
    parts.append(f"{position}\n{position.verdict}, line {position.winning_line}\n")
    parts.append(f"moves {' '.join(position.moves or ())}\n")
    return "\n".join(parts)


@pytest.mark.parametrize("name", sorted(FIRST))
def test_playthrough(name: str) -> None:
    path = FOLDER / f"{name}.txt"
    text = playthrough(FIRST[name])
    if os.environ.get("ZERMELO_UPDATE"):
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    assert path.read_text() == text
