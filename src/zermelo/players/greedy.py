"""The greedy player, which looks one move ahead; its ranking also serves the lookahead player."""

import random
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, NamedTuple

from zermelo.core.game import Game
from zermelo.core.player import Analysis, Candidate, Limit, Player
from zermelo.core.position import Position
from zermelo.games.geometry import list_windows
from zermelo.games.lines.rules import LineGame
from zermelo.games.reversi.rules import Reversi
from zermelo.search.limits import SearchClock

_ESTIMATE_SCALE = 40.0  # the number of points that corresponds to an estimate of 1
_MAX_ESTIMATE = 0.9


class MoveRank(NamedTuple):
    """The rank of a move; ranks are compared field by field, and higher is better."""

    result: int  #: 1 if the move wins, -1 if it loses, else 0
    points: int  #: open lines with two or more stones, or in Reversi the disc difference
    centrality: float  #: minus the distance from the centre

    @property
    def estimate(self) -> float:
        """The estimate that corresponds to the points."""
        return max(-_MAX_ESTIMATE, min(_MAX_ESTIMATE, self.points / _ESTIMATE_SCALE))


class GreedyPlayer(Player):
    """Wins at once if it can, else maximises its number of open lines with two or more stones.

    Ties are broken in favour of moves near the centre.

    The player avoids moves that lose immediately. In Reversi it maximises the disc difference.
    """

    def __init__(self, seed: int | None = None) -> None:
        self.name = "greedy" if seed is None else f"greedy:seed={seed}"
        self._rng = random.Random(seed)

    def reseed(self, seed: int) -> None:
        """Seed the random generator."""
        self._rng.seed(seed)

    def choose_action(self, position: Position) -> int:
        """Return the action with the best rank, the one that `choose` would return."""
        ranks = {action: rank_move(position, action) for action in position.actions}
        return choose_best(ranks, self._rng)

    def think(self, position: Position, limit: Limit) -> Iterator[Analysis]:
        """Yield one analysis; the limit is ignored."""
        del limit
        clock = SearchClock()
        ranks = {action: rank_move(position, action) for action in position.actions}
        best = choose_best(ranks, self._rng)
        candidates = [
            Candidate(
                move := position.to_move_text(action),
                estimate=rank.estimate,
                best=action == best,
                pv=(move,),
            )
            for action, rank in ranks.items()
        ]
        candidates.sort(key=lambda c: (not c.best, -c.expected_value))
        yield Analysis.from_candidates(
            candidates, nodes=clock.nodes, seconds=clock.seconds, source="greedy"
        )


def choose_best(ranks: dict[int, MoveRank], rng: random.Random) -> int:
    """Return the action with the best rank, ties broken at random."""
    best = max(ranks.values())
    return rng.choice([action for action, rank in ranks.items() if rank == best])


def rank_move(position: Position, action: int) -> MoveRank:
    """Rank a legal move by the position after it."""
    game = position.game
    child = game.play(position.state, action)
    is_over, value = game.result(child)
    result = int(value * game.turn_sign(position.state, child)) if is_over else 0
    cells = game.move_cells(position.state, action)
    distance = distance_from_centre(game, cells[-1] if cells else None)
    return MoveRank(result, _points(game, child), -distance)


def _points(game: Game, child: Any) -> int:
    """Return the points, as in `MoveRank`, of the side that has just moved."""
    if isinstance(game, Reversi):
        return -game.diff(child)
    if not isinstance(game, LineGame):
        return 0
    opponent, own = child[0], child[1]
    return sum(
        1 for line in winning_lines(game) if not line & opponent and (line & own).bit_count() >= 2
    )


@lru_cache(maxsize=16)
def winning_lines(game: LineGame) -> tuple[int, ...]:
    """Return every winning line as a bit mask."""
    return tuple(
        sum(1 << (first + step * place) for place in range(game.win))
        for first, step in list_windows(game.grid, game.win)
    )


def distance_from_centre(game: Game, cell: int | None) -> float:
    """Return how far a cell is from the centre; with gravity, only its column counts."""
    grid = game.grid
    if grid is None or cell is None:
        return 0.0
    row, col = divmod(cell, grid.cols)
    vertical = 0.0 if getattr(game, "gravity", False) else abs(row - (grid.rows - 1) / 2)
    return vertical + abs(col - (grid.cols - 1) / 2)
