"""Plain negamax with a memo: scores with distances, for every move of a state."""

from typing import Any, Protocol

WIN = 10_000  # a win in n plies scores WIN - n, a loss in n plies n - WIN, a draw 0


class Rules(Protocol):
    """What negamax needs to know about a game."""

    def actions(self, state: Any) -> list[int]:
        """The legal actions of a state that is not over."""

    def play(self, state: Any, action: int) -> tuple[Any, int | None]:
        """The next state, and how the game ended: 1 or -1 for the mover, 0 a draw, None not."""


class TooManyStates(Exception):
    """Raised when a state takes too long to solve by such simple means."""


class Negamax:
    """Solves the states of one game; a memo holds the states solved so far."""

    def __init__(self, rules: Rules, max_states: int) -> None:
        self.rules, self.max_states = rules, max_states
        self.memo: dict[Any, int] = {}
        self.budget = 0

    def scores(self, state: Any) -> dict[int, int]:
        """The score of every action, for the side to move; raise TooManyStates."""
        self.budget = self.max_states
        return {action: self.after(state, action) for action in self.rules.actions(state)}

    def after(self, state: Any, action: int) -> int:
        child, end = self.rules.play(state, action)
        if end is not None:
            return end * (WIN - 1)
        score = self.score(child)
        return -score + (score > 0) - (score < 0)

    def score(self, state: Any) -> int:
        if state not in self.memo:
            self.budget -= 1
            if self.budget < 0:
                raise TooManyStates
            self.memo[state] = max(self.after(state, a) for a in self.rules.actions(state))
        return self.memo[state]


def plies(score: int) -> int | None:
    """The plies to the end that a score encodes; None for a draw."""
    return WIN - abs(score) if score else None


def sign(score: int) -> int:
    return (score > 0) - (score < 0)
