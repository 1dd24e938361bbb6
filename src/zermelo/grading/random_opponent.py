"""Exact results against a random opponent: every reply is enumerated, so nothing is sampled.

A policy gives the actions among which a player chooses with equal probability: one action for a
deterministic player, all legal actions for a random one.
"""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from zermelo.grading.graph import GameGraph

Policy = Callable[[Any], Collection[int]]  #: non-terminal state → some of its actions


@dataclass(frozen=True)
class OutcomeProbabilities:
    """The probabilities that a player wins, draws and loses."""

    win: Fraction
    draw: Fraction
    loss: Fraction

    def to_dict(self) -> dict[str, float]:
        """Return the probabilities as floats."""
        return {"win": float(self.win), "draw": float(self.draw), "loss": float(self.loss)}


@dataclass(frozen=True)
class Ceiling:
    """The highest probability with which any player can beat a random opponent.

    `win_never_losing` is the highest probability among the players that never get less than the
    value of the game for their seat, whatever the opponent replies.
    """

    win: Fraction
    win_never_losing: Fraction

    def to_dict(self) -> dict[str, Any]:
        """Return the probabilities as floats and as exact fractions."""
        return {
            "win": float(self.win),
            "win_never_losing": float(self.win_never_losing),
            "exact": {"win": str(self.win), "win_never_losing": str(self.win_never_losing)},
        }


def outcome_probabilities(
    graph: GameGraph, seat: int, policy: Policy, start: Any = None
) -> OutcomeProbabilities:
    """Return the outcome probabilities of a policy in one seat against a random opponent.

    Games begin in the state `start`, by default the initial state.

    >>> import zermelo as z
    >>> graph = GameGraph.build(z.game("tictactoe"))
    >>> both_random = outcome_probabilities(graph, 0, graph.children.__getitem__)
    >>> both_random.win, f"{float(both_random.win):.2%}"
    (Fraction(737, 1260), '58.49%')
    """
    start = graph.game.initial() if start is None else start
    reachable = _reachable(graph, seat, policy, start)
    results: dict[Any, OutcomeProbabilities] = {}
    for state in graph.children:  # successors come first
        if state in reachable:
            after = [results[child] for child in reachable[state]]
            results[state] = _mean(after) if after else _terminal(graph, seat, state)
    return results[start]


def _reachable(graph: GameGraph, seat: int, policy: Policy, start: Any) -> dict[Any, list[Any]]:
    """Map every state that this policy can reach against a random opponent to its successors."""
    reachable: dict[Any, list[Any]] = {}
    frontier = [start]
    while frontier:
        state = frontier.pop()
        if state in reachable:
            continue
        successors = graph.children[state]
        own = successors and graph.game.player(state) == seat
        reachable[state] = [successors[action] for action in (policy(state) if own else successors)]
        frontier += reachable[state]
    return reachable


def _mean(results: list[OutcomeProbabilities]) -> OutcomeProbabilities:
    return OutcomeProbabilities(
        sum((r.win for r in results), Fraction(0)) / len(results),
        sum((r.draw for r in results), Fraction(0)) / len(results),
        sum((r.loss for r in results), Fraction(0)) / len(results),
    )


def _terminal(graph: GameGraph, seat: int, state: Any) -> OutcomeProbabilities:
    value = graph.value_for(seat, state)
    return OutcomeProbabilities(Fraction(value > 0), Fraction(value == 0), Fraction(value < 0))


def compute_ceiling(graph: GameGraph, seat: int, start: Any = None) -> Ceiling:
    """Return the best results that a player in this seat can get against a random opponent."""
    start = graph.game.initial() if start is None else start
    game_value = graph.value_for(seat, start)

    def is_safe(child: Any) -> bool:
        return graph.value_for(seat, child) >= game_value

    return Ceiling(
        _max_win(graph, seat, start, lambda _child: True), _max_win(graph, seat, start, is_safe)
    )


def _max_win(
    graph: GameGraph, seat: int, start: Any, is_allowed: Callable[[Any], bool]
) -> Fraction:
    """Return the highest win probability in a seat if its player moves only to allowed states."""
    win: dict[Any, Fraction] = {}
    for state, successors in graph.children.items():
        if not successors:
            win[state] = Fraction(graph.value_for(seat, state) > 0)
        elif graph.game.player(state) == seat:
            # Allowed moves never lead to a state without allowed moves, so the value of such a
            # state is never used.
            allowed = [child for child in successors.values() if is_allowed(child)]
            win[state] = max(win[child] for child in allowed or successors.values())
        else:
            total = sum((win[child] for child in successors.values()), Fraction(0))
            win[state] = total / len(successors)
    return win[start]
