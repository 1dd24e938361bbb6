"""Opponents in the phases of a recipe, as policies for a batch of games."""

from collections.abc import Mapping

import numpy as np

from zermelo.core.game import WordGame
from zermelo.core.player import Player
from zermelo.grading.policy import PlayerPolicy
from zermelo.learn.batch.game_batch import GameBatch
from zermelo.learn.batch.policies import Policy, careful_policy, random_policy
from zermelo.learn.config.learning import LEAGUE, SELF
from zermelo.learn.config.recipe import Recipe
from zermelo.players.registry import PlayerLike

CAREFUL = "careful"  #: an opponent that plays at random, but avoids moves that lose immediately


def build_opponents(
    recipe: Recipe,
    game: WordGame,
    seed: int,
    rng: np.random.Generator,
    players: Mapping[str, Player] | None = None,
) -> dict[str, Policy]:
    """Return {spec: policy} for the opponents in all phases, except the learner and its league.

    `players` are the opponents that are given as objects, by the names that phases use for them.
    """
    specs = dict.fromkeys(phase.opponent for phase in recipe.learning.phases)
    return {
        spec: player_policy((players or {})[spec], game, seed)
        if players and spec in players
        else build_opponent(spec, game, seed, rng)
        for spec in specs
        if spec not in (SELF, LEAGUE)
    }


def build_opponent(spec: str, game: WordGame, seed: int, rng: np.random.Generator) -> Policy:
    """Return the policy "random" or "careful", or the policy of the player with this spec."""
    if spec == "random":
        return random_policy(rng)
    if spec == CAREFUL:
        return careful_policy(GameBatch(game), rng)
    return player_policy(spec, game, seed)


def player_policy(player: PlayerLike, game: WordGame, seed: int) -> Policy:
    """Return the policy of a player.

    A stochastic player is seeded by state, so it always plays the same move in the same state.
    """
    policy = PlayerPolicy(game, player, seed)
    return lambda states, _legal: np.array([policy[tuple(map(int, row))] for row in states])
