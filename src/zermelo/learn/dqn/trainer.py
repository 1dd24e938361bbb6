"""The trainer of deep Q-networks: a learner, its replay buffer, its games, and checkpoints."""

import copy
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import torch

from zermelo.core.errors import BadSpec
from zermelo.core.game import WordGame
from zermelo.core.player import Player
from zermelo.learn.actors.protocol import ActorPool
from zermelo.learn.batch.custom_encoder import CustomEncoder, build_encoder
from zermelo.learn.batch.encoders import Encoder
from zermelo.learn.batch.game_batch import GameBatch
from zermelo.learn.batch.opponents import build_opponents
from zermelo.learn.batch.planes import check_convolutions
from zermelo.learn.batch.policies import Policy
from zermelo.learn.batch.replay import ReplayBuffer
from zermelo.learn.config.learning import LearningConfig
from zermelo.learn.config.network import CNN
from zermelo.learn.config.recipe import Recipe
from zermelo.learn.dqn.learner import AnyQNetwork, DQNLearner, DQNReport, QFunction, train_dqn
from zermelo.learn.dqn.rollouts import ActorTransitions
from zermelo.learn.dqn.selfplay import TransitionSource, create_self_play
from zermelo.learn.networks import torch_arrays
from zermelo.learn.networks.custom import CustomQNetwork, build_custom_q_network
from zermelo.learn.networks.q_network import QNetwork, export_q_network
from zermelo.learn.networks.weights_file import Arrays

# Prefixes and names of the arrays in checkpoints.
_NET, _TARGET_NET, _AVERAGE_NET = "net.", "slow.", "average."
_NOISE_RNG, _CUDA_RNG = "noise", "cuda"
_RNG_STATE = "dice"  # the key of the random state in the metadata of checkpoints
_EARLIER_NET = "older."  # prefix of the weights of an earlier version, when sent to actors


class DQNTrainer:
    """Trains a Q network on games that this process or its actors play."""

    def __init__(
        self,
        recipe: Recipe,
        game: WordGame,
        seed: int,
        pool: ActorPool | None = None,
        device: str = "cpu",
        players: Mapping[str, Player] | None = None,  # opponents that are objects, by name
    ) -> None:
        self.rng = np.random.default_rng(seed)
        self.opponents = build_opponents(recipe, game, seed, self.rng, players)
        self.learner = create_learner(recipe, game, device)
        self.game_batch = self.learner.game_batch
        replay = recipe.replay
        self.replay = ReplayBuffer(replay.size, game.num_words, replay.alpha, replay.beta)
        self.source: TransitionSource = (
            create_self_play(recipe, self.game_batch, self.rng)
            if pool is None
            else ActorTransitions(recipe, pool, self._actor_weights, seed)
        )
        self.league: list[AnyQNetwork] = []  #: earlier versions of the network

    @property
    def updates(self) -> int:
        """The number of updates so far."""
        return self.learner.updates

    def steps(self) -> Iterator[DQNReport]:
        """Make all remaining updates, and yield a report after each update."""
        return train_dqn(
            self.learner, self.source, self.replay, self.opponents, self.league, self.rng
        )

    def close(self) -> None:
        """Stop the actors, if there are any."""
        self.source.close()

    def _actor_weights(self) -> Arrays:
        """Return the weights of the network, and of a random league member if there is one."""
        arrays = torch_arrays.network_to_arrays(_NET, self.learner.net)
        if self.league:
            earlier = self.league[int(self.rng.integers(len(self.league)))]
            arrays |= torch_arrays.network_to_arrays(_EARLIER_NET, earlier)
        return {name: array.copy() for name, array in arrays.items()}

    def values(self, states: np.ndarray) -> np.ndarray:
        """Return the Q values [state, action], computed with the averaged weights."""
        return self.learner.values(states, self.learner.average_net)

    def export(self) -> tuple[Arrays, dict[str, Any]]:
        """Return the averaged weights for play, and the shape of the network."""
        return export_learner(self.learner)

    def to_arrays(self) -> tuple[Arrays, dict[str, Any]]:
        """Return the complete state of the training, for a checkpoint."""
        arrays = learner_to_arrays(self.learner)
        for number, net in enumerate(self.league):
            arrays |= torch_arrays.network_to_arrays(_league_prefix(number), net)
        arrays |= self.source.to_arrays() | self.replay.to_arrays()
        metadata = {
            "updates": self.updates,
            "league": len(self.league),
            _RNG_STATE: self.rng.bit_generator.state,
        }
        return {name: np.ascontiguousarray(array) for name, array in arrays.items()}, metadata

    def load_arrays(self, arrays: Arrays, metadata: dict[str, Any]) -> None:
        """Restore the state that `to_arrays` returned."""
        self.league[:] = [copy.deepcopy(self.learner.net) for _ in range(int(metadata["league"]))]
        for number, net in enumerate(self.league):
            net.load_state_dict(torch_arrays.arrays_to_tensors(arrays, _league_prefix(number)))
        load_learner(self.learner, arrays, int(metadata["updates"]))
        self.source.load_arrays(arrays)
        self.replay.load_arrays(arrays)
        self.rng.bit_generator.state = metadata[_RNG_STATE]


