"""Chances against a random opponent, exact: every reply weighed, nothing sampled.

A policy says which actions a player chooses among, each with the same chance: one for a player
whose mind is made up, all of them for a random one.
"""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from zermelo.grading.graph import Graph

Policy = Callable[[Any], Collection[int]]  #: a state that is not over → some of its actions


@dataclass(frozen=True)
class Chances:
    """How often a player wins, draws and loses."""

    win: Fraction
    draw: Fraction
    loss: Fraction

    def to_json(self) -> dict[str, float]:
        """As numbers."""
        return {"win": float(self.win), "draw": float(self.draw), "loss": float(self.loss)}


@dataclass(frozen=True)
class Ceiling:
    """The most that any player can win against a random one: at all, and without a risk.

    Without a risk: never, whatever the replies, less than the game's value gives that player.
    """

    win: Fraction
    win_never_losing: Fraction

    def to_json(self) -> dict[str, Any]:
        """As numbers and as fractions."""
        return {
            "win": float(self.win),
            "win_never_losing": float(self.win_never_losing),
            "exact": {"win": str(self.win), "win_never_losing": str(self.win_never_losing)},
        }


def chances(graph: Graph, seat: int, policy: Policy, start: Any = None) -> Chances:
    """Those of a player in a seat against a random opponent; from the beginning, or a state.

    >>> import zermelo as z
    >>> graph = Graph.of(z.game("tictactoe"))
    >>> both_random = chances(graph, 0, graph.children.__getitem__)
    >>> both_random.win, f"{float(both_random.win):.2%}"
    (Fraction(737, 1260), '58.49%')
    """
    start = graph.game.initial() if start is None else start
    followed = _followed(graph, seat, policy, start)
    found: dict[Any, Chances] = {}
    for state in graph.children:  # what a state leads to comes before it
        if state in followed:
            after = [found[child] for child in followed[state]]
            found[state] = _mean(after) if after else _ended(graph, seat, state)
    return found[start]


def _followed(graph: Graph, seat: int, policy: Policy, start: Any) -> dict[Any, list[Any]]:
    """The states that such play can reach, and where each leads."""
    followed: dict[Any, list[Any]] = {}
    waiting = [start]
    while waiting:
        state = waiting.pop()
        if state in followed:
            continue
        after = graph.children[state]
        own = after and graph.game.player(state) == seat
        followed[state] = [after[action] for action in (policy(state) if own else after)]
        waiting += followed[state]
    return followed


def _mean(after: list[Chances]) -> Chances:
    return Chances(
        sum((c.win for c in after), Fraction(0)) / len(after),
        sum((c.draw for c in after), Fraction(0)) / len(after),
        sum((c.loss for c in after), Fraction(0)) / len(after),
    )


def _ended(graph: Graph, seat: int, state: Any) -> Chances:
    value = graph.value_for(seat, state)
    return Chances(Fraction(value > 0), Fraction(value == 0), Fraction(value < 0))


def ceiling(graph: Graph, seat: int, start: Any = None) -> Ceiling:
    """The best that a seat can do against a random opponent; from the beginning, or a state."""
    start = graph.game.initial() if start is None else start
    due = graph.value_for(seat, start)

    def is_safe(child: Any) -> bool:
        return graph.value_for(seat, child) >= due

    return Ceiling(
        _best_win(graph, seat, start, lambda _child: True), _best_win(graph, seat, start, is_safe)
    )


def _best_win(graph: Graph, seat: int, start: Any, is_allowed: Callable[[Any], bool]) -> Fraction:
    """With moves only to states that are allowed, wherever there is one."""
    won: dict[Any, Fraction] = {}
    for state, after in graph.children.items():
        if not after:
            won[state] = Fraction(graph.value_for(seat, state) > 0)
        elif graph.game.player(state) == seat:
            # Where none is allowed no allowed move has led: what stands there is never used.
            allowed = [child for child in after.values() if is_allowed(child)]
            won[state] = max(won[child] for child in allowed or after.values())
        else:
            won[state] = sum((won[child] for child in after.values()), Fraction(0)) / len(after)
    return won[start]
