"""The graph of a small game: all reachable states with their exact values, in plain Python.

It works for any game, compiled or not, and is independent of the solver.
"""

from collections import deque
from typing import Any

from zermelo.core.game import Game, WordGame
from zermelo.grading.oracle import MoveValues

MAX_STATES = 20_000  #: a game with more states is graded on sets of positions instead


class GameGraph:
    """All reachable states with their successors, in reverse topological order.

    >>> import zermelo as z
    >>> graph = GameGraph.build(z.game("tictactoe"))
    >>> len(graph.children), len(graph.nonterminal), graph.value(graph.game.initial())
    (5478, 4520, 0)
    """

    def __init__(self, game: Game, children: dict[Any, dict[int, Any]]) -> None:
        self.game = game
        self.children = children  #: state → {action: successor}, empty for terminal states
        self.has_distances = not game.has_scores
        if isinstance(game, WordGame):
            self.has_distances = game.hooks.ply_cost != 0
        self._values: dict[Any, int] = {}
        self._plies: dict[Any, int] = {}  # state → plies to the end of the game under best play
        for state, successors in children.items():
            self._back_up(state, successors)

    @classmethod
    def build(cls, game: Game, max_states: int = MAX_STATES) -> "GameGraph | None":
        """Return the graph, or None if it has more than `max_states` states or a cycle."""
        children = _explore(game, max_states)
        ordered = None if children is None else _sort_successors_first(children)
        return None if ordered is None else cls(game, ordered)

    @property
    def nonterminal(self) -> list[Any]:
        """The states in which the game is not over, the initial state first."""
        return [state for state, successors in reversed(self.children.items()) if successors]

    def _back_up(self, state: Any, successors: dict[int, Any]) -> None:
        if not successors:
            self._values[state], self._plies[state] = int(self.game.result(state)[1]), 0
            return
        options = [
            (self._value_after(state, child), self._plies[child] + 1)
            for child in successors.values()
        ]
        value, plies = max(options, key=lambda option: (option[0], -option[0] * option[1]))
        self._values[state], self._plies[state] = value, plies

    def _value_after(self, state: Any, child: Any) -> int:
        """Return the value of a successor for the side to move in the state before it."""
        return int(self.game.turn_sign(state, child)) * self._values[child]

    def value(self, state: Any) -> int:
        """Return the value of a state for the side to move: 1, 0 or -1."""
        return self._values[state]

    def value_for(self, seat: int, state: Any) -> int:
        """Return the value of a state for the player in a seat, whoever is to move: 1, 0 or -1."""
        return self._values[state] if self.game.player(state) == seat else -self._values[state]

    def evaluate_moves(self, state: Any) -> MoveValues:
        """Return the value of every move of a non-terminal state."""
        successors = self.children[state]
        values = {a: self._value_after(state, child) for a, child in successors.items()}
        if not self.has_distances or self._values[state] <= 0:
            return MoveValues(values)
        plies = {a: self._plies[child] for a, child in successors.items() if values[a] > 0}
        shortest = min(plies.values())
        return MoveValues(values, frozenset(a for a, n in plies.items() if n == shortest))


def _explore(game: Game, max_states: int) -> dict[Any, dict[int, Any]] | None:
    """Return all states with their successors, or None if there are more than `max_states`."""
    children: dict[Any, dict[int, Any]] = {}
    seen = {game.initial()}
    frontier = deque(seen)
    while frontier:
        state = frontier.popleft()
        successors = {action: game.play(state, action) for action in game.actions(state)}
        children[state] = successors
        for child in successors.values():
            if child not in seen:
                seen.add(child)
                frontier.append(child)
        if len(seen) > max_states:
            return None
    return children


def _sort_successors_first(children: dict[Any, dict[int, Any]]) -> dict[Any, dict[int, Any]] | None:
    """Return the same graph in reverse topological order, or None if it has a cycle."""
    parents: dict[Any, list[Any]] = {state: [] for state in children}
    for state, successors in children.items():
        for child in successors.values():
            parents[child].append(state)
    num_pending = {state: len(successors) for state, successors in children.items()}
    ready = deque(state for state, number in num_pending.items() if number == 0)
    ordered: dict[Any, dict[int, Any]] = {}
    while ready:
        state = ready.popleft()
        ordered[state] = children[state]
        for parent in parents[state]:
            num_pending[parent] -= 1
            if num_pending[parent] == 0:
                ready.append(parent)
    return ordered if len(ordered) == len(children) else None
