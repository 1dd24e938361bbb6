"""The actors of a run: the function that plays rollouts for its recipe, and a pool of actors."""

from zermelo.core.errors import BadSpec
from zermelo.core.game import WordGame
from zermelo.games import registry
from zermelo.learn.actors.protocol import ActorPool, InProcessActor, RolloutFunction
from zermelo.learn.config import custom
from zermelo.learn.config.recipe import Recipe
from zermelo.learn.dqn.rollouts import QLearningRollouts


def create_rollout_function(recipe: Recipe, rules: WordGame | None = None) -> RolloutFunction:
    """Return the function with which actors play rollouts for this recipe.

    Actors in other processes import `create_rollout_function` by its name and call it themselves,
    without `rules`: they load the game by its spec.
    """
    game = rules or registry.game(recipe.game)
    assert isinstance(game, WordGame)
    if recipe.kind == "value":
        from zermelo.learn.hybrid.rollouts import HybridRollouts

        return HybridRollouts(recipe, game)
    if recipe.kind == "alphazero":
        from zermelo.learn.alphazero.rollouts import AlphaZeroRollouts

        return AlphaZeroRollouts(recipe, game)
    if recipe.kind == "tabular":
        from zermelo.learn.dqn.tabular import TabularRolloutPolicy

        return QLearningRollouts(recipe, game, TabularRolloutPolicy(recipe, game))
    from zermelo.learn.dqn.trainer import DQNRolloutPolicy

    return QLearningRollouts(recipe, game, DQNRolloutPolicy(recipe, game))


def create_actor_pool(
    recipe: Recipe, actors: int, cluster: str | None, rules: WordGame | None = None
) -> ActorPool | None:
    """Return a pool of `actors` processes, or of actors on the Ray cluster at address `cluster`.

    If neither is given, return None for a recipe whose trainer needs no pool, and a pool with one
    actor in this process for any other recipe. Raise BadSpec if actors are requested for a recipe
    that plays no games. An actor in this process uses `rules`, if given.
    """
    if recipe.kind == "supervised" and (actors or cluster is not None):
        msg = f"{recipe.name} plays no games, so it needs no actors and no cluster"
        raise BadSpec(msg)
    if actors or cluster is not None:
        _check_shareable(recipe)
    if cluster is not None:
        from zermelo.learn.actors.ray import RayActorPool

        return RayActorPool(create_rollout_function, recipe, cluster, actors)
    if actors:
        from zermelo.learn.actors.processes import ProcessActorPool

        return ProcessActorPool(create_rollout_function, recipe, actors)
    if recipe.kind == "value":
        return InProcessActor(create_rollout_function(recipe, rules))
    return None


def _check_shareable(recipe: Recipe) -> None:
    """Raise BadSpec if actors in other processes cannot load the code that a recipe names."""
    for what, spec in custom.custom_specs(recipe).items():
        if not custom.is_in_file(spec):
            msg = (
                f"the {what} {spec} is registered in this process only, where actors cannot find "
                "it: put it in a file and name it FILE.py:CLASS, or train without actors"
            )
            raise BadSpec(msg)
