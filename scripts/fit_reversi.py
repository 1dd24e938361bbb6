"""Fit the patterns of Reversi to games of our own and write games/patterns.npy.

Usage: python scripts/fit_reversi.py GAMES [SEED] [--plain] [--more FILE …]
           [--keep FILE] [--out FILE]

Games begin at random and go on by a short search with the weights in place, or with the plain
evaluation of other sizes (`--plain`: the first time), and some noise. From 14 cells left on a
position is labelled by its exact score; every earlier one of its game by the first of those. A
ridge regression on that score, by conjugate gradients, gives the weights; a tenth of the games is
held out. `--keep` writes the positions down, `--more` adds such files to those of this run.

The shipped weights come from a draft of this: 6,000 games with `--plain` and 5,000 with the weights
of those, fitted together, 551,924 positions; of the scores held out they explain 0.44. The draft
solved positions with 14, 13, 12, 10 and 8 cells left, this script all from 14 to 8; with 1,500
games of `--plain` its weights explain 0.42. To do the same, which it has not done in full:

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
from zermelo.search.negamax.runner import Runner

_PLIES = 3  # looked ahead in play
_NOISE = 1.0  # discs
_RANDOM = (4, 15)  # plies that a game begins with
_EXACT, _LEAST = 14, 8  # cells left
_BATCH = 50_000
_RIDGE, _STEPS = 10.0, 30


def played(hooks: ReversiHooks, games: int, rng: Any) -> list[list[Any]]:
    """The states of each game, until a few cells are left."""
    game = hooks.game
    runner = Runner(hooks, table_bits=16, symmetry=False)
    begins = rng.integers(*_RANDOM, size=games)
    states, lines = [game.initial()] * games, [[] for _ in range(games)]
    running, ply = list(range(games)), 0
    while running:
        thinking = [number for number in running if ply >= begins[number]]
        chosen = {}
        if thinking:
            roots = np.array([states[number] for number in thinking], np.uint64)
            scores = runner.look_each(roots, _PLIES) * 1.0
            noisy = scores + rng.normal(0, _NOISE, scores.shape)
            chosen = dict(zip(thinking, noisy.argmax(1), strict=True))
        for number in running:
            state = states[number]
            action = chosen[number] if number in chosen else rng.choice(game.actions(state))
            states[number] = game.play(state, int(action))
            lines[number].append(states[number])
        ply += 1
        running = [n for n in running if _left(states[n]) >= _LEAST and game.actions(states[n])]
    return lines


def _left(state: Any) -> int:
    return patterns.SIDE**2 - (state[0] | state[1]).bit_count()


def labelled(hooks: ReversiHooks, lines: list[list[Any]]) -> tuple[Any, Any, Any]:
    """States [row, word], their scores, and the number of their game."""
    game = hooks.game
    solver = Runner(hooks, table_bits=20, symmetry=False)
    late = [
        (number, state)
        for number, line in enumerate(lines)
        for state in line
        if _left(state) <= _EXACT and game.actions(state)
    ]
    exact: list[int] = []
    for begin in range(0, len(late), _BATCH):
        batch = [state for _, state in late[begin : begin + _BATCH]]
        exact += solver.scores(batch, SearchClock())
    rows = [(state, score, number) for (number, state), score in zip(late, exact, strict=True)]
    first = {number: (state[2], score) for state, score, number in reversed(rows)}
    for number, (player, score) in first.items():
        early = [state for state in lines[number] if _left(state) > _EXACT]
        rows += [(s, score if s[2] == player else -score, number) for s in early]
    states, scores, numbers = zip(*rows, strict=True)
    return np.array(states, np.uint64), np.array(scores, np.float32), np.array(numbers)


class Model:
    """What a state has of each weight, and least squares on that."""

    def __init__(self, game: Reversi, states: Any) -> None:
        cells = np.arange(patterns.SIDE**2, dtype=np.uint64)
        mine, theirs = (states[:, side, None] >> cells & np.uint64(1) for side in (0, 1))
        board = (mine + 2 * theirs).astype(np.int32)  # [state, cell]
        number, sign = patterns.classes()
        self.at, self.sign, start = [], [], 0
        for lines in patterns.families():
            powers = 3 ** np.arange(len(lines[0]))
            for line in lines:
                place = start + board[:, line] @ powers
                self.at.append(number[place].astype(np.int32))
                self.sign.append(sign[place].astype(np.float32))
            start += 3 ** len(lines[0])
        self.at, self.sign = np.stack(self.at, 1), np.stack(self.sign, 1)  # [state, line]
        self.size = int(number.max()) + 1
        moves = [
            game.mobility(m, t).bit_count() - game.mobility(t, m).bit_count()
            for m, t, _ in states.tolist()
        ]
        self.plain = np.stack([np.array(moves), np.ones(len(moves))], 1).astype(np.float32)
        discs, knots = (board > 0).sum(1), np.eye(len(patterns.KNOTS))
        shares = [np.interp(discs, patterns.KNOTS, knot) for knot in knots]
        self.share = np.stack(shares, 1).astype(np.float32)  # [state, knot]

    def part(self, rows: Any) -> "Model":
        """Some of the states."""
        model = object.__new__(Model)
        model.size = self.size
        for name in ("at", "sign", "plain", "share"):
            setattr(model, name, getattr(self, name)[rows])
        return model

    def apply(self, weights: Any) -> Any:
        """Scores by weights [weight, knot]."""
        total = np.zeros(len(self.at), np.float32)
        for knot, column in enumerate(weights.T):
            worth = self.plain @ column[: patterns.NUM_PLAIN]
            worth += (column[patterns.NUM_PLAIN :][self.at] * self.sign).sum(1)
            total += self.share[:, knot] * worth
        return total

    def transpose(self, scores: Any) -> Any:
        """The other way round: what scores say about each weight."""
        columns = []
        for share in self.share.T:
            part = scores * share
            lines = (self.sign * part[:, None]).ravel()
            counted = np.bincount(self.at.ravel(), lines, self.size)
            columns.append(np.concatenate([self.plain.T @ part, counted]))
        return np.stack(columns, 1).astype(np.float32)

    def fit(self, scores: Any) -> Any:
        """Weights, by conjugate gradients that stop early."""
        rest = self.transpose(scores)
        weights, way = np.zeros_like(rest), rest.copy()
        for _ in range(_STEPS):
            curve = self.transpose(self.apply(way)) + _RIDGE * way
            size = np.vdot(rest, rest)
            step = size / np.vdot(way, curve)
            weights += step * way
            rest -= step * curve
            way = rest + np.vdot(rest, rest) / size * way
        return weights


def count(text: str) -> int:
    """A number from 0 on; argparse tells the function's name."""
    number = int(text)
    if number < 0:
        msg = f"{number} is below 0"
        raise argparse.ArgumentTypeError(msg)
    return number


