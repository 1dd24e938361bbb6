"""Deep Q-learning for two players: loop, target and loss, from top to bottom.

A state is always seen by the side to move, so that what is good for the next mover is bad for
this one. With g for the discount, the value of an action is

    one step   r                                        where the game ends
               -g * Q'(s', best legal a' by Q(s', a'))   else: the other side's best, negated
    n steps    sum of (-g)^k r_k  +  (-g)^n * Q'(s_n, …)

Transitions carry the sum as `returns` and the power as `factors` (`learn/acting.py`), so one line
below serves them all. Q' is a slower copy of Q; with `double`, Q chooses the action and Q' says
what it is worth.
"""

import copy
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from zermelo.learn.batch.encoders import Encoder
from zermelo.learn.batch.game_batch import Many
from zermelo.learn.batch.replay import Batch, Replay
from zermelo.learn.config.schedules import Linear
from zermelo.learn.dqn.selfplay import Policy, Source, masked_argmax
from zermelo.learn.networks.q_network import QNetwork

_ILLEGAL = -1e9
_LEAGUE = 8  # older selves that are kept


@dataclass(frozen=True)
class Phase:
    """A part of the training: against whom, and how curious."""

    share: float = 1.0  #: of all updates
    opponent: str = "self"  #: or a player, or "league": older selves
    epsilon: Linear = field(default_factory=lambda: Linear(1.0, 0.05))


@dataclass(frozen=True)
class Settings:
    """What learning depends on, beside the network, the replay and the games."""

    updates: int = 2000
    batch: int = 256
    rate: Linear = field(default_factory=lambda: Linear(1e-3, 1e-5))  #: of learning
    loss: str = "huber"  #: or "mse"; of a value also "cross": cross-entropy
    clip: float = 10.0  #: of the gradient's norm
    double: bool = True
    tau: float = 0.01  #: of the way that Q' goes towards Q each time …
    every: int = 1  #: … after so many updates
    average: float = 0.99  #: of the weights that play in the end: how slowly they follow
    warm_up: int = 1000  #: transitions before the first update
    moves: int = 1  #: in every game between two updates
    league: int = 0  #: updates between two older selves that are kept
    canonical: bool = True  #: one image of all symmetric ones; AlphaZero learns from any of them
    phases: tuple[Phase, ...] = (Phase(),)


def targets(
    returns: Tensor, factors: Tensor, online: Tensor, slow: Tensor, legal: Tensor, *, double: bool
) -> Tensor:
    """What the actions of some transitions turned out to be worth.

    `online` and `slow` are Q and Q' of the later states, `legal` what can be played there.
    """
    chooser = online if double else slow
    best = chooser.masked_fill(~legal, _ILLEGAL).argmax(1, keepdim=True)
    later = slow.gather(1, best).squeeze(1)
    # Where the game is over nothing is legal, and the factor is 0.
    return returns + torch.where(factors == 0, 0.0, factors * later)


class Chooser:
    """A network, and how it sees states: enough to play."""

    def __init__(
        self, net: QNetwork, encoder: Encoder, many: Many, settings: Settings, device: str = "cpu"
    ) -> None:
        self.many, self.encoder, self.settings = many, encoder, settings
        self.device = torch.device(device)
        self.net = net.to(self.device)

    def values(self, states: Any, net: QNetwork | None = None) -> Any:
        """Q of every state and action, [row, action]."""
        seen, turns = self.many.canonical(states) if self.settings.canonical else (states, None)
        net = (net or self.net).eval()
        with torch.no_grad():
            found = net(self._tensor(self.encoder(seen)), self._tensor(self.many.masks(seen)))
        q: Any = found.cpu().numpy()
        return q if turns is None else np.take_along_axis(q, self.many.action_maps[turns], 1)

    def policy(self, net: QNetwork | None = None) -> Policy:
        """The best action by Q."""
        return lambda states, legal: masked_argmax(self.values(states, net), legal)

    def _tensor(self, array: Any) -> Tensor:
        return torch.from_numpy(np.ascontiguousarray(array)).to(self.device)


