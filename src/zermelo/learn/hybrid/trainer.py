"""Train a value network that evaluates the leaves of an alpha-beta search.

Values are from the view of the side to move. The learning target of a state depends on `targets`:

- `search`: the value of a shallow search with the network at its leaves. Proven values are exact,
  and other values are more accurate than the network's value of the state itself (descent:
  Cohen-Solal 2020). All moves of a position are searched, so one position yields about twenty
  learning targets.
- `steps`, as published: the reward if the game ends, else -g * V'(next state), where V' is the
  target network.

Searches may be deeper late in a game, where they cost little. A game stops when a search to the
normal depth proves its result. There is one update for each game or for every few games.
"""

import copy
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from zermelo.core.errors import BadSpec
from zermelo.core.game import WordGame
from zermelo.games.lines.small import WordLineGame
from zermelo.learn.actors.protocol import ActorPool, RolloutStream
from zermelo.learn.batch.encoders import Encoder, num_line_features
from zermelo.learn.batch.game_batch import GameBatch
from zermelo.learn.batch.replay import ReplayBuffer, Transitions
from zermelo.learn.config.learning import phase_at
from zermelo.learn.config.recipe import Recipe
from zermelo.learn.config.reports import TrainingDiverged, TrainingReport
from zermelo.learn.hybrid.rollouts import build_shallow_search
from zermelo.learn.networks import torch_arrays
from zermelo.learn.networks.value_network import LineNetwork, ResidualNetwork
from zermelo.learn.networks.weights_file import Array, Arrays

_NUM_RESULTS = 100  # number of recent game results in a report
VALUE_ENCODERS = {"lines": "lines", "residual": "features"}  #: kind of network -> its encoder
_NET, _TARGET_NET, _AVERAGE_NET = "net.", "slow.", "average."  # prefixes of arrays in checkpoints
_RNG_STATE, _NUM_ROLLOUTS = "dice", "chunks"  # keys in the metadata of checkpoints

ValueNetwork = LineNetwork | ResidualNetwork


def cross_entropy(values: Tensor, targets: Tensor) -> Tensor:
    """Return the cross-entropy loss of values in [-1, 1], interpreted as win probabilities."""
    return functional.binary_cross_entropy((values + 1) / 2, (targets + 1) / 2)


_LOSSES: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "mse": functional.mse_loss,
    "huber": functional.smooth_l1_loss,
    "cross": cross_entropy,
}


@dataclass(frozen=True)
class HybridReport(TrainingReport):
    """The state of a hybrid training run after an update."""

    mean_value: float  #: mean value of the states in the batch


