"""The engine: whatever looks a number of plies ahead. Deepening, players and analysis share it.

Scores are seen by the side to move. A win in n plies is `far - n`, a loss `n - far`, a draw 0
(Reversi: the disc difference); an estimate lies between -`decisive` and `decisive`.
"""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

from zermelo.core.bitboard import sign
from zermelo.core.game import Game
from zermelo.search.limits import Clock


@dataclass(frozen=True)
class Forced:
    """A proven win of the side to move by threats, with the line that lasts longest."""

    line: tuple[int, ...]  #: actions; one that ends with a forbidden block lacks the last move
    plies: int  #: no defence lasts longer
    fours: bool  #: every move of the winner threatens to win at once


class Engine(ABC):
    """Searches states of one game to a depth, with estimates at the horizon."""

    game: Game
    far: int
    #: a score beyond this is a proven win or loss, whatever lies beyond the horizon
    decisive: int
    ply_cost: int = 1  #: 0 where scores do not tell how far away they are
    scale: float = 1000.0  #: the score that makes an estimate of tanh(1)
    #: how far away a proven end may be for its distance to be exact, too, and not only a bound
    sure_plies: int = 1 << 30
    #: whether such a distance may be read off at all: not where a state turns up at several plies
    settles: bool = True
    #: whether an estimate stood in for an end since `start`: if not, every score is exact
    met_horizon: bool = False

    @abstractmethod
    def start(self, depth: int) -> None:
        """Begin an iteration: scores of an earlier one serve the ordering of moves only."""

    def forget(self) -> None:  # noqa: B027 - most keep nothing that matters
        """As if nothing had been asked before."""

    @abstractmethod
    def search(self, state: Any, depth: int, alpha: int, beta: int, clock: Clock) -> int:
        """The score of a state that is not over, `depth` plies ahead (0: the estimate).

        Fail-soft: an answer of alpha or less is an upper bound, of beta or more a lower one.
        Nodes are reported to the clock, which may raise Stopped.
        """

    @abstractmethod
    def line(self, state: Any) -> list[int]:
        """The actions that the last search of a state expects, as far as it remembers."""

    def force(self, state: Any, clock: Clock) -> int | None:
        """The first move of a forced win, which `search` then knows; None where none is found.

        Called once before a state is searched.
        """
        del state, clock
        return None

    def forced(self, state: Any) -> Forced | None:
        """How the winner of a state, or of the one before it, wins by threats, if that is known."""
        del state
        return None

    def sooner(self, score: int) -> int:
        """A child's score, seen by the side that moved: the sign flips, a ply is added."""
        return -score + self.ply_cost * sign(score)

    def later(self, bound: int) -> int:
        """The bound for a child that means `bound` here: the inverse of `sooner`."""
        return -(bound + self.ply_cost * sign(bound))

    def ended(self, state: Any) -> int:
        """The score of a state that is over."""
        return int(self.game.result(state)[1]) * self.far

    def plies(self, score: int) -> int | None:
        """The distance to the end that a proven score tells; None where it tells none."""
        away = self.far - abs(score)
        return away if score and self.ply_cost and away <= self.sure_plies else None

    def estimate(self, score: int) -> float:
        """A score as a number in [-1, 1]; 1 and -1 are for what is proven."""
        return round(max(-0.99, min(0.99, math.tanh(score / self.scale))), 4)
