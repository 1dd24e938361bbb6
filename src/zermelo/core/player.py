"""Players: the one contract for whoever chooses moves, and the record all of them answer with.

`think` yields improving `Analysis` records; the last one is the choice. Closing the generator
stops the thinking: one mechanism for time limits, Ctrl-C, streaming and hints.
"""

import threading
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from zermelo.core.errors import IllegalMove
from zermelo.core.position import Position
from zermelo.core.value import Value

if TYPE_CHECKING:
    from zermelo.core.game import Game


@dataclass(frozen=True)
class Limit:
    """How long a player may think; None is no limit of that kind."""

    seconds: float | None = None
    nodes: int | None = None
    depth: int | None = None
    all_moves: bool = False  #: judge every legal move, for an analysis, and not only the best
    stop: threading.Event | None = field(default=None, compare=False)  #: set to stop it early


@dataclass(frozen=True)
class Reason:
    """A fact about a move that was verified, with the moves that show it."""

    kind: str
    text: str
    line: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return the fields that scripts get."""
        return {"kind": self.kind, "text": self.text, "line": list(self.line)}


@dataclass(frozen=True)
class Candidate:
    """What a player thinks of one legal move; value and plies are the root mover's."""

    move: str
    value: Value | None = None  #: when exact
    estimate: float | None = None  #: in [-1, 1] when not
    plies: int | None = None
    exact: bool = False
    best: bool = False
    reasons: tuple[Reason, ...] = ()
    pv: tuple[str, ...] = ()
    diff: int | None = None  #: Reversi: the raw disc difference, when exact
    visits: int | None = None  #: of a tree search: how many simulations began with it
    parts: dict[str, float] | None = None  #: of a hybrid: what its estimate right after is made of

    @property
    def expected_value(self) -> float:
        """The proven or estimated value, from -1 (lost) to 1 (won)."""
        return (self.estimate or 0.0) if self.value is None else float(self.value.sign)


@dataclass(frozen=True)
class Analysis:
    """What a player thinks of a position, for the side to move."""

    move: str
    value: Value | None = None
    estimate: float | None = None
    plies: int | None = None
    exact: bool = False
    candidates: tuple[Candidate, ...] = ()
    pv: tuple[str, ...] = ()
    nodes: int = 0
    seconds: float = 0.0
    source: str = "search"
    depth: int | None = None  #: of an estimate: plies looked ahead
    diff: int | None = None
    verdict: "Analysis | None" = None  #: beside a player's own thoughts, those of exact search

    @classmethod
    def from_candidates(cls, candidates: Sequence[Candidate], **effort: Any) -> "Analysis":
        """Return the analysis of a player that chooses the first candidate."""
        top = candidates[0]
        return cls(
            top.move,
            value=top.value,
            estimate=top.estimate,
            plies=top.plies,
            exact=top.exact,
            candidates=tuple(candidates),
            pv=top.pv,
            diff=top.diff,
            **effort,
        )

    @property
    def expected_value(self) -> float:
        """The proven or estimated value, from -1 (lost) to 1 (won)."""
        return (self.estimate or 0.0) if self.value is None else float(self.value.sign)

    def as_lower_bound(self) -> "Analysis":
        """Return this analysis with the proven value as an estimate, unless it is a win.

        For a move that is proven while others are not: one of them may be better.
        """
        if not self.exact or self.value is Value.WIN:
            return self
        return replace(self, value=None, estimate=self.expected_value, exact=False)

    def choice(self) -> dict[str, Any]:
        """The fields that scripts get."""
        return {
            "move": self.move,
            "value": self.value,
            "estimate": self.estimate,
            "exact": self.exact,
            "seconds": round(self.seconds, 6),
        }


class Player(ABC):
    """Whoever chooses moves. A player may keep what it found between calls."""

    name: str
    is_heavy: bool = False  #: what it keeps between calls is large: not to be kept idle

    @abstractmethod
    def think(self, position: Position, limit: Limit) -> Iterator[Analysis]:
        """Improving answers for a position that is not over; at least one."""

    def reseed(self, seed: int) -> None:  # noqa: B027 - not every player has dice
        """Begin anew: what comes next depends on the seed and the position alone.

        A player with dice rolls them from this seed, and one whose choices depend on what it kept
        from earlier positions forgets that. One that does neither leaves this as it is.
        """

    def prepare(self, game: "Game") -> Any:  # noqa: B027 - most play every game
        """Get ready for a game: an error says why it cannot be played, before a match begins."""

    def choose(self, position: Position, limit: Limit | None = None) -> Analysis:
        """The last answer within the limit."""
        if position.is_over:
            msg = f"{position.game.spec}: there is no move to choose: {position.verdict}"
            raise IllegalMove(msg)
        last = None
        for answer in self.think(position, limit or Limit()):
            last = answer
        assert last is not None, f"{self.name} gave no answer"
        return last


def last_analysis(thinking: Iterator[Analysis]) -> Analysis:
    """The last answer; Ctrl-C ends the thinking, and what was found by then is the answer."""
    last = None
    try:
        for answer in thinking:
            last = answer
    except KeyboardInterrupt:
        if last is None:
            raise
    assert last is not None
    return last
