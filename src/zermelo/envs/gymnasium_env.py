"""The Gymnasium environment: the agent plays one side; `step` includes the opponent's reply."""

from collections.abc import Callable
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from zermelo.core.errors import ZermeloError
from zermelo.core.game import MaskGame
from zermelo.core.position import Position
from zermelo.envs.opponents import check_seat, create_opponent
from zermelo.envs.planes import (
    Planes,
    can_swap_sides,
    check_render_mode,
    render_position,
)
from zermelo.envs.vector_games import (
    Games,
    GamesConfig,
    PlainGames,
    Seat,
    StepArrays,
    create_games,
)
from zermelo.envs.vector_kernel import NO_WINNER
from zermelo.games.registry import GameLike, as_game
from zermelo.players.registry import PlayerLike

Potential = Callable[[Position], float]  #: position → its value for the side to move


class _Winner(int):
    """The number of a player.

    Gymnasium's SyncVectorEnv would store an ordinary int in an array of ints, which has no place
    for the None of other games.
    """


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
        spec: GameLike,
        *,
        opponent: PlayerLike | None = "random",
        seat: Seat = 0,
        planes: int = 2,
        shaping: str | Potential | None = None,
        gamma: float = 1.0,
        render_mode: str | None = None,
    ) -> None:
        check_render_mode(render_mode, self.metadata["render_modes"])
        self.game, self.render_mode, self.gamma = as_game(spec), render_mode, gamma
        self._potential = self._parse_shaping(shaping)
        self._planes = Planes(self.game, planes)
        config = GamesConfig(self._planes, 1, create_opponent(opponent), seat)
        check_seat(seat, config.opponent, self.game)
        if opponent is None and shaping is not None:
            msg = "shaping needs an opponent: without one, the agent plays both sides"
            raise ZermeloError(msg)
        # A potential is a function of positions, which only PlainGames keeps from move to move.
        self._games: Games = PlainGames(config) if shaping else create_games(config)
        self._arrays: StepArrays | None = None  # None before the first reset
        self._action: NDArray[np.int64] = np.zeros(1, np.int64)
        self.action_space = spaces.Discrete(self.game.num_actions)
        self.observation_space = spaces.Box(0, 1, self._planes.shape, np.int8)

    @property
    def seat(self) -> int:
        """The player that the agent is; without an opponent, the side to move."""
        return int(self._games.seats[0])

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Start a game; if the opponent is first, it moves. The seed also seeds the opponent."""
        super().reset(seed=seed)
        del options
        if seed is None and self._arrays is None:
            seed = int(self.np_random.integers(2**31))
        if seed is not None:
            self._games.seed(np.ones(1, np.bool_), np.array([seed % (1 << 63)], np.uint64))
        self._games.over[0] = True
        self._arrays = self._games.reset()
        return self._arrays.observations[0], self._info(self._arrays)

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Play the agent's action and the opponent's reply; an illegal action loses the game."""
        self._current()
        if self._games.over[0]:
            msg = "the game is over: call env.reset() first"
            raise ZermeloError(msg)
        if isinstance(action, bool) or not isinstance(action, int | np.integer | np.ndarray):
            msg = f"{action!r} is not an action: give an int from 0 to {self.game.num_actions - 1}"
            raise ZermeloError(msg)
        before = 0.0 if self._potential is None else self._potential_of(self._position())
        # An int beyond 64 bits is as illegal as any other number that is not an action.
        self._action[0] = max(-1, min(int(action), self.game.num_actions))
        self._arrays = arrays = self._games.step(self._action)
        reward = float(arrays.rewards[0])
        if self._potential is not None and not arrays.illegal[0]:
            reward += self.gamma * self._potential_of(self._position()) - before
        info = self._info(arrays)
        return arrays.observations[0], reward, bool(arrays.terminations[0]), False, info

    def action_masks(self) -> Any:
        """Return the action mask as booleans. Algorithms with action masking expect this method."""
        return self._current().masks[0].astype(np.bool_)

    def render(self) -> Any:
        """Return the board as text or as an image."""
        self._current()
        return render_position(self._position(), self.render_mode)

    def _current(self) -> StepArrays:
        if self._arrays is None:
            msg = "there is no game yet: call env.reset() first"
            raise ZermeloError(msg)
        return self._arrays

    def _position(self) -> Position:
        return self._games.position(0)

    def _info(self, arrays: StepArrays) -> dict[str, Any]:
        info: dict[str, Any] = {
            "action_mask": arrays.masks[0],
            "winner": None,
            "winning_line": None,
        }
        winner = int(arrays.winners[0])
        if winner != NO_WINNER:
            info["winner"] = _Winner(winner)
            info["winning_line"] = self._position().winning_line
        if arrays.illegal[0]:
            info["illegal"] = True
        return info

    def _parse_shaping(self, shaping: Any) -> Potential | None:
        """Return the potential function; raise ZermeloError if there is none."""
        if shaping is None:
            return None
        if shaping != "threats":
            if not callable(shaping):
                msg = f"shaping is {shaping!r}: it must be 'threats' or a function of the position"
                raise ZermeloError(msg)
            potential: Potential = shaping
            return potential
        if not can_swap_sides(self.game):
            msg = f"shaping is 'threats', but the sides of {self.game.spec} cannot be swapped"
            raise ZermeloError(msg)
        return self._threats

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
