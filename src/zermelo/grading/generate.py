"""The maker of sets: positions drawn from sensible random play, every move solved exactly.

The same seed gives the same set: nothing here depends on the time, only on numbers of nodes.
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
from zermelo.grading.oracle import Prover
from zermelo.grading.position_sets import Graded
from zermelo.search.limits import Clock, Stopped
from zermelo.search.solver.solver import Settings

_PATIENCE = 5_000  # draws in a row that find nothing new
_SETTINGS = Settings(table_bits=20)


@dataclass(frozen=True)
class Wanted:
    """Which positions belong in a set. In all of them there is a mistake to make."""

    plies: tuple[int, int] = (0, 400)  #: moves played before it
    #: plies from there to the end under best play; a draw lasts as long as the board
    decided: tuple[int, int] = (1, 400)
    keeping: int = 400  #: at most so many moves keep the value
    nodes: int = 10_000_000  #: for the solver; a position that takes more is left out


Progress = Callable[[int, int], None]  #: (positions found, positions looked at)


def draw(
    game: Game,
    number: int,
    *,
    seed: int = 1,
    wanted: Wanted | None = None,
    progress: Progress | None = None,
) -> list[Graded]:
    """So many different positions, up to symmetry, with their answers.

    >>> import zermelo as z
    >>> one, two = draw(z.game("tictactoe"), 2, seed=1, wanted=Wanted(plies=(3, 4)))
    >>> one.position.moves != two.position.moves, one.verdict.can_err
    (True, True)
    """
    if not isinstance(game, WordGame):
        msg = f"{game.spec} is beyond the solver: sets are made for boards up to 64 cells"
        raise ZermeloError(msg)
    wanted = wanted or Wanted()
    prover = Prover(game, Limit(nodes=wanted.nodes), _SETTINGS)
    found: list[Graded] = []
    for looked, position in enumerate(_different(game, wanted.plies, random.Random(seed))):
        if progress:
            progress(len(found), looked)
        graded = _judged(prover, position, wanted)
        found += [graded] if graded else []
        if len(found) == number:
            return found
    msg = (
        f"only {len(found)} such positions of {game.spec} were found: ask for fewer, or for a "
        "wider range"
    )
    raise ZermeloError(msg)


def _different(game: WordGame, plies: tuple[int, int], rng: random.Random) -> Iterator[Position]:
    """Positions no two of which are alike, as long as there seem to be any."""
    seen: set[Any] = set()
    in_vain = 0
    symmetries = game.symmetries()
    high = min(plies[1], game.longest(game.initial()) - 1)
    while in_vain < _PATIENCE and plies[0] <= high:
        # random() is the one method whose sequence Python promises to keep.
        length = plies[0] + int(rng.random() * (high - plies[0] + 1))
        position = _wander(game, length, rng)
        in_vain += 1
        if position is None:
            continue
        least = min((game.moved(position.state, s) for s in symmetries), default=position.state)
        if least not in seen:
            seen.add(least)
            in_vain = 0
            yield position


def _wander(game: WordGame, length: int, rng: random.Random) -> Position | None:
    """So many moves by dice, some games without plain blunders, some with; None if one ends."""
    position = game.start()
    careful = rng.random()
    for _ in range(length):
        known, _, moves = game.quick(position.state)
        actions = [game.action_at(bit) for bit in bits(moves)] if not known else []
        if not actions or rng.random() > careful:
            actions = position.actions
        if not actions:
            return None
        position = position.play_action(actions[int(rng.random() * len(actions))])
    return None if position.is_over else position


def _judged(prover: Prover, position: Position, wanted: Wanted) -> Graded | None:
    """A position with its answers, None if it is not wanted or takes too many nodes."""
    try:
        if not _fits(prover, position.state, wanted):
            return None
    except Stopped:
        return None
    verdict = prover.judge(position.state)
    if verdict is None or not verdict.can_err or len(verdict.keeping) > wanted.keeping:
        return None
    return Graded(position, verdict)


def _fits(prover: Prover, state: Any, wanted: Wanted) -> bool:
    """Whether it is decided in the plies that are asked for."""
    low, high = wanted.decided
    game, clock = prover.game, Clock(Limit(nodes=wanted.nodes))
    longest = game.longest(state)
    if game.ply_cost == 0 or (low <= 1 and high >= longest):
        return True
    if low > longest:
        return False
    if low > 1 and prover.is_within(state, low - 1, clock):
        return False
    return high >= longest or prover.is_within(state, high, clock)
