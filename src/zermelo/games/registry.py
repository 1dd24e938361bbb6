"""The registry: every game by name, and specs such as `mnk:5x5x4` turned into games."""

import functools
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from zermelo.core import specs
from zermelo.core.bitboard import WORD_BITS
from zermelo.core.errors import BadSpec
from zermelo.core.game import Game
from zermelo.core.notation import MAX_SIDE, shown
from zermelo.core.specs import Parameter
from zermelo.games import files
from zermelo.games.lines.large import BoardLineGame
from zermelo.games.lines.tactics import WordLineGame
from zermelo.games.reversi.patterns import SIDE, PatternReversi
from zermelo.games.reversi.rules import Reversi

#: Compiled for themselves; every other size of a family shares one compilation.
PRESETS = ("tictactoe", "connect4", "gomoku6", "squava", "reversi")


@dataclass(frozen=True)
class Entry:
    """One name of the registry."""

    name: str
    summary: str
    make: Callable[..., Game]  #: called with the spec and every parameter
    parameters: tuple[Parameter, ...] = ()
    shape: tuple[str, ...] = ()  #: parameters that a plain value such as `5x5x4` gives
    example: str = ""


def game(spec: str) -> Game:
    """The game that a spec names; BadSpec says what is wrong and what would be right.

    A file is loaded and run: for what comes from elsewhere use `named_game`.

    >>> game("mnk:4x4x3").num_actions
    16
    """
    if not isinstance(spec, str):
        msg = f"a game is named by a text such as 'tictactoe', not by {type(spec).__name__}"
        raise BadSpec(msg)
    return _file_game(spec.strip()) if files.is_file(spec) else named_game(spec)


def named_game(spec: str) -> Game:
    """The same for names only: safe for what arrives by network or in a record."""
    return _named_game("".join(spec.split()))


def _file_game(spec: str) -> Game:
    """Loaded once, and again after an edit."""
    try:
        path = Path(spec).resolve()
        return _loaded_game(spec, str(path), path.stat().st_mtime_ns)
    except OSError:
        return files.load(spec)  # which says what is wrong


@functools.lru_cache(maxsize=64)
def _loaded_game(spec: str, _path: str, _edited: int) -> Game:
    return files.load(spec)


@functools.lru_cache(maxsize=256)
def _named_game(spec: str) -> Game:
    name, plain, keyed = specs.split(spec)
    if name not in _ENTRIES:
        own = files.installed(name) if not plain and not keyed else None
        if own is not None:
            return own
        specs.refuse("game", name, [*_ENTRIES, *files.installed_names()])
    entry = _ENTRIES[name]
    shaped = _shape(spec, entry, plain)
    return entry.make(spec, **specs.values(spec, shaped, keyed, entry.parameters))


def entries() -> list[Entry]:
    """All games, in the order people should meet them."""
    return list(_ENTRIES.values())


def _shape(spec: str, entry: Entry, plain: list[str]) -> dict[str, str]:
    """`5x5x4` by the entry's shape."""
    if not plain:
        return {}
    sizes = plain[0].lower().split("x")
    if len(plain) > 1 or len(sizes) != len(entry.shape):
        form = "x".join(part.upper() for part in entry.shape)
        right = f"{entry.name}:{form}" if form else f"{entry.name}:key=value"
        msg = f"{shown(spec)}: {shown(','.join(plain))} says nothing here; write {right}"
        raise BadSpec(msg)
    return dict(zip(entry.shape, sizes, strict=True))


_PRESET_RULES = {
    (3, 3, 3, 0, False, "any", False),
    (6, 7, 4, 0, True, "any", False),
    (6, 6, 4, 0, False, "any", False),
    (5, 5, 4, 3, False, "any", False),
}


def _line(spec: str, **rules: Any) -> Game:
    """A line game, with the spec in front of what is wrong with it."""
    full = {"lose": 0, "gravity": False, "overline": "any", "pie": False, **rules}
    key = tuple(full[k] for k in ("rows", "cols", "win", "lose", "gravity", "overline", "pie"))
    sizes = full.pop("rows"), full.pop("cols"), full.pop("win")
    try:
        if sizes[0] * sizes[1] + full["pie"] > WORD_BITS:
            return BoardLineGame(*sizes, **full, spec=spec)
        return WordLineGame(*sizes, **full, spec=spec, specialised=key in _PRESET_RULES)
    except BadSpec as error:
        msg = f"{shown(spec)}: {error}"
        raise BadSpec(msg) from None


