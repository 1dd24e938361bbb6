"""Players that look at the board more than ahead: greedy, and lookahead on top of it."""

import random
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from zermelo.core.bitboard import sign
from zermelo.core.errors import BadSpec
from zermelo.core.game import Game
from zermelo.core.player import Analysis, Candidate, Limit, Player
from zermelo.core.position import Position
from zermelo.games.lines.rules import LineGame
from zermelo.games.lines.tactics import windows
from zermelo.games.reversi.rules import Reversi
from zermelo.search.engine import Engine
from zermelo.search.engines import engine_for
from zermelo.search.iterative_deepening import Iteration, deepen
from zermelo.search.limits import SearchClock

_SCALE = 40.0  # greedy's points that make its whole estimate


class GreedyPlayer(Player):
    """A win now, else the most open lines with two stones or more; ties nearest the centre.

    It never loses by its own move where another is left. In Reversi it takes the most discs.
    """

    def __init__(self, seed: int | None = None) -> None:
        self.name = "greedy" if seed is None else f"greedy:seed={seed}"
        self._dice = random.Random(seed)

    def reseed(self, seed: int) -> None:
        """The dice begin anew."""
        self._dice.seed(seed)

    def think(self, position: Position, limit: Limit) -> Iterator[Analysis]:
        """One answer, at once."""
        del limit
        clock = SearchClock()
        ranks = {a: _rank(position.game, position.state, a) for a in position.actions}
        yield _answer(position, _pick(ranks, self._dice), ranks, clock)


class LookaheadPlayer(Player):
    """Exact wins and losses within so many plies, else greedy."""

    def __init__(self, plies: int = 3, seed: int | None = None) -> None:
        if plies < 1:
            msg = f"plies is {plies}: it must be 1 or more"
            raise BadSpec(msg)
        self.name = f"lookahead:{plies}" + ("" if seed is None else f",seed={seed}")
        self.plies = plies
        self._dice = random.Random(seed)
        self._engine: Engine | None = None

    def reseed(self, seed: int) -> None:
        """The dice begin anew."""
        self._dice.seed(seed)

    def think(self, position: Position, limit: Limit) -> Iterator[Analysis]:
        """One answer; the limit may cut the looking ahead short."""
        game = position.game
        if self._engine is None or self._engine.game != game:
            self._engine = engine_for(game)
        engine, clock = self._engine, SearchClock(limit)
        seen: dict[int, int | None] = {}
        for found in deepen(
            engine, position.state, clock, max_depth=self.plies, all_moves=True, with_lines=False
        ):
            seen = {a: self._within(engine, found, a) for a in found.scores}
        best = max(score or 0 for score in seen.values())
        ranks = {
            a: _rank(game, position.state, a) for a, score in seen.items() if (score or 0) == best
        }
        yield _answer(position, _pick(ranks, self._dice), ranks, clock, (engine, seen))

    def _within(self, engine: Engine, found: Iteration, action: int) -> int | None:
        """A score that is proven and near enough."""
        score = found.scores[action]
        near = engine.far - abs(score) <= self.plies and abs(score) > engine.decisive_score
        return score if near or found.exact else None


def _pick(ranks: dict[int, tuple[int, int, float]], rng: random.Random) -> int:
    best = max(ranks.values())
    return rng.choice([action for action, rank in ranks.items() if rank == best])


def _answer(
    position: Position,
    action: int,
    ranks: dict[int, tuple[int, int, float]],
    clock: SearchClock,
    seen: tuple[Engine, dict[int, int | None]] | None = None,
) -> Analysis:
    """The record: proven where looking ahead has proven it, else greedy's own points."""
    text = position.game.to_text
    candidates = []
    for other in position.actions:
        value, plies, diff = None, None, None
        score = seen[1][other] if seen else None
        if seen and score is not None:
            value = {1: "win", 0: "draw", -1: "loss"}[sign(score)]
            plies = seen[0].plies_to_end(score)
            diff = None if seen[0].ply_cost else score
        points = ranks[other][1] / _SCALE if other in ranks else 0.0
        candidates.append(
            Candidate(
                text(other),
                value=value,
                estimate=None if value else max(-0.9, min(0.9, points)),
                plies=plies,
                exact=value is not None,
                best=other == action,
                pv=(text(other),),
                diff=diff,
            )
        )
    candidates.sort(key=lambda c: (not c.best, -c.worth))
    return Analysis.led_by(
        candidates,
        nodes=clock.nodes,
        seconds=clock.seconds,
        source="greedy" if seen is None else "search",
    )


def _rank(game: Game, state: Any, action: int) -> tuple[int, int, float]:
    """(what the move ends in, lines or discs after it, nearness to the centre)."""
    child = game.play(state, action)
    over, value = game.result(child)
    ends = -int(value) if over else 0
    return ends, _points(game, child), -_from_centre(game, child, action)


def _points(game: Game, child: Any) -> int:
    """For the side that has just moved."""
    if isinstance(game, Reversi):
        return -game.diff(child)
    if not isinstance(game, LineGame):
        return 0
    theirs, mine = child[0], child[1]
    return sum(1 for line in _lines(game) if not line & theirs and (line & mine).bit_count() >= 2)


@lru_cache(maxsize=16)
def _lines(game: LineGame) -> tuple[int, ...]:
    """Every winning line as a mask."""
    return tuple(
        sum(1 << (first + step * place) for place in range(game.win))
        for first, step in windows(game.grid, game.win)
    )


def _from_centre(game: Game, child: Any, action: int) -> float:
    grid, cell = game.grid, game.last_cell(child, action)
    if grid is None or cell is None:
        return 0.0
    row, col = divmod(cell, grid.cols)
    down = 0.0 if game.gravity else abs(row - (grid.rows - 1) / 2)
    return down + abs(col - (grid.cols - 1) / 2)
