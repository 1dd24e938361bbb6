"""Players defined in users' files: `path/to/player.py`, `path/to/player.py:ClassName,seed=1`.

Loading such a file runs it, so use this module only for specs that a person gives on the command
line or in Python. Specs that arrive over the network go through `registry.load_builtin_player`.
"""

import functools
import inspect
from pathlib import Path
from typing import Any

from zermelo.core import specs
from zermelo.core.errors import BadSpec
from zermelo.core.notation import quote_text
from zermelo.core.player import Player
from zermelo.core.specs import Parameter
from zermelo.games import user_code

_SEED = Parameter("seed", int, None)
_SUFFIX = ".py"


def is_player_file(spec: str) -> bool:
    """Return whether a spec names a file."""
    spec = spec.strip()
    return spec.endswith(_SUFFIX) or f"{_SUFFIX}:" in spec


def player_file_path(spec: str) -> Path:
    """Return the path of the file that a spec names."""
    return Path(_split(spec)[0])


def file_accepts_seed(spec: str) -> bool:
    """Load the file; return whether its class takes a seed and the spec does not set one."""
    return _split(spec)[2] is None and _has_seed(load_player_class(spec))


def load_player_file(spec: str) -> Player:
    """Create the player that a file defines; raise BadSpec if it defines none."""
    player_class: Any = load_player_class(spec)
    seed = _split(spec)[2]
    if seed is not None and not _has_seed(player_class):
        msg = f"{quote_text(spec, 200)}: {player_class.__name__} takes no seed"
        raise BadSpec(msg)
    with user_code.guard(spec):
        player: Player = player_class() if seed is None else player_class(seed=seed)
    player.name = getattr(player, "name", spec)
    return player


def load_player_class(spec: str) -> type[Player]:
    """Return the player class that a file defines, without creating a player.

    The file is loaded on the first call, and again after it has been edited.
    """
    path, name, _ = _split(spec)
    try:
        mtime = Path(path).stat().st_mtime_ns
    except OSError:
        mtime = -1
    if mtime < 0 or not Path(path).is_file():
        msg = f"{quote_text(path, 200)}: there is no such file"
        raise BadSpec(msg)
    return _load_class(path, str(Path(path).resolve()), name, mtime)


@functools.lru_cache(maxsize=64)
def _load_class(path: str, _resolved: str, name: str, _mtime: int) -> type[Player]:
    with user_code.guard(path):
        classes = user_code.classes_in(user_code.load_module(Path(path)), Player)
    matches = [cls for cls in classes if name in ("", cls.__name__)]
    if not matches:
        missing_name = f"no player {quote_text(name)}" if name else "no player"
        others = f", only {', '.join(cls.__name__ for cls in classes)}" if classes else ""
        msg = f"{path} defines {missing_name}{others}: write a class derived from zermelo.Player"
        raise BadSpec(msg)
    if len(matches) > 1:
        names = " and ".join(cls.__name__ for cls in matches)
        msg = f"{path} defines several players, {names}: name one, as in {path}:NAME"
        raise BadSpec(msg)
    player_class: type[Player] = matches[0]
    missing = sorted(getattr(player_class, "__abstractmethods__", ()))
    if missing:
        msg = f"{path}: {player_class.__name__} must define {', '.join(missing)}"
        raise BadSpec(msg)
    parameters = _parameters(player_class)
    required = [p.name for p in parameters if p.name != "seed" and p.default is p.empty]
    if required:
        msg = (
            f"{path}: {player_class.__name__} has required arguments {', '.join(required)}, "
            "but only `seed` is passed: give them defaults"
        )
        raise BadSpec(msg)
    return player_class


def _split(spec: str) -> tuple[str, str, int | None]:
    """Split a spec into the path, the class name (may be empty) and the seed."""
    head, _, tail = spec.strip().rpartition(_SUFFIX)
    _, plain, keyed = specs.split_spec(f"file{tail}")
    if len(plain) > 1:
        msg = f"{quote_text(spec, 200)}: {quote_text(','.join(plain))} names more than one class"
        raise BadSpec(msg)
    values = specs.parse_parameters(Path(head).name + _SUFFIX + tail, {}, keyed, (_SEED,))
    return head + _SUFFIX, plain[0] if plain else "", values["seed"]


def _parameters(player_class: type[Player]) -> list[inspect.Parameter]:
    variadic = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    parameters = inspect.signature(player_class).parameters.values()
    return [parameter for parameter in parameters if parameter.kind not in variadic]


def _has_seed(player_class: type[Player]) -> bool:
    return any(parameter.name == "seed" for parameter in _parameters(player_class))
