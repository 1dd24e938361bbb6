"""Colours and text: every letter in the window is measured and drawn here."""

import functools

import pygame

GROUND, SURFACE, SUNK = "#f5f3ee", "#fffdf9", "#ece8df"
INK, QUIET, LINE, EDGE = "#22262c", "#5a5f68", "#dbd5c8", "#88826f"
ACCENT, ON_ACCENT = "#17594f", "#ffffff"
GOOD, EVEN, BAD, ERROR = "#1f8a4c", "#a09a8a", "#c73e32", "#a92b20"
CELL, GRID, WON, LAST = "#fffdf8", "#b8b1a2", "#ffe08a", "#c2571a"
MARKS = "#1b6ca8", "#c2571a"  # X and O, as in every picture of a board

SMALL, BODY, TITLE = 18, 20, 26
_CUT = "…"
_FINE = 3  # text is drawn so many times larger, then shrunk: small letters keep their distances


@functools.lru_cache(maxsize=64)
def font(size: int) -> pygame.font.Font:
    """Pygame's own font: the same on every machine."""
    pygame.font.init()
    return pygame.font.Font(None, size * _FINE)


@functools.lru_cache(maxsize=4096)
def width(text: str, size: int) -> int:
    """How wide a text is drawn."""
    return -(-font(size).size(text)[0] // _FINE)


def fit(text: str, size: int, room: int) -> str:
    """As much of a text as there is room for; what is cut ends in an ellipsis."""
    if width(text, size) <= room:
        return text
    while text and width(text + _CUT, size) > room:
        text = text[:-1]
    return text.rstrip() + _CUT


def wrap(text: str, size: int, room: int, most: int) -> list[str]:
    """A text in at most so many lines."""
    lines: list[str] = []
    for word in text.split(" "):  # which leaves what a hard space holds together
        longer = f"{lines[-1]} {word}" if lines else word
        if lines and width(longer, size) <= room:
            lines[-1] = longer
        else:
            lines.append(word)
    if len(lines) > most:
        lines = [*lines[: most - 1], " ".join(lines[most - 1 :])]
    return [fit(line, size, room) for line in lines]


def write(
    surface: pygame.Surface,
    text: str,
    size: int,
    colour: str,
    rect: pygame.Rect,
    align: str = "midleft",
) -> pygame.Rect:
    """A line of text in a rectangle, cut where it would leave it; returns where it stands."""
    drawn = _drawn(fit(text, size, rect.width), size, colour)
    place = drawn.get_rect(**{align: getattr(rect, align)})
    return surface.blit(drawn, place)


@functools.lru_cache(maxsize=2048)
def _drawn(text: str, size: int, colour: str) -> pygame.Surface:
    large = font(size).render(text, antialias=True, color=colour)
    high = -(-large.get_height() // _FINE)
    if not text:
        return pygame.Surface((0, high))
    return pygame.transform.smoothscale(large, (width(text, size), high))


def mix(a: str, b: str, share: float) -> pygame.Color:
    """The first colour with a share of the second."""
    return pygame.Color(a).lerp(pygame.Color(b), min(1.0, max(0.0, share)))
