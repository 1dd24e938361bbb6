"""Rollouts of AlphaZero: the function with which actors play games, by search on a CPU or GPU."""

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import Tensor

from zermelo.core.game import WordGame
from zermelo.learn.actors.protocol import RolloutRequest
from zermelo.learn.alphazero.search_cpu import KernelSearch
from zermelo.learn.alphazero.search_gpu import TensorSearch
from zermelo.learn.alphazero.search_parameters import PolicySearchResult
from zermelo.learn.alphazero.selfplay import play_rollout
from zermelo.learn.alphazero.tensor_games import TensorGame, TensorState
from zermelo.learn.batch.custom_encoder import CustomEncoder
from zermelo.learn.config.recipe import Recipe
from zermelo.learn.config.selfplay import SelfPlayConfig
from zermelo.learn.networks import torch_arrays
from zermelo.learn.networks.custom import CustomEvaluation, CustomPolicyValueNetwork
from zermelo.learn.networks.evaluation import PolicyValueFunction
from zermelo.learn.networks.policy_value import (
    FusedNetwork,
    PolicyValueNetwork,
    build_network,
    fuse_network,
    load_custom_encoder,
)
from zermelo.learn.networks.weights_file import Arrays

_Search = Callable[[TensorState, Tensor], PolicySearchResult]


def search_options(config: SelfPlayConfig) -> dict[str, Any]:
    """Return those options of a recipe that both the CPU search and the GPU search accept."""
    return {"considered": config.considered, "rule": config.rule}


class AlphaZeroRollouts:
    """The function with which actors play rollouts for AlphaZero.

    On a CPU, it searches with kernels, or with tensors if `use_tensors` is set. On a GPU, it always
    searches with tensors.
    """

    def __init__(
        self, recipe: Recipe, game: WordGame, device: str = "cpu", *, use_tensors: bool = False
    ) -> None:
        encoder = load_custom_encoder(recipe.encoder, game)
        self.config, self.game = recipe.selfplay, TensorGame(game, device, encoder)
        net = build_network(recipe.network, game, recipe.encoder)
        self.net = net.to(device, memory_format=torch.channels_last).eval()
        self._fused: FusedNetwork | CustomEvaluation | None = None
        self._build_search: Callable[[int], _Search]
        if use_tensors or device != "cpu":
            # A custom network may work only in float32.
            is_exact = device == "cpu" or isinstance(net, CustomPolicyValueNetwork)
            self.net = self.net.to(torch.float32 if is_exact else torch.bfloat16)
            self._build_search = _tensor_search_builder(self.game, self.net, self.config)
        else:
            self._fused = fuse_network(self.net)
            self._build_search = _kernel_search_builder(game, self._fused, self.config, encoder)
        self._searches: dict[int, _Search] = {}

    def __call__(self, weights: Arrays, request: RolloutRequest) -> Arrays:
        """Play a rollout, and return its positions and results."""
        self.net.load_state_dict(torch_arrays.arrays_to_tensors(weights, ""))
        if self._fused is not None:
            self._fused.load(self.net)
        seed = int(request.new_rng().integers(1 << 62))
        rng = torch.Generator(device=self.game.device).manual_seed(seed)
        with torch.no_grad():
            positions, results = play_rollout(
                self.game, self.config, self._search, request.progress, rng
            )
        rollout = positions._asdict() | {"results": results.to(torch.int8)}
        rollout["policies"] = positions.policies.to(torch.float16)
        return {name: tensor.contiguous().cpu().numpy() for name, tensor in rollout.items()}

    def _search(self, state: TensorState, noise: Tensor, simulations: int) -> PolicySearchResult:
        if simulations not in self._searches:
            self._searches[simulations] = self._build_search(simulations)
        return self._searches[simulations](state, noise)


def _tensor_search_builder(
    game: TensorGame, net: PolicyValueNetwork, config: SelfPlayConfig
) -> Callable[[int], _Search]:
    """Return a function that builds searches; on a GPU, the searches share compiled code."""
    evaluate = compile_evaluation(net, game.device.type)
    return lambda simulations: TensorSearch(
        game,
        evaluate,
        config.games,
        simulations,
        **search_options(config),
        max_nodes=max(config.simulations) + 1,
        use_graph=game.device.type == "cuda",
    )


def compile_evaluation(net: PolicyValueNetwork, device: str) -> PolicyValueFunction:
    """Return the evaluation function of a network, compiled if it runs on a GPU.

    Convolutions are left to cuDNN, which benchmarks its own implementations and uses the fastest.
    It is as fast as code that torch generates, and saves a minute of compilation.
    """
    if device != "cuda":
        return net.evaluate
    torch.backends.cudnn.benchmark = True
    evaluate: PolicyValueFunction = torch.compile(net.evaluate, dynamic=False)
    return evaluate


def _kernel_search_builder(
    game: WordGame,
    net: FusedNetwork | CustomEvaluation,
    config: SelfPlayConfig,
    encoder: CustomEncoder | None,
) -> Callable[[int], _Search]:
    def build_search(simulations: int) -> _Search:
        kernel_search = KernelSearch(
            game, net, config.games, simulations, encoder=encoder, **search_options(config)
        )

        def search(state: TensorState, noise: Tensor) -> PolicySearchResult:
            states = torch.stack(state, 1).numpy().view(np.uint64)
            result = kernel_search(states, noise.numpy())
            return PolicySearchResult(*map(torch.from_numpy, vars(result).values()))

        return search

    return build_search
