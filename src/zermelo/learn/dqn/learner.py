"""Deep Q-learning for two players: the training loop, the learning targets and the loss.

Values are from the view of the side to move, so the value of the next state is negated. With
discount g, the learning target of an action is

    one step   r                                         at the end of the game
               -g * Q'(s', argmax over legal a' of Q(s', a'))   otherwise
    n steps    sum of (-g)^k r_k  +  (-g)^n * Q'(s_n, …)

Transitions (`selfplay.py`) contain the sum as `returns` and the factor (-g)^n as `discounts`, so
`compute_td_targets` uses one formula for all cases. Q' is the target network, which follows Q
slowly. With `double`, Q chooses the action and Q' evaluates it (double DQN: van Hasselt et al.
2016).
"""

import copy
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from zermelo.learn.batch.custom_encoder import CustomEncoder
from zermelo.learn.batch.encoders import Encoder
from zermelo.learn.batch.game_batch import GameBatch
from zermelo.learn.batch.policies import Policy, masked_argmax
from zermelo.learn.batch.replay import ReplayBatch, ReplayBuffer
from zermelo.learn.config.learning import LEAGUE, LearningConfig, phase_at
from zermelo.learn.config.reports import TrainingReport
from zermelo.learn.dqn.selfplay import TransitionSource
from zermelo.learn.networks.custom import CustomQNetwork
from zermelo.learn.networks.q_network import QNetwork

AnyQNetwork = QNetwork | CustomQNetwork
_ILLEGAL = -1e9
_LEAGUE_SIZE = 8
_LOSSES = {"huber": functional.smooth_l1_loss, "mse": functional.mse_loss}


@dataclass(frozen=True)
class DQNReport(TrainingReport):
    """The state of a DQN training run after an update."""

    mean_q: float  #: mean Q of the state-action pairs in the batch


def train_dqn(
    learner: "DQNLearner",
    source: TransitionSource,
    replay: ReplayBuffer,
    opponents: dict[str, Policy],
    league: list[AnyQNetwork],
    rng: np.random.Generator,
) -> Iterator[DQNReport]:
    """Alternate between playing moves and making updates; yield a report after each update."""
    config = learner.config
    while learner.updates < config.updates:
        progress = learner.updates / config.updates
        phase, phase_progress = phase_at(config.phases, progress)
        epsilon = phase.epsilon(phase_progress)
        learner.net.sample_noise(learner.noise_rng)
        source.set_progress(progress)
        opponent = opponents.get(phase.opponent)
        if phase.opponent == LEAGUE and league:
            opponent = learner.policy(league[int(rng.integers(len(league)))])
        for _ in range(config.moves):
            replay.add(source.step(learner.policy(), opponent, epsilon))
        if len(replay) < config.warm_up:
            continue
        rate = config.rate(progress)
        batch = replay.sample(config.batch, rng)
        loss, mean_q, td_errors = learner.update(batch, rate)
        replay.update_priorities(batch.indices, td_errors)
        if config.league and learner.updates % config.league == 0:
            league.append(copy.deepcopy(learner.net))
            del league[:-_LEAGUE_SIZE]
        yield DQNReport(learner.updates, loss, epsilon, rate, source.results, mean_q)


def compute_td_targets(
    returns: Tensor, discounts: Tensor, q: Tensor, target_q: Tensor, legal: Tensor, *, double: bool
) -> Tensor:
    """Return the learning targets of transitions as [transition].

    `q` and `target_q` are Q and Q' of the next states, and `legal` marks the legal actions of the
    next states; all three are [transition, action].
    """
    chooser = q if double else target_q
    best = chooser.masked_fill(~legal, _ILLEGAL).argmax(1, keepdim=True)
    next_values = target_q.gather(1, best).squeeze(1)
    # At the end of a game no action is legal, and the discount is 0.
    return returns + torch.where(discounts == 0, 0.0, discounts * next_values)


