"""Fingerprints of rules: a file stores the fingerprint of the rules that it was created with.

Position sets, models, training runs, tablebases and opening books store `rules_fingerprint`. They
are rejected if it differs from the fingerprint of the current rules. Tablebases and books contain
proven values, so they also store `source_digest`. This digest changes whenever the source code of a
user's game changes; the fingerprint, which is computed from random games, may miss a change.
"""

import functools
import hashlib
import inspect
import random
import sys
from pathlib import Path
from types import ModuleType

from zermelo.core.game.contract import Game

_NUM_GAMES, _MAX_PLIES = 32, 200


@functools.lru_cache(maxsize=256)
def rules_fingerprint(game: Game) -> str:
    """Return a digest of the legal actions and results in random games; the spec is the seed.

    The digest depends on what the rules do and not on how they are written: moving, renaming or
    rewriting code does not change it.
    """
    rng = random.Random(game.spec)
    digest = hashlib.sha256()
    for _ in range(_NUM_GAMES):
        state = game.initial()
        for _ in range(_MAX_PLIES):
            actions = game.actions(state)
            digest.update(f"{actions} {game.result(state)[1] if not actions else ''};".encode())
            if not actions:
                break
            state = game.play(state, actions[int(rng.random() * len(actions))])
    return digest.hexdigest()[:16]


@functools.lru_cache(maxsize=256)
def source_digest(game: Game) -> str:
    """Return a digest of the source code of a user's game, or "" for a built-in game.

    The digest covers the modules that define the game and its solver hooks, and all modules in the
    same folder from which those modules import names.
    """
    sources: dict[str, str] = {}
    classes = (*type(game).__mro__, *getattr(game, "hooks_class", object).__mro__)
    pending: list[type | ModuleType] = [c for c in classes if _is_foreign(c.__module__)]
    while pending:
        item = pending.pop()
        module = inspect.getmodule(item)
        if module is None or _folder(module) is None:  # such as a class defined in a notebook
            sources[str(item)] = _source(item)
        elif module.__name__ not in sources:
            sources[module.__name__] = _source(module)
            pending += [m for m in _imported_modules(module) if _folder(m) == _folder(module)]
    if not sources:
        return ""
    text = "\0".join(sources[name] for name in sorted(sources))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _is_foreign(module_name: str) -> bool:
    package = module_name.partition(".")[0]
    return package != __name__.partition(".")[0] and package not in sys.stdlib_module_names


def _imported_modules(module: ModuleType) -> list[ModuleType]:
    """Return the modules with user code from which a module imports names."""
    modules = (inspect.getmodule(value) for value in vars(module).values())
    return [m for m in modules if m is not None and _is_foreign(m.__name__)]


def _folder(module: ModuleType) -> Path | None:
    file = getattr(module, "__file__", None)
    return None if file is None else Path(file).parent


def _source(item: type | ModuleType) -> str:
    try:
        return inspect.getsource(item)
    except (OSError, TypeError):
        return ""
