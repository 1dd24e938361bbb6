"""Stones with smooth edges: crosses and rings, or discs in games where stones fall or flip."""

import functools

import pygame

from zermelo.core.game import Game
from zermelo.ui.window import theme

_SCALE = 4  # stones are drawn this many times larger, then shrunk, which smooths their edges
# These lengths are in fortieths of a cell, as in the SVG pictures.
_CELL, _DISC, _RING, _ARM, _STROKE = 40, 16, 12, 11, 5


def draw_stone(game: Game, player: int, cell: int, alpha: int = 255) -> pygame.Surface:
    """Return an image of a player's stone for a cell that is `cell` pixels wide."""
    if game.has_discs:
        return _draw_sprite("disc", game.disc_colours[player], cell, alpha)
    return _draw_sprite("xo"[player], theme.MARKS[player], cell, alpha)


@functools.lru_cache(maxsize=128)
def _draw_sprite(kind: str, colour: str, cell: int, alpha: int) -> pygame.Surface:
    side = cell * _SCALE
    unit = side / _CELL
    edge = "#3b382f" if kind == "disc" else colour
    ink = pygame.Color(edge)
    large = pygame.Surface((side, side), pygame.SRCALPHA)
    large.fill((ink.r, ink.g, ink.b, 0))  # transparent ink: black would darken the edges
    centre = pygame.Vector2(side / 2, side / 2)
    if kind == "disc":
        pygame.draw.circle(large, edge, centre, (_DISC + 0.5) * unit)
        pygame.draw.circle(large, colour, centre, (_DISC - 0.5) * unit)
    elif kind == "o":
        width = round(_STROKE * unit)
        pygame.draw.circle(large, colour, centre, _RING * unit + width / 2, width)
    else:
        _draw_cross(large, colour, centre, unit)
    small = pygame.transform.smoothscale(large, (cell, cell))
    small.set_alpha(alpha)
    return small


def _draw_cross(surface: pygame.Surface, colour: str, centre: pygame.Vector2, unit: float) -> None:
    """Draw two strokes with round ends."""
    for slope in (1, -1):
        arm = pygame.Vector2(_ARM, _ARM * slope) * unit
        side = arm.rotate(90).normalize() * _STROKE / 2 * unit
        corners = [
            centre + arm + side, centre + arm - side, centre - arm - side, centre - arm + side
        ]  # fmt: skip
        pygame.draw.polygon(surface, colour, corners)
        for end in (centre + arm, centre - arm):
            pygame.draw.circle(surface, colour, end, _STROKE / 2 * unit)
