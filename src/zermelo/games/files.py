"""Games of the user's own: a Python file, or an installed package's entry point.

A game file is code and runs as such, so it is loaded only where a person names it: on the
command line or in Python. Nothing that arrives by network or in a record gets here.
"""

import contextlib
import hashlib
import importlib.metadata
import importlib.util
import inspect
import signal
import sys
import threading
import traceback
from collections.abc import Iterator
from pathlib import Path
from types import FrameType, ModuleType
from typing import Any

from zermelo.core.errors import BadSpec
from zermelo.core.game import Game
from zermelo.core.notation import shown
from zermelo.games import trial

GROUP = "zermelo.games"  #: the entry-point group for installed packages
_SECONDS = 20.0
_FUNCTIONS = ("initial", "player", "actions", "play", "result")

# What a file of functions may define beside them; other names are its own business.
_OPTIONAL = (
    "num_actions",
    "to_text",
    "parse_action",
    "why_illegal",
    "symbols",
    "draw",
    "board",
    "grid",
)

_loaded: set[str] = set()


class _TooLong(BaseException):
    """The time is up: no Exception, so that user code does not catch it by accident."""


def is_file(spec: str) -> bool:
    """Whether a spec names a file."""
    return spec.strip().endswith(".py")


def load(spec: str) -> Game:
    """The game in a file, tried out; BadSpec says in one line why there is none."""
    path = Path(spec.strip())
    if not path.is_file():
        msg = f"{shown(spec, 200)}: there is no such file"
        raise BadSpec(msg)
    with guard(spec):
        game = _make(spec, module(path))
        game.spec = spec
        trial.check(game)
    return game


def installed(name: str) -> Game | None:
    """The game that an installed package offers under a name."""
    for point in importlib.metadata.entry_points(group=GROUP, name=name):
        with guard(name):
            made = point.load()
            _loaded.add(str(inspect.getsourcefile(inspect.unwrap(made)) or ""))
            game: Any = made() if callable(made) else made
            if not isinstance(game, Game):
                msg = f"{name}: {point.value} is no game but {type(game).__name__}"
                raise BadSpec(msg)
            game.spec = name
            trial.check(game)
            return game
    return None


def installed_names() -> list[str]:
    """The names that installed packages offer."""
    return sorted(point.name for point in importlib.metadata.entry_points(group=GROUP))


def blame(error: BaseException) -> str | None:
    """Where in a game file an error arose, in one line; None when it did not."""
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        if frame.filename in _loaded:
            return f"{frame.filename}, line {frame.lineno}: {type(error).__name__}: {error}"
    return None


def module(path: Path) -> ModuleType:
    """A file as a module, run; a player's file is loaded in the same way."""
    name = f"zermelo_file_{hashlib.sha256(str(path.resolve()).encode()).hexdigest()[:12]}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        msg = f"{path} is not a Python file"
        raise BadSpec(msg)
    made = importlib.util.module_from_spec(spec)
    _loaded.add(str(path))
    _loaded.add(str(path.resolve()))
    sys.modules[name] = made  # pickling and reading the source need to find it
    spec.loader.exec_module(made)
    return made


def own_classes(module: ModuleType, kind: type) -> list[Any]:
    """The classes of a kind that a module itself defines."""
    return [
        value
        for value in vars(module).values()
        if isinstance(value, type)
        and issubclass(value, kind)
        and value.__module__ == module.__name__
    ]


def _make(spec: str, module: ModuleType) -> Game:
    """The one game class of a module, or its functions as a game."""
    own = own_classes(module, Game)
    if len(own) > 1:
        names = " and ".join(cls.__name__ for cls in own)
        msg = f"{spec}: there are several games in it, {names}: a file holds one"
        raise BadSpec(msg)
    if own:
        missing = sorted(getattr(own[0], "__abstractmethods__", ()))
        if missing:
            msg = f"{spec}: {own[0].__name__} lacks {', '.join(missing)}"
            raise BadSpec(msg)
        made: Game = own[0]()
        return made
    functions = {name: getattr(module, name, None) for name in _FUNCTIONS}
    missing = [name for name, value in functions.items() if not inspect.isfunction(value)]
    if missing:
        msg = (
            f"{spec}: there is no game in it: write a class derived from zermelo.Game or "
            f"zermelo.WordGame, or the functions {', '.join(_FUNCTIONS)}"
        )
        raise BadSpec(msg)
    return _of_functions(module)


def _of_functions(module: ModuleType) -> Game:
    """A game from a module's functions, its constants beside them."""
    taken: dict[str, Any] = {
        name: staticmethod(value) if inspect.isfunction(value) else value
        for name, value in vars(module).items()
        if name in _FUNCTIONS or name in _OPTIONAL
    }
    made: Game = type("FunctionGame", (Game,), taken)()
    return made


@contextlib.contextmanager
def guard(spec: str) -> Iterator[None]:
    """Turn whatever user code does into one clear line, an endless loop included."""
    try:
        with _alarm():
            yield
    except (BadSpec, KeyboardInterrupt):
        raise
    except _TooLong:
        msg = f"{spec}: no answer within {_SECONDS:.0f} seconds: its rules may never end"
        raise BadSpec(msg) from None
    except BaseException as error:  # noqa: BLE001 - a game file may even call sys.exit
        where = blame(error) or f"{spec}: {type(error).__name__}: {error}"
        raise BadSpec(where) from None


@contextlib.contextmanager
def _alarm() -> Iterator[None]:
    """_TooLong after a while; only the main thread of a Unix process can have it."""
    if threading.current_thread() is not threading.main_thread() or not hasattr(signal, "SIGALRM"):
        yield
        return

    def ring(_number: int, _frame: FrameType | None) -> None:
        raise _TooLong

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, _SECONDS, 0.1)  # again and again, should it be swallowed
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
