"""Puzzles: positions in which exactly one move provably wins in a given number of plies."""

import random
import threading
from dataclasses import dataclass
from typing import Any

from zermelo.core.bitboard import bits
from zermelo.core.errors import BadSpec, ZermeloError
from zermelo.core.game import WordGame
from zermelo.core.notation import show_value
from zermelo.core.player import Limit
from zermelo.core.position import Position
from zermelo.games import registry
from zermelo.games.registry import GameLike
from zermelo.search.limits import SearchClock, SearchStopped
from zermelo.search.solver.solver import Solver, SolverSettings

PLIES = (3, 5, 7, 9)
SECONDS = 5.0  #: time limit of the search for a puzzle
_MIN_MOVES = 3  # the minimum number of moves before a puzzle, and of empty cells in it
_MAX_NODES = 200_000  # positions that take more nodes to solve are skipped
_TABLE_BITS = 18


class NoPuzzle(ZermeloError):
    """Raised when no puzzle is found in time, or when the game has no puzzles."""


@dataclass(frozen=True)
class Puzzle:
    """A position that the side to move wins in `plies` plies, and only with one first move."""

    position: Position
    solution: str  #: the winning first move
    plies: int
    seed: int

    def to_dict(self) -> dict[str, Any]:
        """Return the fields of the JSON output, without the solution."""
        return {
            "game": self.position.game.spec,
            "moves": self.position.moves,
            "to_move": self.position.player,
            "plies": self.plies,
            "seed": self.seed,
        }

    def __repr__(self) -> str:
        """Return the position and the length of the win in angle brackets, not the solution."""
        return f"<puzzle in {self.position.describe()}: win in {self.plies} plies>"


def puzzle(
    game: GameLike,
    plies: int = 3,
    seed: int = 1,
    *,
    seconds: float = SECONDS,
    stop: threading.Event | None = None,
) -> Puzzle:
    """Find a puzzle by solving random positions; the same arguments give the same puzzle.

    Raise BadSpec if `plies` is not in PLIES, and NoPuzzle if no puzzle is found in time or before
    `stop` is set.

    >>> found = puzzle("connect4", plies=5, seed=2)
    >>> import zermelo as z
    >>> z.solve(found.position).plies, z.solve(found.position).best == (found.solution,)
    (5, True)
    """
    rules = registry.as_game(game)
    if plies not in PLIES:
        is_even = isinstance(plies, int) and plies % 2 == 0
        parity = "even" if is_even else "not available"
        msg = f"plies is {show_value(plies)}, which is {parity}: it must be 3, 5, 7 or 9"
        raise BadSpec(msg)
    if not isinstance(rules, WordGame) or rules.hooks.ply_cost == 0 or rules.grid is None:
        msg = f"there are no puzzles for {rules.spec}: puzzles need a line game of up to 64 cells"
        raise NoPuzzle(msg)
    rng = random.Random(f"{rules.spec} {plies} {seed}")
    solver = Solver(rules, SolverSettings(table_bits=_TABLE_BITS))
    clock = SearchClock()
    while clock.seconds < min(seconds, SECONDS) and plies <= rules.grid.size - _MIN_MOVES:
        if stop is not None and stop.is_set():
            break
        position = _random_position(rules, rng)
        action = None if position is None else _only_win(solver, position.state, plies)
        if position is not None and action is not None:
            return Puzzle(position, position.to_move_text(action), plies, seed)
    msg = f"no win in {plies} plies was found in {rules.spec}: try another length"
    raise NoPuzzle(msg)


def _random_position(game: WordGame, rng: random.Random) -> Position | None:
    """Play random moves without immediate blunders; return None if the game ends too early."""
    assert game.grid is not None
    position = game.start()
    for _ in range(rng.randrange(_MIN_MOVES, max(_MIN_MOVES + 1, game.grid.size - _MIN_MOVES))):
        known, _, moves = game.hooks.resolve(position.state)
        if known or not moves:
            return None
        position = position.play_action(game.hooks.to_action(rng.choice(bits(moves))))
    return None if position.is_over else position


def _only_win(solver: Solver, state: Any, plies: int) -> int | None:
    """Return the only action that wins in `plies` plies if no action wins faster, else None."""
    score = solver.hooks.win_score - plies
    clock = SearchClock(Limit(nodes=_MAX_NODES))
    try:
        if not solver.is_above(state, score - 1, clock) or solver.is_above(state, score, clock):
            return None
        best = solver.best_actions(state, score, clock)
    except SearchStopped:
        return None
    return best[0] if len(best) == 1 else None
