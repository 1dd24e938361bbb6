"""Environments for Gymnasium, PettingZoo and OpenSpiel, for every game with a board.

`pip install zermelo[envs]` installs the first two libraries. `planes` encodes the observations,
`boards` and `vector_games` hold the running games, and `opponents` replies to the agent.
Importing this package registers `Zermelo/ConnectFour-v0` and the other names of `registration`
if Gymnasium is installed. Commands and benchmarks import this package.
"""

import importlib.util
from typing import TYPE_CHECKING, Any

from zermelo.core.errors import ZermeloError
from zermelo.envs.registration import register_environments
from zermelo.games.registry import GameLike
from zermelo.players.registry import PlayerLike

if TYPE_CHECKING:
    from gymnasium.vector import AutoresetMode

    from zermelo.envs.gymnasium_env import GameEnv
    from zermelo.envs.gymnasium_vector_env import GameVectorEnv
    from zermelo.envs.pettingzoo_env import GameAEC

__all__ = ["aec_env", "gym_env", "vector_env"]


def aec_env(spec: GameLike, **options: Any) -> "GameAEC":
    """Return a PettingZoo AEC environment.

    With `raw=True`, it does not check that actions are legal or that calls come in order.
    """
    _require("pettingzoo", "aec_env")
    from zermelo.envs.pettingzoo_env import CheckedAEC, GameAEC

    raw = options.pop("raw", False)
    return (GameAEC if raw else CheckedAEC)(spec, **options)


def gym_env(spec: GameLike, **options: Any) -> "GameEnv":
    """Return a Gymnasium environment for one seat; `step` includes the opponent's reply."""
    _require("gymnasium", "gym_env")
    from zermelo.envs.gymnasium_env import GameEnv

    return GameEnv(spec, **options)


def vector_env(
    spec: GameLike,
    num_envs: int,
    *,
    opponent: PlayerLike | None = None,
    seat: int | str = 0,
    planes: int = 2,
    autoreset: "str | AutoresetMode" = "NextStep",
    copy: bool = True,
    render_mode: str | None = None,
) -> "GameVectorEnv":
    """Return a Gymnasium vector environment of `num_envs` games.

    The opponent's replies are part of `step`: `random` and `greedy` play inside the kernel, any
    other player or function is called for one game at a time. Without an opponent, every step is
    one ply, seen by the side to move. The seat is 0, 1 or `"both"` (by turns). `autoreset` is
    `"NextStep"`, `"SameStep"` or `"Disabled"`; with `copy=False`, steps return the same arrays.

    >>> envs = vector_env("tictactoe", 3, opponent="random")
    >>> observations, info = envs.reset(seed=1)
    >>> observations.shape, info["action_mask"].shape
    ((3, 2, 3, 3), (3, 9))
    """
    _require("gymnasium", "vector_env")
    from zermelo.envs.gymnasium_vector_env import GameVectorEnv

    return GameVectorEnv(
        spec,
        num_envs,
        opponent=opponent,
        seat=seat,
        planes=planes,
        autoreset=autoreset,
        copy=copy,
        render_mode=render_mode,
    )


def _require(package: str, function: str) -> None:
    if importlib.util.find_spec(package) is None:
        msg = f"{function} needs {package}: pip install 'zermelo[envs]'"
        raise ZermeloError(msg)


register_environments()
