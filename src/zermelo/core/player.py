"""Players: the interface of everything that chooses moves, and the analyses that players return.

`think` yields better and better analyses; the last one gives the move. Closing the
generator stops the search: time limits, Ctrl-C, streaming and hints all work this way.
"""

import threading
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from zermelo.core.errors import BadSpec, IllegalMove, import_package
from zermelo.core.notation import show_value
from zermelo.core.phrases import count, describe_value
from zermelo.core.position import Position, as_position
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

    def __post_init__(self) -> None:
        for name, value in (
            ("seconds", self.seconds),
            ("nodes", self.nodes),
            ("depth", self.depth),
        ):
            if value is not None and (
                isinstance(value, bool) or not isinstance(value, int | float)
            ):
                msg = f"Limit: {name} is {show_value(value)}: it must be a number or None"
                raise BadSpec(msg)


def as_limit(limit: Limit | None) -> Limit:
    """Return a limit unchanged, or an empty one for None; raise BadSpec for anything else."""
    if limit is not None and not isinstance(limit, Limit):
        msg = f"a limit is a zermelo.Limit such as Limit(seconds=1), not {show_value(limit)}"
        raise BadSpec(msg)
    return limit or Limit()


@dataclass(frozen=True)
class Reason:
    """A verified fact about a move, with a line of play that demonstrates it."""

    kind: str
    text: str
    line: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return the fields of the JSON output."""
        return {"kind": self.kind, "text": self.text, "line": list(self.line)}

    def __repr__(self) -> str:
        """Return the kind and the text in angle brackets."""
        return f"<reason {self.kind}: {self.text}>"


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

    def to_dict(self, position: Position | None = None) -> dict[str, Any]:
        """Return the fields of the JSON output; with a position, add the scores of its game."""
        fields = {
            "move": self.move,
            "value": self.value,
            "estimate": self.estimate,
            "plies": self.plies,
            "exact": self.exact,
            "best": self.best,
            "reasons": [reason.to_dict() for reason in self.reasons],
            "pv": list(self.pv),
        } | _score_fields(position, self)
        optional = {"visits": self.visits, "parts": self.parts}
        return fields | {name: value for name, value in optional.items() if value is not None}

    def __repr__(self) -> str:
        """Return the move and its value in angle brackets."""
        return f"<candidate {self.move}: {_describe(self)}>"


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
    position: Position | None = field(default=None, compare=False)  #: the position, if known

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

    @property
    def best(self) -> tuple[str, ...]:
        """The best moves among the candidates."""
        return tuple(candidate.move for candidate in self.candidates if candidate.best)

    def to_dict(self, spec: str = "", position: Position | None = None) -> dict[str, Any]:
        """Return the fields of the JSON output: the fields of a solution, and the candidates.

        `spec` is the game's spec as the user typed it. `position` is needed only if the analysis
        has none, as while a player is thinking.
        """
        position = position or self.position
        fields: dict[str, Any] = {
            "game": spec or (position and position.game.spec),
            "moves": position and position.moves,
            "to_move": None if position is None else position.player,
            "value": self.value,
            "estimate": self.estimate,
            "plies": self.plies,
            "best": list(self.best),
            "pv": list(self.pv),
            "exact": self.exact,
            "nodes": self.nodes,
            "seconds": round(self.seconds, 6),
            "source": self.source,
            "depth": self.depth,
            "complete": True,
        } | _score_fields(position, self)
        fields["candidates"] = [candidate.to_dict(position) for candidate in self.candidates]
        if self.move and (self.verdict is not None or not self.candidates):
            fields["move"] = self.move
        if self.verdict is not None:
            fields["verdict"] = self.verdict.to_dict(spec, position)
        return fields

    def to_dataframe(self) -> Any:
        """Return a pandas data frame with a row for every candidate, best first."""
        rows = [candidate.to_dict(self.position) for candidate in self.candidates]
        for row in rows:
            row["reasons"] = [reason["text"] for reason in row["reasons"]]
        return import_package("pandas", "to_dataframe").DataFrame(rows)

    def __repr__(self) -> str:
        """Return the move, its value and the number of candidates in angle brackets."""
        candidates = f", {count(len(self.candidates), 'candidate')}" if self.candidates else ""
        return f"<analysis: {self.move or 'the game is over'}, {_describe(self)}{candidates}>"

    def choice(self) -> dict[str, Any]:
        """Return the fields of the JSON output for a chosen move."""
        return {
            "move": self.move,
            "value": self.value,
            "estimate": self.estimate,
            "exact": self.exact,
            "seconds": round(self.seconds, 6),
        }


def _describe(record: Analysis | Candidate) -> str:
    """Return the value in words, or the estimate as a number."""
    if record.value is None:
        return "no estimate" if record.estimate is None else f"estimate {record.estimate:+.2f}"
    return describe_value(record.value, None, record.plies, record.diff)


def _score_fields(position: Position | None, record: Analysis | Candidate) -> dict[str, int | None]:
    """Return the scores that a game adds to the JSON output, such as `diff` in Reversi."""
    if position is None:
        return {} if record.diff is None else {"diff": record.diff}
    return position.game.score_fields(position.state, record.value, record.plies, record.diff)


class Player(ABC):
    """A player. It may keep data between calls, such as a search tree or a table."""

    name: str
    is_heavy: bool = False  #: whether this player holds a lot of memory between calls

    def __init_subclass__(cls, **options: Any) -> None:
        """Make `choose_action` agree with `think` in a subclass that overrides only `think`."""
        super().__init_subclass__(**options)
        if "think" in vars(cls) and "choose_action" not in vars(cls):
            setattr(cls, "choose_action", Player.choose_action)  # noqa: B010 - a method of cls

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
        limit = as_limit(limit)
        if as_position(position).is_over:
            msg = (
                f"{position.game.spec}: there is no move to choose, because the game is over: "
                f"{position.verdict}"
            )
            raise IllegalMove(msg)
        last = None
        for analysis in self.think(position, limit):
            last = analysis
        assert last is not None, f"{self.name} gave no analysis"
        return last if last.position is not None else replace(last, position=position)

    def __repr__(self) -> str:
        """Return the name in angle brackets."""
        return f"<player {getattr(self, 'name', type(self).__name__)}>"

    def choose_action(self, position: Position) -> int:
        """Return the action of the move that `choose` would return without a limit.

        A player that can choose faster without an analysis overrides this method.
        """
        return position.parse(self.choose(position).move)


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
