"""The work of a crew, by recipe: `rollouts(weights, order) → chunk`."""

from zermelo.core.game import WordGame
from zermelo.games import registry
from zermelo.learn.actors.protocol import Rollouts
from zermelo.learn.config.recipes import Recipe
from zermelo.learn.dqn.rollouts import QRollouts


def rollouts_for(recipe: Recipe) -> Rollouts:
    """The function, ready to play."""
    game = registry.game(recipe.game)
    assert isinstance(game, WordGame)
    if recipe.kind == "value":
        from zermelo.learn.hybrid.trainer import ValueRollouts

        return ValueRollouts(recipe, game)
    if recipe.kind == "alphazero":
        from zermelo.learn.alphazero.trainer import ZeroRollouts

        return ZeroRollouts(recipe, game)
    if recipe.kind == "tabular":
        from zermelo.learn.dqn.tabular import TablePlaying

        return QRollouts(recipe, game, TablePlaying(recipe, game))
    from zermelo.learn.dqn.trainer import DeepPlaying

    return QRollouts(recipe, game, DeepPlaying(recipe, game))
