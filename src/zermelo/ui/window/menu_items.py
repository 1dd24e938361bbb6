"""The items of the menus, from the registries of games and players."""

from dataclasses import dataclass
from pathlib import Path

from zermelo.core.errors import BadSpec
from zermelo.core.specs import split_spec
from zermelo.games import registry, user_games
from zermelo.players.registry import PlayerEntry, list_players
from zermelo.players.user_players import is_player_file

SEATS = ("first", "second")
_STRENGTHS = {
    "level": tuple(range(1, 11)),
    "lookahead": (1, 2, 3, 4, 5, 6),
    "minimax": (2, 4, 6, 8),
    "alphabeta": (1, 2, 5, 10, 30),
    "mcts": (100, 1000, 10_000, 100_000),
}
_UNITS = {"seconds": " s", "plies": " plies", "depth": " plies"}


@dataclass(frozen=True)
class MenuItem:
    """An item of a menu."""

    value: str  #: the spec that the item selects
    label: str
    note: str = ""


def list_items(menu: str, game: str, players: tuple[str, str]) -> list[MenuItem]:
    """Return the items of a menu; the current choice is always among them.

    The menus are `game`, `first`, `second`, `first strength` and `second strength`.
    """
    if menu == "game":
        return _include(game, _game_items())
    seat = SEATS.index(menu.split(maxsplit=1)[0])
    if menu in SEATS:
        return _include(players[seat], _player_items(players[seat]))
    return _include(players[seat], strength_items(players[seat]))


def _include(value: str, items: list[MenuItem]) -> list[MenuItem]:
    is_listed = any(item.value == value for item in items)
    return items if is_listed else [MenuItem(value, value), *items]


def _game_items() -> list[MenuItem]:
    items = []
    for entry in registry.entries():
        for spec in dict.fromkeys((entry.name, entry.example)):
            try:
                registry.named_game(spec)
            except BadSpec:  # the name alone is not a game, since it needs sizes
                continue
            note = entry.summary if entry.name in (spec, "mnk") else ""
            items.append(MenuItem(spec, spec, note))
    return items + [MenuItem(name, name, "installed") for name in user_games.installed_games()]


def _player_items(current: str) -> list[MenuItem]:
    """Return an item for each player; the item of the current player keeps its parameters."""
    name = player_name(current)
    return [
        MenuItem(current if entry.name == name else entry.name, entry.name, entry.summary)
        for entry in list_players()
        if not entry.is_blocking or entry.name == name
    ]


def game_name(spec: str) -> str:
    """Return the spec of a game or, if it names a file, the file's name without its folder."""
    return Path(spec).name if user_games.is_game_file(spec) else spec


def player_name(spec: str) -> str:
    """Return the name of a player without its parameters."""
    return spec if is_player_file(spec) else split_spec(spec)[0]


def strength_label(spec: str) -> str:
    """Return the strength of a player as its menu shows it, or "" if it has no strength."""
    entry = _find_entry(spec)
    if entry is None:
        return ""
    _, plain, keyed = split_spec(spec)
    unit = _UNITS.get(entry.positional, "")
    default = next(p.default for p in entry.parameters if p.name == entry.positional)
    value = plain[0] if plain else keyed.get(entry.positional, default)
    if value is None:  # a tree search with a time limit, or with its default
        return "time" if "seconds" in keyed else "1000"
    return f"{value:g}{unit}" if isinstance(value, float) else f"{value}{unit}"


def strength_items(spec: str) -> list[MenuItem]:
    """Return an item for each strength of a player; its other parameters stay unchanged."""
    entry = _find_entry(spec)
    if entry is None:
        return []
    _, _, keyed = split_spec(spec)
    rest = "".join(f",{key}={value}" for key, value in keyed.items() if key != entry.positional)
    unit = _UNITS.get(entry.positional, "")
    items = [
        MenuItem(f"{entry.name}:{value}{rest}", f"{value}{unit}")
        for value in _STRENGTHS[entry.name]
    ]
    current = strength_label(spec)
    return [MenuItem(spec, item.label) if item.label == current else item for item in items]


def _find_entry(spec: str) -> PlayerEntry | None:
    name = player_name(spec)
    return next((e for e in list_players() if e.name == name and name in _STRENGTHS), None)
