"""Load recipes from TOML files and from JSON. Unknown keys and wrong types are errors."""

import dataclasses
import tomllib
import typing
from importlib import resources
from pathlib import Path
from typing import Any

from zermelo.core.errors import BadSpec
from zermelo.learn.config.recipe import Recipe, recipe_keys
from zermelo.learn.config.validation import BadRecipe, check

_MAX_BYTES = 100_000
_SUFFIX = ".toml"


def names() -> list[str]:
    """Return the names of the recipes that come with the package, sorted."""
    folder = resources.files(__package__) / "cookbook"
    files = (file.name for file in folder.iterdir())
    return sorted(name.removesuffix(_SUFFIX) for name in files if name.endswith(_SUFFIX))


def list_recipes() -> list[Recipe]:
    """Return the recipes that come with the package, sorted by name.

    >>> [recipe.name for recipe in list_recipes()][:2]
    ['connect4-alphazero', 'gomoku6-alphazero']
    """
    return [load(name) for name in names()]


def read_text(name: str) -> str:
    """Return the text of a recipe, given its name or the path of its TOML file.

    Raise BadRecipe if there is no such recipe.
    """
    try:
        return _read_recipe(name).decode()
    except UnicodeDecodeError as error:
        msg = f"{name} is not a recipe: {error}"
        raise BadRecipe(msg) from None


def load(name: str, *, short: bool = False) -> Recipe:
    """Load and check a recipe, given its name or the path of its TOML file.

    With `short`, the values in the recipe's table `[short]` override all others. Raise BadRecipe if
    there is no such recipe or if it is not valid.

    >>> load("tictactoe-dqn").game
    'tictactoe'
    """
    data = _read_recipe(name)
    if name not in names():
        name = Path(name).stem
    try:
        recipe = _parse(name, data, short=short)
    except RecursionError:
        msg = f"{name} is not a recipe: its tables or lists are nested too deeply"
        raise BadRecipe(msg) from None
    check(recipe)
    return recipe


def _read_recipe(name: str) -> bytes:
    """Return the bytes of a shipped recipe or of a TOML file; raise BadRecipe if there is none."""
    if name in names():
        return (resources.files(__package__) / "cookbook" / f"{name}{_SUFFIX}").read_bytes()
    if name.endswith(_SUFFIX):
        return _read(Path(name))
    msg = f"there is no recipe {name!r}: give a .toml file, or one of {', '.join(names())}"
    raise BadRecipe(msg)


def _parse(name: str, data: bytes, *, short: bool) -> Recipe:
    """Parse the bytes of a TOML file; raise BadRecipe if they do not contain a recipe."""
    try:
        table = tomllib.loads(data.decode())
    except ValueError as error:
        msg = f"{name} is not a recipe: {error}"
        raise BadRecipe(msg) from None
    overrides = table.pop("short", {})
    if short:
        _merge(table, overrides)
    try:
        return from_dict({"name": name} | table)
    except BadSpec as error:
        msg = f"{name}: {error}"
        raise BadRecipe(msg) from None


def from_dict(data: dict[str, Any]) -> Recipe:
    """Return the recipe whose `to_dict` is `data`; only the types of its fields are checked."""
    recipe = _convert(Recipe, data, str(data.get("name")))
    assert isinstance(recipe, Recipe)
    return recipe


def _read(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            data = file.read(_MAX_BYTES + 1)
    except OSError as error:
        msg = f"cannot read the recipe {path}: {error.strerror}"
        raise BadRecipe(msg) from None
    if len(data) > _MAX_BYTES:
        msg = f"{path} is not a recipe: it is larger than {_MAX_BYTES:,} bytes"
        raise BadRecipe(msg)
    return data


def _merge(table: dict[str, Any], overrides: dict[str, Any]) -> None:
    for key, value in overrides.items():
        if isinstance(value, dict) and isinstance(table.get(key), dict):
            _merge(table[key], value)
        else:
            table[key] = value


def _convert(kind: Any, value: Any, path: str) -> Any:
    """Convert a JSON value to the type `kind`; raise BadRecipe with its path if that fails."""
    if dataclasses.is_dataclass(kind):
        return _convert_table(kind, value, path)
    if typing.get_origin(kind) is tuple:
        item_kind = typing.get_args(kind)[0]
        if not isinstance(value, (list, tuple)):
            msg = f"{path} is {value!r}: it must be a list"
            raise BadRecipe(msg)
        return tuple(_convert(item_kind, item, f"{path}[{n}]") for n, item in enumerate(value))
    if kind is float and isinstance(value, int) and not isinstance(value, bool):
        value = float(value)
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        msg = f"{path} is {value!r}: it must be {kind.__name__}"
        raise BadRecipe(msg)
    return value


def _convert_table(kind: Any, value: Any, path: str) -> Any:
    if not isinstance(value, dict):
        msg = f"{path} is {value!r}: it must be a table"
        raise BadRecipe(msg)
    hints, names = typing.get_type_hints(kind), recipe_keys(kind)
    unknown = next((key for key in value if key not in names), None)
    if unknown is not None:
        msg = f"{path} has no key {unknown!r}: its keys are {', '.join(names)}"
        raise BadRecipe(msg)
    fields = {
        names[key]: _convert(hints[names[key]], item, f"{path}.{key}")
        for key, item in value.items()
    }
    try:
        return kind(**fields)
    except TypeError as error:
        msg = f"{path}: {error}"
        raise BadRecipe(msg) from None
