"""Oracles, which give the exact value of every move of a position under perfect play."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from zermelo.core.game import WordGame
from zermelo.core.player import Limit
from zermelo.search.limits import SearchClock, SearchStopped
from zermelo.search.solver.solution import solver_for
from zermelo.search.solver.solver import SolverSettings


@dataclass(frozen=True)
class MoveValues:
    """The exact value of every legal action of a position, for the side to move.

    `fastest` holds the actions that win soonest; it is None if these are unknown or no action wins.
    """

    by_action: Mapping[int, int]  #: action → 1, 0 or -1, in ascending order of the actions
    fastest: frozenset[int] | None = None

    @property
    def value(self) -> int:
        """The value of the position, which is the value of its best action."""
        return max(self.by_action.values())

    @property
    def value_preserving(self) -> list[int]:
        """The actions that preserve the value of the position."""
        return [action for action, value in self.by_action.items() if value == self.value]

    @property
    def allows_mistake(self) -> bool:
        """Whether at least one action lowers the value."""
        return min(self.by_action.values()) < self.value

    def is_mistake(self, action: int) -> bool:
        """Return whether an action lowers the value."""
        return self.by_action[action] < self.value

    def is_slow_win(self, action: int) -> bool:
        """Return whether an action wins later than necessary; False if `fastest` is None."""
        return (
            self.fastest is not None and action not in self.fastest and self.by_action[action] > 0
        )


class Oracle(Protocol):
    """A source of exact values: the graph of all states, or the solver."""

    def evaluate_moves(self, state: Any) -> MoveValues | None:
        """Return the value of every move of a non-terminal state, or None if one is not proven."""

    def value(self, state: Any) -> int | None:
        """Return the value for the side to move, 1, 0 or -1, or None if it is not proven."""


class SolverOracle:
    """An oracle that queries the solver. `limit` applies to each query separately."""

    def __init__(
        self, game: WordGame, limit: Limit, settings: SolverSettings | None = None
    ) -> None:
        self.game, self.limit = game, limit
        self.solver = solver_for(game, settings)

    def evaluate_moves(self, state: Any) -> MoveValues | None:
        """Return the value of every move, or None if the limit is reached before all are proven.

        The fastest winning moves are included if they, too, are found within the limit.
        """
        clock = SearchClock(self.limit)
        try:
            values = {
                action: self._sign_after(state, action, clock)
                for action in self.game.actions(state)
            }
        except SearchStopped:
            return None
        return MoveValues(values, self._fastest_wins(state, values))

    def _sign_after(self, state: Any, action: int, clock: SearchClock) -> int:
        """Return the value of an action, 1, 0 or -1, for the side that plays it."""
        child = self.game.play(state, action)
        return int(self.game.turn_sign(state, child)) * self.solver.sign(child, clock)

    def value(self, state: Any) -> int | None:
        """Return the value for the side to move, 1, 0 or -1, or None if the limit is reached."""
        try:
            return self.solver.sign(state, SearchClock(self.limit))
        except SearchStopped:
            return None

    def _fastest_wins(self, state: Any, values: Mapping[int, int]) -> frozenset[int] | None:
        wins = [action for action, value in values.items() if value > 0]
        if len(wins) < 2 or self.game.hooks.ply_cost == 0:
            return frozenset(wins) if wins and self.game.hooks.ply_cost else None
        clock = SearchClock(self.limit)
        try:
            score = self.solver.score(state, clock)
            return frozenset(a for a in wins if self.solver.reaches(state, a, score, clock))
        except SearchStopped:
            return None

    def is_decided_within(self, state: Any, plies: int, clock: SearchClock) -> bool:
        """Return whether a state is won or lost in at most `plies` plies; False for a draw."""
        near = self.game.hooks.win_score - plies
        if self.solver.is_above(state, near - 1, clock):
            return True
        return not self.solver.is_above(state, -near, clock)

    def exceeds(self, state: Any, value: int, max_nodes: int) -> bool:
        """Return whether a search proves that the side to move gets more than `value`.

        The search visits at most `max_nodes` nodes. False means that this was not proven, not that
        it was disproven.
        """
        # Any bound between a loss and a draw, or between a draw and a win, would do.
        bound = -1 if value < 0 else 0
        try:
            return self.solver.is_above(state, bound, SearchClock(Limit(nodes=max_nodes)))
        except SearchStopped:
            return False

    def best_action(self, state: Any) -> int | None:
        """Return an action that is proven to be best, or None if the limit is reached."""
        clock = SearchClock(self.limit)
        try:
            score = self.solver.score(state, clock)
            return next(
                action
                for action in self.game.actions(state)
                if self.solver.reaches(state, action, score, clock)
            )
        except SearchStopped:
            return None
