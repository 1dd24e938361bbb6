"""A network in training, with all that it learns from, and the whole of it as arrays."""

import copy
from collections.abc import Iterator
from typing import Any

import numpy as np
import torch

from zermelo.core.game import WordGame
from zermelo.learn.batch import shaping
from zermelo.learn.batch.encoders import Encoder
from zermelo.learn.batch.game_batch import Many
from zermelo.learn.batch.replay import Replay
from zermelo.learn.config.recipes import Recipe
from zermelo.learn.dqn import learner as dqn
from zermelo.learn.dqn.rollouts import Sent
from zermelo.learn.dqn.selfplay import Acting, Policy, Source
from zermelo.learn.networks import torch_arrays
from zermelo.learn.networks.q_network import QNetwork, exported

NET, OLDER = "net.", "older."  #: before the names of weights that are sent


class Deep:
    """Deep Q-learning as a run follows it."""

    def __init__(
        self,
        recipe: Recipe,
        game: WordGame,
        rng: np.random.Generator,
        opponents: dict[str, Policy],
        device: str = "cpu",
        sent: Sent | None = None,
    ) -> None:
        self.learner = learner_for(recipe, game, device)
        self.many, self.rng, self.opponents = self.learner.many, rng, opponents
        kept = recipe.replay
        self.replay = Replay(kept.size, game.num_words, kept.alpha, kept.beta)
        self.acting: Source = sent or acting_for(recipe, self.many, rng)
        self.league: list[QNetwork] = []  #: older selves
        if sent is not None:
            sent.begin(self._weights)

    @property
    def updates(self) -> int:
        """How many are done."""
        return self.learner.updates

    def steps(self) -> Iterator[dqn.Report]:
        """The loop of `dqn`."""
        return dqn.train(
            self.learner, self.acting, self.replay, self.opponents, self.league, self.rng
        )

    def close(self) -> None:
        """Whoever plays for it goes home."""
        if isinstance(self.acting, Sent):
            self.acting.close()

    def _weights(self) -> dict[str, Any]:
        """What a crew needs to play: the network as it is, and an older self."""
        arrays = torch_arrays.net_arrays(NET, self.learner.net)
        if self.league:
            older = self.league[int(self.rng.integers(len(self.league)))]
            arrays |= torch_arrays.net_arrays(OLDER, older)
        return {name: array.copy() for name, array in arrays.items()}

    def values(self, states: Any) -> Any:
        """By the average of the weights, which plays in the end."""
        return self.learner.values(states, self.learner.average)

    def exported(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """The same weights."""
        return exported(self.learner.average), self.learner.net.shape.to_json()

    def to_arrays(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Weights, optimiser, replay, games in progress, older selves, all dice."""
        arrays = learner_arrays(self.learner)
        for number, net in enumerate(self.league):
            arrays |= torch_arrays.net_arrays(f"league{number}.", net)
        arrays |= self.acting.to_arrays() | self.replay.to_arrays()
        about = {
            "updates": self.updates,
            "league": len(self.league),
            "dice": self.rng.bit_generator.state,
        }
        return {name: np.ascontiguousarray(array) for name, array in arrays.items()}, about

    def load_arrays(self, arrays: dict[str, Any], about: dict[str, Any]) -> None:
        """As it was."""
        self.league[:] = [copy.deepcopy(self.learner.net) for _ in range(int(about["league"]))]
        for number, net in enumerate(self.league):
            net.load_state_dict(torch_arrays.tensors(arrays, f"league{number}."))
        load_learner(self.learner, arrays, int(about["updates"]))
        self.acting.load_arrays(arrays)
        self.replay.load_arrays(arrays)
        self.rng.bit_generator.state = about["dice"]


def acting_for(recipe: Recipe, many: Many, rng: np.random.Generator) -> Acting:
    """Games as a recipe wants them."""
    asked = recipe.shaping
    potential = shaping.make(asked.name, many, asked.fade) if asked.name else None
    return Acting(many, recipe.acting, rng, potential)


class DeepPlaying:
    """A network that plays for a crew."""

    def __init__(self, recipe: Recipe, game: WordGame) -> None:
        # No learner: it has an optimiser, which torch takes long to load.
        self.chooser = dqn.Chooser(*_parts(recipe, game))
        self.older, self.has_older = copy.deepcopy(self.chooser.net), False
        self.many = self.chooser.many

    def load(self, weights: dict[str, Any], rng: np.random.Generator) -> None:
        """Take over what was learned."""
        self.chooser.net.load_state_dict(torch_arrays.tensors(weights, NET))
        older = torch_arrays.tensors(weights, OLDER)
        self.has_older = bool(older)
        if older:
            self.older.load_state_dict(older)
        noise = torch.Generator().manual_seed(int(rng.integers(1 << 62)))
        self.chooser.net.renew_noise(noise)

    def policies(self) -> tuple[Policy, Policy | None]:
        """Its own, and an older self's, if there is one."""
        older = self.chooser.policy(self.older) if self.has_older else None
        return self.chooser.policy(), older


def learner_for(recipe: Recipe, game: WordGame, device: str) -> dqn.Learner:
    """A network that has not learned yet; torch's dice decide how it begins."""
    return dqn.Learner(*_parts(recipe, game), device)


def _parts(recipe: Recipe, game: WordGame) -> tuple[QNetwork, Encoder, Many, dqn.Settings]:
    many, encoder = Many(game), Encoder(recipe.encoder, game)
    net = QNetwork(recipe.network, encoder.shape, game.num_actions)
    return net, encoder, many, recipe.learning


def learner_arrays(learner: dqn.Learner) -> dict[str, Any]:
    """Its networks and optimiser, and the dice of noise and dropout."""
    arrays = torch_arrays.to_arrays(_nets(learner), learner.optimiser)
    arrays["noise"] = learner.noise.get_state().numpy()
    if learner.device.type == "cuda":
        arrays["cuda"] = torch.cuda.get_rng_state(learner.device).numpy()
    return arrays


def load_learner(learner: dqn.Learner, arrays: dict[str, Any], updates: int) -> None:
    """As it was."""
    torch_arrays.load_arrays(arrays, _nets(learner), learner.optimiser)
    learner.noise.set_state(torch.from_numpy(arrays["noise"]))
    if learner.device.type == "cuda":
        torch.cuda.set_rng_state(torch.from_numpy(arrays["cuda"]), learner.device)
    learner.updates = updates


def _nets(learner: dqn.Learner) -> dict[str, QNetwork]:
    return {NET: learner.net, "slow.": learner.slow, "average.": learner.average}
