"""Stones: marks where they are placed, discs where they fall or flip, with smooth edges."""

import functools

import pygame

from zermelo.core.game import Game
from zermelo.ui.window import theme

_FINE = 4  # drawn so many times larger, then shrunk: that smooths every shape alike
# In fortieths of a cell, as in the SVG pictures.
_CELL, _DISC, _RING, _ARM, _STROKE = 40, 16, 12, 11, 5


def stone(game: Game, player: int, cell: int, alpha: int = 255) -> pygame.Surface:
    """A stone of a player, for a cell of so many pixels."""
    if game.has_discs:
        return _sprite("disc", game.disc_colours[player], cell, alpha)
    return _sprite("xo"[player], theme.MARKS[player], cell, alpha)


@functools.lru_cache(maxsize=128)
def _sprite(kind: str, colour: str, cell: int, alpha: int) -> pygame.Surface:
    side = cell * _FINE
    unit = side / _CELL
    edge = "#3b382f" if kind == "disc" else colour
    ink = pygame.Color(edge)
    large = pygame.Surface((side, side), pygame.SRCALPHA)
    large.fill((ink.r, ink.g, ink.b, 0))  # else shrinking would darken the edges
    middle = pygame.Vector2(side / 2, side / 2)
    if kind == "disc":
        pygame.draw.circle(large, edge, middle, (_DISC + 0.5) * unit)
        pygame.draw.circle(large, colour, middle, (_DISC - 0.5) * unit)
    elif kind == "o":
        width = round(_STROKE * unit)
        pygame.draw.circle(large, colour, middle, _RING * unit + width / 2, width)
    else:
        _cross(large, colour, middle, unit)
    small = pygame.transform.smoothscale(large, (cell, cell))
    small.set_alpha(alpha)
    return small


def _cross(surface: pygame.Surface, colour: str, middle: pygame.Vector2, unit: float) -> None:
    """Two strokes with round ends."""
    for slope in (1, -1):
        arm = pygame.Vector2(_ARM, _ARM * slope) * unit
        side = arm.rotate(90).normalize() * _STROKE / 2 * unit
        corners = [
            middle + arm + side, middle + arm - side, middle - arm - side, middle - arm + side
        ]  # fmt: skip
        pygame.draw.polygon(surface, colour, corners)
        for end in (middle + arm, middle - arm):
            pygame.draw.circle(surface, colour, end, _STROKE / 2 * unit)
