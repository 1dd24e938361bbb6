"""The registry of games, which lists their names and builds games from specs (`mnk:5x5x4`)."""

import contextlib
import functools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from zermelo.core import specs
from zermelo.core.bitboard import WORD_BITS
from zermelo.core.errors import BadSpec
from zermelo.core.game import Game
from zermelo.core.notation import MAX_SIDE, quote_text, show_value
from zermelo.core.specs import Parameter
from zermelo.games import user_games
from zermelo.games.lines.large import BoardLineGame
from zermelo.games.lines.rules import Overline
from zermelo.games.lines.small import WordLineGame
from zermelo.games.reversi.rules import Reversi

GameLike = str | Game  #: what functions accept as a game

#: Each of these games is compiled separately; all other games of a family share a compilation.
PRESETS = ("tictactoe", "connect4", "gomoku6", "squava", "reversi")


@dataclass(frozen=True)
class GameEntry:
    """A registered game."""

    name: str
    summary: str
    build: Callable[..., Game]  #: takes the spec, and every parameter by keyword
    parameters: tuple[Parameter, ...] = ()
    shape: tuple[str, ...] = ()  #: the parameters that a value without a key, such as `5x5x4`, sets
    example: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Return the fields of the JSON output; `parameters` has only the defaults."""
        return specs.entry_fields(self.name, self.summary, self.parameters, self.example)

    def __repr__(self) -> str:
        """Return the name with its parameters, and the summary, in angle brackets."""
        return f"<game {specs.describe(self.name, self.parameters)}: {self.summary}>"


def game(spec: str) -> Game:
    """Return the game that a spec denotes; raise BadSpec if the spec is not valid.

    A spec that names a file loads and runs that file. Use `named_game` for specs that come from
    the network or from a record.

    >>> game("mnk:4x4x3").num_actions
    16
    """
    if not isinstance(spec, str):
        msg = f"a game spec is a string such as 'tictactoe', not {type(spec).__name__}"
        raise BadSpec(msg)
    return _file_game(spec.strip()) if user_games.is_game_file(spec) else named_game(spec)


def as_game(value: GameLike) -> Game:
    """Return a game from a spec, or a `Game` object unchanged; raise BadSpec for anything else.

    A spec that names a file loads and runs that file. An object of a user's own class is tested
    once, like a game from a file.

    >>> as_game("mnk:4x4x3").num_actions, as_game(as_game("squava")).spec
    (16, 'squava')
    """
    if isinstance(value, str):
        return game(value)
    if isinstance(value, type) and issubclass(value, Game):
        msg = f"{value.__name__} is a class: give a game, such as {value.__name__}()"
        raise BadSpec(msg)
    if not isinstance(value, Game):
        msg = f"a game is a spec such as 'tictactoe', or a zermelo.Game, not {show_value(value)}"
        raise BadSpec(msg)
    if not type(value).__module__.startswith("zermelo."):
        user_games.check_once(value)
    return value


def is_loadable(rules: Game) -> bool:
    """Return whether a game can be rebuilt from its spec alone, even in another process."""
    try:
        return game(rules.spec) == rules
    except BadSpec:
        return False


def named_game(spec: str) -> Game:
    """Return the game that a spec denotes, like `game`, but never load a file."""
    return _named_game("".join(spec.split()))


def _file_game(spec: str) -> Game:
    """Return the game that a file defines; load the file on first use and after every change."""
    try:
        path = Path(spec).resolve()
        return _cached_file_game(spec, str(path), path.stat().st_mtime_ns)
    except OSError:
        return user_games.load_game(spec)  # raises BadSpec with the reason


@functools.lru_cache(maxsize=64)
def _cached_file_game(spec: str, _path: str, _modified: int) -> Game:
    return user_games.load_game(spec)


@functools.lru_cache(maxsize=256)
def _named_game(spec: str) -> Game:
    name, plain, keyed = specs.split_spec(spec)
    if name not in _ENTRIES:
        installed = user_games.load_installed_game(name) if not plain and not keyed else None
        if installed is not None:
            return installed
        specs.raise_unknown("game", name, [*_ENTRIES, *user_games.installed_games()])
    entry = _ENTRIES[name]
    sizes = _parse_shape(spec, entry, plain)
    return entry.build(spec, **specs.parse_parameters(spec, sizes, keyed, entry.parameters))


def entries() -> list[GameEntry]:
    """Return the entries of the built-in games, in the order in which they are listed."""
    return list(_ENTRIES.values())


def list_games() -> list[GameEntry]:
    """Return the entries of all games, including those that installed packages provide.

    >>> [entry.name for entry in list_games()][:3]
    ['tictactoe', 'connect4', 'gomoku6']
    """
    installed = [
        GameEntry(name, "from an installed package", named_game, example=name)
        for name in user_games.installed_games()
    ]
    return [*_ENTRIES.values(), *installed]


def _parse_shape(spec: str, entry: GameEntry, plain: list[str]) -> dict[str, str]:
    """Split a value without a key, such as `5x5x4`, into the parameters that it sets."""
    if not plain:
        return {}
    sizes = plain[0].lower().split("x")
    if len(plain) > 1 or len(sizes) != len(entry.shape):
        form = "x".join(part.upper() for part in entry.shape)
        usage = f"{entry.name}:{form}" if form else f"{entry.name}:key=value"
        value = quote_text(",".join(plain))
        msg = f"{quote_text(spec)}: {value} has no meaning here; write {usage}"
        raise BadSpec(msg)
    return dict(zip(entry.shape, sizes, strict=True))


_PRESET_RULES = {
    (3, 3, 3, 0, False, "any", False),
    (6, 7, 4, 0, True, "any", False),
    (6, 6, 4, 0, False, "any", False),
    (5, 5, 4, 3, False, "any", False),
}


@contextlib.contextmanager
def _errors_name(spec: str) -> Iterator[None]:
    """Prefix the message of any BadSpec that is raised in the `with` block with the spec."""
    try:
        yield
    except BadSpec as error:
        msg = f"{quote_text(spec)}: {error}"
        raise BadSpec(msg) from None


def _build_line_game(
    spec: str,
    rows: int,
    cols: int,
    win: int,
    *,
    lose: int = 0,
    gravity: bool = False,
    overline: Overline = "any",
    pie: bool = False,
) -> Game:
    sizes = rows, cols, win
    options = {"lose": lose, "gravity": gravity, "overline": overline, "pie": pie}
    is_preset = (*sizes, *options.values()) in _PRESET_RULES
    with _errors_name(spec):
        if rows * cols + pie > WORD_BITS:
            return BoardLineGame(*sizes, **options, spec=spec)
        return WordLineGame(*sizes, **options, spec=spec, is_specialised=is_preset)


def _build_tictactoe(spec: str, size: int, win: int) -> Game:
    return _build_line_game(spec, size, size, win or size)


def _build_mnk(spec: str, rows: int, cols: int, win: int) -> Game:
    least = 3
    if not (rows or cols or win):
        msg = f"{quote_text(spec)}: write the sizes as mnk:ROWSxCOLSxK, such as mnk:5x5x4"
        raise BadSpec(msg)
    longer = max(rows, cols)
    if min(rows, cols) > 0 and longer <= MAX_SIDE and not least <= win <= longer:
        allowed = f"it must be 3 to {longer}" if longer >= least else "one side must be 3 or more"
        msg = f"{quote_text(spec)}: K is {win}: on a {rows}x{cols} board {allowed}"
        raise BadSpec(msg)
    return _build_line_game(spec, rows, cols, win)


def _build_reversi(spec: str, size: int) -> Game:
    with _errors_name(spec):
        return Reversi(size, spec)


def _build_gomoku(spec: str, size: int, overline: Overline, *, renju: bool) -> Game:
    least, five = 5, 5
    if not least <= size <= MAX_SIDE:
        msg = f"{quote_text(spec)}: size is {size}: a Gomoku board has 5 to {MAX_SIDE} rows"
        raise BadSpec(msg)
    if renju and overline != "any":
        msg = f"{quote_text(spec)}: renju has its own rule for overlines: leave overline out"
        raise BadSpec(msg)
    if renju:
        from zermelo.games.lines.renju import RenjuGame  # the only rules that need numpy

        return RenjuGame(size, spec)
    return _build_line_game(spec, size, size, five, overline=overline)


def _int(name: str, default: int, note: str = "") -> Parameter:
    return Parameter(name, int, default, note)


_OVERLINE = Parameter(
    "overline", str, "any", "exact: only exactly `win` stones in a row win", ("any", "exact")
)
_PIE = Parameter("pie", bool, default=False, note="the second player may take over the first stone")

_ENTRIES: dict[str, GameEntry] = {
    entry.name: entry
    for entry in (
        GameEntry(
            "tictactoe",
            "three in a row on 3x3, or any size",
            _build_tictactoe,
            (
                _int("size", 3, "rows and columns"),
                _int("win", 0, "length of a winning line; 0 means size"),
            ),
            example="tictactoe:size=4,win=3",
        ),
        GameEntry(
            "connect4",
            "four in a row, stones fall to the bottom",
            lambda spec, **sizes: _build_line_game(spec, **sizes, gravity=True),
            (
                _int("rows", 6, "rows of the board"),
                _int("cols", 7, "columns of the board"),
                _int("win", 4, "length of a winning line"),
            ),
            ("rows", "cols"),
            example="connect4:rows=6,cols=7,win=5",
        ),
        GameEntry(
            "gomoku6",
            "four in a row on 6x6",
            lambda spec: _build_line_game(spec, 6, 6, 4),
            example="gomoku6",
        ),
        GameEntry(
            "squava",
            "four in a row wins, three in a row loses, on 5x5",
            lambda spec, pie: _build_line_game(spec, 5, 5, 4, lose=3, pie=pie),
            (_PIE,),
            example="squava:pie=true",
        ),
        GameEntry(
            "mnk",
            "K in a row on any board",
            _build_mnk,
            (
                _int("rows", 0, "rows of the board; must be given"),
                _int("cols", 0, "columns of the board; must be given"),
                _int("win", 0, "K, the length of a winning line; must be given"),
            ),
            ("rows", "cols", "win"),
            example="mnk:5x5x4",
        ),
        GameEntry(
            "gomoku",
            "five in a row",
            _build_gomoku,
            (
                _int("size", 15, "rows and columns, 5 to 20"),
                _OVERLINE,
                Parameter("renju", bool, default=False, note="black has forbidden points"),
            ),
            example="gomoku:size=19,overline=exact",
        ),
        GameEntry(
            "reversi",
            "flip the opponent's discs; the side with more discs wins",
            _build_reversi,
            (_int("size", 8, "rows and columns: 4, 6 or 8"),),
            ("size",),
            example="reversi:6",
        ),
        GameEntry(
            "line",
            "any k-in-a-row game, defined by its parameters",
            _build_line_game,
            (
                _int("rows", 5, "rows of the board"),
                _int("cols", 5, "columns of the board"),
                _int("win", 4, "length of a winning line"),
                _int("lose", 0, "length of a losing line; 0 means none"),
                Parameter("gravity", bool, default=False, note="stones fall to the bottom"),
                _OVERLINE,
                _PIE,
            ),
            example="line:rows=5,cols=5,win=4,lose=3,gravity=false,overline=any",
        ),
    )
}
