"""Review a game, finished or not, move by move: find the mistakes and the better moves."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

from zermelo.core.errors import BadSpec
from zermelo.core.notation import show_value
from zermelo.core.phrases import describe_value
from zermelo.core.player import Analysis, Candidate, Limit, Player, Reason, as_limit
from zermelo.core.position import Position, as_position
from zermelo.search.explain.analysis import Analyst

SECONDS = 10.0  #: time limit for a whole game if the caller sets none
_MIN_SHARE, _MAX_SHARE = 0.05, 2.0  # minimum and maximum seconds for one position
_SLIP = 0.5  # an unproven move that loses more estimated value than this is called a slip


class PlayedGame(Protocol):
    """Anything that keeps the positions of a game, such as a `Match`."""

    @property
    def positions(self) -> Sequence[Position]:
        """The positions from the start to the last move."""


@dataclass(frozen=True)
class ReviewedMove:
    """One move of a reviewed game; for the initial position, `move` and `player` are None."""

    ply: int
    move: str | None
    player: int | None
    estimate: float  #: the value after the move for the first player, from -1 to 1
    exact: bool  #: whether `estimate` is a proven value
    description: str  #: the value in words, for the player who moved
    mistake: str | None = None  #: "mistake" (proven), "slip" (by estimate) or None
    better: Candidate | None = None  #: after a mistake or slip, the best move
    reasons: tuple[Reason, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return the fields for the JSON output and the studio's clients."""
        better = self.better and {
            "move": self.better.move,
            "words": _describe(self.better),
            "reasons": [reason.to_dict() for reason in self.better.reasons],
        }
        return {
            "ply": self.ply,
            "move": self.move,
            "player": self.player,
            "estimate": self.estimate,
            "exact": self.exact,
            "mistake": self.mistake,
            "better": better,
            "words": self.description,
            "reasons": [reason.to_dict() for reason in self.reasons],
        }

    def __repr__(self) -> str:
        """Return the move, its value in words and the better move in angle brackets."""
        better = f" ({self.mistake}: {self.better.move} is better)" if self.better else ""
        return f"<ply {self.ply}: {self.move or 'start'}, {self.description}{better}>"


def review(
    game: PlayedGame | Sequence[Position],
    limit: Limit | None = None,
    *,
    analyst: Player | None = None,
) -> list[ReviewedMove]:
    """Review a game; return a record for the initial position and one for every move.

    The game is a match or a list of positions. The time limit is for the whole game, the node limit
    for each position.

    >>> import zermelo as z
    >>> moves = review(z.match("tictactoe", "b2 b1 b3 a1"))
    >>> [(m.move, m.mistake, m.better.move) for m in moves if m.better]
    [('b1', 'mistake', 'a1'), ('b3', 'mistake', 'a1')]
    """
    return list(iter_review(game, limit, analyst=analyst))


def iter_review(
    game: PlayedGame | Sequence[Position],
    limit: Limit | None = None,
    *,
    analyst: Player | None = None,
) -> Iterator[ReviewedMove]:
    """Yield the records of `review` as they become available."""
    positions = game if isinstance(game, Sequence) else getattr(game, "positions", None)
    if positions is None or isinstance(positions, str):
        msg = (
            "a review takes a zermelo.Match, a record or a list of positions, "
            f"not {show_value(game)}"
        )
        raise BadSpec(msg)
    for position in positions:
        as_position(position)
    limit, analyst = as_limit(limit), analyst or Analyst()
    if limit.seconds is not None or limit.nodes is None:
        share = (limit.seconds or SECONDS) / max(1, len(positions))
        limit = replace(limit, seconds=min(_MAX_SHARE, max(_MIN_SHARE, share)))
    for ply, position in enumerate(positions):
        if limit.stop is not None and limit.stop.is_set():
            return
        if position.is_over:
            break
        analysis = analyst.choose(position, limit)
        if ply == 0:
            yield _review_start(position, analysis)
        if ply + 1 < len(positions):
            yield _review_move(position, analysis, positions[ply + 1], ply + 1)


def _review_start(position: Position, analysis: Analysis) -> ReviewedMove:
    return ReviewedMove(
        ply=0,
        move=None,
        player=None,
        estimate=_for_first(position, analysis.expected_value),
        exact=analysis.exact,
        description=_describe(analysis),
    )


def _review_move(position: Position, analysis: Analysis, after: Position, ply: int) -> ReviewedMove:
    assert after.last_action is not None
    move, best = position.to_move_text(after.last_action), analysis.candidates[0]
    candidate = next(c for c in analysis.candidates if c.move == move)
    mistake = _classify(candidate, best)
    return ReviewedMove(
        ply=ply,
        move=move,
        player=position.player,
        estimate=_for_first(position, candidate.expected_value),
        exact=candidate.exact,
        description=_describe(candidate),
        mistake=mistake,
        better=best if mistake else None,
        reasons=candidate.reasons,
    )


def _classify(candidate: Candidate, best: Candidate) -> str | None:
    """Return "mistake" if the value provably drops, "slip" if its estimate clearly drops."""
    if candidate.exact and best.exact:
        return "mistake" if candidate.expected_value < best.expected_value else None
    return "slip" if candidate.expected_value < best.expected_value - _SLIP else None


def _for_first(position: Position, value: float) -> float:
    return value if position.player == 0 else -value


def _describe(record: Analysis | Candidate) -> str:
    return describe_value(record.value, record.estimate, record.plies, record.diff)
