"""The random player."""

import random
import time
from collections.abc import Iterator

from zermelo.core.player import Analysis, Candidate, Limit, Player
from zermelo.core.position import Position


class RandomPlayer(Player):
    """Chooses uniformly among the legal moves and estimates every position as balanced."""

    def __init__(self, seed: int | None = None) -> None:
        self.name = "random" if seed is None else f"random:seed={seed}"
        # Not for cryptography: a seed must reproduce the game.
        self._rng = random.Random(seed)

    def reseed(self, seed: int) -> None:
        """Seed the random generator."""
        self._rng.seed(seed)

    def choose_action(self, position: Position) -> int:
        """Return a random legal action, the one that `choose` would return."""
        return self._rng.choice(position.actions)

    def think(self, position: Position, limit: Limit) -> Iterator[Analysis]:
        """Yield one analysis; the limit is ignored."""
        del limit
        start_time = time.perf_counter()
        action = self._rng.choice(position.actions)
        move = position.to_move_text(action)
        candidates = [
            Candidate(text, estimate=0.0, best=text == move, pv=(text,))
            for text in sorted(position.legal, key=lambda text: text != move)
        ]
        seconds = time.perf_counter() - start_time
        yield Analysis.from_candidates(candidates, seconds=seconds, source="random")
