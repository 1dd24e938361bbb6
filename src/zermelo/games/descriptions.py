"""The rules of a game in plain sentences, for people who have never played it.

For the line family and Reversi, the sentences follow from the parameters. A game in a user's file
is described by the docstring of its class or module.
"""

import inspect
import sys
from dataclasses import dataclass
from typing import Any

from zermelo.core.game import Game
from zermelo.core.phrases import count
from zermelo.games.lines.rules import LineGame
from zermelo.games.registry import GameLike, as_game
from zermelo.games.reversi.rules import Reversi

_NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


@dataclass(frozen=True, repr=False)
class RulesText:
    """How a game is played: its rules, how to write moves, and its initial position."""

    game: str  #: the spec
    sentences: tuple[str, ...]  #: the rules, paragraph by paragraph
    move_forms: str  #: the forms in which moves can be written
    start: str  #: a drawing of the initial position

    def __str__(self) -> str:
        """Return everything as text, with a paragraph on each line."""
        return "\n".join([*self.sentences, f"Moves: {self.move_forms}.", "", self.start])

    def __repr__(self) -> str:
        """Return the spec in angle brackets; `print` shows the rules."""
        return f"<rules of {self.game}>"

    def to_dict(self) -> dict[str, Any]:
        """Return the fields of the JSON output."""
        return {
            "game": self.game,
            "rules": list(self.sentences),
            "move_forms": self.move_forms,
            "start": self.start,
        }


def describe_rules(game: GameLike) -> RulesText:
    """Return the rules of a game in plain sentences; `game` is a game or a spec.

    >>> for sentence in describe_rules("squava").sentences:
    ...     print(sentence)
    Two players, X and O, take turns on a board of 5 rows and 5 columns. X moves first.
    A move places a stone on any empty cell. Stones never move.
    Four in a row win: horizontally, vertically or diagonally.
    Three in a row lose at once, unless they are part of a row that wins.
    If the board is full and nobody has won, the game is a draw.
    """
    game = as_game(game)
    is_ours = type(game).__module__.startswith("zermelo.games.")  # and not a user's subclass
    if is_ours and isinstance(game, LineGame):
        sentences = _line_rules(game)
    elif is_ours and isinstance(game, Reversi):
        sentences = _reversi_rules(game)
    else:
        sentences = _author_rules(game)
    return RulesText(game.spec, tuple(sentences), game.move_forms, game.start().to_text())


def _line_rules(game: LineGame) -> list[str]:
    second = game.symbols[1]
    sentences = [_board_rule(game.symbols, game.rows, game.cols)]
    if game.gravity:
        sentences.append(
            "A move drops a disc into a column that is not full; it falls to the lowest empty cell."
        )
    else:
        sentences.append("A move places a stone on any empty cell. Stones never move.")
    if game.pie:
        sentences.append(
            f"Pie rule: {second} may answer the first move with swap instead of placing a stone. "
            f"The stone on the board then belongs to {second}."
        )
    sentences += [*_winning_rules(game), *_losing_rules(game)]
    return [*sentences, "If the board is full and nobody has won, the game is a draw."]


def _board_rule(symbols: str, rows: int, cols: int) -> str:
    first, second = tuple(symbols)
    board = f"{count(rows, 'row')} and {count(cols, 'column')}"
    return (
        f"Two players, {first} and {second}, take turns on a board of {board}. {first} moves first."
    )


def _winning_rules(game: LineGame) -> list[str]:
    """Return the rules for winning; in renju, they differ between the sides."""
    length = _number(game.win)
    directions = "horizontally, vertically or diagonally"
    if _is_renju(game):
        first, second = tuple(game.symbols)
        exception = f"For {second}, longer rows win, too."
        fouls = (
            f"Three kinds of moves are forbidden to {first}: an overline (more than {length} in a "
            "row), a double four and a double three. A forbidden move loses, unless it also makes "
            f"exactly {length} in a row."
        )
        return [f"{length.capitalize()} in a row win: {directions}. {exception}", fouls]
    if game.exact:
        return [f"Exactly {length} in a row win: {directions}. Longer rows do not count."]
    return [f"{length.capitalize()} in a row win: {directions}."]


def _losing_rules(game: LineGame) -> list[str]:
    if not game.lose:
        return []
    if game.lose == 1:
        return ["A single stone loses at once, unless it is part of a row that wins."]
    length = _number(game.lose).capitalize()
    return [f"{length} in a row lose at once, unless they are part of a row that wins."]


def _reversi_rules(game: Reversi) -> list[str]:
    first, second = tuple(game.symbols)
    capture = (
        "A move places a disc on an empty cell and must enclose discs of the other side: in a "
        "straight line, horizontally, vertically or diagonally, between the new disc and another "
        "one of the same colour. All enclosed discs are flipped."
    )
    end = (
        "The game ends when neither side can move. The side with more discs wins; if both have "
        "the same number, the game is a draw."
    )
    return [
        _board_rule(game.symbols, game.size, game.size),
        f"{first} is black and {second} is white. At the start there are four discs in the middle.",
        capture,
        "A side that has no such move must pass.",
        end,
    ]


def _author_rules(game: Game) -> list[str]:
    """Return the docstrings of the module and the class of a game, in paragraphs."""
    kind = type(game)
    paragraphs = [
        " ".join(part.split())
        for text in (_module_docstring(kind), vars(kind).get("__doc__"))
        for part in inspect.cleandoc(text or "").split("\n\n")
        if part.strip()
    ]
    return paragraphs or [f"The author of {game.spec} has not described the rules."]


def _module_docstring(kind: type) -> str | None:
    """Return the docstring of the file that defines a game.

    If the game consists of functions, its class is generated, so the functions locate the file.
    """
    for member in vars(kind).values():
        function = getattr(member, "__func__", member)
        if inspect.isfunction(function):
            text: str | None = function.__globals__.get("__doc__")
            return text
    return None


def _is_renju(game: LineGame) -> bool:
    renju = sys.modules.get("zermelo.games.lines.renju")  # its import needs numpy
    return renju is not None and isinstance(game, renju.RenjuGame)


def _number(number: int) -> str:
    return _NUMBERS[number] if number < len(_NUMBERS) else str(number)
