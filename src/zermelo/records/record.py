"""The record itself: a game, its moves, and how it ended."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from zermelo.core.errors import BadRecord, IllegalMove
from zermelo.core.game import Game
from zermelo.core.notation import shown
from zermelo.core.position import Outcome, Position
from zermelo.games import registry
from zermelo.matches.match import Match


@dataclass(frozen=True)
class Record:
    """Legal moves from the start; an outcome without a finished position is a resignation."""

    position: Position
    outcome: Outcome | None

    @classmethod
    def of(cls, match: Match) -> "Record":
        """What a match has come to."""
        return cls(match.position, match.outcome)

    @property
    def game(self) -> Game:
        """The rules."""
        return self.position.game

    @property
    def moves(self) -> list[str]:
        """The moves from the start."""
        return self.position.moves or []

    @property
    def is_resigned(self) -> bool:
        """Whether it ended without the rules saying so."""
        return self.outcome is not None and not self.position.is_over


def replay(
    game: Game,
    moves: Iterable[str],
    outcome: Outcome | None,
    *,
    lines: Sequence[int] = (),
) -> Record:
    """A record from texts that are checked here; `lines` says where each move stands."""
    position = game.start()
    for number, move in enumerate(moves):
        try:
            position = position.play(move)
        except IllegalMove as error:
            line = lines[number] if lines else 1
            msg = f"line {line}, move {number + 1}: {error}"
            raise BadRecord(msg) from None
    if position.outcome is not None and outcome not in (None, position.outcome):
        msg = (
            f"line 1: the result says {outcome_text(outcome)}, but by the moves {position.verdict}"
        )
        raise BadRecord(msg)
    if outcome is Outcome.DRAW and not position.is_over:
        msg = "line 1: the result says a draw, but the game is not over"
        raise BadRecord(msg)
    return Record(position, position.outcome or outcome)


def outcome_text(outcome: Outcome | None) -> str:
    """A result in words."""
    names = {Outcome.FIRST: "the first player wins", Outcome.SECOND: "the second player wins"}
    return names.get(outcome, "a draw") if outcome else "nothing"


def named(spec: str, given: Game | None) -> Game:
    """The game a record names; never a file, unless the caller brought that very game."""
    if given is None:
        return registry.named_game(spec)
    if given.spec != spec:
        msg = f"line 1: the record is of {shown(spec)}, not of {given.spec}"
        raise BadRecord(msg)
    return given
