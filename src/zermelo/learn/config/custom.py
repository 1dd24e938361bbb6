"""Custom networks and encoders: classes in Python files, or factories registered from Python.

A recipe names a custom network or encoder in place of a built-in one: either `FILE.py:CLASS`, with
a path relative to the working directory, or a registered name. The file is run only when training
starts or a player loads the model of a run, never when a recipe is read. A run records a digest of
the source, and is refused if the source has changed since.
"""

import contextlib
import functools
import hashlib
import inspect
import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from zermelo.core.errors import BadSpec
from zermelo.core.notation import quote_text
from zermelo.games import user_code

if TYPE_CHECKING:
    from zermelo.learn.config.recipe import Recipe

NETWORK, ENCODER = "network", "encoder"  #: what users can define
SOURCES = "sources"  #: key of the sources in the metadata of runs and models
Factory = Callable[..., Any]
Source = dict[str, str | None]  #: file and class, or registered name; and the source's SHA-256

_SUFFIX = ".py:"
_DIGITS = 16  # number of digits of a digest that messages show
_NAME = re.compile(r"[A-Za-z_][\w-]*")
_factories: dict[str, dict[str, Factory]] = {NETWORK: {}, ENCODER: {}}


def register(what: str, name: str, factory: Factory) -> None:
    """Let recipes name a factory; a later factory of the same name replaces it."""
    if not callable(factory):
        msg = f"the {what} {quote_text(name)} must be a class or a function, not {factory!r}"
        raise BadSpec(msg)
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        msg = f"{quote_text(str(name))} is not a name for {what}s: use letters, digits, - and _"
        raise BadSpec(msg)
    _factories[what][name] = factory


def is_custom(what: str, spec: str) -> bool:
    """Return whether a spec names a class in a file or a registered factory."""
    return is_in_file(spec) or spec in _factories[what]


def is_in_file(spec: str) -> bool:
    """Return whether a spec has the form `FILE.py:CLASS`."""
    path, suffix, name = spec.rpartition(_SUFFIX)
    return bool(path and suffix) and name.isidentifier()


def custom_specs(recipe: "Recipe") -> dict[str, str]:
    """Return the specs of a recipe's custom parts."""
    specs = {NETWORK: recipe.network.kind, ENCODER: recipe.encoder}
    return {what: spec for what, spec in specs.items() if is_custom(what, spec)}


def describe_sources(recipe: "Recipe") -> dict[str, Source]:
    """Return the sources of a recipe's custom parts."""
    return {what: describe_source(what, spec) for what, spec in custom_specs(recipe).items()}


def describe_source(what: str, spec: str) -> Source:
    """Return where the class or factory of a spec is defined, and the SHA-256 of its source.

    The digest covers the whole file, but not what the file imports. For a registered factory it
    covers the source of the factory, and is None if Python cannot find it, as in some notebooks.
    """
    if is_in_file(spec):
        path, name = _split(spec)
        return {"file": path, "class": name, "sha256": _digest(_read(what, path))}
    source = None
    with contextlib.suppress(OSError, TypeError):
        source = inspect.getsource(inspect.unwrap(_registered(what, spec)))
    return {"name": spec, "sha256": None if source is None else _digest(source.encode())}


def to_spec(source: Source) -> str:
    """Return the spec that `source` describes."""
    name = source.get("name")
    return f"{source.get('file')}:{source.get('class')}" if name is None else name


def compare_sources(what: str, was: Source, now: Source) -> str:
    """Return a description of how a source differs from the recorded one; "" if it does not."""
    if was == now:
        return ""
    if to_spec(was) != to_spec(now):
        return f"the {what} was {to_spec(was)}, and now it is {to_spec(now)}"
    before, after = (str(source.get("sha256"))[:_DIGITS] for source in (was, now))
    return (
        f"the {what} {to_spec(was)} has changed: the SHA-256 of its source was {before}…, and now "
        f"it is {after}…"
    )


def load_factory(what: str, spec: str) -> Factory:
    """Return the class or factory that a spec names; this runs the file that the spec names."""
    if not is_in_file(spec):
        factory = _registered(what, spec)
        with contextlib.suppress(TypeError):  # lets errors in the class name their line in the file
            user_code.add_source_of(factory)
        return factory
    path, name = _split(spec)
    members = _load_members(path, str(Path(path).resolve()), _digest(_read(what, path)))
    member: Factory | None = members.get(name)
    if not callable(member):
        classes = ", ".join(key for key, value in members.items() if isinstance(value, type))
        msg = f"{path} defines no class {name}: its classes are {classes or 'none'}"
        raise BadSpec(msg)
    return member


def _registered(what: str, name: str) -> Factory:
    if name not in _factories[what]:
        msg = (
            f"no {what} {quote_text(name)} is registered: call zermelo.register_{what}({name!r}, "
            "CLASS) first, or name a class in a file, FILE.py:CLASS"
        )
        raise BadSpec(msg)
    return _factories[what][name]


def _split(spec: str) -> tuple[str, str]:
    path, _, name = spec.rpartition(_SUFFIX)
    return f"{path}.py", name


def _read(what: str, path: str) -> bytes:
    try:
        return Path(path).read_bytes()
    except OSError as error:
        msg = f"cannot read the {what} in {path}: {error.strerror}"
        raise BadSpec(msg) from None


def _digest(source: bytes) -> str:
    return hashlib.sha256(source).hexdigest()


@functools.lru_cache(maxsize=64)
def _load_members(path: str, _resolved: str, _digest: str) -> dict[str, Any]:
    """Run a file, and return the members of its module that are defined in the file itself."""
    with user_code.guard(path):
        module = user_code.load_module(Path(path))
    return {
        name: value
        for name, value in vars(module).items()
        if getattr(value, "__module__", None) == module.__name__
    }
