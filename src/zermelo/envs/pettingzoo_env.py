"""The PettingZoo environments: two agents that move in turn, `player_1` first."""

from typing import Any

import numpy as np
from gymnasium import spaces
from pettingzoo import AECEnv

from zermelo.core.errors import ZermeloError
from zermelo.core.position import Position
from zermelo.envs.boards import RESET, create_board
from zermelo.envs.planes import check_render_mode, render_position
from zermelo.games.registry import GameLike, as_game

AGENTS = ("player_1", "player_2")


class GameAEC(AECEnv[str, dict[str, Any], int]):
    """An environment without checks: the caller must play only legal actions, and in turn."""

    metadata: dict[str, Any] = {  # noqa: RUF012 - PettingZoo defines its name and form
        "render_modes": ["human", "ansi", "rgb_array"],
        "is_parallelizable": False,
        "render_fps": 2,
    }

    def __init__(self, spec: GameLike, *, planes: int = 2, render_mode: str | None = None) -> None:
        super().__init__()
        check_render_mode(render_mode, self.metadata["render_modes"])
        self.game = as_game(spec)
        self.metadata = {**GameAEC.metadata, "name": f"zermelo_{self.game.spec}"}
        self.render_mode = render_mode
        self._board = create_board(self.game, planes)
        self.possible_agents = list(AGENTS)
        size = self.game.num_actions
        self.action_spaces = {agent: spaces.Discrete(size) for agent in AGENTS}
        self.observation_spaces = {
            agent: spaces.Dict(
                {
                    "observation": spaces.Box(0, 1, self._board.shape, np.int8),
                    "action_mask": spaces.Box(0, 1, (size,), np.int8),
                }
            )
            for agent in AGENTS
        }
        self._no_actions = np.zeros(size, np.int8)
        self.agents: list[str] = []

    def observation_space(self, agent: str) -> Any:
        """Return the observation space, which is the same for both agents."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> Any:
        """Return the space of all actions, legal or not; the action mask marks the legal ones."""
        return self.action_spaces[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Start a new game; the seed has no effect, since nothing is random."""
        del seed, options
        self.agents = ["player_1", "player_2"]
        self.rewards = {"player_1": 0, "player_2": 0}
        self._cumulative_rewards = {"player_1": 0, "player_2": 0}
        self.terminations = {"player_1": False, "player_2": False}
        self.truncations = {"player_1": False, "player_2": False}
        self.infos: dict[str, dict[str, Any]] = {"player_1": {}, "player_2": {}}
        self._skip_agent_selection = None
        self.mover = self.agent_selection = AGENTS[self._board.play(RESET)[2]]

    def observe(self, agent: str) -> dict[str, Any]:
        """Return the planes as this agent sees them; out of turn, its action mask is all zeros."""
        is_mover = agent == self.mover
        can_move = is_mover and not self.terminations.get(agent, True)
        return {
            "observation": self._board.observe(for_mover=is_mover),
            "action_mask": self._board.action_mask() if can_move else self._no_actions.copy(),
        }

    def step(self, action: int | None) -> None:
        """Play an action; at the end of the game the rewards are 1 and -1, or 0 for a draw."""
        agent = self.agent_selection
        if self.terminations[agent]:
            self._was_dead_step(action)
            return
        self._cumulative_rewards[agent] = 0
        over, value, player = self._board.play(action)
        self.mover = self.agent_selection = AGENTS[player]
        if over:
            self._finish(player, value)
        if self.render_mode == "human":
            self.render()

    def _finish(self, player: int, value: int) -> None:
        first = value if player == 0 else -value
        self.rewards = {"player_1": first, "player_2": -first}
        self._cumulative_rewards = dict(self.rewards)
        self.terminations = {"player_1": True, "player_2": True}

    def render(self) -> Any:
        """Return the board as text or as an image; print it in human mode."""
        position = Position(self.game, self._board.state)
        if self.render_mode in ("ansi", "rgb_array"):
            return render_position(position, self.render_mode)
        print(position)  # noqa: T201 - human mode prints
        return None

    def close(self) -> None:
        """Do nothing, since no resources are open."""


class CheckedAEC(GameAEC):
    """An environment that checks every call; an illegal action loses, with a reward of -1."""

    def observe(self, agent: str) -> dict[str, Any]:
        """Return an observation. Raise ZermeloError before the first reset."""
        if not hasattr(self, "mover"):
            self._check_reset("observe")
        return super().observe(agent)

    def last(self, observe: bool = True) -> Any:  # noqa: FBT002 - PettingZoo's signature
        """Return the result of PettingZoo's `last`. Raise ZermeloError if no game is running."""
        self._check_reset("last")
        return super().last(observe)

    def step(self, action: int | None) -> None:
        """Play an action; an illegal one loses. Raise ZermeloError if there is no such action."""
        self._check_reset("step")
        agent = self.agent_selection
        if self.terminations[agent]:
            super().step(action)
            return
        is_int = isinstance(action, int | np.integer) and not isinstance(action, bool)
        if action is None or not is_int or not 0 <= action < self.game.num_actions:
            last = self.game.num_actions - 1
            msg = f"{action!r} is not an action of {self.game.spec}: give an int from 0 to {last}"
            raise ZermeloError(msg)
        if not self._board.is_legal(action):
            self._lose_by_illegal_action(agent)
            return
        super().step(action)

    def _lose_by_illegal_action(self, agent: str) -> None:
        self._cumulative_rewards[agent] = 0
        self.rewards = dict.fromkeys(AGENTS, 0)
        self.rewards[agent] = -1
        self.terminations = dict.fromkeys(AGENTS, True)
        self.infos[agent]["illegal"] = True
        self._accumulate_rewards()

    def _check_reset(self, call: str) -> None:
        if not self.agents:
            msg = f"{call}: there is no game, or it has ended: call env.reset() first"
            raise ZermeloError(msg)
