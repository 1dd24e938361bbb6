"""Gymnasium: one agent in one seat; the opponent's replies are part of `step`."""

from collections.abc import Callable
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces

from zermelo.core.errors import ZermeloError
from zermelo.core.game import MaskGame
from zermelo.core.player import Player
from zermelo.core.position import Position
from zermelo.envs.planes import Planes, picture
from zermelo.games import registry
from zermelo.players.registry import accepts_seed, load_player, with_seed

Potential = Callable[[Position], float]  #: how good a position looks to the side to move


class GameEnv(gymnasium.Env[Any, Any]):
    """A game against an opponent.

    `shaping`: None; `"threats"`, a tenth for every cell where the agent would win at once, less
    the opponent's; or a function of the position. It adds `gamma * f(after) - f(before)` with
    f(end) = 0, both seen by the agent, which leaves the best policy as it is (Ng et al. 1999).
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
            msg = f"render_mode is {render_mode!r}: it can be ansi or rgb_array"
            raise ZermeloError(msg)
        if shaping is not None and shaping != "threats" and not callable(shaping):
            msg = f"shaping is {shaping!r}: it can be 'threats' or a function of the position"
            raise ZermeloError(msg)
        self.game = registry.game(spec)
        self.seat, self.render_mode, self.gamma = seat, render_mode, gamma
        self._planes = Planes(self.game, planes)
        self._opponent_spec = opponent.strip().removesuffix(":")
        self._opponent: Player = load_player(self._opponent_spec)
        self._potential = self._threats if isinstance(shaping, str) else shaping
        size = self.game.num_actions
        self.action_space = spaces.Discrete(size)
        self.observation_space = spaces.Box(0, 1, self._planes.shape, np.int8)
        self._position: Position | None = None
        self._lost = False  # by an illegal action

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """To the agent's first choice. A seed also seeds an opponent that takes one."""
        super().reset(seed=seed)
        del options
        if seed is not None and accepts_seed(self._opponent_spec):
            drawn = int(self.np_random.integers(2**31))
            self._opponent = load_player(with_seed(self._opponent_spec, drawn))
        self._position, self._lost = self.game.start(), False
        self._reply()
        return self._observation(), self._info()

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """The agent's action and the opponent's reply; an illegal action loses."""
        position = self._now()
        if position.is_over or self._lost:
            msg = "step after the end: call env.reset() first"
            raise ZermeloError(msg)
        if isinstance(action, bool) or not isinstance(action, int | np.integer | np.ndarray):
            msg = f"{action!r} is no action: an int from 0 to {self.game.num_actions - 1}"
            raise ZermeloError(msg)
        if int(action) not in position.actions:
            self._lost = True
            info = {"illegal": True, "action_mask": np.zeros(self.game.num_actions, np.int8)}
            observed = self._planes.observe(position.state, self.seat)
            return (
                observed,
                -1.0,
                True,
                False,
                {**info, "winner": 1 - self.seat, "winning_line": None},
            )
        before = self._value(position)
        self._position = position.play_action(int(action))
        self._reply()
        now = self._now()
        outcome = now.outcome
        reward = 0.0
        if outcome is not None and outcome.winner is not None:
            reward = 1.0 if outcome.winner == self.seat else -1.0
        shaped = self.gamma * self._value(now) - before
        return self._observation(), reward + shaped, outcome is not None, False, self._info()

    def action_masks(self) -> Any:
        """The legal actions as booleans, by the name that masked algorithms look for."""
        return self._mask().astype(bool)

    def render(self) -> Any:
        """The board as text or image."""
        position = self._now()
        if self.render_mode == "rgb_array":
            assert position.board is not None
            assert self.game.grid is not None
            return picture(position.board, self.game.grid, position.winning_line)
        return str(position)

    def _now(self) -> Position:
        if self._position is None:
            msg = "the game has not begun: call env.reset() first"
            raise ZermeloError(msg)
        return self._position

    def _reply(self) -> None:
        """Opponent's moves until the agent has a choice or the game is over."""
        position = self._now()
        while not position.is_over and position.player != self.seat:
            position = position.play(self._opponent.choose(position).move)
        self._position = position

    def _observation(self) -> Any:
        return self._planes.observe(self._now().state, self.seat)

    def _mask(self) -> Any:
        position = self._now()
        if position.is_over or self._lost:
            return np.zeros(self.game.num_actions, np.int8)
        return self._planes.mask(position.state)

    def _info(self) -> dict[str, Any]:
        position = self._now()
        outcome = position.outcome
        return {
            "action_mask": self._mask(),
            "winner": outcome.winner if outcome else None,
            "winning_line": position.winning_line,
        }

    def _value(self, position: Position) -> float:
        """The potential for the agent; 0 at the end, where it is the agent's turn or not."""
        if self._potential is None or position.is_over:
            return 0.0
        return self._potential(position)

    def _threats(self, position: Position) -> float:
        own = self._planes.winning_cells(position.state).bit_count()
        assert isinstance(self.game, MaskGame)
        other = self.game.null_move(position.state)
        return (own - self._planes.winning_cells(other).bit_count()) / 10
