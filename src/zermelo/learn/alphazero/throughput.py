"""Throughput of AlphaZero's searches and self-play, for `zermelo bench selfplay`."""

import statistics
import time
from collections.abc import Callable

import numpy as np
import torch

from zermelo.core.game import WordGame
from zermelo.learn.actors.protocol import RolloutRequest
from zermelo.learn.alphazero.rollouts import AlphaZeroRollouts, compile_evaluation
from zermelo.learn.alphazero.search_cpu import KernelSearch
from zermelo.learn.alphazero.search_gpu import TensorSearch
from zermelo.learn.alphazero.selfplay import sample_actions
from zermelo.learn.alphazero.tensor_games import TensorGame
from zermelo.learn.batch.game_batch import GameBatch
from zermelo.learn.config.network import NetworkConfig
from zermelo.learn.config.recipe import Recipe
from zermelo.learn.networks import torch_arrays
from zermelo.learn.networks.evaluation import PolicyValueFunction
from zermelo.learn.networks.policy_value import build_network, fuse_network

START_PLIES = 6  #: random plies before the search
_WARM_UP_RUNS = 2  # runs that compile code and are not measured

Repeat = Callable[[int], int]
"""number of searches or rollouts to run -> number of simulations or positions that they made"""


def gpu_name() -> str:
    """Return the name of the GPU, or "" if there is none."""
    return torch.cuda.get_device_name() if torch.cuda.is_available() else ""


def measure_tensor_search(
    game: WordGame, config: NetworkConfig, games: int, simulations: int, repeat: int, device: str
) -> tuple[float, float]:
    """Return (evaluations/s of the network alone, simulations/s of a search with the network)."""
    rules = TensorGame(game, device)
    net = build_network(config, game, "cells").eval()
    net = net.to(torch.bfloat16 if device == "cuda" else torch.float32)
    net = net.to(device, memory_format=torch.channels_last)
    evaluate = compile_evaluation(net, device)
    rng = torch.Generator(device=device).manual_seed(1)
    state = rules.initial_states(games)
    for _ in range(START_PLIES):
        state = rules.play(state, sample_actions(rules.legal(state), rng))
    planes = rules.planes(state)
    search = TensorSearch(rules, evaluate, games, simulations, use_graph=device == "cuda")
    noise = -torch.empty((games, rules.num_actions), device=device).exponential_().log()
    with torch.no_grad():
        evaluations = _measure_rate(lambda: evaluate(planes), games, repeat, device)
        searches = _measure_rate(lambda: search(state, noise), games * simulations, repeat, device)
    return evaluations, searches


def _measure_rate(work: Callable[[], object], size: int, repeat: int, device: str) -> float:
    """Return the median rate of `repeat` calls of `work`; each call counts as `size` units."""
    rates = []
    for attempt in range(repeat + _WARM_UP_RUNS):
        _synchronize(device)
        begin = time.perf_counter()
        work()
        _synchronize(device)
        if attempt >= _WARM_UP_RUNS:
            rates.append(size / (time.perf_counter() - begin))
    return statistics.median(rates)


def _synchronize(device: str) -> None:
    if device == "cuda":
        torch.cuda.synchronize()


def prepare_kernel_searches(
    game: WordGame, recipe: Recipe | None, rows: int, simulations: int
) -> Repeat:
    """Return a function that searches on the CPU, with the recipe's network or constant values."""
    search = KernelSearch(game, _cpu_evaluation(game, recipe, rows), rows, simulations)
    states = GameBatch(game).sample_states(rows, START_PLIES + 1, 1)
    noise = np.random.default_rng(1).gumbel(size=(rows, game.num_actions)).astype(np.float32)

    def run_searches(count: int) -> int:
        torch.set_num_threads(1)
        for _ in range(count):
            search(states, noise)
        return count * rows * simulations

    return run_searches


def prepare_rollouts(game: WordGame, recipe: Recipe) -> Repeat:
    """Return a function that plays rollouts with the settings for the end of a training run."""
    rollouts = AlphaZeroRollouts(recipe, game)
    weights = torch_arrays.network_to_arrays(
        "", build_network(recipe.network, game, recipe.encoder)
    )

    def play_rollouts(count: int) -> int:
        torch.set_num_threads(1)
        requests = (RolloutRequest((1, number), 1.0) for number in range(count))
        return sum(len(rollouts(weights, request)["words"]) for request in requests)

    return play_rollouts


def _cpu_evaluation(game: WordGame, recipe: Recipe | None, rows: int) -> PolicyValueFunction:
    if recipe is not None:
        return fuse_network(build_network(recipe.network, game, recipe.encoder).eval())
    logits = np.zeros((rows, game.num_actions), np.float32)
    values = np.zeros(rows, np.float32)
    return lambda planes: (logits[: len(planes)], values[: len(planes)])
