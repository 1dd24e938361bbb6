"""Colours, and functions that measure and draw text."""

import functools

import pygame

from zermelo.core.phrases import escape_controls

GROUND, SURFACE, SUNK = "#f5f3ee", "#fffdf9", "#ece8df"
INK, QUIET, LINE, EDGE = "#22262c", "#5a5f68", "#dbd5c8", "#88826f"
ACCENT, ON_ACCENT = "#17594f", "#ffffff"
GOOD, EVEN, BAD = "#1f8a4c", "#a09a8a", "#c73e32"
CELL, GRID, WON, LAST = "#fffdf8", "#b8b1a2", "#ffe08a", "#c2571a"
MARKS = "#1b6ca8", "#c2571a"  # colours of X and O, as in all pictures of boards

SMALL, BODY, TITLE = 18, 20, 26
_ELLIPSIS = "…"
_SCALE = 3  # text is drawn this many times larger, then shrunk, which keeps the letter spacing


@functools.lru_cache(maxsize=64)
def _font(size: int) -> pygame.font.Font:
    """Return pygame's own font, which is the same on every machine."""
    pygame.font.init()
    return pygame.font.Font(None, size * _SCALE)


@functools.lru_cache(maxsize=4096)
def width(text: str, size: int) -> int:
    """Return the width of a text in pixels."""
    return -(-_font(size).size(escape_controls(text))[0] // _SCALE)


def fit(text: str, size: int, room: int) -> str:
    """Return as much of a text as fits into `room` pixels, with an ellipsis if it is cut."""
    if width(text, size) <= room:
        return text
    while text and width(text + _ELLIPSIS, size) > room:
        text = text[:-1]
    return text.rstrip() + _ELLIPSIS


def wrap(text: str, size: int, room: int, max_lines: int) -> list[str]:
    """Break a text into at most `max_lines` lines; the last line is cut if necessary."""
    lines: list[str] = []
    for word in text.split(" "):  # keeps words joined by a non-breaking space together
        longer = f"{lines[-1]} {word}" if lines else word
        if lines and width(longer, size) <= room:
            lines[-1] = longer
        else:
            lines.append(word)
    if len(lines) > max_lines:
        lines = [*lines[: max_lines - 1], " ".join(lines[max_lines - 1 :])]
    return [fit(line, size, room) for line in lines]


def write(
    surface: pygame.Surface,
    text: str,
    size: int,
    colour: str,
    rect: pygame.Rect,
    align: str = "midleft",
) -> pygame.Rect:
    """Draw one line of text, cut to the width of `rect`; return the area that it fills."""
    image = _render(fit(text, size, rect.width), size, colour)
    place = image.get_rect(**{align: getattr(rect, align)})
    return surface.blit(image, place)


@functools.lru_cache(maxsize=2048)
def _render(text: str, size: int, colour: str) -> pygame.Surface:
    large = _font(size).render(escape_controls(text), antialias=True, color=colour)
    height = -(-large.get_height() // _SCALE)
    if not text:
        return pygame.Surface((0, height))
    return pygame.transform.smoothscale(large, (width(text, size), height))


def mix(a: str, b: str, share: float) -> pygame.Color:
    """Return a mixture of two colours; `share` is the proportion of the second, from 0 to 1."""
    return pygame.Color(a).lerp(pygame.Color(b), min(1.0, max(0.0, share)))
