"""Opponents: whoever a learner meets, as a policy for many games at once."""

from typing import TYPE_CHECKING

import numpy as np

from zermelo.core.game import WordGame
from zermelo.grading.policy import PlayerPolicy
from zermelo.learn.batch.game_batch import GameBatch
from zermelo.learn.batch.policies import Policy, masked_argmax, random_policy

if TYPE_CHECKING:
    from zermelo.learn.config.recipe import Recipe

OWN = ("self", "league")  #: the learner itself, now or earlier
CAREFUL = "careful"  #: random, but for moves that lose at once


def opponents_for(
    recipe: "Recipe", game: WordGame, seed: int, rng: np.random.Generator
) -> dict[str, Policy]:
    """Those of a recipe's phases, by name, but for the learner itself."""
    specs = {phase.opponent: None for phase in recipe.learning.phases}
    return {spec: opponent(spec, game, seed, rng) for spec in specs if spec not in OWN}


def opponent(spec: str, game: WordGame, seed: int, rng: np.random.Generator) -> Policy:
    """A player as a policy; all but those with dice always answer a state in the same way."""
    if spec == "random":
        return random_policy(rng)
    if spec == CAREFUL:
        return careful_policy(GameBatch(game), rng)
    choices = PlayerPolicy(game, spec, seed)
    return lambda states, _legal: np.array([choices[tuple(map(int, row))] for row in states])


def careful_policy(game_batch: GameBatch, rng: np.random.Generator) -> Policy:
    """Every legal move that does not lose at once with the same chance; any, where all do."""

    def choose(states: np.ndarray, legal: np.ndarray) -> np.ndarray:
        rows, actions = (np.ascontiguousarray(part) for part in np.nonzero(legal))
        _, rewards, _ = game_batch.step(np.ascontiguousarray(states[rows]), actions)
        wanted = rng.random(legal.shape)
        wanted[rows, actions] -= rewards < 0
        return np.asarray(masked_argmax(wanted, legal))

    return choose
