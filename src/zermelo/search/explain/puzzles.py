"""Puzzles: positions where one move alone wins in so many plies; proven, not guessed."""

import random
from dataclasses import dataclass
from typing import Any

from zermelo.core.bitboard import bits
from zermelo.core.errors import ZermeloError
from zermelo.core.game import WordGame
from zermelo.core.player import Limit
from zermelo.core.position import Position
from zermelo.search.limits import Clock, Stopped
from zermelo.search.solver.solver import Settings, Solver

PLIES = (3, 5, 7, 9)
_LEAST = 3  # moves before a puzzle
_SECONDS = 5.0
_NODES = 200_000  # a position that takes more is left for another


class NoPuzzle(ZermeloError):
    """None was found, or the game has none."""


@dataclass(frozen=True)
class Puzzle:
    """The side to move wins in `plies`, with one first move only."""

    position: Position
    plies: int
    seed: int


def make(game: Any, plies: int, seed: int, seconds: float = _SECONDS) -> Puzzle:
    """The same puzzle for the same game, plies and seed."""
    seconds = min(seconds, _SECONDS)
    if not isinstance(game, WordGame) or game.ply_cost == 0 or game.grid is None:
        msg = f"there are no puzzles of {game.spec}: it takes a line game of up to 64 cells"
        raise NoPuzzle(msg)
    rng = random.Random(f"{game.spec} {plies} {seed}")
    solver = Solver(game, Settings(table_bits=18))
    clock = Clock()
    while clock.seconds < seconds and plies <= game.grid.size - _LEAST:
        position = _wander(game, rng)
        if position is not None and _fits(solver, position, plies):
            return Puzzle(position, plies, seed)
    msg = f"no win in {plies} plies was found in {game.spec}: try another length"
    raise NoPuzzle(msg)


def _wander(game: WordGame, rng: random.Random) -> Position | None:
    """A random game without plain blunders, stopped somewhere; None if it was over by then."""
    assert game.grid is not None
    position = game.start()
    for _ in range(rng.randrange(_LEAST, max(_LEAST + 1, game.grid.size - _LEAST))):
        known, _, moves = game.quick(position.state)
        if known or not moves:
            return None
        position = position.play_action(game.action_at(rng.choice(bits(moves))))
    return None if position.is_over else position


def _fits(solver: Solver, position: Position, plies: int) -> bool:
    """A win in exactly `plies`, by one move; every other move takes longer or does not win."""
    state, score = position.state, solver.game.far - plies
    clock = Clock(Limit(nodes=_NODES))
    try:
        if not solver.is_above(state, score - 1, clock) or solver.is_above(state, score, clock):
            return False
        return len(solver.best(state, score, clock)) == 1
    except Stopped:
        return False
