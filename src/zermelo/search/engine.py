"""The engine interface: a search to a given depth, called by iterative deepening.

Scores are for the side to move. A win in n plies scores `win_score - n`, a loss in n plies
`n - win_score`, a draw 0 (in Reversi the score is the disc difference); an estimate lies between
-`decisive_score` and `decisive_score`.
"""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

from zermelo.core.bitboard import sign
from zermelo.core.game import Game
from zermelo.search.limits import SearchClock


@dataclass(frozen=True)
class ForcedWin:
    """A proven win of the side to move by a sequence of threats, against the longest defence."""

    line: tuple[int, ...]  #: actions; the last one is missing if the block is a forbidden point
    plies: int  #: the number of plies against the longest defence
    only_fours: bool  #: whether every move of the winner threatens to win immediately


class Engine(ABC):
    """Searches states of one game to a depth and estimates the states at the horizon."""

    game: Game
    win_score: int
    #: a score beyond this is a proven win or loss
    decisive_score: int
    ply_cost: int = 1  #: 0 if scores do not encode the distance to the end
    scale: float = 1000.0  #: the score whose estimate is tanh(1)
    #: a proven distance of more than this many plies is only an upper bound
    max_exact_plies: int = 1 << 30
    #: False if a state can occur at several plies, so that distances may be too large
    has_exact_distances: bool = True
    #: whether a state was estimated since `start_iteration`; if not, all scores are exact
    hit_horizon: bool = False

    @abstractmethod
    def start_iteration(self, depth: int) -> None:
        """Start an iteration: results of earlier iterations now serve only to order moves."""

    def clear(self) -> None:  # noqa: B027 - most engines keep nothing that changes an answer
        """Discard the results of earlier searches."""

    @abstractmethod
    def search(self, state: Any, depth: int, alpha: int, beta: int, clock: SearchClock) -> int:
        """Return the score of a state that is not over, searched to `depth` plies.

        Depth 0 returns the estimate. Fail-soft: a score of alpha or less is an upper bound, a
        score of beta or more a lower bound. Nodes are reported to the clock, which may raise
        SearchStopped.
        """

    @abstractmethod
    def principal_variation(self, state: Any) -> list[int]:
        """Return the expected play from a state by its last search, as far as it is stored."""

    def find_forced_win(self, state: Any, clock: SearchClock) -> int | None:
        """Return the first action of a forced win, or None if none is found.

        This is called once before a state is searched; `search` then uses the result.
        """
        del state, clock
        return None

    def known_forced_win(self, state: Any) -> ForcedWin | None:
        """Return the forced win in a state, or against its side to move, if one was found."""
        del state
        return None

    def parent_score(self, score: int) -> int:
        """Convert the score of a child to the parent: flip the sign and add a ply."""
        return -score + self.ply_cost * sign(score)

    def child_bound(self, bound: int) -> int:
        """Convert a bound on the parent's score to the child: the inverse of `parent_score`."""
        return -(bound + self.ply_cost * sign(bound))

    def terminal_score(self, state: Any) -> int:
        """Return the score of a state that is over."""
        return int(self.game.result(state)[1]) * self.win_score

    def plies_to_end(self, score: int) -> int | None:
        """Return the distance to the end that a proven score encodes, or None if there is none."""
        plies = self.win_score - abs(score)
        return plies if score and self.ply_cost and plies <= self.max_exact_plies else None

    def to_estimate(self, score: int) -> float:
        """Map a score to [-0.99, 0.99]; 1 and -1 are reserved for proven results."""
        return round(max(-0.99, min(0.99, math.tanh(score / self.scale))), 4)
