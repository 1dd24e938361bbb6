"""Environments: every game with a board for Gymnasium, PettingZoo and OpenSpiel.

Optional: `pip install zermelo[envs]` brings the first two.
"""

from typing import TYPE_CHECKING, Any

from zermelo.core.errors import ZermeloError

if TYPE_CHECKING:
    from zermelo.envs.gymnasium_env import GameEnv
    from zermelo.envs.pettingzoo_env import GameAEC

__all__ = ["aec_env", "gym_env"]


def aec_env(spec: str, **options: Any) -> "GameAEC":
    """A PettingZoo AEC environment; `raw=True` leaves the checks of actions and order out."""
    _need("pettingzoo", "aec_env")
    from zermelo.envs.pettingzoo_env import CheckedAEC, GameAEC

    raw = options.pop("raw", False)
    return (GameAEC if raw else CheckedAEC)(spec, **options)


def gym_env(spec: str, **options: Any) -> "GameEnv":
    """A Gymnasium environment for one seat; the opponent's replies are part of `step`."""
    _need("gymnasium", "gym_env")
    from zermelo.envs.gymnasium_env import GameEnv

    return GameEnv(spec, **options)


def _need(package: str, what: str) -> None:
    import importlib.util

    if importlib.util.find_spec(package) is None:
        msg = f"{what} needs {package}: pip install 'zermelo[envs]'"
        raise ZermeloError(msg)
