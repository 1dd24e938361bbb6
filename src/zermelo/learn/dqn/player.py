"""Learned players, and the evaluator that a learned Q makes for Monte Carlo search. No torch."""

import time
from collections.abc import Iterator
from typing import Any

import numpy as np

from zermelo.core.bitboard import bits
from zermelo.core.game import Game, WordGame
from zermelo.core.player import Analysis, Candidate, Limit, Player
from zermelo.core.position import Position
from zermelo.learn.models.model import Model
from zermelo.search.mcts.evaluators import softmax


class DQNPlayer(Player):
    """Plays the action that its network, or table, values most.

    Without a run it takes the model that is shipped for the game. With a shell it first sees what
    needs no learning: it wins at once where it can, and leaves out moves that lose at once.
    """

    def __init__(self, run: str = "", shell: bool = False) -> None:  # noqa: FBT002 - by name, from a spec
        self.run, self.shell = run, shell
        given = [*([run] if run else []), *(["shell=true"] if shell else [])]
        self.name = f"dqn:{','.join(given)}" if given else "dqn"
        self._model: Model | None = None

    def fit(self, game: Game) -> Model:
        """Its model of a game; BadWeights where it has none."""
        if self._model is None or self._model.many.game != game:
            self._model = Model(self.run, game)
        return self._model

    def think(self, position: Position, limit: Limit) -> Iterator[Analysis]:
        """One answer, at once."""
        del limit
        begin = time.perf_counter()
        game = position.game
        model = self.fit(game)
        values = model.values(np.array([position.state], np.uint64))[0]
        best = self._best(model, position, values)
        ranked = sorted(position.actions, key=lambda a: (a != best, -values[a]))
        candidates = [
            Candidate(
                move := game.to_text(action),
                estimate=float(np.clip(values[action], -1, 1)),
                best=action == best,
                pv=(move,),
            )
            for action in ranked
        ]
        seconds = time.perf_counter() - begin
        yield Analysis.led_by(candidates, nodes=1, seconds=seconds, source="dqn")

    def _best(self, model: Model, position: Position, values: Any) -> int:
        opening = model.opening.get(position.state)
        if opening is not None:
            return opening
        game, actions = position.game, position.actions
        if self.shell and isinstance(game, WordGame):
            actions = _sensible(game, position)
        return max(actions, key=lambda action: values[action])


def _sensible(game: WordGame, position: Position) -> list[int]:
    """A move that wins at once, else those that do not lose at once or at the next move."""
    for action in position.actions:
        over, value = game.result(game.play(position.state, action))
        if over and value < 0:
            return [action]
    known, _score, moves = game.quick(position.state)
    if known:
        return position.actions
    return [game.action_at(index) for index in bits(moves)] or position.actions


class DQNEvaluator:
    """A learned Q as a judge of leaves: the best is the state's value, all of them the priors."""

    def __init__(self, run: str, game: Game) -> None:
        self.model = Model(run, game)

    def __call__(self, roots: Any) -> tuple[Any, Any]:
        """(priors, values)."""
        legal = self.model.many.masks(roots)
        values = np.where(legal, self.model.values(roots), -np.inf)
        return softmax(values), np.clip(values.max(1), -1, 1).astype(np.float32)
