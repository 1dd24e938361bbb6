"""Play batches of training games, against the learner or an opponent, and collect transitions.

A transition adds up the rewards of its plies, from the view of the side that makes its first move.
The reward at ply k, counted from 0, is multiplied by this signed discount:

- **self-play**: `g ** k`, negated if the other side moves at ply k; this is `(-g) ** k` in games
  whose sides alternate. The bootstrapped value assumes optimal play by both sides, so with one step
  it does not matter who chose the moves: opponents and earlier versions of the learner only lead to
  different states. With more steps, exploratory moves bias the returns a little.
- **response**: `(-1) ** k * g ** (k // 2)`. The opponent's moves are part of the environment: a
  move of the learner and the reply to it together are discounted once by `g`. Every transition
  begins with a move of the learner. The learner learns a best response to this opponent.
"""

from collections.abc import Callable
from typing import Protocol

import numpy as np

from zermelo.learn.batch import shaping
from zermelo.learn.batch.game_batch import GameBatch
from zermelo.learn.batch.policies import Policy
from zermelo.learn.batch.replay import Transitions
from zermelo.learn.config.recipe import Recipe
from zermelo.learn.config.selfplay import ActingConfig

Potential = Callable[[np.ndarray], np.ndarray]
"""states [game, word] -> potential of each state for the side to move"""

NUM_RESULTS = 100  #: the number of latest game results that are kept
# The names of the arrays that `SelfPlay` stores in checkpoints.
_GAMES, _STATES, _ACTIONS = "acting.games", "acting.states", "acting.actions"
_RETURNS, _AGES, _COUNTS = "acting.returns", "acting.ages", "acting.counts"


class TransitionSource(Protocol):
    """A Q-learner's source of transitions: its own self-play, or actors (`rollouts.py`)."""

    results: list[int]  #: results of the latest games for the learner: 1, 0 or -1

    def set_progress(self, progress: float) -> None:
        """Tell the source what fraction of the training is complete."""

    def step(self, policy: Policy, opponent: Policy | None, epsilon: float) -> Transitions:
        """Play one more move in every game; return the transitions that these moves complete."""

    def to_arrays(self) -> dict[str, np.ndarray]:
        """Return the state of this source, for a checkpoint."""

    def load_arrays(self, arrays: dict[str, np.ndarray]) -> None:
        """Restore the state of this source from the arrays of a checkpoint."""

    def close(self) -> None:
        """Stop the actors, if there are any."""


