"""Levels: players that err at a set rate, from a beginner's to none.

Where the value of the best move can be proven, a mistake is a move that turns a win into less, or
a draw into a loss; the rate is exact by the way a move is drawn. Elsewhere a level also sees less
far than the next: it searches fewer nodes, and a mistake is a move that is clearly worse by its own
estimates. That this makes a ladder is measured: docs/benchmarks.md.
"""

import random
import time
from collections.abc import Iterator
from dataclasses import replace

from zermelo.core.errors import BadSpec
from zermelo.core.game import BoardGame
from zermelo.core.player import Analysis, Candidate, Limit, Player
from zermelo.core.position import Position
from zermelo.players.alphabeta import AlphaBetaPlayer
from zermelo.search.explain.analysis import Analyst
from zermelo.search.solver.solver import Settings

#: how often a level errs where it can, by proven values
MISTAKES = {1: 0.60, 2: 0.45, 3: 0.33, 4: 0.25, 5: 0.18, 6: 0.12, 7: 0.08, 8: 0.04, 9: 0.015, 10: 0}
#: by its estimates, where fewer mistakes are fatal
SLIPS = {1: 0.95, 2: 0.72, 3: 0.53, 4: 0.39, 5: 0.28, 6: 0.20, 7: 0.15, 8: 0.11, 9: 0.07, 10: 0}
#: and how many nodes it searches for them
NODES = {level: int(200 * 2.2 ** (level - 1)) for level in MISTAKES}
_PROOF = 300_000  # nodes
_SECONDS = 1.0  # at most, on a slow machine
_SETTINGS = Settings(table_bits=20)
_CLEARLY = 0.1  # of an estimate
_LIKELY = 4  # ranks after which a mistake is half as likely


class LevelPlayer(Player):
    """Draws first whether to err, then a move: among the best, or among the lesser ones."""

    def __init__(self, level: int, seed: int | None = None) -> None:
        if level not in MISTAKES:
            msg = f"level is {level}: there are levels 1 to {max(MISTAKES)}"
            raise BadSpec(msg)
        self.name = f"level:{level}" + ("" if seed is None else f",seed={seed}")
        self.level = level
        self._dice = random.Random(seed)
        self._seeing = AlphaBetaPlayer(self.name, None, None)
        self._proving = Analyst(_SETTINGS)

    def reseed(self, seed: int) -> None:
        """The dice begin anew, and what was seen before is forgotten."""
        self._dice.seed(seed)
        self._seeing.reseed(seed)
        self._proving.reseed(seed)

    def think(self, position: Position, limit: Limit) -> Iterator[Analysis]:
        """First by estimates, then by proven values, if there are any in time."""
        begin = time.perf_counter()
        seconds = limit.seconds or _SECONDS
        most = limit.nodes or _PROOF
        care, chance = self._dice.random(), self._dice.random()
        within = replace(limit, seconds=seconds, nodes=min(NODES[self.level], most), every=True)
        for seen in self._seeing.think(position, within):
            yield _drawn(seen, chance, errs=care < SLIPS[self.level])
        if isinstance(position.game, BoardGame):
            return  # too large for proofs
        left = max(0.0, seconds - (time.perf_counter() - begin))
        for proven in self._proving.think(position, replace(limit, seconds=left, nodes=most)):
            if proven.exact:
                yield _drawn(proven, chance, errs=care < MISTAKES[self.level])


def _drawn(found: Analysis, chance: float, *, errs: bool) -> Analysis:
    """The record, led by a move of those that are best, or of the mistakes."""
    good, lesser = _split(found.candidates)
    chosen = _err(lesser, chance) if errs and lesser else good[int(chance * len(good))]
    others = (replace(c, best=False) for c in found.candidates if c.move != chosen.move)
    return Analysis.led_by(
        (replace(chosen, best=True), *others),
        nodes=found.nodes,
        seconds=found.seconds,
        source=found.source,
        depth=found.depth,
    )


def _err(lesser: list[Candidate], chance: float) -> Candidate:
    """A likely mistake: the better ones, which come first, more often."""
    half = min(_LIKELY, len(lesser) / 4)
    weights = [2.0 ** -(rank / half) for rank in range(len(lesser))]
    left = chance * sum(weights)
    for candidate, weight in zip(lesser, weights, strict=True):
        left -= weight
        if left < 0:
            return candidate
    return lesser[-1]


def _split(candidates: tuple[Candidate, ...]) -> tuple[list[Candidate], list[Candidate]]:
    """(the best, the mistakes); what is neither is not played."""
    best = candidates[0]
    if all(c.exact for c in candidates):
        # Moves that are worth the same come in whatever order the search met them: by their name.
        candidates = tuple(sorted(candidates, key=_rank))
        good = [c for c in candidates if c.best]
        return good, [c for c in candidates if c.worth < best.worth]
    good = [c for c in candidates if c.best]
    return good, [c for c in candidates if c.worth < best.worth - _CLEARLY]


def _rank(candidate: Candidate) -> tuple[float, int, int, str]:
    """Of proven moves the better ones first: by points, in Reversi, and the slower loss."""
    return (-candidate.worth, -(candidate.diff or 0), -(candidate.plies or 0), candidate.move)
