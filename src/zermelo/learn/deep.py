"""A network in training, with all that it learns from, and the whole of it as arrays."""

import copy
from collections.abc import Iterator
from typing import Any

import numpy as np
import torch

from zermelo.contract import WordGame
from zermelo.learn import dqn, shaping
from zermelo.learn.acting import Acting, Policy
from zermelo.learn.encoders import Encoder
from zermelo.learn.many import Many
from zermelo.learn.nets import QNetwork, exported
from zermelo.learn.recipes import Recipe
from zermelo.learn.replay import Replay


class Deep:
    """Deep Q-learning as a run follows it."""

    def __init__(
        self,
        recipe: Recipe,
        game: WordGame,
        dice: np.random.Generator,
        opponents: dict[str, Policy],
        device: str = "cpu",
    ) -> None:
        self.learner = learner_for(recipe, game, device)
        self.many, self.dice, self.opponents = self.learner.many, dice, opponents
        kept = recipe.replay
        self.replay = Replay(kept.size, game.num_words, kept.alpha, kept.beta)
        asked = recipe.shaping
        potential = shaping.make(asked.name, self.many, asked.fade) if asked.name else None
        self.acting = Acting(self.many, recipe.acting, dice, potential)
        self.league: list[QNetwork] = []  #: older selves

    @property
    def updates(self) -> int:
        """How many are done."""
        return self.learner.updates

    def steps(self) -> Iterator[dqn.Report]:
        """The loop of `dqn`."""
        return dqn.train(
            self.learner, self.acting, self.replay, self.opponents, self.league, self.dice
        )

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
            arrays |= _net_arrays(f"league{number}.", net)
        arrays |= self.acting.to_arrays() | self.replay.to_arrays()
        about = {
            "updates": self.updates,
            "league": len(self.league),
            "dice": self.dice.bit_generator.state,
        }
        return {name: np.ascontiguousarray(array) for name, array in arrays.items()}, about

    def load_arrays(self, arrays: dict[str, Any], about: dict[str, Any]) -> None:
        """As it was."""
        self.league[:] = [copy.deepcopy(self.learner.net) for _ in range(int(about["league"]))]
        for number, net in enumerate(self.league):
            net.load_state_dict(_tensors(arrays, f"league{number}."))
        load_learner(self.learner, arrays, int(about["updates"]))
        self.acting.load_arrays(arrays)
        self.replay.load_arrays(arrays)
        self.dice.bit_generator.state = about["dice"]


def learner_for(recipe: Recipe, game: WordGame, device: str) -> dqn.Learner:
    """A network that has not learned yet; torch's dice decide how it begins."""
    many, encoder = Many(game), Encoder(recipe.encoder, game)
    net = QNetwork(recipe.network, encoder.shape, game.num_actions)
    return dqn.Learner(net, encoder, many, recipe.learning, device)


def learner_arrays(learner: dqn.Learner) -> dict[str, Any]:
    """Its networks and optimiser, and the dice of noise and dropout."""
    arrays: dict[str, Any] = {}
    for name, net in _nets(learner).items():
        arrays |= _net_arrays(name, net)
    for number, state in learner.optimiser.state_dict()["state"].items():
        for key, tensor in state.items():
            arrays[f"adam.{number}.{key}"] = tensor.detach().cpu().numpy()
    arrays["torch"] = torch.get_rng_state().numpy()
    arrays["noise"] = learner.noise.get_state().numpy()
    if learner.device.type == "cuda":
        arrays["cuda"] = torch.cuda.get_rng_state(learner.device).numpy()
    return arrays


def load_learner(learner: dqn.Learner, arrays: dict[str, Any], updates: int) -> None:
    """As it was."""
    for name, net in _nets(learner).items():
        net.load_state_dict(_tensors(arrays, name))
    state = learner.optimiser.state_dict()
    state["state"] = {
        number: _tensors(arrays, f"adam.{number}.")
        for number in range(len(list(learner.net.parameters())))
        if f"adam.{number}.step" in arrays
    }
    learner.optimiser.load_state_dict(state)
    torch.set_rng_state(torch.from_numpy(arrays["torch"]))
    learner.noise.set_state(torch.from_numpy(arrays["noise"]))
    if learner.device.type == "cuda":
        torch.cuda.set_rng_state(torch.from_numpy(arrays["cuda"]), learner.device)
    learner.updates = updates


def _nets(learner: dqn.Learner) -> dict[str, QNetwork]:
    return {"net.": learner.net, "slow.": learner.slow, "average.": learner.average}


def _net_arrays(prefix: str, net: QNetwork) -> dict[str, Any]:
    return {prefix + key: t.detach().cpu().numpy() for key, t in net.state_dict().items()}


def _tensors(arrays: dict[str, Any], prefix: str) -> dict[str, Any]:
    return {
        name.removeprefix(prefix): torch.from_numpy(np.array(array))
        for name, array in arrays.items()
        if name.startswith(prefix)
    }
