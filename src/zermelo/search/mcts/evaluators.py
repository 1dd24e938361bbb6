"""Evaluators: what can judge the leaves of Monte Carlo search in place of random games."""

import importlib
from typing import TYPE_CHECKING, Any

import numpy as np

from zermelo.core import specs
from zermelo.core.errors import BadSpec
from zermelo.core.game import Game, SolverHooks, WordGame
from zermelo.kernels import compiled, kernel
from zermelo.search.mcts.tree import Evaluator

if TYPE_CHECKING:
    from numpy.typing import NDArray

TEMPERATURE = 0.25  # of a prior: moves that look this much better are e times as promising
#: name → "module:function", called with what follows the name's colon and the game
_FACTORIES = {
    "heuristic": "zermelo.search.mcts.evaluators:Heuristic",
    "dqn": "zermelo.learn.dqn.player:DQNEvaluator",
}


def make(spec: str, game: Game) -> Evaluator:
    """The evaluator that a spec names, for a game."""
    name, _, rest = spec.partition(":")
    if name not in _FACTORIES:
        specs.raise_unknown("evaluator", name, _FACTORIES)
    module, _, factory = _FACTORIES[name].partition(":")
    made: Evaluator = getattr(importlib.import_module(module), factory)(rest, game)
    return made


def softmax(worths: Any) -> "NDArray[Any]":
    """How promising moves are by what they seem worth, from -1 to 1: [row, action]."""
    shares: NDArray[Any] = np.exp((worths - worths.max(1, keepdims=True)) / TEMPERATURE)
    return shares.astype(np.float32)


class Heuristic:
    """The heuristic that alpha-beta uses: of the state, and of each move's for the priors."""

    def __init__(self, rest: str, game: Game) -> None:
        if rest:
            msg = f"evaluator heuristic takes nothing, not {rest!r}"
            raise BadSpec(msg)
        if not isinstance(game, WordGame):
            msg = f"evaluator heuristic is for games up to 64 cells, not for {game.spec}"
            raise BadSpec(msg)
        self.game = game

    def __call__(self, roots: "NDArray[Any]") -> "tuple[NDArray[Any], NDArray[Any]]":
        """By one kernel."""
        priors: NDArray[Any] = np.zeros((len(roots), self.game.num_actions), np.float32)
        values: NDArray[Any] = np.zeros(len(roots), np.float32)
        moves: NDArray[Any] = np.zeros(self.game.num_actions, np.int64)
        estimate = compiled(estimate_all, self.game.hooks)
        estimate(float(self.game.hooks.estimate_scale), roots, moves, priors, values)
        return priors, values


@kernel("float64, uint64[:,::1], int64[::1], float32[:,::1], float32[::1]", common=False)
def estimate_all(
    game: SolverHooks, unit: Any, roots: Any, moves: Any, priors: Any, values: Any
) -> Any:
    """Of every state the estimate, from -1 to 1, and e to the power of each move's."""
    for row in range(len(roots)):
        state = game.load(roots, row)
        values[row] = np.tanh(game.evaluate(state) / unit)
        for move in range(game.list_moves(state, moves)):
            child = game.play(state, moves[move])
            over, value = game.result(child)
            worth = -float(value) if over else -np.tanh(game.evaluate(child) / unit)
            priors[row, moves[move]] = np.exp(worth / TEMPERATURE)
