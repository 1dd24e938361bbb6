"""Truth: what every move of a position is worth under perfect play, proven by the solver."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from zermelo.core.game import WordGame
from zermelo.core.player import Limit
from zermelo.search.limits import Clock, Stopped
from zermelo.search.solver.solution import solver_for
from zermelo.search.solver.solver import Settings


@dataclass(frozen=True)
class Verdict:
    """The exact worth of every legal action of a position, for the side to move.

    `fastest` holds the wins that come soonest; None where that is not known or nothing wins.
    """

    values: Mapping[int, int]  #: 1, 0 or -1 by action, in the order of the actions
    fastest: frozenset[int] | None = None

    @property
    def value(self) -> int:
        """The position's own."""
        return max(self.values.values())

    @property
    def keeping(self) -> list[int]:
        """The actions that keep it."""
        return [action for action, value in self.values.items() if value == self.value]

    @property
    def can_err(self) -> bool:
        """Whether some move is a mistake."""
        return min(self.values.values()) < self.value

    def is_mistake(self, action: int) -> bool:
        """Whether an action lowers the value."""
        return self.values[action] < self.value

    def is_slow(self, action: int) -> bool:
        """Whether an action wins, but not as fast as can be; False where that is not known."""
        return self.fastest is not None and action not in self.fastest and self.values[action] > 0


class Truth(Protocol):
    """Whoever knows what moves are worth: a graph of all states, or the solver."""

    def judge(self, state: Any) -> Verdict | None:
        """Every move of a state that is not over; None where it is not proven."""

    def value(self, state: Any) -> int | None:
        """1, 0 or -1 for the side to move; None where it is not proven."""


class Prover:
    """Truth by the solver. The limit is that of one position; what takes longer is not known."""

    def __init__(self, game: WordGame, limit: Limit, settings: Settings | None = None) -> None:
        self.game, self.limit = game, limit
        self.solver = solver_for(game, settings)

    def judge(self, state: Any) -> Verdict | None:
        """Win, draw or loss of every move within the limit, then the fastest wins within it."""
        clock = Clock(self.limit)
        try:
            values = {
                action: -self.solver.sign(self.game.play(state, action), clock)
                for action in self.game.actions(state)
            }
        except Stopped:
            return None
        return Verdict(values, self._fastest(state, values))

    def value(self, state: Any) -> int | None:
        """By the solver."""
        try:
            return self.solver.sign(state, Clock(self.limit))
        except Stopped:
            return None

    def _fastest(self, state: Any, values: Mapping[int, int]) -> frozenset[int] | None:
        wins = [action for action, value in values.items() if value > 0]
        if len(wins) < 2 or self.game.ply_cost == 0:
            return frozenset(wins) if wins and self.game.ply_cost else None
        clock = Clock(self.limit)
        try:
            score = self.solver.score(state, clock)
            return frozenset(a for a in wins if self.solver.reaches(state, a, score, clock))
        except Stopped:
            return None

    def is_within(self, state: Any, plies: int, clock: Clock) -> bool:
        """Whether a state is won or lost in at most so many plies; a draw never is."""
        near = self.game.far - plies
        if self.solver.is_above(state, near - 1, clock):
            return True
        return not self.solver.is_above(state, -near, clock)

    def beats(self, state: Any, guess: int, nodes: int) -> bool:
        """Whether the side to move is proven, by so few nodes, to get more than `guess`.

        False says nothing.
        """
        # Between a loss and a draw every score will do, and so it does above a draw.
        try:
            return self.solver.is_above(state, -1 if guess < 0 else 0, Clock(Limit(nodes=nodes)))
        except Stopped:
            return False

    def reply(self, state: Any) -> int | None:
        """A best action; None where it is not proven within the limit."""
        clock = Clock(self.limit)
        try:
            score = self.solver.score(state, clock)
            return next(
                action
                for action in self.game.actions(state)
                if self.solver.reaches(state, action, score, clock)
            )
        except Stopped:
            return None
