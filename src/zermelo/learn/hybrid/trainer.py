"""A value for alpha-beta, learned by playing: what is learned from, how, and by whom it is played.

A state is seen by the side to move. What it is worth, by `targets`:

- `search`: what a short search says that has the network at its horizon, so what is proven there is
  exact, and what is not is better founded than the network's own word (descent: Cohen-Solal 2020).
  Every move of a position is searched, so a position teaches some twenty states.
- `steps`, as published: the reward where the game ends, else -g * V'(the next state), V' a copy
  of V that is renewed now and then.

Late in a game searches may look further, which costs little there; a game stops when a short one
sees its end. A batch is learned for every game, or for so many.
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
from zermelo.learn.actors.protocol import ActorPool, RolloutRequest, RolloutStream
from zermelo.learn.batch.encoders import Encoder, num_line_features
from zermelo.learn.batch.game_batch import GameBatch
from zermelo.learn.batch.opponents import build_opponents
from zermelo.learn.batch.replay import ReplayBuffer, Transitions
from zermelo.learn.config.learning import phase_at
from zermelo.learn.config.recipe import Recipe
from zermelo.learn.config.reports import TrainingReport
from zermelo.learn.hybrid.kernel_network import Looking, valued
from zermelo.learn.networks import torch_arrays
from zermelo.learn.networks.q_network import LinesNetwork, ResidualNetwork
from zermelo.learn.networks.weights_file import Arrays

_NOISE = 0.03  # on what moves seem worth when one is chosen: equals are chosen by turns
_LAST = 100  # results that are told
ENCODERS = {"lines": "lines", "residual": "features"}  #: by network

Network = LinesNetwork | ResidualNetwork


def cross_entropy(found: Tensor, wanted: Tensor) -> Tensor:
    """Of values as chances to win: what is surely wrong costs more than by its square."""
    return functional.binary_cross_entropy((found + 1) / 2, (wanted + 1) / 2)


_LOSSES: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "mse": functional.mse_loss,
    "huber": functional.smooth_l1_loss,
    "cross": cross_entropy,
}


@dataclass(frozen=True)
class HybridReport(TrainingReport):
    """What the trainer of a value network reports after an update."""

    mean_value: float  #: mean of the values that were trained


class Value:
    """A value network in training, as a run follows it."""

    def __init__(
        self, recipe: Recipe, game: WordGame, seed: int, pool: ActorPool, device: str = "cpu"
    ) -> None:
        if not isinstance(game, WordLineGame):
            msg = f"{recipe.name}: a value is learned for line games up to 64 cells"
            raise BadSpec(msg)
        self.recipe, self.settings, self.game_batch = recipe, recipe.learning, GameBatch(game)
        self.device = torch.device(device)
        self.encoder = Encoder(ENCODERS[recipe.network.kind], game)
        self.net = network_for(recipe, game).to(self.device)
        self.slow, self.average = copy.deepcopy(self.net).eval(), copy.deepcopy(self.net).eval()
        rate = self.settings.rate.begin
        self.optimiser = torch.optim.Adam(self.net.parameters(), lr=rate, fused=True)
        self.replay = ReplayBuffer(recipe.replay.size, game.num_words)
        self.rng = np.random.default_rng(seed)
        self.rollouts = RolloutStream(pool, self.average.export, seed)
        self.looking = looking_for(recipe, game)
        self.updates = 0
        self.results: list[int] = []  #: how the last games ended for the learner: 1, 0, -1

    def steps(self) -> Iterator[HybridReport]:
        """Play, remember, learn; after a checkpoint with nothing that was played before it."""
        settings = self.settings
        while self.updates < settings.updates:
            done = self.updates / settings.updates
            chunk = self.rollouts.next(done)
            self.replay.add(Transitions(*(chunk[name] for name in Transitions._fields)))
            self.results = (self.results + chunk["results"].tolist())[-_LAST:]
            if len(self.replay) < settings.warm_up:
                continue
            phase, within = phase_at(settings.phases, done)
            for _ in range(len(chunk["results"]) // self.recipe.searching.games):
                rate = settings.rate(self.updates / settings.updates)
                loss, value = self.learn(rate)
                epsilon = phase.epsilon(within)
                yield HybridReport(self.updates, loss, epsilon, rate, self.results, value)
                if self.updates == settings.updates:
                    return
                if self.updates % self.recipe.keeping.checkpoint == 0:
                    self.rollouts.restart()
                    break

    def learn(self, rate: float) -> tuple[float, float]:
        """One update; returns the loss and the mean value. Symmetric states take turns."""
        settings = self.settings
        drawn = self.replay.sample(settings.batch, self.rng).transitions
        turns = self.rng.integers(0, self.game_batch.num_symmetries, settings.batch)
        wanted = torch.from_numpy(drawn.returns).to(self.device)
        if drawn.discounts.any():
            with torch.no_grad():
                later = self.slow(self._seen(drawn.next_states, turns))
            wanted = wanted + torch.from_numpy(drawn.discounts).to(self.device) * later
        found = self.net.train()(self._seen(drawn.states, turns))
        loss = _LOSSES[settings.loss](found, wanted)
        for group in self.optimiser.param_groups:
            group["lr"] = rate
        self.optimiser.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.net.parameters(), settings.clip)
        self.optimiser.step()
        self.updates += 1
        if self.updates % settings.every == 0:
            _follow(self.slow, self.net, settings.tau)
        _follow(self.average, self.net, 1 - settings.average)
        with torch.no_grad():
            return float(loss), float(found.mean())

    def _seen(self, states: Any, turns: Any) -> Tensor:
        """As the network takes them; by lines it takes all ways to turn them itself."""
        if self.encoder.name != "lines":
            states = self.game_batch.transform(states, turns)
        return torch.from_numpy(self.encoder(states)).to(self.device)

    def values(self, states: Any) -> Any:
        """[row, action]: Q(s, a) = -V(play(s, a)), the end known exactly."""
        self.looking.load(self.average.export())
        return self.looking.worths(states, 1)[0]

    def export(self) -> tuple[Arrays, dict[str, Any]]:
        """The average of the weights, and how they are to be searched with."""
        searching = self.recipe.searching
        shape = self.recipe.network.to_json()
        return self.average.export(), shape | {
            "depth": searching.play_depth,
            "shares": [searching.play_network, searching.play_heuristic],
            "published": searching.published,
        }

    def to_arrays(self) -> tuple[Arrays, dict[str, Any]]:
        """Weights, optimiser, replay, all dice, and how many chunks were played."""
        arrays = torch_arrays.to_arrays(self._nets(), self.optimiser) | self.replay.to_arrays()
        about = {
            "updates": self.updates,
            "chunks": self.rollouts.num_consumed,
            "results": self.results,
            "dice": self.rng.bit_generator.state,
        }
        return {name: np.ascontiguousarray(array) for name, array in arrays.items()}, about

    def load_arrays(self, arrays: Arrays, about: dict[str, Any]) -> None:
        """As it was."""
        torch_arrays.load_arrays(arrays, self._nets(), self.optimiser)
        self.replay.load_arrays(arrays)
        self.updates, self.results = int(about["updates"]), list(about["results"])
        self.rollouts.restart(int(about["chunks"]))
        self.rng.bit_generator.state = about["dice"]

    def _nets(self) -> dict[str, Network]:
        return {"net.": self.net, "slow.": self.slow, "average.": self.average}

    def close(self) -> None:
        """The crew goes home."""
        self.rollouts.pool.close()


def network_for(recipe: Recipe, game: WordLineGame) -> Network:
    """One that has not learned yet; torch's dice decide how it begins."""
    if recipe.network.kind == "lines":
        return LinesNetwork(recipe.network, num_line_features(game.grid))
    return ResidualNetwork(recipe.network, Encoder("features", game).size)