class SelfPlay:
    """A batch of games in progress, with their incomplete transitions."""

    def __init__(
        self,
        game_batch: GameBatch,
        config: ActingConfig,
        rng: np.random.Generator,
        potential: Potential | None = None,
    ) -> None:
        self.game_batch, self.config, self.rng, self.potential = game_batch, config, rng, potential
        games, span, words = config.games, config.span, game_batch.game.num_words
        self.seats = np.array(config.seats)[np.arange(games) % len(config.seats)]
        self.states = self._new_games(games)
        # [ply, game]: the transition that began at one of the last `span` plies of the game. It
        # consists of its first state and action, its return so far, and its age.
        self._states: np.ndarray = np.zeros((span, games, words), np.uint64)
        self._actions: np.ndarray = np.zeros((span, games), np.int64)
        self._returns: np.ndarray = np.zeros((span, games), np.float32)
        self._ages: np.ndarray = np.full((span, games), -1)  # in plies; -1 if there is none
        self._discounts = np.array([config.discount(ply) for ply in range(span + 1)], np.float32)
        self.plies = 0
        self.results: list[int] = []  #: results of the latest games for the learner: 1, 0 or -1

    def set_progress(self, progress: float) -> None:
        """Set the weight of a fading potential; `progress` is the completed share of training."""
        fade = getattr(self.potential, "fade", None)
        if fade is not None:
            fade(progress)

    def _new_games(self, number: int) -> np.ndarray:
        """Return the first states of new games; the share `config.sampled` of them is random.

        The other games begin after the moves of `config.opening`.
        """
        game_batch = self.game_batch
        states: np.ndarray = game_batch.initial_states(number)
        for action in self.config.opening:
            states, _, _ = game_batch.step(states, np.full(number, action))
        sampled = self.rng.random(number) < self.config.sampled
        if sampled.any():
            longest = game_batch.game.hooks.max_plies(game_batch.game.initial())
            seed = int(self.rng.integers(1 << 62))
            states[sampled] = game_batch.sample_states(int(sampled.sum()), longest, seed)
        return states

    def step(self, policy: Policy, opponent: Policy | None, epsilon: float) -> Transitions:
        """Play a move in every game, and return the transitions that these moves complete.

        Without an opponent, the learner plays both sides.
        """
        states = self.states
        legal = self.game_batch.legal_masks(states)
        is_own = np.ones(len(states), np.bool_)
        if opponent is not None:
            is_own = states[:, -1].astype(np.int64) == self.seats
        explores = self.rng.random(len(states)) < epsilon
        actions = (self.rng.random(legal.shape) * legal).argmax(1)
        exploits = is_own & ~explores
        if exploits.any():
            actions[exploits] = policy(states[exploits], legal[exploits])
        if opponent is not None and not is_own.all():
            actions[~is_own] = opponent(states[~is_own], legal[~is_own])
        after, rewards, over = self.game_batch.step(states, actions)
        self._record_results(rewards, states, over)
        if self.potential is not None:
            rewards = rewards + self._shaping_rewards(states, after, over, is_own)
        begins = is_own if self.config.response else np.ones(len(states), np.bool_)
        transitions = self._complete_transitions(states, actions, rewards, after, over, begins)
        self.states = after
        if over.any():
            self.states[over] = self._new_games(int(over.sum()))
        self.plies += 1
        return transitions

    def _shaping_rewards(
        self, states: np.ndarray, after: np.ndarray, over: np.ndarray, is_own: np.ndarray
    ) -> np.ndarray:
        """Return the shaping rewards of the moves from the potential P; see `batch/shaping.py`.

        A move earns -g * P(after) - P(state), where P(after) is negated because the other side is
        to move then. These rewards leave the optimal policy unchanged.
        """
        assert self.potential is not None
        after_potential = np.where(over, 0.0, self.potential(after))
        # As with the discounts, a best response applies `g` only after the opponent's reply.
        ratio = np.where(is_own & self.config.response, 1.0, self.config.gamma)
        return (-ratio * after_potential - self.potential(states)).astype(np.float32)

    def _complete_transitions(
        self,
        states: np.ndarray,
        actions: np.ndarray,
        rewards: np.ndarray,
        after: np.ndarray,
        over: np.ndarray,
        begins: np.ndarray,
    ) -> Transitions:
        """Begin a transition in each game where `begins` is set; return complete transitions."""
        span = self.config.span
        slot = self.plies % span
        self._states[slot], self._actions[slot] = states, actions
        self._returns[slot], self._ages[slot] = 0.0, np.where(begins, 0, -1)
        running = self._ages >= 0
        discounts = self._signs(states) * self._discounts[self._ages]
        self._returns += np.where(running, discounts * rewards, 0.0)
        self._ages[running] += 1
        complete = running & ((self._ages == span) | over)
        self._ages[complete] = -1
        _, game = np.nonzero(complete)
        last_discounts = (self._signs(after) * self._discounts[span])[complete]
        return Transitions(
            self._states[complete],
            self._actions[complete],
            self._returns[complete],
            np.where(over[game], 0.0, last_discounts).astype(np.float32),
            after[game],
        )

    def _signs(self, states: np.ndarray) -> np.ndarray:
        """Return 1 for each transition whose first mover is to move in `states`, else -1."""
        is_same = self._states[:, :, -1] == states[:, -1]
        return np.where(is_same, np.float32(1), np.float32(-1))

    def _record_results(self, rewards: np.ndarray, states: np.ndarray, over: np.ndarray) -> None:
        if over.any():
            mover = states[over, -1].astype(np.int64)
            results = rewards[over] * np.where(mover == self.seats[over], 1, -1)
            self.results = (self.results + results.astype(int).tolist())[-NUM_RESULTS:]

    def to_arrays(self) -> dict[str, np.ndarray]:
        """Return the games, their incomplete transitions and the results, for a checkpoint."""
        return {
            _GAMES: self.states,
            _STATES: self._states,
            _ACTIONS: self._actions,
            _RETURNS: self._returns,
            _AGES: self._ages,
            _COUNTS: np.array([self.plies, *self.results], np.int64),
        }

    def load_arrays(self, arrays: dict[str, np.ndarray]) -> None:
        """Restore the state that `to_arrays` returned."""
        self.states = arrays[_GAMES].copy()
        self._states[:], self._actions[:] = arrays[_STATES], arrays[_ACTIONS]
        self._returns[:], self._ages[:] = arrays[_RETURNS], arrays[_AGES]
        self.plies, *self.results = arrays[_COUNTS].tolist()

    def close(self) -> None:
        """Do nothing: there are no actors to stop."""


def create_self_play(recipe: Recipe, game_batch: GameBatch, rng: np.random.Generator) -> SelfPlay:
    """Return a batch of new games with the recipe's settings and reward shaping."""
    name, schedule = recipe.shaping.name, recipe.shaping.fade
    potential = shaping.build_potential(name, game_batch, schedule) if name else None
    return SelfPlay(game_batch, recipe.acting, rng, potential)
