"""Evaluators, which replace random playouts at the leaves of Monte Carlo tree search."""

import importlib
from typing import TYPE_CHECKING, Any

import numpy as np

from zermelo.core import specs
from zermelo.core.errors import BadSpec
from zermelo.core.game import BoardGame, Game, SolverHooks, WordGame
from zermelo.kernels.compiler import compile_kernel
from zermelo.kernels.registry import kernel
from zermelo.search.mcts.tree import Evaluator

if TYPE_CHECKING:
    from numpy.typing import NDArray

TEMPERATURE = 0.25  # the softmax temperature that turns the values of moves into priors
#: name → "module:function"; called with the text after the first colon of the spec, and the game
_FACTORIES = {
    "heuristic": "zermelo.search.mcts.evaluators:HeuristicEvaluator",
    "dqn": "zermelo.learn.dqn.player:DQNEvaluator",
}


def load_evaluator(spec: str, game: Game) -> Evaluator:
    """Return the evaluator with this spec for a game."""
    name, _, argument = spec.partition(":")
    if name not in _FACTORIES:
        specs.raise_unknown("evaluator", name, _FACTORIES)
    module, _, factory = _FACTORIES[name].partition(":")
    evaluator: Evaluator = getattr(importlib.import_module(module), factory)(argument, game)
    return evaluator


def policy_from_values(values: Any) -> "NDArray[Any]":
    """Return unnormalised priors [state, action], given the moves' values from -1 to 1."""
    policy: NDArray[Any] = np.exp((values - values.max(1, keepdims=True)) / TEMPERATURE)
    return policy.astype(np.float32)


class HeuristicEvaluator:
    """Evaluates states by the alpha-beta heuristic; the children's estimates give the priors.

    The heuristic is `SolverHooks.evaluate` in bitboard games, and `Game.evaluate` in games in plain
    Python.
    """

    def __init__(self, argument: str, game: Game) -> None:
        if argument:
            msg = f"the evaluator heuristic takes no argument, but was given {argument!r}"
            raise BadSpec(msg)
        if isinstance(game, BoardGame):
            msg = f"the evaluator heuristic needs a board of up to 64 cells, not {game.spec}"
            raise BadSpec(msg)
        self.game = game

    def __call__(self, roots: "NDArray[Any]") -> "tuple[NDArray[Any], NDArray[Any]]":
        """Return (policy, values) of a batch of states; see `Evaluator`."""
        policy: NDArray[Any] = np.zeros((len(roots), self.game.num_actions), np.float32)
        values: NDArray[Any] = np.zeros(len(roots), np.float32)
        if isinstance(self.game, WordGame):
            moves: NDArray[Any] = np.zeros(self.game.num_actions, np.int64)
            evaluate = compile_kernel(evaluate_batch, self.game.hooks)
            evaluate(float(self.game.hooks.estimate_scale), roots, moves, policy, values)
        else:
            for row, (state,) in enumerate(roots):
                values[row] = self.game.evaluate(state)
                for action in self.game.actions(state):
                    policy[row, action] = np.exp(self._value_after(state, action) / TEMPERATURE)
        return policy, values

    def _value_after(self, state: Any, action: int) -> float:
        """Return the result or the estimate after an action, for the side that plays it."""
        child = self.game.play(state, action)
        over, result = self.game.result(child)
        value = float(result) if over else float(self.game.evaluate(child))
        return float(self.game.turn_sign(state, child)) * value


@kernel("float64, uint64[:,::1], int64[::1], float32[:,::1], float32[::1]", common=False)
def evaluate_batch(
    game: SolverHooks,
    estimate_scale: Any,
    roots: Any,  # [state, word]
    moves: Any,
    policy: Any,  # [state, action]
    values: Any,  # [state]
) -> Any:
    """Write the estimate of every state, from -1 to 1, and the priors of its moves."""
    for row in range(len(roots)):
        state = game.load(roots, row)
        values[row] = np.tanh(game.evaluate(state) / estimate_scale)
        for move in range(game.list_moves(state, moves)):
            child = game.play(state, moves[move])
            over, result = game.result(child)
            value = float(result) if over else np.tanh(game.evaluate(child) / estimate_scale)
            value = game.turn_sign(state, child) * value
            policy[row, moves[move]] = np.exp(value / TEMPERATURE)
