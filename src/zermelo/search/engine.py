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
    """A proven win of the side to move by a sequence of threats."""

    #: the actions, with the longest defence; the last one wins, or is a reply that loses by rule
    line: tuple[int, ...]
    plies: int  #: the maximum number of plies to the win
    only_fours: bool  #: whether every move of the winner threatens to win immediately


class Engine(ABC):
    """Searches states of one game to a given depth and estimates the states at that depth."""

    game: Game
    win_score: int
    #: a score beyond this is a proven win or loss
    decisive_score: int
    ply_cost: int = 1  #: 0 if scores do not encode the distance to the end
    scale: float = 1000.0  #: `to_estimate` maps this score to tanh(1)
    #: a proven distance of more than this many plies is only an upper bound, unless the search was
    #: exhaustive
    max_exact_plies: int = 1 << 30
    #: a search to depth d finds every win in at most d plus this number of plies
    plies_beyond_depth: int = 1
    #: False if a state can occur at different plies; proven distances may then be too large
    has_exact_distances: bool = True
    #: whether any score since `start_iteration` depends on an estimate, or on a distance that is
    #: only a bound; if none does, the search was exhaustive, and all scores are exact
    hit_horizon: bool = False

    @abstractmethod
    def start_iteration(self, depth: int) -> None:
        """Start an iteration; from then on, results of earlier iterations only order moves."""

    def clear(self) -> None:  # noqa: B027 - most engines keep nothing that changes an answer
        """Discard the results of earlier searches."""

    @abstractmethod
    def search(self, state: Any, depth: int, alpha: int, beta: int, clock: SearchClock) -> int:
        """Return the score of a state that is not over, searched to `depth` plies.

        At depth 0, return the estimate. Fail-soft: a score of alpha or less is an upper bound, a
        score of beta or more a lower bound. Nodes are reported to the clock, which may raise
        SearchStopped.
        """

    @abstractmethod
    def principal_variation(self, state: Any) -> list[int]:
        """Return the principal variation of the last search of a state, as far as it is stored."""

    def find_forced_win(self, state: Any, clock: SearchClock) -> int | None:
        """Return the first action of a forced win, or None if none is found.

        The caller calls this once before it searches a state; `search` then uses the result.
        """
        del state, clock
        return None

    def known_forced_win(self, state: Any) -> ForcedWin | None:
        """Return the forced win that was found in a state, for either side, or None."""
        del state
        return None

    def parent_score(self, turn_sign: int, score: int) -> int:
        """Convert a child's score to a score of its parent: add a ply and apply the turn's sign.

        For the sign, see `Game.turn_sign`.
        """
        return turn_sign * (score - self.ply_cost * sign(score))

    def child_score(self, turn_sign: int, score: int) -> int:
        """Convert a score or bound of a parent to one of its child; inverts `parent_score`."""
        return turn_sign * (score + self.ply_cost * sign(score))

    def child_window(self, turn_sign: int, alpha: int, beta: int) -> tuple[int, int]:
        """Convert a window of a parent to the window of its child."""
        low, high = (self.child_score(turn_sign, bound) for bound in (alpha, beta))
        return min(low, high), max(low, high)

    def terminal_score(self, state: Any) -> int:
        """Return the score of a state that is over."""
        if self.game.has_scores:
            return int(self.game.score(state))
        return int(self.game.result(state)[1]) * self.win_score

    def plies_to_end(self, score: int, *, is_exhaustive: bool = False) -> int | None:
        """Return the distance, or None in games whose sides do not alternate.

        In those games, the distance does not tell how many moves each side makes.
        """
        is_known = self.game.is_alternating
        return self.distance(score, is_exhaustive=is_exhaustive) if is_known else None

    def distance(self, score: int, *, is_exhaustive: bool = False) -> int | None:
        """Return the plies to the end that a proven score encodes.

        Return None for a draw, or if the score encodes no distance or only a bound. The score of an
        exhaustive search always encodes the distance.
        """
        plies = self.win_score - abs(score)
        is_exact = is_exhaustive or plies <= self.max_exact_plies
        return plies if score and self.ply_cost and is_exact else None

    def to_estimate(self, score: int) -> float:
        """Map a score to an estimate in [-0.99, 0.99]; 1 and -1 are reserved for proven results."""
        return round(max(-0.99, min(0.99, math.tanh(score / self.scale))), 4)