def _tictactoe(spec: str, size: int, win: int) -> Game:
    return _line(spec, rows=size, cols=size, win=win or size)


def _mnk(spec: str, rows: int, cols: int, win: int) -> Game:
    least = 3
    if not (rows or cols or win):
        msg = f"{shown(spec)}: an m,n,k game needs its sizes: mnk:ROWSxCOLSxK, such as mnk:5x5x4"
        raise BadSpec(msg)
    longer = max(rows, cols)
    if min(rows, cols) > 0 and longer <= MAX_SIDE and not least <= win <= longer:
        right = f"it can be 3 to {longer}" if longer >= least else "a side of 3 or more is needed"
        msg = f"{shown(spec)}: K is {win}: on a {rows}x{cols} board {right}"
        raise BadSpec(msg)
    return _line(spec, rows=rows, cols=cols, win=win)


def _reversi(spec: str, size: int) -> Game:
    try:
        return PatternReversi(spec) if size == SIDE else Reversi(size, spec)
    except BadSpec as error:
        msg = f"{shown(spec)}: {error}"
        raise BadSpec(msg) from None


def _gomoku(spec: str, size: int, overline: str, *, renju: bool) -> Game:
    least, five = 5, 5
    if not least <= size <= MAX_SIDE:
        msg = f"{shown(spec)}: size is {size}: a Gomoku board has 5 to {MAX_SIDE}"
        raise BadSpec(msg)
    if renju and overline != "any":
        msg = f"{shown(spec)}: renju has its own rule for overlines: leave overline out"
        raise BadSpec(msg)
    if renju:
        from zermelo.games.lines.renju import RenjuGame  # it needs numpy, the other rules do not

        return RenjuGame(size, spec)
    return _line(spec, rows=size, cols=size, win=five, overline=overline)


def _number(name: str, default: int, note: str = "") -> Parameter:
    return Parameter(name, int, default, note)


_OVERLINE = Parameter(
    "overline", str, "any", "exact: only a line of exactly `win` counts", ("any", "exact")
)
_PIE = Parameter("pie", bool, default=False, note="the second player may take over the first stone")

_ENTRIES: dict[str, Entry] = {
    entry.name: entry
    for entry in (
        Entry(
            "tictactoe",
            "three in a row on 3x3, or any size",
            _tictactoe,
            (
                _number("size", 3, "rows and columns"),
                _number("win", 0, "line that wins; 0: as long as the side"),
            ),
            example="tictactoe:size=4,win=3",
        ),
        Entry(
            "connect4",
            "four in a row, stones fall to the bottom",
            lambda spec, **rules: _line(spec, gravity=True, **rules),
            (_number("rows", 6), _number("cols", 7), _number("win", 4)),
            ("rows", "cols"),
            example="connect4:rows=6,cols=7,win=5",
        ),
        Entry(
            "gomoku6",
            "four in a row on 6x6",
            lambda spec: _line(spec, rows=6, cols=6, win=4),
            example="gomoku6",
        ),
        Entry(
            "squava",
            "on 5x5: four in a row wins, three in a row loses",
            lambda spec, pie: _line(spec, rows=5, cols=5, win=4, lose=3, pie=pie),
            (_PIE,),
            example="squava:pie=true",
        ),
        Entry(
            "mnk",
            "K in a row on any board",
            _mnk,
            (_number("rows", 0), _number("cols", 0), _number("win", 0)),
            ("rows", "cols", "win"),
            example="mnk:5x5x4",
        ),
        Entry(
            "gomoku",
            "five in a row",
            _gomoku,
            (
                _number("size", 15, "rows and columns, 5 to 20"),
                _OVERLINE,
                Parameter("renju", bool, default=False, note="black has forbidden points"),
            ),
            example="gomoku:size=19,overline=exact",
        ),
        Entry(
            "reversi",
            "turn the other's discs over; more discs win",
            _reversi,
            (_number("size", 8, "rows and columns: 4, 6 or 8"),),
            ("size",),
            example="reversi:6",
        ),
        Entry(
            "line",
            "the whole family by its parameters",
            _line,
            (
                _number("rows", 5),
                _number("cols", 5),
                _number("win", 4),
                _number("lose", 0, "line that loses; 0: none"),
                Parameter("gravity", bool, default=False, note="stones fall to the bottom"),
                _OVERLINE,
                _PIE,
            ),
            example="line:rows=5,cols=5,win=4,lose=3,gravity=false,overline=any",
        ),
    )
}
