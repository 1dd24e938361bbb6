"""Find the games that requests name; Python files are refused, since they could run any code.

The only exceptions are the games that the user offered when the server was started.
"""

import sys
from collections.abc import Iterable
from functools import lru_cache
from typing import Any

from zermelo.core.game import Game
from zermelo.games import registry as games
from zermelo.games.lines.small import WordLineGame

_offered: dict[str, Game] = {}  # games of the user, by spec


def offer_games(games: Iterable[Game]) -> None:
    """Let requests name these games of the user, which are already loaded, by their specs.

    They replace the games that were offered before: a process serves one application at a time.
    """
    _offered.clear()
    _offered.update((game.spec, game) for game in games)


def offered_games() -> list[Game]:
    """Return the games that the user offers."""
    return list(_offered.values())


def summary_of(game: Game) -> str:
    """Return the first line of the docstring of a game's module, or of its class."""
    module = sys.modules.get(type(game).__module__)
    text = (module and module.__doc__) or type(game).__doc__ or ""
    return text.strip().partition("\n")[0].rstrip(".") or "a game of your own"


def find_game(spec: str) -> Game:
    """Return the game with this spec. Raise BadSpec if there is no such game."""
    return _offered.get(spec) or _find_registered_game(spec)


@lru_cache(maxsize=256)
def _find_registered_game(spec: str) -> Game:
    """Return a game of the registry.

    If the spec describes a preset, as `mnk:3x3x3` describes tictactoe, return the preset, because
    compiling the same rules again would take seconds.
    """
    game = games.named_game(spec)
    if isinstance(game, WordLineGame) and game.is_specialised:
        return next(
            preset
            for preset in map(games.named_game, games.PRESETS)
            if isinstance(preset, WordLineGame) and _rules(preset) == _rules(game)
        )
    return game


def _rules(game: WordLineGame) -> tuple[Any, ...]:
    grid = game.grid
    return (grid.rows, grid.cols, game.win, game.lose, game.gravity, game.overline)
