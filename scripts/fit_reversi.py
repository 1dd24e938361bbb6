"""Fit the pattern weights of Reversi to self-play games and write games/reversi/patterns.npy.

Usage: python scripts/fit_reversi.py GAMES [SEED] [--plain] [--more FILE …]
           [--keep FILE] [--out FILE]

A game starts with random moves and continues with a shallow search and some noise. The search uses
the current weights or, with `--plain` (for the first round), the evaluation of the other board
sizes. Positions with 14 empties or fewer are labelled with their exact score, and all earlier
positions of a game with the first of these scores. The weights are fitted to the labels by ridge
regression with conjugate gradients; a tenth of the games is held out. `--keep` saves the positions,
and `--more` adds saved positions to those of this run.

The shipped weights come from a draft of this script, which played 6,000 games with `--plain` and
5,000 with the weights fitted to those games, and fitted all 551,924 positions together; the weights
explain 0.44 of the variance of held-out scores. The draft solved positions with 14, 13, 12, 10 and
8 empties; this script solves positions with 14 to 8 empties, and its weights from 1,500 games with
`--plain` explain 0.42. These commands repeat the draft's procedure, but have not been run in full:

    python scripts/fit_reversi.py 6000 1 --plain --keep first.npz
    python scripts/fit_reversi.py 5000 2 --more first.npz
"""

import argparse
from pathlib import Path
from typing import Any

import numpy as np

from zermelo.games.reversi import patterns
from zermelo.games.reversi.endgame import ReversiHooks
from zermelo.games.reversi.rules import Reversi
from zermelo.search.limits import SearchClock
from zermelo.search.negamax.searcher import NegamaxSearcher

_DEPTH = 3  # plies of search in self-play
_NOISE = 1.0  # standard deviation of the noise on scores, in discs
_RANDOM_PLIES = (4, 15)  # range of the number of random plies at the start of a game
_MAX_SOLVED, _MIN_SOLVED = 14, 8  # numbers of empties at which positions are solved
_BATCH = 50_000
_RIDGE, _ITERATIONS = 10.0, 30


def play_games(hooks: ReversiHooks, games: int, rng: Any) -> list[list[Any]]:
    """Return the states of each game up to its end, or until few empties are left."""
    game = hooks.game
    searcher = NegamaxSearcher(hooks, table_bits=16, symmetry=False)
    begins = rng.integers(*_RANDOM_PLIES, size=games)
    states, lines = [game.initial()] * games, [[] for _ in range(games)]
    running, ply = list(range(games)), 0
    while running:
        thinking = [number for number in running if ply >= begins[number]]
        chosen = {}
        if thinking:
            roots = np.array([states[number] for number in thinking], np.uint64)
            scores = searcher.look_ahead_batch(roots, _DEPTH) * 1.0
            noisy = scores + rng.normal(0, _NOISE, scores.shape)
            chosen = dict(zip(thinking, noisy.argmax(1), strict=True))
        for number in running:
            state = states[number]
            action = chosen[number] if number in chosen else rng.choice(game.actions(state))
            states[number] = game.play(state, int(action))
            lines[number].append(states[number])
        ply += 1
        running = [
            n for n in running if _empties(states[n]) >= _MIN_SOLVED and game.actions(states[n])
        ]
    return lines


def _empties(state: Any) -> int:
    return patterns.SIDE**2 - (state[0] | state[1]).bit_count()


def label_states(hooks: ReversiHooks, lines: list[list[Any]]) -> tuple[Any, Any, Any]:
    """Return the states [row, word], their scores, and the number of each state's game."""
    game = hooks.game
    solver = NegamaxSearcher(hooks, table_bits=20, symmetry=False)
    late = [
        (number, state)
        for number, line in enumerate(lines)
        for state in line
        if _empties(state) <= _MAX_SOLVED and game.actions(state)
    ]
    exact: list[int] = []
    for begin in range(0, len(late), _BATCH):
        batch = [state for _, state in late[begin : begin + _BATCH]]
        exact += solver.solve_batch(batch, SearchClock())
    rows = [(state, score, number) for (number, state), score in zip(late, exact, strict=True)]
    first = {number: (state[2], score) for state, score, number in reversed(rows)}
    for number, (player, score) in first.items():
        early = [state for state in lines[number] if _empties(state) > _MAX_SOLVED]
        rows += [(s, score if s[2] == player else -score, number) for s in early]
    states, scores, numbers = zip(*rows, strict=True)
    return np.array(states, np.uint64), np.array(scores, np.float32), np.array(numbers)


