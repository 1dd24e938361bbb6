"""The work of a crew, by recipe: `rollouts(weights, order) → chunk`."""

from zermelo.contract import WordGame
from zermelo.games import registry
from zermelo.learn.crews import Rollouts
from zermelo.learn.recipes import Recipe
from zermelo.learn.sent import QRollouts


def rollouts_for(recipe: Recipe) -> Rollouts:
    """The function, ready to play."""
    game = registry.game(recipe.game)
    assert isinstance(game, WordGame)
    if recipe.kind == "value":
        from zermelo.learn.value import ValueRollouts

        return ValueRollouts(recipe, game)
    if recipe.kind == "alphazero":
        from zermelo.learn.zero import ZeroRollouts

        return ZeroRollouts(recipe, game)
    if recipe.kind == "tabular":
        from zermelo.learn.tabular import TablePlaying

        return QRollouts(recipe, game, TablePlaying(recipe, game))
    from zermelo.learn.deep import DeepPlaying

    return QRollouts(recipe, game, DeepPlaying(recipe, game))
