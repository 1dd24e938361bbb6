"""The textbook: minimax, alpha-beta, memoisation and value iteration, to read and to count with.

Start here. Every function works for any game of the contract and counts what it does. Values are
seen by the side to move: 1 a win, 0 a draw, -1 a loss; what is good for me is bad for you, so a
value changes its sign where a move is made, and nowhere else.

With `distance`, a win in n plies is worth FAR - n and a loss in n plies n - FAR, so that the
faster win and the slower loss are preferred.
"""

import time
from dataclasses import dataclass
from typing import Any

from zermelo.core.errors import TooLarge
from zermelo.core.game import Game
from zermelo.core.position import Position

METHODS = ("minimax", "alphabeta", "memo", "both", "value-iteration")
ORDERS = ("index", "centre")
FAR = 1_000_000  #: above every number of plies
INFINITY = 2 * FAR
MAX_STATES = 3_000_000
MAX_LINE = 64


@dataclass
class Counts:
    """What a search did. A leaf is a finished game, or a position at the depth limit."""

    nodes: int = 0
    leaves: int = 0
    cutoffs: int = 0
    cache_hits: int = 0


@dataclass(frozen=True)
class Bounds:
    """What is known of a value: low <= value <= high. A cut-off leaves only one side known."""

    low: int
    high: int


class Search:
    """One search from one state. The switches are the book's chapters.

    >>> import zermelo as z
    >>> game = z.game("tictactoe")
    >>> search = Search(game, method="alphabeta")
    >>> search.solve(game.initial()), search.counts.nodes
    (0, 18297)
    """

    def __init__(
        self,
        game: Game,
        *,
        method: str = "minimax",
        depth: int | None = None,
        order: str = "index",
        distance: bool = False,
    ) -> None:
        self.game, self.depth, self.distance = game, depth, distance
        self.prunes = method in ("alphabeta", "both")
        self.remembers = method in ("memo", "both")
        self.by_centre = order == "centre"
        self.counts = Counts()
        self.horizon = False  # whether the depth limit hid a position that was not over
        # A bound is not a value: what alpha-beta stores is an interval, and a value found within
        # a depth is not one for another, so the depth left is part of the key.
        self._memo: dict[Any, Bounds] = {}

    def solve(self, state: Any) -> int:
        """The value of a state, with an open window."""
        return self.negamax(state, -INFINITY, INFINITY, self.depth)

    def negamax(self, state: Any, alpha: int, beta: int, depth: int | None) -> int:
        """The value of a state, if it lies between alpha and beta; else a bound on that side.

        Fail-soft: an answer of alpha or less is an upper bound, of beta or more a lower one.
        """
        self.counts.nodes += 1
        over, value = self.game.result(state)
        if over or depth == 0:
            self.counts.leaves += 1
            self.horizon = self.horizon or not over
            return int(value * FAR if self.distance else value)
        if self.remembers:
            known = self._memo.get((state, depth), Bounds(-INFINITY, INFINITY))
            if known.low == known.high or known.low >= beta or known.high <= alpha:
                self.counts.cache_hits += 1
                return known.low if known.low >= beta else known.high
        best = -INFINITY
        for action in self.ordered(state):
            child = self.game.play(state, action)
            lower = max(alpha, best) if self.prunes else -INFINITY
            answer = self.negamax(
                child, -self._later(beta), -self._later(lower), None if depth is None else depth - 1
            )
            best = max(best, self._sooner(-answer))
            if self.prunes and best >= beta:
                self.counts.cutoffs += 1
                break
        if self.remembers:
            low = best if best > alpha else -INFINITY
            high = best if best < beta else INFINITY
            self._memo[state, depth] = Bounds(low, high)
        return best

    def _sooner(self, value: int) -> int:
        """A value one ply earlier: with `distance`, everything is one ply further away."""
        return value - _sign(value) if self.distance else value

    def _later(self, bound: int) -> int:
        """The bound for a child that means `bound` here: the inverse of `_sooner`."""
        return bound + _sign(bound) if self.distance and abs(bound) < INFINITY else bound

    def ordered(self, state: Any) -> list[int]:
        """The actions in the order in which they are tried."""
        actions = self.game.actions(state)
        grid = self.game.grid
        if not self.by_centre or grid is None:
            return actions

        def from_centre(action: int) -> float:
            if action >= grid.size:
                return 0.0
            row, col = divmod(action, grid.cols)
            down = 0.0 if self.game.num_actions == grid.cols else abs(row - (grid.rows - 1) / 2)
            return down + abs(col - (grid.cols - 1) / 2)

        return sorted(actions, key=from_centre)

    def best_actions(self, state: Any) -> tuple[int, list[int]]:
        """The value, and every action that reaches it: each child with an open window."""
        over, value = self.game.result(state)
        if over:
            return (value * FAR if self.distance else value), []
        values = {}
        deeper = None if self.depth is None else self.depth - 1
        for action in self.ordered(state):
            child = self.game.play(state, action)
            values[action] = self._sooner(-self.negamax(child, -INFINITY, INFINITY, deeper))
        best = max(values.values())
        return best, [action for action in sorted(values) if values[action] == best]


