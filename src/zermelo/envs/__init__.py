"""Environments for Gymnasium, PettingZoo and OpenSpiel, for every game with a board.

`pip install zermelo[envs]` installs the first two libraries. `planes` encodes the observations and
`boards` holds the running game. Commands and benchmarks import this package.
"""

from typing import TYPE_CHECKING, Any

from zermelo.core.errors import ZermeloError

if TYPE_CHECKING:
    from zermelo.envs.gymnasium_env import GameEnv
    from zermelo.envs.pettingzoo_env import GameAEC

__all__ = ["aec_env", "gym_env"]


def aec_env(spec: str, **options: Any) -> "GameAEC":
    """Return a PettingZoo AEC environment.

    With `raw=True`, it does not check that actions are legal or that calls come in order.
    """
    _require("pettingzoo", "aec_env")
    from zermelo.envs.pettingzoo_env import CheckedAEC, GameAEC

    raw = options.pop("raw", False)
    return (GameAEC if raw else CheckedAEC)(spec, **options)


def gym_env(spec: str, **options: Any) -> "GameEnv":
    """Return a Gymnasium environment for one seat; `step` includes the opponent's reply."""
    _require("gymnasium", "gym_env")
    from zermelo.envs.gymnasium_env import GameEnv

    return GameEnv(spec, **options)


def _require(package: str, function: str) -> None:
    import importlib.util

    if importlib.util.find_spec(package) is None:
        msg = f"{function} needs {package}: pip install 'zermelo[envs]'"
        raise ZermeloError(msg)
