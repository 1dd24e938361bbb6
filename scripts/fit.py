"""Fit the weights of the heuristics of line games and of small Reversi boards to exact values.

Usage: python scripts/fit.py squava …

For a line game, positions are sampled from random games without obvious blunders and solved to win,
draw or loss, and a logistic model of the value is fitted to their features. The script prints
weights for games/lines/heuristic.py, and the share of held-out positions for which the estimate has
the right sign, compared with line counts alone. For Reversi it fits the disc difference by least
squares.
"""

import random
import sys
from typing import Any

import numpy as np

import zermelo as z
from zermelo.core.bitboard import bits
from zermelo.core.player import Limit
from zermelo.games.lines.small import WordLineGame
from zermelo.games.reversi.rules import Reversi
from zermelo.search.limits import SearchClock, SearchStopped
from zermelo.search.solver.solver import Solver

_NUM_POSITIONS = 4000
_MAX_NODES = 100_000  # positions that take more nodes to solve are skipped


def sample_state(game: WordLineGame, rng: random.Random) -> Any:
    """Return a state not decided by `resolve`, from a random game without obvious blunders."""
    while True:
        state = game.initial()
        for _ in range(rng.randrange(game.grid.size // 4, game.grid.size - 4)):
            known, _, moves = game.hooks.resolve(state)
            if known or not moves:
                break
            state = game.hooks.play_index(state, rng.choice(bits(moves)))
        if not game.hooks.resolve(state)[0]:
            return state


def features(game: WordLineGame, state: Any) -> list[int]:
    """Return the inputs of the model: a constant 1, then the mover's advantage in each feature."""
    mine, theirs, player = state
    own = game.hooks.features(mine, theirs, player)
    other = game.hooks.features(theirs, mine, player ^ 1)
    return [1, *(a - b for a, b in zip(own, other, strict=True))]


def fit_logistic(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return the weights of a logistic regression, fitted by Newton's method with an L2 penalty.

    `x`: features [row, feature]; `y`: values in [0, 1].
    """
    weights = np.zeros(x.shape[1])
    for _ in range(30):
        p = 1 / (1 + np.exp(-2 * x @ weights))
        gradient = 2 * x.T @ (y - p) - 0.1 * weights
        curvature = 4 * (x * (p * (1 - p))[:, None]).T @ x + 0.1 * np.eye(x.shape[1])
        weights += np.linalg.solve(curvature, gradient)
    return weights


def fit_reversi(spec: str) -> None:
    """Fit the disc difference of positions with 10 to 14 empties by least squares."""
    game = z.game(spec)
    assert isinstance(game, Reversi)
    solver, rng = Solver(game), random.Random(1)
    rows, diffs = [], []
    while len(rows) < _NUM_POSITIONS // 2:
        state, free = game.initial(), rng.randrange(10, 15)
        while not game.result(state)[0] and (state[0] | state[1]).bit_count() < game.cells - free:
            state = game.play(state, rng.choice(game.actions(state)))
        if game.result(state)[0]:
            continue
        own, other = game.hooks.features(*state[:2]), game.hooks.features(state[1], state[0])
        rows.append([a - b for a, b in zip(own, other, strict=True)])
        diffs.append(solver.score(state))
    x, y = np.array(rows, float), np.array(diffs, float)
    weights, *_ = np.linalg.lstsq(x, y, rcond=None)
    explained = 1 - np.var(y - x @ weights) / np.var(y)
    print(f"{spec}: {tuple(int(w) for w in np.round(16 * weights))}, explains {explained:.2f}")


def fit_line_game(spec: str) -> None:
    """Fit the values of solved positions by logistic regression."""
    game = z.game(spec)
    assert isinstance(game, WordLineGame)
    solver, rng = Solver(game), random.Random(1)
    rows, values = [], []
    while len(rows) < _NUM_POSITIONS:
        state = sample_state(game, rng)
        try:
            sign = solver.sign(state, SearchClock(Limit(nodes=_MAX_NODES)))
        except SearchStopped:
            continue
        rows.append(features(game, state))
        values.append((1 + sign) / 2)
    x, y = np.array(rows, float), np.array(values)
    half = len(x) // 2
    weights = fit_logistic(x[:half], y[:half])
    decided = y[half:] != 0.5
    accuracy = np.mean(((x[half:] @ weights) > 0)[decided] == (y[half:] > 0.5)[decided])
    baseline = np.mean(((x[half:, 1:4].sum(1)) > 0)[decided] == (y[half:] > 0.5)[decided])
    print(f'    "{spec}": {tuple(int(w) for w in np.round(1000 * fit_logistic(x, y)))},')
    print(
        f"    # sign accuracy {accuracy:.3f}, with line counts alone {baseline:.3f}, "
        f"draws {np.mean(~decided):.2f}"
    )


if __name__ == "__main__":
    for name in sys.argv[1:]:
        if isinstance(z.game(name), Reversi):
            fit_reversi(name)
        else:
            fit_line_game(name)