def looking_for(recipe: Recipe, game: WordLineGame) -> Looking:
    """Searches as they are in training."""
    searching, network = recipe.searching, recipe.network
    hooks = valued(game, network.kind, network.hidden, published=searching.published)
    shares = round(1000 * searching.network), round(1000 * searching.heuristic)
    return Looking(hooks, shares, recipe.acting.gamma)


def _follow(slow: Network, net: Network, share: float) -> None:
    """A copy goes part of the way."""
    with torch.no_grad():
        torch._foreach_lerp_(list(slow.parameters()), list(net.parameters()), share)


class ValueRollouts:
    """Whole games, and what their states were worth. See `learn/rollouts.py`."""

    def __init__(self, recipe: Recipe, game: WordGame) -> None:
        assert isinstance(game, WordLineGame)
        self.recipe, self.game_batch = recipe, GameBatch(game)
        self.looking = looking_for(recipe, game)

    def __call__(self, weights: Arrays, request: RolloutRequest) -> Arrays:
        """A chunk: transitions, and how the games ended for the learner."""
        recipe, rng, game_batch = self.recipe, request.new_rng(), self.game_batch
        self.looking.load(weights)
        phase, within = phase_at(recipe.learning.phases, request.progress)
        epsilon = request.actor_epsilon(phase.epsilon(within))
        opponents = build_opponents(recipe, game_batch.game, request.seed[0], rng)
        opponent = opponents.get(phase.opponent)
        number = recipe.acting.games
        states, results = self._started(number, rng), np.zeros(number, np.int64)
        seats, games = np.arange(number) % 2, np.arange(number)
        by_search = recipe.searching.targets == "search"
        found: list[Transitions] = []
        while len(games):
            legal = game_batch.legal_masks(states)
            actions = (rng.random(legal.shape) * legal).argmax(1)
            own = np.ones(len(games), np.bool_)
            if opponent is not None:
                own = states[:, -1].astype(np.int64) == seats[games]
                if not own.all():
                    actions[~own] = opponent(states[~own], legal[~own])
            curious = rng.random(len(games)) < epsilon
            asked = own if by_search else own & ~curious
            settled = np.zeros(len(games), np.int64)
            if asked.any():
                worths, decided, taught = self._searched(states[asked])
                if by_search:
                    found += taught
                    settled[asked] = np.where(decided, np.sign(worths.max(1)), 0)
                noisy = worths + _NOISE * rng.gumbel(size=worths.shape)
                best = np.where(legal[asked], noisy, -np.inf).argmax(1)
                actions[asked] = np.where(curious[asked], actions[asked], best)
            after, rewards, over = game_batch.step(states, actions)
            if not by_search:
                factors = np.where(over, 0.0, -recipe.acting.gamma).astype(np.float32)
                found.append(Transitions(states, actions, rewards, factors, after))
            # What is decided teaches nothing that a search would not see: such a game stops.
            rewards, over = np.where(settled, settled, rewards), over | (settled != 0)
            mover = states[:, -1].astype(np.int64)
            ended = games[over]
            results[ended] = rewards[over] * np.where(mover[over] == seats[ended], 1, -1)
            states, games = np.ascontiguousarray(after[~over]), games[~over]
        columns = zip(Transitions._fields, zip(*found, strict=True), strict=True)
        return {name: np.concatenate(parts) for name, parts in columns} | {"results": results}

    def _searched(self, states: Any) -> tuple[Any, Any, list[Transitions]]:
        """As `Looking.worths`, deeper late in a game; decided is what a short search would see."""
        searching = self.recipe.searching
        late = np.bitwise_count(states[:, 0] | states[:, 1]) >= searching.late
        worths = np.zeros((len(states), self.game_batch.num_actions))
        decided, taught = np.zeros(len(states), np.bool_), []
        for rows, plies in ((~late, searching.depth), (late, searching.late_depth)):
            if rows.any():
                worths[rows], decided[rows], learned = self.looking.worths(states[rows], plies)
                taught.append(learned)
        soon = self.recipe.acting.gamma**searching.depth
        return worths, decided & (np.abs(worths.max(1)) >= soon), taught

    def _started(self, number: int, rng: np.random.Generator) -> Any:
        """From the start, or from wherever random moves lead."""
        states = self.game_batch.initial_states(number)
        drawn = rng.random(number) < self.recipe.acting.sampled
        if drawn.any():
            seed = int(rng.integers(1 << 62))
            plies = self.recipe.searching.opening
            states[drawn] = self.game_batch.sample_states(int(drawn.sum()), plies, seed)
        return states
