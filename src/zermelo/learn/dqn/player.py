"""A player and an MCTS evaluator that use a learned Q function; neither needs torch."""

import time
from collections.abc import Iterator

import numpy as np

from zermelo.core.bitboard import bits
from zermelo.core.game import Game, WordGame
from zermelo.core.player import Analysis, Candidate, Limit, Player
from zermelo.core.position import Position
from zermelo.learn.models.q_model import QModel
from zermelo.search.mcts.evaluators import policy_from_values


class DQNPlayer(Player):
    """Plays the action with the highest Q value, according to a network or a table.

    Without a run, it uses the model that is shipped for the game. With `shell`, two rules override
    the Q values: it plays a move that wins immediately, and avoids moves after which the opponent
    wins immediately.
    """

    def __init__(self, run: str = "", shell: bool = False) -> None:  # noqa: FBT002 - by name, from a spec
        self.run, self.shell = run, shell
        options = [*([run] if run else []), *(["shell=true"] if shell else [])]
        self.name = f"dqn:{','.join(options)}" if options else "dqn"
        self._model: QModel | None = None

    def prepare(self, game: Game) -> QModel:
        """Load the model for a game; raise BadWeights if no model fits."""
        if self._model is None or self._model.game_batch.game != game:
            self._model = QModel(self.run, game)
        return self._model

    def think(self, position: Position, limit: Limit) -> Iterator[Analysis]:
        """Yield one analysis; the limit is ignored."""
        del limit
        begin = time.perf_counter()
        game = position.game
        model = self.prepare(game)
        values = model.values(np.array([position.state], np.uint64))[0]
        best = self._best_action(model, position, values)
        ranked = sorted(position.actions, key=lambda a: (a != best, -values[a]))
        candidates = [
            Candidate(
                move := position.to_move_text(action),
                estimate=float(np.clip(values[action], -1, 1)),
                best=action == best,
                pv=(move,),
            )
            for action in ranked
        ]
        seconds = time.perf_counter() - begin
        yield Analysis.from_candidates(candidates, nodes=1, seconds=seconds, source="dqn")

    def _best_action(self, model: QModel, position: Position, values: np.ndarray) -> int:
        opening = model.opening.get(position.state)
        if opening is not None:
            return opening
        game, actions = position.game, position.actions
        if self.shell and isinstance(game, WordGame):
            actions = _safe_actions(game, position)
        return max(actions, key=lambda action: values[action])


def _safe_actions(game: WordGame, position: Position) -> list[int]:
    """Return a winning move if there is one, else the moves that do not lose within two plies."""
    for action in position.actions:
        over, value = game.result(game.play(position.state, action))
        if over and value < 0:
            return [action]
    known, _score, moves = game.hooks.resolve(position.state)
    if known:
        return position.actions
    return [game.hooks.to_action(index) for index in bits(moves)] or position.actions


class DQNEvaluator:
    """Evaluates MCTS leaves by Q values: the highest is the value; all of them give the priors."""

    def __init__(self, run: str, game: Game) -> None:
        self.model = QModel(run, game)

    def __call__(self, states: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the priors [state, action] and the values [state] of the states."""
        legal = self.model.game_batch.legal_masks(states)
        values = np.where(legal, self.model.values(states), -np.inf)
        return policy_from_values(values), np.clip(values.max(1), -1, 1).astype(np.float32)
