"""The random player."""

import random
import time
from collections.abc import Iterator

from zermelo.core.player import Analysis, Candidate, Limit, Player
from zermelo.core.position import Position


class RandomPlayer(Player):
    """Every legal move with the same chance; to it every position is balanced."""

    def __init__(self, seed: int | None = None) -> None:
        self.name = "random" if seed is None else f"random:seed={seed}"
        # Play, not secrets: a seed must give the same game again.
        self._dice = random.Random(seed)

    def reseed(self, seed: int) -> None:
        """The dice begin anew."""
        self._dice.seed(seed)

    def think(self, position: Position, limit: Limit) -> Iterator[Analysis]:
        """One answer, at once."""
        del limit
        begin = time.perf_counter()
        action = self._dice.choice(position.actions)
        move = position.game.to_text(action)
        candidates = [
            Candidate(text, estimate=0.0, best=text == move, pv=(text,))
            for text in sorted(position.legal, key=lambda text: text != move)
        ]
        seconds = time.perf_counter() - begin
        yield Analysis.led_by(candidates, seconds=seconds, source="random")
