"""The trainer of AlphaZero: rollouts, updates and checkpoints."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from zermelo.core.game import WordGame
from zermelo.games.state_layout import check_planes
from zermelo.learn.actors.protocol import ActorPool, InProcessActor, RolloutStream
from zermelo.learn.alphazero.learner import AlphaZeroLearner, PositionReplay
from zermelo.learn.alphazero.rollouts import AlphaZeroRollouts, search_options
from zermelo.learn.alphazero.search_gpu import TensorSearch
from zermelo.learn.alphazero.search_parameters import ILLEGAL_LOGIT
from zermelo.learn.alphazero.selfplay import TrainingPositions
from zermelo.learn.alphazero.tensor_games import TensorGame, TensorState
from zermelo.learn.batch.evaluation_sets import EvaluationSet
from zermelo.learn.batch.game_batch import GameBatch
from zermelo.learn.config.recipe import Recipe
from zermelo.learn.config.reports import TrainingReport
from zermelo.learn.networks import torch_arrays
from zermelo.learn.networks.custom import CustomPolicyValueNetwork
from zermelo.learn.networks.evaluation import PolicyValueFunction, average_over_symmetries
from zermelo.learn.networks.policy_value import (
    PolicyValueNetwork,
    build_network,
    load_custom_encoder,
)
from zermelo.learn.networks.weights_file import Array, Arrays

_NUM_RESULTS = 100  # number of recent game results in a report
# Names, and prefixes of names, of arrays and metadata in checkpoints.
_NET, _AVERAGE_NET, _REPLAY, _RNG_STATE = "net.", "average.", "replay.", "dice"
_NUM_ROLLOUTS, _NEXT_INDEX = "chunks", "next"


@dataclass(frozen=True)
class AlphaZeroReport(TrainingReport):
    """The state of an AlphaZero training run after an update.

    The losses are means over all updates that follow the same rollout.
    """

    policy_loss: float
    value_loss: float


class AlphaZeroTrainer:
    """Trains a policy-value network by self-play with tree search."""

    def __init__(
        self,
        recipe: Recipe,
        game: WordGame,
        seed: int,
        pool: ActorPool | None = None,
        device: str = "cpu",
    ) -> None:
        encoder = load_custom_encoder(recipe.encoder, game)
        if encoder is None:
            check_planes(game)
        self.recipe, self.config, self.game_batch = recipe, recipe.learning, GameBatch(game)
        self.game = TensorGame(game, device, encoder)
        self.device = self.game.device
        net = build_network(recipe.network, game, recipe.encoder)
        net = net.to(self.device, memory_format=torch.channels_last)
        self.replay = PositionReplay(self.game, recipe.replay.size)
        self.learner = AlphaZeroLearner(
            net,
            self.game,
            self.replay,
            batch=self.config.batch,
            average=self.config.average,
            clip=self.config.clip,
        )
        self.rng = torch.Generator(device=self.device).manual_seed(seed)
        pool = pool or InProcessActor(AlphaZeroRollouts(recipe, game, device))
        self.rollouts = RolloutStream(pool, self._actor_weights, seed)
        self.results: list[int] = []  #: results of the latest games for the first player

    def _actor_weights(self) -> Arrays:
        arrays = torch_arrays.network_to_arrays("", self.learner.average_net)
        return {name: array.copy() for name, array in arrays.items()}

    @property
    def updates(self) -> int:
        """The number of updates so far."""
        return self.learner.updates

    def steps(self) -> Iterator[AlphaZeroReport]:
        """Make all remaining updates, and yield a report for each.

        All updates that follow a rollout are made before the first of them is reported.
        """
        config = self.config
        while self.updates < config.updates:
            rollout = self.rollouts.next(self.updates / config.updates)
            self.results = (self.results + rollout["results"].tolist())[-_NUM_RESULTS:]
            columns = (torch.from_numpy(rollout[name]) for name in TrainingPositions._fields)
            self.replay.add(TrainingPositions(*(column.to(self.device) for column in columns)))
            if self.replay.used < config.warm_up:
                continue
            before = self.updates
            policy_loss, value_loss, rate = self._make_updates()
            if self.updates % self.recipe.keeping.checkpoint == 0:
                self.rollouts.restart()
            loss = policy_loss + value_loss
            for update in range(before + 1, self.updates + 1):
                yield AlphaZeroReport(
                    update, loss, 0.0, rate, self.results, policy_loss, value_loss
                )

    def _make_updates(self) -> tuple[float, float, float]:
        """Make the updates that follow a rollout; return (policy loss, value loss, learning rate).

        The losses are means over these updates, and the learning rate is that of the last one.
        """
        config, number = self.config, self.recipe.selfplay.updates
        indices = self.replay.sample(number, config.batch, self.rng)
        num_images = self.game.num_symmetries if config.canonical else 1
        symmetries = torch.randint(
            num_images, indices.shape, device=self.device, generator=self.rng
        )
        total = torch.zeros(2, device=self.device)
        rate = 0.0
        for update in range(number):
            rate = config.rate(self.updates / config.updates)
            total += self.learner.update(indices[update], symmetries[update], rate)
        policy_loss, value_loss = (total / number).tolist()
        return policy_loss, value_loss, rate

    def values(self, states: Array) -> Array:
        """Return values [state, action] that rank actions by the policy.

        The value of an action is the value of the state, plus the log-probability of the action,
        minus that of the best action. So the best action has the value of the state.
        """
        state = self._to_tensors(states)
        with torch.no_grad():
            logits, values = self._evaluation()(self.game.planes(state))
        logits = torch.where(self.game.legal(state), logits, ILLEGAL_LOGIT)
        q: Array = (values[:, None] + logits - logits.amax(1, keepdim=True)).cpu().numpy()
        return q

    def grade(self, evaluation_set: EvaluationSet) -> dict[str, Any]:
        """Return the mistake rates of the policy without search, and of the search used in play."""
        config, states = self.recipe.selfplay, evaluation_set.states
        search = TensorSearch(
            self.game,
            self._evaluation(),
            len(states),
            config.play_simulations,
            **search_options(config),
        )
        with torch.no_grad():
            actions = search(self._to_tensors(states)).actions.cpu().numpy()
        return {
            "positions": len(states),
            "raw": evaluation_set.mistake_rate(self.values(states).argmax(1)),
            "search": evaluation_set.mistake_rate(actions),
            "simulations": config.play_simulations,
        }

    def _to_tensors(self, states: Array) -> TensorState:
        words = torch.from_numpy(states.view(np.int64)).to(self.device)
        return tuple(words.unbind(1))

    def _evaluation(self) -> PolicyValueFunction:
        """Return the network's evaluation function in the form that is used in play."""
        images = self.recipe.selfplay.images
        return average_over_symmetries(
            self.learner.average_net.evaluate, self.game_batch.game, images
        )

    def export(self) -> tuple[Arrays, dict[str, Any]]:
        """Return the averaged weights, and metadata: the network's shape and its search options."""
        config, net = self.recipe.selfplay, self.learner.average_net
        is_custom = isinstance(net, CustomPolicyValueNetwork)
        return net.export(), (net.shape if is_custom else net.config.to_dict()) | {
            "simulations": config.play_simulations,
            "considered": config.considered,
            "images": config.images,
        }

    def to_arrays(self) -> tuple[Arrays, dict[str, Any]]:
        """Return the complete state of the training, for a checkpoint."""
        arrays = torch_arrays.training_state_to_arrays(self._networks(), self.learner.optimiser)
        arrays[_RNG_STATE] = self.rng.get_state().numpy()
        for name, rows in self.replay.rows._asdict().items():
            arrays[_REPLAY + name] = rows[: self.replay.used].cpu().numpy()
        metadata = {
            "updates": self.updates,
            _NUM_ROLLOUTS: self.rollouts.num_consumed,
            "results": self.results,
            _NEXT_INDEX: self.replay.next,
        }
        return {name: np.ascontiguousarray(array) for name, array in arrays.items()}, metadata

    def load_arrays(self, arrays: Arrays, metadata: dict[str, Any]) -> None:
        """Restore the state that `to_arrays` returned."""
        torch_arrays.load_training_state(arrays, self._networks(), self.learner.optimiser)
        self.rng.set_state(torch.from_numpy(arrays[_RNG_STATE].copy()))
        columns = (arrays[_REPLAY + name] for name in TrainingPositions._fields)
        positions = TrainingPositions(*map(torch.from_numpy, columns))
        self.replay.load(positions, int(metadata[_NEXT_INDEX]))
        self.learner.updates = int(metadata["updates"])
        self.results = [int(result) for result in metadata["results"]]
        self.rollouts.restart(int(metadata[_NUM_ROLLOUTS]))

    def _networks(self) -> dict[str, PolicyValueNetwork]:
        return {_NET: self.learner.net, _AVERAGE_NET: self.learner.average_net}

    def close(self) -> None:
        """Stop the actors."""
        self.rollouts.pool.close()