def _kept(name: str) -> tuple[Any, Any, Any]:
    """What `--keep` wrote: states, scores, games."""
    try:
        with np.load(name) as file:
            states, scores, numbers = file.values()
    except (OSError, ValueError) as error:
        msg = f"{name} holds no positions of --keep: {error}"
        raise argparse.ArgumentTypeError(msg) from None
    return states, scores, numbers


def _target(name: str) -> Path:
    """Where a file can be written, known before the games are played."""
    path = Path(name)
    if path.is_dir() or not path.parent.is_dir():
        msg = f"{name} is no file in a folder that is there"
        raise argparse.ArgumentTypeError(msg)
    return path


def main() -> None:
    """Play, solve, fit, write."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("games", type=count)
    parser.add_argument("seed", type=count, nargs="?", default=1)
    parser.add_argument("--plain", action="store_true")
    parser.add_argument("--more", nargs="*", type=_kept, default=[])
    parser.add_argument("--keep", type=_target)
    parser.add_argument("--out", type=_target, default=patterns.FILE)
    asked = parser.parse_args()
    game = Reversi()
    hooks = ReversiHooks(game) if asked.plain else game.hooks
    parts = asked.more
    if asked.games:
        new = labelled(hooks, played(hooks, asked.games, np.random.default_rng(asked.seed)))
        parts.append(new)
        if asked.keep:
            with asked.keep.open("wb") as file:
                np.savez(file, *new)
    if not parts:
        parser.error("there is nothing to fit to: play GAMES, or name positions with --more")
    states, scores, numbers = (np.concatenate(column) for column in zip(*parts, strict=True))
    model, held = Model(game, states), numbers % 10 == 0
    if asked.out == patterns.FILE and len(states) < model.size:
        parser.error(
            f"{len(states):,} positions are few for {model.size:,} weights at each number of "
            "discs: play more games, or leave the shipped weights alone with --out FILE"
        )
    if held.all() or not held.any():
        parser.error("a tenth of the games is held out: two are needed at least")
    weights = np.round(patterns.UNIT * model.part(~held).fit(scores[~held])).clip(-127, 127)
    off = scores[held] - model.part(held).apply(weights / patterns.UNIT)
    with asked.out.open("wb") as file:
        np.save(file, weights.astype(np.int8))
    explained = 1 - np.var(off) / np.var(scores[held])
    print(f"{len(states):,} positions; of those held out the weights explain {explained:.2f}")


if __name__ == "__main__":
    main()
