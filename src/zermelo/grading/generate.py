"""Generate positions sampled from random games and labelled with the exact value of every move.

The same seed gives the same set, because limits are numbers of nodes, never seconds.
"""

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from zermelo.core.bitboard import bits
from zermelo.core.errors import ZermeloError
from zermelo.core.game import Game, WordGame
from zermelo.core.player import Limit
from zermelo.core.position import Position
from zermelo.grading.oracle import SolverOracle
from zermelo.grading.position_sets import LabelledPosition
from zermelo.search.limits import SearchClock, SearchStopped
from zermelo.search.solver.solver import SolverSettings

_MAX_REJECTED = 5_000  # sampling ends after this many samples without a new position
_SETTINGS = SolverSettings(table_bits=20)


@dataclass(frozen=True)
class PositionFilter:
    """Criteria that a position must meet; a mistake must also be possible in it."""

    plies: tuple[int, int] = (0, 400)  #: range of the number of moves that lead to the position
    #: range of the number of plies to the end under best play; a draw lasts until the board is full
    distance: tuple[int, int] = (1, 400)
    max_preserving: int = 400  #: maximum number of value-preserving moves
    max_nodes: int = 10_000_000  #: node limit of the solver for one position


Progress = Callable[[int, int], None]  #: called with (positions accepted, positions examined)


def generate_positions(
    game: Game,
    number: int,
    *,
    seed: int = 1,
    accept: PositionFilter | None = None,
    progress: Progress | None = None,
) -> list[LabelledPosition]:
    """Return `number` labelled positions, no two of which are equal up to symmetry.

    Raise ZermeloError if too few are found, or if the solver does not support the game.

    >>> import zermelo as z
    >>> one, two = generate_positions(z.game("tictactoe"), 2, accept=PositionFilter(plies=(3, 4)))
    >>> one.position.moves != two.position.moves, one.move_values.allows_mistake
    (True, True)
    """
    if not isinstance(game, WordGame):
        msg = f"cannot solve {game.spec}: the solver supports boards of at most 64 cells"
        raise ZermeloError(msg)
    accept = accept or PositionFilter()
    oracle = SolverOracle(game, Limit(nodes=accept.max_nodes), _SETTINGS)
    positions: list[LabelledPosition] = []
    for num_examined, position in enumerate(_sample(game, accept.plies, random.Random(seed))):
        if progress:
            progress(len(positions), num_examined)
        labelled = _label(oracle, position, accept)
        positions += [labelled] if labelled else []
        if len(positions) == number:
            return positions
    msg = (
        f"found only {len(positions)} of {number} such positions of {game.spec}: "
        "ask for fewer, or widen the ranges"
    )
    raise ZermeloError(msg)


def _sample(game: WordGame, plies: tuple[int, int], rng: random.Random) -> Iterator[Position]:
    """Yield random positions, no two equal up to symmetry, until new ones become too rare."""
    seen: set[Any] = set()
    num_rejected = 0
    symmetries = game.symmetries()
    high = min(plies[1], game.hooks.max_plies(game.initial()) - 1)
    while num_rejected < _MAX_REJECTED and plies[0] <= high:
        # random() is the only method whose sequence is stable across Python versions.
        length = plies[0] + int(rng.random() * (high - plies[0] + 1))
        position = _play_random_moves(game, length, rng)
        num_rejected += 1
        if position is None:
            continue
        canonical = min(
            (game.transform(position.state, s) for s in symmetries), default=position.state
        )
        if canonical not in seen:
            seen.add(canonical)
            num_rejected = 0
            yield position


def _play_random_moves(game: WordGame, length: int, rng: random.Random) -> Position | None:
    """Return the position after `length` random moves, or None if the game ends earlier.

    Moves avoid immediate blunders with a probability that is sampled for each game.
    """
    position = game.start()
    care = rng.random()
    for _ in range(length):
        known, _, moves = game.hooks.resolve(position.state)
        actions = [game.hooks.to_action(bit) for bit in bits(moves)] if not known else []
        if not actions or rng.random() > care:
            actions = position.actions
        if not actions:
            return None
        position = position.play_action(actions[int(rng.random() * len(actions))])
    return None if position.is_over else position


def _label(
    oracle: SolverOracle, position: Position, accept: PositionFilter
) -> LabelledPosition | None:
    """Label a position; return None if it is not accepted or takes too many nodes to solve."""
    try:
        if not _has_distance(oracle, position.state, accept):
            return None
    except SearchStopped:
        return None
    values = oracle.evaluate_moves(position.state)
    if values is None or not values.allows_mistake:
        return None
    if len(values.value_preserving) > accept.max_preserving:
        return None
    return LabelledPosition(position, values)


def _has_distance(oracle: SolverOracle, state: Any, accept: PositionFilter) -> bool:
    """Return whether the number of plies to the end of the game lies in the accepted range."""
    low, high = accept.distance
    game, clock = oracle.game, SearchClock(Limit(nodes=accept.max_nodes))
    longest = game.hooks.max_plies(state)
    if game.hooks.ply_cost == 0 or (low <= 1 and high >= longest):
        return True
    if low > longest:
        return False
    if low > 1 and oracle.is_decided_within(state, low - 1, clock):
        return False
    return high >= longest or oracle.is_decided_within(state, high, clock)
