"""Sets of positions with their answers: text files, a position a line.

A line is a position as under --stdin (moves, or `board:` and a board; nothing is the start) and,
after a tab, a letter for each legal move in the order of `legal`:

    W  wins, as fast as can be      w  wins      d  draws      l  loses

Without the tab the answers are not known yet. A line that begins with # is a remark; in the first
one a file that `zermelo positions` made tells of which game it is, and how to make it again.
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

from zermelo.core.errors import ZermeloError
from zermelo.core.fingerprint import rules_fingerprint
from zermelo.core.game import Game
from zermelo.core.notation import shown
from zermelo.core.position import Position
from zermelo.grading.oracle import MoveValues

MAX_BYTES, MAX_POSITIONS = 16_000_000, 100_000
_LETTERS = {"W": 1, "w": 1, "d": 0, "l": -1}
_LEGEND = "# a letter for each legal move: W fastest win, w win, d draw, l loss"


class BadPositionSet(ZermeloError):
    """A file of positions that cannot be used, with the line and the reason."""


@dataclass(frozen=True)
class LabelledPosition:
    """A position that is not over, with what every move is worth where that is known."""

    position: Position
    verdict: MoveValues | None = None

    def to_text(self) -> str:
        """Its line."""
        moves = self.position.moves
        assert moves is not None
        text = "".join(moves)
        if self.position.game.split(text) != moves:  # digits may stand together
            text = " ".join(moves)
        return text if self.verdict is None else f"{text}\t{_to_letters(self.verdict)}"


def load_shipped(game: Game) -> dict[str, list[LabelledPosition]]:
    """The sets that come with the package for a game, by name, the easy ones first.

    >>> import zermelo as z
    >>> {name: len(positions) for name, positions in shipped(z.game("connect4")).items()}
    {'easy': 200, 'medium': 200, 'hard': 200}
    """
    found = {}
    for name in ("easy", "medium", "hard", "mixed", "endgames"):
        file = resources.files(__package__) / "shipped" / f"{game.spec}-{name}.txt"
        if file.is_file():
            found[name] = parse(file.read_text(encoding="utf-8"), game, file.name)
    return found


def read(path: Path, game: Game) -> list[LabelledPosition]:
    """The positions in a file; BadSet names the line that is wrong, and why."""
    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
        text = data.decode()
    except OSError as error:
        msg = f"cannot read positions from {path}: {error.strerror}"
        raise BadPositionSet(msg) from None
    except UnicodeDecodeError:
        msg = f"{path} holds no positions: it is no text"
        raise BadPositionSet(msg) from None
    if len(data) > MAX_BYTES:
        msg = f"{path} has more than {MAX_BYTES:,} bytes: too many for a set of positions"
        raise BadPositionSet(msg)
    return parse(text, game, str(path))


def parse(text: str, game: Game, name: str) -> list[LabelledPosition]:
    """The positions in a file's text."""
    found: list[LabelledPosition] = []
    for number, line in enumerate(text.removesuffix("\n").split("\n") if text else [], 1):
        try:
            if line.startswith("#"):
                if number == 1:
                    _check_header(line, game)
                continue
            found.append(_parse_line(line, game))
        except ZermeloError as error:
            msg = f"{name}, line {number}: {error}"
            raise BadPositionSet(msg) from None
        if len(found) > MAX_POSITIONS:
            msg = f"{name} has more than {MAX_POSITIONS:,} positions"
            raise BadPositionSet(msg)
    if not found:
        msg = f"{name} holds no positions"
        raise BadPositionSet(msg)
    return found


def _parse_line(line: str, game: Game) -> LabelledPosition:
    text, tab, letters = line.rstrip("\r").partition("\t")
    position = game.read(text)
    if position.is_over:
        msg = f"the game is over, there is no move to judge: {position.verdict}"
        raise BadPositionSet(msg)
    return LabelledPosition(position, _from_letters(letters.strip(), position) if tab else None)


def _from_letters(letters: str, position: Position) -> MoveValues:
    actions = position.actions
    wrong = next((letter for letter in letters if letter not in _LETTERS), None)
    if wrong is not None:
        msg = f"{shown(wrong)} is no answer: a letter is W, w, d or l"
        raise BadPositionSet(msg)
    if len(letters) != len(actions):
        msg = f"{len(letters)} answers for {len(actions)} legal moves"
        raise BadPositionSet(msg)
    by_action = dict(zip(actions, letters, strict=True))
    fastest = frozenset(action for action, letter in by_action.items() if letter == "W")
    return MoveValues({a: _LETTERS[letter] for a, letter in by_action.items()}, fastest or None)


def _to_letters(verdict: MoveValues) -> str:
    fastest = verdict.fastest or ()
    return "".join(
        "W" if action in fastest else "wdl"[1 - value] for action, value in verdict.values.items()
    )


def to_text(graded: Iterable[LabelledPosition], game: Game, seed: int, command: str) -> str:
    """A file's text."""
    rules = rules_fingerprint(game)
    header = {"game": game.spec, "seed": seed, "command": command, "rules": rules}
    lines = [f"# {json.dumps(header)}", _LEGEND, *[one.to_text() for one in graded]]
    return "\n".join([*lines, ""])


def _check_header(line: str, game: Game) -> None:
    """A header of another game, or of other rules, is refused; any other remark is none."""
    try:
        header: Any = json.loads(line.removeprefix("#"))
    except (ValueError, RecursionError):
        return
    if not isinstance(header, dict):
        return
    spec, rules = header.get("game", game.spec), header.get("rules")
    if spec != game.spec:
        msg = f"these are positions of {shown(str(spec))}, not of {game.spec}"
        raise BadPositionSet(msg)
    if rules is not None and rules != rules_fingerprint(game):
        msg = f"these positions were made with other rules of {game.spec}: make them anew"
        raise BadPositionSet(msg)
