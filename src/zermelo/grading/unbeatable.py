"""Check whether a player is unbeatable, by trying every line of play against it.

The player makes its own moves in one seat and the opponent makes every legal move, ply by ply with
transpositions merged. The player must never get less than the value of the game for that seat: it
must not lose a drawn game, and it must win a won one.
"""

from array import array
from dataclasses import dataclass
from typing import Any

from zermelo.core.game import Game, WordGame
from zermelo.grading.oracle import SolverOracle
from zermelo.grading.policy import PlayerPolicy
from zermelo.search.limits import ProgressCallback

MAX_POSITIONS = 5_000_000
_PROBE_NODES = 20_000  # per position, for a search that detects mistakes before the game ends


@dataclass(frozen=True)
class SeatCheck:
    """Whether a player is unbeatable in one seat; if this is undecided, `note` says why."""

    unbeatable: bool | None
    refutation: tuple[int, ...] | None = None  #: a whole game that the player loses or fails to win
    positions: int = 0
    note: str = ""


def check_seat(
    policy: PlayerPolicy,
    seat: int,
    value: int,
    *,
    oracle: SolverOracle | None = None,
    max_positions: int = MAX_POSITIONS,
    progress: ProgressCallback | None = None,
) -> SeatCheck:
    """Try every line of play against a player in a seat; `value` is the game's value for the seat.

    Without an oracle the refutation is a shortest one. With an oracle the search ends at the first
    proven mistake, and the refutation continues with best play against the player's own moves.
    """
    if value < 0:
        return SeatCheck(unbeatable=True)  # a loss in a lost seat is perfect play
    return _RefutationSearch(policy, seat, value, oracle, max_positions, progress).run()


class _RefutationSearch:
    """A breadth-first search that keeps the states of the latest ply and the moves of all plies."""

    def __init__(
        self,
        policy: PlayerPolicy,
        seat: int,
        value: int,
        oracle: SolverOracle | None,
        max_positions: int,
        progress: ProgressCallback | None,
    ) -> None:
        self.policy, self.seat, self.value = policy, seat, value
        self.game: Game = policy.game
        self.oracle, self.max_positions, self.progress = oracle, max_positions, progress
        self.is_layered = isinstance(self.game, WordGame) and self.game.is_layered
        # By position number: the number of the preceding position and the action played there.
        self.parents, self.actions = array("i", [-1]), array("i", [-1])

    def run(self) -> SeatCheck:
        layer, first = [self.game.initial()], 0  # states, and the position number of the first one
        seen = set(layer)
        while layer:
            next_layer: list[Any] = []
            next_first = first + len(layer)
            if self.is_layered:
                seen = set()  # no state recurs at another ply
            for number, state in enumerate(layer, first):
                refutation = self._expand(number, state, seen, next_layer)
                if refutation is not None:
                    return SeatCheck(
                        unbeatable=False, refutation=tuple(refutation), positions=len(self.parents)
                    )
                if len(self.parents) > self.max_positions:
                    note = f"undecided after {self.max_positions:,} positions"
                    return SeatCheck(unbeatable=None, positions=len(self.parents), note=note)
                if self.progress:
                    self.progress(f"trying every reply: {len(self.parents):,} positions")
            layer, first = next_layer, next_first
        return SeatCheck(unbeatable=True, positions=len(self.parents))

    def _expand(
        self, number: int, state: Any, seen: set[Any], next_layer: list[Any]
    ) -> list[int] | None:
        """Add the successors of a state to the next layer; return a refutation if one is found."""
        own = self.game.player(state) == self.seat
        for action in [self.policy[state]] if own else self.game.actions(state):
            child = self.game.play(state, action)
            over, value = self.game.result(child)
            if over and self._for_seat(child, value) < self.value:
                return [*self._path(number), action]
            if over or child in seen:
                continue
            seen.add(child)
            next_layer.append(child)
            self.parents.append(number)
            self.actions.append(action)
            refutation = self._refute(child) if own else None
            if refutation is not None:
                return refutation
        return None

    def _for_seat(self, state: Any, value: int) -> int:
        return value if self.game.player(state) == self.seat else -value

    def _path(self, number: int) -> list[int]:
        """Return the actions that lead to a position."""
        actions: list[int] = []
        while number > 0:
            actions.append(self.actions[number])
            number = self.parents[number]
        return actions[::-1]

    def _refute(self, state: Any) -> list[int] | None:
        """Return a complete game that refutes the move to `state`, or None if none is found."""
        if self.oracle is None or self.game.player(state) == self.seat:
            return None
        if not self.oracle.exceeds(state, -self.value, _PROBE_NODES):
            return None
        line = self._path(len(self.parents) - 1)
        while not self.game.result(state)[0]:
            own = self.game.player(state) == self.seat
            action = self.policy[state] if own else self.oracle.best_action(state)
            if action is None:
                return None
            line.append(action)
            state = self.game.play(state, action)
        assert self._for_seat(state, self.game.result(state)[1]) < self.value
        return line
