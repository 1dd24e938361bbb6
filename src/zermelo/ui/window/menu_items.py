"""Choices: what the menus offer, from the registries of games and players."""

from dataclasses import dataclass

from zermelo.core import specs
from zermelo.core.errors import BadSpec
from zermelo.games import files, registry
from zermelo.players.files import is_player_file
from zermelo.players.registry import PlayerEntry, list_players

_SEATS = ("first", "second")
_STRENGTHS = {
    "level": tuple(range(1, 11)),
    "lookahead": (1, 2, 3, 4, 5, 6),
    "minimax": (2, 4, 6, 8),
    "alphabeta": (1, 2, 5, 10, 30),
    "mcts": (100, 1000, 10_000, 100_000),
}
_UNITS = {"seconds": " s", "plies": " plies", "depth": " plies"}


@dataclass(frozen=True)
class Choice:
    """An item of a menu."""

    value: str  #: the spec it stands for
    label: str
    note: str = ""


def choices(menu: str, game: str, players: tuple[str, str]) -> list[Choice]:
    """The items of a menu; what is chosen now is always among them."""
    if menu == "game":
        return _with(game, _games())
    seat = _SEATS.index(menu.split(maxsplit=1)[0])
    if menu in _SEATS:
        return _with(players[seat], _players(players[seat]))
    return _with(players[seat], strengths(players[seat]))


def _with(value: str, items: list[Choice]) -> list[Choice]:
    known = any(item.value == value for item in items)
    return items if known else [Choice(value, value), *items]


def _games() -> list[Choice]:
    items = []
    for entry in registry.entries():
        for spec in dict.fromkeys((entry.name, entry.example)):
            try:
                registry.named_game(spec)
            except BadSpec:  # a family whose sizes must be given
                continue
            note = entry.summary if entry.name in (spec, "mnk") else ""
            items.append(Choice(spec, spec, note))
    return items + [Choice(name, name, "installed") for name in files.installed_games()]


def _players(now: str) -> list[Choice]:
    """Everybody by name, with the strength they have; the one chosen now as it is."""
    name = player_name(now)
    return [
        Choice(now if entry.name == name else entry.name, entry.name, entry.summary)
        for entry in list_players()
        if not entry.is_blocking or entry.name == name
    ]


def player_name(spec: str) -> str:
    """The player without its parameters."""
    return spec if is_player_file(spec) else specs.split_spec(spec)[0]


def strength(spec: str) -> str:
    """How strong a player is set, as its menu shows it; "" for one without such a setting."""
    entry = _entry(spec)
    if entry is None:
        return ""
    _, plain, keyed = specs.split_spec(spec)
    unit = _UNITS.get(entry.positional, "")
    default = next(p.default for p in entry.parameters if p.name == entry.positional)
    value = plain[0] if plain else keyed.get(entry.positional, default)
    if value is None:  # a tree search that is limited otherwise, or by its default
        return "time" if "seconds" in keyed else "1000"
    return f"{value:g}{unit}" if isinstance(value, float) else f"{value}{unit}"


def strengths(spec: str) -> list[Choice]:
    """The same player in other strengths; its other parameters stay."""
    entry = _entry(spec)
    if entry is None:
        return []
    _, _, keyed = specs.split_spec(spec)
    rest = "".join(f",{key}={value}" for key, value in keyed.items() if key != entry.positional)
    unit = _UNITS.get(entry.positional, "")
    items = [
        Choice(f"{entry.name}:{value}{rest}", f"{value}{unit}") for value in _STRENGTHS[entry.name]
    ]
    same = next((item for item in items if item.label == strength(spec)), None)
    return [Choice(spec, item.label) if item is same else item for item in items]


def _entry(spec: str) -> PlayerEntry | None:
    name = player_name(spec)
    return next((e for e in list_players() if e.name == name and name in _STRENGTHS), None)
