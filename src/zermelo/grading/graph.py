"""The graph of a small game: all its states, with what each is worth, in plain Python.

Any game of the contract will do, compiled or not, and the answers owe nothing to the solver.
"""

from collections import deque
from typing import Any

from zermelo.core.game import Game, WordGame
from zermelo.grading.oracle import Verdict

MAX_STATES = 20_000  #: of a game that is graded over all its states


class Graph:
    """Every state that play can reach, each after those that it leads to.

    >>> import zermelo as z
    >>> graph = Graph.of(z.game("tictactoe"))
    >>> len(graph.children), len(graph.running), graph.value(graph.game.initial())
    (5478, 4520, 0)
    """

    def __init__(self, game: Game, children: dict[Any, dict[int, Any]]) -> None:
        self.game = game
        self.children = children  #: states by action; none where the game is over
        self.is_timed = not isinstance(game, WordGame) or game.ply_cost != 0
        self._values: dict[Any, int] = {}
        self._plies: dict[Any, int] = {}  # to the end, the winner fast, the loser slow
        for state, after in children.items():
            self._settle(state, after)

    @classmethod
    def of(cls, game: Game, max_states: int = MAX_STATES) -> "Graph | None":
        """None for a game with more states, or with games that need not end."""
        reached = _reached(game, max_states)
        children = None if reached is None else _children_first(reached)
        return None if children is None else cls(game, children)

    @property
    def running(self) -> list[Any]:
        """The states that are not over, the start first."""
        return [state for state, after in reversed(self.children.items()) if after]

    def _settle(self, state: Any, after: dict[int, Any]) -> None:
        if not after:
            self._values[state], self._plies[state] = int(self.game.result(state)[1]), 0
            return
        worths = [(-self._values[child], self._plies[child] + 1) for child in after.values()]
        value, plies = max(worths, key=lambda worth: (worth[0], -worth[0] * worth[1]))
        self._values[state], self._plies[state] = value, plies

    def value(self, state: Any) -> int:
        """1, 0 or -1 for the side to move."""
        return self._values[state]

    def value_for(self, seat: int, state: Any) -> int:
        """The same for one player, whoever moves."""
        return self._values[state] if self.game.player(state) == seat else -self._values[state]

    def judge(self, state: Any) -> Verdict:
        """Every move of a state that is not over."""
        after = self.children[state]
        values = {action: -self._values[child] for action, child in after.items()}
        if not self.is_timed or self._values[state] <= 0:
            return Verdict(values)
        plies = {a: self._plies[child] for a, child in after.items() if values[a] > 0}
        soonest = min(plies.values())
        return Verdict(values, frozenset(a for a, n in plies.items() if n == soonest))


def _reached(game: Game, max_states: int) -> dict[Any, dict[int, Any]] | None:
    """All states in breadth-first order."""
    children: dict[Any, dict[int, Any]] = {}
    seen = {game.initial()}
    waiting = deque(seen)
    while waiting:
        state = waiting.popleft()
        after = {action: game.play(state, action) for action in game.actions(state)}
        children[state] = after
        for child in after.values():
            if child not in seen:
                seen.add(child)
                waiting.append(child)
        if len(seen) > max_states:
            return None
    return children


def _children_first(children: dict[Any, dict[int, Any]]) -> dict[Any, dict[int, Any]] | None:
    """The same in an order in which every state follows all those it leads to.

    None where there is no such order: a state recurs.
    """
    parents: dict[Any, list[Any]] = {state: [] for state in children}
    for state, after in children.items():
        for child in after.values():
            parents[child].append(state)
    left = {state: len(after) for state, after in children.items()}
    ready = deque(state for state, number in left.items() if number == 0)
    found: dict[Any, dict[int, Any]] = {}
    while ready:
        state = ready.popleft()
        found[state] = children[state]
        for parent in parents[state]:
            left[parent] -= 1
            if left[parent] == 0:
                ready.append(parent)
    return found if len(found) == len(children) else None
