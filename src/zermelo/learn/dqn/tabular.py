"""Q-learning with a table instead of a network.

    Q(s, a) += rate * (return + discount * max over legal a' of Q(s', a') - Q(s, a))

The returns and discounts are the same as for networks. A state is added to the table when the first
transition from it is learned.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from zermelo.core.game import WordGame
from zermelo.core.player import Player
from zermelo.learn.actors.protocol import ActorPool
from zermelo.learn.batch.game_batch import GameBatch
from zermelo.learn.batch.opponents import build_opponents
from zermelo.learn.batch.policies import Policy, masked_argmax
from zermelo.learn.batch.replay import Transitions
from zermelo.learn.config.recipe import Recipe
from zermelo.learn.config.reports import TrainingReport
from zermelo.learn.dqn.rollouts import ActorTransitions
from zermelo.learn.dqn.selfplay import TransitionSource, create_self_play
from zermelo.learn.networks.q_table import TABLE_KIND, QTable
from zermelo.learn.networks.weights_file import Arrays

# Names of arrays in checkpoints and in weights files.
_CHECKPOINT_STATES, _CHECKPOINT_VALUES = "table.states", "table.values"
_STATES, _VALUES = "states", "values"
_RNG_STATE = "dice"  # the key of the random state in the metadata of checkpoints


class TabularQFunction:
    """A table of Q values; with `canonical`, symmetric states share one row of the table."""

    def __init__(self, game: WordGame, *, canonical: bool) -> None:
        self.game_batch, self._is_canonical = GameBatch(game), canonical
        self.table = QTable(game.num_words, game.num_actions)

    def values(self, states: np.ndarray) -> np.ndarray:
        """Return the Q values of the states as [state, action]."""
        if not self._is_canonical:
            return self.table.values(states)
        images, symmetries = self.game_batch.canonicalise(states)
        action_maps = self.game_batch.action_maps[symmetries]
        return np.take_along_axis(self.table.values(images), action_maps, 1)

    def best_actions(self, states: np.ndarray, legal: np.ndarray) -> np.ndarray:
        """Return the legal action with the highest Q value for every state (greedy policy)."""
        return masked_argmax(self.values(states), legal)

    def update(self, transitions: Transitions, rate: float) -> np.ndarray:
        """Learn from all transitions at once, and return their TD errors.

        If several transitions have the same state and action, only the last one is used.
        """
        states, actions = transitions.states, transitions.actions
        if self._is_canonical:
            states, symmetries = self.game_batch.canonicalise(states)
            actions = self.game_batch.action_maps[symmetries, actions]
        rows = self.table.add_states(states)
        legal = self.game_batch.legal_masks(transitions.next_states)
        next_values = np.where(legal, self.values(transitions.next_states), -np.inf).max(1)
        ends = transitions.discounts == 0
        bootstrap = np.where(ends, 0.0, transitions.discounts * np.where(ends, 0.0, next_values))
        td_errors: np.ndarray = transitions.returns + bootstrap - self.table.q[rows, actions]
        self.table.q[rows, actions] += (rate * td_errors).astype(np.float32)
        return td_errors


class TabularTrainer:
    """Trains a tabular Q-function. For each update, one move is played in every game."""

    def __init__(
        self,
        recipe: Recipe,
        game: WordGame,
        seed: int,
        pool: ActorPool | None = None,
        players: Mapping[str, Player] | None = None,  # opponents that are objects, by name
    ) -> None:
        self.config, self.rng = recipe.learning, np.random.default_rng(seed)
        self.phase = recipe.learning.phases[0]
        opponents = build_opponents(recipe, game, seed, self.rng, players)
        self.opponent = opponents.get(self.phase.opponent)
        self.q_function = TabularQFunction(game, canonical=self.config.canonical)
        self.game_batch, self.table = self.q_function.game_batch, self.q_function.table
        self.source: TransitionSource = (
            create_self_play(recipe, self.game_batch, self.rng)
            if pool is None
            else ActorTransitions(recipe, pool, lambda: self.export()[0], seed)
        )
        self.updates = 0

    def steps(self) -> Iterator[TrainingReport]:
        """Alternate between playing moves and making updates; yield a report after each one."""
        while self.updates < self.config.updates:
            progress = self.updates / self.config.updates
            epsilon, rate = self.phase.epsilon(progress), self.config.rate(progress)
            self.source.set_progress(progress)
            transitions = self.source.step(self.q_function.best_actions, self.opponent, epsilon)
            # Suppress numpy's warnings: an infinite loss stops training with a clearer error.
            with np.errstate(over="ignore", invalid="ignore"):
                td_errors = self.q_function.update(transitions, rate)
                loss = float(np.square(td_errors).mean()) if len(td_errors) else 0.0
            self.updates += 1
            yield TrainingReport(self.updates, loss, epsilon, rate, self.source.results)

    def close(self) -> None:
        """Stop the actors, if there are any."""
        self.source.close()

    def values(self, states: np.ndarray) -> np.ndarray:
        """Return the Q values of the states as [state, action]."""
        return self.q_function.values(states)

    def export(self) -> tuple[Arrays, dict[str, Any]]:
        """Return the arrays of the table, and metadata which says that they are a table."""
        return {_STATES: self.table.states, _VALUES: self.table.q}, {"kind": TABLE_KIND}

    def to_arrays(self) -> tuple[Arrays, dict[str, Any]]:
        """Return the table, the games in progress and the random state for a checkpoint."""
        arrays = {_CHECKPOINT_STATES: self.table.states, _CHECKPOINT_VALUES: self.table.q}
        metadata = {"updates": self.updates, _RNG_STATE: self.rng.bit_generator.state}
        return arrays | self.source.to_arrays(), metadata

    def load_arrays(self, arrays: Arrays, metadata: dict[str, Any]) -> None:
        """Restore the state that `to_arrays` returned."""
        self.table.load(arrays[_CHECKPOINT_STATES], arrays[_CHECKPOINT_VALUES])
        self.source.load_arrays(arrays)
        self.updates = int(metadata["updates"])
        self.rng.bit_generator.state = metadata[_RNG_STATE]


class TabularRolloutPolicy:
    """The policy of actors in tabular Q-learning: greedy by a table of Q values."""

    def __init__(self, recipe: Recipe, game: WordGame) -> None:
        self._q_function = TabularQFunction(game, canonical=recipe.learning.canonical)
        self.game_batch = self._q_function.game_batch

    def load(self, weights: Arrays, rng: np.random.Generator) -> None:
        """Replace the table."""
        del rng
        self._q_function.table.load(weights[_STATES], weights[_VALUES])

    def policies(self) -> tuple[Policy, Policy | None]:
        """Return the greedy policy, and None because no earlier versions of a table are kept."""
        return self._q_function.best_actions, None
