"""Levels: players that make mistakes at a set rate, from a beginner's to none.

A mistake is a move that turns a win into less, or a draw into a loss. Where the values of all
moves are proven the rate is exact by the way a move is drawn; elsewhere estimates stand in, and a
move counts as a mistake when it is clearly worse than the best.
"""

import random
from collections.abc import Iterator
from dataclasses import replace

from zermelo.errors import BadSpec
from zermelo.players import Analysis, Candidate, Limit, Player
from zermelo.position import Position
from zermelo.search.analysis import Analyst
from zermelo.search.solver import Settings

#: how often a level errs where it can
MISTAKES = {1: 0.60, 2: 0.45, 3: 0.33, 4: 0.25, 5: 0.18, 6: 0.12, 7: 0.08, 8: 0.04, 9: 0.015, 10: 0}
_SECONDS = 1.0
_SETTINGS = Settings(table_bits=20)  # enough for a second
_CLEARLY = 0.25  # of an estimate


class LevelPlayer(Player):
    """Draws first whether to err, then a move: among the best, or among the lesser ones."""

    def __init__(self, level: int, seed: int | None = None) -> None:
        if level not in MISTAKES:
            msg = f"level is {level}: there are levels 1 to {max(MISTAKES)}"
            raise BadSpec(msg)
        self.name = f"level:{level}" + ("" if seed is None else f",seed={seed}")
        self.level = level
        self._dice = random.Random(seed)
        self._analyst = Analyst(_SETTINGS)

    def reseed(self, seed: int) -> None:
        """The dice begin anew."""
        self._dice.seed(seed)

    def think(self, position: Position, limit: Limit) -> Iterator[Analysis]:
        """One answer."""
        within = replace(limit, seconds=limit.seconds or _SECONDS)
        errs = self._dice.random() < MISTAKES[self.level]
        chance = self._dice.random()
        for found in self._analyst.think(position, within):
            good, lesser = _split(found.candidates)
            chosen = _err(lesser, chance) if errs and lesser else good[int(chance * len(good))]
            others = (replace(c, best=False) for c in found.candidates if c.move != chosen.move)
            yield Analysis.led_by(
                (replace(chosen, best=True), *others),
                nodes=found.nodes,
                seconds=found.seconds,
                source=found.source,
                depth=found.depth,
            )


def _err(lesser: list[Candidate], chance: float) -> Candidate:
    """A likely mistake: the better ones, which come first, more often."""
    weights = [2.0 ** -(4 * rank / len(lesser)) for rank in range(len(lesser))]
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
