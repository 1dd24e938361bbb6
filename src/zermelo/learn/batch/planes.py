"""Planes: the boards that a network sees, as `WordGame.planes` declares them.

Each word that `planes` returns is a plane, with a number, 0 or 1, for each bit. If the sides of a
game are not equal (`has_equal_sides`), one more plane is 0 everywhere when the first player is to
move, and 1 everywhere when the second player is.
"""

import functools
import hashlib
from typing import Any

from zermelo.core.bitboard import word
from zermelo.core.errors import BadSpec
from zermelo.core.game import WordGame
from zermelo.core.symmetry import Symmetry
from zermelo.games.state_layout import declares_planes, sample_states
from zermelo.kernels.registry import kernel
from zermelo.learn.config.network import CNN, DENSE, MLP, TOWER


def input_shape(game: WordGame) -> tuple[int, int, int]:
    """Return the shape [plane, row, column] of the planes of one state."""
    return (game.num_planes + (not game.has_equal_sides), *game.plane_shape)


def check_convolutions(kind: str, game: WordGame) -> None:
    """Raise BadSpec if a network of this kind has convolutions, but the game has no grid for them.

    Declared planes with several rows also count as a grid.
    """
    if kind in (CNN, TOWER) and game.grid is None and game.plane_shape[0] == 1:
        msg = (
            f"network.kind is {kind!r}, but {game.spec} has no grid for convolutions: "
            f"use {DENSE if kind == TOWER else MLP!r}"
        )
        raise BadSpec(msg)


@kernel("uint64[:,::1], float32[:,::1]", common=False)
def encode_planes(game: WordGame, states: Any, out: Any) -> Any:
    """Write the planes of every state to a row of `out`."""
    for row in range(len(states)):
        write_planes(game, game.load(states, row), row, out)


def write_planes(game: Any, state: Any, row: Any, out: Any) -> None:
    """Write the planes of a state to `out[row]`, one after the other; `game` may be its hooks."""
    size = out.shape[1] // (game.num_planes + (0 if game.has_equal_sides else 1))
    begin = 0
    for plane in game.as_planes(game.planes(state)):
        for cell in range(size):
            out[row, begin + cell] = (plane >> word(cell)) & word(1)
        begin += size
    if not game.has_equal_sides:
        for cell in range(size):
            out[row, begin + cell] = game.player(state)


@functools.lru_cache(maxsize=256)
def plane_symmetries(game: WordGame) -> tuple[Symmetry, ...]:
    """Return the symmetries of a game, or () if they do not permute its planes in the same way.

    A game may declare planes whose cells are in a different order from those of its states. The
    planes of a symmetric image of a position are then not the permuted planes of the position.
    """
    symmetries = game.symmetries()
    if not declares_planes(game):
        return symmetries
    rows, cols = game.plane_shape
    if any(len(symmetry.cells) != rows * cols for symmetry in symmetries):
        return ()
    for state in sample_states(game):
        planes = game.planes(state)
        for symmetry in symmetries:
            image = tuple(symmetry.transform(plane) for plane in planes)
            if game.planes(game.transform(state, symmetry)) != image:
                return ()
    return symmetries


@functools.lru_cache(maxsize=256)
def planes_fingerprint(game: WordGame) -> str | None:
    """Return a digest of the planes in random games, or None if the planes are the default ones.

    Equal sides are part of the default. Model files and runs store the digest, because the
    fingerprint of the rules does not cover `planes`.
    """
    if game.has_equal_sides and not declares_planes(game):
        return None
    digest = hashlib.sha256(f"{input_shape(game)} {game.has_equal_sides}".encode())
    for state in sample_states(game):
        digest.update(f" {game.planes(state)}".encode())
    return digest.hexdigest()[:16]
