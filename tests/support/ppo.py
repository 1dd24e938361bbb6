"""Proximal policy optimisation (Schulman et al. 2017) in one file, with masked actions.

It is written like CleanRL's `ppo.py`, for a Gymnasium vector environment that starts new games in
the same step and puts masks into `info["action_mask"]`.
"""

from typing import Any

import numpy as np
import torch
from torch import Tensor, nn


class Agent(nn.Module):
    """A policy and a value function on one shared trunk."""

    def __init__(self, envs: Any, width: int = 64) -> None:
        super().__init__()
        inputs = int(np.prod(envs.single_observation_space.shape))
        self.trunk = nn.Sequential(
            nn.Flatten(), nn.Linear(inputs, width), nn.Tanh(), nn.Linear(width, width), nn.Tanh()
        )
        self.policy = nn.Linear(width, int(envs.single_action_space.n))
        self.value = nn.Linear(width, 1)

    def forward(self, seen: Tensor, masks: Tensor) -> tuple[Any, Tensor]:
        """Return the distribution of the legal actions and the values, [batch]."""
        features = self.trunk(seen)
        logits = self.policy(features).masked_fill(masks == 0, -1e9)
        return torch.distributions.Categorical(logits=logits), self.value(features)[:, 0]


def train(envs: Any, agent: Agent, num_updates: int, *, num_steps: int = 16) -> None:
    """Train the agent; one update uses `num_steps` steps of every environment."""
    optimizer = torch.optim.Adam(agent.parameters(), lr=2e-3)
    seen, info = envs.reset(seed=1)
    for _ in range(num_updates):
        rows: list[list[Tensor]] = []
        for _ in range(num_steps):
            seen_t, masks = torch.tensor(seen).float(), torch.tensor(info["action_mask"])
            with torch.no_grad():
                policy, value = agent(seen_t, masks)
            action = policy.sample()
            seen, reward, ended, _, info = envs.step(action.numpy())
            after = [torch.tensor(reward).float(), torch.tensor(ended).float()]
            rows.append([seen_t, masks, action, policy.log_prob(action), value, *after])
        with torch.no_grad():
            value = agent(torch.tensor(seen).float(), torch.tensor(info["action_mask"]))[1]
        advantages = _estimate_advantages(rows, value)
        batch = [torch.cat(column) for column in list(zip(*rows, strict=True))[:5]]
        for _ in range(4):
            for rows_of in torch.randperm(len(advantages)).chunk(4):
                parts = [column[rows_of] for column in batch]
                _update(agent, optimizer, *parts, advantages[rows_of])


def _estimate_advantages(rows: list[list[Tensor]], value: Tensor, lam: float = 0.95) -> Tensor:
    """Return the generalised advantage estimates (Schulman et al. 2016) without discount."""
    advantages, advantage = [], torch.zeros_like(value)
    for *_, old_value, reward, ended in reversed(rows):
        delta = reward + (1 - ended) * value - old_value
        advantage = delta + lam * (1 - ended) * advantage
        value = old_value
        advantages.append(advantage)
    return torch.cat(advantages[::-1])


def _update(
    agent: Agent, optimizer: Any, seen: Tensor, masks: Tensor, actions: Tensor, log_probs: Tensor,
    values: Tensor, advantages: Tensor,
) -> None:  # fmt: skip
    """Take one gradient step on the clipped objective."""
    policy, value = agent(seen, masks)
    ratio = (policy.log_prob(actions) - log_probs).exp()
    scaled = (advantages - advantages.mean()) / (advantages.std() + 1e-8)
    gain = torch.min(ratio * scaled, ratio.clamp(0.8, 1.2) * scaled).mean()
    value_loss = 0.5 * (value - values - advantages).square().mean()
    loss = value_loss - gain - 0.01 * policy.entropy().mean()
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(agent.parameters(), 0.5)
    optimizer.step()


def win_rate(envs: Any, agent: Agent, num_steps: int = 40) -> float:
    """Return the share of finished games that the agent wins with its most probable actions."""
    seen, info = envs.reset(seed=1000)
    wins = games = 0
    for _ in range(num_steps):
        with torch.no_grad():
            policy = agent(torch.tensor(seen).float(), torch.tensor(info["action_mask"]))[0]
        seen, reward, ended, _, info = envs.step(policy.logits.argmax(1).numpy())
        wins, games = wins + int((reward > 0).sum()), games + int(ended.sum())
    return wins / games
