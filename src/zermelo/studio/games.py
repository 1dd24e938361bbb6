"""Find the games that requests name; Python files are refused, since they could run any code."""

from functools import lru_cache
from typing import Any

from zermelo.core.game import Game
from zermelo.games import registry as games
from zermelo.games.lines.small import WordLineGame


@lru_cache(maxsize=256)
def find_game(spec: str) -> Game:
    """Return the game with this spec. Raise BadSpec if there is no such game.

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