class HybridTrainer:
    """Trains a value network on games played with shallow searches."""

    def __init__(
        self, recipe: Recipe, game: WordGame, seed: int, pool: ActorPool, device: str = "cpu"
    ) -> None:
        if not isinstance(game, WordLineGame):
            msg = f"{recipe.name}: value networks are for line games up to 64 cells"
            raise BadSpec(msg)
        self.recipe, self.config, self.game_batch = recipe, recipe.learning, GameBatch(game)
        self.device = torch.device(device)
        self.encoder = Encoder(VALUE_ENCODERS[recipe.network.kind], game)
        self.net = build_value_network(recipe, game).to(self.device)
        self.target_net = copy.deepcopy(self.net).eval()
        self.average_net = copy.deepcopy(self.net).eval()
        rate = self.config.rate.begin
        self.optimiser = torch.optim.Adam(self.net.parameters(), lr=rate, fused=True)
        self.replay = ReplayBuffer(recipe.replay.size, game.num_words)
        self.rng = np.random.default_rng(seed)
        self.rollouts = RolloutStream(pool, self.average_net.export, seed)
        self.search = build_shallow_search(recipe, game)
        self.updates = 0
        self.results: list[int] = []  #: of the latest games: 1, 0 or -1 for the learner

    def steps(self) -> Iterator[HybridReport]:
        """Make all remaining updates, and yield a report after each.

        At a checkpoint, rollouts that were requested but not yet used are discarded.
        """
        config = self.config
        while self.updates < config.updates:
            progress = self.updates / config.updates
            rollout = self.rollouts.next(progress)
            self.replay.add(Transitions(*(rollout[name] for name in Transitions._fields)))
            self.results = (self.results + rollout["results"].tolist())[-_NUM_RESULTS:]
            if len(self.replay) < config.warm_up:
                continue
            phase, phase_progress = phase_at(config.phases, progress)
            epsilon = phase.epsilon(phase_progress)
            for _ in range(len(rollout["results"]) // self.recipe.searching.games):
                rate = config.rate(self.updates / config.updates)
                loss, mean_value = self.update(rate)
                yield HybridReport(self.updates, loss, epsilon, rate, self.results, mean_value)
                if self.updates == config.updates:
                    return
                if self.updates % self.recipe.keeping.checkpoint == 0:
                    self.rollouts.restart()
                    break

    def update(self, rate: float) -> tuple[float, float]:
        """Make one update on random symmetric images of a batch; return (loss, mean value)."""
        config = self.config
        batch = self.replay.sample(config.batch, self.rng).transitions
        symmetries = self.rng.integers(0, self.game_batch.num_symmetries, config.batch)
        targets = torch.from_numpy(batch.returns).to(self.device)
        if batch.discounts.any():
            with torch.no_grad():
                next_values = self.target_net(self._encode(batch.next_states, symmetries))
            targets = targets + torch.from_numpy(batch.discounts).to(self.device) * next_values
        values = self.net.train()(self._encode(batch.states, symmetries))
        if not torch.isfinite(values).all():  # torch refuses to compute the cross-entropy of these
            raise TrainingDiverged(self.recipe.name, "a value")
        loss = _LOSSES[config.loss](values, targets)
        for group in self.optimiser.param_groups:
            group["lr"] = rate
        self.optimiser.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.net.parameters(), config.clip)
        self.optimiser.step()
        self.updates += 1
        if self.updates % config.every == 0:
            _move_towards(self.target_net, self.net, config.tau)
        _move_towards(self.average_net, self.net, 1 - config.average)
        with torch.no_grad():
            return float(loss), float(values.mean())

    def _encode(self, states: Array, symmetries: Array) -> Tensor:
        """Encode one symmetric image of each state or, for a line network, all its images."""
        if self.encoder.name != "lines":
            states = self.game_batch.transform(states, symmetries)
        return torch.from_numpy(self.encoder(states)).to(self.device)

    def values(self, states: Array) -> Array:
        """Return Q(s, a) = -V(play(s, a)) as [state, action]; terminal values are exact."""
        self.search.load(self.average_net.export())
        return self.search.search(states, 1).q

    def export(self) -> tuple[Arrays, dict[str, Any]]:
        """Return the averaged weights, and metadata: the network's shape and search settings."""
        searching = self.recipe.searching
        return self.average_net.export(), self.recipe.network.to_dict() | {
            "depth": searching.play_depth,
            "shares": [searching.play_network, searching.play_heuristic],
            "published": searching.published,
        }

    def to_arrays(self) -> tuple[Arrays, dict[str, Any]]:
        """Return the complete state of the training, for a checkpoint."""
        arrays = torch_arrays.training_state_to_arrays(self._networks(), self.optimiser)
        arrays |= self.replay.to_arrays()
        metadata = {
            "updates": self.updates,
            _NUM_ROLLOUTS: self.rollouts.num_consumed,
            "results": self.results,
            _RNG_STATE: self.rng.bit_generator.state,
        }
        return {name: np.ascontiguousarray(array) for name, array in arrays.items()}, metadata

    def load_arrays(self, arrays: Arrays, metadata: dict[str, Any]) -> None:
        """Restore the state that `to_arrays` returned."""
        torch_arrays.load_training_state(arrays, self._networks(), self.optimiser)
        self.replay.load_arrays(arrays)
        self.updates, self.results = int(metadata["updates"]), list(metadata["results"])
        self.rollouts.restart(int(metadata[_NUM_ROLLOUTS]))
        self.rng.bit_generator.state = metadata[_RNG_STATE]

    def _networks(self) -> dict[str, ValueNetwork]:
        return {_NET: self.net, _TARGET_NET: self.target_net, _AVERAGE_NET: self.average_net}

    def close(self) -> None:
        """Stop the actors."""
        self.rollouts.pool.close()


def build_value_network(recipe: Recipe, game: WordLineGame) -> ValueNetwork:
    """Return an untrained network, initialised from torch's global random generator."""
    if recipe.network.kind == "lines":
        return LineNetwork(recipe.network, num_line_features(game.grid))
    return ResidualNetwork(recipe.network, Encoder("features", game).size)


def _move_towards(follower: ValueNetwork, net: ValueNetwork, share: float) -> None:
    """Move the weights of `follower` towards those of `net` by `share` of their difference."""
    with torch.no_grad():
        torch._foreach_lerp_(list(follower.parameters()), list(net.parameters()), share)
