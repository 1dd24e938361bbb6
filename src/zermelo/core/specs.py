"""Specs: `name:value,key=value,…`, the text form of games and players, parsed and checked once."""

import difflib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

from zermelo.core.errors import BadSpec
from zermelo.core.notation import quote_text

MAX_LENGTH = 4096


@dataclass(frozen=True)
class Parameter:
    """One parameter of a game or player: its kind by its default or its choices."""

    name: str
    kind: type
    default: Any
    note: str = ""
    choices: tuple[str, ...] = ()

    def parse(self, text: str, where: str) -> Any:
        """A value from text; BadSpec says what would be right."""
        value: Any
        if self.kind is bool:
            value = {"true": True, "false": False}.get(text.lower())
            right = "true or false"
        elif self.kind is int:
            value = int(text) if text.isascii() and text.isdecimal() and len(text) <= 18 else None
            right = "a whole number of at most 18 digits"
        elif self.kind is float:
            value = _number(text)
            right = "a number above 0"
        else:
            value = text if not self.choices or text in self.choices else None
            right = " or ".join(self.choices)
        if value is None:
            msg = f"{where}: {self.name} is {quote_text(text)}: it must be {right}"
            raise BadSpec(msg)
        return value


def split_spec(spec: str) -> tuple[str, list[str], dict[str, str]]:
    """Name, plain values, and values by key.

    >>> split("mcts:800,seed=3")
    ('mcts', ['800'], {'seed': '3'})
    """
    if len(spec) > MAX_LENGTH:
        msg = f"a spec of {len(spec)} characters: at most {MAX_LENGTH}"
        raise BadSpec(msg)
    name, _, rest = spec.strip().partition(":")
    plain: list[str] = []
    keyed: dict[str, str] = {}
    for part in rest.split(",") if rest else []:
        key, equals, value = (piece.strip() for piece in part.partition("="))
        if not equals:
            plain.append(key)
        elif key in keyed:
            msg = f"{quote_text(spec)} gives {key} twice"
            raise BadSpec(msg)
        else:
            keyed[key] = value
    return name, plain, keyed


def parse_parameters(
    spec: str, plain: Mapping[str, str], keyed: Mapping[str, str], known: Iterable[Parameter]
) -> dict[str, Any]:
    """Every parameter's value, given or default; BadSpec for one that does not exist."""
    by_name = {parameter.name: parameter for parameter in known}
    given = dict(plain)
    for key, value in keyed.items():
        if key not in by_name:
            has = f"it has {', '.join(by_name)}" if by_name else "it has none"
            msg = f"{quote_text(spec)}: there is no parameter {quote_text(key)}; {has}"
            raise BadSpec(msg)
        if key in given:
            msg = f"{quote_text(spec)} gives {key} twice"
            raise BadSpec(msg)
        given[key] = value
    return {
        name: parameter.parse(given[name], quote_text(spec)) if name in given else parameter.default
        for name, parameter in by_name.items()
    }


def raise_unknown(kind: str, name: str, known: Iterable[str]) -> NoReturn:
    """BadSpec for a name that does not exist, with the nearest one that does."""
    names = list(known)
    near = difflib.get_close_matches(name, names, n=1)
    guess = f"; did you mean {near[0]}?" if near else ""
    msg = f"unknown {kind} {quote_text(name)}: there is {', '.join(names)}{guess}"
    raise BadSpec(msg)


def _number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if 0 < value < float("inf") else None
