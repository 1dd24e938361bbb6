"""The Gymnasium environment: the agent plays one side; `step` includes the opponent's reply."""

from collections.abc import Callable
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces

from zermelo.core.errors import ZermeloError
from zermelo.core.game import MaskGame
from zermelo.core.player import Player
from zermelo.core.position import Position
from zermelo.envs.planes import Planes, can_swap_sides, render_rgb
from zermelo.games import registry
from zermelo.players.registry import accepts_seed, load_player, with_seed

Potential = Callable[[Position], float]  #: position → its value for the side to move


class GameEnv(gymnasium.Env[Any, Any]):
    """A game of one agent against an opponent.

    `shaping` is None, `"threats"` or a potential function f of the position. It adds
    `gamma * f(after) - f(before)` to the reward, where f is the value for the agent, and 0 at the
    end of the game. Shaping of this form does not change the optimal policy (Ng et al. 1999).
    `"threats"` counts the cells where the agent would win immediately, subtracts the number of
    those where the opponent would, and divides by ten.
    """

    metadata: dict[str, Any] = {"render_modes": ["ansi", "rgb_array"], "render_fps": 2}  # noqa: RUF012

    def __init__(
        self,
        spec: str,
        *,
        opponent: str = "random",
        seat: int = 0,
        planes: int = 2,
        shaping: str | Potential | None = None,
        gamma: float = 1.0,
        render_mode: str | None = None,
    ) -> None:
        if seat not in (0, 1):
            msg = f"seat is {seat}: it must be 0 (first) or 1 (second)"
            raise ZermeloError(msg)
        if render_mode not in (None, *self.metadata["render_modes"]):
            msg = f"render_mode is {render_mode!r}: it must be ansi or rgb_array"
            raise ZermeloError(msg)
        if shaping is not None and shaping != "threats" and not callable(shaping):
            msg = f"shaping is {shaping!r}: it must be 'threats' or a function of the position"
            raise ZermeloError(msg)
        self.game = registry.game(spec)
        if shaping == "threats" and not can_swap_sides(self.game):
            msg = f"shaping is 'threats', but the sides of {self.game.spec} cannot be swapped"
            raise ZermeloError(msg)
        self.seat, self.render_mode, self.gamma = seat, render_mode, gamma
        self._planes = Planes(self.game, planes)
        self._opponent_spec = opponent.strip().removesuffix(":")
        self._opponent: Player = load_player(self._opponent_spec)
        self._potential = self._threats if isinstance(shaping, str) else shaping
        size = self.game.num_actions
        self.action_space = spaces.Discrete(size)
        self.observation_space = spaces.Box(0, 1, self._planes.shape, np.int8)
        self._position: Position | None = None
        self._has_forfeited = False  # the agent has lost by an illegal action

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Start a game; if the opponent is first, it moves. The seed also seeds the opponent."""
        super().reset(seed=seed)
        del options
        if seed is not None and accepts_seed(self._opponent_spec):
            opponent_seed = int(self.np_random.integers(2**31))
            self._opponent = load_player(with_seed(self._opponent_spec, opponent_seed))
        self._position, self._has_forfeited = self.game.start(), False
        self._reply()
        return self._observation(), self._info()

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Play the agent's action and the opponent's reply; an illegal action loses the game."""
        position = self._current()
        if position.is_over or self._has_forfeited:
            msg = "the game is over: call env.reset() first"
            raise ZermeloError(msg)
        if isinstance(action, bool) or not isinstance(action, int | np.integer | np.ndarray):
            msg = f"{action!r} is not an action: give an int from 0 to {self.game.num_actions - 1}"
            raise ZermeloError(msg)
        if int(action) not in position.actions:
            self._has_forfeited = True
            info = {"illegal": True, "winner": 1 - self.seat, "winning_line": None}
            return self._observation(), -1.0, True, False, {**info, "action_mask": self._mask()}
        before = self._potential_of(position)
        self._position = position.play_action(int(action))
        self._reply()
        after = self._current()
        outcome = after.outcome
        reward = 0.0
        if outcome is not None and outcome.winner is not None:
            reward = 1.0 if outcome.winner == self.seat else -1.0
        shaping = self.gamma * self._potential_of(after) - before
        return self._observation(), reward + shaping, outcome is not None, False, self._info()

    def action_masks(self) -> Any:
        """Return the action mask as booleans. Algorithms with action masking expect this method."""
        return self._mask().astype(bool)

    def render(self) -> Any:
        """Return the board as text or as an image."""
        position = self._current()
        if self.render_mode == "rgb_array":
            assert position.board is not None
            assert self.game.grid is not None
            return render_rgb(position.board, self.game.grid, position.winning_line)
        return str(position)

    def _current(self) -> Position:
        if self._position is None:
            msg = "there is no game yet: call env.reset() first"
            raise ZermeloError(msg)
        return self._position

    def _reply(self) -> None:
        """Let the opponent move until it is the agent's turn or the game is over."""
        position = self._current()
        while not position.is_over and position.player != self.seat:
            position = position.play(self._opponent.choose(position).move)
        self._position = position

    def _observation(self) -> Any:
        return self._planes.observe(self._current().state, self.seat)

    def _mask(self) -> Any:
        position = self._current()
        if position.is_over or self._has_forfeited:
            return np.zeros(self.game.num_actions, np.int8)
        return self._planes.action_mask(position.state)

    def _info(self) -> dict[str, Any]:
        position = self._current()
        outcome = position.outcome
        return {
            "action_mask": self._mask(),
            "winner": outcome.winner if outcome else None,
            "winning_line": position.winning_line,
        }

    def _potential_of(self, position: Position) -> float:
        """Return the agent's potential, which is 0 without shaping and when the game is over."""
        if self._potential is None or position.is_over:
            return 0.0
        return self._potential(position)

    def _threats(self, position: Position) -> float:
        assert isinstance(self.game, MaskGame)
        own = self._planes.winning_cells(position.state)
        other = self._planes.winning_cells(self.game.null_move(position.state))
        return (own.bit_count() - other.bit_count()) / 10