class LinearModel:
    """The linear evaluation of a set of states as a sparse matrix, and its least-squares fit."""

    def __init__(self, game: Reversi, states: Any) -> None:
        cells = np.arange(patterns.SIDE**2, dtype=np.uint64)
        mine, theirs = (states[:, side, None] >> cells & np.uint64(1) for side in (0, 1))
        board = (mine + 2 * theirs).astype(np.int32)  # [state, cell]
        number, sign = patterns.weight_classes()
        self.number, self.sign, start = [], [], 0
        for family in patterns.list_families():
            powers = 3 ** np.arange(len(family[0]))
            for pattern in family:
                place = start + board[:, pattern] @ powers
                self.number.append(number[place].astype(np.int32))
                self.sign.append(sign[place].astype(np.float32))
            start += 3 ** len(family[0])
        self.number = np.stack(self.number, 1)  # [state, pattern]
        self.sign = np.stack(self.sign, 1)
        self.size = int(number.max()) + 1
        moves = [
            game.mobility(m, t).bit_count() - game.mobility(t, m).bit_count()
            for m, t, _ in states.tolist()
        ]
        self.globals = np.stack([np.array(moves), np.ones(len(moves))], 1).astype(np.float32)
        discs, knots = (board > 0).sum(1), np.eye(len(patterns.KNOTS))
        shares = [np.interp(discs, patterns.KNOTS, knot) for knot in knots]
        self.share = np.stack(shares, 1).astype(np.float32)  # [state, knot]

    def select(self, rows: Any) -> "LinearModel":
        """Return the model restricted to some of its states."""
        model = object.__new__(LinearModel)
        model.size = self.size
        for name in ("number", "sign", "globals", "share"):
            setattr(model, name, getattr(self, name)[rows])
        return model

    def apply(self, weights: Any) -> Any:
        """Return the scores of all states under the weights [weight, knot]."""
        total = np.zeros(len(self.number), np.float32)
        for knot, column in enumerate(weights.T):
            scores = self.globals @ column[: patterns.NUM_GLOBAL]
            scores += (column[patterns.NUM_GLOBAL :][self.number] * self.sign).sum(1)
            total += self.share[:, knot] * scores
        return total

    def transpose(self, scores: Any) -> Any:
        """Return the transposed matrix times scores, as an array [weight, knot]."""
        columns = []
        for share in self.share.T:
            shared = scores * share
            signed = (self.sign * shared[:, None]).ravel()
            sums = np.bincount(self.number.ravel(), signed, self.size)
            columns.append(np.concatenate([self.globals.T @ shared, sums]))
        return np.stack(columns, 1).astype(np.float32)

    def fit(self, scores: Any) -> Any:
        """Return weights fitted to the scores by conjugate gradients with early stopping."""
        residual = self.transpose(scores)
        weights, direction = np.zeros_like(residual), residual.copy()
        for _ in range(_ITERATIONS):
            curvature = self.transpose(self.apply(direction)) + _RIDGE * direction
            norm = np.vdot(residual, residual)
            step = norm / np.vdot(direction, curvature)
            weights += step * direction
            residual -= step * curvature
            direction = residual + np.vdot(residual, residual) / norm * direction
        return weights


def count(text: str) -> int:
    """Parse a number of at least 0; argparse shows the name of this function in errors."""
    number = int(text)
    if number < 0:
        msg = f"{number} is below 0"
        raise argparse.ArgumentTypeError(msg)
    return number


def _read_positions(name: str) -> tuple[Any, Any, Any]:
    """Return the states, scores and games that `--keep` saved in a file."""
    try:
        with np.load(name) as file:
            states, scores, numbers = file.values()
    except (OSError, ValueError) as error:
        msg = f"{name} is not a file written by --keep: {error}"
        raise argparse.ArgumentTypeError(msg) from None
    return states, scores, numbers


def _output_path(name: str) -> Path:
    """Return the output path; check that it is usable before any game is played."""
    path = Path(name)
    if path.is_dir() or not path.parent.is_dir():
        msg = f"{name} is not a file in an existing folder"
        raise argparse.ArgumentTypeError(msg)
    return path


def main() -> None:
    """Play games, solve positions, fit the weights and write them."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("games", type=count)
    parser.add_argument("seed", type=count, nargs="?", default=1)
    parser.add_argument("--plain", action="store_true")
    parser.add_argument("--more", nargs="*", type=_read_positions, default=[])
    parser.add_argument("--keep", type=_output_path)
    parser.add_argument("--out", type=_output_path, default=patterns.FILE)
    options = parser.parse_args()
    game = Reversi()
    hooks = ReversiHooks(game) if options.plain else game.hooks
    parts = options.more
    if options.games:
        games = play_games(hooks, options.games, np.random.default_rng(options.seed))
        new = label_states(hooks, games)
        parts.append(new)
        if options.keep:
            with options.keep.open("wb") as file:
                np.savez(file, *new)
    if not parts:
        parser.error("there are no positions to fit: play GAMES, or add positions with --more")
    states, scores, numbers = (np.concatenate(column) for column in zip(*parts, strict=True))
    model, held = LinearModel(game, states), numbers % 10 == 0
    if options.out == patterns.FILE and len(states) < model.size:
        parser.error(
            f"{len(states):,} positions are too few for {model.size:,} weights at each knot: play "
            "more games, or keep the shipped weights by writing elsewhere with --out FILE"
        )
    if held.all() or not held.any():
        parser.error("a tenth of the games is held out: at least two games are needed")
    unit = patterns.WEIGHTS_PER_DISC
    weights = np.round(unit * model.select(~held).fit(scores[~held])).clip(-127, 127)
    errors = scores[held] - model.select(held).apply(weights / unit)
    with options.out.open("wb") as file:
        np.save(file, weights.astype(np.int8))
    explained = 1 - np.var(errors) / np.var(scores[held])
    print(f"{len(states):,} positions; the weights explain {explained:.2f} of held-out scores")


if __name__ == "__main__":
    main()
