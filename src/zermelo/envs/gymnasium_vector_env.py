"""The Gymnasium vector environment: many games at once, each of one agent against an opponent."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from zermelo.core.errors import ZermeloError
from zermelo.envs.opponents import check_seat, create_opponent
from zermelo.envs.planes import Planes, check_render_mode, render_position
from zermelo.envs.vector_games import Games, GamesConfig, Seat, StepArrays, create_games
from zermelo.games.registry import GameLike, as_game
from zermelo.players.registry import PlayerLike

_NUM_SEEDS = 1 << 63  # larger seeds are reduced


class GameVectorEnv(VectorEnv[Any, Any, Any]):
    """A batch of games; every call of `step` plays one action in each of them.

    `step` includes the opponent's replies. Without an opponent, every step is one ply: the
    observation is that of the side to move, and the reward is that of the side that has moved.
    """

    metadata: dict[str, Any] = {  # noqa: RUF012 - Gymnasium defines its name and form
        "render_modes": ["ansi", "rgb_array"],
        "render_fps": 2,
        "autoreset_mode": AutoresetMode.NEXT_STEP,
    }

    def __init__(
        self,
        spec: GameLike,
        num_envs: int = 1,
        *,
        opponent: PlayerLike | None = None,
        seat: Seat = 0,
        planes: int = 2,
        autoreset: str | AutoresetMode = AutoresetMode.NEXT_STEP,
        copy: bool = True,
        render_mode: str | None = None,
    ) -> None:
        if isinstance(num_envs, bool) or not isinstance(num_envs, int) or num_envs < 1:
            msg = f"num_envs is {num_envs!r}: it must be an int of 1 or more"
            raise ZermeloError(msg)
        check_render_mode(render_mode, self.metadata["render_modes"])
        self.game, self.num_envs, self.render_mode = as_game(spec), num_envs, render_mode
        self.autoreset_mode = _parse_autoreset(autoreset)
        self.metadata = {**GameVectorEnv.metadata, "autoreset_mode": self.autoreset_mode}
        config = GamesConfig(
            Planes(self.game, planes),
            num_envs,
            create_opponent(opponent),
            seat,
            same_step=self.autoreset_mode is AutoresetMode.SAME_STEP,
            copy=copy,
        )
        check_seat(seat, config.opponent, self.game)
        self.single_observation_space = spaces.Box(0, 1, config.planes.shape, np.int8)
        self.single_action_space = spaces.Discrete(self.game.num_actions)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._config = config
        self._games: Games = create_games(config)
        self._masks: NDArray[np.int8] | None = None  # None before the first reset

    def reset(
        self, *, seed: int | Sequence[int] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Begin new games and return the observations and `info`.

        Game i is seeded with `seed + i`, or with element i of a list; without a seed, the opponents
        continue with their random numbers. If `options` has a
        boolean array `reset_mask`, only the games that it marks begin anew.
        """
        games = self._games
        rows = _parse_reset_mask(options, self.num_envs)
        seeds = self._parse_seeds(seed)
        super().reset(seed=seed if isinstance(seed, int) else None)
        games.over[rows] = True
        if seeds is not None:
            games.seed(rows, seeds)
        arrays = games.reset()
        self._masks = arrays.masks
        return arrays.observations, self._info(arrays)

    def step(self, actions: Any) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        """Play one action in every game; an illegal action loses its game.

        A game that ended in the step before begins anew with `autoreset="NextStep"`, and its action
        is ignored. With `autoreset="SameStep"`, it has begun already: the last observation and the
        last info of the old game are in `info["final_obs"]` and `info["final_info"]`.
        """
        games, seats = self._games, self._games.seats.copy()
        played = self._parse_actions(actions)
        if self._masks is None:
            msg = "there are no games yet: call envs.reset() first"
            raise ZermeloError(msg)
        if self.autoreset_mode is AutoresetMode.DISABLED and games.over.any():
            row = int(games.over.argmax())
            msg = f"game {row} is over: call envs.reset(options={{'reset_mask': …}}) first"
            raise ZermeloError(msg)
        arrays = games.step(played)
        self._masks = arrays.masks
        truncations: NDArray[np.bool_] = np.zeros(self.num_envs, np.bool_)
        info = self._info(arrays)
        if self.autoreset_mode is AutoresetMode.SAME_STEP and arrays.terminations.any():
            self._move_to_final_info(arrays, seats, info)
        return arrays.observations, arrays.rewards, arrays.terminations, truncations, info

    def action_masks(self) -> NDArray[np.bool_]:
        """Return the masks of the legal actions as booleans, `[env, action]`."""
        if self._masks is None:
            msg = "there are no games yet: call envs.reset() first"
            raise ZermeloError(msg)
        return self._masks.astype(np.bool_)

    def render(self) -> tuple[Any, ...]:
        """Return each board as text or as an image."""
        return tuple(
            render_position(self._games.position(row), self.render_mode)
            for row in range(self.num_envs)
        )

    def _info(self, arrays: StepArrays) -> dict[str, Any]:
        """Return the info of all games; a key with `_` marks the games that have this info."""
        info = {
            "action_mask": arrays.masks,
            "winner": arrays.winners,
            "illegal": arrays.illegal,
            "seat": self._games.seats.copy(),
        }
        everywhere: NDArray[np.bool_] = np.ones(self.num_envs, np.bool_)
        return info | {f"_{key}": everywhere for key in info}

    def _move_to_final_info(
        self, arrays: StepArrays, seats: NDArray[np.int8], info: dict[str, Any]
    ) -> None:
        """Move what concerns games that have ended in this step to the keys of Gymnasium."""
        ended = arrays.terminations
        observations: NDArray[Any] = np.full(self.num_envs, None, object)
        finals = arrays.final_observations[ended]
        observations[ended] = np.fromiter(finals, object, len(finals))
        final = {
            "action_mask": np.zeros(arrays.masks.shape, np.int8),
            "winner": arrays.winners,
            "illegal": arrays.illegal,
            "seat": seats,
        }
        info["final_obs"], info["_final_obs"] = observations, ended.copy()
        info["final_info"] = final | {f"_{key}": ended for key in final}
        info["_final_info"] = ended.copy()
        info["winner"] = np.full_like(arrays.winners, -1)
        info["illegal"] = np.zeros(self.num_envs, np.bool_)

    def _parse_seeds(self, seed: int | Sequence[int] | None) -> NDArray[np.uint64] | None:
        """Return a seed for each game, or None to continue with the random numbers of each."""
        if seed is None:
            if self._masks is not None:
                return None
            seed = int(self.np_random.integers(2**31))
        seeds = [seed] if isinstance(seed, int | np.integer) else list(seed)
        wrong = next((s for s in seeds if not isinstance(s, int | np.integer) or s < 0), None)
        if wrong is not None:
            msg = f"seed is {wrong!r}: it must be an int of 0 or more"
            raise ZermeloError(msg)
        if isinstance(seed, int | np.integer):
            return np.arange(self.num_envs, dtype=np.uint64) + np.uint64(seed % _NUM_SEEDS)
        if len(seeds) != self.num_envs:
            msg = f"{len(seeds)} seeds were given for {self.num_envs} games"
            raise ZermeloError(msg)
        return np.array([seed % _NUM_SEEDS for seed in seeds], np.uint64)

    def _parse_actions(self, actions: Any) -> NDArray[np.int64]:
        """Return the actions as an array; raise ZermeloError if they are not one int per game."""
        array = np.asarray(actions)
        if array.shape != (self.num_envs,) or not np.issubdtype(array.dtype, np.integer):
            msg = (
                f"actions must be an array of {self.num_envs} ints, one for each game, not an "
                f"array of shape {array.shape} and type {array.dtype}"
            )
            raise ZermeloError(msg)
        return np.ascontiguousarray(array, np.int64)


def _parse_autoreset(autoreset: str | AutoresetMode) -> AutoresetMode:
    try:
        return AutoresetMode(autoreset)
    except ValueError:
        names = ", ".join(repr(mode.value) for mode in AutoresetMode)
        msg = f"autoreset is {autoreset!r}: it must be one of {names}"
        raise ZermeloError(msg) from None


def _parse_reset_mask(options: dict[str, Any] | None, num_envs: int) -> NDArray[np.bool_]:
    """Return a mask of the games to reset: all of them unless the options have a mask."""
    if options is None or "reset_mask" not in options:
        return np.ones(num_envs, np.bool_)
    mask = np.asarray(options["reset_mask"])
    if mask.shape != (num_envs,) or mask.dtype != np.bool_ or not mask.any():
        msg = f"reset_mask must be an array of {num_envs} booleans, at least one of them True"
        raise ZermeloError(msg)
    return mask
