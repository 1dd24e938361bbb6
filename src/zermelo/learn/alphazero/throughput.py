"""How fast AlphaZero's searches and self-play are, for `zermelo bench selfplay`."""

import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from zermelo.core.game import WordGame
from zermelo.learn.actors.protocol import RolloutRequest
from zermelo.learn.alphazero.learner import any_of
from zermelo.learn.alphazero.search_cpu import KernelSearch
from zermelo.learn.alphazero.search_gpu import Search
from zermelo.learn.alphazero.tensor_games import TensorGame
from zermelo.learn.alphazero.trainer import ZeroRollouts, compiled_judge, net_for
from zermelo.learn.batch.game_batch import GameBatch
from zermelo.learn.config.network import NetworkConfig
from zermelo.learn.config.recipe import Recipe
from zermelo.learn.networks import torch_arrays
from zermelo.learn.networks.policy_value import folded, made

PLIES = 6  #: random ones before the search
_WARM = 2  # runs that compile

Steps = Callable[[int], int]  #: so many searches or chunks; returns simulations or positions


def device_name() -> str:
    """Of the GPU; empty where there is none."""
    return torch.cuda.get_device_name() if torch.cuda.is_available() else ""


def on_device(
    game: WordGame, shape: NetworkConfig, games: int, simulations: int, repeat: int, device: str
) -> tuple[float, float]:
    """(evaluations/s of the bare network, simulations/s), by the wall's clock, compiled before."""
    rules = TensorGame(game, device)
    net = made(shape, game, "cells").eval()
    net = net.to(torch.bfloat16 if device == "cuda" else torch.float32)
    net = net.to(device, memory_format=torch.channels_last)
    judge = compiled_judge(net, device)
    rng = torch.Generator(device=device).manual_seed(1)
    state = rules.start(games)
    for _ in range(PLIES):
        state = rules.play(state, any_of(rules.legal(state), rng))
    planes = rules.planes(state)
    search = Search(rules, judge, games, simulations, recorded=device == "cuda")
    noise = -torch.empty((games, rules.num_actions), device=device).exponential_().log()
    with torch.no_grad():
        bare = _rate(lambda: judge(planes), games, repeat, device)
        searched = _rate(lambda: search(state, noise), games * simulations, repeat, device)
    return bare, searched


def _rate(work: Callable[[], Any], number: int, repeat: int, device: str) -> float:
    """Things a second: the median of some runs."""
    rates = []
    for attempt in range(repeat + _WARM):
        _wait(device)
        begin = time.perf_counter()
        work()
        _wait(device)
        if attempt >= _WARM:
            rates.append(number / (time.perf_counter() - begin))
    return statistics.median(rates)


def _wait(device: str) -> None:
    if device == "cuda":
        torch.cuda.synchronize()


def searches(game: WordGame, recipe: Recipe | None, rows: int, simulations: int) -> Steps:
    """By kernels, with a recipe's tower, or with a network that costs nothing."""
    judge = _free(game, rows) if recipe is None else folded(net_for(recipe, game).eval())
    search = KernelSearch(game, judge, rows, simulations)
    states = GameBatch(game).sampled(rows, PLIES + 1, 1)
    noise = np.random.default_rng(1).gumbel(size=(rows, game.num_actions)).astype(np.float32)

    def steps(count: int) -> int:
        torch.set_num_threads(1)
        for _ in range(count):
            search(states, noise)
        return count * rows * simulations

    return steps


def chunks(game: WordGame, recipe: Recipe) -> Steps:
    """Self-play as in the second half of a training."""
    rollouts = ZeroRollouts(recipe, game)
    weights = torch_arrays.net_arrays("", net_for(recipe, game))

    def steps(count: int) -> int:
        torch.set_num_threads(1)
        played = (rollouts(weights, RolloutRequest((1, number), 1.0)) for number in range(count))
        return sum(len(chunk["words"]) for chunk in played)

    return steps


def _free(game: WordGame, rows: int) -> Any:
    logits = np.zeros((rows, game.num_actions), np.float32)
    values = np.zeros(rows, np.float32)
    return lambda planes: (logits[: len(planes)], values[: len(planes)])
