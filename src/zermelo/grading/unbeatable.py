"""Unbeatable: whether any line of play gets the better of a player.

In a seat the player makes its own move and the opponent every one, ply by ply with transpositions
merged, until nothing is left to look at. The player must never get less than the game's value
gives that seat: in a drawn game it must not lose, and who can force a win must win.
"""

from array import array
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from zermelo.core.game import Game, WordGame
from zermelo.grading.choices import Choices
from zermelo.grading.oracle import Prover

MAX_POSITIONS = 5_000_000
_PROBE_NODES = 20_000  # for finding a mistake long before the board shows it

Progress = Callable[[str], None]


@dataclass(frozen=True)
class Trial:
    """How a seat fared: `holds` is None where that was not decided, and `note` says why."""

    holds: bool | None
    line: tuple[int, ...] | None = None  #: a whole game that it loses, or fails to win
    positions: int = 0
    note: str = ""


def challenge(
    choices: Choices,
    seat: int,
    value: int,
    *,
    prover: Prover | None = None,
    max_positions: int = MAX_POSITIONS,
    progress: Progress | None = None,
) -> Trial:
    """Try every line against a player in a seat whose game is worth `value`.

    Without a prover the line found is as short as any. With one, a mistake that it proves ends
    the search, and the line goes on with best play against the player's own moves.
    """
    if value < 0:
        return Trial(holds=True)  # there is nothing to lose
    return _Challenge(choices, seat, value, prover, max_positions, progress).run()


class _Challenge:
    """One search. Of a position it keeps how it was reached, and its state for a ply."""

    def __init__(
        self,
        choices: Choices,
        seat: int,
        value: int,
        prover: Prover | None,
        max_positions: int,
        progress: Progress | None,
    ) -> None:
        self.choices, self.seat, self.value = choices, seat, value
        self.game: Game = choices.game
        self.prover, self.max_positions, self.progress = prover, max_positions, progress
        self.is_layered = isinstance(self.game, WordGame) and self.game.layered
        self.parents, self.actions = array("i", [-1]), array("i", [-1])

    def run(self) -> Trial:
        layer, first = [self.game.initial()], 0  # states, and the number of the first of them
        seen = set(layer)
        while layer:
            following: list[Any] = []
            beyond = first + len(layer)
            if self.is_layered:
                seen = set()  # no state comes back at another ply
            for number, state in enumerate(layer, first):
                own = self.game.player(state) == self.seat
                for action in [self.choices[state]] if own else self.game.actions(state):
                    child = self.game.play(state, action)
                    over, value = self.game.result(child)
                    if over and self._for_seat(child, value) < self.value:
                        return self._beaten([*self._line(number), action])
                    if over or child in seen:
                        continue
                    seen.add(child)
                    following.append(child)
                    self.parents.append(number)
                    self.actions.append(action)
                    more = self._proven(child) if own else None
                    if more is not None:
                        return self._beaten(more)
                if len(self.parents) > self.max_positions:
                    note = f"more than {self.max_positions:,} positions against every reply"
                    return Trial(holds=None, positions=len(self.parents), note=note)
                if self.progress:
                    self.progress(f"{len(self.parents):,} positions against every reply")
            layer, first = following, beyond
        return Trial(holds=True, positions=len(self.parents))

    def _beaten(self, line: list[int]) -> Trial:
        return Trial(holds=False, line=tuple(line), positions=len(self.parents))

    def _for_seat(self, state: Any, value: int) -> int:
        return value if self.game.player(state) == self.seat else -value

    def _line(self, at: int) -> list[int]:
        """The actions that lead to a position."""
        actions: list[int] = []
        while at > 0:
            actions.append(self.actions[at])
            at = self.parents[at]
        return actions[::-1]

    def _proven(self, state: Any) -> list[int] | None:
        """A whole game by way of the last position kept, if it is proven to be a mistake."""
        if self.prover is None or not self.prover.beats(state, -self.value, _PROBE_NODES):
            return None
        line = self._line(len(self.parents) - 1)
        while not self.game.result(state)[0]:
            own = self.game.player(state) == self.seat
            action = self.choices[state] if own else self.prover.reply(state)
            if action is None:
                return None
            line.append(action)
            state = self.game.play(state, action)
        assert self._for_seat(state, self.game.result(state)[1]) < self.value
        return line
