"""The textbook searches: minimax, alpha-beta, memoisation and value iteration.

Start reading here. Everything is plain Python, works for any game and counts nodes and cutoffs.

A **value** is for the side to move: 1 is a win, 0 a draw, -1 a loss. What is good for one side is
equally bad for the other, so the sign of a value flips from one ply to the next (negamax).

With `distance`, values also encode the distance to the end: a win in n plies is WIN_SCORE - n and a
loss in n plies n - WIN_SCORE. The side to move then prefers the faster win and the slower loss.
"""

import time
from dataclasses import dataclass
from typing import Any

from zermelo.core.errors import TooLarge
from zermelo.core.game import Game
from zermelo.core.position import Position
from zermelo.core.value import Value
from zermelo.games.determinism import RuleSampler

METHODS = ("minimax", "alphabeta", "memo", "both", "value-iteration")
ORDERS = ("index", "centre")
WIN_SCORE = 1_000_000  #: larger than the number of plies in any game
INFINITY = 2 * WIN_SCORE
MAX_STATES = 3_000_000
MAX_LINE = 64


@dataclass
class SearchCounts:
    """The counters of a search. A leaf is a finished game or a position at the depth limit."""

    nodes: int = 0
    leaves: int = 0
    cutoffs: int = 0
    cache_hits: int = 0


@dataclass(frozen=True)
class Bounds:
    """The known bounds of a value: low <= value <= high."""

    low: int
    high: int


