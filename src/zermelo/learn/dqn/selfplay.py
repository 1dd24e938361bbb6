"""Acting: many games at once, by the learner alone or against others, for transitions.

The discount of ply k of a transition, seen by who moved first:

- **self-play**: `(-g) ** k`, the sides by turns. The value behind it is that of the best play of
  both, so with one step it does not matter who chose the moves: older selves and opponents only
  lead to other states. With more steps, moves that explore bias the returns a little.
- **response**: the opponent's move is part of the world, and `g` counts own moves:
  `(-1) ** k * g ** (k // 2)`. Transitions begin with own moves only. What is learned is the best
  answer to that opponent.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from zermelo.learn.batch.game_batch import Many
from zermelo.learn.batch.replay import Transitions

if TYPE_CHECKING:
    from numpy.typing import NDArray

Policy = Callable[[Any, Any], Any]  #: (states, legal [row, action]) → actions
Potential = Callable[[Any], Any]  #: states → how good each looks to the side to move


@dataclass(frozen=True)
class Rules:
    """How games are played for a learner."""

    games: int = 64  #: at once
    gamma: float = 1.0
    steps: int = 1  #: own moves that a transition spans
    response: bool = False  #: learn the best answer to the opponent, and not best play
    seats: tuple[int, ...] = (0, 1)  #: the learner's, by turns
    sampled: float = 0.0  #: the share of games that begin at random positions
    opening: tuple[int, ...] = ()  #: actions that every game begins with

    @property
    def span(self) -> int:
        """Plies of a transition."""
        return 2 * self.steps if self.response else self.steps

    def discount(self, ply: int) -> float:
        """Of the reward at that ply of a transition."""
        if self.response:
            return float((-1) ** ply * self.gamma ** (ply // 2))
        return float((-self.gamma) ** ply)


class Source(Protocol):
    """Where transitions come from: games played here, or elsewhere (`learn/sent.py`)."""

    finished: list[int]  #: how the last games ended for the learner: 1, 0, -1

    def fade(self, done: float) -> None:
        """How much of the training is over."""

    def step(self, learner: Policy, opponent: Policy | None, epsilon: float) -> Transitions:
        """A move in every game; the transitions that are complete with it."""

    def to_arrays(self) -> dict[str, Any]:
        """All of it, for a checkpoint."""

    def load_arrays(self, arrays: dict[str, Any]) -> None:
        """As it was."""


class Acting:
    """Games in progress, and the transitions that are not complete yet."""

    def __init__(
        self,
        many: Many,
        rules: Rules,
        rng: np.random.Generator,
        potential: Potential | None = None,
    ) -> None:
        self.many, self.rules, self.rng, self.potential = many, rules, rng, potential
        games, span, words = rules.games, rules.span, many.game.num_words
        self.seats: NDArray[Any] = np.array(rules.seats)[np.arange(games) % len(rules.seats)]
        self.states: NDArray[Any] = self._started(games)
        # A slot for each ply of a span: what began there, its return so far and its age.
        self._states: NDArray[Any] = np.zeros((span, games, words), np.uint64)
        self._actions: NDArray[Any] = np.zeros((span, games), np.int64)
        self._returns: NDArray[Any] = np.zeros((span, games), np.float32)
        self._ages: NDArray[Any] = np.full((span, games), -1)
        self._discounts: NDArray[Any] = np.array(
            [rules.discount(ply) for ply in range(span + 1)], np.float32
        )
        self.plies = 0
        self.finished: list[int] = []  #: how the last games ended for the learner: 1, 0, -1

    def fade(self, done: float) -> None:
        """Tell a potential that fades how much of the training is over."""
        fade = getattr(self.potential, "fade", None)
        if fade is not None:
            fade(done)

    def _started(self, number: int) -> Any:
        """New games: from the start, or from wherever random moves lead."""
        states = self.many.start(number)
        for action in self.rules.opening:
            states, _, _ = self.many.step(states, np.full(number, action))
        drawn = self.rng.random(number) < self.rules.sampled
        if drawn.any():
            longest = self.many.game.longest(self.many.game.initial())
            seed = int(self.rng.integers(1 << 62))
            states[drawn] = self.many.sampled(int(drawn.sum()), longest, seed)
        return states

    def step(self, learner: Policy, opponent: Policy | None, epsilon: float) -> Transitions:
        """A move in every game; the transitions that are complete with it.

        Without an opponent the learner plays both sides.
        """
        rules, states = self.rules, self.states
        legal = self.many.masks(states)
        own = np.ones(len(states), np.bool_)
        if opponent is not None:
            own = states[:, -1].astype(np.int64) == self.seats
        random = self.rng.random(len(states)) < epsilon
        actions = (self.rng.random(legal.shape) * legal).argmax(1)
        thinks = own & ~random
        if thinks.any():
            actions[thinks] = learner(states[thinks], legal[thinks])
        if opponent is not None and not own.all():
            actions[~own] = opponent(states[~own], legal[~own])
        after, rewards, over = self.many.step(states, actions)
        self._note(rewards, states, over)
        if self.potential is not None:
            rewards = rewards + self._shaped(states, after, over, own)
        begins = own if rules.response else np.ones(len(states), np.bool_)
        found = self._complete(states, actions, rewards, after, over, begins)
        self.states = after
        if over.any():
            self.states[over] = self._started(int(over.sum()))
        self.plies += 1
        return found

    def _shaped(self, states: Any, after: Any, over: Any, own: Any) -> Any:
        """Shaping by a potential: it adds nothing over a whole game, so best play stays the best.

        The later state is seen by the other side, hence both signs: -g * P(later) - P(state).
        """
        assert self.potential is not None
        later = np.where(over, 0.0, self.potential(after))
        # As the discounts go: in a response only the opponent's reply completes a step.
        ratio = np.where(own & self.rules.response, 1.0, self.rules.gamma)
        return (-ratio * later - self.potential(states)).astype(np.float32)

    def _complete(
        self, states: Any, actions: Any, rewards: Any, after: Any, over: Any, begins: Any
    ) -> Transitions:
        span = self.rules.span
        slot = self.plies % span
        self._states[slot], self._actions[slot] = states, actions
        self._returns[slot], self._ages[slot] = 0.0, np.where(begins, 0, -1)
        running = self._ages >= 0
        self._returns += np.where(running, self._discounts[self._ages] * rewards, 0.0)
        self._ages[running] += 1
        done = running & ((self._ages == span) | over)
        self._ages[done] = -1
        _, game = np.nonzero(done)
        return Transitions(
            self._states[done],
            self._actions[done],
            self._returns[done],
            np.where(over[game], 0.0, self._discounts[span]).astype(np.float32),
            after[game],
        )

    def _note(self, rewards: Any, states: Any, over: Any) -> None:
        """How games ended for the learner's seat."""
        if over.any():
            mover = states[over, -1].astype(np.int64)
            results = rewards[over] * np.where(mover == self.seats[over], 1, -1)
            self.finished = (self.finished + results.astype(int).tolist())[-100:]

    def to_arrays(self) -> dict[str, Any]:
        """All of it, for a checkpoint."""
        return {
            "acting.games": self.states,
            "acting.states": self._states,
            "acting.actions": self._actions,
            "acting.returns": self._returns,
            "acting.ages": self._ages,
            "acting.counts": np.array([self.plies, *self.finished], np.int64),
        }

    def load_arrays(self, arrays: dict[str, Any]) -> None:
        """As it was."""
        self.states = arrays["acting.games"].copy()
        self._states[:], self._actions[:] = arrays["acting.states"], arrays["acting.actions"]
        self._returns[:], self._ages[:] = arrays["acting.returns"], arrays["acting.ages"]
        self.plies, *self.finished = arrays["acting.counts"].tolist()


def masked_argmax(values: Any, legal: Any) -> Any:
    """The best legal action of every row, the first of equals."""
    return np.where(legal, values, -np.inf).argmax(1)


def random_policy(rng: np.random.Generator) -> Policy:
    """Every legal move with the same chance."""
    return lambda _states, legal: (rng.random(legal.shape) * legal).argmax(1)
