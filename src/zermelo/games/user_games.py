"""Games defined by users: in a Python file, or in an installed package with an entry point."""

import importlib.metadata
import inspect
import itertools
import weakref
from pathlib import Path
from types import ModuleType
from typing import Any

from zermelo.core.errors import BadSpec, KernelError
from zermelo.core.game import Game, WordGame
from zermelo.core.notation import quote_text
from zermelo.games import user_code
from zermelo.games.trial import UNSUPPORTED, check_game
from zermelo.kernels.rules_check import check_rules

GROUP = "zermelo.games"  #: the entry-point group for installed packages

# A file without a game class must define these functions, and may define the optional names below.
_FUNCTIONS = ("initial", "player", "actions", "play", "result")
_OPTIONAL = (
    "num_actions",
    "num_players",
    "is_alternating",
    "has_scores",
    "has_equal_sides",
    "score",
    "evaluate",
    "move_cells",
    "draw_svg",
    "move_forms",
    "to_text",
    "parse_action",
    "why_illegal",
    "symbols",
    "draw",
    "board",
    "grid",
    "score_unit",
)


# The specs of the games that have passed the trial, by class.
_tested: weakref.WeakKeyDictionary[type[Game], set[str]] = weakref.WeakKeyDictionary()


def is_game_file(spec: str) -> bool:
    """Return whether a spec names a Python file."""
    return spec.strip().endswith(".py")


def load_game(spec: str) -> Game:
    """Load the game that a file defines and test it; raise BadSpec if either fails."""
    path = Path(spec.strip())
    if not path.is_file():
        msg = f"{quote_text(spec, 200)}: there is no such file"
        raise BadSpec(msg)
    with user_code.guard(spec):
        game = _build_game(spec, user_code.load_module(path))
        game.spec = spec
        check_game(game)
    _check_compilation(game)
    _mark_tested(game)
    return game


def load_installed_game(name: str) -> Game | None:
    """Load and test the installed game of this name; return None if no package provides it."""
    for entry_point in importlib.metadata.entry_points(group=GROUP, name=name):
        with user_code.guard(name):
            value = entry_point.load()
            user_code.add_source_of(value)
            game: Any = value() if callable(value) else value
            if not isinstance(game, Game):
                msg = f"{name}: {entry_point.value} must be a Game, not {type(game).__name__}"
                raise BadSpec(msg)
            game.spec = name
            check_game(game)
        _check_compilation(game)
        _mark_tested(game)
        return game
    return None


def check_once(game: Game) -> None:
    """Test a game that was created in Python the first time it is passed to a function.

    Raise BadSpec if the game breaks the contract.
    """
    if game.spec in _tested.get(type(game), ()):
        return
    user_code.add_source_of(type(game))
    with user_code.guard(game.spec):
        check_game(game)
    _check_compilation(game)
    _mark_tested(game)


def _mark_tested(game: Game) -> None:
    _tested.setdefault(type(game), set()).add(game.spec)


def _check_compilation(game: Game) -> None:
    """Raise BadSpec if the rules of a bitboard game do not compile.

    The time limit on users' code does not apply: it must not interrupt the compiler.
    """
    if isinstance(game, WordGame):
        try:
            check_rules(game)
        except KernelError as error:
            raise BadSpec(str(error)) from None


def installed_games() -> list[str]:
    """Return the sorted names of the games that installed packages provide."""
    return sorted(point.name for point in importlib.metadata.entry_points(group=GROUP))


def _build_game(spec: str, module: ModuleType) -> Game:
    """Build a game from a module's only game class or, if it has no class, from its functions."""
    classes = user_code.classes_in(module, Game)
    if len(classes) > 1:
        names = " and ".join(cls.__name__ for cls in classes)
        msg = f"{spec} defines several games, {names}: a file must define only one"
        raise BadSpec(msg)
    if classes:
        missing = sorted(getattr(classes[0], "__abstractmethods__", ()))
        if missing:
            msg = f"{spec}: {classes[0].__name__} must define {', '.join(missing)}"
            raise BadSpec(msg)
        game: Game = classes[0]()
        return game
    if not all(inspect.isfunction(getattr(module, name, None)) for name in _FUNCTIONS):
        msg = (
            f"{spec} defines no game: write a class derived from zermelo.Game or "
            f"zermelo.WordGame, or the functions {', '.join(_FUNCTIONS)}"
        )
        raise BadSpec(msg)
    return _game_of_functions(module)


def _game_of_functions(module: ModuleType) -> Game:
    """Build a game from a module's functions and optional names."""
    members: dict[str, Any] = {
        name: staticmethod(value) if inspect.isfunction(value) else value
        for name, value in vars(module).items()
        if name in (*_FUNCTIONS, *_OPTIONAL, *itertools.chain(*UNSUPPORTED.values()))
    }
    game: Game = type("FunctionGame", (Game,), members)()
    return game