def deepen(game: Game, state: Any, **switches: Any) -> tuple[int, Search]:
    """Depth 1, 2, …, to the limit or until nothing is hidden; counts add up."""
    limit = switches.pop("depth", None)
    counts, depth = Counts(), 0
    while True:
        depth += 1
        search = Search(game, depth=depth, **switches)
        value = search.solve(state)
        for name, number in vars(search.counts).items():
            setattr(counts, name, getattr(counts, name) + number)
        if depth == limit or not search.horizon:
            search.counts = counts
            return value, search


def value_iteration(game: Game, start: Any) -> tuple[dict[Any, int], Counts]:
    """The value of every state that can be reached, by sweeps over all of them until none changes.

    No recursion and no order: each sweep sets every state to the best its children are worth so
    far. A node is one such look; a state is settled after as many sweeps as its game has plies.
    """
    children: dict[Any, list[Any]] = {}
    todo = [start]
    while todo:
        state = todo.pop()
        if state in children:
            continue
        children[state] = [game.play(state, action) for action in game.actions(state)]
        todo += children[state]
        if len(children) > MAX_STATES:
            msg = f"{game.spec} has more than {MAX_STATES:,} states: too many for value iteration"
            raise TooLarge(msg)
    counts = Counts()
    values = {state: game.result(state)[1] for state in children}
    changed = True
    while changed:
        changed = False
        for state, following in children.items():
            counts.nodes += 1
            counts.leaves += not following
            best = max((-values[child] for child in following), default=values[state])
            if best != values[state]:
                values[state], changed = best, True
    return values, counts


def principal_variation(search: Search, state: Any) -> list[int]:
    """First best moves to the end, each found by a search of its own."""
    line: list[int] = []
    while True:
        _, best = search.best_actions(state)
        if not best:
            return line
        line.append(best[0])
        state = search.game.play(state, best[0])


def _line_by(values: dict[Any, int], game: Game, state: Any) -> list[int]:
    """First moves that keep the value, to the end or for a while."""
    line: list[int] = []
    while len(line) < MAX_LINE and (actions := game.actions(state)):
        line.append(next(a for a in actions if -values[game.play(state, a)] == values[state]))
        state = game.play(state, line[-1])
    return line


def answer(position: Position, *, deepens: bool = False, **switches: Any) -> dict[str, Any]:
    """The textbook's answer for a position, with its counts, as scripts get it.

    Counts are of the one search for the value; best moves and line are found by others.
    """
    begin = time.perf_counter()
    try:
        return _answer(position, begin, deepens=deepens, **switches)
    except RecursionError:
        msg = f"{position.game.spec} goes deeper than a search that calls itself ply by ply"
        raise TooLarge(msg) from None


def _answer(position: Position, begin: float, *, deepens: bool, **switches: Any) -> dict[str, Any]:
    game, state = position.game, position.state
    best: list[int] = []
    line: list[int] = []
    if switches["method"] == "value-iteration":
        values, counts = value_iteration(game, state)
        value, proven = values[state], True
        actions = game.actions(state)
        best = [a for a in actions if -values[game.play(state, a)] == value]
        line = _line_by(values, game, state)
    else:
        if deepens:
            value, search = deepen(game, state, **switches)
        else:
            search = Search(game, **switches)
            value = search.solve(state)
        counts = search.counts
        proven = value != 0 or not search.horizon  # beyond the horizon everything counts 0
        again = Search(game, **{**switches, "method": "both"})
        best = again.best_actions(state)[1]
        line = principal_variation(again, state) if proven else []
    far = bool(switches.get("distance")) and proven and value != 0
    return {
        "game": game.spec,
        "moves": position.moves,
        "to_move": position.player,
        "value": {1: "win", 0: "draw", -1: "loss"}[_sign(value)] if proven else None,
        "estimate": None if proven else 0.0,
        "plies": 0 if position.is_over else FAR - abs(value) if far else None,
        "best": [game.to_text(action) for action in best],
        "pv": [game.to_text(action) for action in line],
        "exact": proven,
        **vars(counts),
        "seconds": round(time.perf_counter() - begin, 6),
        "source": "end" if position.is_over else "search",
    }


def _sign(value: int) -> int:
    return (value > 0) - (value < 0)
