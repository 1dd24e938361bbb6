"""Rollouts of Q-learning: how actors play them, and how a trainer gets transitions from them.

In a rollout, a fixed number of moves is played in each game of a batch. The games are new, and
those that are not over at the end of the rollout are abandoned. At each step, the trainer takes the
transitions of one move of every game, so it makes as many updates per move as if it played the
games itself.
"""

from collections.abc import Callable
from typing import Protocol

import numpy as np

from zermelo.core.game import WordGame
from zermelo.learn.actors.protocol import ActorPool, RolloutRequest, RolloutStream
from zermelo.learn.batch.game_batch import GameBatch
from zermelo.learn.batch.opponents import build_opponents
from zermelo.learn.batch.policies import Policy
from zermelo.learn.batch.replay import Transitions
from zermelo.learn.config.learning import LEAGUE, phase_at
from zermelo.learn.config.recipe import Recipe
from zermelo.learn.dqn.selfplay import NUM_RESULTS, create_self_play
from zermelo.learn.networks.weights_file import Arrays

_MIN_MOVES = 64  # minimum number of moves in each game of a rollout
_MOVE_SIZES, _RESULTS = "counts", "results"  # arrays in a rollout, besides those of Transitions
_CHECKPOINT_COUNTS = "sent.counts"  # array in checkpoints: number of rollouts used, results


class ActorTransitions:
    """A source of transitions from games that are played by actors instead of the trainer."""

    def __init__(
        self, recipe: Recipe, pool: ActorPool, weights: Callable[[], Arrays], seed: int
    ) -> None:
        self._stream = RolloutStream(pool, weights, seed)
        self._checkpoint_interval = recipe.keeping.checkpoint
        self._total_updates = recipe.learning.updates
        self._moves: list[Transitions] = []  # one entry per move that `step` has not returned yet
        self._progress = 0.0
        self.results: list[int] = []  #: results of the latest games for the learner: 1, 0 or -1

    @property
    def pool(self) -> ActorPool:
        """The actors that play the rollouts."""
        return self._stream.pool

    def set_progress(self, progress: float) -> None:
        """Set the completed fraction of the training.

        If a checkpoint has just been written, also discard the rollouts from before it.
        """
        update = round(progress * self._total_updates)
        if update and update % self._checkpoint_interval == 0 and progress != self._progress:
            self._moves = []
            self._stream.restart()
        self._progress = progress

    def step(self, policy: Policy, opponent: Policy | None, epsilon: float) -> Transitions:
        """Return the transitions of the next move in every game.

        The arguments are ignored, because the actors have already chosen the moves.
        """
        del policy, opponent, epsilon
        if not self._moves:
            rollout = self._stream.next(self._progress)
            self._moves = _split_by_move(rollout)
            self.results = (self.results + rollout[_RESULTS].tolist())[-NUM_RESULTS:]
        return self._moves.pop(0)

    def to_arrays(self) -> Arrays:
        """Return the state for a checkpoint, which must be written just before rollouts restart."""
        return {_CHECKPOINT_COUNTS: np.array([self._stream.num_consumed, *self.results], np.int64)}

    def load_arrays(self, arrays: Arrays) -> None:
        """Restore the state that `to_arrays` returned."""
        num_consumed, *self.results = arrays[_CHECKPOINT_COUNTS].tolist()
        self._stream.restart(num_consumed)

    def close(self) -> None:
        """Stop the actors."""
        self.pool.close()


def _split_by_move(rollout: Arrays) -> list[Transitions]:
    columns = Transitions(*(rollout[name] for name in Transitions._fields))
    sizes = rollout[_MOVE_SIZES]
    return [
        Transitions(*(column[end - size : end] for column in columns))
        for end, size in zip(np.cumsum(sizes), sizes, strict=True)
    ]


class RolloutPolicy(Protocol):
    """A learned policy with which actors play; its weights can be replaced."""

    game_batch: GameBatch

    def load(self, weights: Arrays, rng: np.random.Generator) -> None:
        """Replace the weights; `rng` seeds the noise of noisy networks."""

    def policies(self) -> tuple[Policy, Policy | None]:
        """Return the learner's policy, and that of an earlier version (None if there is none)."""


class QLearningRollouts:
    """The function with which actors play rollouts for a Q-learner."""

    def __init__(self, recipe: Recipe, game: WordGame, policy: RolloutPolicy) -> None:
        self.recipe, self.game, self.policy = recipe, game, policy
        longest = game.hooks.max_plies(game.initial())
        self.num_moves = max(_MIN_MOVES, 2 * longest)

    def __call__(self, weights: Arrays, request: RolloutRequest) -> Arrays:
        """Play a rollout, and return its transitions and the results of its finished games."""
        recipe, rng = self.recipe, request.new_rng()
        self.policy.load(weights, rng)
        phase, phase_progress = phase_at(recipe.learning.phases, request.progress)
        epsilon = request.actor_epsilon(phase.epsilon(phase_progress))
        policy, earlier_policy = self.policy.policies()
        opponents = build_opponents(recipe, self.game, request.seed[0], rng)
        is_league = phase.opponent == LEAGUE
        opponent = earlier_policy if is_league else opponents.get(phase.opponent)
        self_play = create_self_play(recipe, self.policy.game_batch, rng)
        self_play.set_progress(request.progress)
        results: list[int] = []
        moves = []
        for _ in range(self.num_moves):
            self_play.results = []
            moves.append(self_play.step(policy, opponent, epsilon))
            results += self_play.results
        columns = zip(Transitions._fields, zip(*moves, strict=True), strict=True)
        transitions = {name: np.concatenate(parts) for name, parts in columns}
        sizes = np.array([len(move.actions) for move in moves], np.int64)
        return transitions | {_MOVE_SIZES: sizes, _RESULTS: np.array(results, np.int64)}