def _league_prefix(number: int) -> str:
    return f"league{number}."


class DQNRolloutPolicy:
    """The policy of actors in DQN training: greedy by a Q network."""

    def __init__(self, recipe: Recipe, game: WordGame) -> None:
        # Not a DQNLearner: it would create an optimiser, and torch imports optimisers slowly.
        self._q_function = QFunction(*_create_parts(recipe, game))
        self._earlier_net = copy.deepcopy(self._q_function.net)
        self._has_earlier = False
        self.game_batch = self._q_function.game_batch

    def load(self, weights: Arrays, rng: np.random.Generator) -> None:
        """Replace the weights, and sample new noise for noisy layers."""
        net = self._q_function.net
        net.load_state_dict(torch_arrays.arrays_to_tensors(weights, _NET))
        earlier = torch_arrays.arrays_to_tensors(weights, _EARLIER_NET)
        self._has_earlier = bool(earlier)
        if earlier:
            self._earlier_net.load_state_dict(earlier)
        net.sample_noise(torch.Generator().manual_seed(int(rng.integers(1 << 62))))

    def policies(self) -> tuple[Policy, Policy | None]:
        """Return the greedy policy of the network, and that of an earlier network or None."""
        earlier = self._q_function.policy(self._earlier_net) if self._has_earlier else None
        return self._q_function.policy(), earlier


def create_learner(recipe: Recipe, game: WordGame, device: str) -> DQNLearner:
    """Return a learner whose network has random weights from torch's global generator."""
    return DQNLearner(*_create_parts(recipe, game), device)


def _create_parts(
    recipe: Recipe, game: WordGame
) -> tuple[AnyQNetwork, Encoder | CustomEncoder, GameBatch, LearningConfig]:
    game_batch, encoder = GameBatch(game), build_encoder(recipe.encoder, game)
    return _build_network(recipe, game, encoder), encoder, game_batch, recipe.learning


def _build_network(recipe: Recipe, game: WordGame, encoder: Encoder | CustomEncoder) -> AnyQNetwork:
    config = recipe.network
    if config.is_custom:
        return build_custom_q_network(config.kind, game, encoder)
    check_convolutions(config.kind, game)
    if config.kind == CNN and len(encoder.shape) != 3:
        msg = (
            f"{recipe.name}: network.kind is 'cnn', which needs planes [plane, row, column], but "
            f"encoder is {encoder.name!r}, with shape {list(encoder.shape)}"
        )
        raise BadSpec(msg)
    return QNetwork(config, encoder.shape, game.num_actions)


def export_learner(learner: DQNLearner) -> tuple[Arrays, dict[str, Any]]:
    """Return the averaged weights for play, and the shape of the network."""
    net = learner.average_net
    if isinstance(net, CustomQNetwork):
        return net.export(), net.shape
    return export_q_network(net), net.config.to_dict()


def initial_actor_weights(recipe: Recipe, game: WordGame) -> Arrays:
    """Return the weights of an untrained network, in the form that actors expect."""
    return torch_arrays.network_to_arrays(_NET, create_learner(recipe, game, "cpu").net)


def learner_to_arrays(learner: DQNLearner) -> Arrays:
    """Return the networks, the optimiser and torch's random states, for a checkpoint."""
    arrays = torch_arrays.training_state_to_arrays(_networks(learner), learner.optimiser)
    arrays[_NOISE_RNG] = learner.noise_rng.get_state().numpy()
    if learner.device.type == "cuda":
        arrays[_CUDA_RNG] = torch.cuda.get_rng_state(learner.device).numpy()
    return arrays


def load_learner(learner: DQNLearner, arrays: Arrays, updates: int) -> None:
    """Restore the learner from arrays that `learner_to_arrays` returned."""
    torch_arrays.load_training_state(arrays, _networks(learner), learner.optimiser)
    learner.noise_rng.set_state(torch.from_numpy(arrays[_NOISE_RNG]))
    if learner.device.type == "cuda":
        torch.cuda.set_rng_state(torch.from_numpy(arrays[_CUDA_RNG]), learner.device)
    learner.updates = updates


def _networks(learner: DQNLearner) -> dict[str, AnyQNetwork]:
    return {_NET: learner.net, _TARGET_NET: learner.target_net, _AVERAGE_NET: learner.average_net}