class Learner(Chooser):
    """A network that learns from transitions, and all that a checkpoint must hold of it."""

    def __init__(
        self, net: QNetwork, encoder: Encoder, many: Many, settings: Settings, device: str = "cpu"
    ) -> None:
        super().__init__(net, encoder, many, settings, device)
        self.slow, self.average = copy.deepcopy(self.net), copy.deepcopy(self.net)
        self.slow.eval()
        self.average.eval().hush()
        self.optimiser = torch.optim.Adam(self.net.parameters(), lr=settings.rate.begin, fused=True)
        self._weights = [list(net.parameters()) for net in (self.net, self.slow, self.average)]
        self.noise = torch.Generator().manual_seed(torch.initial_seed())  #: of noisy layers
        self.updates = 0

    def learn(self, batch: Batch, rate: float) -> tuple[float, float, Any]:
        """One update; returns the loss, the mean Q, and how wrong each of the batch was."""
        settings, drawn = self.settings, batch.drawn
        states, actions, later = drawn.states, drawn.actions, drawn.later
        if settings.canonical:
            states, turns = self.many.canonical(states)
            actions = self.many.action_maps[turns, actions]
            later, _ = self.many.canonical(later)
        legal = self._tensor(self.many.masks(later))
        with torch.no_grad():
            seen = self._tensor(self.encoder(later))
            slow = self.slow(seen, legal)
            online = self.net.eval()(seen, legal) if settings.double else slow
            returns, factors = self._tensor(drawn.returns), self._tensor(drawn.factors)
            wanted = targets(returns, factors, online, slow, legal, double=settings.double)
        x, here = self._tensor(self.encoder(states)), self._tensor(self.many.masks(states))
        found = self.net.train()(x, here).gather(1, self._tensor(actions)[:, None]).squeeze(1)
        each = {"huber": functional.smooth_l1_loss, "mse": functional.mse_loss}[settings.loss]
        loss = (each(found, wanted, reduction="none") * self._tensor(batch.weights)).mean()
        for group in self.optimiser.param_groups:
            group["lr"] = rate
        self.optimiser.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self._weights[0], settings.clip)
        self.optimiser.step()
        self.updates += 1
        if self.updates % settings.every == 0:
            self._follow(self.slow, 1, settings.tau)
        self._follow(self.average, 2, 1 - settings.average)
        with torch.no_grad():
            return float(loss), float(found.mean()), (found - wanted).cpu().numpy()

    def _follow(self, slow: QNetwork, number: int, share: float) -> None:
        """A copy goes part of the way, statistics included; counts it takes over."""
        with torch.no_grad():
            torch._foreach_lerp_(self._weights[number], self._weights[0], share)
            for mine, its in zip(slow.buffers(), self.net.buffers(), strict=True):
                mine.lerp_(its, share) if mine.is_floating_point() else mine.copy_(its)


@dataclass
class Report:
    """How it goes: the means since the last one."""

    update: int
    loss: float
    value: float  #: mean Q that was asked for
    epsilon: float
    rate: float
    results: list[int]  #: of the last games: 1, 0, -1 for the learner


def train(
    learner: Learner,
    acting: Source,
    replay: Replay,
    opponents: dict[str, Policy],
    league: list[QNetwork],
    rng: np.random.Generator,
) -> Iterator[Report]:
    """Play, remember, learn, until the updates are done; a report after each."""
    settings = learner.settings
    while learner.updates < settings.updates:
        done = learner.updates / settings.updates
        phase, within = phase_at(settings.phases, done)
        epsilon = phase.epsilon(within)
        learner.net.renew_noise(learner.noise)
        acting.fade(done)
        opponent = opponents.get(phase.opponent)
        if phase.opponent == "league" and league:
            opponent = learner.policy(league[int(rng.integers(len(league)))])
        for _ in range(settings.moves):
            replay.add(acting.step(learner.policy(), opponent, epsilon))
        if len(replay) < settings.warm_up:
            continue
        rate = settings.rate(done)
        batch = replay.draw(settings.batch, rng)
        loss, value, errors = learner.learn(batch, rate)
        replay.learned(batch.places, errors)
        if settings.league and learner.updates % settings.league == 0:
            league.append(copy.deepcopy(learner.net))
            del league[:-_LEAGUE]
        yield Report(learner.updates, loss, value, epsilon, rate, acting.finished)


def phase_at(phases: tuple[Phase, ...], done: float) -> tuple[Phase, float]:
    """The phase at a share of the whole, and how much of it is over."""
    begin = 0.0
    for phase in phases:
        if done < begin + phase.share or phase is phases[-1]:
            return phase, (done - begin) / phase.share
        begin += phase.share
    raise AssertionError
