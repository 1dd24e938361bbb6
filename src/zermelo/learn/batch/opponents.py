"""Opponents in the phases of a recipe, as policies for a batch of games."""

import numpy as np

from zermelo.core.game import WordGame
from zermelo.grading.policy import PlayerPolicy
from zermelo.learn.batch.game_batch import GameBatch
from zermelo.learn.batch.policies import Policy, careful_policy, random_policy
from zermelo.learn.config.learning import LEAGUE, SELF
from zermelo.learn.config.recipe import Recipe

CAREFUL = "careful"  #: an opponent that plays at random, but avoids moves that lose immediately


def build_opponents(
    recipe: Recipe, game: WordGame, seed: int, rng: np.random.Generator
) -> dict[str, Policy]:
    """Return {spec: policy} for the opponents in all phases, except the learner and its league."""
    specs = dict.fromkeys(phase.opponent for phase in recipe.learning.phases)
    return {
        spec: build_opponent(spec, game, seed, rng) for spec in specs if spec not in (SELF, LEAGUE)
    }


def build_opponent(spec: str, game: WordGame, seed: int, rng: np.random.Generator) -> Policy:
    """Return the policy "random" or "careful", or the policy of the player with this spec.

    A player that samples its moves is seeded by state, so it always plays the same move in a state.
    """
    if spec == "random":
        return random_policy(rng)
    if spec == CAREFUL:
        return careful_policy(GameBatch(game), rng)
    player = PlayerPolicy(game, spec, seed)
    return lambda states, _legal: np.array([player[tuple(map(int, row))] for row in states])
