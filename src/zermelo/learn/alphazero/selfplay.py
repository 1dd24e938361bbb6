"""AlphaZero's self-play on tensors, and the learning targets that it yields.

Values are from the view of the side to move. Every position of every game is searched with the
network (by `search_cpu` or `search_gpu`). The network's learning targets are:

    policy   the search's improved policy
    value    the result at the ply where the game ends or is proven; before that ply, TD(lambda):
             target(s) = -((1 - lambda) * search(s') + lambda * target(s'))
             (without the minus sign if the same side moves in s and in s')

A rollout depends only on the weights and its random generator, not on the actor that plays it.
"""

from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor

from zermelo.learn.alphazero.search_parameters import UNPROVEN, PolicySearchResult
from zermelo.learn.alphazero.tensor_games import TensorGame, TensorState
from zermelo.learn.config.selfplay import PUCT, SelfPlayConfig

_STARTS_PER_GAME = 4  # starting positions to choose from, per parallel game
_CAP_DIVISOR = 4  # a capped search has the full number of simulations divided by this
_DIRICHLET_ALPHA = 10.0  # alpha of the root noise is this / number of actions, as in AlphaZero

#: (root states, noise [row, action], number of simulations) -> the result of a search
SearchFunction = Callable[[TensorState, Tensor, int], PolicySearchResult]


class TrainingPositions(NamedTuple):
    """Positions to learn from, one row each. The field names are also used in checkpoints."""

    words: Tensor  #: [row, word]
    policies: Tensor  #: [row, action]
    values: Tensor  #: for the side to move


def play_rollout(
    game: TensorGame,
    config: SelfPlayConfig,
    search: SearchFunction,
    progress: float,
    rng: torch.Generator,
) -> tuple[TrainingPositions, Tensor]:
    """Play a rollout; return its positions, and the games' results for the first player."""
    starts = _sample_starts(game, config, rng)
    state = _choose_starts(starts, config.games, rng)
    simulations = config.simulations_at(progress)
    plies: list[tuple[Tensor, ...]] = []
    results = []
    for _ in range(config.plies):
        is_capped = config.capped > 0 and _uniform(game, 1, rng).item() < config.capped
        noise = _sample_noise(game, config, rng)
        ply_simulations = max(1, simulations // _CAP_DIVISOR) if is_capped else simulations
        found = search(state, noise, ply_simulations)
        is_proven = found.proven_value != UNPROVEN
        explores = _uniform(game, config.games, rng) < config.exploration
        random_actions = sample_actions(game.resolve(state).moves, rng)
        actions = torch.where(explores, random_actions, _select_actions(config, found, rng))
        after = game.play(state, actions)
        over, value = game.result(after)
        signs = torch.where(state[-1] == after[-1], 1, -1)  # of the next value at this ply
        # A game stops when its result is proven, because the search in play finds the proof, too.
        result = torch.where(is_proven, found.proven_value, signs * value).float()
        over = over | is_proven
        is_learned = torch.full_like(over, not is_capped)
        # The result after a random move says nothing about the position before the move, so the
        # target of that position is its search value.
        ends = over | explores
        end_values = torch.where(over, result, found.value)
        words = torch.stack(state, 1)
        plies.append((words, found.policy, found.value, signs, ends, end_values, is_learned))
        results.append(torch.where(state[-1] == 0, result, -result)[over])
        fresh = _choose_starts(starts, config.games, rng)
        state = tuple(torch.where(over, new, old) for new, old in zip(fresh, after, strict=True))
    words, policies, searched, all_signs, ends, end_values, is_learned = map(
        torch.stack, zip(*plies, strict=True)
    )
    values = compute_value_targets(searched, all_signs, ends, end_values, config.td_lambda)
    positions = TrainingPositions(words[is_learned], policies[is_learned], values[is_learned])
    return positions, torch.cat(results)


def compute_value_targets(
    search_values: Tensor, signs: Tensor, ends: Tensor, end_values: Tensor, td_lambda: float
) -> Tensor:
    """Return the value targets [ply, game] for the side to move.

    `signs` is -1 where the other side moves at the next ply, and 1 where the same side does.

    If the rollout ends before a game is over, the target of that game's last ply is its search
    value.
    """
    targets = search_values.clone()
    for ply in range(len(targets) - 1, -1, -1):
        if ply + 1 < len(targets):
            targets[ply] = signs[ply] * (
                (1 - td_lambda) * search_values[ply + 1] + td_lambda * targets[ply + 1]
            )
        targets[ply] = torch.where(ends[ply], end_values[ply], targets[ply])
    return targets


def _sample_starts(game: TensorGame, config: SelfPlayConfig, rng: torch.Generator) -> TensorState:
    """Return the states in which games start: initial states, and states after random moves."""
    number = _STARTS_PER_GAME * config.games
    initial = game.initial_states(number)
    state, starts = initial, initial
    plies = (_uniform(game, number, rng) * config.start_plies).long() + 1
    plies = torch.where(_uniform(game, number, rng) < config.starts, plies, 0)
    for ply in range(1, config.start_plies + 1):
        moves = game.resolve(state).moves
        state = game.play(state, sample_actions(moves, rng))
        over, _value = game.result(state)
        state = tuple(torch.where(over, a, b) for a, b in zip(initial, state, strict=True))
        is_start = plies == ply
        starts = tuple(torch.where(is_start, a, b) for a, b in zip(state, starts, strict=True))
    return starts


def _choose_starts(starts: TensorState, number: int, rng: torch.Generator) -> TensorState:
    indices = torch.randint(len(starts[0]), (number,), device=rng.device, generator=rng)
    return tuple(words[indices] for words in starts)


def _uniform(game: TensorGame, number: int, rng: torch.Generator) -> Tensor:
    return torch.rand(number, device=game.device, generator=rng)


def sample_actions(moves: Tensor, rng: torch.Generator) -> Tensor:
    """Return a random action from each row of `moves`, a mask [row, action]."""
    priorities = torch.rand(moves.shape, device=moves.device, generator=rng)
    return (moves * (priorities + 1e-3)).argmax(1)


def _sample_noise(game: TensorGame, config: SelfPlayConfig, rng: torch.Generator) -> Tensor:
    """Return noise [game, action]: Gumbel noise or, with PUCT, Dirichlet noise."""
    shape = config.games, game.num_actions
    if config.rule == PUCT:
        alpha = torch.full(shape, _DIRICHLET_ALPHA / game.num_actions, device=game.device)
        # torch.distributions does not accept a generator.
        gamma = torch._standard_gamma(alpha, generator=rng)  # noqa: SLF001
        return gamma / gamma.sum(1, keepdim=True).clamp(min=1e-9)
    return torch.empty(shape, device=game.device).exponential_(generator=rng).log_().neg_()


def _select_actions(
    config: SelfPlayConfig, found: PolicySearchResult, rng: torch.Generator
) -> Tensor:
    """Return the actions that the search chose or, with PUCT, a sample in proportion to visits."""
    if config.rule == PUCT:
        return torch.multinomial(found.policy, 1, generator=rng).squeeze(1)
    actions: Tensor = found.actions
    return actions
