"""A record: a game, its moves, and how it ended."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from zermelo.core.errors import BadRecord, IllegalMove
from zermelo.core.game import Game
from zermelo.core.notation import quote_text
from zermelo.core.position import Outcome, Position
from zermelo.games import registry
from zermelo.matches.match import Match


@dataclass(frozen=True)
class Record:
    """The last position of a game and its outcome, which is None if the game is unfinished.

    If there is an outcome but the position is not over, a side has resigned.
    """

    position: Position
    outcome: Outcome | None

    @classmethod
    def of(cls, match: Match) -> "Record":
        """Return the record of a match in its present state."""
        return cls(match.position, match.outcome)

    @property
    def game(self) -> Game:
        """The game that was played."""
        return self.position.game

    @property
    def moves(self) -> list[str]:
        """The moves from the start."""
        return self.position.moves or []

    def to_match(self) -> Match:
        """Return the game as a match, with all its positions."""
        match = Match(self.game, self.moves)
        if self.is_resigned:
            match.resigned = 1 if self.outcome is Outcome.FIRST else 0
        return match

    @property
    def is_resigned(self) -> bool:
        """Whether the game ended because a side resigned."""
        return self.outcome is not None and not self.position.is_over


def replay(
    game: Game,
    moves: Iterable[str],
    outcome: Outcome | None,
    *,
    lines: Sequence[int] = (),
) -> Record:
    """Play moves from the start and check the outcome against the rules.

    `lines` are the line numbers of the moves; without them, errors name line 1. If a move is
    illegal or the outcome contradicts the moves, raise a BadRecord that names the line.
    """
    position = game.start()
    for index, move in enumerate(moves):
        try:
            position = position.play(move)
        except IllegalMove as error:
            line = lines[index] if lines else 1
            msg = f"line {line}, move {index + 1}: {error}"
            raise BadRecord(msg) from None
    if position.outcome is not None and outcome not in (None, position.outcome):
        winner = {Outcome.FIRST: "the first player wins", Outcome.SECOND: "the second player wins"}
        result = winner.get(outcome, "a draw") if outcome else ""
        msg = f"line 1: the result says {result}, but by the rules it is: {position.verdict}"
        raise BadRecord(msg)
    if outcome is Outcome.DRAW and not position.is_over:
        msg = "line 1: the result says a draw, but the game is not over"
        raise BadRecord(msg)
    return Record(position, position.outcome or outcome)


def find_game(spec: str, expected: Game | None) -> Game:
    """Return the game that a record names. If `expected` is given, the record must name that one.

    A record never loads a game file, unless the caller has already loaded that very game.
    """
    if expected is None:
        return registry.named_game(spec)
    if expected.spec != spec:
        msg = f"line 1: the game of the record is {quote_text(spec)}, not {expected.spec}"
        raise BadRecord(msg)
    return expected
