"""Players: the interface of everything that chooses moves, and the analyses that players return.

`think` is a generator of better and better analyses; the last one gives the move. Closing the
generator stops the search: time limits, Ctrl-C, streaming and hints all work this way.
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

_EXPECTED_VALUES = {Value.WIN: 1.0, Value.DRAW: 0.0, Value.LOSS: -1.0}


@dataclass(frozen=True)
class Limit:
    """How long a player may think; None means no limit of that kind."""

    seconds: float | None = None
    nodes: int | None = None
    depth: int | None = None
    all_moves: bool = False  #: whether to evaluate every legal move, not only the best one
    stop: threading.Event | None = field(default=None, compare=False)  #: set it to stop early


@dataclass(frozen=True)
class Reason:
    """A verified fact about a move, with a line of play that demonstrates it."""

    kind: str
    text: str
    line: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return the fields of the JSON output."""
        return {"kind": self.kind, "text": self.text, "line": list(self.line)}


@dataclass(frozen=True)
class Candidate:
    """The evaluation of one legal move, for the side that plays it."""

    move: str
    value: Value | None = None  #: the proven value, if `exact`
    estimate: float | None = None  #: in [-1, 1], if not `exact`
    plies: int | None = None  #: plies to the end under best play, if known
    exact: bool = False
    best: bool = False
    reasons: tuple[Reason, ...] = ()
    pv: tuple[str, ...] = ()
    diff: int | None = None  #: in games with scores: the score, if `exact`
    visits: int | None = None  #: tree search: the number of simulations that began with this move
    parts: dict[str, float] | None = None  #: hybrid player: the terms of the static estimate

    @property
    def expected_value(self) -> float:
        """The proven or estimated value, from -1 (lost) to 1 (won)."""
        return (self.estimate or 0.0) if self.value is None else _EXPECTED_VALUES[self.value]


@dataclass(frozen=True)
class Analysis:
    """A player's evaluation of a position, for the side to move, and its choice."""

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
    depth: int | None = None  #: the search depth in plies, for an estimate
    diff: int | None = None
    verdict: "Analysis | None" = None  #: the analysis of the same position by exact search

    @classmethod
    def from_candidates(
        cls,
        candidates: Sequence[Candidate],
        *,
        nodes: int = 0,
        seconds: float = 0.0,
        source: str = "search",
        depth: int | None = None,
    ) -> "Analysis":
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
            nodes=nodes,
            seconds=seconds,
            source=source,
            depth=depth,
            diff=top.diff,
        )

    @property
    def expected_value(self) -> float:
        """The proven or estimated value, from -1 (lost) to 1 (won)."""
        return (self.estimate or 0.0) if self.value is None else _EXPECTED_VALUES[self.value]

    def as_lower_bound(self) -> "Analysis":
        """Return this analysis as a lower bound: a proven draw or loss becomes an estimate.

        Use this method if some moves have no proven value, since one of them may be better.
        """
        if not self.exact or self.value is Value.WIN:
            return self
        return replace(self, value=None, estimate=self.expected_value, exact=False)

    def choice(self) -> dict[str, Any]:
        """Return the fields of the JSON output for a chosen move."""
        return {
            "move": self.move,
            "value": self.value,
            "estimate": self.estimate,
            "exact": self.exact,
            "seconds": round(self.seconds, 6),
        }


class Player(ABC):
    """A player. It may keep data between calls, such as a search tree or a table."""

    name: str
    is_heavy: bool = False  #: whether this player holds a lot of memory between calls

    @abstractmethod
    def think(self, position: Position, limit: Limit) -> Iterator[Analysis]:
        """Yield one or more analyses of an unfinished position, each better than the one before."""

    def reseed(self, seed: int) -> None:  # noqa: B027 - most players are deterministic
        """Make all later choices depend only on the seed and the position.

        A stochastic player restarts its random numbers; a player whose choices depend on data from
        earlier positions discards that data.
        """

    def prepare(self, game: "Game") -> Any:  # noqa: B027 - most players need nothing
        """Prepare for a game before a match begins; raise an error if the player cannot play it."""

    def choose(self, position: Position, limit: Limit | None = None) -> Analysis:
        """Return the final analysis within the limit; raise IllegalMove if the game is over."""
        if position.is_over:
            msg = (
                f"{position.game.spec}: there is no move to choose, because the game is over: "
                f"{position.verdict}"
            )
            raise IllegalMove(msg)
        last = None
        for analysis in self.think(position, limit or Limit()):
            last = analysis
        assert last is not None, f"{self.name} gave no analysis"
        return last


def last_analysis(thinking: Iterator[Analysis]) -> Analysis:
    """Return the last analysis that a player yields, or the latest so far if Ctrl-C is pressed."""
    last = None
    try:
        for analysis in thinking:
            last = analysis
    except KeyboardInterrupt:
        if last is None:
            raise
    assert last is not None
    return last
