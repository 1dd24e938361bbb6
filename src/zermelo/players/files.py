"""Players of the user's own: `path/to/player.py`, or `path/to/player.py:ClassName,seed=1`.

Such a file is code and runs as such, so it is loaded only where a person names it: on the command
line or in Python. What arrives by network goes through `roster.named_player`.
"""

import functools
import inspect
from pathlib import Path
from typing import Any

from zermelo.core import specs
from zermelo.core.errors import BadSpec
from zermelo.core.notation import shown
from zermelo.core.player import Player
from zermelo.core.specs import Parameter
from zermelo.games import user_code

_SEED = Parameter("seed", int, None)
_END = ".py"


def is_file(spec: str) -> bool:
    """Whether a spec names a file."""
    spec = spec.strip()
    return spec.endswith(_END) or f"{_END}:" in spec


def path_of(spec: str) -> Path:
    """The file that a spec names."""
    return Path(_split(spec)[0])


def takes_seed(spec: str) -> bool:
    """Whether the class takes a seed, and the spec gives none; the file is loaded for it."""
    return _split(spec)[2] is None and _has_seed(load(spec))


def player(spec: str) -> Player:
    """The player in a file, made anew; BadSpec says in one line why there is none."""
    kind: Any = load(spec)
    seed = _split(spec)[2]
    if seed is not None and not _has_seed(kind):
        msg = f"{shown(spec, 200)}: {kind.__name__} takes no seed"
        raise BadSpec(msg)
    with user_code.guard(spec):
        made: Player = kind() if seed is None else kind(seed=seed)
    made.name = getattr(made, "name", spec)
    return made


def load(spec: str) -> type[Player]:
    """The class in a file, loaded once, and again after an edit; nobody is made of it yet."""
    path, name, _ = _split(spec)
    try:
        edited = Path(path).stat().st_mtime_ns
    except OSError:
        edited = -1
    if edited < 0 or not Path(path).is_file():
        msg = f"{shown(path, 200)}: there is no such file"
        raise BadSpec(msg)
    return _load(path, str(Path(path).resolve()), name, edited)


@functools.lru_cache(maxsize=64)
def _load(path: str, _resolved: str, name: str, _edited: int) -> type[Player]:
    with user_code.guard(path):
        own = user_code.classes_in(user_code.load_module(Path(path)), Player)
    found = [kind for kind in own if name in ("", kind.__name__)]
    if not found:
        wanted = f"no player {shown(name)}" if name else "no player"
        has = f"; it has {', '.join(kind.__name__ for kind in own)}" if own else ""
        msg = f"{path}: there is {wanted} in it{has}: write a class derived from zermelo.Player"
        raise BadSpec(msg)
    if len(found) > 1:
        names = " and ".join(kind.__name__ for kind in found)
        msg = f"{path}: there are several players in it, {names}: name one, as in {path}:NAME"
        raise BadSpec(msg)
    kind: type[Player] = found[0]
    missing = sorted(getattr(kind, "__abstractmethods__", ()))
    if missing:
        msg = f"{path}: {kind.__name__} lacks {', '.join(missing)}"
        raise BadSpec(msg)
    needed = [p.name for p in _parameters(kind) if p.name != "seed" and p.default is p.empty]
    if needed:
        msg = f"{path}: {kind.__name__} needs {', '.join(needed)}: only a seed can be given"
        raise BadSpec(msg)
    return kind


def _split(spec: str) -> tuple[str, str, int | None]:
    """Path, class or "", seed."""
    head, _, tail = spec.strip().rpartition(_END)
    _, plain, keyed = specs.split(f"file{tail}")
    if len(plain) > 1:
        msg = f"{shown(spec, 200)}: {shown(','.join(plain))} names more than one class"
        raise BadSpec(msg)
    given = specs.values(Path(head).name + _END + tail, {}, keyed, (_SEED,))
    return head + _END, plain[0] if plain else "", given["seed"]


def _parameters(kind: type[Player]) -> list[inspect.Parameter]:
    variadic = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    return [p for p in inspect.signature(kind).parameters.values() if p.kind not in variadic]


def _has_seed(kind: type[Player]) -> bool:
    return any(p.name == "seed" for p in _parameters(kind))
