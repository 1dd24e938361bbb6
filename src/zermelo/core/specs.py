"""Specs: the text form of games and players, `name:value,key=value,…`."""

import difflib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

from zermelo.core.errors import BadSpec
from zermelo.core.notation import quote_text

MAX_LENGTH = 4096


@dataclass(frozen=True)
class Parameter:
    """A parameter of a game or player."""

    name: str
    kind: type  #: bool, int, float or str
    default: Any
    note: str = ""  #: a description for help texts
    choices: tuple[str, ...] = ()  #: the texts that a str parameter accepts; () accepts any text

    def to_dict(self) -> dict[str, Any]:
        """Return the fields of the JSON output."""
        return {
            "name": self.name,
            "type": self.kind.__name__,
            "default": self.default,
            "choices": list(self.choices),
            "meaning": self.note,
        }

    def parse(self, text: str, where: str) -> Any:
        """Parse a value of this parameter; raise BadSpec if the text is not a valid value."""
        value: Any
        if self.kind is bool:
            value = {"true": True, "false": False}.get(text.lower())
            expected = "true or false"
        elif self.kind is int:
            value = int(text) if text.isascii() and text.isdecimal() and len(text) <= 18 else None
            expected = "a whole number of at most 18 digits"
        elif self.kind is float:
            value = _parse_positive(text)
            expected = "a number above 0"
        else:
            value = text if not self.choices or text in self.choices else None
            expected = " or ".join(self.choices)
        if value is None:
            msg = f"{where}: {self.name} is {quote_text(text)}: it must be {expected}"
            raise BadSpec(msg)
        return value


def entry_fields(
    name: str, summary: str, parameters: Sequence[Parameter], example: str
) -> dict[str, Any]:
    """Return the fields of the JSON output for an entry of a registry of games or players."""
    return {
        "name": name,
        "summary": summary,
        "parameters": {parameter.name: parameter.default for parameter in parameters},
        "parameter_list": [parameter.to_dict() for parameter in parameters],
        "example": example,
    }


def split_spec(spec: str) -> tuple[str, list[str], dict[str, str]]:
    """Split a spec into its name, the list of values without a key, and the values by key.

    >>> split_spec("mcts:800,seed=3")
    ('mcts', ['800'], {'seed': '3'})
    """
    if len(spec) > MAX_LENGTH:
        msg = f"a spec of {len(spec)} characters is too long: the limit is {MAX_LENGTH}"
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
    """Return the value of every known parameter: the given one or the default.

    `plain` maps names to values that the spec gives without a key, `keyed` to values with a key.
    Raise BadSpec for an unknown parameter, one that is given twice, or a value that is not valid.
    """
    by_name = {parameter.name: parameter for parameter in known}
    texts = dict(plain)
    for key, value in keyed.items():
        if key not in by_name:
            known_names = f"choose from {', '.join(by_name)}" if by_name else "it takes none"
            msg = f"{quote_text(spec)} has an unknown parameter {quote_text(key)}: {known_names}"
            raise BadSpec(msg)
        if key in texts:
            msg = f"{quote_text(spec)} gives {key} twice"
            raise BadSpec(msg)
        texts[key] = value
    return {
        name: parameter.parse(texts[name], quote_text(spec)) if name in texts else parameter.default
        for name, parameter in by_name.items()
    }


def describe(name: str, parameters: Iterable[Parameter]) -> str:
    """Return a name and its parameters in the notation of specs, with their defaults if any.

    >>> describe("lookahead", [Parameter("plies", int, 3), Parameter("seed", int, None)])
    'lookahead:plies=3,seed'
    """
    texts = []
    for parameter in parameters:
        default = parameter.default
        default = str(default).lower() if isinstance(default, bool) else default
        texts.append(parameter.name if default is None else f"{parameter.name}={default}")
    return f"{name}:{','.join(texts)}" if texts else name


def raise_unknown(kind: str, name: str, known: Iterable[str]) -> NoReturn:
    """Raise BadSpec for an unknown name, with the most similar known name as a suggestion."""
    names = list(known)
    similar = difflib.get_close_matches(name, names, n=1)
    guess = f"; did you mean {similar[0]}?" if similar else ""
    msg = f"unknown {kind} {quote_text(name)}: choose from {', '.join(names)}{guess}"
    raise BadSpec(msg)


def _parse_positive(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if 0 < value < float("inf") else None
