"""Fit the weights of the line games' heuristic to exact values.

Usage: python scripts/fit.py squava …

Positions are drawn from random games that avoid plain blunders, solved to win, draw or loss, and a
logistic model of the value is fitted to their features. Prints weights for games/fitted.py and
how often their sign is right on positions that were held out, beside a guess by line counts alone.
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

_POSITIONS = 4000
_NODES = 100_000  # a position that takes more to solve is left out


def sample(game: WordLineGame, rng: random.Random) -> Any:
    """A state of a random game without plain blunders that `resolve` does not settle."""
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
    """The side to move's advantage in each feature, after a 1 for the move itself."""
    mine, theirs, player = state
    own, other = game.hooks.features(mine, theirs, player), game.hooks.features(theirs, mine, player ^ 1)
    return [1, *(a - b for a, b in zip(own, other, strict=True))]


def fit(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Logistic regression of values in [0, 1] by Newton's method, lightly held to 0."""
    weights = np.zeros(x.shape[1])
    for _ in range(30):
        p = 1 / (1 + np.exp(-2 * x @ weights))
        gradient = 2 * x.T @ (y - p) - 0.1 * weights
        curvature = 4 * (x * (p * (1 - p))[:, None]).T @ x + 0.1 * np.eye(x.shape[1])
        weights += np.linalg.solve(curvature, gradient)
    return weights


def fit_reversi(spec: str) -> None:
    """Least squares on the disc difference, with 10 to 14 cells left."""
    game = z.game(spec)
    assert isinstance(game, Reversi)
    solver, rng = Solver(game), random.Random(1)
    rows, diffs = [], []
    while len(rows) < _POSITIONS // 2:
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


def main(spec: str) -> None:
    """One game."""
    game = z.game(spec)
    if isinstance(game, Reversi):
        fit_reversi(spec)
        return
    assert isinstance(game, WordLineGame)
    solver, rng = Solver(game), random.Random(1)
    rows, values = [], []
    while len(rows) < _POSITIONS:
        state = sample(game, rng)
        try:
            sign = solver.sign(state, SearchClock(Limit(nodes=_NODES)))
        except SearchStopped:
            continue
        rows.append(features(game, state))
        values.append((1 + sign) / 2)
    x, y = np.array(rows, float), np.array(values)
    half = len(x) // 2
    weights = fit(x[:half], y[:half])
    decided = y[half:] != 0.5
    right = np.mean(((x[half:] @ weights) > 0)[decided] == (y[half:] > 0.5)[decided])
    lines = np.mean(((x[half:, 1:4].sum(1)) > 0)[decided] == (y[half:] > 0.5)[decided])
    print(f'    "{spec}": {tuple(int(w) for w in np.round(1000 * fit(x, y)))},')
    print(
        f"    # sign right {right:.3f}, by line counts {lines:.3f}, draws {np.mean(~decided):.2f}"
    )


if __name__ == "__main__":
    for name in sys.argv[1:]:
        main(name)