class QFunction:
    """A Q network with the encoder that turns states into its inputs."""

    def __init__(
        self,
        net: AnyQNetwork,
        encoder: Encoder | CustomEncoder,
        game_batch: GameBatch,
        config: LearningConfig,
        device: str = "cpu",
    ) -> None:
        self.game_batch, self.encoder, self.config = game_batch, encoder, config
        self.device = torch.device(device)
        self.net = net.to(self.device)

    def values(self, states: np.ndarray, net: AnyQNetwork | None = None) -> np.ndarray:
        """Return the Q values of the states as [state, action]; the default `net` is `self.net`."""
        games, symmetries = self.game_batch, None
        if self.config.canonical:
            states, symmetries = games.canonicalise(states)
        net = (net or self.net).eval()
        with torch.no_grad():
            q_tensor = net(
                self._tensor(self.encoder(states)), self._tensor(games.legal_masks(states))
            )
        q: np.ndarray = q_tensor.cpu().numpy()
        return q if symmetries is None else np.take_along_axis(q, games.action_maps[symmetries], 1)

    def policy(self, net: AnyQNetwork | None = None) -> Policy:
        """Return the greedy policy of `net`, which is `self.net` by default."""
        return lambda states, legal: masked_argmax(self.values(states, net), legal)

    def _tensor(self, array: np.ndarray) -> Tensor:
        return torch.from_numpy(np.ascontiguousarray(array)).to(self.device)


class DQNLearner(QFunction):
    """A Q network with its target network, the moving average of its weights, and an optimiser."""

    def __init__(
        self,
        net: AnyQNetwork,
        encoder: Encoder | CustomEncoder,
        game_batch: GameBatch,
        config: LearningConfig,
        device: str = "cpu",
    ) -> None:
        super().__init__(net, encoder, game_batch, config, device)
        self.target_net, self.average_net = copy.deepcopy(self.net), copy.deepcopy(self.net)
        self.target_net.eval()
        self.average_net.eval().disable_noise()
        self.optimiser = torch.optim.Adam(self.net.parameters(), lr=config.rate.begin, fused=True)
        self._parameters = list(self.net.parameters())
        self._target_parameters = list(self.target_net.parameters())
        self._average_parameters = list(self.average_net.parameters())
        self.noise_rng = torch.Generator().manual_seed(torch.initial_seed())  #: for noisy layers
        self.updates = 0

    def update(self, batch: ReplayBatch, rate: float) -> tuple[float, float, np.ndarray]:
        """Make one update; return the loss, the mean Q and the TD errors of the batch."""
        config, games, tensor = self.config, self.game_batch, self._tensor
        states, actions, returns, discounts, next_states = batch.transitions
        if config.canonical:
            states, symmetries = games.canonicalise(states)
            actions = games.action_maps[symmetries, actions]
            next_states, _ = games.canonicalise(next_states)
        next_legal = tensor(games.legal_masks(next_states))
        with torch.no_grad():
            next_x = tensor(self.encoder(next_states))
            target_q = self.target_net(next_x, next_legal)
            next_q = self.net.eval()(next_x, next_legal) if config.double else target_q
            targets = compute_td_targets(
                tensor(returns),
                tensor(discounts),
                next_q,
                target_q,
                next_legal,
                double=config.double,
            )
        x, legal = tensor(self.encoder(states)), tensor(games.legal_masks(states))
        q = self.net.train()(x, legal).gather(1, tensor(actions)[:, None]).squeeze(1)
        losses = _LOSSES[config.loss](q, targets, reduction="none")
        loss = (losses * tensor(batch.weights)).mean()
        for group in self.optimiser.param_groups:
            group["lr"] = rate
        self.optimiser.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self._parameters, config.clip)
        self.optimiser.step()
        self.updates += 1
        if self.updates % config.every == 0:
            self._soft_update(self.target_net, self._target_parameters, config.tau)
        self._soft_update(self.average_net, self._average_parameters, 1 - config.average)
        with torch.no_grad():
            return float(loss), float(q.mean()), (q - targets).cpu().numpy()

    def _soft_update(self, net: AnyQNetwork, parameters: list[Tensor], tau: float) -> None:
        """Move weights and batch statistics of `net` towards those of `self.net` by `tau`."""
        with torch.no_grad():
            torch._foreach_lerp_(parameters, self._parameters, tau)
            for mine, theirs in zip(net.buffers(), self.net.buffers(), strict=True):
                mine.lerp_(theirs, tau) if mine.is_floating_point() else mine.copy_(theirs)
