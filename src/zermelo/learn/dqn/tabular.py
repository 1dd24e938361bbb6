"""Q-learning without a network: a table of what every move of every state seems worth.

    Q(s, a) += rate * (return + factor * max over legal a' of Q(s', a') - Q(s, a))

with the same returns and factors as for networks. States enter the table when they are met.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from zermelo.core.game import WordGame
from zermelo.learn.batch.game_batch import Many
from zermelo.learn.dqn.selfplay import Acting, Policy, Source, masked_argmax
from zermelo.learn.networks.weights_file import BadWeights

if TYPE_CHECKING:
    from zermelo.learn.batch.replay import Transitions
    from zermelo.learn.config.recipes import Recipe
    from zermelo.learn.dqn.learner import Report
    from zermelo.learn.dqn.rollouts import Sent

KIND = "table"  #: in a file, where a network names its own


class Table:
    """States and their rows. What is not in it is worth 0."""

    def __init__(self, num_words: int, num_actions: int) -> None:
        self.states: Any = np.zeros((0, num_words), np.uint64)
        self.q: Any = np.zeros((0, num_actions), np.float32)
        self._rows: dict[bytes, int] = {}

    def load(self, states: Any, q: Any) -> None:
        """As it was; BadWeights for arrays that are no table."""
        fits = states.ndim == q.ndim == 2 and len(states) == len(q)
        fits = fits and states.dtype == self.states.dtype and q.dtype == self.q.dtype
        if not fits or states.shape[1] != self.states.shape[1] or q.shape[1] != self.q.shape[1]:
            msg = f"no table: states {list(states.shape)}, values {list(q.shape)}"
            raise BadWeights(msg)
        self.states, self.q = states.copy(), q.copy()
        self._rows = {state.tobytes(): row for row, state in enumerate(self.states)}

    def values(self, states: Any) -> Any:
        """[row, action], 0 for states that are not in it."""
        rows = np.array([self._rows.get(state.tobytes(), -1) for state in states], np.int64)
        found: Any = np.zeros((len(states), self.q.shape[1]), np.float32)
        found[rows >= 0] = self.q[rows[rows >= 0]]
        return found

    def rows(self, states: Any) -> Any:
        """Where states stand; new ones are added."""
        keys = [state.tobytes() for state in states]
        kept = []
        for at, key in enumerate(keys):
            if key not in self._rows:
                self._rows[key] = len(self._rows)
                kept.append(at)
        if kept:
            zeros = np.zeros((len(kept), self.q.shape[1]), np.float32)
            self.states = np.concatenate([self.states, states[kept]])
            self.q = np.concatenate([self.q, zeros])
        return np.array([self._rows[key] for key in keys], np.int64)


class Tabular:
    """A table in training. An update is a move in every game, and all that it completes."""

    def __init__(
        self,
        recipe: "Recipe",
        game: WordGame,
        rng: np.random.Generator,
        opponents: dict[str, Policy],
        sent: "Sent | None" = None,
    ) -> None:
        self.settings, self.many, self.rng = recipe.learning, Many(game), rng
        self.phase = recipe.learning.phases[0]
        self.opponent = opponents.get(self.phase.opponent)
        self.table = Table(game.num_words, game.num_actions)
        self.acting: Source = sent or Acting(self.many, recipe.acting, rng)
        self.updates = 0
        if sent is not None:
            sent.begin(lambda: self.exported()[0])

    def steps(self) -> Iterator["Report"]:
        """Play and learn."""
        from zermelo.learn.dqn.learner import Report

        while self.updates < self.settings.updates:
            done = self.updates / self.settings.updates
            epsilon, rate = self.phase.epsilon(done), self.settings.rate(done)
            self.acting.fade(done)
            complete = self.acting.step(self.choose, self.opponent, epsilon)
            errors = self._learn(complete, rate)
            self.updates += 1
            value = float(complete.returns.mean()) if len(errors) else 0.0
            loss = float(np.square(errors).mean()) if len(errors) else 0.0
            yield Report(self.updates, loss, value, epsilon, rate, self.acting.finished)

    def close(self) -> None:
        """Whoever plays for it goes home."""
        close = getattr(self.acting, "close", None)
        if close is not None:
            close()

    def choose(self, states: Any, legal: Any) -> Any:
        """The best action by the table."""
        return masked_argmax(self.values(states), legal)

    def _learn(self, found: "Transitions", rate: float) -> Any:
        """All transitions at once; where one comes twice, the last one counts."""
        states, turns = self._seen(found.states)
        actions = found.actions if turns is None else self.many.action_maps[turns, found.actions]
        rows = self.table.rows(states)
        later = np.where(self.many.masks(found.later), self.values(found.later), -np.inf).max(1)
        ends = found.factors == 0
        wanted = found.returns + np.where(ends, 0.0, found.factors * np.where(ends, 0.0, later))
        errors = wanted - self.table.q[rows, actions]
        self.table.q[rows, actions] += (rate * errors).astype(np.float32)
        return errors

    def _seen(self, states: Any) -> tuple[Any, Any]:
        return self.many.canonical(states) if self.settings.canonical else (states, None)

    def values(self, states: Any) -> Any:
        """By the table."""
        seen, turns = self._seen(states)
        found = self.table.values(seen)
        if turns is None:
            return found
        return np.take_along_axis(found, self.many.action_maps[turns], 1)

    def exported(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """The table itself."""
        return {"states": self.table.states, "values": self.table.q}, {"kind": KIND}

    def to_arrays(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """The table, the games in progress, and the dice."""
        arrays = {"table.states": self.table.states, "table.values": self.table.q}
        about = {"updates": self.updates, "dice": self.rng.bit_generator.state}
        return arrays | self.acting.to_arrays(), about

    def load_arrays(self, arrays: dict[str, Any], about: dict[str, Any]) -> None:
        """As it was."""
        self.table.load(arrays["table.states"], arrays["table.values"])
        self.acting.load_arrays(arrays)
        self.updates = int(about["updates"])
        self.rng.bit_generator.state = about["dice"]


class TablePlaying:
    """A table that plays for a crew."""

    def __init__(self, recipe: "Recipe", game: WordGame) -> None:
        self._own = Tabular(recipe, game, np.random.default_rng(0), {})
        self.many = self._own.many

    def load(self, weights: dict[str, Any], rng: np.random.Generator) -> None:
        """Take over what was learned."""
        del rng
        self._own.table.load(weights["states"], weights["values"])

    def policies(self) -> tuple[Policy, Policy | None]:
        """Its own; it has no older self."""
        return self._own.choose, None