class TextbookSearch:
    """A search with a switch for each textbook technique.

    `method` is "minimax", "alphabeta" (pruning), "memo" (a cache of states) or "both" (pruning and
    the cache). `order` is the order in which moves are tried: by "index", or from the "centre"
    outwards. `depth` limits the search to a number of plies; a game that is not over by then counts
    as a draw.

    >>> import zermelo as z
    >>> game = z.game("tictactoe")
    >>> search = TextbookSearch(game, method="alphabeta")
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
        self.uses_pruning = method in ("alphabeta", "both")
        self.uses_memo = method in ("memo", "both")
        self.is_centre_first = order == "centre"
        self.counts = SearchCounts()
        self._sampler = RuleSampler(game)
        self.hit_horizon = False  # whether the depth limit cut off a game that was not over
        # Pruning gives bounds, not values, so the memo stores an interval. The remaining depth is
        # part of the key: a value found with a depth limit may be wrong for any other depth.
        self._memo: dict[tuple[Any, int | None], Bounds] = {}

    def solve(self, state: Any) -> int:
        """Return the value of a state, found by a search with an open window."""
        return self.negamax(state, -INFINITY, INFINITY, self.depth)

    def negamax(self, state: Any, alpha: int, beta: int, depth: int | None) -> int:
        """Return the value of a state if it lies between alpha and beta, otherwise a bound.

        A result of alpha or less is an upper bound of the value, a result of beta or more a lower
        bound (fail-soft).
        """
        # 1. Return if the game is over or the depth limit is reached.
        self.counts.nodes += 1
        self._sampler.check(state)
        is_over, value = self.game.result(state)
        if is_over or depth == 0:
            self.counts.leaves += 1
            self.hit_horizon = self.hit_horizon or not is_over
            return int(value * WIN_SCORE if self.distance else value)

        # 2. Return if the memo holds the value, or a bound that lies outside the window.
        if self.uses_memo:
            known = self._memo.get((state, depth), Bounds(-INFINITY, INFINITY))
            if known.low == known.high or known.low >= beta or known.high <= alpha:
                self.counts.cache_hits += 1
                return known.low if known.low >= beta else known.high

        # 3. Try every move; stop as soon as the opponent would avoid this state (a cutoff).
        best = -INFINITY
        child_depth = None if depth is None else depth - 1
        for action in self.ordered_actions(state):
            child = self.game.play(state, action)
            turn_sign = self.game.turn_sign(state, child)  # -1 if it is the opponent's turn
            lower = max(alpha, best) if self.uses_pruning else -INFINITY
            window = self._child_window(turn_sign, lower, beta)
            child_value = self.negamax(child, *window, child_depth)
            best = max(best, self._parent_value(turn_sign, child_value))
            if self.uses_pruning and best >= beta:
                self.counts.cutoffs += 1
                break

        # 4. Store the result: inside the window it is the value, outside it a bound.
        if self.uses_memo:
            low = best if best > alpha else -INFINITY
            high = best if best < beta else INFINITY
            self._memo[state, depth] = Bounds(low, high)
        return best

    def _parent_value(self, turn_sign: int, value: int) -> int:
        """Convert a child's value to its parent's: flip the sign; with `distance`, add a ply.

        If the same side moves again, the sign stays.
        """
        return turn_sign * (value - _sign(value) if self.distance else value)

    def _child_window(self, turn_sign: int, alpha: int, beta: int) -> tuple[int, int]:
        """Convert a window of a parent to the window of its child: undo `_parent_value`."""
        low, high = (turn_sign * self._undo_ply(bound) for bound in (alpha, beta))
        return min(low, high), max(low, high)

    def _undo_ply(self, bound: int) -> int:
        return bound + _sign(bound) if self.distance and abs(bound) < INFINITY else bound

    def ordered_actions(self, state: Any) -> list[int]:
        """Return the legal actions in the order in which they are tried."""
        actions = self.game.actions(state)
        grid = self.game.grid
        if not self.is_centre_first or grid is None:
            return actions

        def distance_from_centre(action: int) -> float:
            if action >= grid.size:
                return 0.0
            row, col = divmod(action, grid.cols)
            has_gravity = self.game.num_actions == grid.cols  # an action is a column
            rows_away = 0.0 if has_gravity else abs(row - (grid.rows - 1) / 2)
            return rows_away + abs(col - (grid.cols - 1) / 2)

        return sorted(actions, key=distance_from_centre)

    def best_actions(self, state: Any) -> tuple[int, list[int]]:
        """Return the value of a state and, in ascending order, all actions that achieve this value.

        Every child is searched with an open window, because a bound does not show which moves are
        equally good.
        """
        is_over, value = self.game.result(state)
        if is_over:
            return (value * WIN_SCORE if self.distance else value), []
        values = {}
        child_depth = None if self.depth is None else self.depth - 1
        for action in self.ordered_actions(state):
            child = self.game.play(state, action)
            child_value = self.negamax(child, -INFINITY, INFINITY, child_depth)
            values[action] = self._parent_value(self.game.turn_sign(state, child), child_value)
        best = max(values.values())
        return best, [action for action in sorted(values) if values[action] == best]


def deepen(
    game: Game, state: Any, depth: int | None = None, **switches: Any
) -> tuple[int, TextbookSearch]:
    """Search to depth 1, 2, … up to `depth`, or until no game is cut off (iterative deepening).

    Return the value and the last search; its counts are the totals of all searches.
    """
    totals, reached = SearchCounts(), 0
    while True:
        reached += 1
        search = TextbookSearch(game, depth=reached, **switches)
        value = search.solve(state)
        for name, number in vars(search.counts).items():
            setattr(totals, name, getattr(totals, name) + number)
        if reached == depth or not search.hit_horizon:
            search.counts = totals
            return value, search


def value_iteration(game: Game, start: Any) -> tuple[dict[Any, int], SearchCounts]:
    """Return the values of all states reachable from `start`.

    There is no recursion: each sweep sets every state to the best of its children's current values,
    until nothing changes. The number of sweeps until a value is final is at most the number of
    plies that the game can still last. Every state counts as one node in each sweep.
    """
    children: dict[Any, list[Any]] = {}
    sampler = RuleSampler(game)
    pending = [start]
    while pending:
        state = pending.pop()
        if state in children:
            continue
        sampler.check(state)
        children[state] = [game.play(state, action) for action in game.actions(state)]
        pending += children[state]
        if len(children) > MAX_STATES:
            msg = f"{game.spec} has more than {MAX_STATES:,} states: too many for value iteration"
            raise TooLarge(msg)

    counts = SearchCounts()
    values = {state: game.result(state)[1] for state in children}
    has_changed = True
    while has_changed:
        has_changed = False
        for state, next_states in children.items():
            counts.nodes += 1
            counts.leaves += not next_states
            options = (game.turn_sign(state, child) * values[child] for child in next_states)
            best = max(options, default=values[state])
            if best != values[state]:
                values[state], has_changed = best, True
    return values, counts


def principal_variation(search: TextbookSearch, state: Any) -> list[int]:
    """Return a line of best play to the end; of several best actions it takes the first."""
    line: list[int] = []
    while True:
        _, best = search.best_actions(state)
        if not best:
            return line
        line.append(best[0])
        state = search.game.play(state, best[0])


def solve_position(
    position: Position, *, deepening: bool = False, **switches: Any
) -> dict[str, Any]:
    """Solve a position and return the fields of `zermelo textbook --json`.

    The counts are those of the search for the value; the best moves and the principal variation
    come from further searches. Raise TooLarge if the recursion gets too deep.
    """
    start_time = time.perf_counter()
    try:
        if switches["method"] == "value-iteration":
            fields = _by_sweeps(position)
        else:
            fields = _by_search(position, deepening=deepening, **switches)
    except RecursionError:
        msg = f"{position.game.spec}: games are too long for a recursive search"
        raise TooLarge(msg) from None
    return {
        "game": position.game.spec,
        "moves": position.moves,
        "to_move": position.player,
        **fields,
        "seconds": round(time.perf_counter() - start_time, 6),
        "source": "end" if position.is_over else "search",
    }


def _by_sweeps(position: Position) -> dict[str, Any]:
    """Solve a position by value iteration."""
    game, state = position.game, position.state
    values, counts = value_iteration(game, state)

    def best_actions(state: Any) -> list[int]:
        children = {action: game.play(state, action) for action in game.actions(state)}
        return [
            action
            for action, child in children.items()
            if game.turn_sign(state, child) * values[child] == values[state]
        ]

    line: list[int] = []
    best = best_actions(state)
    while len(line) < MAX_LINE and (actions := best_actions(state)):
        line.append(actions[0])
        state = game.play(state, actions[0])
    return _fields(position, values[position.state], best, line, counts)


def _by_search(position: Position, *, deepening: bool, **switches: Any) -> dict[str, Any]:
    """Solve a position by one search, or by iterative deepening."""
    game, state = position.game, position.state
    if deepening:
        value, search = deepen(game, state, **switches)
    else:
        search = TextbookSearch(game, **switches)
        value = search.solve(state)
    # Games beyond the horizon count as draws, so a win or a loss is proven despite them.
    is_proven = value != 0 or not search.hit_horizon
    fast_search = TextbookSearch(game, **{**switches, "method": "both"})
    best = fast_search.best_actions(state)[1]
    line = principal_variation(fast_search, state) if is_proven else []
    return _fields(position, value if is_proven else None, best, line, search.counts)


def _fields(
    position: Position, value: int | None, best: list[int], line: list[int], counts: SearchCounts
) -> dict[str, Any]:
    """Return the fields of the JSON output; `value` is None if it is not proven."""
    has_distance, game = value is not None and abs(value) > 1, position.game
    return {
        "value": None if value is None else Value.from_score(value),
        "estimate": 0.0 if value is None else None,
        "plies": 0 if position.is_over else WIN_SCORE - abs(value or 0) if has_distance else None,
        "best": [position.to_move_text(action) for action in best],
        "pv": list(game.line_to_text(position.state, game.legal_line(position.state, line))),
        "exact": value is not None,
        **vars(counts),
    }


def _sign(value: int) -> int:
    return (value > 0) - (value < 0)
