"""Sets of labelled positions: text files with one position per line.

A line is a position as `--stdin` reads it (moves, or `board:` and a board; an empty line is the
initial position), followed by a tab and one letter for each legal move in the order of
`Position.legal`:

    W  fastest win      w  win      d  draw      l  loss

Without a tab the position has no labels. Lines that begin with # are comments; the first line of a
file written by `zermelo positions` names the game and the command that reproduces the file.
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

from zermelo.core.errors import ZermeloError
from zermelo.core.game import Game
from zermelo.core.game.fingerprint import rules_fingerprint
from zermelo.core.notation import quote_text
from zermelo.core.position import Position
from zermelo.grading.oracle import MoveValues

MAX_BYTES, MAX_POSITIONS = 16_000_000, 100_000
_LETTERS = {"W": 1, "w": 1, "d": 0, "l": -1}
_LEGEND = "# a letter for each legal move: W fastest win, w win, d draw, l loss"


class BadPositionSet(ZermeloError):
    """Raised when a file of positions cannot be used; the message names the line and the reason."""


@dataclass(frozen=True)
class LabelledPosition:
    """A non-terminal position, with the exact value of every move if known."""

    position: Position
    move_values: MoveValues | None = None

    def to_text(self) -> str:
        """Return the line that stands for this position in a file."""
        moves = self.position.moves
        assert moves is not None
        text = "".join(moves)
        if self.position.game.split_moves(text) != moves:  # needs spaces between moves
            text = " ".join(moves)
        return text if self.move_values is None else f"{text}\t{_to_letters(self.move_values)}"


def load_shipped(game: Game) -> dict[str, list[LabelledPosition]]:
    """Return the sets that come with the package for a game, by name, the easiest first.

    >>> import zermelo as z
    >>> {name: len(positions) for name, positions in load_shipped(z.game("connect4")).items()}
    {'easy': 200, 'medium': 200, 'hard': 200}
    """
    sets = {}
    for name in ("easy", "medium", "hard", "mixed", "endgames"):
        file = resources.files(__package__) / "shipped" / f"{game.spec}-{name}.txt"
        if file.is_file():
            sets[name] = parse(file.read_text(encoding="utf-8"), game, file.name)
    return sets


def read(path: Path, game: Game) -> list[LabelledPosition]:
    """Return the positions in a file. Raise BadPositionSet if it cannot be used."""
    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
        text = data.decode()
    except OSError as error:
        msg = f"cannot read positions from {path}: {error.strerror}"
        raise BadPositionSet(msg) from None
    except UnicodeDecodeError:
        msg = f"cannot read positions from {path}: it is not a UTF-8 text file"
        raise BadPositionSet(msg) from None
    if len(data) > MAX_BYTES:
        msg = f"cannot read positions from {path}: it has more than {MAX_BYTES:,} bytes"
        raise BadPositionSet(msg)
    return parse(text, game, str(path))


def parse(text: str, game: Game, name: str) -> list[LabelledPosition]:
    """Return the positions in the text of a file; error messages call the file `name`."""
    positions: list[LabelledPosition] = []
    for number, line in enumerate(text.removesuffix("\n").split("\n") if text else [], 1):
        try:
            if line.startswith("#"):
                if number == 1:
                    _check_header(line, game)
                continue
            positions.append(_parse_line(line, game))
        except ZermeloError as error:
            msg = f"{name}, line {number}: {error}"
            raise BadPositionSet(msg) from None
        if len(positions) > MAX_POSITIONS:
            msg = f"{name} has more than {MAX_POSITIONS:,} positions"
            raise BadPositionSet(msg)
    if not positions:
        msg = f"{name} contains no positions"
        raise BadPositionSet(msg)
    return positions


def _parse_line(line: str, game: Game) -> LabelledPosition:
    text, tab, letters = line.rstrip("\r").partition("\t")
    position = game.parse_position(text)
    if position.is_over:
        msg = f"the game is over ({position.verdict}), so there is no move to grade"
        raise BadPositionSet(msg)
    return LabelledPosition(position, _from_letters(letters.strip(), position) if tab else None)


def _from_letters(letters: str, position: Position) -> MoveValues:
    actions = position.actions
    wrong = next((letter for letter in letters if letter not in _LETTERS), None)
    if wrong is not None:
        msg = f"{quote_text(wrong)} is not a label: use W, w, d or l"
        raise BadPositionSet(msg)
    if len(letters) != len(actions):
        msg = f"there are {len(letters)} labels for {len(actions)} legal moves"
        raise BadPositionSet(msg)
    by_action = dict(zip(actions, letters, strict=True))
    fastest = frozenset(action for action, letter in by_action.items() if letter == "W")
    return MoveValues({a: _LETTERS[letter] for a, letter in by_action.items()}, fastest or None)


def _to_letters(values: MoveValues) -> str:
    fastest = values.fastest or ()
    return "".join(
        "W" if action in fastest else "wdl"[1 - value] for action, value in values.by_action.items()
    )


def to_text(positions: Iterable[LabelledPosition], game: Game, seed: int, command: str) -> str:
    """Return the text of a file of positions; `command` is the command line that reproduces it."""
    rules = rules_fingerprint(game)
    header = {"game": game.spec, "seed": seed, "command": command, "rules": rules}
    lines = [f"# {json.dumps(header)}", _LEGEND, *[one.to_text() for one in positions]]
    return "\n".join([*lines, ""])


def _check_header(line: str, game: Game) -> None:
    """Raise BadPositionSet if the header names another game or other rules.

    A first line that is not a header is an ordinary comment.
    """
    try:
        header: Any = json.loads(line.removeprefix("#"))
    except (ValueError, RecursionError):
        return
    if not isinstance(header, dict):
        return
    spec, rules = header.get("game", game.spec), header.get("rules")
    if spec != game.spec:
        msg = f"these are positions of {quote_text(str(spec))}, not of {game.spec}"
        raise BadPositionSet(msg)
    if rules is not None and rules != rules_fingerprint(game):
        msg = (
            f"the rules of {game.spec} have changed since these positions were generated: "
            "generate them again"
        )
        raise BadPositionSet(msg)
